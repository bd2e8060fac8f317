r"""Multi-layer perceptrons, $x \mapsto W_{d+1}\,\sigma(W_d \cdots \sigma(W_1 x + b_1) \cdots)$.

`apply` takes one example; whoever has a batch writes `vmap`. Parameters are a tuple of layers with
`weight` of shape (fan-in, fan-out), so column $j$ of the first is the vector of hidden neuron $j$.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks
from elegans.descriptions import input_size, output_size
from elegans.fields import Number, configuration, is_off
from elegans.models import activations
from elegans.models.inits import Layer, Layers, Uniform
from elegans.protocols import Init, check_init


class ForwardPass(NamedTuple):
    """What an MLP computes on the way: its prediction, and the values of each hidden layer."""

    prediction: Float[Array, "..."]
    hidden: tuple[Float[Array, "..."], ...]


@configuration
class MLP:
    """A network of hidden layers: `depth` of them with `width` neurons, or as `hidden` says.

    Attributes:
        width: Neurons of each hidden layer, of which there are `depth`.
        activation: "relu", "gelu", "tanh", "sin", "z^d" for the power of degree d, or one that is
            made for parities, as "zigzag:3" (see `models.activations`).
        init: How weights start.
        dropout: The probability of silencing a hidden neuron in training, to the nearest 256th.
        hidden: The widths of all hidden layers, in place of `width` and `depth`.
        output_layer: Whether there is one; without it the last hidden neurons are the prediction.
        output_bias: Whether the output layer has a bias, and `hidden_bias` the others.
    """

    width: int | None = None
    depth: int = 1
    activation: str = "relu"
    init: Init = field(default_factory=Uniform)
    dropout: Number = 0.0
    hidden: tuple[int, ...] | None = None
    output_layer: bool = True
    output_bias: bool = True
    hidden_bias: bool = True

    def __post_init__(self) -> None:
        self._check_widths()
        share = "is the share of neurons that are silenced"
        checks.number(self, "dropout", self.dropout, low=0, high=0.99, what=share)
        activations.check(self, self.activation)
        if isinstance(self.init, type) or not callable(self.init):
            raise TypeError(f"MLP: init is one such as inits.Sparse(2); got {self.init!r}.")

    def _check_widths(self) -> None:
        """Refuses widths that are not counts, or given twice."""
        checks.whole(self, "depth", self.depth, low=1, what="counts the hidden layers")
        if self.hidden is None and self.width is None:
            raise ValueError("MLP: give the width of its hidden layers, or all widths as hidden.")
        if self.hidden is None:
            checks.whole(self, "width", self.width, low=1, what="counts the neurons of a layer")
            return
        if self.width is not None or self.depth != 1:
            raise ValueError(
                f"{checks.shown(self)}: hidden has the widths of all hidden layers, so width and "
                "depth are not given."
            )
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for width in self.hidden:
            checks.whole(self, "hidden", width, low=1, what="holds widths of layers")
        if not self.hidden:
            raise ValueError(f"{checks.shown(self)}: hidden holds at least one width.")

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of the hidden layers."""
        if self.hidden is not None:
            return self.hidden
        assert self.width is not None
        return (self.width,) * self.depth

    def check(self, task: Any) -> None:
        """Refuses a task that this network cannot start on."""
        input_size(self, task)
        if not self.output_layer and self.widths[-1] != output_size(task):
            raise ValueError(
                f"{checks.shown(self)}: without an output layer the last hidden neurons predict, "
                f"so there are {output_size(task)} of them; got {self.widths[-1]}."
            )
        check_init(self, task)

    def sizes(self, task: Any) -> tuple[int, ...]:
        """The widths of all layers, input and output included."""
        outputs = (output_size(task),) if self.output_layer else ()
        return (input_size(self, task), *self.widths, *outputs)

    def init_params(self, key: PRNGKeyArray, task: Any) -> Layers:
        """The parameters before the first step, as `init` says, without biases that are off."""
        params = self.init(key, self, task)
        if self.hidden_bias and self.output_bias:
            return params
        last = len(params.layers) - 1 if self.output_layer else None
        has_bias = [
            self.output_bias if i == last else self.hidden_bias for i in range(len(params.layers))
        ]
        return Layers(
            tuple(
                layer if has else layer._replace(bias=None)
                for layer, has in zip(params.layers, has_bias, strict=True)
            )
        )

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
        """The prediction at one example: a number, or one logit per class; with `key`, dropout."""
        return self.trace(params, x, key).prediction

    def trace(
        self, params: Layers, x: Float[Array, "*batch n"], key: PRNGKeyArray | None = None
    ) -> "ForwardPass":
        """The forward pass at one example, the hidden neurons' values included."""
        sigma = activations.activation(self.activation)
        hidden = []
        for i, layer in enumerate(params.layers[:-1] if self.output_layer else params.layers):
            x = sigma(layer.at(x))
            if not is_off(self.dropout) and key is not None:
                x = dropout(jr.fold_in(key, i), x, self.dropout)
            hidden.append(x)
        out = params.layers[-1].at(x) if self.output_layer else x
        return ForwardPass(out[..., 0] if out.shape[-1] == 1 else out, tuple(hidden))

    def outgoing(self, params: Layers) -> tuple[Float[Array, " neurons"], ...]:
        """The length of each hidden neuron's outgoing weights, by layer; 1 if it is an output."""
        lengths = [jnp.linalg.norm(layer.weight, axis=1) for layer in params.layers[1:]]
        if not self.output_layer:
            lengths.append(jnp.ones(params.layers[-1].weight.shape[1]))
        return tuple(lengths)

    def neurons(self, params: Layers) -> tuple[Float[Array, "neurons numbers"], ...]:
        """The numbers of each hidden neuron, one matrix a layer with a row for each neuron.

        These are its incoming weights, its bias and, in the last hidden layer, its outgoing
        weights: every parameter once, but for the output bias.
        """
        layers = params.layers[:-1] if self.output_layer else params.layers
        rows = [
            layer.weight.T
            if layer.bias is None
            else jnp.concatenate([layer.weight.T, layer.bias[:, None]], axis=1)
            for layer in layers
        ]
        if self.output_layer:
            rows[-1] = jnp.concatenate([rows[-1], params.layers[-1].weight], axis=1)
        return tuple(rows)

    def keep(self, params: Layers, neurons: Sequence[int]) -> Layers:
        """The parameters of the network that has only these neurons of the first hidden layer."""
        first, *rest = params.layers
        chosen = jnp.asarray(neurons)
        bias = None if first.bias is None else first.bias[chosen]
        kept = Layer(first.weight[:, chosen], bias)
        if rest:
            rest[0] = rest[0]._replace(weight=rest[0].weight[chosen])
        return Layers((kept, *rest))


def dropout(key: PRNGKeyArray, x: Float[Array, "*shape"], share: Number) -> Float[Array, "*shape"]:
    """`x` with a `share` of its numbers zeroed, to the nearest 256th, and the rest made larger.

    A random byte a number, not a word: random numbers are what dropout costs on a CPU.
    """
    zeroed = jnp.round(256 * jnp.asarray(share, jnp.float32))
    words = jr.bits(key, (-(-x.size // 4),), jnp.uint32)
    random = jax.lax.bitcast_convert_type(words, jnp.uint8).reshape(-1)[: x.size].reshape(x.shape)
    is_kept = random >= zeroed.astype(jnp.uint8)
    return jnp.where(is_kept, x * (256 / (256 - zeroed)), 0.0)
