r"""Measures of hidden progress in the first layer: what moves while the error stands still.

They are for networks whose first weight matrix is `params.layers[0].weight`, of shape (fan-in,
width). The drift of the relevant weights adds up over steps where noise averages out, so these
measures grow long before the error falls (thesis, section 5.5).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from elegans.fields import configuration
from elegans.protocols import View


def support_weight(view: View) -> Float[Array, ""]:
    """The share of the first layer's squared weights that is on the task's relevant coordinates."""
    weight = view.params.layers[0].weight ** 2
    return jnp.sum(weight[jnp.asarray(view.task.support)]) / jnp.sum(weight)


@configuration
class SupNormPath:
    r"""The largest change of a first-layer weight so far, $\|W_t - W_0\|_\infty$."""

    def __call__(self, view: View) -> Float[Array, ""]:
        """The distance from the initial weights."""
        return jnp.max(jnp.abs(view.params.layers[0].weight - view.initial.layers[0].weight))
