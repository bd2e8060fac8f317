r"""Measures of hidden progress in the first layer: what moves while the error stands still.

They are for networks whose first weight matrix is `params.layers[0].weight`, of shape (fan-in,
width). The drift of the relevant weights adds up over steps where noise averages out, so these
measures grow long before the error falls (thesis, section 5.5).
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from elegans import checks
from elegans.fields import configuration
from elegans.protocols import View


@configuration
class SupNormPath:
    r"""The largest change of a first-layer weight so far, $\|W_t - W_0\|_\infty$."""

    def __call__(self, view: View) -> Float[Array, ""]:
        """The distance from the initial weights."""
        return jnp.max(
            jnp.abs(first_weights(view, view.params) - first_weights(view, view.initial))
        )


def first_weights(view: View, params: Any) -> Float[Array, "n neurons"]:
    """The first layer's weights; a network without such a layer is refused."""
    try:
        return params.layers[0].weight
    except AttributeError:
        raise TypeError(
            "This probe reads the first layer of a network, params.layers[0].weight, as MLP and "
            f"PolyNet have it; got {checks.shown(view.model)}."
        ) from None
