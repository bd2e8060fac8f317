"""The weights of heads that select: networks, keys and values as arrays.

All queries are a multiple of the axis of [CLS]. A head for positions has rank one: one key vector,
one value vector, one output. The head for a bag of vectors has one value per hidden bit.
"""

import dataclasses

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.models.transformers.bit_embedding import first_position_axis
from elegans.models.transformers.bounded import BoundedTransformer
from elegans.models.transformers.bounded_forward import AttentionLayer, BoundedParams


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


def one_layer(layer: AttentionLayer) -> BoundedParams:
    """Parameters of kind "head"."""
    return BoundedParams(None, (layer,), None, None)


def symbol_levels(width: int, symbols: int, *, printed: bool) -> Float[np.ndarray, " dim"]:
    """The value vector that is an even level in [-1, 1] at each symbol; as printed, decreasing."""
    value = np.zeros(width)
    levels = np.linspace(-1.0, 1.0, symbols)
    value[1 : 1 + symbols] = -levels if printed else levels
    return value


def rank_one_layer(
    rate: float,
    keys: Float[np.ndarray, "heads dim"],
    value: Float[np.ndarray, " dim"],
    *,
    printed: bool,
) -> AttentionLayer:
    """Heads of rank one, head h writing the same value to output h.

    As printed for several heads, values go to a second coordinate of the head that is not read.
    """
    heads, dim = keys.shape
    width = 2 if printed else 1
    query, key, values = (np.zeros((heads, dim, width)) for _ in range(3))
    output = np.zeros((heads, width, dim))
    query[:, 0, 0] = rate
    key[:, :, 0] = keys
    values[:, :, width - 1] = value
    output[np.arange(heads), 0, np.arange(heads)] = 1.0
    return AttentionLayer(query, key, values, output)


def bag_layer(rate: float, readers: Float[np.ndarray, "s dim"], outputs: int) -> AttentionLayer:
    """One head with a value per hidden bit, read by `readers`; all go to one output or one each."""
    s, dim = readers.shape
    query, key, value = (np.zeros((1, dim, s)) for _ in range(3))
    query[0, 0, 0] = rate
    key[0, :, 0] = readers.sum(axis=0)
    key[0, 0, 0] = 1.0  # [CLS] attends to itself, as to one more bit
    value[0] = readers.T
    value[0, 0] = -1.0
    output = np.zeros((1, s, dim))
    output[0, np.arange(s), np.arange(s) % outputs] = 1.0
    return AttentionLayer(query, key, value, output)
