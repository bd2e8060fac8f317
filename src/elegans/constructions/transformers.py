r"""Transformers that compute a function of few of many inputs exactly, with weights set by hand.

Attention selects the hidden positions (`selection`), and a network of rectifiers memorises the
function on what is selected (`memoriser`). Heads are within $\gamma/4$ of values that are $\gamma$
apart, so boxes have $\delta = \gamma/4$; the printed $\delta = \gamma/8$ leaves heads outside of
the boxes, where in the worst case all outputs are zero. Networks are `BoundedTransformer`s of kind
"mlp", with parameters in float64: `model.evaluate` is exact to rounding, `model.apply` to float32.

* Symmetric functions (lemma A.22): one head, $s + 1$ points, $4(s+1)$ and $2(s+1)$ neurons.
* All functions (lemma A.23): $s$ heads, or one with a bag of vectors; $2^s$ points, $4s2^s$ and
  $2^{s+1}$ neurons.
* Strings over $M$ symbols: $M^s$ points. There is no analogue of the symmetric case, nor of the
  bag of vectors.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from elegans import checks
from elegans.constructions.memoriser import memoriser
from elegans.constructions.selection import Selection, selection_head, selection_heads
from elegans.models.transformers.bounded import BoundedTransformer
from elegans.models.transformers.bounded_forward import BoundedParams


def symmetric_transformer(
    table: Sequence[float | int],
    T: int,
    support: tuple[int, ...],
    *,
    inputs: str = "positions",
    vectors: str = "axes",
    dim: int | None = None,
    seed: int = 0,
) -> tuple[BoundedTransformer, BoundedParams]:
    """A transformer of one head that is `table[r]` where r of the bits in `support` are true.

    Args:
        table: One value for each of 0, ..., s true bits.
        T: Number of bits.
        support: The hidden positions.
        inputs: How bits become tokens: "positions", "trained" or "bag".
        vectors: Of positions: "axes", or random "signs" in `dim` dimensions.
        dim: Width of the tokens; None is the least.
        seed: Of the signs.
    """
    values = checked_table("symmetric_transformer", T, support, table, len(support) + 1)
    heads = selection_head(T, support, inputs=inputs, vectors=vectors, dim=dim, seed=seed)
    return with_memory(heads, values)


def junta_transformer(
    table: Sequence[float | int],
    T: int,
    support: tuple[int, ...],
    *,
    inputs: str = "positions",
    symbols: int = 2,
    vectors: str = "axes",
    dim: int | None = None,
    seed: int = 0,
) -> tuple[BoundedTransformer, BoundedParams]:
    r"""A transformer that computes any function of the inputs in `support`.

    Args:
        table: One value per pattern, in the order of `tasks.Junta`: bit $i$ of an entry's number is
            1 where the $i$-th bit of `support` is true. Of $M$ symbols, digit $i$ in base $M$ is
            the $i$-th symbol.
        T: Number of inputs.
        support: The hidden positions.
        inputs: How inputs become tokens: "positions", "trained" or "bag".
        symbols: $M$; two are bits.
        vectors: Of positions: "axes", or random "signs" in `dim` dimensions.
        dim: Width of the tokens; None is the least.
        seed: Of the signs.
    """
    owner = f"junta_transformer(T={T}, support={tuple(support)})"
    checks.whole(owner, "symbols", symbols, low=2, what="counts different inputs")
    values = checked_table("junta_transformer", T, support, table, symbols ** len(support))
    heads = selection_heads(
        T, support, inputs=inputs, symbols=symbols, vectors=vectors, dim=dim, seed=seed
    )
    return with_memory(heads, values)


def checked_table(
    name: str, T: int, support: tuple[int, ...], table: Sequence[float | int], size: int
) -> np.ndarray:
    """The table as an array, after checking its length and the hidden set."""
    owner = f"{name}(T={T}, support={tuple(support)})"
    checks.support(owner, T, len(support), support)
    values = np.asarray(table, dtype=np.float64)
    if values.shape != (size,):
        raise ValueError(
            f"{owner}: the table has {size} values for {len(support)} hidden positions; got "
            f"{len(table)}."
        )
    for value in values:
        checks.number(owner, "table", float(value), what="holds the values of the function")
    return values


def with_memory(
    heads: Selection, values: np.ndarray, *, printed: bool = False
) -> tuple[BoundedTransformer, BoundedParams]:
    r"""The heads and a memoriser of `values`, with $\delta = \gamma/4$ (as printed, $\gamma/8$)."""
    delta = heads.gamma / (8 if printed else 4)
    feedforward, readout = memoriser(heads.targets, values, delta, dim=heads.model.dim)
    model = dataclasses.replace(
        heads.model,
        kind="mlp",
        hidden=(feedforward.first.shape[1], feedforward.second.shape[1]),
    )
    params = heads.params._replace(feedforward=feedforward, readout=readout)
    return model, params
