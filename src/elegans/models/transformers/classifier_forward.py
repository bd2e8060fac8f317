r"""The forward pass of `TransformerClassifier`.

*The last layer* is needed at [CLS] alone. Its one query $q$ can be moved to the other side of the
keys, $\langle q, W_K^\top z_t \rangle = \langle W_K q, z_t \rangle$, and the average of the values
is the value of the average: no token is multiplied by $W_K$ or $W_V$. (A bias of the keys adds the
same to all scores of a head, so that the softmax does not see it.)

*One layer without embedding dropout* is simpler still. Position $t$ enters through $(b_t, t)$ only,
so there are $2T + 1$ different tokens in all, and their scores $s_j$ and values $v_j$ depend on the
parameters, not on the example. With $w_j = e^{s_j}$ a head is

$$\frac{\sum_j [j \text{ occurs in } x]\, w_j v_j}{\sum_j [j \text{ occurs in } x]\, w_j},$$

a quotient of two linear functions of the indicators: one matrix product for a whole batch, and
nothing else per example. Under `vmap` the tables are computed once, because they are not batched.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Num, PRNGKeyArray

from elegans.fields import is_off
from elegans.models.transformers.classifier_params import ClassifierParams, Norm
from elegans.models.transformers.dropout import dropped, kept

NORM_EPSILON = 1e-5  # PyTorch's
SMALLEST = 1e-37  # a normal float32: a head none of whose tokens has any weight returns zero


class Heads(NamedTuple):
    """What the heads of a layer return at [CLS], and how it attended (itself last)."""

    outputs: Float[Array, "heads width"]
    attention: Float[Array, "heads tokens"]


class ClassifierTrace(NamedTuple):
    """A forward pass: the logits, and how [CLS] attended in each head of each layer."""

    logits: Float[Array, " outputs"]
    attention: Float[Array, "layers heads tokens"]


def forward(
    model: Any, params: ClassifierParams, x: Num[Array, " T"], key: PRNGKeyArray | None
) -> ClassifierTrace:
    """The forward pass at one example; `key` draws what is dropped."""
    table = embedded(model, params, len(x))
    if model.layers == 1 and (key is None or is_off(model.dropout.embedding)):
        cls = table[-1]
        heads = table_heads(model, params, table, x, key)
        stream = after_heads(model, params, 0, cls[None], heads.outputs[:, None], key)
        attention = heads.attention[None]
    else:
        stream, attention = through_layers(model, params, chosen(table, x), key)
    normed = normalised(model, last_norm(params), stream[-1])
    return ClassifierTrace(normed @ params.weights.readout, attention)


def embedded(model: Any, params: ClassifierParams, T: int) -> Float[Array, "tokens dim"]:
    """All 2T + 1 tokens: false at each position, true at each position, [CLS]."""
    false, true, cls = params.embedding.tokens
    positions = params.embedding.positions
    if positions is None:
        ones = jnp.ones((T, 1))
        return jnp.concatenate([ones * false, ones * true, cls[None]])
    if model.positions == "fixed":
        positions = jax.lax.stop_gradient(positions)
    cls = cls + positions[T] if model.cls_position else cls
    return jnp.concatenate([false + positions[:T], true + positions[:T], cls[None]])


def chosen(table: Float[Array, "tokens *rest"], x: Num[Array, " T"]) -> Float[Array, "..."]:
    """The rows of the T + 1 tokens of an example, from those of all 2T + 1."""
    T = len(x)
    is_false = (x > 0).reshape(T, *(1,) * (table.ndim - 1))
    return jnp.concatenate([jnp.where(is_false, table[:T], table[T : 2 * T]), table[2 * T :]])


def normalised(model: Any, norm: Norm | None, z: Float[Array, "*rows dim"]) -> Float[Array, "..."]:
    """Rows after LayerNorm, after projection onto the unit ball, or as they are."""
    if model.norm == "layer":
        assert norm is not None
        centred = z - jnp.mean(z, axis=-1, keepdims=True)
        variance = jnp.mean(centred**2, axis=-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + NORM_EPSILON) * norm.gain + norm.bias
    if model.norm == "ball":
        square = jnp.sum(z**2, axis=-1, keepdims=True)
        return z * jax.lax.rsqrt(jnp.maximum(square, 1.0))
    return z


def norm_of(params: ClassifierParams, place: int) -> Norm | None:
    """The norm before attention (2 i) or before the hidden layer (2 i + 1) of layer i."""
    return params.norms[place] if params.norms else None


def last_norm(params: ClassifierParams) -> Norm | None:
    """The norm before the readout."""
    return norm_of(params, -1)


def per_head(model: Any, matrix: Float[Array, "rows columns"]) -> Float[Array, "rows heads width"]:
    """Columns as heads."""
    return matrix.reshape(len(matrix), model.heads, model.width)


def query_in_stream(
    model: Any, params: ClassifierParams, layer: int, cls: Float[Array, " dim"]
) -> Float[Array, "dim heads"]:
    """The vector of each head whose product with a token is its score for [CLS]."""
    weights, bias = params.weights.layers[layer], params.biases[layer].query
    query = plus(cls @ weights.query, bias).reshape(model.heads, model.width)
    query = query / math.sqrt(model.width)
    return jnp.einsum("dhk,hk->dh", per_head(model, weights.key), query)


def table_heads(
    model: Any,
    params: ClassifierParams,
    table: Float[Array, "tokens dim"],
    x: Num[Array, " T"],
    key: PRNGKeyArray | None,
) -> Heads:
    """The heads of a network of one layer, from the scores and values of all 2T + 1 tokens."""
    tokens = normalised(model, norm_of(params, 0), table)
    scores = tokens @ query_in_stream(model, params, 0, tokens[-1])
    weights = jnp.exp(scores - jax.lax.stop_gradient(jnp.max(scores, axis=0)))
    values = plus(tokens @ params.weights.layers[0].value, params.biases[0].value)
    weighted = weights[:, :, None] * per_head(model, values)
    is_false = (x > 0).astype(weights.dtype)
    occurs = jnp.concatenate([is_false, 1 - is_false, jnp.ones(1)])
    both = jnp.concatenate([weights, weighted.reshape(len(weights), -1)], axis=1)
    sums = occurs @ both
    total = jnp.maximum(sums[: model.heads], SMALLEST)[:, None]
    if key is None or is_off(model.dropout.attention):
        outputs = sums[model.heads :].reshape(model.heads, model.width)
    else:
        T = len(x)
        mask = kept((model.heads, T + 1), model.dropout.attention, key, salt=1)
        present = jnp.concatenate([mask[:, :T], mask], axis=1) * occurs
        outputs = jnp.einsum("hj,jhk->hk", present, weighted)
    return Heads(quotient(outputs, total), (chosen(weights, x) / total[:, 0]).T)


def quotient(
    above: Float[Array, "heads width"], below: Float[Array, "heads one"]
) -> Float[Array, "heads width"]:
    """`above / below`, whose gradient does not hold the square of `below`.

    Scores are relative to the largest of all 2T + 1 tokens. An example without that token may have
    sums of 1e-30, which are fine, and whose squares are zero.
    """
    inverse = jax.lax.stop_gradient(1 / below)
    value = jax.lax.stop_gradient(above * inverse)
    return value + (above - value * below) * inverse


def through_layers(
    model: Any,
    params: ClassifierParams,
    stream: Float[Array, "tokens dim"],
    key: PRNGKeyArray | None,
) -> tuple[Float[Array, "one dim"], Float[Array, "layers heads tokens"]]:
    """The stream at [CLS] after all layers, token by token, and its attention in each."""
    stream = dropped(stream, model.dropout.embedding, key, salt=0)
    attention = []
    for layer in range(model.layers):
        tokens = normalised(model, norm_of(params, 2 * layer), stream)
        is_last = layer == model.layers - 1
        queries = tokens[-1:] if is_last else tokens
        outputs, weights = token_heads(model, params, layer, tokens, queries, key)
        stream = stream[-1:] if is_last else stream
        stream = after_heads(model, params, layer, stream, outputs, key)
        attention.append(weights)
    return stream, jnp.stack(attention)


def token_heads(
    model: Any,
    params: ClassifierParams,
    layer: int,
    tokens: Float[Array, "tokens dim"],
    queries: Float[Array, "queries dim"],
    key: PRNGKeyArray | None,
) -> tuple[Float[Array, "heads queries width"], Float[Array, "heads tokens"]]:
    """What heads return for the last tokens as queries, and the attention of [CLS]."""
    matrices, bias = params.weights.layers[layer], params.biases[layer]
    if len(queries) == 1:
        asked = query_in_stream(model, params, layer, queries[0])
        scores = (tokens @ asked).T[:, None]
    else:
        query = per_head(model, plus(queries @ matrices.query, bias.query))
        query = query / math.sqrt(model.width)
        scores = jnp.einsum("ihk,jhk->hij", query, per_head(model, tokens @ matrices.key))
    weights = jax.nn.softmax(scores, axis=-1)
    noisy = dropped(weights, model.dropout.attention, key, salt=1 + 4 * layer)
    mixed = jnp.einsum("hij,jd->hid", noisy, tokens)
    outputs = jnp.einsum("hid,dhk->hik", mixed, per_head(model, matrices.value))
    if bias.value is not None:
        # Dropped weights do not sum to one, and the values that they weigh hold the bias.
        share = jnp.sum(noisy, axis=-1)[:, :, None]
        outputs = outputs + share * bias.value.reshape(model.heads, 1, model.width)
    return outputs, weights[:, -1]


def after_heads(
    model: Any,
    params: ClassifierParams,
    layer: int,
    stream: Float[Array, "queries dim"],
    outputs: Float[Array, "heads queries width"],
    key: PRNGKeyArray | None,
) -> Float[Array, "queries dim"]:
    """The stream after attention has added to it, and then the hidden layer."""
    weights, bias = params.weights.layers[layer], params.biases[layer]
    joined = jnp.swapaxes(outputs, 0, 1).reshape(len(stream), -1)
    added = plus(joined @ weights.output, bias.output)
    added = dropped(added, model.dropout.output, key, salt=2 + 4 * layer)
    stream = stream + added if model.residual else added
    tokens = normalised(model, norm_of(params, 2 * layer + 1), stream)
    hidden = activated(model.activation, tokens @ weights.hidden + bias.hidden)
    added = dropped(
        hidden @ weights.back + bias.back, model.dropout.output, key, salt=3 + 4 * layer
    )
    return stream + added if model.residual else added


def plus(values: Float[Array, "*rows n"], bias: Float[Array, " n"] | None) -> Float[Array, "..."]:
    """With a bias, if there is one."""
    return values if bias is None else values + bias


def activated(name: str, z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Rectifiers, or GELU with the error function (JAX's default is its tanh approximation)."""
    return jax.nn.relu(z) if name == "relu" else jax.nn.gelu(z, approximate=False)
