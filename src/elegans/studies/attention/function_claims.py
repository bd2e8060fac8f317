"""What `which-functions` claims: thresholds of four functions under one protocol, and controls."""

import math
from typing import Any

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap_clustered, paired, wilson
from elegans.statistics.resampling import percentile
from elegans.studies import thresholds
from elegans.studies.attention.protocol import SPARSITY, TARGET
from elegans.studies.attention.references import bits_needed
from elegans.studies.study import known_failure

SOURCE = "our own study, after thesis, sections 4.5 and 4.6"
XOR = "XOR"
FRESH, FIXED = "fresh", "fixed"
EASY = ("AND", "majority", "random")
MUCH_MORE = 2.0  # times as many examples


def xor_leaves_the_law(tables: Tables) -> Claim:
    """At every T but the smallest, XOR needs far more examples than any other function."""
    table = tables["thresholds"].set_index(["function", "T"])["m_star"]
    lengths = sorted(tables["thresholds"]["T"].unique())[1:]
    easy = {T: max(table[name, T] for name in EASY) for T in lengths}
    xor = {T: table[XOR, T] for T in lengths}
    T = max(lengths)
    chosen = tables["trials"].query("function == @XOR and T == @T")
    enough = chosen[chosen["samples"] >= min(table[name, T] for name in EASY)]
    interval = success_rate(enough)
    shown = ", ".join(f"{number(xor[T])} against {number(easy[T])} at T = {T}" for T in lengths)
    return Claim(
        text="XOR leaves the logarithmic law: it needs far more examples than the others, or fails",
        source=SOURCE,
        measured=(
            f"m* of XOR against the largest of the other three: {shown}; where one of those "
            f"succeeds at T = {T}, {interval:.0%} of trials with XOR do"
        ),
        against=(
            "a T, the smallest left out, at which XOR needs less than twice as many examples as "
            "another function, or an interval of its success rate that reaches 80%"
        ),
        holds=all(xor[T] >= MUCH_MORE * easy[T] for T in lengths) and interval.high < TARGET,
        interval=interval,
    )


def success_rate(trials: pd.DataFrame) -> Interval:
    """The success rate over several sizes, whose trials share their seeds."""
    if not len(trials):
        return Interval(0.0, 0.0, 1.0)
    rate = bootstrap_clustered(trials, lambda part: part["success"].mean())
    if rate.value in (0.0, 1.0):  # the bootstrap of a constant is a point; seeds are the runs
        by_seed = trials.groupby("seed")["success"].mean()
        return wilson(round(float(by_seed.sum())), len(by_seed))
    return rate


def number(samples: float) -> str:
    """A threshold in words."""
    return f"{samples:.0f}" if math.isfinite(samples) else "more than the grid"


@known_failure(
    reason=(
        "The number of examples per bit of information grows for the random function, by 1.66 "
        "from T = 10 to 80 with an interval from 1.26 to 2.07. Unlike AND and majority, which do "
        "as claimed, it has no correlation with one of its bits alone; whether that is the reason "
        "is not known"
    ),
    scales=("quick",),
)
def others_follow_information(tables: Tables) -> Claim:
    """For AND, majority and a random function, examples per bit of information hardly change."""
    growth = {name: growth_per_bit(tables, name) for name in EASY}
    worst = max(growth, key=lambda name: np.nan_to_num(growth[name].high, nan=np.inf))
    lengths = tables["thresholds"]["T"]
    first, last = int(lengths.min()), int(lengths.max())
    linear = last / first * bits_needed(first, SPARSITY) / bits_needed(last, SPARSITY)
    return Claim(
        text="AND, majority and a random function need examples in proportion to information",
        source=SOURCE,
        measured=(
            f"m* / log2 C(T, 3) at T = {last}, divided by the same at T = {first}: "
            + ", ".join(f"{name} {each:.2f}" for name, each in growth.items())
        ),
        against=(
            "a function for which the interval of that ratio reaches 2; a number of examples in "
            f"proportion to T would have {linear:.1f}"
        ),
        holds=all(each.high < MUCH_MORE for each in growth.values()),
        interval=growth[worst],
    )


def growth_per_bit(tables: Tables, function: str) -> Interval:
    """How much m* per bit of information grows from the smallest T to the largest."""
    trials = tables["trials"].query("function == @function")
    draws = thresholds.threshold_draws(trials, "T", TARGET)
    columns: Any = draws.columns
    first, last = min(columns), max(columns)
    bits = bits_needed(last, SPARSITY) / bits_needed(first, SPARSITY)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = draws[last].to_numpy(float) / draws[first].to_numpy(float) / bits
    return percentile(float(ratios[0]), ratios[1:], 0.95)


def control_learns_xor(tables: Tables) -> Claim:
    """With the steps, and fresh examples, the same network learns XOR by the same recipe."""
    table = tables["control"].query("examples == @FRESH")
    success = table["success"].astype("boolean").fillna(False).to_numpy(bool)
    interval = wilson(int(success.sum()), len(success))
    return Claim(
        text="The control: by the same recipe the network learns XOR when it has the steps",
        source=SOURCE,
        measured=(
            f"{int(success.sum())} of {len(success)} seeds at T = {tables.facts['control_T']} with "
            f"fresh examples, after {table['steps'].median():,.0f} steps in the median"
        ),
        against="a seed that does not learn it",
        holds=bool(success.all()),
        interval=interval,
    )


def steps_are_what_xor_lacks(tables: Tables) -> Claim:
    """On the same examples, more steps lead to success where the steps of the search did not."""
    table = tables["control"].query("examples == @FIXED").set_index("seed")
    success = table["success"].astype("boolean").fillna(False).astype(float)
    early = success * (table["steps"] <= tables.facts["steps"])
    comparison = paired(early, success, np.mean)
    interval = comparison.difference
    T, m = tables.facts["control_T"], tables.facts["control_samples"]
    return Claim(
        text="At the smallest T what XOR lacks is steps: the same examples become enough",
        source=SOURCE,
        measured=(
            f"at T = {T} and m = {m}, {early.mean():.0%} of {len(table)} runs succeed in "
            f"{tables.facts['steps']:,} steps, and {success.mean():.0%} in "
            f"{tables.facts['control_steps']:,}: a difference of {interval:+.2f}"
        ),
        against="an interval of the difference that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )
