"""`elegans reproduce` and `elegans draw`: what they print, write and exit with."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.studies import toy

from elegans import cli
from elegans.studies import catalogue

TOY = "tests.studies.toy:STUDY"


def reproduce(*arguments):
    return cli.main(["reproduce", *map(str, arguments)])


def test_the_list_imports_nothing_heavy():
    script = (
        "import sys; from elegans.cli import main; main(['reproduce', '--list'])\n"
        "heavy = {'jax', 'numpy', 'pandas', 'scipy', 'matplotlib', 'altair', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("[]")
    assert all(entry.title in done.stdout for entry in catalogue.entries())


def test_the_list_as_json_has_minutes(capsys):
    assert reproduce("--list", "--json") == 0
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert listed["frontier"]["scales"]["quick"] == 2
    assert set(listed["frontier"]) == {"name", "title", "source", "scales"}


def test_a_study_of_ones_own_is_reproduced_and_drawn_again(tmp_path, capsys):
    assert reproduce(TOY, "--out", tmp_path, "--workers", 0) == 0
    shown = capsys.readouterr().out
    for text in ("Sums of powers", "Sums are tiny", "known: powers grow", "1 of 2 claims hold"):
        assert text in shown
    directory = tmp_path / "toy"
    assert f"elegans reproduce {TOY} --scale quick" in (directory / "page.html").read_text()
    figure = (directory / "figure.png").read_bytes()
    toy.CALLS.clear()
    (directory / "figure.png").unlink()
    assert cli.main(["draw", str(directory)]) == 0
    assert toy.CALLS == []
    assert (directory / "figure.png").read_bytes() == figure
    assert str(directory / "page.html") in capsys.readouterr().out


def test_claims_are_printed_as_json(tmp_path, capsys):
    assert reproduce(TOY, "--out", tmp_path, "--workers", 0, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert [claim["holds"] for claim in printed["claims"]] == [True, False]
    assert printed["surprises"] == 0
    assert printed["structures"] == 0


@pytest.mark.parametrize(
    "change",
    [{"claims": (toy.sums_are_small,)}, {"scales": {"quick": toy.STUDY.scales["small"]}}],
    ids=["a claim fails", "a known failure holds"],
)
def test_a_surprise_either_way_is_exit_code_1(change, tmp_path, monkeypatch):
    monkeypatch.setattr(toy, "STUDY", replace(toy.STUDY, **change))
    assert reproduce(TOY, "--out", tmp_path, "--workers", 0) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "which study?"),
        (["fronteir"], "did you mean 'frontier'?"),
        (["no_module:STUDY"], "No module named 'no_module'"),
        ([TOY, "--scale", "big"], "scale is one of 'quick'"),
        ([TOY, "--workers", "-1"], "--workers counts processes, 0 or more; got -1"),
        ([TOY, "--data", "/rows"], "makes its own data; got data /rows"),
        ([TOY, "--out", __file__], "File exists"),
    ],
)
def test_bad_input_exits_2_by_name_before_anything_is_computed(arguments, message, capsys):
    toy.CALLS.clear()
    with pytest.raises(SystemExit) as stop:
        reproduce(*arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
    assert toy.CALLS == []


def test_what_is_not_a_bundle_is_not_drawn(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["draw", str(tmp_path)])
    assert stop.value.code == 2
    assert "has no result.json" in capsys.readouterr().err
