r"""Probes: what a network looks like inside while its error still stands still.

A probe is a function of the parameters now and at the start, the task, and a key. It is called at
each evaluation, inside the compiled program, and returns scalars or small arrays. The first two are
for networks whose first weight matrix is `params.layers[0].weight`.
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from elegans.models.inits import Layers


def support_weight(
    params: Layers, initial: Layers, task: Any, key: PRNGKeyArray
) -> Float[Array, ""]:
    """The share of the first layer's squared weights that is on the task's relevant coordinates."""
    weight = params.layers[0].weight ** 2
    return jnp.sum(weight[jnp.asarray(task.support)]) / jnp.sum(weight)


def distance_from_start(
    params: Layers, initial: Layers, task: Any, key: PRNGKeyArray
) -> Float[Array, ""]:
    r"""The largest change of a first-layer weight, $\|W - W_0\|_\infty$.

    A measure of hidden progress (thesis, section 5.5): it grows long before the error falls.
    """
    return jnp.max(jnp.abs(params.layers[0].weight - initial.layers[0].weight))


def parameters(params: PyTree, initial: PyTree, task: Any, key: PRNGKeyArray) -> PyTree:
    """The network itself, for small ones: a stored run can then be looked at again."""
    return params
