"""`elegans sweep`, `status`, `export` and `recover`, as a user types them."""

import json
import re

import pandas as pd
import pytest

import elegans as el
from elegans.cli import main

GRID = """
seeds = 2
[experiment.task]
type = "Parity"
n = 6
k = 2
[experiment.model]
type = "MLP"
width = 4
[experiment.training]
samples = 50
steps = 300
batch = 8
evaluate_every = 100
test_samples = 200
stop = {type = "Stop", test_error = 0.0}
[over]
"training.learning_rate" = [0.05, 0.2]
"""


@pytest.fixture
def grid(tmp_path, monkeypatch):
    monkeypatch.setenv("ELEGANS_CACHE", str(tmp_path / "programs"))
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


@pytest.fixture
def elegans(capsys):
    """Runs a command; its exit code, output and complaints."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return run


def test_a_sweep_from_file_to_table(grid, elegans, tmp_path):
    code, out, _ = elegans("sweep", grid, "--dry-run")
    assert code == 0
    assert re.search(r"^runs +4: 2 points, 2 seeds$", out, re.M)
    assert re.search(r"^structures +1,", out, re.M)
    assert re.search(r"^stored +0 in .*grid.db$", out, re.M)
    assert re.search(r"^time +at most \d+ s with this process alone", out, re.M)
    assert not (tmp_path / "grid.db").exists()

    code, out, err = elegans("sweep", grid, "--workers", 0)
    assert (code, out) == (0, f"{tmp_path / 'grid.db'}: 4 done\n"), err
    assert "left        0" in elegans("sweep", grid, "--dry-run")[1]

    code, out, _ = elegans("status", tmp_path / "grid.db")
    assert code == 0
    assert "4 runs of 2 experiments" in out
    assert "4 done, 0 diverged, 0 failed" in out
    summary = json.loads(elegans("status", tmp_path / "grid.db", "--json")[1])
    assert (summary["runs"], summary["failed"], summary["experiments"]) == (4, 0, 2)

    code, out, _ = elegans("export", tmp_path / "grid.db", tmp_path / "out.parquet")
    assert (code, out) == (0, f"{tmp_path / 'out.parquet'}: 4 runs\n")
    assert len(pd.read_parquet(tmp_path / "out.parquet")) == 4

    code, out, _ = elegans("recover", tmp_path / "grid.db", tmp_path / "new.db")
    assert code == 0
    assert "4 runs saved, 0 more" in out
    pd.testing.assert_frame_equal(
        el.Store(tmp_path / "grid.db").table(), el.Store(tmp_path / "new.db").table()
    )


def test_failed_runs_show_in_the_exit_code_and_can_be_tried_again(
    grid, elegans, tmp_path, monkeypatch
):
    def faulty(jobs, **options):
        raise RuntimeError("no training today")

    with monkeypatch.context() as patch:
        patch.setattr("elegans.sweeps.requests.train", faulty)
        code, out, err = elegans("sweep", grid, "--workers", 0)
    assert (code, out) == (1, f"{tmp_path / 'grid.db'}: 4 failed\n")
    assert "4 of 4 runs failed" in err
    code, out, _ = elegans("status", tmp_path / "grid.db")
    assert code == 1
    assert "4 x RuntimeError: no training today" in out
    assert elegans("sweep", grid, "--workers", 0)[0] == 1
    code, out, _ = elegans("sweep", grid, "--workers", 0, "--retry-failed")
    assert (code, out) == (0, f"{tmp_path / 'grid.db'}: 4 done\n")


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("[0.05, 0.2]", "[0.05, -1]", "Sweep, at training.learning_rate = -1"),
        ("width = 4", "wdith = 4", "did you mean 'width'"),
        ("seeds = 2", "seeds = -1", "seeds is how many"),
    ],
)
def test_bad_input_is_refused_before_anything_is_computed(
    grid, elegans, tmp_path, old, new, message
):
    grid.write_text(GRID.replace(old, new))
    code, _, err = elegans("sweep", grid)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert not (tmp_path / "grid.db").exists()


def test_what_is_not_there_is_refused(elegans, tmp_path):
    for command in ("status", "export", "recover"):
        rest = [tmp_path / "out.csv"] if command != "status" else []
        code, _, err = elegans(command, tmp_path / "none.db", *rest)
        assert code == 2
        assert f"elegans {command}: There is no" in err
    assert elegans("sweep", tmp_path / "none.toml")[0] == 2
    assert list(tmp_path.iterdir()) == []
