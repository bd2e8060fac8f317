"""What the studies of induction heads share: runs with probes, as tables, and phases."""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.random as jr
import numpy as np
import pandas as pd
from jaxtyping import Array, Float, Int, PyTree

from elegans.experiments.experiment import Experiment
from elegans.probes import Divergences, parameters
from elegans.store.record import path_of
from elegans.store.store import Store
from elegans.sweeps.sweep import Sweep
from elegans.theory.markov import expected_loss, known_sequences, levels_of
from elegans.training.recipe import Training

LEVELS_SEED = 2**20  # of the sequences that strategies are measured on; no run has it


@dataclass(frozen=True)
class Recipe:
    """How the networks of these studies are trained: online, batches of 64, cross-entropy."""

    steps: int
    rate: float
    evaluations: int = 25
    optimizer: str = "adamw"
    batch: int = 64
    schedule: str = "cosine"

    def training(self) -> Training:
        """The engine's recipe."""
        return Training(
            loss="cross-entropy",
            optimizer=self.optimizer,
            schedule=self.schedule,
            learning_rate=self.rate,
            batch=self.batch,
            steps=self.steps,
            evaluate_every=max(1, self.steps // self.evaluations),
            test_samples=250,
        )


class Watched(NamedTuple):
    """A finished run as it is stored: its curves, and what the probes saw by dotted names."""

    experiment: Experiment
    seed: int
    history: pd.DataFrame
    probes: dict[str, np.ndarray]


def runs_of(
    experiment: Experiment,
    seeds: Iterable[int],
    probes: Mapping[str, Any],
    *,
    store: str | os.PathLike[str] | None = None,
    **options: Any,
) -> list[Watched]:
    """One run a seed: those that the store lacks are done, by a sweep with these options."""
    with _store(store) as opened:
        Sweep(experiment, over={}, seeds=seeds, probes=probes).run(store=opened, **options)
        wanted = {"experiment": experiment.name, "seed": list(seeds)}
        rows = opened.table(wanted)
        for _, row in rows[rows["status"] == "failed"].iterrows():
            raise RuntimeError(f"{experiment}, seed {row['seed']}: {row['traceback']}")
        return [
            Watched(experiment, int(row["seed"]), opened.history(row), opened.probes(row))
            for _, row in rows.iterrows()
        ]


@contextmanager
def _store(path: str | os.PathLike[str] | None) -> Iterator[Store]:
    """The store at `path`, or one that is gone afterwards."""
    with (
        tempfile.TemporaryDirectory() as directory,
        Store(path or os.path.join(directory, "runs.db")) as opened,
    ):
        yield opened


def network(run: Watched) -> PyTree:
    """The parameters at the end of a run that was watched by `probes.parameters`."""
    task, model = run.experiment.task, run.experiment.model
    shapes = jax.eval_shape(lambda key: model.init_params(key, task), jr.key(0))
    found, tree = jax.tree_util.tree_flatten_with_path(shapes)
    ends = [run.probes[f"parameters.{path_of(path)}"][-1] for path, _ in found]
    return jax.tree.unflatten(tree, ends)


def curves(runs: Sequence[Watched], probe: str = "divergences") -> pd.DataFrame:
    """One row an evaluation: step, examples seen, losses, and a probe's scalars."""
    parts = []
    for run in runs:
        seen = {n.removeprefix(f"{probe}."): v for n, v in run.probes.items()
                if n.startswith(f"{probe}.")}  # fmt: skip
        scalars = {name: values for name, values in seen.items() if values.ndim == 1}
        part = run.history[["step", "test_loss"]].assign(seed=run.seed, **scalars)
        batch = run.experiment.training.batch or 0
        parts.append(part.assign(examples=part["step"] * batch))
    return pd.concat(parts, ignore_index=True)


def levels(task: Any, strategies: Sequence[str], sequences: int = 4096) -> pd.DataFrame:
    """The expected loss and KL of each strategy at the last position, with their intervals."""
    rows = []
    for name in strategies:
        found = expected_loss(name, task, jr.key(LEVELS_SEED), sequences)
        loss, divergence = found.loss_at_end, found.divergence_at_end
        rows.append(
            {
                "strategy": name,
                "loss": loss.value,
                "loss_low": loss.low,
                "loss_high": loss.high,
                "divergence": divergence.value,
            }
        )
    return pd.DataFrame(rows).set_index("strategy")


class Excess(NamedTuple):
    """By how much a network's loss exceeds a strategy's, in nats."""

    at_end: float
    mean: float


def excesses(runs: Sequence[Watched], strategy: str, sequences: int = 4096) -> list[Excess]:
    """Networks of one experiment against a strategy, all on the same sequences.

    So chance cancels but for a little. At the last position, where the documents measure, and
    averaged over positions.
    """
    task, key = runs[0].experiment.task, jr.key(LEVELS_SEED)
    known = known_sequences(task, key, sequences)
    theirs = expected_loss(strategy, task, key, sequences)
    found = []
    for run in runs:
        ours = levels_of(_probabilities(run.experiment.model, network(run), known.x), known)
        at_end = ours.loss_at_end.value - theirs.loss_at_end.value
        found.append(Excess(at_end, ours.loss.value - theirs.loss.value))
    return found


@partial(jax.jit, static_argnums=0)
def _probabilities(
    model: Any, params: PyTree, tokens: Int[Array, "size length"]
) -> Float[Array, "size length states"]:
    return jax.nn.softmax(jax.vmap(model.apply, in_axes=(None, 0))(params, tokens))


def watched(
    experiment: Experiment, seeds: Iterable[int], strategies: Sequence[str], **options: Any
) -> tuple[list[Watched], pd.DataFrame]:
    """Runs with the divergences from strategies, and their table with the nearest one."""
    divergences = Divergences(tuple(strategies), sequences=256)
    probes = {"divergences": divergences, "parameters": parameters}
    runs = runs_of(experiment, seeds, probes, **options)
    table = curves(runs)
    return runs, table.assign(nearest=nearest(table, strategies))


def nearest(table: pd.DataFrame, strategies: Sequence[str]) -> pd.Series:
    """The strategy with the least KL from the model at the last position, row by row."""
    columns = table[[f"{name}_at_end" for name in strategies]].to_numpy()
    return pd.Series(np.asarray(strategies)[columns.argmin(axis=1)], index=table.index)


def phases(table: pd.DataFrame) -> dict[int, tuple[str, ...]]:
    """The nearest strategies of each seed, in order, repeats left out."""
    found = {}
    for seed, part in table.sort_values("step").groupby("seed"):
        names = part["nearest"].to_list()
        kept = [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]
        found[int(str(seed))] = tuple(kept)
    return found


def shares(table: pd.DataFrame, strategies: Sequence[str]) -> pd.DataFrame:
    """How much of training each model spends nearest to each strategy."""
    return pd.DataFrame(
        {name: (table["nearest"] == name).groupby(table["model"]).mean() for name in strategies}
    )


def at_end(table: pd.DataFrame) -> pd.DataFrame:
    """The last evaluation of each seed."""
    return table.sort_values("step").groupby("seed").tail(1).reset_index(drop=True)
