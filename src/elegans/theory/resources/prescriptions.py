r"""What the upper bounds prescribe: sparsity, width, samples and steps, with the proofs' constants.

Theorems 4/16 (over-sparse, $s > 4k$) and 5/21 (under-sparse, $s < k$) of the Pareto paper hide
constants that depend on $k$. Their proofs give them, up to slips that are corrected here and
listed in docs/errata.md: exact gradients replace the bounds of Lemma 8, the exact probability of a
good neuron replaces Lemma 7, and the readout's norm $B_k$ is computed from the bias grid.

The grid is $\beta_i = \frac{1}{2k}(-k + 2i + o)$, $i = 0, \dots, k/2 - 1$, with offset $o =
\frac12$. The paper has $o = \frac1{16}$ and starts at $i = 1$, two features too few; with $i = 0$
and $\frac1{16}$ one of the features is at most $\frac{1}{32k}$, which makes $B_k$ 8 to 460 times as
large. Bad neurons stay below $\frac{9}{16k}$ (and a little), so that $\beta_i \le -\frac{12}{16k}$
still silences them.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.theory.boolean import majority

OFFSET = 0.5  # of the bias grid; the paper prints 1/16


class Prescription(NamedTuple):
    """Resources that suffice, and the quantities of the proof that they come from."""

    s: int
    width: int
    samples: int
    steps: int
    tolerance: float  # of the first gradient, in every coordinate
    learning_rate: float  # of the first layer in the first step
    good_probability: float  # that a neuron starts on the right bits
    readout_norm: float  # B_k
    second_rate: float = math.nan  # of the second layer, where it is constant


def good_probability(n: int, k: int, s: int) -> float:
    r"""The chance that `s` random bits contain the `k` relevant ones or, if $s < k$, lie in them.

    $\binom{n-k}{s-k} / \binom{n}{s}$, at least the $(s/2n)^k$ of Lemma 7 if $s \ge 2k$, and
    $\binom{k}{s} / \binom{n}{s}$.
    """
    owner = f"good_probability(n={n}, k={k}, s={s})"
    checks.whole(owner, "k", k, low=1, high=n, what="counts relevant bits")
    checks.whole(owner, "s", s, low=1, high=n, what="counts the ones of a neuron")
    inside, outside = max(s, k), min(s, k)
    return math.comb(inside, outside) / math.comb(n, outside)


def readout(k: int, offset: float = OFFSET) -> Float[np.ndarray, " features"]:
    r"""Weights $\nu$ that write the parity of `k` bits as a function of half their scaled sum.

    The features at $\sigma = \sum_{i \in S} x_i$ are 1 and $(\pm\frac{\sigma}{2k} + \beta_i)_+$:
    as many as $\sigma$ has values, $k + 1$. (The paper writes $\chi_S = \sigma \bmod 2$ for
    $(-1)^{(k - \sigma)/2}$.)
    """
    checks.whole(f"readout(k={k})", "k", k, low=2, what="counts relevant bits")
    if k % 2:
        raise ValueError(f"readout(k={k}): the bias grid is made for an even k.")
    sums = np.arange(-k, k + 1, 2)
    grid = (-k + 2 * np.arange(k // 2) + offset) / (2 * k)
    up = np.maximum(sums[:, None] / (2 * k) + grid[None, :], 0)
    features = np.hstack([np.ones((k + 1, 1)), up, up[::-1]])
    return np.linalg.solve(features, (-1.0) ** ((k - sums) // 2))


def over_sparse(
    n: int,
    k: int,
    epsilon: float,
    delta: float = 0.01,
    *,
    s: int | None = None,
    offset: float = OFFSET,
) -> Prescription:
    r"""Theorems 4 and 16: gradient descent from an `s`-sparse start reaches loss `epsilon`.

    The least odd `s` that the proof allows is taken if none is given. Lemma 15 asks that no bias
    has more than $2r'$ good neurons while $r'$ comes from a lower bound on their chance, so that
    the mean alone is $2^{k+1}$ times $r'$; with the exact chance it holds by Chernoff's bound.

    Lemma 14 as repaired, with $F = \|\psi\|_{\infty,2}$, $\lambda = \varepsilon/B^2$ and losses up
    to $1 + BF$ (the paper says $BF$, but the loss of $h = 0$ is 1): regularised, the readout has
    loss $\frac52\varepsilon$, sampling adds $\frac12\varepsilon$ and descent $100 B^2 (F +
    \varepsilon/B)^2 (1 + \log T) / (\varepsilon T) \le \varepsilon$, which needs the $B^2$ that the
    paper's condition on $T$ lacks. So $\|w_T\| \le \sqrt8 B$, and the loss on fresh examples is at
    most $4\varepsilon + \varepsilon + 2 \sqrt8\,\varepsilon$, below 11, where the paper has 7.

    Raises:
        ValueError: If `s` is below what the proof needs or above `n`; the message has the number.
    """
    owner = f"over_sparse(n={n}, k={k}, epsilon={epsilon}, delta={delta})"
    needed = least_sparsity(k, epsilon, delta, offset=offset)
    if needed > n:
        raise ValueError(
            f"{owner}: the proof needs s, and so n, of {needed:,} or more. "
            "over_sparse_formulas has the same formulas outside of that range."
        )
    s = needed if s is None else s
    if not needed <= s <= n or s % 2 == 0:
        raise ValueError(f"{owner}: s is odd and lies between {needed:,} and n = {n:,}; got {s:,}.")
    return over_sparse_formulas(n, k, s, epsilon, delta, offset=offset)


def least_sparsity(k: int, epsilon: float, delta: float = 0.01, *, offset: float = OFFSET) -> int:
    """The least odd `s` of theorem 16: that at which irrelevant weights stop to matter."""
    check_goal(f"least_sparsity(k={k})", k, epsilon, delta, offset)
    norm = float(np.linalg.norm(readout(k, offset)))
    # 2 k r' neurons, each off by a sum of s - k terms of size (k - 1) / (2k (s - k))
    room = k * good_per_bias(k, delta) * norm**2 / (2 * (epsilon / 11) ** 2)
    return max(4 * k + 1, k + math.ceil(room)) | 1


def check_goal(owner: str, k: int, epsilon: float, delta: float, offset: float) -> None:
    """Refuses what theorem 16 does not speak of."""
    checks.whole(owner, "k", k, low=2, what="counts relevant bits")
    if k % 2:
        raise ValueError(f"{owner}: the theorem is for even k.")
    checks.number(owner, "epsilon", epsilon, low=1e-12, high=0.5, what="is a loss")
    checks.number(owner, "delta", delta, low=1e-300, high=0.5, what="is a probability")
    checks.number(owner, "offset", offset, low=0.0, high=0.75, what="keeps bad neurons silent")


def good_per_bias(k: int, delta: float) -> float:
    r"""Good neurons of each bias: the proof's $r'$, at a quarter of the failure probability."""
    return 8 * math.log(4 * k / delta)


def over_sparse_formulas(
    n: int, k: int, s: int, epsilon: float, delta: float = 0.01, *, offset: float = OFFSET
) -> Prescription:
    """What the formulas of theorem 16 say at an odd `s`, whether or not its proof covers that one.

    For comparison with what the algorithm needs; `over_sparse` is the theorem.
    """
    owner = f"over_sparse_formulas(n={n}, k={k}, s={s})"
    check_goal(owner, k, epsilon, delta, offset)
    checks.whole(owner, "s", s, low=k + 1, high=n, what="counts the ones of a neuron, above k")
    if s % 2 == 0:
        raise ValueError(f"{owner}: the lemmas are for odd s; got {s}.")
    target, failure = epsilon / 11, delta / 4
    norm, per_bias = float(np.linalg.norm(readout(k, offset))), good_per_bias(k, delta)
    chance = good_probability(n, k, s)
    width = 2 * math.ceil(k * per_bias / (2 * chance))
    rate = 1 / (2 * k * abs(majority.relevant_gradient(s, k)))
    tolerance = min(target / (4 * norm * k * per_bias * n * rate), 1 / (16 * rate * k * n))
    size = norm * math.sqrt(8 * k * per_bias)  # B F
    first = 4 * math.log(4 * n * width / failure) / tolerance**2
    second = 2 * math.log(2 / failure) * (3 * math.sqrt(8) * size + 1) ** 2 / target**2
    # 1 + log T is at most 2 log T
    steps = steps_over_log(200 * (size + target) ** 2 / target**2)
    samples = math.ceil(max(first, second))
    return Prescription(s, width, samples, steps, tolerance, rate, chance, norm)


def truncation(s: int, k: int) -> float:
    r"""Halfway between the gradients of a good neuron at irrelevant and at relevant bits."""
    relevant, irrelevant = majority.relevant_gradient(s, k), majority.irrelevant_gradient(s, k)
    return (abs(relevant) + abs(irrelevant)) / 2


def truncated_samples(n: int, k: int, s: int, width: int, delta: float = 0.01) -> int:
    r"""Footnote 4: samples at which truncation leaves the relevant weights of good neurons alone.

    Gradients within $\frac12(|C_{k,s}| - |c_{k,s}|)$ fall on their side of `truncation`; those of
    bad neurons, zero in all but at most one coordinate, do too. Hoeffding's inequality over all
    $nr$ weights gives $2 \log(4nr/\delta)/\tau^2$: no $n^2$, as no sum over $n$ errors is left.
    """
    owner = f"truncated_samples(n={n}, k={k}, s={s}, width={width})"
    checks.whole(owner, "s", s, low=k + 1, high=n, what="counts the ones of a neuron, above k")
    checks.whole(owner, "width", width, low=2, what="counts the neurons")
    checks.number(owner, "delta", delta, low=1e-300, high=0.5, what="is a probability")
    tolerance = truncation(s, k) - abs(majority.irrelevant_gradient(s, k))
    return math.ceil(2 * math.log(4 * n * width / delta) / tolerance**2)


def partial_gradients(n: int, k: int, s: int) -> tuple[float, float]:
    """How large the gradient of a neuron that reads `s` relevant bits is at the others, and else.

    The first number is of the relevant bits that it does not read, the second of irrelevant bits;
    s = 0 is a neuron of signs.
    """
    share = abs(majority.half(s, s)) / 2
    relevant, irrelevant = (share * abs(majority.coefficient(n - s, k - s + j)) for j in (-1, 1))
    return relevant, irrelevant


def under_sparse(n: int, k: int, s: int, delta: float = 0.01) -> Prescription:
    r"""Theorems 5 and 21: one truncated step from a perturbed `s`-sparse start finds the support.

    Good neurons read `s` of the relevant bits. Their gradient at the other relevant bits is
    $\frac{n-k}{k-s-1}$ times that at irrelevant ones (odd $n - s$; the paper prints
    $\frac{n-s}{k-s-1}$), and half the gap between the two is the tolerance (the paper prints half
    of the smaller one). Each of the $k$ biases of the grid needs one good neuron.
    """
    owner = f"under_sparse(n={n}, k={k}, s={s}, delta={delta})"
    checks.whole(owner, "k", k, low=2, high=n - 1, what="counts relevant bits")
    checks.whole(owner, "s", s, low=2, high=k - 2, what="counts the ones of a neuron, fewer than k")
    checks.number(owner, "delta", delta, low=1e-300, high=0.5, what="is a probability")
    if k % 2 or s % 2:
        raise ValueError(f"{owner}: the lemmas are for even k and s.")
    relevant, irrelevant = partial_gradients(n, k, s)
    tolerance = (relevant - irrelevant) / 2
    chance = good_probability(n, k, s)
    width = 2 * math.ceil(k * math.log(2 * k / delta) / chance)
    samples = math.ceil(2 * math.log(4 * n * width / delta) / tolerance**2)
    return Prescription(s, width, samples, 1, tolerance, 1 / (2 * k * relevant), chance, math.nan)


def steps_over_log(ratio: float) -> int:
    r"""The least $T \ge 3$ with $T / \log T \ge$ `ratio`."""
    steps = max(3.0, ratio)
    for _ in range(200):  # T <- ratio log T contracts to the upper root
        steps = max(3.0, ratio * math.log(steps))
    whole = math.ceil(steps)
    while whole / math.log(whole) < ratio:
        whole += 1
    return whole
