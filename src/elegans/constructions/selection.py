r"""Attention heads that select a hidden set of positions, with weights set by hand.

The query of [CLS] is $R$ times an axis, and the keys have a vector $u$ with $\langle u, v_i \rangle
= 1$ for $i$ in the hidden set $I$, $|I| = s$, and less outside. With $R \approx \ln(8T/\gamma)$ the
softmax is within $\gamma/4$ of even attention on $I$, and a head returns a function $g$ of the
hidden bits that a few rectifiers can read: neighbouring values are at least $\gamma$ apart.

| inputs | heads | $g$ | $\gamma$ |
|---|---|---|---|
| positions, trained | 1 | $(2r - s)/s$, $r$ of the $s$ bits are true | $2/s$ |
| positions, trained | $s$ | $2b_i - 1$; of $M$ symbols, even levels in $[-1, 1]$ | $2/(M-1)$ |
| bag | 1 | $(r - s)/(r + 1)$ | $1/s$ |
| bag, vector | 1 | $(b_i - 1)/(r + 1)$ | $1/s$ |

What differs from the document (lemmas A.19 to A.21), and `printed=True` builds as printed:

* One head: the key is the dual one, see `dual_keys`; printed values $E_0 - E_1$ decrease with the
  number of true bits.
* $s$ heads: printed values go to the second coordinate, which $W_C$ does not read. (Any
  $\Delta < 1$ will do here, as each head has a single key.)
* Bag of vectors: printed values $v_i$ are off by up to $s\Delta$, more than $\gamma/4$ allows
  unless $4s\Delta < \gamma$ (printed: $s\Delta < \gamma$). With the dual vectors as values too, the
  condition is that of the key alone.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.constructions.dual_keys import (
    HiddenVectors,
    check_coherence,
    dual_bound,
    hidden_vectors,
    proof_rate,
)
from elegans.constructions.selection_weights import (
    bag_layer,
    head_model,
    one_layer,
    rank_one_layer,
    symbol_levels,
)
from elegans.models.transformers.bounded import BoundedTransformer
from elegans.models.transformers.bounded_forward import BoundedParams


class Selection(NamedTuple):
    """Heads that select, what they approximate, and how large their weights may be.

    Attributes:
        targets: Rows of values of $g$: by the number of true bits (one column), or by pattern.
        gamma: The separation of the rows; the heads are within `gamma / 4` of them.
        rate: $R$.
        coherence: $\\Delta$.
        bounds: On Frobenius norms of each head's weights, by name; a (2,1) norm for `positions`.
    """

    model: BoundedTransformer
    params: BoundedParams
    targets: Float[np.ndarray, "rows outputs"]
    gamma: float
    rate: float
    coherence: float
    bounds: dict[str, float]

    def norms(self) -> dict[str, float]:
        """The norms that `bounds` bounds, the largest over the heads."""
        layer = self.params.layers[0]
        sizes = {
            name: float(np.linalg.norm(np.asarray(getattr(layer, name)), axis=(1, 2)).max())
            for name in ("query", "key", "value", "output")
        }
        if self.params.positions is not None:
            rows = np.linalg.norm(np.asarray(self.params.positions), axis=1)
            sizes["positions"] = float(rows.sum())
        return sizes


def selection_head(
    T: int,
    support: tuple[int, ...],
    *,
    inputs: str = "positions",
    vectors: str = "axes",
    dim: int | None = None,
    seed: int = 0,
    rate: float | None = None,
    printed: bool = False,
) -> Selection:
    """One head whose first output approximates a monotone function of the number of true bits.

    Args:
        T: Number of bits.
        support: The hidden positions.
        inputs: How bits become tokens: "positions", "trained" or "bag".
        vectors: Of positions: "axes", or random "signs" in `dim` dimensions.
        dim: Width of the tokens; None is the least.
        seed: Of the signs.
        rate: $R$; None is that of the proof, which refuses vectors that are too coherent.
        printed: As in the document.
    """
    owner, s = checked_owner("selection_head", T, support, rate), len(support)
    model = head_model(owner, T, s, inputs=inputs, vectors=vectors, dim=dim, seed=seed)
    hidden = hidden_vectors(owner, model, T, support)
    counts = np.arange(s + 1.0)[:, None]
    if inputs == "bag":
        targets = (counts - s) / (counts + 1)
        return bag_selection(owner, model, T, hidden, targets, rate=rate, printed=printed)
    gamma = 2 / s
    if rate is None:
        rate = proof_rate(owner, s, hidden.coherence, 8 * T / gamma, printed=printed)
    if inputs == "trained":
        key, key_bound = hidden.vectors[0], 1.0
    else:
        key = (hidden.vectors if printed else hidden.dual).sum(axis=0)
        key_bound = dual_bound(s, hidden.coherence)
    value = symbol_levels(len(key), 2, printed=printed)
    layer = rank_one_layer(rate, key[None], value, printed=False)
    bounds = {"query": rate, "key": key_bound, "value": 2.0, "output": 1.0}
    return with_trained_positions(
        Selection(
            model, one_layer(layer), (2 * counts - s) / s, gamma, rate, hidden.coherence, bounds
        ),
        T,
        support,
        hidden,
    )


def selection_heads(
    T: int,
    support: tuple[int, ...],
    *,
    inputs: str = "positions",
    symbols: int = 2,
    vectors: str = "axes",
    dim: int | None = None,
    seed: int = 0,
    rate: float | None = None,
    printed: bool = False,
) -> Selection:
    r"""Heads whose first s outputs tell all patterns of the hidden symbols apart.

    One head per hidden position, or one head in all for a bag of vectors. Row $\sum_i c_i M^i$ of
    the targets belongs to the symbols $c_i$ at the hidden positions, in the order of `support`. The
    other arguments are those of `selection_head`, with $M$ = `symbols`.
    """
    owner, s = checked_owner("selection_heads", T, support, rate), len(support)
    model = head_model(
        owner,
        T,
        s,
        inputs=inputs,
        vectors=vectors,
        dim=dim,
        seed=seed,
        symbols=symbols,
        heads=1 if inputs == "bag" else s,
        outputs=s,
    )
    hidden = hidden_vectors(owner, model, T, support)
    patterns = np.array([p[::-1] for p in itertools.product(range(symbols), repeat=s)], dtype=float)
    if inputs == "bag":
        targets = (patterns - 1) / (patterns.sum(axis=1, keepdims=True) + 1)
        return bag_selection(owner, model, T, hidden, targets, rate=rate, printed=printed)
    gamma = 2 / (symbols - 1)
    if rate is None:  # any coherence below 1, which `hidden_vectors` has checked: one key per head
        rate = math.log(8 * T / gamma) / (1 - hidden.coherence)
    value = symbol_levels(hidden.vectors.shape[1], symbols, printed=printed)
    layer = rank_one_layer(rate, hidden.vectors, value, printed=printed)
    value_bound = 2.0 if symbols == 2 else math.sqrt(symbols)
    bounds = {"query": rate, "key": 1.0, "value": value_bound, "output": 1.0}
    targets = -1 + gamma * patterns
    return with_trained_positions(
        Selection(model, one_layer(layer), targets, gamma, rate, hidden.coherence, bounds),
        T,
        support,
        hidden,
    )


def bag_selection(
    owner: str,
    model: BoundedTransformer,
    T: int,
    hidden: HiddenVectors,
    targets: Float[np.ndarray, "rows outputs"],
    *,
    rate: float | None,
    printed: bool,
) -> Selection:
    """The head of a bag of vectors: even attention to [CLS] and to the hidden bits that are true.

    Value directions carry the identity of the bit, so that one head is enough for any function: bit
    i goes to output i, or all bits go to a single output.
    """
    s = len(hidden.vectors)
    gamma, delta = 1 / s, hidden.coherence
    if rate is None:
        target = 8 * T * s / gamma
        if printed:
            check_coherence(owner, delta, gamma / s)
            target = 8 * T * s * (1 + delta) / (gamma - s * delta)
        rate = proof_rate(owner, s, delta, target, printed=printed)
    readers = hidden.vectors if printed else hidden.dual
    params = one_layer(bag_layer(rate, readers, targets.shape[1]))
    bounds = {"query": rate, "key": s + 1.0, "value": 2.0 * s, "output": float(s)}
    return Selection(model, params, targets, gamma, rate, delta, bounds)


def checked_owner(name: str, T: int, support: tuple[int, ...], rate: float | None) -> str:
    """The owner of a refusal, after checking that the hidden set is inside the inputs."""
    owner = f"{name}(T={T}, support={tuple(support)})"
    checks.whole(owner, "T", T, low=1, what="counts the inputs")
    if not support:
        raise ValueError(f"{owner}: support holds the hidden positions, at least one.")
    checks.support(owner, T, len(support), support)
    checks.number(owner, "rate", rate, low=0.0, what="multiplies the scores")
    return owner


def with_trained_positions(
    selection: Selection, T: int, support: tuple[int, ...], hidden: HiddenVectors
) -> Selection:
    """The selection with its trained positions, zero but for the hidden ones, if it has any."""
    if selection.model.inputs != "trained":
        return selection
    positions = np.zeros((T, hidden.vectors.shape[1]))
    positions[list(support)] = hidden.vectors
    return selection._replace(
        params=selection.params._replace(positions=positions),
        bounds=selection.bounds | {"positions": float(len(support))},
    )
