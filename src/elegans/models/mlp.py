r"""Multi-layer perceptrons, $x \mapsto W_{d+1}\,\sigma(W_d \cdots \sigma(W_1 x + b_1) \cdots)$.

`apply` takes one example; whoever has a batch writes `vmap`. Parameters are a tuple of layers with
`weight` of shape (fan-in, fan-out), so column $j$ of the first is the vector of hidden neuron $j$.
"""

import dataclasses
from dataclasses import field
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks
from elegans.descriptions import input_size, output_size
from elegans.fields import Number, configuration, is_off
from elegans.models import activations
from elegans.models.inits import Layers, Uniform
from elegans.protocols import Init, check_init


@configuration
class MLP:
    """A network with `depth` hidden layers of `width` neurons.

    `activation` is "relu", "gelu", "tanh", "sin", "z^d" for the power of degree d, or one that is
    made for parities, as "zigzag:3" (see `models.activations`). `dropout` is the probability of
    silencing a hidden neuron in training, to the nearest 256th.
    """

    width: int
    depth: int = 1
    activation: str = "relu"
    init: Init = field(default_factory=Uniform)
    dropout: Number = 0.0
    output_layer: bool = True

    def __post_init__(self) -> None:
        checks.whole(self, "width", self.width, low=1, what="counts the neurons of a layer")
        checks.whole(self, "depth", self.depth, low=1, what="counts the hidden layers")
        share = "is the share of neurons that are silenced"
        checks.number(self, "dropout", self.dropout, low=0, high=0.99, what=share)
        activations.check(self, self.activation)
        if isinstance(self.init, type) or not callable(self.init):
            raise TypeError(f"MLP: init is one such as inits.Sparse(2); got {self.init!r}.")

    def check(self, task: Any) -> None:
        """Refuses a task that this network cannot start on."""
        input_size(self, task)
        check_init(self, task)

    def sizes(self, task: Any) -> tuple[int, ...]:
        """The widths of all layers, input and output included."""
        hidden = (self.width,) * self.depth
        if not self.output_layer:
            return (input_size(self, task), *hidden)
        return (input_size(self, task), *hidden, output_size(task))

    def init_params(self, key: PRNGKeyArray, task: Any) -> Layers:
        """The parameters before the first step, as `init` says."""
        return self.init(key, self, task)

    @property
    def is_stochastic(self) -> bool:
        """Whether training draws random numbers in `apply`."""
        return not is_off(self.dropout)

    @property
    def body(self) -> "MLP":
        """What predictions depend on: the network however it starts."""
        return dataclasses.replace(self, init=Uniform())

    def apply(
        self, params: Layers, x: Float[Array, "*batch n"], key: PRNGKeyArray | None = None
    ) -> Float[Array, "..."]:
        """The prediction at one example: a number, or one logit a class; with a `key`, dropout."""
        sigma = activations.activation(self.activation)
        if not self.output_layer:
            for weight, bias in params.layers:
                x = sigma(x @ weight + bias)
            return jnp.sum(x, axis=-1)
        for i, (weight, bias) in enumerate(params.layers[:-1]):
            x = sigma(x @ weight + bias)
            if not is_off(self.dropout) and key is not None:
                x = dropout(jr.fold_in(key, i), x, self.dropout)
        weight, bias = params.layers[-1]
        out = x @ weight + bias
        return out[..., 0] if weight.shape[1] == 1 else out


def dropout(key: PRNGKeyArray, x: Float[Array, "*shape"], share: Number) -> Float[Array, "*shape"]:
    """`x` with a `share` of its numbers zeroed, to the nearest 256th, and the rest made larger.

    A random byte a number, not a word: random numbers are what dropout costs on a CPU.
    """
    zeroed = jnp.round(256 * jnp.asarray(share, jnp.float32))
    words = jr.bits(key, (-(-x.size // 4),), jnp.uint32)
    random = jax.lax.bitcast_convert_type(words, jnp.uint8).reshape(-1)[: x.size].reshape(x.shape)
    is_kept = random >= zeroed.astype(jnp.uint8)
    return jnp.where(is_kept, x * (256 / (256 - zeroed)), 0.0)
