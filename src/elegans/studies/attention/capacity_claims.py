"""The claims of the study of capacity, on its tables."""

import math

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import bootstrap, paired

SOURCE = "thesis, sections 4.3 and 4.4"
COVERS = ("head_cover", "sharp_cover", "cls_cover", "volume", "volume_cls")
LOGARITHMIC = ("head_cover", "sharp_cover", "cls_cover")


def packings_are_below_covers(tables: Tables) -> Claim:
    """Every lower bound is below every upper bound, at every T."""
    table = tables["sandwich"]
    is_valid = table["half_distance"] > tables.facts["eps"]
    lower = table[["entropy", "packing"]].max(axis=1)
    least = table[list(COVERS)].min(axis=1)
    ratio = (least / lower).min()
    return Claim(
        text="No cover is smaller than a packing: the bounds hold from both sides",
        source=f"{SOURCE}, corollary 4.9",
        measured=(
            f"the smallest of {len(COVERS)} upper bounds is at least {ratio:.0f} times the "
            f"largest lower bound, in nats, at T = {table['T'].min()} to {table['T'].max():,}"
        ),
        against="a T at which a measured or proved packing exceeds any of the covering bounds",
        holds=bool(is_valid.all() and (lower <= least).all()),
    )


def selectors_are_far_apart(tables: Tables) -> Claim:
    """All the selectors that were tried are pairwise apart on random inputs."""
    table = tables["sandwich"]
    share = np.exp(table["packing"]) / table["selectors"]
    interval = bootstrap(share.to_numpy(), np.min)
    return Claim(
        text="All selectors are distinct functions on random inputs: 3 ln T nats are real",
        source="our lower bound, which makes the log T of section 4.4 tight",
        measured=(
            f"{interval.value:.1%} of the selectors that were tried, or more, are pairwise more "
            f"than {2 * tables.facts['eps']:.1f} apart on {tables.facts['inputs']} inputs"
        ),
        against="a T at which one in ten selectors or more is close to another one",
        holds=interval.value > 0.9,
        interval=interval,
    )


def bounds_are_logarithmic(tables: Tables) -> Claim:
    """At the norms of the selectors the norm-based bounds grow like a power of ln T."""
    table = tables["sandwich"].sort_values("T")
    x, y = np.log(table["T"].to_numpy(float)), table[list(COVERS)]
    steepest = {name: float(np.polyfit(x, np.log(y[name]), 1)[0]) for name in COVERS}
    worst = max(steepest[name] for name in LOGARITHMIC)
    return Claim(
        text="Bounds by norms grow with a power of ln T, and parameter counts with one of T",
        source=f"{SOURCE}, theorem 4.6",
        measured="exponents in T from the sandwich: "
        + ", ".join(f"{name} {slope:.2f}" for name, slope in steepest.items()),
        against="an exponent of a norm bound of 0.6 or more, or one of a count below 0.9",
        holds=worst < 0.6 and min(steepest["volume"], steepest["volume_cls"]) > 0.9,
    )


def shattering_holds(tables: Tables) -> Claim:
    """Proposition 4.8 holds at every T."""
    table = tables["shattering"]
    is_full = table["patterns"] == 2 ** table["inputs"]
    return Claim(
        text="With unbounded norms a head of width 3 shatters log2 T inputs",
        source="thesis, proposition 4.8",
        measured=(
            f"all patterns at {int(is_full.sum())} of {len(table)} values of T from "
            f"{table['T'].min()} to {table['T'].max()}; the least distance to the threshold is "
            f"{table['margin'].min():.4f}"
        ),
        against="a T at which a pattern is missing",
        holds=bool(is_full.all()),
    )


def bounded_norms_stop_growth(tables: Tables) -> Claim:
    """At a fixed norm the number of heads that are far apart stops growing."""
    circle = tables["circle"].sort_values("T")
    last = circle.groupby("R")["heads"].apply(lambda heads: heads.iloc[-1] / heads.iloc[-2])
    ends = circle.groupby("R")["heads"].last()
    slope, _ = np.polyfit(np.log(ends.index.to_numpy(float)), np.log(ends.to_numpy(float)), 1)
    top = int(circle["T"].max())
    return Claim(
        text="With bounded norms the number of different heads stops growing with T",
        source="thesis, section 4.4",
        measured=(
            f"the last doubling of T (to {top:,}) multiplies it by at most {last.max():.2f}; where "
            f"it stops grows with the norm to the power {slope:.2f}"
        ),
        against="a norm at which the last doubling of T adds a tenth or more",
        holds=bool(last.max() < 1.1),
    )


def gaps_are_below_bounds(tables: Tables) -> Claim:
    """In every run the gap is below the bound at the measured norms."""
    gaps = tables["gaps"]
    ratio = gaps["bound"] / gaps["gap"].clip(lower=1e-9)
    interval = bootstrap(gaps["gap"].to_numpy(), np.max)
    return Claim(
        text="The generalisation gap of every trained head is below its bound",
        source=f"{SOURCE}, corollary 4.9 and theorem A.4",
        measured=(
            f"gaps up to {gaps['gap'].max():.2f}, bounds from {gaps['bound'].min():.1f} to "
            f"{gaps['bound'].max():.1f}, in {len(gaps)} runs: the bound is at least "
            f"{ratio.min():.0f} times the gap, and above ln 2 in "
            f"{int((gaps['bound'] > math.log(2)).sum())}, that is vacuous"
        ),
        against="a single run whose gap exceeds the bound",
        holds=bool((gaps["gap"] <= gaps["bound"]).all()),
        interval=interval,
    )


def gaps_and_bounds_fall(tables: Tables) -> Claim:
    """Both the gap and the bound fall with the number of examples, seed by seed."""
    gaps = tables["gaps"]
    few, many = gaps["samples"].min(), gaps["samples"].max()
    by = ["T", "seed"]
    first, last = (gaps[gaps["samples"] == m].set_index(by) for m in (few, many))
    comparison = paired(first["gap"], last["gap"], np.mean)
    interval = comparison.difference
    bounds = (last["bound"] / first["bound"]).median()
    return Claim(
        text="Gap and bound both fall with the number of examples",
        source=f"{SOURCE}, theorem A.4",
        measured=(
            f"from m = {few} to {many} the mean gap falls from {first['gap'].mean():.2f} to "
            f"{last['gap'].mean():.2f} (difference {interval:+.2f} over {comparison.pairs} pairs), "
            f"and the bound to {bounds:.2f} times its value in the median"
        ),
        against="an interval of the difference that reaches zero, or bounds that do not fall",
        holds=bool(interval.high < 0 and bounds < 1),
        interval=interval,
    )
