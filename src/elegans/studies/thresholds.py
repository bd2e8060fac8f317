r"""The number of samples from which runs succeed, by search over a grid.

`search` is a generator of sweeps for the stage `runs` of a study. In each round every group (a
context length, a function) is tried at a few sizes $m$, evenly spaced in the part of the grid that
is still open; one size per round is bisection. The open part shrinks to between the largest size
below the target and the smallest one at or above it, which is right where success increases with
$m$ and a good guess where it does nearly. `tried` tries sizes that are known beforehand.

A *trial* is a seed, that is a training set; it succeeds if one of its restarts does. What has
succeeded is not started again, so the next restart is of the trials that are left.

    yield from search(groups, grid, points, seeds=8)

Afterwards `threshold_table` has the least size of the grid that reached the target, and a logistic
fit over all sizes that were tried, with a bootstrap by trial.
"""

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from elegans import checks
from elegans.runs import Runs
from elegans.statistics import Interval, log_slope, success_threshold
from elegans.statistics.fits import logistic_thresholds
from elegans.statistics.resampling import RESAMPLES, cluster_draws, percentile
from elegans.sweeps.points import seeds_of
from elegans.sweeps.sweep import Sweep

Group = Mapping[str, Any]  # labels that name a curve
Points = Callable[[Group, int], Iterable[tuple[Mapping[str, Any], Any]]]
SAMPLES = "samples"


def search(
    groups: Sequence[Group],
    grid: Sequence[int],
    points: Points,
    *,
    seeds: int | Iterable[int],
    target: float = 0.8,
    per_round: int = 1,
    name: str = "round",
) -> Generator[dict[str, Sweep], dict[str, Runs], None]:
    """Yields sweeps, round by round, until every group's threshold is between two grid sizes.

    Args:
        groups: Labels of each curve.
        grid: Sizes to choose from, increasing.
        points: The labels and experiments of a group at a size, one for each restart, as many
            everywhere. The group's labels and the size (under "samples") are added to the labels.
        seeds: How many trials there are, or their seeds.
        target: The success rate in question.
        per_round: Sizes that are tried in one round.
        name: Of the sweeps, with the number of the round after it.
    """
    check_search(grid, target, per_round)
    # Of each group, the places in the grid that are known to be below and not below the target.
    limits = [(-1, len(grid)) for _ in groups]
    number = 1
    while any(high - low > 1 for low, high in limits):
        places = [open_places(low, high, per_round) for low, high in limits]
        cells = [
            (group, grid[place])
            for group, chosen in zip(groups, places, strict=True)
            for place in chosen
        ]
        table = yield from tried(cells, points, seeds=seeds, name=f"{name}-{number}")
        limits = [
            narrowed(limit, {i: rate_at(table, group, grid[i]) for i in chosen}, target)
            for limit, group, chosen in zip(limits, groups, places, strict=True)
        ]
        number += 1


def tried(
    cells: Sequence[tuple[Group, int]],
    points: Points,
    *,
    seeds: int | Iterable[int],
    name: str = "sizes",
) -> Generator[dict[str, Sweep], dict[str, Runs], pd.DataFrame]:
    """Yields a sweep per restart of all groups and sizes of `cells`; returns their trials.

    The first is called `name`; that of the second restart, `name` with "-restart-2", has the seeds
    that did not succeed in the first, cell by cell.
    """
    restarts = [list(points(group, samples)) for group, samples in cells]
    left = [list(seeds_of(seeds)) for _ in cells]
    tables = []
    for number in range(max(map(len, restarts))):
        title = name if number == 0 else f"{name}-restart-{number + 1}"
        sweep = Sweep.of(
            [
                ({**group, SAMPLES: samples, **each[number][0]}, each[number][1], rest)
                for (group, samples), each, rest in zip(cells, restarts, left, strict=True)
                if rest
            ]
        )
        finished = yield {title: sweep}
        tables.append(trials(finished[title].table, list(cells[0][0])))
        wins = tables[-1][tables[-1]["success"]]
        left = [
            [seed for seed in rest if seed not in set(wins.loc[of_cell(wins, *cell), "seed"])]
            for cell, rest in zip(cells, left, strict=True)
        ]
        if not any(left):
            break
    return trials(pd.concat(tables), list(cells[0][0]))


def check_search(grid: Sequence[int], target: float, per_round: int) -> None:
    """Refuses a grid that does not increase, and a target that is not a rate."""
    owner = f"search(target={target}, per_round={per_round})"
    checks.number(owner, "target", target, low=0.0, high=1.0, what="is a success rate")
    checks.whole(owner, "per_round", per_round, low=1, what="counts sizes of a round")
    if not grid or list(grid) != sorted(set(grid)):
        raise ValueError(f"{owner}: grid holds increasing sizes, at least one; got {list(grid)}.")


def open_places(low: int, high: int, count: int) -> list[int]:
    """At most `count` places between two others, evenly spaced; none if there is nothing open."""
    gaps = min(count, high - low - 1)
    return [low + (high - low) * (i + 1) // (gaps + 1) for i in range(gaps)]


def narrowed(limit: tuple[int, int], rates: Mapping[int, float], target: float) -> tuple[int, int]:
    """The open part after more rates are known: from the last failure below the first success."""
    low, high = limit
    for place in sorted(rates):
        if rates[place] >= target:
            return low, place
        low = place
    return low, high


def trials(table: pd.DataFrame, group: Sequence[str]) -> pd.DataFrame:
    """One row per trial: whether one of its restarts succeeded."""
    is_success = table["success"].astype("boolean").fillna(False).astype(bool)
    by = [*group, SAMPLES, "seed"]
    return table.assign(success=is_success).groupby(by, sort=False)["success"].any().reset_index()


def rate_at(trials: pd.DataFrame, group: Group, samples: int) -> float:
    """The success rate of a group at a size."""
    return float(trials.loc[of_cell(trials, group, samples), "success"].mean())


def of_cell(trials: pd.DataFrame, group: Group, samples: int) -> pd.Series:
    """Which trials are of a group at a size."""
    is_group = (trials[list(group)] == pd.Series(dict(group))).all(axis=1)
    return is_group & (trials[SAMPLES] == samples)


def threshold_table(
    trials: pd.DataFrame, group: Sequence[str], grid: Sequence[int], target: float = 0.8
) -> pd.DataFrame:
    """One row per group: the least size that reached the target, and the logistic fit.

    `m_star` is infinite, and `is_censored` true, where no size of the grid reached the target.
    `fit` with `low` and `high` is the size at which the fitted success rate is the target; trials
    of other groups are independent, so a bootstrap over those of one is all there is.
    """
    rows = []
    for key, part in trials.groupby(list(group), sort=False):
        rates = part.groupby(SAMPLES)["success"].mean()
        # Success that is followed by failure at a larger size was luck: the search did not stop
        # there, so neither does this.
        pairs = list(zip(rates.index.to_numpy(float).tolist(), rates.tolist(), strict=True))
        low = max((m for m, rate in pairs if rate < target), default=-math.inf)
        above = [m for m, rate in pairs if rate >= target and m > low]
        fit = success_threshold(
            part[SAMPLES].to_numpy(float),
            part["success"].to_numpy(bool),
            part["seed"].to_numpy(),
            target,
        )
        limit = 10.0 * max(grid)  # a fit beyond that only says "more than was tried"
        rows.append(
            {
                **dict(zip(group, key if isinstance(key, tuple) else (key,), strict=True)),
                "m_star": float(min(above, default=math.inf)),
                "is_censored": not above,
                "fit": fit.value if fit.value < limit else math.inf,
                "low": max(0.0, fit.low),
                "high": fit.high if fit.high < limit else math.inf,
                "trials": part["seed"].nunique(),
                "sizes": len(rates),
            }
        )
    return pd.DataFrame(rows)


def least_size(sizes: Sequence[float | int], passes: Sequence[bool]) -> float:
    """The least of some sizes from which all larger ones pass; infinite if the largest does not."""
    order = np.argsort(sizes)
    fails = np.flatnonzero(~np.asarray(passes, bool)[order])
    start = int(fails[-1]) + 1 if len(fails) else 0
    return float(np.asarray(sizes, float)[order][start]) if start < len(order) else math.inf


def least_sizes(table: pd.DataFrame, by: Sequence[str], passes: pd.Series) -> pd.DataFrame:
    """`least_size` of each group of rows, under "samples"; `passes` says which rows do."""
    groups = table.assign(passes=passes).groupby(list(by), sort=False)[[SAMPLES, "passes"]]
    sizes = groups.apply(lambda rows: least_size(rows[SAMPLES].tolist(), rows["passes"].tolist()))
    return sizes.rename(SAMPLES).reset_index()


def power_law(table: pd.DataFrame, x: str, y: str) -> Interval:
    """The exponent of the median of `y` over `x`; unknown if half of the seeds reached no size."""
    if not np.isfinite(table.groupby(x)[y].median()).all():
        return Interval(math.nan, -math.inf, math.inf)
    return log_slope(table, x, y)


def rate_table(trials: pd.DataFrame, group: Sequence[str]) -> pd.DataFrame:
    """Success rates of all groups and sizes that were tried."""
    grouped = trials.groupby([*group, SAMPLES])["success"]
    table = grouped.agg(["sum", "size"]).reset_index()
    table = table.rename(columns={"sum": "successes", "size": "trials"})
    return table.assign(rate=np.asarray(table["successes"] / table["trials"]))


def threshold_draws(
    trials: pd.DataFrame,
    group: str,
    target: float = 0.8,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Fitted thresholds of all groups under one resampling of trials; row 0 is the sample itself.

    Trials are drawn together for all groups, so that a slope over the groups has an interval.
    """
    names = sorted(trials["seed"].unique())
    rows = cluster_draws(len(names), resamples, seed)
    rows = np.concatenate([np.arange(len(names))[None], rows])
    columns = {}
    for value, part in trials.groupby(group):
        wins = part.pivot(index="seed", columns=SAMPLES, values="success").reindex(names)
        is_run = wins.notna().to_numpy(float)
        successes = wins.astype("boolean").fillna(False).to_numpy(float)
        columns[value] = logistic_thresholds(
            np.log(wins.columns.to_numpy(float)),
            successes[rows].sum(axis=1),
            is_run[rows].sum(axis=1),
            target,
        )
    return pd.DataFrame(columns)


def law(draws: pd.DataFrame, *, is_power: bool) -> Interval:
    r"""The slope of $m^*$ on $\ln T$ or, `is_power`, of $\ln m^*$ on $\ln T$, with its interval."""
    x = np.log(draws.columns.to_numpy(float))
    centred = x - x.mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(draws.to_numpy()) if is_power else draws.to_numpy()
        slopes = np.where(np.isfinite(y).all(axis=1), y @ centred / (centred @ centred), np.nan)
    return percentile(float(slopes[0]), slopes[1:], 0.95)
