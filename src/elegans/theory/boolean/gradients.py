r"""The population gradient of one neuron against a parity, and the gap that gives the parity away.

For $h(x) = \sigma(\langle w, x \rangle + b)$ and $y = \chi_S(x)$ on fair bits,

$$g_i = \mathbb{E}\,\chi_S(x)\,\partial_{w_i} h(x) = \widehat{\sigma'}(S \triangle \{i\}), \qquad
\sigma' = \sigma'(\langle w, x \rangle + b),$$

a coefficient of order $k - 1$ at relevant bits and $k + 1$ at others. The gradient of the
correlation loss $-y h$ is $-g$. A rectifier has $\sigma'(0) = 0$, as in JAX and in the documents.
Labels that are flipped with probability $p$ multiply every gradient and gap by $1 - 2p$. Sinusoids,
powers and PolyNets have gradients in closed form (`closed_forms`).

References: Edelman et al. (2023), Pareto frontiers, lemmas 8, 9, 18, 19, 20; Barak et al. (2022),
Hidden progress, definition 5.4, lemma B.3, proposition B.7, appendix B.3.1.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.cube import character, drawn_signs
from elegans.statistics import hoeffding_radius, hoeffding_samples
from elegans.theory.boolean import fourier, majority
from elegans.theory.boolean.closed_forms import parity_sinusoid as parity_sinusoid
from elegans.theory.boolean.closed_forms import polynet as polynet
from elegans.theory.boolean.closed_forms import polynomial as polynomial
from elegans.theory.boolean.closed_forms import power as power
from elegans.theory.boolean.closed_forms import sinusoid as sinusoid

Derivative = Callable[[Float[np.ndarray, " size"]], np.ndarray]
Real = float | int
ENUMERATED_MAX = 22
DERIVATIVES: dict[str, Derivative] = {
    "relu": lambda z: (z > 0).astype(np.float64),
    "sin": np.cos,
    "tanh": lambda z: 1 / np.cosh(z) ** 2,
}


class SampledGradient(NamedTuple):
    """A gradient over samples, and a radius that holds in all coordinates at once."""

    gradient: Float[np.ndarray, " n"]
    radius: float


def population(
    w: Float[np.ndarray, " n"],
    support: tuple[int, ...],
    *,
    bias: Real = 0.0,
    activation: str | Derivative = "relu",
) -> Float[np.ndarray, " n"]:
    """The exact gradient: closed forms for "sin" and beyond n = 22, else by enumeration.

    Args:
        w: The neuron's vector.
        support: The relevant bits.
        bias: The neuron's bias.
        activation: "relu", "sin", "tanh", or the derivative of another one as a function.

    Raises:
        ValueError: If `w` is too long to enumerate and no closed form is known for it.
    """
    if activation == "sin":
        return np.asarray(sinusoid(w, float(bias), support)[:-1])
    if len(w) <= ENUMERATED_MAX:
        return enumerated(w, support, bias=bias, activation=activation)
    if activation != "relu":
        raise ValueError(
            f"population(n={len(w)}): beyond n = {ENUMERATED_MAX} there are closed forms for relu "
            "and sin alone. Use sampled(w, support, samples), or polynomial and power."
        )
    return closed_form(w, support, bias=bias)


def enumerated(
    w: Float[np.ndarray, " n"],
    support: tuple[int, ...],
    *,
    bias: Real = 0.0,
    activation: str | Derivative = "relu",
) -> Float[np.ndarray, " n"]:
    """The gradient as a sum over all 2**n inputs."""
    n = len(w)
    checks.support("gradient", n, len(support), support)
    if n > ENUMERATED_MAX:
        raise ValueError(f"enumerated: n is at most {ENUMERATED_MAX}, 2**{n} inputs are too many.")
    z = np.array([float(bias)])
    chi = np.ones(1)
    for i in range(n):
        z = np.concatenate([z + w[i], z - w[i]])
        chi = np.concatenate([chi, -chi if i in support else chi])
    z[np.abs(z) <= 1e-12 * (np.abs(w).sum() + abs(bias))] = 0.0  # a tie, up to rounding
    product = chi * derivative(activation)(z)
    gradient = np.empty(n)
    for i in range(n):  # folding out one bit at a time takes 2**(n + 1) steps in all
        pairs = product.reshape(-1, 2)
        gradient[i] = (pairs[:, 0] - pairs[:, 1]).sum()
        product = pairs.sum(axis=1)
    return gradient / 2**n


def closed_form(
    w: Float[np.ndarray, " n"], support: tuple[int, ...], *, bias: Real = 0.0
) -> Float[np.ndarray, " n"]:
    r"""The gradient of a rectifier from majority's coefficients, for any `n`.

    Up to signs and scale, `w` is one on a set $A$ of $s$ bits and $\epsilon$, perhaps 0, on the
    others: all signs (lemma B.3), $s$-sparse (lemmas 8 and 9), perturbed (lemmas 18, 19, 20). With
    $T = S \triangle \{i\}$, $U = T \cap A$, $V = T \setminus A$, and small weights that decide
    ties alone,

    $$g_i = \chi_T(\mathrm{sign}\,w) \tfrac12 \Big( [V = \emptyset] (\widehat{\mathrm{Maj}}_s(U) +
    [U = \emptyset]) + \widehat{\mathrm{Half}}_s(U) (\widehat{\mathrm{Maj}}_{n-s}(V) +
    [V = \emptyset]) \Big).$$

    Ties that remain go by the sign of the bias; for even $k$ they cancel, as $T$ is odd. This holds
    for all parities of $s$, $k$ and $n$, and the lemmas are its cases.

    Raises:
        ValueError: If `w` has other values, or `bias` is so large that it decides more than ties.
    """
    n = len(w)
    checks.support("gradient", n, len(support), support)
    ones, epsilon, b = two_values(w, float(bias))
    sign = np.where(w < 0, -1.0, 1.0)
    tie = 1.0 if b > 0 else -1.0
    s = int(ones.sum())
    gradient = np.zeros(n)
    relevant = np.zeros(n, bool)
    relevant[list(support)] = True
    cache: dict[tuple[int, int], float] = {}
    for i in range(n):
        chosen = relevant.copy()
        chosen[i] = not chosen[i]
        if epsilon == 0 and (chosen & ~ones).any():
            continue  # the neuron does not see this bit
        sizes = int((chosen & ones).sum()), int((chosen & ~ones).sum())
        if sizes not in cache:
            cache[sizes] = threshold_coefficient(s, n - s, *sizes, tie=tie, tied=epsilon == 0)
        gradient[i] = cache[sizes] * sign[chosen].prod()
    return gradient


def threshold_coefficient(s: int, rest: int, u: int, v: int, *, tie: float, tied: bool) -> float:
    """The coefficient of the threshold function at u large and v small weights."""
    if tied:  # the small weights are zero, and ties go by the bias
        return (majority.coefficient(s, u, ties=tie) + (u == 0)) / 2
    outside = majority.coefficient(rest, v, ties=tie) + (v == 0)
    first = (v == 0) * (majority.coefficient(s, u, ties=-1.0) + (u == 0))
    return (first + majority.half(s, u) * outside) / 2


def two_values(w: Float[np.ndarray, " n"], bias: float) -> tuple[np.ndarray, float, float]:
    """Which weights are the large ones, the small ones' size, and the bias, at scale one."""
    size = np.abs(w)
    scale = float(size.max())
    if scale == 0:
        raise ValueError("closed_form: all weights are zero, so the neuron reads nothing.")
    ones = np.isclose(size, scale, rtol=1e-6, atol=0)
    small = size[~ones] / scale
    b = bias / scale
    epsilon = float(small.mean()) if small.size else 0.0
    reach = epsilon * small.size + abs(b)
    step = 1 if ones.sum() % 2 else 2  # the least nonzero sum of the large weights
    idle = epsilon == 0 or abs(b) < epsilon * (1 if small.size % 2 else 2)
    if not np.allclose(small, epsilon, rtol=1e-6, atol=1e-12) or not (reach < step and idle):
        raise ValueError(
            f"closed_form(n={len(w)}, bias={bias:g}): weights are one size, or a large one and a "
            f"small one whose sum, with the bias, is below {step} times the large; got sizes "
            f"from {size.min():g} to {scale:g}. Use enumerated or sampled."
        )
    return ones, epsilon, b


def sampled(
    w: Float[np.ndarray, " n"],
    support: tuple[int, ...],
    samples: int,
    *,
    bias: Real = 0.0,
    activation: str | Derivative = "relu",
    flip: float = 0.0,
    failure: float = 1e-9,
    seed: int = 0,
) -> SampledGradient:
    r"""The gradient over `samples` fresh examples, labels flipped at rate `flip`.

    The radius is Hoeffding's for derivatives in $[-1, 1]$, in all coordinates at once.
    """
    n = len(w)
    checks.support("gradient", n, len(support), support)
    generator = np.random.default_rng(seed)
    slope = derivative(activation)
    total = np.zeros(n)
    for start in range(0, samples, 2**14):
        x = drawn_signs(generator, min(2**14, samples - start), n)
        y = character(x, support)
        y = np.where(generator.random(len(y)) < flip, -y, y)
        total += (y * slope(x @ w + bias)) @ x
    return SampledGradient(total / samples, hoeffding_radius(samples, 2.0, failure, n))


def fourier_gap(
    w: Float[np.ndarray, " n"],
    support: tuple[int, ...],
    *,
    bias: Real = 0.0,
    activation: str | Derivative = "relu",
    relaxed: bool = False,
    flip: float = 0.0,
) -> float:
    r"""The gap between relevant and irrelevant gradients of the neuron `w`.

    Strictly (definition 5.4), the smallest relevant $|g_i|$ minus the largest irrelevant one; if it
    is positive, all of $S$ can be read off. `relaxed` is $\Gamma$ of appendix B.3.1: the largest
    relevant one instead, and one bit of $S$ can be read off. Labels flipped at rate `flip` scale it
    by $|1 - 2p|$.
    """
    gradient = population(w, support, bias=bias, activation=activation)
    return abs(signal("fourier_gap", flip)) * gap(gradient, support, relaxed=relaxed)


def function_gap(
    f: fourier.Function, n: int, support: tuple[int, ...], *, relaxed: bool = False
) -> float:
    r"""The gap of a function at $S$, as definition 5.4 has it: sets of a bit less against more."""
    spectrum = fourier.coefficients(f, n)
    mask = fourier.mask_of(support)
    return gap(spectrum[[mask ^ (1 << i) for i in range(n)]], support, relaxed=relaxed)


def gap(
    gradient: Float[np.ndarray, " n"], support: tuple[int, ...], *, relaxed: bool = False
) -> float:
    """The gap of a gradient that is known already; see `fourier_gap`."""
    inside = np.zeros(len(gradient), bool)
    inside[list(support)] = True
    size = np.abs(gradient)
    relevant = size[inside].max() if relaxed else size[inside].min()
    return float(relevant - size[~inside].max(initial=0.0))


def recovery_samples(gap: float, n: int, failure: float = 0.01, flip: float = 0.0) -> int:
    r"""Proposition B.7: samples after which the `k` largest gradients are those of the support.

    An estimate within $\gamma/2$ in every coordinate keeps the order, and Hoeffding's inequality
    with gradients in $[-1, 1]$ gives $8 \log(2n/\delta) / \gamma^2$ samples. (The proof's last step
    compares each side with $\gamma/2$; it is their difference that matters.) The `gap` is that of
    noiseless labels; flipped ones leave $1 - 2p$ of it and cost $(1 - 2p)^{-2}$ times the samples.
    """
    left = gap * abs(signal("recovery_samples", flip))
    if not left > 0:
        raise ValueError(
            f"recovery_samples: without a positive gap nothing is recovered; gap is {gap!r} and "
            f"flip is {flip!r}."
        )
    return hoeffding_samples(left / 2, 2.0, failure, n)


def signal(owner: str, flip: float) -> float:
    r"""$1 - 2p$: what labels flipped with probability $p$ leave of every correlation."""
    checks.number(owner, "flip", flip, low=0.0, high=1.0, what="is a probability")
    return 1 - 2 * flip


def recovered(gradient: Float[np.ndarray, " n"], k: int) -> tuple[int, ...]:
    """The `k` bits with the largest gradients, in increasing order."""
    return tuple(sorted(int(i) for i in np.argsort(-np.abs(gradient), kind="stable")[:k]))


def derivative(activation: str | Derivative) -> Derivative:
    """The derivative that a name stands for; a function stands for itself."""
    if callable(activation):
        return activation
    checks.choice("gradient", "activation", activation, list(DERIVATIVES))
    return DERIVATIVES[activation]
