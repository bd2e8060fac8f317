"""One run: an experiment with a seed, trained here and now."""

import hashlib
import importlib.metadata
import json
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.keys import SEEDS, keys_of
from elegans.models.inits import FromRun, cut
from elegans.protocols import Probe, param_shapes, path_name
from elegans.runs import Key, Run
from elegans.training.loop import Job, train

LIBRARIES = ("jax", "jaxlib", "numpy", "optax")
# What a record does not depend on: pictures, commands, and what only reads or schedules runs.
ROOMS_WITHOUT_NUMBERS = ("commands", "explorer", "report", "store", "sweeps")

Probes = Mapping[str, Probe] | Iterable[Probe]
Weights = Callable[[Key], Mapping[str, np.ndarray] | None]  # a stored run's, if there are any


def run(
    experiment: Experiment,
    seed: int = 0,
    probes: Probes = (),
    watch: Callable[[dict[str, float | int]], None] | None = None,
) -> Run:
    """Trains one network and returns its record, a function of the experiment and the seed alone.

    Args:
        experiment: What to train on what, and how.
        seed: The source of all randomness: initial weights, training set, order, test set.
        probes: Called as `probe(view)` at each evaluation; a dictionary gives them other names
            than their own.
        watch: Called with the newest row of the history at each evaluation.
    """
    if not isinstance(experiment, Experiment):
        raise TypeError(f"run: experiment is an Experiment; got {experiment!r}.")
    checks.whole("run", "seed", seed, low=0, high=SEEDS - 1, what="numbers a run")
    show = None if watch is None else lambda _, row: watch(row)
    job = Job(0, experiment, int(seed), initial_weights(experiment))
    ((_, finished),) = train([job], probes=named(probes), watch=show)
    return stamped(finished)


def named(probes: Probes) -> dict[str, Probe]:
    """Probes by name; two of one name, and names with dots, are refused."""
    if isinstance(probes, Mapping):
        pairs = list(probes.items())
    else:
        pairs = [(name_of(probe), probe) for probe in probes]
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"Two probes are named {name!r}; give them names, as in "
                f"probes={{'{name}_a': ..., '{name}_b': ...}}."
            )
        if not name.isidentifier():
            raise ValueError(f"A probe's name is a Python identifier; got {name!r}.")
    for name, probe in pairs:
        if not callable(probe) or isinstance(probe, type):
            raise TypeError(f"A probe is called as probe(view); {name!r} is {probe!r}.")
    return dict(pairs)


def name_of(probe: Probe) -> str:
    """A probe's own name: that of a function, or of a configuration's class."""
    return str(getattr(probe, "__name__", type(probe).__name__))


def stamped(finished: Run) -> Run:
    """The run with where, when and with what it was made."""
    return replace(finished, host=platform.node(), versions=versions(), finished=time.time())


def parent_of(experiment: Any) -> tuple[Experiment, int] | None:
    """The run whose final weights an experiment starts from, if it does."""
    init = getattr(getattr(experiment, "model", None), "init", None)
    if isinstance(init, FromRun) and init.at == "end":
        return init.experiment, init.seed
    return None


def initial_weights(experiment: Experiment, weights: Weights = lambda key: None) -> PyTree | None:
    """What an experiment starts from if that is another run's end: looked up, or trained first."""
    parent = parent_of(experiment)
    if parent is None:
        return None
    trained, seed = parent
    columns = weights((trained.name, seed))
    if columns is None:
        columns = run(trained, seed).arrays["params"]
    return cut(trained.model, params_of(trained, columns), experiment.model.init.neurons)


def initial_of(experiment: Experiment, seed: int) -> PyTree:
    """The network before its first step."""
    if parent_of(experiment) is not None:
        return initial_weights(experiment)
    return experiment.model.init_params(keys_of(seed).init, experiment.task)


def params_of(experiment: Experiment, columns: Mapping[str, np.ndarray]) -> PyTree:
    """Parameters from arrays by dotted path."""
    shapes = param_shapes(experiment.model, experiment.task)
    paths, tree = jax.tree_util.tree_flatten_with_path(shapes)
    leaves = [jnp.asarray(columns[path_name(path)]) for path, _ in paths]
    return jax.tree.unflatten(tree, leaves)


@cache
def versions() -> str:
    """The versions that a result may depend on, as JSON."""
    from elegans import __version__

    libraries = {name: importlib.metadata.version(name) for name in LIBRARIES}
    ours = {"elegans": __version__, "code": code_version(), "python": platform.python_version()}
    return json.dumps(ours | libraries)


@cache
def code_version() -> str:
    """Twelve digits that change with the code of this package that records depend on."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        is_picture = any(part.startswith("figures") for part in parts)
        if parts[0] not in ROOMS_WITHOUT_NUMBERS and not is_picture:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
