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
    code = code.replace("steps=20_000", "steps=3_000")
    names = {"__name__": "__main__"}
    exec(compile(code, str(TUTORIAL), "exec"), names)
    assert "success=True" in capsys.readouterr().out
    assert names["run"].test_error < 0.2
