r"""The forward pass of `TransformerClassifier`.

The last layer is needed at [CLS] alone, and a network of one layer without embedding dropout has
only $2T + 1$ different tokens: how heads use that is in `classifier_heads`.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Num, PRNGKeyArray

from elegans.fields import is_off
from elegans.models.transformers.classifier_heads import (
    chosen,
    cls_heads,
    norm_of,
    normalised,
    plus,
    table_heads,
    token_heads,
)
from elegans.models.transformers.classifier_params import ClassifierParams
from elegans.models.transformers.dropout import dropped


class ClassifierTrace(NamedTuple):
    """A forward pass: the logits, and how [CLS] attended in each head of each layer."""

    logits: Float[Array, " outputs"]
    attention: Float[Array, "layers heads tokens"]


def has_shared_tokens(model: Any, *, is_training: bool) -> bool:
    """Whether all examples have the same 2T + 1 tokens where heads read them."""
    return model.layers == 1 and not (is_training and not is_off(model.dropout.embedding))


def forward(
    model: Any, params: ClassifierParams, x: Num[Array, " T"], key: PRNGKeyArray | None
) -> ClassifierTrace:
    """The forward pass at one example; `key` draws what is dropped."""
    table = embedded(model, params, len(x))
    if has_shared_tokens(model, is_training=key is not None):
        cls = table[-1]
        heads = table_heads(model, params, table, x, key)
        stream = after_heads(model, params, 0, cls[None], heads.outputs, key)
        attention = heads.attention[None]
    else:
        stream, attention = through_layers(model, params, chosen(table, x), key)
    normed = normalised(model, norm_of(params, -1), stream[-1])
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
        is_last = layer == model.layers - 1
        heads = (cls_heads if is_last else token_heads)(model, params, layer, stream, key)
        stream = stream[-1:] if is_last else stream
        stream = after_heads(model, params, layer, stream, heads.outputs, key)
        attention.append(heads.attention)
    return stream, jnp.stack(attention)


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


def activated(name: str, z: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Rectifiers, or GELU with the error function (JAX's default is its tanh approximation)."""
    return jax.nn.relu(z) if name == "relu" else jax.nn.gelu(z, approximate=False)
