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

import dataclasses
import itertools
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.constructions.dual_keys import Selected, dual_bound, proof_rate, selected
from elegans.models.bit_embedding import first_position_axis
from elegans.models.bounded_forward import AttentionLayer, BoundedParams
from elegans.models.bounded_transformer import BoundedTransformer


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
    """One head whose first output approximates a monotone function of the number of true bits."""
    owner, s = described("selection_head", T, support), len(support)
    model = head_model(owner, T, s, inputs=inputs, vectors=vectors, dim=dim, seed=seed)
    chosen = selected(owner, model, T, support)
    counts = np.arange(s + 1.0)
    gamma = 1 / s if inputs == "bag" else 2 / s
    R = rate or proof_rate(owner, T, s, chosen.coherence, gamma, inputs=inputs, printed=printed)
    summed = (chosen.vectors if printed else chosen.dual).sum(axis=0)
    if inputs == "bag":
        layer, bounds = bag_layer(chosen, R, printed=printed)
        output = np.zeros_like(layer.output)
        output[0, :, 0] = 1.0
        targets = (counts - s) / (counts + 1)
        params = BoundedParams(None, (layer._replace(output=output),), None, None)
    else:
        keys = summed if inputs == "positions" else chosen.vectors[0]
        values = two_levels(model.dim, printed=printed)
        layer = rank_one_layer(R, keys[None], values[None], outputs=1)
        targets = (2 * counts - s) / s
        params = BoundedParams(
            trained_positions(inputs, T, support, chosen.vectors), (layer,), None, None
        )
        bounds = {"query": R, "key": dual_bound(s, chosen.coherence), "value": 2.0, "output": 1.0}
    if inputs == "trained":
        bounds |= {"key": 1.0, "positions": float(s)}
    return Selection(model, params, targets[:, None], gamma, R, chosen.coherence, bounds)


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
    """Heads whose first s outputs tell all patterns of the hidden symbols apart.

    One head per hidden position, or one head in all for a bag of vectors. Row $\\sum_i c_i M^i$ of
    the targets belongs to the symbols $c_i$ at the hidden positions, in the order of `support`.
    """
    owner, s = described("selection_heads", T, support), len(support)
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
    chosen = selected(owner, model, T, support)
    patterns = np.array([p[::-1] for p in itertools.product(range(symbols), repeat=s)], dtype=float)
    if inputs == "bag":
        gamma = 1 / s
        R = rate or proof_rate(owner, T, s, chosen.coherence, gamma, inputs="bag", printed=printed)
        layer, bounds = bag_layer(chosen, R, printed=printed)
        output = np.zeros_like(layer.output)
        output[0, np.arange(s), np.arange(s)] = 1.0
        targets = (patterns - 1) / (patterns.sum(axis=1, keepdims=True) + 1)
        params = BoundedParams(None, (layer._replace(output=output),), None, None)
        return Selection(model, params, targets, gamma, R, chosen.coherence, bounds)
    gamma = 2 / (symbols - 1)
    delta = chosen.coherence
    if delta >= 1:
        raise ValueError(f"{owner}: vectors are too coherent: Delta is {delta:.3g}, not below 1.")
    R = rate or math.log(8 * T / gamma) / (1 - delta)
    levels = np.linspace(-1.0, 1.0, symbols)
    value = np.zeros(model.dim or 0)
    value[1 : 1 + symbols] = -levels if printed else levels
    layer = rank_one_layer(R, chosen.vectors, np.tile(value, (s, 1)), outputs=s, printed=printed)
    bounds = {"query": R, "key": 1.0, "value": math.sqrt(2.0 * symbols), "output": 1.0}
    if inputs == "trained":
        bounds["positions"] = float(s)
    params = BoundedParams(
        trained_positions(inputs, T, support, chosen.vectors), (layer,), None, None
    )
    return Selection(model, params, -1 + gamma * patterns, gamma, R, delta, bounds)


def described(name: str, T: int, support: tuple[int, ...]) -> str:
    """The owner of a refusal, after checking that the hidden set is inside the inputs."""
    owner = f"{name}(T={T}, support={tuple(support)})"
    checks.whole(owner, "T", T, low=1, what="counts the inputs")
    if not support:
        raise ValueError(f"{owner}: support holds the hidden positions, at least one.")
    checks.support(owner, T, len(support), support)
    return owner


def head_model(
    owner: str,
    T: int,
    s: int,
    *,
    inputs: str,
    vectors: str,
    dim: int | None,
    seed: int,
    symbols: int = 2,
    heads: int = 1,
    outputs: int = 1,
) -> BoundedTransformer:
    """The network of the heads, of the least width unless `dim` is given."""
    # Names are refused before any width is computed.
    model = BoundedTransformer(kind="head", inputs=inputs, symbols=symbols, vectors=vectors)
    # Trained positions are one axis for one head, and one axis per head otherwise.
    places = heads if inputs == "trained" else T if vectors == "axes" else 1
    low = max(first_position_axis(inputs, symbols) + places, outputs)
    width = low if dim is None else dim
    checks.whole(owner, "dim", width, low=low, what="holds the positions and the outputs")
    key_width = s if inputs == "bag" else 1
    return dataclasses.replace(model, heads=heads, dim=width, key_width=key_width, seed=seed)


def two_levels(dim: int | None, *, printed: bool) -> Float[np.ndarray, " dim"]:
    """$E_1 - E_0$, or as printed its negative."""
    value = np.zeros(dim or 0)
    value[1:3] = (1.0, -1.0) if printed else (-1.0, 1.0)
    return value


def trained_positions(
    inputs: str, T: int, support: tuple[int, ...], vectors: Float[np.ndarray, "s dim"]
) -> Float[np.ndarray, "T dim"] | None:
    """Positions that are zero but for the hidden ones; None where they are fixed."""
    if inputs != "trained":
        return None
    positions = np.zeros((T, vectors.shape[1]))
    positions[list(support)] = vectors
    return positions


def rank_one_layer(
    R: float,
    keys: Float[np.ndarray, "heads dim"],
    values: Float[np.ndarray, "heads dim"],
    *,
    outputs: int,
    printed: bool = False,
) -> AttentionLayer:
    """Heads of rank one, head h writing its value to coordinate h of the output.

    As printed for several heads, values go to a second coordinate of the head that is not read.
    """
    heads, dim = keys.shape
    width = 2 if printed else 1
    query, key, value = (np.zeros((heads, dim, width)) for _ in range(3))
    output = np.zeros((heads, width, dim))
    query[:, 0, 0] = R
    key[:, :, 0] = keys
    value[:, :, width - 1] = values
    output[np.arange(outputs), 0, np.arange(outputs)] = 1.0
    return AttentionLayer(query, key, value, output)


def bag_layer(
    chosen: Selected, R: float, *, printed: bool
) -> tuple[AttentionLayer, dict[str, float]]:
    """The head of a bag of vectors, with an output that is yet to be filled in; and its bounds."""
    s, dim = chosen.vectors.shape
    readers = chosen.vectors if printed else chosen.dual
    query, key, value = (np.zeros((1, dim, s)) for _ in range(3))
    query[0, 0, 0] = R
    key[0, :, 0] = readers.sum(axis=0)
    key[0, 0, 0] = 1.0  # [CLS] attends to itself, as to one more bit
    value[0] = readers.T
    value[0, 0] = -1.0
    bounds = {"query": R, "key": s + 1.0, "value": 2.0 * s, "output": float(s)}
    return AttentionLayer(query, key, value, np.zeros((1, s, dim))), bounds
