r"""From covering numbers to a generalisation gap.

Dudley's integral bounds the empirical Rademacher complexity of functions with $|f| \le A$:

$$\hat{\mathcal{R}} \le \inf_{\delta} \Big(4\delta + 12 \int_\delta^A \sqrt{\ln
\mathcal{N}_\infty(\epsilon)/m}\; d\epsilon\Big),$$

and with probability $1 - \delta$ the risk and the empirical risk of a $b$-bounded, $L$-Lipschitz
loss differ by at most $2L\hat{\mathcal{R}} + 3b\sqrt{\ln(4/\delta)/(2m)}$ for all functions. (The
document leaves the constant of the integral open, and prints $4L\hat{\mathcal{R}} +
2b\sqrt{\ln(1/\delta)/(2m)}$.) Covers hold $\ln m$ and $\ln(1/\epsilon)$, so the integral is
computed numerically, in $\ln \epsilon$, where $\epsilon \sqrt{\ln\mathcal{N}(\epsilon)}$ is nearly
constant.

Nothing is cut at what is trivial for a loss: a gap of 40 says that a bound is vacuous. The
complexity is cut at $A$, which is always a bound.
"""

import math
from collections.abc import Callable

import numpy as np

from elegans import checks

Real = float | int
SampleCover = Callable[[int, float], float]  # ln N on so many examples at a radius
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)  # in the logarithm of the radius
SMALLEST = 1e-12  # times A: the least radius that is looked at
SAMPLES_MAX = 2**80


def dudley(cover: SampleCover, m: int, A: Real = 1.0) -> float:
    r"""The bound on the Rademacher complexity; `cover(m, eps)` is $\ln \mathcal{N}_\infty$.

    The infimum is where $4 = 12\sqrt{\ln\mathcal{N}(\delta)/m}$, found by bisection since covers
    fall with the radius.
    """
    owner = f"dudley(m={m}, A={A})"
    checks.whole(owner, "m", m, low=1, what="counts the examples")
    checks.number(owner, "A", A, low=0, what="bounds the functions")
    if A == 0:
        return 0.0

    def root(eps: float) -> float:
        return math.sqrt(cover(m, eps) / m)

    low, high = math.log(SMALLEST * A), math.log(A)
    if root(math.exp(high)) >= 1 / 3:
        return float(A)  # 4A is the value of the bound, and A is always one
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if root(math.exp(middle)) > 1 / 3 else (low, middle)
    half = (math.log(A) - high) / 2
    radii = np.exp(high + half * (1 + NODES))
    integral = half * float(WEIGHTS @ [radius * root(float(radius)) for radius in radii])
    return min(float(A), 4 * math.exp(high) + 12 * integral)


def inverse_square_dudley(
    C: Real, m: int, A: Real = 1.0, *, constant: Real = 1.0, printed: bool = False
) -> float:
    r"""The bound for $\ln \mathcal{N} = C/\epsilon^2$ in closed form.

    $12 \sqrt{C/m}\,(1 + \ln(\frac A3 \sqrt{m/C}))$ for $9C/m \le A^2$, and $A$ where that is less.
    As printed (corollary A.3): $c \sqrt{C/m}\,(1 + \ln(A\sqrt{m/C}))$, which for $C/m > A^2$ falls
    with $C$ and turns negative.
    """
    checks.number("inverse_square_dudley", "C", C, low=0, what="is the capacity")
    if C == 0:
        return 0.0
    rate = math.sqrt(C / m)
    if printed:
        return constant * rate * (1 + math.log(A / rate))
    return float(A) if 3 * rate >= A else min(A, 12 * rate * (1 + math.log(A / (3 * rate))))


def generalisation(
    cover: SampleCover,
    m: int,
    *,
    A: Real = 1.0,
    L: Real = 1.0,
    b: Real = 1.0,
    delta: Real = 0.05,
    printed: bool = False,
) -> float:
    """A bound on the gap between risk and empirical risk that holds for all functions at once.

    Args:
        cover: `cover(m, eps)` is the logarithm of the covering number on m examples.
        m: Number of examples.
        A: Bound on the functions.
        L: Lipschitz constant of the loss.
        b: Bound on the loss.
        delta: Probability that the bound does not hold.
        printed: With the constants of theorem A.4.
    """
    owner = f"generalisation(m={m}, A={A}, L={L}, b={b}, delta={delta})"
    checks.number(owner, "L", L, low=0, what="is a Lipschitz constant")
    checks.number(owner, "b", b, low=0, what="bounds the loss")
    checks.number(owner, "delta", delta, low=0, high=1, what="is a probability")
    if delta == 0:
        raise ValueError(f"{owner}: delta is the probability of an exception, so it is positive.")
    complexity = dudley(cover, m, A)
    if printed:
        return 4 * L * complexity + 2 * b * math.sqrt(math.log(1 / delta) / (2 * m))
    return 2 * L * complexity + 3 * b * math.sqrt(math.log(4 / delta) / (2 * m))


def samples_for(
    gap: Real,
    cover: SampleCover,
    *,
    A: Real = 1.0,
    L: Real = 1.0,
    b: Real = 1.0,
    delta: Real = 0.05,
) -> int:
    """The number of examples at which the bound on the gap falls to `gap`, to one part in 1000."""
    checks.number("samples_for", "gap", gap, what="is the gap to be reached")
    if not gap > 0:
        raise ValueError(f"samples_for: gap is positive, as the bound always is; got {gap!r}.")

    def is_enough(m: int) -> bool:
        return generalisation(cover, m, A=A, L=L, b=b, delta=delta) <= gap

    high = 1
    while not is_enough(high):
        high *= 2
        if high > SAMPLES_MAX:
            raise ValueError(
                f"samples_for(gap={gap}): the bound is still above the gap at 2**80 examples."
            )
    low = high // 2
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
