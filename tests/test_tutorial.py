"""The tutorial's code runs as printed (its sweep with one seed and in this process)."""

import re
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"


def test_the_tutorial_runs_as_printed(capsys, tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", TUTORIAL.read_text(), flags=re.DOTALL)
    if len(blocks) < 5:
        pytest.fail("the tutorial lost its code")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks).replace("seeds=range(10)", "seeds=range(1)")
    code = code.replace('store="parity.db"', 'store="parity.db", workers=0, progress=False')
    code = code.replace("steps=20_000", "steps=3_000").replace("[10, 100]", "[100]")
    names = {"__name__": "__main__"}
    exec(compile(code, str(TUTORIAL), "exec"), names)
    assert "success=True" in capsys.readouterr().out
    assert names["run"].test_error < 0.2


def test_the_tutorial_of_tables_runs_as_printed(capsys, tmp_path, monkeypatch):
    page = TUTORIAL.with_name("tabular.md").read_text().split("## When to use")[0]
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL))
    for printed, small in (
        ("SparseMLPClassifier(random_state=0)", "SparseMLPClassifier(ensemble=1, random_state=0)"),
        ("ensemble=2,", "ensemble=1, epochs=3,"),
        ("ensemble=8,", "ensemble=1, epochs=3,"),
        ("[64, 256, 1024]", "[64]"),
        ("n_iter=6", "n_iter=2"),
    ):
        assert printed in code
        code = code.replace(printed, small)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    exec(compile(code, "tabular.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert float(printed[0].removeprefix("accuracy ")) > 0.9
    assert len(printed) == 3
