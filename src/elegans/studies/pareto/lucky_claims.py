"""What is claimed of lucky neurons, on the tables of that study.

Runs of one seed share their data across widths, so widths are strata and seeds are resampled whole.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap_clustered, wilson
from elegans.studies.pareto.recipe import finished

SOURCE = "Pareto paper, section 3.2.1"
LEVEL = 0.05


def with_gradients(tables: Tables) -> pd.DataFrame:
    """The finished runs of tasks in which lucky neurons have a gradient at the start, k = 3."""
    runs = finished(tables["census"])
    return runs[runs["k"] == 3]


def advantage(column: str, outcome: str) -> Callable[[pd.DataFrame], float]:
    r"""A function of runs: the `outcome` with `column` > 0 minus that without, within widths.

    Mantel and Haenszel's weights $ab/(a + b)$ for $a$ runs with and $b$ without.
    """

    def difference(runs: pd.DataFrame) -> float:
        total, weights = 0.0, 0.0
        has, success = runs[column].to_numpy() > 0, runs[outcome].to_numpy(float)
        for width in np.unique(runs["width"]):
            here = (runs["width"] == width).to_numpy()
            a, b = int((has & here).sum()), int((~has & here).sum())
            if a and b:
                weight = a * b / (a + b)
                gain = success[has & here].mean() - success[~has & here].mean()
                total, weights = total + weight * gain, weights + weight
        return total / weights if weights else float("nan")

    return difference


def chances_are_as_predicted(tables: Tables) -> Claim:
    """Networks hold a lucky neuron as often as the formula says."""
    rows = tables["chances"]
    level = 1 - LEVEL / len(rows)
    records: list[dict[Any, Any]] = rows.to_dict("records")
    intervals = [
        wilson(round(row["lucky_rate"] * row["networks"]), int(row["networks"]), level)
        for row in records
    ]
    misses = [
        f"({row['n']}, {row['k']}), width {row['width']}"
        for row, interval in zip(records, intervals, strict=True)
        if not interval.contains(float(row["predicted"]))
    ]
    gaps = (rows["lucky_rate"] - rows["predicted"]).abs().to_numpy()
    worst = int(gaps.argmax())
    return Claim(
        text="Wider networks hold a lucky neuron with probability 1 - (1 - p)^r",
        source=SOURCE,
        measured=(
            f"the farthest of {len(rows)} shares is {intervals[worst]:.1%} of "
            f"{rows['networks'].iloc[worst]:,} networks where {rows['predicted'].iloc[worst]:.1%} "
            "is predicted; outside of its interval: "
            f"{', '.join(misses) or 'none'}"
        ),
        against=f"a share whose interval, at level {level:.2%}, does not hold the prediction",
        holds=not misses,
        interval=intervals[worst],
    )


def luck_saves_time(tables: Tables) -> Claim:
    """At one width, networks with a lucky neuron have learned early more often."""
    runs = with_gradients(tables)
    interval = bootstrap_clustered(runs, advantage("lucky", "early"))
    rates = runs.groupby(runs["lucky"] > 0)["early"].mean()
    return Claim(
        text="At equal width, networks with a lucky neuron learn early, others do not",
        source=SOURCE,
        measured=(
            f"learned within {tables.facts['early']:,} steps: {rates.get(True, np.nan):.0%} with "
            f"and {rates.get(False, np.nan):.0%} without a lucky neuron; within widths the "
            f"difference is {interval:+.0%}"
        ),
        against="an interval of the difference within widths that reaches down to one half",
        holds=interval.low > 0.5,
        interval=interval,
    )


def luck_decides(tables: Tables) -> Claim:
    """At one width, networks with a lucky neuron succeed more often by the end."""
    runs = with_gradients(tables)
    interval = bootstrap_clustered(runs, advantage("lucky", "success"))
    rates = runs.groupby(runs["lucky"] > 0)["success"].mean()
    return Claim(
        text="At equal width, networks with a lucky neuron learn at all more often",
        source=SOURCE,
        measured=(
            f"success {rates.get(True, np.nan):.0%} with and {rates.get(False, np.nan):.0%} "
            f"without; within widths the difference is {interval:+.0%}"
        ),
        against="an interval of the difference within widths that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )


def a_decoy_does_not_help(tables: Tables) -> Claim:
    """The control: neurons that read bits of an irrelevant set change nothing."""
    runs = with_gradients(tables)
    interval = bootstrap_clustered(runs, advantage("decoy", "early"))
    real = advantage("lucky", "early")(runs)
    return Claim(
        text="Control: neurons that read two of three irrelevant inputs save no time",
        source="this study's control",
        measured=f"difference {interval:+.0%} for the decoy, against {real:+.0%} for the real set",
        against="an interval that lies above zero, or reaches half of the real set's difference",
        holds=interval.low <= 0 and interval.high < real / 2,
        interval=interval,
    )


def success_is_calibrated(tables: Tables) -> Claim:
    """Over widths, early success grows with the predicted chance of luck, one for one."""
    runs = with_gradients(tables)
    predicted = tables["chances"].query("k == 3").set_index("width")["predicted"]

    def slope(part: pd.DataFrame) -> float:
        rates = part.groupby("width")["early"].mean()
        x = predicted[rates.index].to_numpy()
        return float(np.polyfit(x, rates.to_numpy(), 1)[0]) if len(x) > 1 else float("nan")

    interval: Interval = bootstrap_clustered(runs, slope)
    rates = runs.groupby("width")["early"].mean()
    held = (runs["lucky"] > 0).groupby(runs["width"]).mean()
    return Claim(
        text=(
            "Over widths, early success grows with the chance of a lucky neuron, with a slope near "
            "1 and within 20 points"
        ),
        source=SOURCE,
        measured=(
            "early success, measured and predicted: "
            + "; ".join(
                f"width {r}: {rates[r]:.0%} and {predicted[r]:.0%} ({held[r]:.0%} of these runs "
                "hold one)"
                for r in rates.index
            )
            + f"; slope {interval:.2f}"
        ),
        against=(
            "an interval of the slope of early success on the predicted chance that does not hold "
            "1 or is not within one half of it, or a width whose rate is 20 points or more from "
            "its prediction"
        ),
        holds=(
            0.5 < interval.low <= 1 <= interval.high < 1.5
            and bool((rates - predicted[rates.index]).abs().max() < 0.2)
        ),
        interval=interval,
    )
