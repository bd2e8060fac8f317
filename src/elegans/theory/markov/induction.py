r"""The first gradient steps of the minimal model, exactly, for two states (Lemma 8.4 / E.1).

While the margin of the loss (8.7) is not reached the loss is linear in the logits, and the logits
(E.2) are linear in $W$ and in $v$. So the population loss is *bilinear*,

$$\mathcal{L} = \text{const} - \frac1t \sum_{j=1}^t \sum_{m,l} v_j W_{ml} G_{jml}, \qquad
G_{jml} = \mathbb{E} \sum_{t'=j}^t \sum_{p=t'}^t [x_p = m]\,[x_{t'-j+1} = l]
\left([x_{t'} = x_{p+1}] - \tfrac12\right),$$

and the tensor $G$ is all there is to know of the data: every gradient step follows from it. Given
the chain, with $S_n = \sum_{q<n} P^q$ and by the Markov property,

$$G_{jml} = \mathbb{E}_P\, \pi_l \sum_i \left(P_{mi} - \tfrac12\right) (P^{j-1})_{li}
\sum_{n=1}^{t-j+1} (S_n)_{im}.$$

The expectation over $a, b \sim U(0, 1)$, $P = \begin{pmatrix} a & 1-a \\ 1-b & b \end{pmatrix}$,
is taken in $s = 2 - a - b$ and $w = (1-b)/s$, in which $\lambda = 1 - s$, $\pi = (w, 1-w)$ and
everything is a polynomial: Gauss's nodes leave rounding errors only. The corner $a = b = 1$, where
$\pi$ has no limit, is the edge $s = 0$ of the new domain.

Entry 0 of an array over $j$ is $j = 1$. Corrections to the printed proof: docs/errata.md.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans import checks

DIAGONAL = (math.log(256) - 5) / 12  # B of the lemma, equation E.24
OFF_DIAGONAL = (7 - 10 * math.log(2)) / 6  # A of the lemma, equation E.25
CHUNK = 4096  # nodes at once, so that memory is bounded by the length
UNIGRAM = 1.5 - math.log(4)  # D of the lemma, equation E.29


class Chains(NamedTuple):
    """Two-state chains with weights that sum to one: the nodes of an expectation."""

    a: Float[np.ndarray, " nodes"]
    b: Float[np.ndarray, " nodes"]
    weight: Float[np.ndarray, " nodes"]


class Weights(NamedTuple):
    """The minimal model's parameters: $W$ and $v$."""

    weight: Float[np.ndarray, "2 2"]
    position: Float[np.ndarray, " length"]


def uniform_chains(length: int) -> Chains:
    r"""Nodes for $a, b \sim U(0, 1)$, exact for what sequences of `length` tokens need."""
    count = length // 2 + 24
    nodes, weights = np.polynomial.legendre.leggauss(count)
    w = (nodes + 1) / 4  # the half of the square where b is the larger; the other is its mirror
    top = 1 / (1 - w)
    s = top[:, None] * (nodes[None, :] + 1) / 2
    measure = (weights / 4)[:, None] * (top[:, None] * weights[None, :] / 2) * s
    a, b = 1 - s * (1 - w[:, None]), 1 - s * w[:, None]
    return Chains(
        np.concatenate([a.ravel(), b.ravel()]),
        np.concatenate([b.ravel(), a.ravel()]),
        np.concatenate([measure.ravel(), measure.ravel()]),
    )


def symmetric_chains(length: int, epsilon: float) -> Chains:
    r"""Nodes for $a = b \sim U(\frac12 - \varepsilon, \frac12 + \varepsilon)$."""
    if not 0 < epsilon <= 0.5:
        raise ValueError(f"symmetric_chains: epsilon is in (0, 0.5]; got {epsilon!r}.")
    nodes, weights = np.polynomial.legendre.leggauss(length // 2 + 24)
    a = 0.5 + epsilon * nodes
    return Chains(a, a, weights / 2)


def gradient_tensor(length: int, chains: Chains) -> Float[np.ndarray, "length 2 2"]:
    """The tensor $G$, indexed by $j - 1$, the query's state $m$ and the looked-at state $l$."""
    if len(chains.a) > CHUNK:
        parts = [
            Chains(*(x[i : i + CHUNK] for x in chains)) for i in range(0, len(chains.a), CHUNK)
        ]
        return np.sum([gradient_tensor(length, part) for part in parts], axis=0)
    a, b, weight = chains
    rows = np.array([[a, 1 - a], [1 - b, b]])
    total = 2 - a - b
    law = np.array([1 - b, 1 - a]) / total
    powers = (1 - total)[:, None] ** np.arange(length)[None, :]
    sums = np.cumsum(np.cumsum(powers, axis=1), axis=1)[:, ::-1]  # over n and q, at j = 1, ..., t
    left = length - np.arange(length)
    counts = left * (left + 1) / 2
    tensor = np.zeros((length, 2, 2))
    for m, looked, i in np.ndindex(2, 2, 2):
        reach = law[i][:, None] + ((looked == i) - law[i])[:, None] * powers
        meet = law[m][:, None] * counts[None, :] + ((i == m) - law[m])[:, None] * sums
        factor = weight * law[looked] * (rows[m, i] - 0.5)
        tensor[:, m, looked] += factor @ (reach * meet)
    return tensor


def stepped(
    weights: Weights, tensor: Float[np.ndarray, "length 2 2"], rate: float, decay: float = 0.0
) -> Weights:
    r"""One gradient step, $\theta \leftarrow (1 - \lambda)\,\theta - \eta \nabla \mathcal{L}$."""
    scale = rate / tensor.shape[0]
    return Weights(
        (1 - decay) * weights.weight + scale * np.einsum("j,jml->ml", weights.position, tensor),
        (1 - decay) * weights.position + scale * np.einsum("ml,jml->j", weights.weight, tensor),
    )


def constant_start(length: int, weight: float, position: float) -> Weights:
    """All entries of $W$ and of $v$ equal."""
    return Weights(np.full((2, 2), weight), np.full(length, position))


def two_steps(length: int, start: float, rate: float) -> tuple[Weights, Weights, Weights]:
    """The start at one constant and the two steps of Lemma 8.4, on uniform chains."""
    tensor = gradient_tensor(length, uniform_chains(length))
    first = constant_start(length, start, start)
    second = stepped(first, tensor, rate)
    return first, second, stepped(second, tensor, rate)


def diagonal_bias(length: int) -> float:
    r"""The ratio $B/A$ by which the first step moves the diagonal of $W$ more than the rest.

    It tends to `DIAGONAL / OFF_DIAGONAL` = 3.98 with the length; the terms of order $t$ that the
    lemma leaves out are not small at $t = 100$.
    """
    moved = np.sum(gradient_tensor(length, uniform_chains(length)), axis=0)
    return float(moved[0, 0] / moved[0, 1])


def curriculum(
    length: int,
    epsilon: float,
    rates: tuple[float, float],
    start: Weights,
    hard_steps: int = 1,
) -> tuple[Weights, ...]:
    r"""The steps of Proposition 8.5 / E.3: one on uniform chains, then `hard_steps` on hard ones.

    Hard chains have $a = b \in [\frac12 - \varepsilon, \frac12 + \varepsilon]$, and their steps
    weight decay 1, so that only the gradient remains. The proposition has one of them and says that
    the model then computes bigrams up to higher orders of $\varepsilon$. It does not: what its
    proof drops in each coordinate of $v$ adds up (`contamination_limit`), to unigrams of the same
    order $\varepsilon^4$. More hard steps are power iteration on $G$, of rank two, whose leading
    pair is $W = I - \frac12 11^\top$, $v = e_2$, and three of them leave a few percent.
    """
    checks.whole("curriculum", "hard_steps", hard_steps, low=1, what="counts steps on hard chains")
    path = [stepped(start, gradient_tensor(length, uniform_chains(length)), rates[0])]
    hard = gradient_tensor(length, symmetric_chains(length, epsilon))
    for _ in range(hard_steps):
        path.append(stepped(path[-1], hard, rates[1], decay=1.0))
    return tuple(path)


def contamination(weights: Weights) -> float:
    r"""$\sum_{j \ne 2} |v_j| / v_2$: how much of the attention is not on the previous token."""
    position = weights.position
    return float(np.abs(np.delete(position, 1)).sum() / position[1])


def contamination_limit(ratio: float) -> float:
    r"""What `contamination` tends to after one hard step, for long sequences and small epsilon.

    To second order in $\varepsilon$, with $N = t - j + 1$ and $\sigma = \pm 1$ for the two states,
    $G_{jml} = \frac{\varepsilon^2}{12} (2(N - 1) + [j = 2]\, \sigma_m \sigma_l N(N + 1))$: beside
    the bigrams at $j = 2$, a term of order $t$ at each of $t$ positions. For $W$ with `ratio`
    $\rho/c'$ of its diagonal to the rest, the sum of those over $v_2$ is
    $\frac{\rho + c'}{\rho - c'}$, which is 1.67 at $B/A = 3.98$.
    """
    if not ratio > 1:
        raise ValueError(
            f"contamination_limit: the diagonal is the larger, above 1; got {ratio!r}."
        )
    return (ratio + 1) / (ratio - 1)


def margin_needed(length: int, start: float) -> float:
    r"""The margin $\Delta = c^2 t(t+1)/2$ up to which the loss is linear at the start (E.6)."""
    return start**2 * length * (length + 1) / 2
