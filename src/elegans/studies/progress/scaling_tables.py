r"""Medians and exponents of times against n: the tables of `scaling-laws`.

Exponents are slopes of $\log$ median time on $\log n$ by least squares, resampled by whole seeds.
Lines bend upwards, so exponents of different k are compared over the same n.
"""

import numpy as np
import pandas as pd

from elegans.statistics import Interval, censored_median, log_slope
from elegans.studies.progress.times import groups, quantile

COARSE_BASE = 10  # bits, the smallest n of figure B.5


def medians(times: pd.DataFrame) -> pd.DataFrame:
    """Median and 10th percentile at each point of each line."""
    rows = []
    for (label, k, n), part in groups(times, ["label", "k", "n"]):
        middle = censored_median(part["time"].to_numpy(), part["success"].to_numpy(bool))
        rows.append(
            {
                "label": label,
                "k": k,
                "n": n,
                "runs": len(part),
                "converged": int(part["success"].sum()),
                "median": middle.value,
                "low": middle.low,
                "high": middle.high,
                "tenth": quantile(part["time"], 0.1),
            }
        )
    return pd.DataFrame(rows)


def exponents(times: pd.DataFrame) -> pd.DataFrame:
    """Of each line: the exponent over all n, over those of every k, the elbow, and B.5's."""
    rows = []
    usable = {key: usable_sizes(part) for key, part in groups(times, ["label", "k"])}
    for (label, k), part in groups(times, ["label", "k"]):
        ns = usable[label, k]
        of_label = [set(sizes) for (name, _), sizes in usable.items() if name == label]
        common = sorted(set.intersection(*of_label))
        if len(common) < 2:
            continue
        kept = part[part["n"].isin(ns)]
        whole = log_slope(kept, "n", "time")
        same = log_slope(part[part["n"].isin(common)], "n", "time")
        half = len(ns) // 2
        elbow = Interval(np.nan, -np.inf, np.inf)
        if len(ns) >= 4:
            elbow = slope_change(kept, ns[: half + 1], ns[half:])
        rows.append(
            {
                "label": label,
                "k": k,
                "ns": len(ns),
                "exponent": whole.value,
                "low": whole.low,
                "high": whole.high,
                "exponent_by_k": whole.value / k,
                "common_to": max(common),
                "common": same.value,
                "common_low": same.low,
                "common_high": same.high,
                "elbow": elbow.value,
                "elbow_low": elbow.low,
                "elbow_high": elbow.high,
                "coarse": coarse(kept),
            }
        )
    return pd.DataFrame(rows)


def usable_sizes(times: pd.DataFrame) -> list[int]:
    """The n at which at least half of the runs converge."""
    middle = times.groupby("n")["time"].median()
    return sorted(middle.index[np.isfinite(middle)])


def slope_change(times: pd.DataFrame, lower: list[int], upper: list[int]) -> Interval:
    """How much steeper medians grow over the upper n than over the lower ones, by seeds."""
    grid = times.pivot(index="seed", columns="n", values="time")
    values = grid.to_numpy(float)
    columns = [int(str(n)) for n in grid.columns]

    def slope(middle: np.ndarray, ns: list[int]) -> np.ndarray:
        x = np.log(np.array(ns, float))
        weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        return np.log(np.take(middle, [columns.index(n) for n in ns], axis=-1)) @ weights

    draws = np.random.default_rng(0).integers(0, len(values), (1000, len(values)))
    middle = np.median(values[draws], axis=1)
    middle = np.where(np.isfinite(middle), middle, np.nan)
    change = slope(middle, upper) - slope(middle, lower)
    center = np.median(values, axis=0)
    low, high = np.nanquantile(change, [0.025, 0.975])
    return Interval(float(slope(center, upper) - slope(center, lower)), float(low), float(high))


def coarse(times: pd.DataFrame) -> float:
    """Figure B.5's upper estimate from 10th percentiles at n = 10, 20 and 30, if they are there."""
    tenth = times.groupby("n")["time"].agg(lambda part: quantile(part, 0.1))
    if COARSE_BASE not in tenth or not np.isfinite(tenth[COARSE_BASE]):
        return np.nan
    others = [n for n in (20, 30) if n in tenth]
    if not others or not np.isfinite(tenth[others]).all():
        return np.nan
    slopes = [np.log(tenth[n] / tenth[COARSE_BASE]) / np.log(n - COARSE_BASE + 1) for n in others]
    return max(0.0, float(max(slopes)))
