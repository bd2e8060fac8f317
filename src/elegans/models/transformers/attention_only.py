r"""Attention-only transformers (thesis, equations 8.4 and 8.5).

$$TF(x) = P \circ (\mathrm{Attn}_n + I) \circ \dots \circ (\mathrm{Attn}_1 + I)(E_x), \qquad
\mathrm{Attn}(z) = \operatorname{softmax}(\operatorname{mask}(A))\, z W_V, \quad
A_{ij} = \frac{(z_i W_Q)(z_j W_K + v_{i-j+1})^\top}{\sqrt d}.$$

There is no normalisation and no bias. With several heads, head $h$ has its own $d/H$ columns of
$W_Q, W_K, W_V, v$ and writes into its own coordinates of the stream. Positions are relative, as
above, or absolute: added to the embedding. The stream is kept factored (`models.attention`) as long
as that is smaller than `dim` numbers a position.
"""

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int, PRNGKeyArray

from elegans import checks
from elegans.descriptions import token_sizes
from elegans.fields import Number, configuration, is_off
from elegans.models.transformers.kernels import (
    Mixed,
    feature_attention,
    toeplitz,
    token_attention,
)
from elegans.protocols import Init, check_init

POSITIONS = ("relative", "absolute")


class Attention(NamedTuple):
    """One layer's parameters; `position[j]` belongs to keys that are j tokens back."""

    query: Float[Array, "dim dim"]
    key: Float[Array, "dim dim"]
    value: Float[Array, "dim dim"]
    position: Float[Array, "length dim"] | None


class Hidden(NamedTuple):
    r"""A layer of hidden neurons, $z \mapsto z + \operatorname{relu}(z W + b)\, U$."""

    weight: Float[Array, "dim hidden"]
    bias: Float[Array, " hidden"]
    output: Float[Array, "hidden dim"]


class Transformer(NamedTuple):
    """Parameters, from input to output."""

    embedding: Float[Array, "states dim"]
    position: Float[Array, "length dim"] | None
    layers: tuple[Attention, ...]
    hidden: tuple[Hidden, ...]
    readout: Float[Array, "dim states"]


class Trace(NamedTuple):
    """A forward pass: what comes out, how each head of each layer attended, the hidden neurons."""

    logits: Float[Array, "length states"]
    attention: Float[Array, "layers heads length length"]
    hidden: tuple[Float[Array, "length hidden"], ...] = ()


@configuration
class AttentionOnly:
    """A transformer with `layers` layers of `heads` heads on a stream of `dim` numbers.

    Attributes:
        position: "relative" embeddings added to keys, or "absolute" ones to the tokens'.
        mlp: Whether a layer of `4 * dim` hidden neurons follows each attention.
        dropout: Probability of zeroing a number that a layer adds to the stream, in training.
        scale: Weights start as normal numbers of variance `scale**2 / dim`.
        init: Another initialisation, which does not look at `scale`.
    """

    layers: int = 2
    heads: int = 1
    dim: int = 16
    position: str = "relative"
    mlp: bool = False
    dropout: Number = 0.0
    scale: Number = 1.0
    init: Init | None = None

    def __post_init__(self) -> None:
        checks.whole(self, "layers", self.layers, low=1, what="counts the attention layers")
        checks.whole(self, "heads", self.heads, low=1, what="counts the heads of a layer")
        checks.whole(self, "dim", self.dim, low=1, what="counts the numbers of the stream")
        checks.choice(self, "position", self.position, POSITIONS)
        checks.number(self, "scale", self.scale, low=0.0, what="multiplies the weights")
        checks.number(self, "dropout", self.dropout, low=0.0, high=1.0, what="is a probability")
        if self.dim % self.heads:
            raise ValueError(
                f"{checks.shown(self)}: each head has its own dim / heads numbers of the stream, "
                f"so heads divides dim; {self.dim % self.heads} left."
            )

    def check(self, task: Any) -> None:
        """Refuses a task that has no sequences of tokens."""
        token_sizes(self, task)
        check_init(self, task)

    @property
    def body(self) -> "AttentionOnly":
        """What predictions depend on: the network however it starts."""
        return dataclasses.replace(self, scale=1.0, init=None)

    @property
    def is_stochastic(self) -> bool:
        """Whether training draws random numbers in `apply`."""
        return not is_off(self.dropout)

    def init_params(self, key: PRNGKeyArray, task: Any) -> Transformer:
        """Parameters for sequences of the task's length and states."""
        if self.init is not None:
            return self.init(key, self, task)
        keys = iter(jr.split(key, 3 + 7 * self.layers))

        def normal(*shape: int) -> Float[Array, "..."]:
            return self.scale * (1 / math.sqrt(self.dim)) * jr.normal(next(keys), shape)

        states, length = token_sizes(self, task)
        d, is_relative = self.dim, self.position == "relative"
        return Transformer(
            embedding=normal(states, d),
            position=None if is_relative else normal(length, d),
            layers=tuple(
                Attention(
                    normal(d, d),
                    normal(d, d),
                    normal(d, d),
                    normal(length, d) if is_relative else None,
                )
                for _ in range(self.layers)
            ),
            hidden=tuple(
                Hidden(normal(d, 4 * d), jnp.zeros(4 * d), normal(4 * d, d) / 2)
                for _ in range(self.layers if self.mlp else 0)
            ),
            readout=normal(d, states),
        )

    def apply(
        self, params: Transformer, x: Int[Array, " length"], key: PRNGKeyArray | None = None
    ) -> Float[Array, "length states"]:
        """The logits of the next token at each position; `key` draws what is dropped."""
        return self.trace(params, x, key).logits

    def trace(
        self, params: Transformer, x: Int[Array, " length"], key: PRNGKeyArray | None = None
    ) -> Trace:
        """The forward pass at one sequence, attention and hidden neurons included."""
        stream = self._embedded(params, x)
        attention, neurons = [], []
        for i, layer in enumerate(params.layers):
            heads = self._heads(layer, stream, is_one_hot=i == 0 and params.position is None)
            attention.append(jnp.stack([head.attention for head in heads]))
            noise = None if key is None else jr.fold_in(key, i)
            stream = self._added(layer, stream, heads, noise)
            if params.hidden:
                neurons.append(stream.neurons(params.hidden[i]))
                stream = stream.after(params.hidden[i], neurons[-1])
        logits = stream.through(params.readout).T @ stream.features
        return Trace(logits.T, jnp.stack(attention), tuple(each.T for each in neurons))

    @property
    def activation(self) -> str:
        """That of the hidden neurons, where there are any."""
        return "relu"

    def outgoing(self, params: Transformer) -> tuple[Float[Array, " hidden"], ...]:
        """The length of what each hidden neuron adds to the stream when it is one, by layer."""
        return tuple(jnp.linalg.norm(hidden.output, axis=1) for hidden in params.hidden)

    def scores(
        self, params: Transformer, x: Int[Array, " length"]
    ) -> Float[Array, "layers heads length length"]:
        """The scores $A_{ij}$ of equation 8.5, before mask and softmax; zero above the diagonal.

        Attention needs them up to a constant per query alone, and the kernels never form all.
        """
        attention = self.trace(params, x).attention
        stream = self._embedded(params, x)
        scores = []
        for i, layer in enumerate(params.layers):
            heads = []
            for query, key, position in self._per_head(layer, stream):
                queries, keys = query.T @ stream.features, key.T @ stream.features
                score = queries.T @ keys
                if position is not None:
                    score += jnp.einsum("hi,hij->ij", queries, toeplitz(position.T, 0.0))
                heads.append(jnp.tril(score))
            scores.append(jnp.stack(heads))
            mixed = [
                Mixed(stream.features @ attention[i, h].T, attention[i, h])
                for h in range(self.heads)
            ]
            stream = self._added(layer, stream, mixed, None)
            if params.hidden:
                stream = stream.after(params.hidden[i], stream.neurons(params.hidden[i]))
        return jnp.stack(scores)

    def positional_encoding(self, params: Transformer) -> Float[Array, "heads states length"]:
        r"""The first layer's $\operatorname{softmax}(e_x W_Q v^\top / \sqrt d)$ for each token $x$.

        Where positions dominate the scores this is how the layer attends, by distance. (The text
        prints $W_K$ for $W_Q$; equation 8.5 adds $v$ to the keys, so it meets the query.)
        """
        layer = params.layers[0]
        if layer.position is None:
            raise ValueError(f"{checks.shown(self)}: only relative positions have an encoding.")
        tables = [
            scores_by_distance(query, position)
            for query, _, position in self._per_head(layer, Stream(jnp.eye(1), params.embedding))
            if position is not None
        ]
        return jax.nn.softmax(jnp.stack(tables), axis=-1)

    def _embedded(self, params: Transformer, x: Int[Array, " length"]) -> "Stream":
        """The stream before the first layer."""
        one_hot = jax.nn.one_hot(x, params.embedding.shape[0], axis=0)
        stream = Stream(one_hot, params.embedding)
        if params.position is None:
            return stream
        return Stream(stream.whole() + params.position.T, None)

    def _per_head(self, layer: Attention, stream: "Stream") -> list[tuple[Any, Any, Any]]:
        """Each head's query and key maps from features, and its positions."""
        width = self.dim // self.heads
        heads = [slice(h * width, (h + 1) * width) for h in range(self.heads)]
        return [
            (
                stream.through(layer.query[:, head]) / math.sqrt(width),
                stream.through(layer.key[:, head]),
                None if layer.position is None else layer.position[:, head],
            )
            for head in heads
        ]

    def _heads(self, layer: Attention, stream: "Stream", *, is_one_hot: bool) -> list[Mixed]:
        """What each head passes on."""
        features, mixed = stream.features, []
        for query, key, position in self._per_head(layer, stream):
            table = None if position is None else scores_by_distance(query, position)
            if is_one_hot and table is not None:
                mixed.append(token_attention(features, query @ key.T, table))
            elif features.shape[0] <= query.shape[1]:
                scored = (key @ query.T) @ features
                mixed.append(feature_attention(features, scored, features, table))
            else:
                queries, keys = query.T @ features, key.T @ features
                mixed.append(feature_attention(features, queries, keys, table))
        return mixed

    def _added(
        self, layer: Attention, stream: "Stream", heads: list[Mixed], key: PRNGKeyArray | None
    ) -> "Stream":
        """The stream after a layer has added to it, factored if that is smaller."""
        width = self.dim // self.heads
        values = stream.through(layer.value)
        if not is_off(self.dropout) and key is not None:
            parts = [
                values[:, h * width : (h + 1) * width].T @ head.features
                for h, head in enumerate(heads)
            ]
            added = jnp.concatenate(parts)
            is_kept = jr.bernoulli(key, 1 - self.dropout, added.shape)
            return Stream(stream.whole() + is_kept * added / (1 - self.dropout), None)
        features = jnp.concatenate([stream.features, *(head.features for head in heads)])
        slots = jnp.repeat(jnp.eye(self.heads), width, axis=1)
        bases = [stream.through(jnp.eye(self.dim)), *(values * slot[None, :] for slot in slots)]
        wide = Stream(features, jnp.concatenate(bases))
        return wide if features.shape[0] <= self.dim else Stream(wide.whole(), None)


class Stream(NamedTuple):
    """A residual stream `basis.T @ features`; no basis is the identity."""

    features: Float[Array, "rank length"]
    basis: Float[Array, "rank dim"] | None

    def through(self, weight: Float[Array, "dim out"]) -> Float[Array, "rank out"]:
        """The map from features that `weight` is on the stream."""
        return weight if self.basis is None else self.basis @ weight

    def whole(self) -> Float[Array, "dim length"]:
        """The stream itself."""
        return self.features if self.basis is None else self.basis.T @ self.features

    def neurons(self, hidden: Hidden) -> Float[Array, "hidden length"]:
        """The values of a layer of hidden neurons that reads the stream."""
        return jax.nn.relu(hidden.weight.T @ self.whole() + hidden.bias[:, None])

    def after(self, hidden: Hidden, neurons: Float[Array, "hidden length"]) -> "Stream":
        """The stream to which these neurons of a hidden layer have added."""
        return Stream(self.whole() + hidden.output.T @ neurons, None)


def scores_by_distance(
    query: Float[Array, "rank head"], position: Float[Array, "length head"]
) -> Float[Array, "rank length"]:
    """What each feature adds to the score of a key so many tokens back."""
    return query @ position.T
