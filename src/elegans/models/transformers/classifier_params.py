r"""The parameters of `TransformerClassifier`, and how they start.

Matrices are apart from biases and norms, because weight decay is for matrices alone in the code
that the documents used: `Group("weights", learning_rate, weight_decay)` is that rule.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks
from elegans.fields import Number, configuration

TOKENS = 3  # false (+1), true (-1) and [CLS]


class Embedding(NamedTuple):
    """Vectors of the tokens false, true and [CLS], and of positions (that of [CLS] last)."""

    tokens: Float[Array, "tokens dim"]
    positions: Float[Array, "places dim"] | None


class LayerWeights(NamedTuple):
    """The matrices of one layer; columns of the first three are head after head."""

    query: Float[Array, "dim heads_key"]
    key: Float[Array, "dim heads_key"]
    value: Float[Array, "dim heads_key"]
    output: Float[Array, "heads_key dim"]
    hidden: Float[Array, "dim hidden"]
    back: Float[Array, "hidden dim"]


class LayerBiases(NamedTuple):
    """The biases of one layer; those of attention are None in a network without them."""

    query: Float[Array, " heads_key"] | None
    key: Float[Array, " heads_key"] | None
    value: Float[Array, " heads_key"] | None
    output: Float[Array, " dim"] | None
    hidden: Float[Array, " hidden"]
    back: Float[Array, " dim"]


class Norm(NamedTuple):
    """What LayerNorm multiplies by and adds."""

    gain: Float[Array, " dim"]
    bias: Float[Array, " dim"]


class Weights(NamedTuple):
    """All matrices but the embedding."""

    layers: tuple[LayerWeights, ...]
    readout: Float[Array, "dim outputs"]


class ClassifierParams(NamedTuple):
    """Parameters; `norms` are two per layer and one at the end, or none at all."""

    embedding: Embedding
    weights: Weights
    biases: tuple[LayerBiases, ...]
    norms: tuple[Norm, ...]


@configuration
class NormalInit:
    """Every matrix and embedding normal with standard deviation `scale`, as in minGPT."""

    scale: Number = 0.02

    def __post_init__(self) -> None:
        checks.number(self, "scale", self.scale, low=0.0, what="is a standard deviation")

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> ClassifierParams:
        """The parameters of `model` on `task` before the first step."""
        return drawn(key, model, task, lambda key, shape, fans: self.scale * jr.normal(key, shape))


@configuration
class XavierInit:
    r"""Every matrix and embedding uniform on $\pm\sqrt{6/(\text{fan-in} + \text{fan-out})}$.

    Each head has matrices of its own, so that the fans of a query are `dim` and `key_width`.
    """

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> ClassifierParams:
        """The parameters of `model` on `task` before the first step."""

        def uniform(
            key: PRNGKeyArray, shape: tuple[int, int], fans: int
        ) -> Float[Array, "rows columns"]:
            limit = math.sqrt(6 / fans)
            return jr.uniform(key, shape, minval=-limit, maxval=limit)

        return drawn(key, model, task, uniform)


def drawn(key: PRNGKeyArray, model: Any, task: Any, matrix: Callable[..., Any]) -> ClassifierParams:
    """Matrices by `matrix(key, shape, fan-in + fan-out)`, biases zero, gains one."""
    keys = iter(jr.split(key, 3 + 6 * model.layers))
    dim, wide, hidden = model.dim, model.heads * model.width, model.hidden_width
    places = model.places(task.features)

    def weight(rows: int, columns: int, fans: int | None = None) -> Float[Array, "rows columns"]:
        return matrix(next(keys), (rows, columns), rows + columns if fans is None else fans)

    layers = tuple(
        LayerWeights(
            query=weight(dim, wide, dim + model.width),
            key=weight(dim, wide, dim + model.width),
            value=weight(dim, wide, dim + model.width),
            output=weight(wide, dim, dim + model.width),
            hidden=weight(dim, hidden),
            back=weight(hidden, dim),
        )
        for _ in range(model.layers)
    )
    bias = jnp.zeros(wide) if model.bias else None
    offsets = LayerBiases(
        query=bias,
        key=bias,
        value=bias,
        output=jnp.zeros(dim) if model.bias else None,
        hidden=jnp.zeros(hidden),
        back=jnp.zeros(dim),
    )
    norms = 2 * model.layers + 1 if model.norm == "layer" else 0
    return ClassifierParams(
        embedding=Embedding(
            tokens=weight(TOKENS, dim),
            positions=weight(places, dim) if places else None,
        ),
        weights=Weights(layers, weight(dim, model.outputs)),
        biases=(offsets,) * model.layers,
        norms=(Norm(jnp.ones(dim), jnp.zeros(dim)),) * norms,
    )
