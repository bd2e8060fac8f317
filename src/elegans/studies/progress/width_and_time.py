r"""Does width buy time? Times to converge against width, beside $r$ random searches.

If SGD were a search in which every neuron guesses, a network of width $r$ would be $r$ times as
fast: $1/(1 - (1 - 1/\binom{n}{k})^r)$ steps. What width does instead is to shorten the upper tail.
Networks with fewer than $k$ neurons cannot compute the parity; for them a run has converged once
their accuracy is 55% in ten looks in a row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap, censored_median, in_words, lowest
from elegans.studies.progress.times import groups, quantile, timed, until_perfect
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory.resources import random_search
from elegans.training.recipe import Stop

SOURCE = "thesis, section 5.6, Figures 5.4 (left) and B.10"
WEAK = Stop(test_error=0.45, looks=10)
QUANTILES = {"least": 0.0, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q90": 0.9, "most": 1.0}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Tasks, and widths with how many seeds each."""

    tasks: tuple[tuple[int, int], ...]
    widths: tuple[int, ...]
    seeds: int
    steps: int
    learning_rate: float = 0.1
    batch: int = 128
    most_seeds_when_wide: int = 1000
    wide: int = 300


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every width of every task; very wide networks with fewer seeds."""

    def points(is_wide: bool) -> list[tuple[dict[str, Any], Experiment]]:
        return [
            ({"n": n, "k": k, "width": width}, experiment(settings, n, k, width))
            for n, k in settings.tasks
            for width in settings.widths
            if (width >= settings.wide) == is_wide
        ]

    few = min(settings.seeds, settings.most_seeds_when_wide)
    sweeps = {"narrow": Sweep.of(points(False), seeds=settings.seeds)}
    if points(True):
        sweeps["wide"] = Sweep.of(points(True), seeds=few)
    return sweeps


def experiment(settings: Settings, n: int, k: int, width: int) -> Experiment:
    """One network; below `k` neurons it need only be weakly right."""
    stop: dict[str, Any] = {"stop": WEAK, "test_samples": 1000} if width < k else {}
    training = until_perfect(
        settings.learning_rate, batch=settings.batch, steps=settings.steps, **stop
    )
    return Experiment(Parity(n, k), MLP(width=width), training)


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Times of all runs, and their quantiles at each width beside random search."""
    rows = timed(pd.concat([each.table for each in runs.values()], ignore_index=True))
    rows = rows[["n", "k", "width", "seed", "success", "time"]]
    cells = []
    for (n, k, width), part in groups(rows, ["n", "k", "width"]):
        median = censored_median(part["time"].to_numpy(), part["success"].to_numpy(bool))
        cells.append(
            {
                "n": n,
                "k": k,
                "width": width,
                "runs": len(part),
                "converged": int(part["success"].sum()),
                **{name: quantile(part["time"], share) for name, share in QUANTILES.items()},
                "low": median.low,
                "high": median.high,
                "theory_random_search": random_search(int(n), int(k), int(width)).mean,
            }
        )
    return {"cells": pd.DataFrame(cells), "times": rows}


def compared(tables: Tables) -> list[tuple[str, pd.Series, pd.Series, int, int]]:
    """For each task: its name, and times by seed at a middle width and at the largest."""
    pairs = []
    for (n, k), part in groups(tables["times"], ["n", "k"]):
        sound = part[part["width"] >= k].groupby("width")["success"].mean()
        learning = sound[sound > 0.75].index
        if len(learning) < 2:
            continue
        wide = int(learning.max())
        distances = np.abs(np.log(learning.to_numpy(float) * 10 / wide))
        middle = int(learning[int(distances.argmin())])
        times = [part[part["width"] == r].set_index("seed")["time"] for r in (middle, wide)]
        pairs.append((f"({n}, {k})", times[0], times[1], middle, wide))
    return pairs


def no_r_fold_speed_up(tables: Tables) -> Claim:
    """Ten times the neurons do not take a tenth of the time."""
    ratios: dict[str, Interval] = {}
    pairs = compared(tables)
    for name, middle, wide, narrow_width, wide_width in pairs:
        label = f"{name}, width {narrow_width} to {wide_width}"
        ratios[label] = median_ratio(wide.to_numpy(), middle.to_numpy())
    interval = lowest(ratios) if ratios else Interval(0.0, 0.0, np.inf)
    return Claim(
        text="Width is no parallel search: ten times the neurons are far from ten times as fast",
        source=SOURCE,
        measured=in_words(ratios, "median time is {value:.2f} of what it was at {name}")
        + "; random searches would take the inverse ratio of the widths",
        against="an interval that reaches down to one half (parallel search would be one tenth)",
        holds=interval.low > 0.5,
        interval=interval,
    )


def median_ratio(first: np.ndarray, second: np.ndarray) -> Interval:
    """The ratio of two medians of independent samples, with its bootstrap interval."""
    return two_sample(first, second, lambda values: quantile(values, 0.5))


def two_sample(first: np.ndarray, second: np.ndarray, statistic: Any) -> Interval:
    """The ratio of a statistic of two samples; both are drawn again in each resample."""
    rng = np.random.default_rng(0)
    draws = [
        statistic(rng.choice(first, len(first))) / statistic(rng.choice(second, len(second)))
        for _ in range(1000)
    ]
    low, high = np.nanquantile(draws, [0.025, 0.975], method="nearest")
    return Interval(statistic(first) / statistic(second), float(low), float(high))


def width_shortens_the_upper_tail(tables: Tables) -> Claim:
    """The 90th percentile is nearer to the median in wide networks."""
    tails: dict[str, tuple[Interval, Interval]] = {}
    for (n, k), part in groups(tables["times"], ["n", "k"]):
        learning = part[part["width"] >= k].groupby("width")["success"].mean()
        widths = learning[learning > 0.75].index
        if len(widths) < 2:
            continue
        narrow, wide = (
            bootstrap(part[part["width"] == r]["time"].to_numpy(), upper_tail, resamples=1000)
            for r in (widths.min(), widths.max())
        )
        tails[f"({n}, {k}), widths {widths.min()} and {widths.max()}"] = (narrow, wide)
    holds = [narrow.low > wide.high for narrow, wide in tails.values()]
    worst = min(tails, key=lambda name: tails[name][0].low) if tails else ""
    return Claim(
        text="Width shortens the upper tail: the slow runs are what wide networks do without",
        source=SOURCE,
        measured="; ".join(
            f"90th percentile over median at {name}: {narrow:.2f} and {wide:.2f}"
            for name, (narrow, wide) in tails.items()
        ),
        against="intervals of the two ratios, narrow and wide, that overlap",
        holds=bool(holds) and all(holds),
        interval=tails[worst][0] if tails else None,
    )


def upper_tail(times: np.ndarray) -> float:
    """The 90th percentile in medians; infinite if a tenth of the runs did not converge."""
    return quantile(times, 0.9) / quantile(times, 0.5)


def too_few_neurons_learn_weakly(tables: Tables) -> Claim:
    """Networks with fewer neurons than relevant bits still find an edge over chance."""
    rows = tables["times"]
    weak = rows[rows["width"] < rows["k"]]
    share = Interval(0.0, 0.0, 1.0)
    if len(weak):
        seeds = weak.groupby("seed")["success"].mean()
        share = bootstrap(seeds.to_numpy(float), np.mean)
    return Claim(
        text="Networks too narrow to compute the parity still learn to do better than chance",
        source=SOURCE,
        measured=f"{share:.0%} of the runs with fewer than k neurons reach 55% accuracy for good",
        against="an interval that reaches one half",
        holds=share.low > 0.5,
        interval=share,
    )


STUDY = Study(
    name="width-and-time",
    title="Wider networks are not faster searches, but they have no slow runs",
    summary=(
        "If every hidden neuron were one more guess at the hidden bits, a network with ten times "
        "the neurons would learn ten times as fast. Networks of many widths are trained on fresh "
        "examples of a sparse parity, each from many seeds. The median time hardly changes "
        "beyond a few neurons per relevant bit; what shrinks is the upper tail of slow runs."
    ),
    source="Thesis, Figures 5.4 (left) and B.10",
    scales={
        "quick": Scale(
            Settings(
                tasks=((30, 3),),
                widths=(1, 2, 3, 5, 10, 30, 100, 300),
                seeds=40,
                most_seeds_when_wide=15,
                steps=10_000,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                tasks=((30, 3), (40, 3)),
                widths=(1, 2, 3, 4, 5, 7, 10, 30, 100, 300, 1000),
                seeds=200,
                most_seeds_when_wide=30,
                steps=50_000,
            ),
            minutes=60,
        ),
        "paper": Scale(
            Settings(
                tasks=((30, 3), (40, 3), (50, 3)),
                widths=(
                    *range(1, 11),
                    *(a * 10**b for b in range(1, 7) for a in (1, 3) if a * 10**b > 10),
                ),
                seeds=1000,
                steps=100_000,
            ),
            minutes=2_000_000,
        ),
    },
    runs=runs,
    tables=tables,
    claims=(
        no_r_fold_speed_up,
        width_shortens_the_upper_tail,
        too_few_neurons_learn_weakly,
    ),
    figures="elegans.studies.progress.figures_search:width_and_time",
    shown=("cells",),
    formats={"cells": ",.0f"},
    captions={
        "figure": (
            "Each box is the middle half of the runs at one width, with the median as a line and "
            "crosses at the fastest and the slowest; a number above says how many of the runs did "
            "not converge. Red: networks with fewer than k neurons, which only have to reach 55% "
            "accuracy. Green: the time that r random searches side by side would take."
        ),
        "cells": (
            "One row per width: runs, how many converged, quantiles of the steps (infinite where "
            "too many runs did not converge), the interval of the median, and random search."
        ),
        "times": "One row per run.",
    },
)
