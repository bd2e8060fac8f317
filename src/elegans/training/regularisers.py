r"""Regularisers: what is added to the mean loss, a function of the parameters alone.

A regulariser is a configuration that is called with the model and its parameters. `Norm` is the
$L_{a,b}$ norm over neurons, to any power: where $\theta_j$ holds all numbers of neuron $j$,

$$\lambda \, \|\theta\|_{a,b}^p, \qquad
\|\theta\|_{a,b} = \Big(\sum_j \|\theta_j\|_a^b\Big)^{1/b}.$$

$a = b = p = 2$ is the squared Euclidean norm, whose gradient is that of weight decay $2\lambda$;
$a = 2$, $b = 1$ prefers few neurons.
"""

from typing import Any, Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from elegans import checks
from elegans.fields import Number, configuration


@runtime_checkable
class Regulariser(Protocol):
    """A number to be small besides the loss."""

    def __call__(self, model: Any, params: PyTree) -> Float[Array, ""]:
        """What is added to the mean loss."""


@configuration
class Norm:
    """`strength` times the L_{a,b} norm over a model's neurons, to the given power.

    The model says what a neuron is: `model.neurons(params)` is a matrix with a row for each neuron,
    or one such matrix per layer.
    """

    strength: Number
    a: Number = 2.0
    b: Number = 2.0
    power: Number = 1.0

    def __post_init__(self) -> None:
        checks.number(self, "strength", self.strength, low=0, what="multiplies the norm")
        for name in ("a", "b"):
            checks.number(self, name, getattr(self, name), low=1, what="is the order of a norm")
        checks.number(self, "power", self.power, low=0, what="is the power of the norm")

    def __call__(self, model: Any, params: PyTree) -> Float[Array, ""]:
        """What is added to the mean loss."""
        layers = model.neurons(params)
        if hasattr(layers, "ndim"):  # one layer, as that of TwoEmbedding
            layers = (layers,)
        sizes = [jnp.sum(jnp.abs(layer) ** self.a, axis=1) for layer in layers]
        total = sum(jnp.sum(_power(size, self.b / self.a)) for size in sizes)
        return self.strength * _power(jnp.asarray(total), self.power / self.b)


def _power(size: Float[Array, "*n"], exponent: Number) -> Float[Array, "*n"]:
    """A power of numbers that are zero or more, with slope zero at zero instead of infinity."""
    is_positive = size > 0
    return jnp.where(is_positive, jnp.where(is_positive, size, 1.0) ** exponent, 0.0)
