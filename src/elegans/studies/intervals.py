r"""Confidence intervals of a success rate, and of a median.

Wilson's interval inverts the score test: it is the set of rates $p$ with
$|\hat p - p| \le z\sqrt{p(1-p)/n}$. Unlike $\hat p \pm z\sqrt{\hat p(1 - \hat p)/n}$ it is right
at 0 and 1, where most cells of a frontier are. A median has a bootstrap interval: the
quantiles of the medians of samples drawn from the sample.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import norm


class Interval(NamedTuple):
    """A rate, and the limits of its confidence interval."""

    rate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.rate:.0f}% [{100 * self.low:.0f}, {100 * self.high:.0f}]"


def wilson(successes: int, runs: int, level: float = 0.95) -> Interval:
    """The success rate of so many runs, with Wilson's interval at a confidence level."""
    if not 0 <= successes <= runs or runs < 1:
        raise ValueError(f"wilson: 0 <= successes <= runs >= 1; got {successes} of {runs}.")
    z = float(norm.ppf(0.5 + level / 2))
    rate = successes / runs
    middle = (rate + z**2 / (2 * runs)) / (1 + z**2 / runs)
    radius = z / (1 + z**2 / runs) * (rate * (1 - rate) / runs + z**2 / (4 * runs**2)) ** 0.5
    return Interval(
        rate, max(0.0, min(rate, middle - radius)), min(1.0, max(rate, middle + radius))
    )


class Median(NamedTuple):
    """The median of some numbers, and the limits of its confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.1f}% [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def bootstrap_median(
    values: Sequence[float] | np.ndarray, level: float = 0.95, resamples: int = 2000
) -> Median:
    """The median, with the percentile interval of medians of so many resamples.

    The resamples are the same at every call, so that an interval is a function of the numbers.
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers) or np.isnan(numbers).any():
        raise ValueError(f"bootstrap_median: one number or more, none of them NaN; got {values}.")
    chosen = np.random.default_rng(0).integers(0, len(numbers), (resamples, len(numbers)))
    medians = np.median(numbers[chosen], axis=1)
    low, high = np.quantile(medians, [(1 - level) / 2, (1 + level) / 2])
    return Median(float(np.median(numbers)), float(low), float(high))
