r"""What training with a penalty should reach: the exact optimum at a finite weight $\lambda$.

The objective is the mean cross-entropy over all pairs of $G$, plus $\lambda \|\theta\|_{2,3}^r$.
Repeat a network under every symmetry $(a, b, c) \mapsto (gah,\ h^{-1}bl,\ gcl)$ and $(b^{-1},
a^{-1}, c^{-1})$ of the task, with neurons scaled so that the norm stays: by convexity the loss does
not rise, and what the network computes is a class function of $a b c^{-1}$. By the bound of `game`
its part in the representation $S$ is at most what the construction reaches with the same norm, and
the loss falls in every such part. So the optimum of a network that is wide enough is that of

$$\min_{n \ge 0}\ \log\Big(1 + \sum_C |C| \exp\big(-k \sum_S n_S M[S, C]\big)\Big) + \lambda
\Big(\sum_S n_S\Big)^{r/3}, \qquad k = \frac{2}{(3|G|)^{3/2}},$$

with $n_S$ the norm cubed in $S$ and $M$ the matrix of the game. At $r = 3$ it is convex, and its
solution is unique because $M$ is invertible. Other powers have the same solutions at an effective
weight $\lambda \frac r3 \|\theta\|^{r-3}$; below 3 the zero network is always a local optimum, and
the better of the two is returned.

Theorem 7.1 of the thesis says that margins tend to $\gamma^*$ as $\lambda \to 0$. Class margins
differ by constants while they grow like $\log(1/\lambda)$, so that the approach is that slow,
unless all $\tau_C$ are equal: for odd cyclic groups the margin is $\gamma^*$ at every $\lambda$.
"""

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np
import scipy

from elegans import checks
from elegans.tasks.groups import FiniteGroup
from elegans.theory.groups.characters import real_character_table
from elegans.theory.groups.closed_forms import parity_margin
from elegans.theory.groups.game import margin_unit, payoff
from elegans.theory.groups.matrix_game import equilibrium
from elegans.theory.groups.shares_problem import Shares, SharesProblem

GRID = 48  # effective weights at which other powers than 3 are searched for optima


@dataclass(frozen=True, eq=False)
class RegularisedOptimum:
    r"""The best that a wide enough network can do under a penalty.

    Attributes:
        margin: The normalised margin; 0 for the zero network.
        shares: The share of $\|\theta\|^\nu$ per representation, as in `irreducibles`; all zero for
            the zero network.
        loss: The mean cross-entropy.
        norm: $\|\theta\|_{2,\nu}$, $\nu$ the degree of homogeneity.
        logit_margin: The smallest margin before normalisation.
        objective: The loss and the penalty.
    """

    margin: float
    shares: Shares
    loss: float
    norm: float
    logit_margin: float
    objective: float


def regularised_optimum(
    group: FiniteGroup, weight: float | int, power: float | int = 3
) -> RegularisedOptimum:
    r"""The optimum of cross-entropy plus `weight` times $\|\theta\|_{2,3}$ to the given `power`.

    Args:
        group: Any finite group.
        weight: $\lambda > 0$. Where it is so large that the zero network is best, that is returned.
        power: $r > 0$; the thesis leaves it open, and 3 is the degree of homogeneity.
    """
    _check(f"regularised_optimum({group})", weight, power)
    table = real_character_table(group)
    problem = SharesProblem(payoff(table), table.sizes[1:])
    unit = margin_unit(group)
    if power == 3:
        return _optimum(problem, problem.solution(weight / unit), unit, weight, 3.0)
    candidates = [
        _optimum(problem, problem.solution(effective), unit, weight, power)
        for effective in _effective_weights(problem, unit, weight, power)
    ]
    zero = _optimum(problem, np.zeros(len(problem.game)), unit, weight, power)
    return min([zero, *candidates], key=lambda optimum: optimum.objective)


def parity_optimum(k: int, weight: float | int) -> RegularisedOptimum:
    r"""The optimum for parities of `k` bits with $\lambda \|\theta\|_{2,k+1}^{k+1}$.

    Every network has mean margin at most $\gamma^* \|\theta\|^{k+1}$, and the logistic loss is
    convex. With $q = \lambda/\gamma^* < \frac12$ the logit margin is $\ln\frac{1-q}{q}$ and the
    loss $-\ln(1 - q)$, with all examples at $\gamma^*$; beyond, the zero network is best.
    """
    _check(f"parity_optimum(k={k})", weight, k + 1)
    best = parity_margin(k)
    q = weight / best
    logit = math.log((1 - q) / q) if q < 0.5 else 0.0
    loss = math.log1p(math.exp(-logit))
    total = logit / best
    return RegularisedOptimum(
        margin=best if total else 0.0,
        shares=np.array([1.0 if total else 0.0]),
        loss=loss,
        norm=total ** (1 / (k + 1)),
        logit_margin=logit,
        objective=loss + weight * total,
    )


def _optimum(
    problem: SharesProblem, x: Shares, unit: float, weight: float | int, power: float | int
) -> RegularisedOptimum:
    """The numbers of a solution x, which is the norm cubed in units of the margin."""
    scaled = float(x.sum())
    total = scaled / unit
    logit = float((x @ problem.game).min())
    loss = problem.loss(x)
    return RegularisedOptimum(
        margin=logit / total if total else 0.0,
        shares=np.concatenate([np.zeros(1), x / scaled if scaled else x]),
        loss=loss,
        norm=total ** (1 / 3),
        logit_margin=logit,
        objective=loss + weight * total ** (power / 3),
    )


def _effective_weights(
    problem: SharesProblem, unit: float, weight: float | int, power: float | int
) -> list[float]:
    r"""The $\mu$ at which the solution for the power 3 is stationary for another power.

    They are roots of $\mu = \frac{\lambda r}{3k} (N(\mu))^{r/3 - 1}$, $N$ the norm cubed of the
    solution at $\mu$, which falls from infinity to 0 as $\mu$ grows.
    """

    @functools.cache
    def excess(log_mu: float) -> float:
        scaled = float(problem.solution(math.exp(log_mu)).sum())
        total = math.log(max(scaled, 1e-300) / unit)
        return log_mu - math.log(weight * power / (3 * unit)) - (power / 3 - 1) * total

    high = math.log(problem.largest) - 1e-9
    # Logit margins of 700 are as far as exponentials go; no weight that is a number needs more.
    value = float((equilibrium(problem.game)[0] @ problem.game).min())
    low = high - 700 * value / float(problem.game.max())
    points = high - np.geomspace(1e-6, high - low, GRID)
    roots = []
    for right, left in itertools.pairwise(points):
        if (excess(float(left)) < 0) != (excess(float(right)) < 0):
            roots.append(
                math.exp(
                    float(scipy.optimize.brentq(excess, float(left), float(right), xtol=1e-12))
                )
            )
    return roots


def _check(owner: str, weight: float | int, power: float | int) -> None:
    """Refuses weights and powers that are not positive."""
    for name, value in (("weight", weight), ("power", power)):
        checks.number(owner, name, value, low=0, what="is positive")
        if value == 0:
            raise ValueError(f"{owner}: {name} is positive; got {value!r}.")
