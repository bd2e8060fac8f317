r"""Confidence intervals of a success rate.

Wilson's interval inverts the score test: it is the set of rates $p$ with
$|\hat p - p| \le z\sqrt{p(1-p)/n}$. Unlike $\hat p \pm z\sqrt{\hat p(1 - \hat p)/n}$ it is right
at 0 and 1, where most cells of a frontier are.
"""

from typing import NamedTuple

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
    return Interval(rate, max(0.0, middle - radius), min(1.0, middle + radius))
