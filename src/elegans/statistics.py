r"""Means of samples, each with an interval that says how far the truth may be."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special

from elegans import checks


class Estimate(NamedTuple):
    """A mean over samples; the truth is within `radius` of it with probability `confidence`."""

    value: float
    radius: float
    confidence: float
    samples: int

    def contains(self, truth: float) -> bool:
        """Whether `truth` lies in the interval."""
        return abs(self.value - truth) <= self.radius


def mean_estimate(
    values: Float[np.ndarray, " samples"], confidence: float, width: float | None = None
) -> Estimate:
    r"""The mean of `values` with a two-sided interval.

    If all possible values lie in an interval of the given `width`, the radius is that of the
    empirical Bernstein bound of Maurer and Pontil (2009), theorem 4, valid at every sample size:
    $\sqrt{2 V \log(4/\delta) / m} + 7 w \log(4/\delta) / (3(m - 1))$. Otherwise it is that of the
    normal limit, $z_{1-\delta/2} \sqrt{V/m}$.
    """
    checks.number("mean_estimate", "confidence", confidence, low=0.0, high=1.0, what="is a chance")
    m = values.size
    checks.whole("mean_estimate", "samples", m, low=2, what="counts the values")
    delta = 1 - confidence
    variance = float(values.var(ddof=1))
    if width is None:
        radius = float(special.ndtri(1 - delta / 2)) * math.sqrt(variance / m)
    else:
        log = math.log(4 / delta)
        radius = math.sqrt(2 * variance * log / m) + 7 * width * log / (3 * (m - 1))
    return Estimate(float(values.mean()), radius, confidence, m)


def hoeffding_radius(samples: int, width: float, failure: float, means: int = 1) -> float:
    r"""Half of the interval that holds `means` means at once, except with probability `failure`.

    Values lie in an interval of the given `width`: $w \sqrt{\log(2M/\delta) / (2m)}$.
    """
    return width * math.sqrt(math.log(2 * means / failure) / (2 * samples))


def hoeffding_samples(radius: float, width: float, failure: float, means: int = 1) -> int:
    """The samples at which `hoeffding_radius` is at most `radius`."""
    if not radius > 0:
        raise ValueError(f"hoeffding_samples: a radius is positive; got {radius!r}.")
    return math.ceil(math.log(2 * means / failure) * (width / radius) ** 2 / 2)
