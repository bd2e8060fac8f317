r"""The forward pass of `BoundedTransformer`, in NumPy or in JAX.

The functions take the array module `xp` as an argument, so that there is one formula for training
(JAX, one example, float32) and for weights that are set by hand (NumPy, many examples, float64).
"""

import math
from types import ModuleType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Array, Float
from scipy.special import erf

from elegans.models.transformers.bit_embedding import tokens_through

AnyArray = Array | np.ndarray


class AttentionLayer(NamedTuple):
    """The weights of the heads of one layer; `output` is $W_C$."""

    query: Float[AnyArray, "heads dim key"]
    key: Float[AnyArray, "heads dim key"]
    value: Float[AnyArray, "heads dim key"]
    output: Float[AnyArray, "heads key dim"] | None


class Feedforward(NamedTuple):
    """Two layers of rectifiers; the last row of each matrix is the bias."""

    first: Float[AnyArray, "inputs wide"]
    second: Float[AnyArray, "more narrow"]


class BoundedParams(NamedTuple):
    """Parameters, from input to output; what a kind does not have is None."""

    positions: Float[AnyArray, "T dim"] | None
    layers: tuple[AttentionLayer, ...]
    feedforward: Feedforward | None
    readout: Float[AnyArray, " last"] | None


class AttentionTrace(NamedTuple):
    """A forward pass: the output, and how [CLS] attended (itself last)."""

    output: Any
    attention: Any


@runtime_checkable
class Options(Protocol):
    """What the forward pass reads from the model."""

    @property
    def kind(self) -> str:
        """Which of the four networks it is."""
        ...

    @property
    def activation(self) -> str:
        """The name of the activation of the heads."""
        ...

    @property
    def inputs(self) -> str:
        """The map from bits to tokens."""
        ...

    @property
    def symbols(self) -> int:
        """The number of different inputs."""
        ...

    @property
    def vectors(self) -> str:
        """Which vectors positions have."""
        ...

    @property
    def seed(self) -> int:
        """Of those vectors."""
        ...


def ball_projection(xp: ModuleType, z: Any) -> Any:
    """Rows inside the unit ball as they are, others divided by their norm."""
    # The square is kept from 0, whose root has no derivative.
    square = (z * z).sum(axis=-1, keepdims=True)
    return z / xp.sqrt(xp.where(square > 1, square, 1.0))


def forward(model: Options, xp: ModuleType, params: BoundedParams, x: Any) -> AttentionTrace:
    """The formula of the module, in NumPy or JAX, for `x` of shape (..., T)."""

    def tokens(weight: Any) -> Any:
        return tokens_through(
            xp,
            x,
            weight,
            inputs=model.inputs,
            symbols=model.symbols,
            vectors=model.vectors,
            seed=model.seed,
            positions=params.positions,
        )

    attention = []
    if model.kind == "block":
        dim = params.layers[0].query.shape[1]
        stream = ball_projection(xp, tokens(xp.eye(dim)[None]))  # a single "head": (..., 1, T+1, d)
        for i, layer in enumerate(params.layers):
            stream, weights = block(model, xp, layer, stream, is_last=i == len(params.layers) - 1)
            attention.append(weights)
        y = stream[..., 0, -1, :]
    else:
        (layer,) = params.layers
        query = layer.query[:, :1]  # of [CLS], the first axis
        weights = softmax(xp, tokens(layer.key) @ query.swapaxes(-1, -2))[..., 0]
        heads = (weights[..., None, :] @ tokens(layer.value))[..., 0, :]
        attention.append(weights)
        y = sum_of_heads(model, xp, layer, heads[..., None, :])[..., 0, :]
    return AttentionTrace(read_out(xp, params, y), xp.stack(attention, axis=-3))


def block(
    model: Options, xp: ModuleType, layer: AttentionLayer, stream: Any, *, is_last: bool
) -> tuple[Any, Any]:
    """The stream after one layer, and the attention of [CLS]; after the last, [CLS] alone."""
    queries = (stream[..., -1:, :] if is_last else stream) @ layer.query
    scores = (stream @ layer.key) @ queries.swapaxes(-1, -2)
    weights = softmax(xp, scores)  # along tokens, which are rows: (..., heads, T + 1, queries)
    heads = weights.swapaxes(-1, -2) @ (stream @ layer.value)
    added = sum_of_heads(model, xp, layer, ball_projection(xp, heads))
    return ball_projection(xp, added)[..., None, :, :], weights[..., -1]


def sum_of_heads(model: Options, xp: ModuleType, layer: AttentionLayer, heads: Any) -> Any:
    """The sum of the heads, (..., queries, dim), after the activation and $W_C$."""
    activated = activation(model.activation, xp, heads)
    if layer.output is not None:
        activated = activated @ layer.output
    return activated.sum(axis=-3)


def read_out(xp: ModuleType, params: BoundedParams, y: Any) -> Any:
    """The output from the vector of the heads."""
    if params.feedforward is not None:
        for weight in params.feedforward:
            y = xp.maximum(y @ weight[:-1] + weight[-1], 0.0)
    return y if params.readout is None else y @ params.readout


def softmax(xp: ModuleType, scores: Any) -> Any:
    """The softmax along the rows, axis -2."""
    exponentials = xp.exp(scores - scores.max(axis=-2, keepdims=True))
    return exponentials / exponentials.sum(axis=-2, keepdims=True)


def activation(name: str, xp: ModuleType, z: Any) -> Any:
    """The activation of that name at `z`."""
    if name == "relu":
        return xp.maximum(z, 0.0)
    if name == "gelu":
        scaled = z / math.sqrt(2.0)
        return z / 2 * (1 + (erf(scaled) if xp is np else jax.scipy.special.erf(scaled)))
    return z
