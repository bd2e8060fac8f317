r"""What the studies of trained networks share: recipes, sweeps, and tables of neurons and shares.

The thesis trains with full batches and gradient descent, the rate 0.05 doubled at given steps,
under a penalty $\lambda \|\theta\|_{2,\nu}^r$ (appendix D.2). It leaves open the power $r$ and the
initial weights: here $r = \nu$, and weights start as PyTorch's linear layers do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import scipy
from jaxtyping import Float, Int

from elegans import probes
from elegans.experiments.experiment import Experiment
from elegans.models import TwoEmbedding
from elegans.runs import Run, Runs
from elegans.statistics import Interval, bootstrap
from elegans.sweeps.sweep import Sweep
from elegans.tasks import GroupOperation
from elegans.theory import groups as theory
from elegans.theory.groups.margins import neuron_norms, predictions
from elegans.training.losses import CrossEntropy, Loss
from elegans.training.optimizers import SGD
from elegans.training.recipe import Training
from elegans.training.regularisers import Norm
from elegans.training.schedules import Milestones, schedule_of

LIVE = 0.01  # of the largest neuron's norm: what counts as a neuron at the end
PROBES = {"margin": probes.margin, "features": probes.features}


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A network's width, the penalty's weight, and gradient descent with a rate that doubles.

    Without `doublings` the rate follows the `schedule`.

    `precise` is for penalties so small that the loss ends near 1e-6, where the usual cross-entropy
    has few digits left in float32. The thesis has no `momentum`: it takes the steps that are stable
    for gradient descent many times as far.
    """

    width: int
    weight: float
    steps: int
    doublings: tuple[int, ...] = ()
    learning_rate: float = 0.05
    momentum: float = 0.0
    schedule: str = "constant"
    batch: int | None = None
    evaluations: int = 50
    precise: bool = False

    def training(self, degree: int, loss: str | Loss = "cross-entropy") -> Training:
        """The recipe for a network of this degree of homogeneity."""
        return Training(
            loss=CrossEntropy(precise=True) if self.precise else loss,
            optimizer=SGD(self.momentum) if self.momentum else "sgd",
            learning_rate=self.learning_rate,
            samples=None,
            batch=self.batch,
            steps=self.steps,
            evaluate_every=max(1, self.steps // self.evaluations),
            regulariser=Norm(self.weight, a=2.0, b=float(degree), power=float(degree)),
            schedule=Milestones(self.doublings, 2.0) if self.doublings else self.schedule,
        )


def experiment(task: GroupOperation, recipe: Recipe, activation: str = "square") -> Experiment:
    """A network of two embeddings on a group, trained by a recipe."""
    model = TwoEmbedding(width=recipe.width, activation=activation)
    return Experiment(task, model, recipe.training(model.homogeneity))


def sweep(points: Iterable[tuple[Mapping[str, Any], Experiment]], seeds: int) -> Sweep:
    """Experiments on groups, watched by the probes of margins and features."""
    return Sweep.of(points, seeds=seeds, probes=PROBES, keep="params")


def curves(runs: Runs) -> pd.DataFrame:
    """Margin, its ratio to the largest, norm and loss of each run at each evaluation."""

    def curve(run: Run) -> pd.DataFrame:
        probes = run.probes
        columns = {name: probes[f"margin.{name}"] for name in ("margin", "ratio", "norm")}
        power = {"power": probes["features.power"]} if "features.power" in probes else {}
        # Where batches are drawn there is no training set, and the loss is that of drawn pairs.
        losses = run.history["train_loss"].fillna(run.history["test_loss"])
        loss = np.interp(probes["step"], run.history["step"], losses)
        return pd.DataFrame({"step": probes["step"], **columns, **power, "loss": loss})

    return runs.rows(curve)


def flow_times(training: Training, steps: Int[np.ndarray, " looks"]) -> Float[np.ndarray, " looks"]:
    """The time of gradient flow at each of these steps: the sum of the learning rates before it.

    Momentum repeats each gradient, with weights that sum to 1 / (1 - momentum).
    """
    t = jnp.arange(int(steps.max()), dtype=jnp.float32)
    factors = jax.vmap(lambda step: schedule_of(training.schedule)(step, training.steps))(t)
    rates = float(training.learning_rate) * np.asarray(factors, np.float64)
    repeats = 1 / (1 - float(getattr(training.optimizer, "momentum", 0.0)))
    return repeats * np.concatenate([[0.0], np.cumsum(rates)])[steps]


def share_curves(runs: Runs) -> pd.DataFrame:
    """The norm share per representation at each evaluation, with the time of gradient flow."""

    def part(run: Run) -> pd.DataFrame:
        probes, training = run.probes, run.experiment.training
        labels = theory.real_character_table(run.experiment.task.group).labels
        table = pd.DataFrame(probes["features.shares"], columns=list(labels)).assign(
            step=probes["step"], time=flow_times(training, np.asarray(probes["step"]))
        )
        return table.melt(["step", "time"], var_name="representation", value_name="share")

    return runs.rows(part)


def neurons(run: Run, *, is_start: bool = False) -> pd.DataFrame:
    """One row per neuron: its norm and share, and in what u, v and w have specialised.

    `gap` is Theorem 7.7's condition on phases, the angle of u + v - w; only for cyclic groups.
    """
    model, task = run.experiment.model, run.experiment.task
    params = run.initial if is_start else run.params
    params = type(params)(*(np.asarray(part, np.float64) for part in params))
    labels = theory.real_character_table(task.group).labels
    powers = {
        name: theory.powers(task.group, vector)
        for name, vector in (("u", params.u), ("v", params.v), ("w", params.w.T))
    }
    norms = neuron_norms(model, params)
    parts = norms**model.homogeneity
    home = np.argmax(sum(powers.values()), axis=0)
    homes = np.stack([np.argmax(power, axis=0) for power in powers.values()])
    table = pd.DataFrame(
        {
            "neuron": np.arange(len(norms)),
            "norm": norms,
            "share": parts / parts.sum(),
            "representation": [labels[i] for i in home],
            "is_live": norms > LIVE * norms.max(),
            "is_same": (homes == home).all(axis=0),
        }
    )
    for name, power in powers.items():
        total = power.sum(axis=0)
        table[f"power_{name}"] = power.max(axis=0) / np.where(total > 0, total, 1.0)
    if hasattr(task.group, "p"):
        u, v, w = (
            np.fft.fft(x, axis=0)[home, np.arange(len(home))]
            for x in (params.u, params.v, params.w.T)
        )
        table["gap"] = np.abs(np.angle(u * v * np.conj(w)))
    return table


def neuron_table(runs: Runs) -> pd.DataFrame:
    """The neurons of all runs, at the start and at the end."""
    return pd.concat(
        [
            runs.rows(lambda run: neurons(run, is_start=True)).assign(when="start"),
            runs.rows(neurons).assign(when="end"),
        ],
        ignore_index=True,
    )


def over_seeds(values: pd.Series, diverged: float) -> Interval:
    """The mean over seeds of a number per seed, which a run that diverged has not."""
    return bootstrap(values.fillna(diverged).to_numpy(float), np.mean)


def mean_cross_entropy(
    values: Float[np.ndarray, "batch classes"], labels: Int[np.ndarray, " batch"]
) -> float:
    """The loss in float64, over all pairs also where training drew batches."""
    right = values[np.arange(len(labels)), labels]
    return float(np.mean(scipy.special.logsumexp(values, axis=1) - right))


def end_table(runs: Runs) -> pd.DataFrame:
    """One row per run: margin, norm and loss at the end, beside those of the exact optimum.

    Largest margin and optimum are those of quadratic networks; for others they are missing.
    """

    def end(run: Run) -> pd.DataFrame:
        model, task = run.experiment.model, run.experiment.task
        params = type(run.params)(*(np.asarray(part, np.float64) for part in run.params))
        # The largest margin is known for quadratic networks alone.
        best = theory.maximum_margin(task.group).value if model.homogeneity == 3 else np.nan
        margin = theory.normalised_margin(model, params, task)
        norm = float(np.sum(neuron_norms(model, params) ** model.homogeneity))
        loss = mean_cross_entropy(*predictions(model, params, task))
        row = {"margin": margin, "ratio": margin / best, "norm": norm, "loss": loss}
        theory_row = dict.fromkeys(("theory_ratio", "theory_norm", "theory_loss"), np.nan)
        if model.homogeneity == 3:
            weight = float(run.experiment.training.regulariser.strength)
            optimum = theory.regularised_optimum(task.group, weight)
            theory_row = {
                "theory_ratio": optimum.margin / best,
                "theory_norm": optimum.norm**3,
                "theory_loss": optimum.loss,
            }
        return pd.DataFrame([row | theory_row])

    return runs.rows(end)


def share_table(runs: Runs) -> pd.DataFrame:
    """Neurons and norm share per representation at the start and the end, beside the theory's.

    `theory` is the share in the exact optimum at the run's penalty, `theory_limit` one at maximum
    margin.
    """

    def shares(run: Run) -> pd.DataFrame:
        group = run.experiment.task.group
        table = theory.real_character_table(group)
        weight = float(run.experiment.training.regulariser.strength)
        rows = pd.DataFrame(
            {
                "representation": table.labels,
                "dimension": table.dimensions,
                "theory": theory.regularised_optimum(group, weight).shares,
                "theory_limit": theory.maximum_margin(group).shares,
            }
        ).set_index("representation")
        for when, part in (("start", neurons(run, is_start=True)), ("end", neurons(run))):
            live = part[part["is_live"]].groupby("representation")
            sums = part.groupby("representation")["share"].sum()
            rows[f"neurons_{when}"] = live.size().reindex(rows.index, fill_value=0)
            rows[f"share_{when}"] = sums.reindex(rows.index, fill_value=0.0)
        return rows.iloc[1:].reset_index()  # the trivial one computes nothing

    return runs.rows(shares)
