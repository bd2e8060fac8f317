"""Stores of runs that are made up: nothing here trains or needs JAX."""

import json

import numpy as np
import pytest

from elegans.runs import Run
from elegans.store.store import Store

PROBES = {"weights": '{"every": 1}', "norm": "{}"}


def experiment(width):
    """The JSON of an experiment, whose types do not exist."""
    return json.dumps(
        {
            "task": {"type": "nowhere:Vote", "n": 6, "support": [0, 1], "p": None},
            "model": {"type": "MLP", "width": width, "init": {"type": "Uniform"}},
            "training": {"type": "Training", "learning_rate": 0.1},
        }
    )


def name(width):
    """The hash of that experiment, as far as a store is concerned."""
    return f"{width:016x}"


def make_run(width=4, seed=0, **fields):
    """A finished run with curves, two probes and weights."""
    step = np.arange(3)
    arrays = {
        "history": {"step": step, "test_error": np.array([0.5, 0.25, np.nan])},
        "probes": {"step": step, "weights.a": np.full((3, 2), seed), "norm": np.ones(3)},
        "params": {"layers.0.weight": np.ones((2, 3), np.float32), "scale": np.float64(2)},
    }
    values = {
        "status": "done",
        "success": True,
        "steps": 300,
        "test_error": 0.25,
        "seconds": 0.1,
        "test_loss": float("nan"),
        "arrays": arrays,
        "versions": '{"code": "a"}',
        "host": "here",
    }
    return Run(source=experiment(width), hash=name(width), seed=seed, **(values | fields))


def make_failure(width=4, seed=0):
    """A run that raised."""
    text = "Traceback ...\nValueError: no"
    return Run(source="", hash=name(width), seed=seed, status="failed", traceback=text)


@pytest.fixture
def make(tmp_path):
    """Makes a store with runs at some widths and seeds."""

    def make(file="grid.db", widths=(4, 8), seeds=(0, 1), probes=PROBES, keep=(), **fields):
        store = Store(tmp_path / file if file != ":memory:" else file)
        for width in widths:
            store.register({name(width): experiment(width)})
            store.add([make_run(width, seed, **fields) for seed in seeds], probes, keep)
        return store

    return make
