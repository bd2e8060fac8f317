r"""Theorem 5.5 end to end: one large step finds the relevant bits, and then the readout is learned.

From random signs $w \in \{\pm 1\}^n$ with mirrored neurons, step 0 on $B$ examples replaces the
hidden weights by their gradient ($\eta_0 = 1/(k|\xi_{k-1}|)$, decay 1; biases move and are not
decayed; the second layer is set to zero). Then SGD on fresh examples trains the second layer alone,
at a constant rate. The theorem's constants cannot be run (`theory.resources.dense_sign` asks for
2,225 bits at $k = 2$), the algorithm can.

Measured are: after step 0, the share of neurons whose $k$ largest weights are the support, over
$B$, with the samples of proposition B.7 beside it; the hinge loss of the exact readout of lemma B.4
placed on those neurons by hand; and the hinge loss that SGD ends at. As a control the first step is
left out, so that SGD trains a readout of fixed random features.

The second layer's rate was chosen on seeds from 1,000 on: the theorem's rate divides by a bound on
gradients that is two orders above their size; what it reaches is in the table too.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Float

from elegans.cube import character, drawn_signs
from elegans.experiments.experiment import Experiment
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.statistics import bootstrap, wilson
from elegans.studies.progress import dense_claims
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources
from elegans.theory.boolean import gradients, majority
from elegans.training import layerwise
from elegans.training.recipe import Training

TEST_ROWS = 4000  # on which a readout that was solved is measured
DELTA = 0.01  # of proposition B.7


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sizes; first batches are `shares` of the samples of proposition B.7."""

    ns: tuple[int, ...]
    k: int
    width: int
    shares: tuple[float, ...]
    seeds: int
    steps: int
    epsilon: float = 0.1
    second_rate: float = 0.2
    batch: int = 64


def recovery_samples(n: int, k: int) -> int:
    """Proposition B.7 for a neuron of signs, whose gap is half of majority's."""
    return gradients.recovery_samples(majority.gap(n, k) / 2, n, DELTA)


def recipe(settings: Settings, n: int, first_batch: int, arm: str) -> Training:
    """The theorem's algorithm, with its own second rate, or without its first step."""
    k, steps = settings.k, settings.steps
    rate = 1 / (k * abs(majority.coefficient(n, k - 1)))
    second = settings.second_rate
    if arm == "theorem's rate":
        second = 4 * k**1.5 / (n * math.sqrt(settings.width * (steps - 1)))
    if arm == "fixed features":  # of size sqrt(n), not 1/2: a rate that does not diverge
        rate, second = 0.0, settings.second_rate / n
    return layerwise(
        first_batch,
        rate,
        first_decay=0.0 if arm == "fixed features" else 1.0,
        bias_rate=rate,
        resets_output=True,
        second_rate=second,
        output="layers.1.weight",
        batch=settings.batch,
        is_fresh=True,
        steps=steps,
        test_samples=4000,
        evaluate_every=steps,
    )


def runs(settings: Settings) -> dict[str, Sweep]:
    """The algorithm at every n and first batch; its variants at the batch of proposition B.7."""
    points = []
    for n in settings.ns:
        enough = recovery_samples(n, settings.k)
        cells = [("algorithm", round(share * enough)) for share in settings.shares]
        cells += [("theorem's rate", enough), ("fixed features", enough)]
        for arm, first_batch in cells:
            model = MLP(width=settings.width, init=inits.SymmetricSign())
            training = recipe(settings, n, first_batch, arm)
            labels = {"arm": arm, "n": n, "first_batch": first_batch}
            points.append((labels, Experiment(Parity(n, settings.k), model, training)))
    return {"runs": Sweep.of(points, seeds=settings.seeds, keep="params")}


def recovered_share(weight: Float[np.ndarray, "n neurons"], k: int) -> float:
    """The share of neurons whose k largest weights are the first k bits; ties are no recovery."""
    size = np.abs(weight)
    return float((size[:k].min(axis=0) > size[k:].max(axis=0)).mean())


def placed_readout(
    weight: Float[np.ndarray, "n neurons"], bias: Float[np.ndarray, " neurons"], k: int
) -> Float[np.ndarray, " neurons"]:
    r"""Outer weights that write $2\chi_S$ on good neurons: those near $\pm\frac{1}{2k}$ on $S$.

    The ramps $(\pm\frac{s}{2k} + b)_+$ of all biases of the grid span what a parity of $k$ bits
    needs, $k + 1$ of them (lemma B.4); the solution of least norm is shared by the neurons of a
    kind. Kinds without a neuron are left out.
    """
    slope = weight[:k] * 2 * k
    sign = np.sign(slope[0])
    is_good = (sign * slope > 0.5).all(axis=0)
    step = np.rint(bias * k).astype(int)
    kinds = sorted({(int(sign[i]), int(step[i])) for i in np.flatnonzero(is_good)})
    sums = np.arange(-k, k + 1, 2)
    ramps = [np.maximum(a * sums / (2 * k) + b / k, 0) for a, b in kinds]
    outer = np.zeros(weight.shape[1])
    if not kinds:
        return outer
    target = 2.0 * (-1.0) ** ((k - sums) // 2)
    solution = np.linalg.lstsq(np.stack(ramps, axis=1), target, rcond=None)[0]
    for (a, b), value in zip(kinds, solution, strict=True):
        chosen = is_good & (sign == a) & (step == b)
        outer[chosen] = value / chosen.sum()
    return outer


def measured(run: Run) -> dict[str, float]:
    """What step 0 left of a run, whose first layer has not moved since."""
    task, hidden = run.experiment.task, run.params.layers[0]
    weight, bias = np.asarray(hidden.weight, float), np.asarray(hidden.bias, float)
    start = np.asarray(run.initial.layers[0].bias, float)
    outer = placed_readout(weight, start, task.k)
    x = drawn_signs(np.random.default_rng([run.seed, 7]), TEST_ROWS, task.n)
    margin = character(x, tuple(range(task.k))) * (np.maximum(x @ weight + bias, 0) @ outer)
    return {
        "recovered": recovered_share(weight, task.k),
        "readout_loss": float(np.maximum(0, 1 - margin).mean()),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per run, one per cell, and what the theorem asks for."""
    measures = pd.DataFrame([measured(run) for run in runs["runs"]])
    table = pd.concat([runs["runs"].table, measures], axis=1)
    columns = ["arm", "n", "first_batch", "seed", "recovered", "readout_loss", "test_loss"]
    trials = table[[*columns, "test_error"]]
    return {"cells": cells(settings, trials), "trials": trials, "theory": theory(settings)}


def cells(settings: Settings, trials: pd.DataFrame) -> pd.DataFrame:
    """Per arm, n and first batch: recovery, and losses in the median and by share below epsilon."""
    rows = []
    for key, part in trials.groupby(["arm", "n", "first_batch"], sort=False):
        arm, n, first_batch = cast(tuple[Any, ...], key)
        share = bootstrap(part["recovered"].to_numpy(float), np.mean)
        below = (part["test_loss"].fillna(np.inf) <= settings.epsilon).sum()
        rate = wilson(int(below), len(part))
        rows.append(
            {
                "arm": arm,
                "n": int(n),
                "first_batch": int(first_batch),
                "of_b7": first_batch / recovery_samples(int(n), settings.k),
                "recovered": share.value,
                "low": share.low,
                "high": share.high,
                "readout_loss": part["readout_loss"].median(),
                "loss": part["test_loss"].median(),
                "learned": rate.value,
                "learned_low": rate.low,
                "learned_high": rate.high,
            }
        )
    return pd.DataFrame(rows)


def theory(settings: Settings) -> pd.DataFrame:
    """The samples of proposition B.7 at every n, and the prescription where the theorem begins."""
    k = settings.k
    least = resources.least_bits(k, settings.epsilon)
    plan = resources.dense_sign(least, k, settings.epsilon)
    rows: list[dict[str, Any]] = [
        {"n": n, "statement": "B.7", "batch": float(recovery_samples(n, k))} for n in settings.ns
    ]
    asked = {"batch": float(plan.samples), "width": float(plan.width), "steps": float(plan.steps)}
    return pd.DataFrame([*rows, {"n": least, "statement": "5.5", **asked}])


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The sizes that claims and figure mention."""
    names = ("k", "width", "seeds", "steps", "epsilon", "batch")
    return {name: getattr(settings, name) for name in names}


STUDY = Study(
    name="dense-sign",
    title="One large step finds the bits that matter, and the rest is easy",
    summary=(
        "The label is the product of two hidden bits out of n. A network starts with random signs "
        "as weights. Its first gradient, over enough examples, is larger at the two hidden bits "
        "than anywhere else; one step that replaces the weights by that gradient turns the neurons "
        "into detectors of these bits, and a linear readout of them is learned with ease. Theorem "
        "5.5 proves it for thousands of bits and an enormous batch. Here the algorithm itself is "
        "run: how large must that first batch be?"
    ),
    source="Thesis, theorem 5.5, lemmas B.3 to B.5, proposition B.7",
    scales={
        "quick": Scale(
            Settings(
                ns=(15, 21, 51),
                k=2,
                width=64,
                shares=(0.02, 0.05, 0.1, 0.2, 0.4, 1.0),
                seeds=20,
                steps=2001,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                ns=(15, 21, 31),
                k=4,
                width=1024,
                shares=(0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0),
                seeds=20,
                steps=8001,
            ),
            minutes=60,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        dense_claims.the_first_step_recovers_the_support,
        dense_claims.recovery_takes_samples,
        dense_claims.the_readout_is_there,
        dense_claims.the_algorithm_reaches_its_loss,
        dense_claims.fixed_features_fail,
    ),
    figures="elegans.studies.progress.figures_dense:dense_sign",
    shown=("cells", "theory"),
    formats={
        "of_b7": ".2f",
        "recovered": ".1%",
        "low": ".1%",
        "high": ".1%",
        "learned": ".0%",
        "learned_low": ".0%",
        "learned_high": ".0%",
        "batch": ".3g",
        "steps": ".3g",
        "width": ".0f",
        "readout_loss": ".3f",
        "loss": ".3f",
        "test_loss": ".3f",
    },
    captions={
        "figure": (
            "Left: the share of neurons whose largest weights are those of the hidden bits after "
            "one step on B examples, with 95% intervals; dotted, the batch that proposition B.7 "
            "asks for. Right: the loss on new examples at the end, one dot per run, for the whole "
            "algorithm, for the theorem's own rate of the second layer in as many steps, and for a "
            "network whose first layer is not trained."
        ),
        "cells": "Per arm, number of bits and first batch: recovery, and the losses at the end",
        "trials": "One row per run.",
        "theory": "Batches that proposition B.7 asks for, and what theorem 5.5 does where it holds",
    },
)
