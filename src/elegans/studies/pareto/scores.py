r"""How well an arm of a study does: success rate, median steps, and the share of steps it spares.

A run that succeeds at step $t$ of $T$ *spares* the share $1 - t/T$, one that does not spares
nothing. The mean over runs is the area under the share of runs that have succeeded by each step: it
counts luck and time together, and tells arms apart that all succeed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from elegans.report.result import Claim
from elegans.statistics import Interval, bootstrap, censored_median, wilson
from elegans.studies.pareto.recipe import finished

UNKNOWN = Interval(np.nan, 0.0, 1.0)  # a share of which nothing was seen
FORMATS = {
    "rate": ".0%",
    "low": ".0%",
    "high": ".0%",
    "median_steps": ",.0f",
    "spared": ".1%",
    "samples": ",",
}


def with_spared(table: pd.DataFrame, steps: int) -> pd.DataFrame:
    """The finished runs with the share of steps that each spares."""
    runs = finished(table)
    return runs.assign(spared=(1 - runs["steps"] / steps).where(runs["success"], 0.0))


def summary(table: pd.DataFrame, by: Sequence[str], steps: int) -> pd.DataFrame:
    """One row per group of finished runs: success with its interval, median steps, steps spared."""
    rows = []
    for key, part in with_spared(table, steps).groupby(list(by), sort=False, dropna=False):
        labels = dict(zip(by, key if isinstance(key, tuple) else (key,), strict=True))
        rows.append({**labels, **success(part), "spared": part["spared"].mean()})
    return pd.DataFrame(rows)


def success(runs: pd.DataFrame) -> dict[str, Any]:
    """How many finished runs there are, how often they succeed, with its interval, and when.

    The median counts runs without success as infinitely long, and is missing where half are.
    """
    rate, median = UNKNOWN, np.inf
    if len(runs):
        is_success = runs["success"].to_numpy(bool)
        rate = wilson(int(is_success.sum()), len(runs))
        median = censored_median(runs["steps"].to_numpy(float), is_success).value
    return {
        "runs": len(runs),
        "rate": rate.value,
        "low": rate.low,
        "high": rate.high,
        "median_steps": median if np.isfinite(median) else np.nan,
    }


def seed_means(runs: pd.DataFrame, chosen: Mapping[str, Any], column: str = "spared") -> pd.Series:
    """The mean of a column by seed, over the runs whose labels have these values."""
    for name, value in chosen.items():
        runs = runs[runs[name] == value]
    return runs.groupby("seed")[column].mean()


def gain(first: pd.Series, second: pd.Series) -> Interval:
    """The mean of `second - first` over the seeds that both have, with its bootstrap interval."""
    difference = (second - first).dropna().to_numpy(float)
    return bootstrap(difference, np.mean) if len(difference) else Interval(np.nan, -np.inf, np.inf)


def seeds_for(votes: pd.Series, seeds: pd.Series) -> Interval:
    """The share of seeds whose mean vote exceeds one half; anything in [0, 1] if there is none."""
    by_seed = votes.groupby(seeds).mean()
    if not len(by_seed):
        return UNKNOWN
    return wilson(int((by_seed > 0.5).sum()), len(by_seed))


def larger(first: pd.Series, second: pd.Series) -> pd.Series:
    """A vote for each pair: 1 where the first number is larger, 0 where it is smaller, ties 0.5."""
    return (first > second) + 0.5 * (first == second)


def positive_claim(text: str, source: str, measured: str, interval: Interval, name: str) -> Claim:
    """The claim that a difference of this name and interval is above zero."""
    return Claim(
        text=text,
        source=source,
        measured=measured,
        against=f"an interval of the {name} that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )
