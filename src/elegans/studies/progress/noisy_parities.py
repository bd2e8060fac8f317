r"""Parities with wrong labels: SGD learns at any noise below one half, elimination at none.

Each label is flipped with probability $p$, afresh in every example. All correlations shrink by $1 -
2p$, so gradients keep their direction and lose their size: learning takes longer, the more so with
small batches. Errors are measured on labels without noise.
The control is an algorithm that is far faster without noise: Gaussian elimination over the field
with two elements, which one wrong label in $n$ ruins.

The document writes $\epsilon = 1 - 2p$ as 0.01 for 49% of flipped labels; it is 0.02.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.random as jr
import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.fields import configuration
from elegans.learners import GaussianElimination
from elegans.models import MLP
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap_clustered, paired, wilson
from elegans.studies.progress.times import (
    groups,
    quantile,
    row_at,
    share_of,
    timed,
    until_perfect,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory.resources import statistical_limit
from elegans.training.recipe import Stop

SOURCE = "thesis, section B.3.6, Figure B.12"
LEARNED = 0.01  # error on clean labels; a constant rate need not reach zero


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, flip rates and batches; steps are those of the noisiest."""

    n: int
    k: int
    flips: tuple[float, ...]
    batches: tuple[int, ...]
    seeds: int
    steps: int
    every: int
    width: int = 100
    learning_rate: float = 0.1
    elimination_samples: int = 10  # times n
    elimination_seeds: int = 20


@configuration
class Elimination:
    """Gaussian elimination on so many noisy examples."""

    n: int
    k: int
    samples: int
    flip: float

    def __call__(self, seed: int) -> pd.DataFrame:
        """Whether there is a solution, and whether it is the support."""
        task = Parity(self.n, self.k, flip=self.flip)
        x, y = task.sample(jr.key(seed), self.samples)
        try:
            support = GaussianElimination().fit(np.asarray(x), np.asarray(y)).support_
        except ValueError:  # its own refusal: the equations contradict each other
            return pd.DataFrame({"solvable": [False], "found": [False]})
        return pd.DataFrame({"solvable": [True], "found": [support == tuple(range(self.k))]})


def runs(settings: Settings) -> dict[str, Sweep]:
    """SGD at every noise and batch, and elimination at every noise."""
    s = settings
    points = [
        (
            {"flip": flip, "batch": batch},
            Experiment(
                Parity(s.n, s.k, flip=flip),
                MLP(width=s.width),
                until_perfect(
                    s.learning_rate,
                    batch=batch,
                    steps=s.steps,
                    every=s.every,
                    test_samples=2000,
                    stop=Stop(test_error=LEARNED),
                    clean_test=True,
                ),
            ),
        )
        for flip in s.flips
        for batch in s.batches
    ]
    samples = s.elimination_samples * s.n
    control = [({"flip": flip}, Elimination(s.n, s.k, samples, flip)) for flip in s.flips]
    return {
        "sgd": Sweep.of(points, seeds=s.seeds),
        "elimination": Sweep.of(control, seeds=s.elimination_seeds),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Times and errors of SGD, cells, curves, and the control."""
    rows = timed(runs["sgd"].table)
    rows = rows[["flip", "batch", "seed", "success", "time", "test_error"]]
    cells = []
    for (flip, batch), part in groups(rows, ["flip", "batch"]):
        share = share_of(part["success"])
        cells.append(
            {
                "flip": flip,
                "batch": batch,
                "runs": len(part),
                "learned": int(part["success"].sum()),
                "low": share.low,
                "high": share.high,
                "median": quantile(part["time"], 0.5),
                "error": float(part["test_error"].median()),
                "theory_limit": statistical_limit(settings.n, settings.k, float(flip)),
            }
        )
    curves = runs["sgd"].history[["flip", "batch", "seed", "step", "test_error"]]
    return {
        "cells": pd.DataFrame(cells),
        "elimination": runs["elimination"].table,
        "runs": rows,
        "curves": curves,
    }


def the_noisiest_is_learned(tables: Tables) -> Claim:
    """With some batch size the runs at the highest noise learn."""
    cells = tables["cells"]
    noisiest = cells[cells["flip"] == cells["flip"].max()]
    best = row_at(noisiest, noisiest["low"].idxmax())
    share = wilson(int(best["learned"]), int(best["runs"]))
    return Claim(
        text="SGD learns parities at any noise below one half, given a large enough batch",
        source=SOURCE,
        measured=(
            f"{best['flip']:.0%} of the labels flipped, batches of {best['batch']:.0f}: "
            f"{share:.0%} of the runs reach 1% error on clean labels, after "
            f"{best['median']:,.0f} steps in the median"
        ),
        against="no batch size at which the interval of the share that learns is above one half",
        holds=share.low > 0.5,
        interval=share,
    )


def noise_takes_time(tables: Tables) -> Claim:
    """At the largest batch the time grows with the noise."""
    rows = tables["runs"]
    largest = rows[(rows["batch"] == rows["batch"].max()) & np.isfinite(rows["time"])]
    rank = bootstrap_clustered(largest, rank_correlation)  # a seed has one run per noise rate
    medians = largest.groupby("flip")["time"].median()
    return Claim(
        text="More noise takes more time",
        source=SOURCE,
        measured=(
            f"rank correlation of noise and time {rank:.2f}; medians "
            + ", ".join(f"{time:,.0f} at {flip:.0%}" for flip, time in medians.items())
        ),
        against="an interval of the rank correlation that reaches 0.5",
        holds=rank.low > 0.5,
        interval=rank,
    )


def rank_correlation(runs: pd.DataFrame) -> float:
    """Of the noise and the time of these runs, from 1 to -1."""
    return float(runs["flip"].rank().corr(runs["time"].rank()))


def elimination_fails(tables: Tables) -> Claim:
    """Gaussian elimination finds the support without noise, and never with any."""
    rows = tables["elimination"]
    clean, noisy = rows[rows["flip"] == 0], rows[rows["flip"] > 0]
    without = share_of(clean["found"])
    with_noise = share_of(noisy["found"])
    return Claim(
        text="Gaussian elimination, fast without noise, fails at any of these noise rates",
        source=SOURCE,
        measured=(
            f"it finds the support in {without:.0%} of cases without noise and in "
            f"{with_noise:.0%} with noise of {noisy['flip'].min():.0%} or more"
        ),
        against="an interval with noise above 10%, or one without noise below 50%",
        holds=with_noise.high < 0.1 and without.low > 0.5,
        interval=with_noise,
    )


def small_batches_take_longer(tables: Tables) -> Claim:
    """At the highest noise small batches need more steps, seed by seed, than large ones."""
    rows = tables["runs"]
    noisiest = rows[rows["flip"] == rows["flip"].max()]
    small, large = (
        noisiest[noisiest["batch"] == batch].set_index("seed")["time"]
        for batch in (noisiest["batch"].min(), noisiest["batch"].max())
    )
    # A run that did not learn took longer than all that did.
    latest = 2 * float(rows["time"].replace(np.inf, np.nan).max())
    ratio = paired(np.log(large.clip(upper=latest)), np.log(small.clip(upper=latest)))
    factor = Interval(*(float(np.exp(limit)) for limit in ratio.difference))
    return Claim(
        text="With much noise small batches take longer, as the noise must be averaged over time",
        source=SOURCE,
        measured=(
            f"{noisiest['flip'].max():.0%} flipped: batches of {noisiest['batch'].min()} take "
            f"{factor:.2f} times as many steps as batches of {noisiest['batch'].max()}, paired by "
            f"seed; {np.isfinite(small).mean():.0%} and {np.isfinite(large).mean():.0%} learn"
        ),
        against="an interval of that factor that reaches 1",
        holds=factor.low > 1,
        interval=factor,
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The task."""
    return {"n": settings.n, "k": settings.k, "steps": settings.steps}


STUDY = Study(
    name="noisy-parities",
    title="SGD learns parities even if almost half of the labels are wrong",
    summary=(
        "Solving a parity by linear algebra is easy without noise and hopeless with it. "
        "Stochastic gradient descent needs longer without noise, but hardly minds it: with 45% of "
        "all labels flipped at random it still finds the relevant bits, if its batches are large "
        "enough to average the noise out."
    ),
    source="Thesis, Figure B.12, section B.3.6",
    scales={
        "quick": Scale(
            Settings(
                n=20,
                k=3,
                flips=(0.0, 0.1, 0.3, 0.4, 0.45),
                batches=(32, 128, 512),
                seeds=4,
                steps=12_000,
                every=50,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                n=20,
                k=3,
                flips=(0.0, 0.1, 0.3, 0.4, 0.45, 0.49),
                batches=(128, 1024),
                seeds=4,
                steps=80_000,
                every=200,
            ),
            minutes=2,
        ),
        "paper": Scale(
            Settings(
                n=50,
                k=3,
                flips=(0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49),
                batches=(32, 128, 512, 2048, 8192),
                seeds=5,
                steps=1_000_000,
                every=1000,
            ),
            minutes=20_000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        the_noisiest_is_learned,
        noise_takes_time,
        elimination_fails,
        small_batches_take_longer,
    ),
    figures="elegans.studies.progress.figures_curves:noise",
    shown=("cells",),
    formats={"flip": ".0%", "low": ".0%", "high": ".0%", "median": ",.0f", "error": ".2f"},
    captions={
        "figure": (
            "Error on labels without noise while SGD trains on noisy ones: one panel per noise "
            "rate, one colour per batch size. Last panel: the share of runs that learn, beside "
            "Gaussian elimination on ten examples per bit."
        ),
        "cells": (
            "One row per noise rate and batch size: how many runs reach 1% error on clean labels, "
            "in how many steps, the median error at the end, and the least number of examples "
            "with which any learner can know the support."
        ),
        "elimination": (
            "Gaussian elimination: whether the equations have a solution, and whether it is the "
            "support."
        ),
    },
)
