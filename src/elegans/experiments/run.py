"""One run: an experiment with a seed, and its record."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.keys import keys_of
from elegans.protocols import param_shapes, path_name
from elegans.runs import Run
from elegans.training.loop import Job, train


def run(
    experiment: Experiment,
    seed: int = 0,
    probes: Iterable[Callable[..., Any]] | dict[str, Callable[..., Any]] = (),
    watch: Callable[[dict[str, float | int]], None] | None = None,
) -> Run:
    """Trains one network and returns its record, a function of the experiment and the seed alone.

    Args:
        experiment: What to train on what, and how.
        seed: The source of all randomness: start, training set, order, test set.
        probes: Functions `probe(view)`, called at each evaluation; a
            dictionary gives them other names than their own.
        watch: Called with the newest row of the history at each evaluation.
    """
    checks.whole("run", "seed", seed, low=0, what="numbers a run")
    named = probes if isinstance(probes, dict) else {name_of(probe): probe for probe in probes}
    show = None if watch is None else lambda _, row: watch(row)
    ((_, record),) = train([Job(0, experiment, int(seed))], probes=named, watch=show)
    return record


def params_of(experiment: Experiment, columns: Mapping[str, Any]) -> PyTree:
    """The parameters of an experiment's model, from arrays by dotted path."""
    leaves, tree = jax.tree_util.tree_flatten_with_path(
        param_shapes(experiment.model, experiment.task)
    )
    return jax.tree.unflatten(tree, [jnp.asarray(columns[path_name(path)]) for path, _ in leaves])


def initial_of(experiment: Experiment, seed: int) -> PyTree:
    """The parameters that a run starts from."""
    return experiment.model.init_params(keys_of(seed).init, experiment.task)


def name_of(probe: Callable[..., Any]) -> str:
    """A probe's own name."""
    return str(getattr(probe, "__name__", type(probe).__name__))
