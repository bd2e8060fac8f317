r"""Disjoint PolyNets: exact error, the plateau of gradient flow, and what SGD is prescribed.

In block $i$ of $n' = n/k$ bits, $v_i$ is the relevant weight and $u_i$ the $n' - 1$ others. With
$z$ uniform signs, $p_i = \Pr[\langle u_i, z \rangle > |v_i|]$ and $o_i = \Pr[\langle u_i, z \rangle
= |v_i|]$, block $i$ has the wrong sign with probability $p_i$ and is zero with probability $o_i$,
independently of the others. A prediction of zero counts as an error, so for $\prod_i v_i > 0$

$$\mathrm{err} = 1 - \frac12 \prod_i (1 - o_i) - \frac12 \prod_i (1 - o_i - 2 p_i).$$

The flow is in `polynet_flow`. What is corrected here: both bounds of lemma B.9 and, with them, the
constants of corollary B.10 and theorem 5.8.

References: Barak et al. (2022), Hidden progress, theorems 5.7 and 5.8, appendix B.2.3 and B.2.4.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import optimize, special

from elegans import checks
from elegans.theory.boolean.polynet_flow import blow_up as blow_up
from elegans.theory.boolean.polynet_flow import crossing_time as crossing_time
from elegans.theory.boolean.polynet_flow import equal_time
from elegans.theory.boolean.polynet_flow import flow as flow
from elegans.theory.boolean.polynet_flow import flow_time as flow_time
from elegans.theory.boolean.polynet_flow import time_bounds as time_bounds

BERRY_ESSEEN = 0.56  # for sums of independent variables with different laws
ENUMERATED_MAX = 22  # irrelevant weights of a block
SGD_CONSTANT = 12.0
SGD_PRINTED = 6.0
Relevant = Float[np.ndarray, " k"]
Irrelevant = Float[np.ndarray, "k rest"]


class ErrorBounds(NamedTuple):
    """An error that is reached at least, and one that is not exceeded."""

    low: float
    high: float


def error(v: Relevant, u: Irrelevant, *, normal: bool = False) -> float:
    r"""The probability that the sign of $f$ is not the parity, zero being no sign.

    Args:
        v: The relevant weights.
        u: The irrelevant weights of each block.
        normal: Take $\langle u_i, z \rangle$ as normal instead of counting signs, which needs
            weights of one size or at most 22 of them.
    """
    check_blocks("error", v, u)
    wrong, zero = np.array([tail(abs(a), row, normal) for a, row in zip(v, u, strict=True)]).T
    surplus = np.prod(np.where(v < 0, -1.0, 1.0)) * np.prod(1 - zero - 2 * wrong)
    return float(1 - (np.prod(1 - zero) + surplus) / 2)


def tail(a: float, u: Float[np.ndarray, " rest"], normal: bool = False) -> tuple[float, float]:
    r"""$\Pr[\langle u, z \rangle > a]$ and $\Pr[\langle u, z \rangle = a]$ for $a \ge 0$."""
    size = np.abs(u[u != 0])
    m = len(size)
    if m == 0:
        return 0.0, float(a == 0)
    if normal:
        return float(special.erfc(a / (np.linalg.norm(size) * math.sqrt(2)))) / 2, 0.0
    if np.allclose(size, size[0], rtol=1e-12, atol=0):
        count = (a / size[0] + m) / 2  # of positive signs, at equality
        nearest = round(count)
        if abs(count - nearest) > 1e-9:
            return float(special.bdtrc(math.floor(count), m, 0.5)) if count < m else 0.0, 0.0
        if nearest > m:
            return 0.0, 0.0
        more = float(special.bdtrc(nearest, m, 0.5)) if nearest < m else 0.0
        return more, float(special.bdtrc(nearest - 1, m, 0.5)) - more
    if m > ENUMERATED_MAX:
        raise ValueError(
            f"error: blocks of {m} irrelevant weights of different sizes are too long to "
            f"enumerate, which is done up to {ENUMERATED_MAX}. Use normal=True."
        )
    sums = np.zeros(1)
    for weight in size:
        sums = np.concatenate([sums + weight, sums - weight])
    ties = np.abs(sums - a) <= 1e-12 * (size.sum() + a)
    return float(((sums > a) & ~ties).mean()), float(ties.mean())


def error_bounds(v: Relevant, u: Irrelevant, *, printed: bool = False) -> ErrorBounds:
    r"""Lemma B.9, for $\prod_i v_i > 0$: bounds of the error from norms alone.

    $$\tfrac12 - \tfrac12 \prod_i \min\Big(1, \mathrm{erf}\tfrac{|v_i|}{\|u_i\|_2 \sqrt 2} +
    \tfrac{2c \|u_i\|_\infty}{\|u_i\|_2}\Big) \le \mathrm{err} \le
    \sum_i \exp\Big({-\tfrac{v_i^2}{2 \|u_i\|_2^2}}\Big), \qquad c = 0.56.$$

    `printed` has $c \|u\|_\infty / \|u\|_2^3$, which is not even invariant under scaling; the
    Berry-Esseen term is $\|u\|_\infty / \|u\|_2$, and an interval has two ends. It has $2 \sum
    \exp(-v_i^2 / \|u_i\|_2^2)$, where Hoeffding's inequality has $2 \|u_i\|_2^2$; its factor 2 is
    not needed, as a wrong sign and a zero are one event, $\langle u_i, z \rangle \ge |v_i|$.
    """
    check_blocks("error_bounds", v, u)
    if np.prod(np.sign(v)) <= 0:
        raise ValueError(f"error_bounds: the product of v is positive; got {v.tolist()}.")
    norm, largest = np.linalg.norm(u, axis=1), np.abs(u).max(axis=1)
    inside = special.erf(np.abs(v) / (norm * math.sqrt(2)))
    if printed:
        low = 0.5 - 0.5 * np.prod(inside + BERRY_ESSEEN * largest / norm**3)
        return ErrorBounds(float(low), float(2 * np.exp(-(v**2) / norm**2).sum()))
    inside = np.minimum(1.0, inside + 2 * BERRY_ESSEEN * largest / norm)
    high = min(1.0, float(np.exp(-(v**2) / (2 * norm**2)).sum()))
    return ErrorBounds(float(0.5 - 0.5 * np.prod(inside)), high)


def plateau(n: int, k: int, gamma: float) -> float:
    r"""The share of the time to zero error that flow spends with error above $\frac12 - \gamma$.

    Exact, for weights that start at $\pm 1$ with $\prod v_i > 0$: $T(\frac12 - \gamma) / T(0)$ with
    $T(\epsilon)$ the first time $t > 0$ of error at most $\epsilon$. (The document takes the last
    time of error at least $\epsilon$, infinite at 0.) All $|v_i|$ are one number that grows from 1,
    and the error falls whenever it passes a value that sums of $n' - 1$ signs have, until $|v| >
    n' - 1$. At time 0 itself $f = 0$ has positive probability if $n'$ is even.
    """
    block = check_plateau("plateau", n, k, gamma)
    sums = np.arange(block - 1, -1, -2)[::-1]  # what a sum of signs can be, from below
    for level in [1, *(int(s) for s in sums[sums > 1])]:
        wrong, _ = tail(float(level), np.ones(block - 1))
        # Just above `level` the sums that equal it are decided rightly, and nothing is zero.
        if 0.5 - 0.5 * (1 - 2 * wrong) ** k <= 0.5 - gamma:
            return equal_time(1.0, k, level**2 - 1) / equal_time(1.0, k, (block - 1) ** 2 - 1)
    raise AssertionError("above n' - 1 there is no error")


def plateau_bound(n: int, k: int, gamma: float) -> float:
    r"""Corollary B.10 with its constants: `plateau` is at least $1 - b^{2-k}$, or 0.

    By the lower bound of lemma B.9 and $\mathrm{erf}(z) \le 2z/\sqrt\pi$ the error is above
    $\frac12 - \gamma$ while $|v| < b = \sqrt{\pi/2}\,((2\gamma)^{1/k} \sqrt{n'-1} - 2c)$, so
    $1 - O(n'^{1-k/2} \gamma^{2/k-1})$; and $T(0)$ is below the blow-up.
    """
    block = check_plateau("plateau_bound", n, k, gamma)
    reach = (2 * gamma) ** (1 / k) * math.sqrt(block - 1) - 2 * BERRY_ESSEEN
    b = math.sqrt(math.pi / 2) * reach
    return 1 - b ** (2 - k) if b > 1 else 0.0


def plateau_share(v0: Relevant, u: Irrelevant, gamma: float, *, normal: bool = False) -> float:
    r"""`plateau` for any start with $\prod v_i > 0$: theorem 5.7 is about Gaussian ones.

    The error is zero once $|v_i| > \|u_i\|_1$ in every block, shortly before the blow-up.
    """
    check_blocks("plateau_share", v0, u)
    checks.number("plateau_share", "gamma", gamma, low=0.0, high=0.5, what="is below one half")
    end = float((np.abs(u).sum(axis=1) ** 2 - v0**2).max())
    total = flow_time(v0, max(end, 0.0))
    if total == 0 or error(v0, u, normal=normal) <= 0.5 - gamma:
        return 0.0

    def excess(log_q: float) -> float:
        v = np.sign(v0) * np.sqrt(v0**2 + math.exp(log_q))
        return error(v, u, normal=normal) - (0.5 - gamma)

    low = math.log(end) - 60.0
    if excess(low) <= 0:
        return 0.0
    if excess(math.log(end)) > 0:  # the normal law has a tail beyond the longest sum
        return 1.0
    crossing = optimize.bisect(excess, low, math.log(end), xtol=1e-10)
    return flow_time(v0, math.exp(crossing)) / total


def sgd_steps(
    n: int, k: int, epsilon: float, delta: float = 0.01, *, constant: float | int = SGD_CONSTANT
) -> int:
    r"""Theorem 5.8: steps of SGD at rate `sgd_rate` to error `epsilon`, from a sign start.

    The least $T \ge c \log\frac{2nT}{\delta} \log\frac{2k}{\epsilon} (3n' - 2)^{2k-1}$. With
    probability $1 - \delta$ over the samples, if $\prod v_i > 0$ at the start (half of the starts),
    irrelevant weights stay below $\frac32$ and relevant ones end above $\frac12 +
    (3n'-2)^{1-k} \sqrt{T / 8L}$, $L = \log\frac{2nT}{\delta}$.

    The document prints $c = 6$ (`SGD_PRINTED`), with the exponent of lemma B.9 that is twice too
    large; with the right one $c = 12$ is proved. Its rate stands, though the step "increments up to
    $1/\sqrt{2TL}$, so the sum exceeds $\frac12$ with probability $\delta/nT$" needs Azuma's
    inequality for increments whose *range* has that length: by their size alone it would be
    $2 e^{-L/4}$. Its claim B.12 holds at the end, $t = T + 1$; before it, $\sqrt{t - 1}$ is
    $t / \sqrt T$.
    """
    block = check_disjoint("sgd_steps", n, k)
    checks.number("sgd_steps", "epsilon", epsilon, low=1e-300, high=0.5, what="is an error")
    checks.number("sgd_steps", "delta", delta, low=1e-300, high=1.0, what="is a probability")
    scale = constant * math.log(2 * k / epsilon) * (3 * block - 2) ** (2 * k - 1)
    steps = scale
    for _ in range(200):  # increases to the fixed point
        steps = scale * math.log(2 * n * max(steps, 1.0) / delta)
    return math.ceil(steps)


def sgd_rate(weights: Float[np.ndarray, "k block"], steps: int, delta: float = 0.01) -> Relevant:
    r"""Theorem 5.8's rate of each block: $1 / (2 \sqrt{2TL} \prod_{l \ne i} \|w_l\|_1)$."""
    checks.whole("sgd_rate", "steps", steps, low=1, what="counts the steps")
    norms = np.abs(weights).sum(axis=1)
    log = math.log(2 * weights.size * steps / delta)
    return norms / norms.prod() / (2 * math.sqrt(2 * steps * log))


def check_blocks(owner: str, v: Relevant, u: Irrelevant) -> None:
    """Refuses weights that are not one relevant and several irrelevant ones per block."""
    if u.ndim != 2 or v.ndim != 1 or len(v) != len(u) or not u.shape[1]:
        raise ValueError(
            f"{owner}: v has a weight per block and u a row of irrelevant ones; got shapes "
            f"{v.shape} and {u.shape}."
        )


def check_plateau(owner: str, n: int, k: int, gamma: float) -> int:
    """The length of a block; refuses what theorem 5.7 is not about."""
    block = check_disjoint(owner, n, k)
    if k < 3 or block < 3:
        raise ValueError(
            f"{owner}(n={n}, k={k}): the theorem is for k of 3 or more, as growth is exponential "
            "below, and blocks of 3 bits or more."
        )
    if not 0 < gamma < 0.5:
        raise ValueError(f"{owner}(n={n}, k={k}): gamma lies between 0 and 1/2; got {gamma!r}.")
    return block


def check_disjoint(owner: str, n: int, k: int) -> int:
    """The length of a block; refuses what does not divide."""
    checks.whole(f"{owner}(n={n}, k={k})", "k", k, low=1, high=n, what="counts the blocks")
    if n % k:
        raise ValueError(
            f"{owner}(n={n}, k={k}): the blocks are equal, so k divides n; {n % k} left over."
        )
    return n // k
