"""Checks of the house: imports flow one way, the docs describe what is there, results stay."""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import elegans as el
from docs.site import reference
from elegans.studies import catalogue

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "elegans"

# What each room may import: itself, and these. The order is the flow of docs/architecture.md.
BASE = {"checks", "cube", "fields", "fingerprint", "keys", "protocols", "runs", "statistics"}
BASE |= {"compilation", "descriptions", "durations"}
DATA = BASE | {"tasks", "models", "constructions"}
FLOW = {
    "checks": set(),
    "compilation": {"sweeps"},  # what a worker calls is imported when it is called
    "cube": {"checks", "fields"},
    "durations": set(),
    "statistics": {"checks"},
    "fingerprint": set(),
    "fields": {"checks", "compilation", "fingerprint"},
    "descriptions": {"checks", "fields", "keys", "protocols"},
    "keys": {"fields"},
    "protocols": {"checks", "descriptions", "fields"},
    "runs": {"experiments"},  # a stored run rebuilds its experiment when it is asked for
    "tasks": DATA,
    "models": DATA | {"training"},  # the zoo lists recipes
    "constructions": DATA | {"theory"},
    "theory": BASE | {"tasks"},
    "probes": DATA | {"theory"},
    "learners": BASE | {"tasks", "theory"},
    "training": DATA,
    "estimators": DATA | {"training"},
    "experiments": DATA | {"training"},
    "store": BASE - {"compilation"},
    "sweeps": DATA | {"training", "experiments", "store"},
    "report": BASE,
    # No study, no theory, no training, no JAX; no statistics either, which loads pandas and SciPy.
    "explorer": {"checks", "durations", "runs", "store", "report"},
}
EVERYTHING_BELOW = set().union(*FLOW.values()) | set(FLOW)
FLOW["studies"] = EVERYTHING_BELOW - {"explorer"} | {"learners", "estimators", "report", "sweeps"}
FLOW["commands"] = FLOW["studies"] | {"studies", "explorer"}
FLOW["cli"] = {"checks", "commands"}


def imports(path):
    """The rooms of this package that a file imports, anywhere in it, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "elegans":
                names = [f"elegans.{alias.name}" for alias in node.names]
            else:
                names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "elegans" and len(parts) > 1 and not parts[1].startswith("__"):
                yield parts[1], node.lineno


def test_imports_follow_the_flow():
    against = []
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):
            continue
        for other, line in imports(path):
            if other != room and other not in FLOW[room]:
                against.append(f"{path.relative_to(ROOT)}:{line} imports {other}")
    assert not against, "\n".join(against)


def test_every_file_is_in_a_room_of_the_plan():
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert rooms - {"__init__", "__main__"} == set(FLOW)


def test_a_study_keeps_its_figures_apart_from_what_workers_import():
    for path in (SOURCE / "studies").rglob("*.py"):
        if any(part.startswith("figures") for part in path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                assert str(module).split(".")[0] not in ("altair", "matplotlib"), path


def modules():
    """Every module of the package but the ones that run when they are imported."""
    for module in pkgutil.walk_packages([str(SOURCE)], prefix="elegans."):
        if not module.name.endswith(("__main__", ".worker")):
            yield importlib.import_module(module.name)


def test_public_names_are_documented():
    missing = []
    for module in modules():
        if not module.__doc__:
            missing.append(module.__name__)
        for name, value in vars(module).items():
            is_public = not name.startswith("_") and getattr(value, "__module__", "") == (
                module.__name__
            )
            is_named = inspect.isclass(value) or inspect.isfunction(value)
            if is_public and is_named and not inspect.getdoc(value):
                missing.append(f"{module.__name__}.{name}")
    assert not missing, missing


def test_every_public_module_is_in_the_api_reference():
    pages = reference.pages()
    listed = [name for text in pages.values() for name in re.findall(r"automodule:: (.+)", text)]
    assert len(listed) == len(set(listed))
    everything = {module.name for module in pkgutil.walk_packages([str(SOURCE)], "elegans.")}
    for name in everything - set(listed):
        _, room, *rest = name.split(".")
        is_chapter = room == "studies" and rest[0] in reference.CHAPTERS
        is_server = name.startswith(f"{reference.SERVER}.")
        assert is_chapter or is_server or reference.SKIPPED & set(name.split(".")), name
    assert set(reference.rooms()) == set(FLOW) - reference.SKIPPED
    assert all(f"\nelegans.{room}\n" in pages["index"] for room in reference.rooms())


def test_at_most_25_names_are_on_top_and_dir_shows_them():
    names = [name for name in dir(el) if not name.startswith("_")]
    assert len(names) <= 25
    for name in names:
        assert getattr(el, name) is not None
    for room in ("tasks", "models", "inits", "probes", "training", "theory", "learners"):
        assert [name for name in dir(getattr(el, room)) if not name.startswith("_")]


def test_types_are_shipped():
    assert (SOURCE / "py.typed").exists()


def test_the_list_of_studies_is_that_of_the_docs_and_of_the_files():
    names = [entry.name for entry in catalogue.entries()]
    page = (ROOT / "docs/studies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z0-9-]+) \|", page, re.MULTILINE)
    assert sorted(row for row in rows if row != "study") == sorted(names)
    assert len(names) == len(set(names))
    for entry in catalogue.entries():
        study = catalogue.study(entry.name)  # which resolves its figures
        assert (study.title, study.source) == (entry.title, entry.source)
        assert {s: scale.minutes for s, scale in study.scales.items()} == dict(entry.minutes)
        assert "quick" in study.scales
        assert study.claims


def test_the_list_of_studies_needs_no_jax():
    script = (
        "import sys; from elegans.cli import main; code = main(['reproduce', '--list', '--json']); "
        "sys.exit(code or ('jax' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert [study["name"] for study in listed] == [entry.name for entry in catalogue.entries()]


@pytest.mark.parametrize(
    "forbidden", ["TODO", "FIXME", "NotImplementedError", "fmt: skip", "import pickle"]
)
def test_nothing_is_left_undone(forbidden):
    for path in SOURCE.rglob("*.py"):
        assert forbidden not in path.read_text(encoding="utf-8"), path


GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))


def golden_experiments():
    """Twenty steps each of what most studies are made of."""
    common = {"steps": 20, "evaluate_every": 10}
    return {
        "sgd-offline": el.Experiment(
            el.tasks.Parity(n=20, k=3, flip=0.05),
            el.models.MLP(width=16, init=el.inits.Sparse(2)),
            el.Training(
                samples=200,
                batch=8,
                test_samples=500,
                weight_decay=0.01,
                learning_rate=0.2,
                **common,
            ),
        ),
        "adam-online": el.Experiment(
            el.tasks.Parity(n=12, k=2),
            el.models.MLP(width=8, depth=2, activation="gelu", dropout=0.25),
            el.Training(
                optimizer="adamw",
                loss="square",
                batch=16,
                test_samples=500,
                weight_decay=0.01,
                learning_rate=0.01,
                schedule="cosine",
                warmup=5,
                **common,
            ),
        ),
        "full-batch": el.Experiment(
            el.tasks.Conjunction(n=10, k=2, p=0.7),
            el.models.MLP(width=8, init=el.inits.Gaussian()),
            el.Training(
                samples=64,
                batch=None,
                test_samples=500,
                loss="logistic",
                learning_rate=0.5,
                **common,
            ),
        ),
        "transformer": el.Experiment(
            el.tasks.MarkovChains(3, 16),
            el.models.AttentionOnly(2, 1, 8),
            el.Training(
                loss="cross-entropy",
                optimizer="adam",
                batch=8,
                test_samples=250,
                learning_rate=0.01,
                **common,
            ),
        ),
    }


@pytest.mark.parametrize("name", GOLDEN)
def test_results_are_those_of_the_golden_record(name):
    """A change here is a change of stored results: it goes into the changelog's Numbers."""
    run = el.run(golden_experiments()[name], seed=3)
    expected = GOLDEN[name]
    for metric in ("steps", "test_error", "test_loss", "train_error", "train_loss"):
        np.testing.assert_allclose(getattr(run, metric), expected[metric], rtol=1e-4)
    np.testing.assert_allclose(run.history["test_loss"], expected["history_test_loss"], rtol=1e-4)
