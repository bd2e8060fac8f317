"""The claims of `sparse-samples`: who needs more examples, and how fast that grows."""

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval
from elegans.statistics.resampling import percentile
from elegans.studies import thresholds

SOURCE = "sparse activations paper"
SPARSE, UNGATED = "1-sparse", "without gates"
JUNTA, PARITY = "worst 1-sparse", "worst dense"
TEACHERS = (SPARSE, UNGATED, JUNTA, PARITY)
POLYNOMIAL, NETWORK = "polynomial", "network"
STUDENTS = (POLYNOMIAL, NETWORK)
DENSE_EXPONENT = 2.0
RESAMPLES = 500
BEYOND = 1e6  # examples


def draws(tables: Tables, student: str, teacher: str) -> pd.DataFrame:
    """Fitted least sizes by s under resampling of trials; row 0 is the sample itself."""
    trials = tables["trials"]
    part = trials[(trials["student"] == student) & (trials["teacher"] == teacher)]
    return thresholds.threshold_draws(part, "s", resamples=RESAMPLES)


def ratios(tables: Tables, student: str, first: str, second: str) -> pd.DataFrame:
    """Least sizes by s, `second` over `first`, under resampling.

    They are lower bounds: a size beyond all that were tried counts as the largest of those in the
    numerator, and as `BEYOND` in the denominator.
    """
    most = float(tables.facts["largest"])
    return draws(tables, student, second).clip(1.0, most) / draws(tables, student, first).clip(
        1.0, BEYOND
    )


def interval_of(values: np.ndarray) -> Interval:
    """The first value, that of the sample itself, with the interval of the others."""
    return percentile(float(values[0]), values[1:], 0.95)


def random_dense_networks_are_easier(tables: Tables) -> Claim:
    """The same directions without gates take fewer examples, for either student."""
    means = {
        student: interval_of(
            np.exp(np.log(ratios(tables, student, UNGATED, SPARSE).to_numpy(float)).mean(axis=1))
        )
        for student in STUDENTS
    }
    least = min(means.values(), key=lambda interval: interval.low)
    text = "; ".join(f"{student} {interval:.1f}" for student, interval in means.items())
    return Claim(
        text="Random networks take more examples with gates than without: sparse is not easier",
        source="a limit of the bounds, which are about worst cases",
        measured=f"examples with one active neuron over those without gates: {text}",
        against="a student whose interval of the ratio reaches 1",
        holds=least.low > 1,
        interval=least,
    )


def worst_dense_networks_are_harder(tables: Tables) -> Claim:
    """The worst sparse networks take fewer examples than the worst dense ones of their size."""
    sizes = tables["sizes"].set_index(["student", "teacher", "s"])["m_star"]
    pairs = [
        (student, s, sizes[(student, JUNTA, s)], sizes[(student, PARITY, s)])
        for student in STUDENTS
        for s in sorted(tables["sizes"]["s"].unique())
    ]
    text = ", ".join(
        f"{student}, s = {s}: {shown(junta)} against {shown(parity)}"
        for student, s, junta, parity in pairs
    )
    intervals = [
        interval_of(column.to_numpy(float))
        for student in STUDENTS
        for _, column in ratios(tables, student, JUNTA, PARITY).items()
    ]
    least = min(intervals, key=lambda interval: interval.low)
    return Claim(
        text="The worst networks take fewer examples if one neuron is active than if many are",
        source=f"{SOURCE}, theorem 17 beside the dense bound; parities of log s and of s bits",
        measured=f"least examples, {text}; the least ratio {least:.1f}",
        against="a student and s whose interval of the ratio, many active over one, reaches 1",
        holds=least.low > 1,
        interval=least,
    )


def shown(size: float) -> str:
    """A least size, or that there was none."""
    return f"{size:,.0f}" if np.isfinite(size) else "more than were tried"


def grows_less_than_the_dense_bound(tables: Tables) -> Claim:
    """The exponent of s in the least size is below that of the dense bound."""
    laws = {
        student: thresholds.law(draws(tables, student, SPARSE), is_power=True)
        for student in STUDENTS
    }
    most = max(laws.values(), key=lambda interval: interval.high)
    text = "; ".join(f"{student} {interval:.2f}" for student, interval in laws.items())
    return Claim(
        text="For one active neuron the examples grow more slowly than the square of s",
        source=f"{SOURCE}, theorem 17 (exponent 1 for k = 1) beside the dense bound (2)",
        measured=f"exponent of s in the least number of examples: {text}",
        against="a student whose interval of the exponent reaches 2",
        holds=all(interval.high < DENSE_EXPONENT for interval in laws.values()),
        interval=most,
    )
