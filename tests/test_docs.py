"""Code blocks of README and docs run as printed, with the sizes that are said here replaced."""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/theory.md").read_text(), re.DOTALL)


def blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text("utf-8"), re.DOTALL)


def replaced(code, replacements):
    """The code with smaller sizes; each of them has to be there."""
    for printed, small in replacements:
        assert printed in code, printed
        code = code.replace(printed, small)
    return code


def run(code, name):
    names = {"__name__": "__main__"}
    exec(compile(code, name, "exec"), names)
    return names


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty directory that is current and importable."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_the_tutorial_runs_as_printed(capsys, here):
    code = replaced(
        "\n".join(blocks("docs/tutorial.md")),
        [
            ("seeds=10", "seeds=1"),
            ('store="parity.db"', 'store="parity.db", workers=0, progress=False'),
            ("steps=20_000", "steps=3_000"),
            ("[10, 100]", "[100]"),
            ("out/parity-margin", str(ROOT / "docs/results/parity-margin")),
        ],
    )
    names = run(code, "tutorial.md")
    printed = capsys.readouterr().out
    assert "success=True" in printed
    assert "claims hold" in printed
    assert names["run"].test_error < 0.2


def test_the_theorists_tutorial_runs_as_printed(capsys, here):
    names = run("\n".join(blocks("docs/tutorial-theorist.md")), "tutorial-theorist.md")
    assert np.abs(names["exact"] - names["measured"]).max() < 0.01
    assert names["by_hand"] == pytest.approx(names["game"].value)
    ratio, best = map(float, capsys.readouterr().out.splitlines()[-1].split())
    assert abs(ratio - best) < 0.01


def test_the_readme_runs_as_printed(here):
    (code,) = blocks("README.md")
    sizes = [
        ("[10, 100, 1000]", "[100]"),
        ("seeds=50", "seeds=1"),
        ('store="frontier.db"', 'store="frontier.db", workers=0, progress=False'),
        ("width=1000", "width=100"),
    ]
    names = run(replaced(code, sizes), "README.md")
    assert names["run"].success
    assert len(names["table"]) == 1


def test_the_theorems_run_as_printed(capsys):
    (code,) = blocks("docs/theorems.md")
    run(replaced(code, [("steps=2001", "steps=601"), ("width=128", "width=64")]), "theorems.md")
    assert float(capsys.readouterr().out) < 0.5


def test_sweeps_run_as_printed(here):
    first, _, store = blocks("docs/sweeps.md")  # the second needs a batch system
    sizes = [
        ("[30, 100]", "[30]"),
        ("[300, 1000, 3000]", "[300]"),
        ("seeds=20", "seeds=1"),
        ("steps=3000", "steps=300"),
        ('store="grid.db"', 'store="grid.db", workers=0, progress=False'),
    ]
    names = run(replaced(first, sizes) + store, "sweeps.md")
    assert len(names["rows"]) == 1
    assert {"step", "test_error"} <= set(names["curve"])


def test_ones_own_task_model_probe_and_study_run_as_printed(here, capsys):
    from elegans.cli import main

    *files, together = [b for b in blocks("docs/your-own.md") if not b.startswith("# loud")]
    study = next(b for b in blocks("docs/your-own.md") if b.startswith("# loud"))
    for block in (*files, study):
        name = re.match(r"# (\w+\.py)", block)[1]
        (here / name).write_text(block)
    importlib.invalidate_caches()
    names = run(together, "your-own.md")
    assert names["run"].test_error < 0.1
    assert names["run"].probes["Spread"][-1] < names["run"].probes["Spread"][0]
    code = main(["reproduce", "loud_minority:STUDY", "--out", "out", "--workers", "0"])
    assert code == 0, capsys.readouterr()
    result = json.loads((here / "out/loud-minority/result.json").read_text())
    assert [claim["holds"] for claim in result["claims"]] == [True, True]
    assert (here / "out/loud-minority/figure.png").exists()


def test_the_practitioners_tutorial_runs_as_printed(capsys, here):
    one = "SparseMLPClassifier(ensemble=1, width=64, epochs=20, random_state=0)"
    sizes = [
        ("SparseMLPClassifier(random_state=0)", one),
        ("SparseMLPRegressor(random_state=0)", one.replace("Classifier", "Regressor")),
        ("ForestClassifier(random", "ForestClassifier(n_estimators=5, random"),
        ("ForestRegressor(random", "ForestRegressor(n_estimators=5, random"),
        ("cv=5", "cv=2"),
        ("cv=3).mean", "cv=2).mean"),
        ("ensemble=2,", "ensemble=1, epochs=3,"),
        ("ensemble=8,", "ensemble=1, epochs=3,"),
        ("[64, 256, 1024]", "[64]"),
        ("n_iter=6", "n_iter=1"),
        ("    cv=3,", "    cv=2,"),
    ]
    run(replaced("\n".join(blocks("docs/tutorial-practitioner.md")), sizes), "practitioner")
    printed = capsys.readouterr().out.splitlines()
    assert float(printed[0].removeprefix("accuracy ")) > 0.9
    names = ["SparseMLPClassifier", "RandomForestClassifier"]
    assert [line.split(":")[0] for line in printed[1:3]] == names
    assert printed[-1].startswith("tuned ")


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_theory_run(example):
    run(example, "docs/theory.md")


def test_the_page_of_sparse_activations_runs_as_printed():
    code = "\n".join(blocks("docs/sparse-activations.md"))
    names = run(replaced(code, [("steps=4000", "steps=200")]), "docs/sparse-activations.md")
    assert names["bound"] > 0
    assert 0 <= names["degree"] <= 30


def test_every_erratum_names_a_test_that_is_there():
    text = "".join(page.read_text("utf-8") for page in ROOT.glob("docs/errata*.md"))
    named = re.findall(r"(test_\w+)\.py::(test_\w+)", text)
    assert len(named) >= 20
    for file, test in named:
        sources = [path.read_text("utf-8") for path in ROOT.glob(f"tests/**/{file}.py")]
        assert any(f"def {test}(" in source for source in sources), (file, test)
