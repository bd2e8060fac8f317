r"""Guessing: how long random search takes, and how likely a network starts out lucky.

A memoryless search draws one of the $\binom{n}{k}$ supports at random in every step, so its time is
geometric and does not depend on what went before. $r$ copies side by side succeed in a step with
probability $1 - (1 - 1/\binom{n}{k})^r$. Gradient descent is measured against this: a geometric
time is below half of its median with probability $1 - 2^{-1/2}$, and $r$ copies are $r$ times as
fast.

References: Barak et al. (2022), Hidden progress, section 5.4, figure B.10; Edelman et al. (2023),
Pareto frontiers in deep feature learning, section 3.2.
"""

import math
from typing import NamedTuple

from elegans import checks
from elegans.theory.resources.bounds import check_support


class SearchTime(NamedTuple):
    """A geometric time: each step succeeds with probability `chance`, whatever came before."""

    chance: float

    @property
    def mean(self) -> float:
        """The expected number of steps."""
        return 1 / self.chance

    def quantile(self, share: float) -> int:
        """The least number of steps within which a `share` of the searches has succeeded."""
        checks.number("SearchTime", "share", share, low=0.0, high=1.0 - 1e-12, what="is a rate")
        if self.chance == 1 or share == 0:
            return 1
        # A relative margin keeps rounding from adding a step where the quantile is exact.
        return max(1, math.ceil(math.log1p(-share) / math.log1p(-self.chance) * (1 - 1e-14)))

    def within(self, steps: float | int) -> float:
        """The probability of success within so many steps."""
        if self.chance == 1:
            return float(steps >= 1)
        return -math.expm1(math.floor(steps) * math.log1p(-self.chance))


def random_search(n: int, k: int, copies: int = 1) -> SearchTime:
    r"""The time of `copies` independent searches for `k` of `n` bits, a guess per step each.

    The mean is $1 / (1 - (1 - 1/\binom{n}{k})^r)$.
    """
    check_support("random_search", n, k)
    checks.whole(f"random_search(n={n}, k={k})", "copies", copies, low=1, what="search in parallel")
    supports = math.comb(n, k)
    return SearchTime(1.0 if supports == 1 else -math.expm1(copies * math.log1p(-1 / supports)))


def lucky_probability(n: int, k: int, s: int) -> float:
    r"""The chance that a neuron with `s` random ones has a population gradient at a relevant bit.

    A rectifier that reads the set $A$ with equal weights and a bias below one in size has gradient
    $\widehat{1[\cdot > 0]}(S \setminus i)$ at $i \in S$, which is zero unless $S \setminus i
    \subseteq A$: the neuron reads at least $k - 1$ relevant bits. If it does, the coefficient of
    order $k - 1$ is zero only if $s$ is odd and $k - 1$ even and positive, because then there are
    no ties and majority is odd. So for $s = 2$ a neuron is lucky at $k = 3$ if both ones are
    relevant, and never at $k \ge 4$.
    """
    owner = f"lucky_probability(n={n}, k={k}, s={s})"
    check_support("lucky_probability", n, k)
    checks.whole(owner, "s", s, low=1, high=n, what="counts the ones of a neuron")
    if s % 2 and k % 2 and k > 1:
        return 0.0
    sets = sum(
        math.comb(k, hit) * math.comb(n - k, s - hit) for hit in (k - 1, k) if 0 <= s - hit <= n - k
    )
    return sets / math.comb(n, s)


def lucky_chance(n: int, k: int, s: int, width: int) -> float:
    r"""The chance that at least one of `width` neurons is lucky: $1 - (1 - p)^r$.

    With $p$ of `lucky_probability`: 2.4, 7.1, 22, 52, 91 and 99.9% at widths 10, 30, 100, 300,
    1,000 and 3,000 for $n = 50$, $k = 3$, $s = 2$.
    """
    checks.whole(f"lucky_chance(n={n}, k={k}, s={s})", "width", width, low=1, what="counts neurons")
    chance = lucky_probability(n, k, s)
    return 1.0 if chance == 1 else -math.expm1(width * math.log1p(-chance))
