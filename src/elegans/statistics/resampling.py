r"""Intervals by drawing again: bootstrap, bootstrap by seed, pairs, medians with failures, ranks.

The percentile interval of a statistic is that of its values on resamples, drawn from the sample
with replacement. Runs that share a seed share their data or their initialisation and are not
independent, so `bootstrap_clustered` draws whole seeds, and `paired` compares within a seed. The
resamples are the same at every call: an interval is a function of the numbers.

A resample on which a statistic is undefined (NaN) counts as $-\infty$ for the lower limit and as
$+\infty$ for the upper one, so that it can only widen an interval.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int, Num
from scipy import special

from elegans import checks
from elegans.statistics.interval import Interval, check_level

Statistic = Callable[..., float | np.floating]
RESAMPLES = 2000


class Paired(NamedTuple):
    """Differences within pairs: their interval, and the sign test's p value (two-sided)."""

    difference: Interval
    p: float
    pairs: int


class Correlation(NamedTuple):
    """A correlation with its bootstrap interval, its range under permutation, and its p value."""

    interval: Interval
    null: Interval
    p: float


def bootstrap(
    values: Sequence[float] | Num[np.ndarray, " samples"],
    statistic: Statistic = np.median,
    level: float = 0.95,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """A statistic of independent numbers, with its percentile interval.

    Args:
        values: One number or more; infinite ones are allowed, NaN is not.
        statistic: `np.median`, `np.mean`, or any function of an array of one dimension.
        level: Of confidence.
        resamples: How many to draw.
        seed: Of the resamples.
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers) or np.isnan(numbers).any():
        raise ValueError(f"bootstrap: one number or more, none of them NaN; got {values}.")
    rows = np.random.default_rng(seed).integers(0, len(numbers), (resamples, len(numbers)))
    if statistic is np.median or statistic is np.mean:  # all at once: a hundred times as fast
        draws = np.asarray(statistic(numbers[rows], axis=1))
    else:
        draws = np.array([float(statistic(numbers[row])) for row in rows])
    return percentile(float(statistic(numbers)), draws, level)


def bootstrap_clustered(
    table: pd.DataFrame,
    statistic: Callable[[pd.DataFrame], float | np.floating],
    by: str = "seed",
    level: float = 0.95,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """A statistic of a table, with the percentile interval of resampling whole clusters of rows.

    With one cluster nothing is known of how clusters differ, and the limits are infinite. Where all
    runs agree, say all of 10 seeds succeed, resamples agree too and the interval has no width: for
    such rates count seeds, not runs, and use `wilson`.

    Args:
        table: One row per run.
        statistic: A function of such a table.
        by: The column that names the cluster of a row.
        level: Of confidence.
        resamples: How many to draw.
        seed: Of the resamples.
    """
    if by not in table.columns:
        raise ValueError(
            f"bootstrap_clustered: by names a column, one of {', '.join(map(str, table.columns))}; "
            f"got {by!r}."
        )
    if not len(table):
        raise ValueError("bootstrap_clustered: the table has no rows.")
    clusters = list(table.groupby(by, sort=False).indices.values())
    value = float(statistic(table))
    if len(clusters) == 1:
        return Interval(value, -math.inf, math.inf)
    draws = [
        float(statistic(table.iloc[np.concatenate([clusters[i] for i in row])]))
        for row in cluster_draws(len(clusters), resamples, seed)
    ]
    return percentile(value, np.array(draws), level)


def paired(
    first: pd.Series,
    second: pd.Series,
    statistic: Statistic = np.median,
    level: float = 0.95,
) -> Paired:
    """A statistic of `second - first` over pairs of one seed, and the sign test of no difference.

    Args:
        first: Numbers, indexed by what makes a pair: the seed, or several levels.
        second: The same, of the other condition. Pairs that only one of them has are left out.
        statistic: Of the differences.
        level: Of confidence.
    """
    if not (first.index.is_unique and second.index.is_unique):
        raise ValueError("paired: each index names one number, so that a pair is unambiguous.")
    both = pd.concat([first, second], axis=1, join="inner").to_numpy(np.float64)
    if not len(both):
        raise ValueError("paired: the two have no index in common, so that there are no pairs.")
    difference = both[:, 1] - both[:, 0]
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    p = min(1.0, 2 * float(special.bdtr(min(wins, losses), wins + losses, 0.5)))
    return Paired(bootstrap(difference, statistic, level), p, len(both))


def censored_median(
    steps: Num[np.ndarray, " runs"],
    success: Bool[np.ndarray, " runs"],
    limit: float | int = math.inf,
    level: float = 0.95,
) -> Interval:
    """The median number of steps to success, where failures count as infinitely many.

    It is infinite if half of the runs fail or more.

    Args:
        steps: Of each run; those of failures do not matter.
        success: Which runs succeeded.
        limit: Successes after more steps than this count as failures, so that runs with different
            budgets can be compared.
        level: Of confidence.
    """
    counted = success & (steps <= limit)
    return bootstrap(np.where(counted, steps.astype(np.float64), np.inf), np.median, level)


def spearman(
    x: Num[np.ndarray, " samples"],
    y: Num[np.ndarray, " partners"],
    level: float = 0.95,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Correlation:
    """The rank correlation of pairs: bootstrap interval, range under permutation, p value.

    `null` is what the correlation would be if `y` knew nothing of `x`: the quantiles under random
    permutations, around zero. The p value counts the permutations at least as far from zero.
    """
    checks.whole("spearman", "samples", len(x), low=3, what="counts the pairs")
    if len(x) != len(y) or not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError(f"spearman: finite pairs; got {len(x)} and {len(y)} numbers.")
    from scipy.stats import rankdata  # half a second to import, which no other interval pays

    ranks = rankdata(np.stack([x, y]), axis=1)
    generator = np.random.default_rng(seed)
    value = float(correlations(ranks[0][None], ranks[1][None])[0])
    orders = generator.permuted(np.tile(np.arange(len(x)), (resamples, 1)), axis=1)
    null = correlations(np.tile(ranks[0], (resamples, 1)), ranks[1][orders])
    rows = generator.integers(0, len(x), (resamples, len(x)))
    again = rankdata(np.stack([x[rows], y[rows]]), axis=2)
    further = int((np.abs(null) >= abs(value) - 1e-12).sum())
    return Correlation(
        percentile(value, correlations(again[0], again[1]), level),
        percentile(0.0, null, level),
        (1 + further) / (1 + resamples),
    )


def correlations(
    x: Float[np.ndarray, "draws samples"], y: Float[np.ndarray, "draws samples"]
) -> Float[np.ndarray, " draws"]:
    """Pearson's correlation of each pair of rows, NaN where one is constant."""
    x, y = (z - z.mean(axis=1, keepdims=True) for z in (x, y))
    scale = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return np.divide((x * y).sum(axis=1), scale, out=np.full(len(x), np.nan), where=scale > 0)


def cluster_draws(clusters: int, resamples: int, seed: int) -> Int[np.ndarray, "draws clusters"]:
    """Which clusters each resample takes."""
    return np.random.default_rng(seed).integers(0, clusters, (resamples, clusters))


def percentile(value: float, draws: Float[np.ndarray, " draws"], level: float) -> Interval:
    """The quantiles of `draws` on either side, around `value`; NaN counts against both."""
    check_level("bootstrap", level)
    low = np.where(np.isnan(draws), -np.inf, draws)
    high = np.where(np.isnan(draws), np.inf, draws)
    # Between a finite and an infinite draw there is nothing to interpolate.
    methods = ("linear", "linear") if np.isfinite(draws).all() else ("lower", "higher")
    return Interval(
        value,
        float(np.quantile(low, (1 - level) / 2, method=methods[0])),  # type: ignore[call-overload]
        float(np.quantile(high, (1 + level) / 2, method=methods[1])),  # type: ignore[call-overload]
    )
