"""Pairs of networks that differ in one thing alone, on the same split of the same table.

Runs of one table and seed share their rows, so differences are pooled within a table and seed (a
*split*) first, and intervals are over splits. "Nearly" monotonic or uniform, in the paper's words,
is a rate of *reversals*, pairs that go the other way (a tie counts half): one half is no effect.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap

IDENTITY = ["dataset", "fraction", "optimizer", "init", "width", "depth", "weight_decay", "seed"]


def gains(networks: pd.DataFrame, column: str, pairs: Sequence[tuple[Any, Any]]) -> pd.DataFrame:
    """How much less the second of each pair of values errs, all else equal: one row per pair."""
    uniform = networks.dropna(subset="width")
    index = [name for name in IDENTITY if name != column]
    grid = uniform.pivot(index=index, columns=column, values="error")
    parts = [
        (grid[first] - grid[second]).dropna().rename("gain").reset_index()
        for first, second in pairs
        if first in grid and second in grid
    ]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*index, "gain"])
    split = table["dataset"].astype(str) + ", seed " + table["seed"].astype(str)
    return table.assign(split=split, reversal=(table["gain"] < 0) + 0.5 * (table["gain"] == 0))


def by_split(table: pd.DataFrame, column: str) -> Interval:
    """The mean of a column over tables and seeds, which are resampled as a whole."""
    means = table.groupby("split", sort=False)[column].mean()
    return bootstrap(means.to_numpy(float), np.mean)


def nothing(text: str, source: str, against: str) -> Claim:
    """A claim for which a scale has no runs: it does not hold."""
    measured = "this scale has no such pairs"
    return Claim(text=text, source=source, measured=measured, against=against, holds=False)


def rare_reversals(table: pd.DataFrame, text: str, source: str, what: str) -> Claim:
    """A claim that the second of each pair errs less, nearly uniformly."""
    against = f"{what} in so many pairs that the interval of their share reaches up to one half"
    if not len(table):
        return nothing(text, source, against)
    share, gain = by_split(table, "reversal"), by_split(table, "gain")
    splits = table["split"].nunique()
    return Claim(
        text=text,
        source=source,
        measured=(
            f"{what} in {share:.0%} of {len(table)} pairs, on {splits} splits of tables; in the "
            f"mean it gains {points(gain)} points of error"
        ),
        against=against,
        holds=share.high < 0.5,
        interval=share,
    )


def chosen(tables: Tables, optimizer: str, decays: tuple[float, ...] | None = None) -> pd.DataFrame:
    """The networks of an optimiser; with the least weight decay, unless others are asked for."""
    networks = tables["networks"]
    networks = networks[networks["optimizer"] == optimizer]
    wanted = decays or (networks["weight_decay"].min(),)
    return networks[networks["weight_decay"].isin(wanted)]


def widths_of(table: pd.DataFrame) -> str:
    """The widths that a comparison rests on, in words."""
    widths = sorted(table["width"].dropna().unique())
    if not widths:
        return "no width"
    names = [f"{width:,}" for width in widths]
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{'width' if len(names) == 1 else 'widths'} {text}"


def points(interval: Interval) -> str:
    """An interval of errors in percentage points."""
    value, low, high = (100 * number for number in interval)
    return f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"
