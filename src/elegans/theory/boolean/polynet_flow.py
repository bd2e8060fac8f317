r"""Gradient flow on disjoint PolyNets: exact times, bounds, blow-up.

$f = \prod_{i \le k} \langle w_i, x_{P_i} \rangle$ on $k$ blocks of $n' = n/k$ bits, one of them
relevant, under the correlation loss. Irrelevant weights stay where they are; the relevant ones obey
$\dot v_i = \prod_{j \ne i} v_j$, so that $\frac{d}{dt} v_i^2 = 2 \prod_j v_j$ is the same for all
$i$, and $q = v_i(t)^2 - v_i(0)^2$ is one number that says where the flow is. While the product is
positive, which it stays,

$$t(q) = \frac12 \int_0^q \prod_i (y + v_i(0)^2)^{-1/2}\,dy.$$

If it is negative, every $v_i^2$ falls at one rate until the smallest is zero. If that one is alone
it changes its sign and the flow escapes, as it does from almost every Gaussian start; equal ones
tend to zero together and never do. The documents treat the positive product only.

References: Barak et al. (2022), Hidden progress, lemma B.8.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Num
from scipy import integrate, optimize

Start = Sequence[float | int] | Num[np.ndarray, " k"] | Float[Array, " k"]
Squares = Float[np.ndarray, " k"]
RELATIVE_ERROR = 1e-13
TIE = 1e-12  # squares that agree up to this share of the largest are taken as equal


class TimeBounds(NamedTuple):
    """A time that the flow needs at least, and one that is enough."""

    low: float
    high: float


def flow_time(v0: Start, q: float | int) -> float:
    r"""The time at which every $v_i^2$ has grown by `q`; infinite `q` is the blow-up.

    Args:
        v0: The relevant weights at the start, of positive product.
        q: How much the squares have grown.
    """
    v0, squares = checked("flow_time", v0)
    if np.prod(np.sign(v0)) <= 0:
        raise ValueError(
            f"flow_time: the product of v0 is positive, so that the squares grow; got "
            f"{v0.tolist()}. See crossing_time for how long a negative product lasts."
        )
    if not q >= 0:
        raise ValueError(f"flow_time: q is what the squares have grown by, 0 or more; got {q!r}.")
    return growth_time(squares, float(q))


def crossing_time(v0: Start) -> float:
    """The time until the product of the relevant weights is positive: 0 if it is.

    Infinite if the two smallest weights are equal in size: they tend to zero together.
    """
    v0, squares = checked("crossing_time", v0)
    squares = np.sort(squares)
    if np.prod(np.sign(v0)) > 0:
        return 0.0
    if len(v0) > 1 and squares[1] - squares[0] <= TIE * squares[-1]:
        return math.inf
    return growth_time(squares - squares[0], float(squares[0]))  # time runs the other way


def blow_up(v0: Start) -> float:
    """The time at which the relevant weights are infinite; infinite for fewer than three blocks."""
    v0, squares = checked("blow_up", v0)
    if np.prod(np.sign(v0)) > 0:
        return growth_time(squares, math.inf)
    crossing = crossing_time(v0)
    if math.isinf(crossing):
        return math.inf
    return crossing + growth_time(squares - squares.min(), math.inf)


def flow(v0: Start, time: float | int) -> Float[np.ndarray, " k"]:
    """The relevant weights at a time before the blow-up, for any start."""
    v0, squares = checked("flow", v0)
    end = blow_up(v0)
    if not 0 <= time < end:
        raise ValueError(
            f"flow: the time is 0 or more and before the blow-up at {end:g}; got {time!r}."
        )
    sign = np.where(v0 < 0, -1.0, 1.0)
    if np.prod(np.sign(v0)) > 0:
        return sign * np.sqrt(squares + growth(squares, float(time)))
    # The way down to the crossing is the way up from it, backwards.
    crossing, lowest = crossing_time(v0), squares - squares.min()
    if math.isinf(crossing):
        return sign * np.sqrt(decay(squares, float(time)))
    if time < crossing:
        return sign * np.sqrt(lowest + growth(lowest, crossing - float(time)))
    smallest = int(np.argmin(squares))
    sign[smallest] = np.prod(np.delete(sign, smallest))
    return sign * np.sqrt(lowest + growth(lowest, float(time) - crossing))


def time_bounds(v0: Start, q: float | int) -> TimeBounds:
    r"""Lemma B.8: bounds of `flow_time` from the means $A$ and $G$ of the squares at the start.

    $(y + G)^k \le \prod (y + v_i^2) \le (y + A)^k$ with the arithmetic and the geometric mean, so
    $\frac{1}{k-2}(A^{1-k/2} - (q + A)^{1-k/2}) \le t(q) \le \frac{1}{k-2}(G^{1-k/2} - (q +
    G)^{1-k/2})$, logarithms at $k = 2$. With infinite `q` they bound the blow-up; the document
    prints its upper bound $G^{1-k/2}/(k-2)$ once with the wrong sign of the exponent.
    """
    v0, squares = checked("time_bounds", v0)
    if np.prod(np.sign(v0)) <= 0:
        raise ValueError(f"time_bounds: the product of v0 is positive; got {v0.tolist()}.")
    geometric = math.exp(float(np.log(squares).mean()))
    return TimeBounds(
        equal_time(float(squares.mean()), len(v0), float(q)),
        equal_time(geometric, len(v0), float(q)),
    )


def equal_time(square: float, k: int, q: float | int) -> float:
    """The time to grow by `q` if all squares are equal, in closed form."""
    if math.isinf(q):
        return square ** (1 - k / 2) / (k - 2) if k > 2 else math.inf
    if k == 2:
        return math.log1p(q / square) / 2
    # -expm1(log) instead of a difference, which loses digits for small q
    shrunk = -math.expm1((1 - k / 2) * math.log1p(q / square))
    return square ** (1 - k / 2) * shrunk / (k - 2)


def growth_time(squares: Squares, q: float) -> float:
    """The integral of the module's docstring, scale by scale; at most one square is zero."""
    if q == 0:
        return 0.0
    k = len(squares)
    if math.isinf(q) and k < 3:
        return math.inf

    def speed(y: float) -> float:
        return 0.5 * float(np.prod((y + squares) ** -0.5))

    positive = np.unique(squares[squares > 0])
    first = min(float(positive[0]) if len(positive) else q, q)
    # y = u**2 takes out the root of a square that is zero
    total = quadrature(lambda u: 2 * u * speed(u * u), 0.0, first**0.5)
    last = first
    for edge in [*(float(a) for a in positive[1:] if a < q), q]:
        if edge < math.inf:  # y = exp(s): squares may differ by many orders of magnitude
            total += quadrature(
                lambda s: math.exp(s) * speed(math.exp(s)), math.log(last), math.log(edge)
            )
            last = edge
    if math.isinf(q):  # y = last / u**2; the integrand is a multiple of u**(k - 3) near zero
        scale = last ** (1 - k / 2)
        shape = squares / last
        return total + scale * quadrature(
            lambda u: u ** (k - 3) * float(np.prod((1 + u * u * shape) ** -0.5)), 0.0, 1.0
        )
    return total


def quadrature(f: Callable[[float], float], low: float, high: float) -> float:
    """The integral of a smooth function, nearly to the last digit."""
    if high <= low:
        return 0.0
    return float(integrate.quad(f, low, high, epsabs=0.0, epsrel=RELATIVE_ERROR, limit=200)[0])


def growth(squares: Squares, time: float) -> float:
    """The inverse of `growth_time`: how much the squares have grown at a time."""
    if time == 0:
        return 0.0

    def excess(log_q: float) -> float:
        return growth_time(squares, math.exp(log_q)) - time

    low = high = math.log(float(squares.max())) if squares.max() > 0 else 0.0
    while excess(low) > 0:
        low -= 4.0
    while excess(high) < 0:
        high += 4.0
    return math.exp(optimize.brentq(excess, low, high, xtol=1e-14, rtol=1e-15))


def decay(squares: Squares, time: float) -> Float[np.ndarray, " k"]:
    """The squares at a time, if the product is negative and the smallest ones are equal."""

    def rate(_: float, loss: np.ndarray) -> np.ndarray:
        return 2 * np.sqrt(np.prod(np.maximum(squares - loss, 0.0), keepdims=True))

    path = integrate.solve_ivp(rate, (0.0, time), [0.0], method="DOP853", rtol=1e-12, atol=1e-14)
    return np.maximum(squares - float(path.y[0, -1]), 0.0)


def checked(owner: str, v0: Start) -> tuple[Float[np.ndarray, " k"], Squares]:
    """The start as an array, and its squares; refuses what is not a start."""
    start = np.asarray(v0, np.float64)
    if start.ndim != 1 or not len(start) or not np.isfinite(start).all():
        raise ValueError(f"{owner}: v0 has a finite relevant weight for each block; got {v0!r}.")
    return start, start**2
