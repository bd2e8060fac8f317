r"""The heads of `TransformerClassifier`: three ways to compute them, which agree where they meet.

*At [CLS] alone*, which is all that the last layer needs, the one query $q$ of a head can be moved
to the other side of the keys, $\langle q, W_K^\top z_t \rangle = \langle W_K q, z_t \rangle$, and
the average of the values is the value of the average: no token is multiplied by $W_K$ or $W_V$. (A
bias of the keys adds the same to all scores of a head, so that the softmax does not see it.) Nor is
a token normalised. LayerNorm is $\mathrm{norm}\, z = \rho_z\, g \circ Cz + b$ with the centring
$C$ and one number $\rho_z$ per token, so that

$$\langle a, \mathrm{norm}\, z_t \rangle = \rho_t \langle C(g \circ a), z_t \rangle + \text{const},
\qquad \sum_t w_t\, \mathrm{norm}\, z_t = g \circ C \sum_t w_t \rho_t z_t + b \sum_t w_t:$$

queries and averages, of which there is one per head, are centred in the place of all tokens.

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
    """What the heads of a layer return for each query, and how [CLS] attended (itself last)."""

    outputs: Float[Array, "heads queries width"]
    attention: Float[Array, "heads tokens"]


def chosen(table: Float[Array, "tokens *rest"], x: Num[Array, " T"]) -> Float[Array, "..."]:
    """The rows of the T + 1 tokens of an example, from those of all 2T + 1."""
    T = len(x)
    is_false = (x > 0).reshape(T, *(1,) * (table.ndim - 1))
    return jnp.concatenate([jnp.where(is_false, table[:T], table[T : 2 * T]), table[2 * T :]])


def normalised(model: Any, norm: Norm | None, z: Float[Array, "*rows dim"]) -> Float[Array, "..."]:
    """Rows after LayerNorm, after projection onto the unit ball, or as they are."""
    if model.norm == "layer":
        assert norm is not None
        return centred(z, norm) * norm_scales(model, z)[..., None] * norm.gain + norm.bias
    return z * norm_scales(model, z)[..., None] if model.norm == "ball" else z


def centred(rows: Float[Array, "*rows dim"], norm: Norm | None) -> Float[Array, "*rows dim"]:
    """Rows without their mean, if there is a LayerNorm."""
    return rows if norm is None else rows - jnp.mean(rows, axis=-1, keepdims=True)


def norm_scales(model: Any, z: Float[Array, "*rows dim"]) -> Float[Array, "*rows"]:
    """What the norm multiplies each row by, after LayerNorm has centred it."""
    if model.norm == "layer":
        return jax.lax.rsqrt(jnp.var(z, axis=-1) + NORM_EPSILON)
    if model.norm == "ball":
        return jax.lax.rsqrt(jnp.maximum(jnp.sum(z**2, axis=-1), 1.0))
    return jnp.ones(z.shape[:-1])


def norm_of(params: ClassifierParams, place: int) -> Norm | None:
    """The norm before attention (2 i) or before the hidden layer (2 i + 1) of layer i."""
    return params.norms[place] if params.norms else None


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
    attention = (chosen(weights, x) / total[:, 0]).T
    return Heads(quotient(outputs, total)[:, None], attention)


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


def cls_heads(
    model: Any,
    params: ClassifierParams,
    layer: int,
    stream: Float[Array, "tokens dim"],
    key: PRNGKeyArray | None,
) -> Heads:
    """The heads of a layer for the query of the last token, from a stream before its norm."""
    norm = norm_of(params, 2 * layer)
    cls = normalised(model, norm, stream[-1])
    asked = query_in_stream(model, params, layer, cls).T
    scales = norm_scales(model, stream)
    asked = centred(asked if norm is None else asked * norm.gain, norm)
    weights = jax.nn.softmax((asked @ stream.T) * scales, axis=-1)
    noisy = dropped(weights, model.dropout.attention, key, salt=1 + 4 * layer)
    mixed = centred((noisy * scales) @ stream, norm)
    # Dropped weights do not sum to one, and what they weigh holds the biases.
    share = jnp.sum(noisy, axis=-1)[:, None]
    if norm is not None:
        mixed = mixed * norm.gain + share * norm.bias
    value, bias = params.weights.layers[layer].value, params.biases[layer].value
    outputs = jnp.einsum("hd,dhk->hk", mixed, per_head(model, value))
    if bias is not None:
        outputs = outputs + share * bias.reshape(model.heads, model.width)
    return Heads(outputs[:, None], weights)


def token_heads(
    model: Any,
    params: ClassifierParams,
    layer: int,
    stream: Float[Array, "tokens dim"],
    key: PRNGKeyArray | None,
) -> Heads:
    """The heads of a layer for the queries of all tokens, from a stream before its norm."""
    tokens = normalised(model, norm_of(params, 2 * layer), stream)
    matrices, bias = params.weights.layers[layer], params.biases[layer]
    query = per_head(model, plus(tokens @ matrices.query, bias.query)) / math.sqrt(model.width)
    # A bias of the keys would add the same to all scores of a query.
    scores = jnp.einsum("ihk,jhk->hij", query, per_head(model, tokens @ matrices.key))
    weights = jax.nn.softmax(scores, axis=-1)
    noisy = dropped(weights, model.dropout.attention, key, salt=1 + 4 * layer)
    values = per_head(model, plus(tokens @ matrices.value, bias.value))
    return Heads(jnp.einsum("hij,jhk->hik", noisy, values), weights[:, -1])


def plus(values: Float[Array, "*rows n"], bias: Float[Array, " n"] | None) -> Float[Array, "..."]:
    """With a bias, if there is one."""
    return values if bias is None else values + bias
