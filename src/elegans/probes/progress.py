r"""Measures of progress towards a parity, while error and loss stand still.

A progress measure $\rho$ of the weights tells something of the time that is left: given $\rho$ the
remaining time is not what it was without. (A search without memory has none.) All of these compare
relevant coordinates with irrelevant ones, so they need a task with a `support`; `SupNormPath`, in
`first_layer`, does not. They read networks whose first weight matrix is `params.layers[0].weight`,
of shape (fan-in, neurons).

References: Barak et al. (2022), Hidden progress, sections 5.5 and B.3.3.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from elegans import checks
from elegans.fields import configuration
from elegans.models.activations import parity_of, power_degree
from elegans.models.polynet import Blocks, PolyNet
from elegans.probes.first_layer import first_weights
from elegans.protocols import View
from elegans.theory.boolean import gradients


@configuration
class RelevantLead:
    r"""How far the relevant weights are ahead: $\min_{i \in S} |w_i| - \max_{i \notin S} |w_i|$.

    With several neurons the size of a coordinate is its largest weight in any of them. The lead is
    positive exactly if the support can be read off the weights.
    """

    def __call__(self, view: View) -> Float[Array, ""]:
        """The lead, negative as long as some irrelevant weight is larger."""
        size = jnp.max(jnp.abs(first_weights(view, view.params)), axis=1)
        inside = relevant(view, len(size))
        return jnp.min(size, where=inside, initial=jnp.inf) - jnp.max(
            size, where=~inside, initial=0.0
        )


@configuration
class SupportShare:
    """The share of the first layer's squared weights that is on the support; k/n at the start."""

    def __call__(self, view: View) -> Float[Array, ""]:
        """A number between 0 and 1."""
        square = first_weights(view, view.params) ** 2
        inside = relevant(view, len(square))
        return jnp.sum(square, where=inside[:, None]) / jnp.sum(square)


@configuration
class RelevantProduct:
    r"""The product of the relevant weights, $\prod_i v_i$, which never falls along gradient flow.

    Of a disjoint PolyNet there is one relevant weight per block; of other networks it is the
    largest product $|\prod_{i \in S} w_i|$ of any neuron.
    """

    def __call__(self, view: View) -> Float[Array, ""]:
        """The product."""
        support = np.asarray(view.task.support)
        if isinstance(view.params, Blocks):
            size = view.params.weight.shape[1]
            return jnp.prod(view.params.weight[support // size, support % size])
        weight = first_weights(view, view.params)
        return jnp.max(jnp.abs(jnp.prod(weight[support], axis=0)))


@configuration
class FourierGap:
    r"""The gap of the exact population gradient at the weights now, of the best neuron.

    `relaxed` is $\max_{i \in S} |g_i| - \max_{i \notin S} |g_i|$, `strict` has a minimum first.
    For neurons "sinusoid:k", "sin" and "z^k", and for PolyNets, whose gradients have closed forms
    at any number of bits (`theory.boolean.closed_forms`); the gradient is that of the neuron,
    without the factor that the second layer has.
    """

    def __call__(self, view: View) -> dict[str, Float[Array, ""]]:
        """Both gaps."""
        gradient = jnp.abs(population_gradients(view))  # neurons n
        inside = relevant(view, gradient.shape[1])
        largest = jnp.max(gradient, axis=1, where=inside, initial=0.0)
        least = jnp.min(gradient, axis=1, where=inside, initial=jnp.inf)
        noise = jnp.max(gradient, axis=1, where=~inside, initial=0.0)
        return {"relaxed": jnp.max(largest - noise), "strict": jnp.max(least - noise)}


def population_gradients(view: View) -> Float[Array, "neurons n"]:
    """The gradient of each neuron's correlation with the parity by its weights."""
    model, support = view.model, view.task.support
    weight = first_weights(view, view.params)
    if isinstance(model, PolyNet) and model.degree == len(support):
        return polynet_gradients(weight, support)
    rule = closed_form(model, len(support))
    bias = view.params.layers[0].bias
    biases = jnp.zeros(weight.shape[1]) if bias is None else bias
    return jax.vmap(lambda w, b: rule(w, b, support)[:-1])(weight.T, biases)


def closed_form(model: Any, k: int) -> Any:
    """The function of weights, bias and support that is the gradient of a model's neurons."""
    name = getattr(model, "activation", None)
    if name == "sin":
        return gradients.sinusoid
    if parity_of(str(name)) == ("sinusoid", k):
        return gradients.parity_sinusoid
    if power_degree(str(name)) == k:
        return gradients.power
    raise ValueError(
        f"FourierGap: the population gradient has a closed form for neurons 'sin', 'sinusoid:{k}' "
        f"and 'z^{k}' and for PolyNets of degree {k} on a parity of {k} bits; got "
        f"{checks.shown(model)}."
    )


def polynet_gradients(
    weight: Float[Array, "n forms"], support: tuple[int, ...]
) -> Float[Array, "forms n"]:
    """Derivatives of the permanent of the relevant weights; zero at irrelevant ones."""
    rows = np.asarray(support)
    minors = jax.grad(permanent)(weight[rows])
    return jnp.zeros_like(weight).at[rows].set(minors).T


def permanent(matrix: Float[Array, "k k"]) -> Float[Array, ""]:
    """The permanent, by expansion along the first row: k! products, for small k."""
    if len(matrix) == 1:
        return matrix[0, 0]
    rest = matrix[1:]
    return sum(
        (
            matrix[0, j] * permanent(jnp.delete(rest, j, axis=1, assume_unique_indices=True))
            for j in range(len(matrix))
        ),
        start=jnp.zeros(()),
    )


def relevant(view: View, n: int) -> Bool[np.ndarray, " n"]:
    """Which of the inputs are relevant; a task without a support is refused."""
    support = getattr(view.task, "support", None)
    if support is None:
        raise ValueError(
            f"Progress is measured on tasks with a support, such as Parity; got "
            f"{checks.shown(view.task)}."
        )
    inside = np.zeros(n, bool)
    inside[list(support)] = True
    return inside
