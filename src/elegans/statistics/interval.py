r"""A number with the limits of its confidence interval, for rates and for means.

Wilson's interval inverts the score test: it is the set of rates $p$ with
$|\hat p - p| \le z\sqrt{p(1-p)/n}$. Unlike $\hat p \pm z\sqrt{\hat p(1 - \hat p)/n}$ it is right
at 0 and 1, where most cells of a frontier are. Means have the interval of the normal limit or, if
the values are bounded, rigorous ones that hold at every sample size.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special

from elegans import checks


class Interval(NamedTuple):
    """A number and the limits between which the truth lies, at the level that was asked for."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return format(self, ".4g")

    def __format__(self, spec: str) -> str:
        """All three numbers in one format: `f"{interval:.0%}"` is "50% [40%, 60%]"."""
        value, low, high = (format(number, spec or ".4g") for number in self)
        return f"{value} [{low}, {high}]"

    @property
    def radius(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    def contains(self, truth: float) -> bool:
        """Whether `truth` lies in the interval."""
        return bool(self.low <= truth <= self.high)


def wilson(successes: int, runs: int, level: float = 0.95) -> Interval:
    """The success rate of so many independent runs, with Wilson's interval."""
    if not 0 <= successes <= runs or runs < 1:
        raise ValueError(f"wilson: 0 <= successes <= runs >= 1; got {successes} of {runs}.")
    z = normal_quantile("wilson", level)
    rate = successes / runs
    middle = (rate + z**2 / (2 * runs)) / (1 + z**2 / runs)
    radius = z / (1 + z**2 / runs) * (rate * (1 - rate) / runs + z**2 / (4 * runs**2)) ** 0.5
    return Interval(
        rate, max(0.0, min(rate, middle - radius)), min(1.0, max(rate, middle + radius))
    )


def normal_mean(values: Float[np.ndarray, " samples"], level: float = 0.95) -> Interval:
    r"""The mean of independent values with the interval of the normal limit.

    The radius is $z_{(1 + \text{level})/2} \sqrt{V/m}$ with the sample variance $V$.
    """
    checks.whole("normal_mean", "samples", values.size, low=2, what="counts the values")
    z = normal_quantile("normal_mean", level)
    return around(values, z * math.sqrt(float(values.var(ddof=1)) / values.size))


def bernstein_mean(
    values: Float[np.ndarray, " samples"], width: float, level: float = 0.95
) -> Interval:
    r"""The mean of independent values that lie in an interval of length `width`, rigorously.

    The radius is that of the empirical Bernstein bound, valid at every sample size: with
    $\delta = 1 - \text{level}$,
    $\sqrt{2 V \log(4/\delta) / m} + 7 w \log(4/\delta) / (3(m - 1))$.

    References: Maurer and Pontil (2009), Empirical Bernstein bounds, theorem 4.
    """
    check_level("bernstein_mean", level)
    m = values.size
    checks.whole("bernstein_mean", "samples", m, low=2, what="counts the values")
    log = math.log(4 / (1 - level))
    variance = float(values.var(ddof=1))
    return around(values, math.sqrt(2 * variance * log / m) + 7 * width * log / (3 * (m - 1)))


def hoeffding_radius(samples: int, width: float, failure: float, means: int = 1) -> float:
    r"""Half of the interval that holds `means` means at once, except with probability `failure`.

    Values lie in an interval of the given `width`: $w \sqrt{\log(2M/\delta) / (2m)}$.
    """
    checks.whole("hoeffding_radius", "samples", samples, low=1, what="counts the values")
    checks.number("hoeffding_radius", "failure", failure, low=1e-300, high=1.0, what="is a chance")
    return width * math.sqrt(math.log(2 * means / failure) / (2 * samples))


def hoeffding_samples(radius: float, width: float, failure: float, means: int = 1) -> int:
    """The samples at which `hoeffding_radius` is at most `radius`."""
    if not radius > 0:
        raise ValueError(f"hoeffding_samples: a radius is positive; got {radius!r}.")
    return math.ceil(math.log(2 * means / failure) * (width / radius) ** 2 / 2)


def around(values: Float[np.ndarray, " samples"], radius: float) -> Interval:
    """The mean of `values`, with limits at `radius` on either side."""
    mean = float(values.mean())
    return Interval(mean, mean - radius, mean + radius)


def normal_quantile(owner: str, level: float) -> float:
    """The standard errors on either side of a normal mean that hold it with probability `level`."""
    check_level(owner, level)
    return float(special.ndtri((1 + level) / 2))


def check_level(owner: str, level: float) -> None:
    """Refuses a confidence level that is not strictly between 0 and 1, such as 95."""
    if not 0 < level < 1:
        raise ValueError(f"{owner}: level lies strictly between 0 and 1; got {level!r}.")


def lowest(intervals: Mapping[str, Interval]) -> Interval:
    """The interval that reaches down farthest: the one that decides whether all are high."""
    return min(intervals.values(), key=lambda interval: interval.low)


def highest(intervals: Mapping[str, Interval]) -> Interval:
    """The interval that reaches up farthest: the one that decides whether all are low."""
    return max(intervals.values(), key=lambda interval: interval.high)


def in_words(intervals: Mapping[str, Interval], words: str) -> str:
    """All of them in one sentence, each as `words` says, such as "{name}: {value:.0%}"."""
    return "; ".join(words.format(name=name, value=value) for name, value in intervals.items())
