r"""Keys that give a hidden set of position vectors equal scores, though they are not orthogonal.

Position vectors have norm 1 and inner products of up to $\Delta$. A head that is to attend evenly
to the hidden set $I$, $|I| = s$, needs a key vector $u$ with equal products with its $v_i$.

The printed $u = \sum_I v_i$ (lemma A.19) gives $1 + \sum_{j \ne i} v_i \cdot v_j$, and $R$ times
the differences is large. The dual key is $u = \sum_i a_i v_i$ with $G_I a = 1$ for the Gram matrix
$G_I$: its products are 1 exactly on $I$. Since $\|G_I^{-1}\|_\infty \le 1/(1 - (s-1)\Delta)$, they
are at most $\rho = s\Delta/(1 - (s-1)\Delta)$ outside, and $\|u\|^2 = 1^\top a \le
s/(1 - (s-1)\Delta)$. So $\Delta < 1/(2s-1)$ is needed (printed: $1/s$, which can leave scores
outside above those inside), and the softmax is within $2T e^{-R(1 - \rho)}$ of even attention on
$I$: $R = \ln(8T/\gamma)/(1 - \rho)$ for an error of $\gamma/4$.

$\Delta$ is measured between the $v_i$ of $I$ and all others: nothing else enters the proof.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans.models.transformers.bit_embedding import first_position_axis, position_vectors
from elegans.models.transformers.bounded import BoundedTransformer

ROUNDING = 1e-12  # equal vectors have products of 1 up to this


class HiddenVectors(NamedTuple):
    """The vectors of the hidden set, and the vectors dual to them: inner products 1 and 0."""

    vectors: Float[np.ndarray, "s dim"]
    dual: Float[np.ndarray, "s dim"]
    coherence: float


def coherence(vectors: Float[np.ndarray, "T dim"], support: tuple[int, ...] | None = None) -> float:
    """The largest inner product of two of the vectors, one of them in `support` if given."""
    rows = list(range(len(vectors)) if support is None else support)
    products = np.abs(vectors[rows] @ vectors.T)
    products[np.arange(len(rows)), rows] = 0.0
    return float(products.max(initial=0.0))


def hidden_vectors(
    owner: str, model: BoundedTransformer, T: int, support: tuple[int, ...]
) -> HiddenVectors:
    """The hidden vectors with their duals."""
    assert model.dim is not None
    s, first = len(support), first_position_axis(model.inputs, model.symbols)
    if model.inputs == "trained" or model.vectors == "axes":
        is_trained = model.inputs == "trained"
        places = np.arange(s) % model.heads if is_trained else np.array(support)
        axes = np.zeros((s, model.dim))
        axes[np.arange(s), first + places] = 1.0
        return HiddenVectors(axes, axes, 0.0)
    every = position_vectors(model.inputs, model.symbols, model.dim, T, model.vectors, model.seed)
    hidden, delta = every[list(support)], coherence(every, support)
    gram = hidden @ hidden.T
    check_coherence(owner, delta if np.linalg.matrix_rank(gram) == s else 1.0, 1.0)
    return HiddenVectors(hidden, np.linalg.solve(gram, hidden), delta)


def proof_rate(owner: str, s: int, delta: float, target: float, *, printed: bool) -> float:
    r"""The $R$ at which hidden scores exceed the others by $\ln$ `target`.

    Too large a $\Delta$ is refused. The printed rate divides by $1 - s\Delta$.
    """
    check_coherence(owner, delta, 1 / s if printed else 1 / (2 * s - 1))
    margin = 1 - s * delta if printed else (1 - (2 * s - 1) * delta) / (1 - (s - 1) * delta)
    return math.log(target) / margin


def check_coherence(owner: str, delta: float, limit: float) -> None:
    r"""Refuses a $\Delta$ that is not below its limit."""
    if delta >= limit * (1 - ROUNDING):
        raise ValueError(
            f"{owner}: vectors are too coherent for the proof: Delta, the largest inner product of "
            f"a selected vector with another, is {delta:.3g}, and below {limit:.3g} is needed. "
            "Use a larger dim."
        )


def dual_bound(s: int, delta: float) -> float:
    r"""$\sqrt{s/(1 - (s-1)\Delta)}$, a bound on the norm of the dual key."""
    return math.sqrt(s / (1 - (s - 1) * delta)) if (s - 1) * delta < 1 else math.inf
