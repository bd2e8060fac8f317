"""The claims of the Pareto paper about the success frontier (section 4.1), checked on its runs.

Rates are compared by Wilson intervals at 95%. Where a claim is about every pair of cells at once,
the level is raised (Bonferroni), so that chance alone breaks the claim in one study of twenty.
"""

import itertools

import numpy as np
import pandas as pd

from elegans.statistics import Interval, wilson
from elegans.studies.study import Claim

CELL = ["n", "k", "start", "samples"]


def check(runs: pd.DataFrame, table: pd.DataFrame) -> tuple[Claim, ...]:
    """All claims, for runs with one row each and a table with one row a cell."""
    return (
        *(
            wider_needs_less(part, f"({n}, {k})-parity, {start} start")
            for (n, k, start), part in table.groupby(["n", "k", "start"], sort=False)
        ),
        width_never_hurts(table),
        sparse_enlarges(runs),
        fewer_samples_take_longer(runs, table),
    )


def wider_needs_less(part: pd.DataFrame, where: str) -> Claim:
    """The widest network succeeds at a number of samples at which the narrowest fails."""
    widest = part[part["width"] == part["width"].max()].set_index("samples")
    narrowest = part[part["width"] == part["width"].min()].set_index("samples")
    gaps = widest["low"] - narrowest["high"]
    best = gaps.astype(float).idxmax()
    wide, narrow = widest.loc[best], narrowest.loc[best]
    measured = (
        f"at m = {best}, width {wide['width']}: {shown(wide)}, width {narrow['width']}: "
        f"{shown(narrow)}"
    )
    return Claim(
        text=f"Larger width succeeds at smaller m ({where})",
        source="Pareto paper, section 4.1 (1)",
        measured=measured,
        holds=bool(gaps.loc[best] > 0),
    )


def width_never_hurts(table: pd.DataFrame) -> Claim:
    """No wider network is worse than a narrower one on the same data, beyond chance."""
    groups = [part.sort_values("width") for _, part in table.groupby(CELL, dropna=False)]
    pairs = [
        (part.iloc[i], part.iloc[j])
        for part in groups
        for i, j in itertools.combinations(range(len(part)), 2)
    ]
    level = 1 - 0.05 / max(1, len(pairs))
    worse = [(a, b) for a, b in pairs if interval(b, level).high < interval(a, level).low]
    measured = f"{len(pairs)} pairs of widths, {len(worse)} where the wider is worse"
    if worse:
        a, b = max(worse, key=lambda pair: pair[0]["rate"] - pair[1]["rate"])
        measured += (
            f"; most at m = {a['samples']}, {a['start']}: width {a['width']} {shown(a)}, "
            f"width {b['width']} {shown(b)}"
        )
    return Claim(
        text="Width never hurts beyond the interval",
        source="Pareto paper, section 4.1 (2)",
        measured=measured,
        holds=not worse,
    )


def sparse_enlarges(runs: pd.DataFrame) -> Claim:
    """Of the pairs of runs with equal data and width that differ, the sparse start wins most."""
    by = ["n", "k", "width", "samples", "seed"]
    pairs = runs.pivot(index=by, columns="start", values="success")
    differ = pairs[pairs["dense"] != pairs["2-sparse"]]
    wins = int(differ["2-sparse"].sum())
    measured = (
        f"dense {pairs['dense'].mean():.1%}, 2-sparse {pairs['2-sparse'].mean():.1%} of "
        f"{len(pairs)} pairs"
    )
    holds = False
    if len(differ):
        found = wilson(wins, len(differ))
        holds = found.low > 0.5
        measured += f"; sparse wins {wins} of the {len(differ)} that differ, {found:.0%}"
    return Claim(
        text="Sparse initialisation enlarges the feasible region",
        source="Pareto paper, section 4.1 (3)",
        measured=measured,
        holds=holds,
    )


def fewer_samples_take_longer(runs: pd.DataFrame, table: pd.DataFrame) -> Claim:
    """Runs at the smallest feasible m take longer than the median run at the largest."""
    longer = total = 0
    ratios = []
    finite = table.dropna(subset=["samples"])
    for key, part in finite.groupby(["n", "k", "start", "width"], sort=False):
        feasible = part[part["rate"] >= 0.5].sort_values("samples")
        if len(feasible) < 2:
            continue
        own = runs[(runs[["n", "k", "start", "width"]] == list(key)).all(axis=1) & runs["success"]]
        edge = own.loc[own["samples"] == feasible["samples"].iloc[0], "steps"]
        typical = feasible["median_steps"].iloc[-1]
        longer += int((edge > typical).sum())
        total += len(edge)
        ratios.append(edge.median() / typical)
    if not total:
        measured, holds = "no width is feasible at two values of m", False
    else:
        found = wilson(longer, total)
        holds = found.low > 0.5
        measured = (
            f"{longer} of {total} runs at the edge take longer than the median at the largest m, "
            f"{found:.0%}; {np.median(ratios):.1f} times as long in the median"
        )
    return Claim(
        text="Near the edge fewer samples need more steps (grokking)",
        source="Pareto paper, section 4.1 (4)",
        measured=measured,
        holds=holds,
    )


def interval(cell: pd.Series, level: float = 0.95) -> Interval:
    """The interval of a cell's success rate."""
    return wilson(int(cell["successes"]), int(cell["runs"]), level)


def shown(cell: pd.Series) -> str:
    """A cell's success rate with its interval."""
    return f"{interval(cell):.0%}"
