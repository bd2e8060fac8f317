"""The command line as a user meets it: in a process of its own, by its output and exit code."""

import json
import subprocess
import sys

import pytest

from elegans import cli

EXPERIMENT = ["--task", "Parity(n=8, k=2)", "--model", "MLP(width=8)"]
TRAIN = ["train", *EXPERIMENT, "--samples", "100", "--steps", "50"]


def elegans(*arguments, cwd=None):
    command = [sys.executable, "-m", "elegans", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from elegans.cli import main; main(['--help'])\n"
        "heavy = {'jax', 'numpy', 'pandas', 'scipy', 'matplotlib', 'rich', 'sklearn'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "reproduce" in done.stdout
    assert done.stdout.strip().endswith("[]")


def test_importing_elegans_leaves_the_heavy_optional_parts_alone():
    script = (
        "import sys, elegans as el; el.Experiment, el.Sweep, el.tasks.Parity, el.theory\n"
        "heavy = {'sklearn', 'matplotlib', 'distributed', 'dask', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_training_shows_its_record_and_draws_its_curve(tmp_path, capsys):
    picture = tmp_path / "curve.png"
    assert cli.main([*TRAIN, "--json", "--out", str(picture)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["status"], record["steps"]) == ("done", 50)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_ctrl_c_ends_a_run_and_keeps_its_curve(tmp_path, capsys, monkeypatch):
    from elegans.commands.train import LiveTable

    show = LiveTable.show

    def interrupted(self, row):
        show(self, row)
        if row["step"] >= 20:
            raise KeyboardInterrupt

    monkeypatch.setattr(LiveTable, "show", interrupted)
    picture = tmp_path / "curve.png"
    options = ["--evaluate-every", "10", "--json", "--out", str(picture)]
    assert cli.main([*TRAIN, *options]) == 130
    assert json.loads(capsys.readouterr().out)["step"] == 20
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_option_of_training_is_explained(capsys):
    with pytest.raises(SystemExit):
        cli.main(["train", "--help"])
    shown = capsys.readouterr().out
    assert "--learning-rate VALUE" in shown
    assert "What multiplies the gradient" in shown


def test_an_experiment_file_is_trained_with_the_options_on_top(tmp_path, capsys):
    import elegans as el

    experiment = el.Experiment(
        el.tasks.Parity(8, 2), el.models.MLP(width=8), el.Training(samples=100, steps=70)
    )
    file = tmp_path / "e.json"
    file.write_text(experiment.to_json())
    arguments = ["--experiment", str(file), "--steps", "50", "--out", str(tmp_path / "c.png")]
    assert cli.main(["train", *arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["steps"] == 50
    assert record["experiment"] == experiment.varied({"training.steps": 50}).name


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--task", "Parity(n=3, k=5)"], "k counts relevant bits, so it is in 1..3; got 5"),
        (["--task", "Parity(n=8"], "is not a configuration"),
        (["--task", "Partiy(n=8, k=2)"], "did you mean 'Parity'?"),
        (["--model", "MLP(widht=8)"], "MLP has no field 'widht'; did you mean 'width'?"),
        (["--model", "MLP()"], "width"),
        (["--model", "MLP(width=7, init=SymmetricSign())"], "the width is even; got width 7"),
        (["--loss", "hing"], "loss is one of 'hinge'"),
        (["--learning-rate", "nan"], "learning_rate multiplies the gradient"),
        (["--batch", "0"], "batch counts the examples of a step"),
        (["--samples", "-3"], "samples counts the training examples"),
        (["--seed", "-1"], "--seed numbers a run"),
        (["--experiment", "missing.json"], "missing.json: No such file"),
        (["--stop", "0.1"], "stop is one such as Stop(test_error=0.1)"),
        (["--taks", "Parity(n=3, k=2)"], "no option '--taks'; did you mean '--task'?"),
        (["--out", "curve.xyz"], "--out ends in .png, .svg, .pdf; got curve.xyz"),
    ],
)
def test_bad_input_exits_2_with_a_message_and_no_traceback(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([*TRAIN, *arguments])
    assert stop.value.code == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert "Traceback" not in shown


def test_unknown_commands_and_studies_exit_2(capsys):
    assert cli.main(["tran"]) == 2
    assert "did you mean 'train'?" in capsys.readouterr().err
    assert cli.main([]) == 2
    with pytest.raises(SystemExit) as stop:
        cli.main(["reproduce", "fronteir"])
    assert stop.value.code == 2


def test_the_module_is_the_command_line():
    done = elegans("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("elegans ")
