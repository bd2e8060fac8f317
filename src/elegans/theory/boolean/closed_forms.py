r"""Population gradients of neurons against a parity in closed form, at any number of bits.

For $h(x) = \sigma(\langle w, x \rangle + b)$ and $y = \chi_S(x)$ on fair bits, the gradient of
$\mathbb{E}\,y h$ is $\mathbb{E}[\chi_{S \triangle i}\,\sigma']$ for weight $i$ and
$\mathbb{E}[\chi_S\,\sigma']$ for the bias: $n + 1$ numbers, in this order, from every function
here. They cost $O(n)$ because an exponential factorises over independent bits,

$$\mathbb{E}\,\chi_T\,e^{z} = e^{b} \prod_{j \in T} \sinh w_j \prod_{j \notin T} \cosh w_j,
\qquad z = \langle w, x \rangle + b,$$

with $i w$ and $i b$ in place of $w$ and $b$ for sinusoids, and term by term for polynomials. The
documents give none of these; `gradients` has rectifiers, and gaps of all of them.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num

from elegans import checks

Real = float | int | Float[Array, ""]
Weights = Sequence[float | int] | Num[np.ndarray, " n"] | Float[Array, " n"]
Gradient = Float[np.ndarray, " gradient"] | Float[Array, " gradient"]
PERMANENT_MAX = 16  # rows: 2**16 subsets of columns


class PolyNetGradient(NamedTuple):
    """The correlation of a PolyNet with a parity, and its derivatives by weights and biases."""

    value: float
    weights: Float[np.ndarray, "k n"]
    biases: Float[np.ndarray, " k"]


def sinusoid(w: Weights, b: Real, support: Sequence[int]) -> Gradient:
    r"""$\mathbb{E}[\chi_S x_i \cos z]$ for each $i$, then $\mathbb{E}[\chi_S \cos z]$.

    That is the gradient of a neuron $\sin z$, $z = \langle w, x \rangle + b$; for $\cos z$ add
    $\pi/2$ to $b$. With $T = S \triangle i$,

    $$\mathbb{E}\,\chi_T \cos z = \cos\big(b + \tfrac{\pi}{2} |T|\big)
    \prod_{j \in T} \sin w_j \prod_{j \notin T} \cos w_j.$$

    Args:
        w: The weights; a JAX array inside compiled programs, else computed in float64.
        b: The bias.
        support: The relevant bits.
    """
    weights, inside, xp = prepared("sinusoid", w, support)
    check_bias("sinusoid", b)
    sine, cosine = xp.sin(weights), xp.cos(weights)
    factors = xp.where(inside, sine, cosine)
    toggled = xp.where(inside, cosine, sine)  # the factor of bit i in the product over T
    k = len(support)
    # cos(b + pi m / 2) by quarter turns: no rounding of pi
    turns = xp.stack([xp.cos(b), -xp.sin(b), -xp.cos(b), xp.sin(b)])
    turn = xp.where(inside, turns[(k - 1) % 4], turns[(k + 1) % 4])
    gradient = turn * toggled * products_of_others(factors)
    return xp.concatenate([gradient, (turns[k % 4] * xp.prod(factors))[None]])


def parity_sinusoid(w: Weights, b: Real, support: Sequence[int]) -> Gradient:
    r"""The gradient of the neuron $\cos(\frac{\pi}{2}(z - k))$, which is $\chi_S$ at $w = 1_S$.

    Its derivative is $\frac{\pi}{2} \cos(\frac{\pi}{2}(z - k + 1))$.
    """
    weights, _, _ = prepared("parity_sinusoid", w, support)
    scale = math.pi / 2
    return scale * sinusoid(scale * weights, scale * (b - len(support) + 1), support)


def power(w: Weights, b: Real, support: Sequence[int]) -> Gradient:
    r"""The gradient of the neuron $z^k$, $k = |S|$: $k! \prod_{j \in S \setminus i} w_j$ in $S$.

    It is exactly zero at irrelevant bits and at the bias, because $\sigma'$ has degree $k - 1$, and
    does not depend on $b$.
    """
    weights, inside, xp = prepared("power", w, support)
    others = products_of_others(xp.where(inside, weights, 1.0))
    gradient = math.factorial(len(support)) * xp.where(inside, others, 0.0)
    return xp.concatenate([gradient, xp.zeros_like(gradient[:1])])


def polynomial(
    coefficients: Sequence[float | int],
    w: Sequence[float | int] | Num[np.ndarray, " n"],
    b: float | int,
    support: Sequence[int],
) -> Float[np.ndarray, " gradient"]:
    r"""The gradient of the neuron $\sum_d c_d z^d$, at any degree and any $k$.

    $\mathbb{E}\,\chi_T z^m$ is $m!$ times the coefficient of $t^m$ in
    $e^{tb} \prod_{j \in T} \sinh(t w_j) \prod_{j \notin T} \cosh(t w_j)$, a product of power series
    that are cut off at the degree.

    Args:
        coefficients: $c_0, c_1, \dots$ of the activation, of degree one or more.
        w: The weights.
        b: The bias.
        support: The relevant bits.
    """
    weights, inside, _ = prepared("polynomial", w, support)
    check_bias("polynomial", b)
    checks.whole("polynomial", "degree", len(coefficients) - 1, low=1, what="is that of a neuron")
    slope = np.arange(1, len(coefficients)) * np.asarray(coefficients[1:], np.float64)
    m = np.arange(len(slope))
    factorial = np.array([math.factorial(d) for d in m], np.float64)
    series = weights[:, None] ** m / factorial  # of exp(t w_j)
    sinh, cosh = series * (m % 2 == 1), series * (m % 2 == 0)
    factors = np.where(inside[:, None], sinh, cosh)
    toggled = np.where(inside[:, None], cosh, sinh)
    after = [float(b) ** m / factorial]  # products of the factors of later bits, and of exp(t b)
    for factor in factors[::-1]:
        after.append(cut_product(factor, after[-1]))
    before = np.eye(1, len(m))[0]
    moments = slope * factorial
    gradient = np.empty(len(w) + 1)
    for i in range(len(w)):
        rest = cut_product(before, after[len(w) - 1 - i])
        gradient[i] = moments @ cut_product(toggled[i], rest)
        before = cut_product(before, factors[i])
    gradient[-1] = moments @ after[-1]
    return gradient


def polynet(
    weights: Float[np.ndarray, "forms n"],
    biases: Float[np.ndarray, " biases"],
    support: Sequence[int],
) -> PolyNetGradient:
    r"""The gradient of $f = \prod_{i \le k} (\langle w_i, x \rangle + b_i)$ against $\chi_S$.

    $\mathbb{E}\,\chi_S f$ is the permanent of the $k \times k$ matrix of relevant weights, and its
    derivative by $w_{i,a}$, $a \in S$, that of the minor without row $i$ and column $a$. All other
    derivatives vanish: what remains of $f$ has degree $k - 1$, too little for $\chi_{S \cup a}$
    or $\chi_S$. So irrelevant weights have no drift, and the Fourier gap is never the obstacle.
    """
    k, n = weights.shape
    owner = f"polynet(forms={k}, n={n})"
    checks.support(owner, n, len(support), support)
    if len(support) != k or len(biases) != k:
        raise ValueError(
            f"{owner}: there is a linear form and a bias for each relevant bit; got "
            f"{len(support)} relevant bits and {len(biases)} biases."
        )
    relevant = np.asarray(weights, np.float64)[:, list(support)]
    gradient = np.zeros((k, n))
    for i in range(k):
        for place, a in enumerate(support):
            minor = np.delete(np.delete(relevant, i, axis=0), place, axis=1)
            gradient[i, a] = permanent(minor)
    return PolyNetGradient(permanent(relevant), gradient, np.zeros(k))


def permanent(matrix: Float[np.ndarray, "rows columns"]) -> float:
    r"""$\sum_\pi \prod_i a_{i, \pi(i)}$, row by row over the sets of columns already used."""
    k = len(matrix)
    checks.whole("permanent", "rows", k, low=0, high=PERMANENT_MAX, what="is enumerated")
    if matrix.shape != (k, k):
        raise ValueError(f"permanent: the matrix is square; got {matrix.shape}.")
    sets = np.arange(2**k)
    partial = (sets == 0).astype(np.float64)
    for row in matrix:
        extended = np.zeros(2**k)
        for j, entry in enumerate(row):
            free = sets[sets >> j & 1 == 0]
            extended[free | 1 << j] += partial[free] * entry
        partial = extended
    return float(partial[-1])


def prepared(owner: str, w: Weights, support: Sequence[int]) -> tuple[Any, np.ndarray, Any]:
    """The weights as an array, which of them are relevant, and the array's own library."""
    is_jax = isinstance(w, jax.Array)
    weights: Any = w if is_jax else np.asarray(w, np.float64)
    if weights.ndim != 1:
        raise ValueError(f"{owner}: w holds n weights, one per bit; its shape is {weights.shape}.")
    if not is_jax and not np.isfinite(weights).all():
        raise ValueError(f"{owner}(n={len(weights)}): weights are finite; got {weights.tolist()}.")
    checks.support(f"{owner}(n={len(weights)})", len(weights), len(support), support)
    inside = np.zeros(len(weights), bool)
    inside[list(support)] = True
    return weights, inside, jnp if is_jax else np


def check_bias(owner: str, b: Real) -> None:
    """Refuses anything but one finite number; tracers of one pass."""
    if np.ndim(b):
        raise ValueError(f"{owner}: b is the bias, one number; its shape is {np.shape(b)}.")
    checks.number(owner, "b", b, what="is the bias")


def products_of_others(factors: Any) -> Any:
    """The product of all factors but one, for each one; zeros among them do no harm."""
    xp = np if isinstance(factors, np.ndarray) else jnp
    one = xp.ones_like(factors[:1])
    before = xp.concatenate([one, xp.cumprod(factors)[:-1]])
    after = xp.concatenate([one, xp.cumprod(factors[::-1])[:-1]])[::-1]
    return before * after


def cut_product(
    first: Float[np.ndarray, " terms"], second: Float[np.ndarray, " terms"]
) -> Float[np.ndarray, " terms"]:
    """The product of two power series, cut off after as many terms."""
    return np.convolve(first, second)[: len(first)]
