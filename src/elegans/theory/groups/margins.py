r"""Margins of networks, and the certificate that one is maximal.

The margin at an example is $g = f[y] - \max_{y' \ne y} f[y']$ ($y f$ for signs). A network that is
homogeneous of degree $\nu$ has the *normalised* margin $\min g / \|\theta\|_{2,\nu}^\nu$, the norm
over all weights of each neuron. With label weights $\tau$ the weighted margin $g' = f[y] - \sum
\tau f[y']$ is at least $g$, so that for every network and every $\tau$

$$\min g \;/\; \|\theta\|^\nu \;\le\; \gamma^* \;\le\; B(\tau).$$

The certificate is both numbers: where they meet, the network is of maximum margin. That the linear
program's two values meet says nothing by itself.

Any model will do that has `apply(params, x)` and `homogeneity`; one without `neurons(params)` is
taken as one neuron, so that its norm is the Euclidean norm of all parameters. Parameters in NumPy
are evaluated in NumPy, in their precision: certificates want float64.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Float

from elegans.tasks.groups import GroupOperation
from elegans.theory.groups.game import (
    check_weights,
    element_weights,
    maximum_margin,
    single_neuron_bound,
)


@runtime_checkable
class HomogeneousModel(Protocol):
    """What margins need of a model, which also names its `homogeneity`.

    `neurons(params)`, one row per neuron with all of its weights, and `apply_population(params)`
    are used where they exist.
    """

    def apply(self, params: Any, x: Any) -> Any:
        """The prediction at one example."""


@runtime_checkable
class Population(Protocol):
    """What margins need of a task."""

    def population(self) -> Any:
        """Every example once, as (x, y)."""


@dataclass(frozen=True)
class Certificate:
    """A lower and an upper bound of the maximum margin.

    Attributes:
        margin: The network's normalised margin.
        bound: The largest mean weighted margin of one neuron, which no network exceeds.
    """

    margin: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the network may be from the maximum: zero proves that it is there."""
        return self.bound - self.margin


class Predictions(NamedTuple):
    """The predictions of a network on a whole population, with the labels."""

    values: Float[np.ndarray, "batch *classes"]
    labels: np.ndarray


def neuron_norms(model: HomogeneousModel, params: Any) -> Float[np.ndarray, " width"]:
    """The Euclidean norm of all weights of each neuron."""
    if hasattr(model, "neurons"):
        return np.linalg.norm(np.asarray(model.neurons(params)), axis=1)
    squares = [np.sum(np.asarray(leaf) ** 2) for leaf in jax.tree.leaves(params)]
    return np.sqrt(np.sum(squares, keepdims=True))


def network_norm(model: HomogeneousModel, params: Any) -> float:
    r"""$\|\theta\|_{2,\nu}$, over all weights of each neuron."""
    degree = degree_of(model)
    return float(np.sum(neuron_norms(model, params) ** degree) ** (1 / degree))


def norm_shares(model: HomogeneousModel, params: Any) -> Float[np.ndarray, " width"]:
    r"""The part of $\|\theta\|_{2,\nu}^\nu$ that each neuron has."""
    norms = neuron_norms(model, params) ** degree_of(model)
    return norms / norms.sum()


def degree_of(model: HomogeneousModel) -> int:
    """The model's degree of homogeneity; a model without one is refused."""
    degree = getattr(model, "homogeneity", None)
    if degree is None:
        raise TypeError(
            f"{model}: a margin is normalised by the degree in which predictions grow with the "
            "parameters, which this model does not name as its `homogeneity`."
        )
    return int(degree)


def example_margins(
    model: HomogeneousModel, params: Any, task: Population
) -> Float[np.ndarray, " batch"]:
    """The normalised margin at each example of the population."""
    f, y = predictions(model, params, task)
    if f.ndim == 1:
        raw = y * f
    else:
        rows = np.arange(len(y))
        others = f.copy()
        others[rows, y] = -np.inf
        raw = f[rows, y] - others.max(axis=1)
    return raw / network_norm(model, params) ** degree_of(model)


def normalised_margin(model: HomogeneousModel, params: Any, task: Population) -> float:
    """The smallest normalised margin over the population."""
    return float(example_margins(model, params, task).min())


def weighted_margins(
    model: HomogeneousModel, params: Any, task: GroupOperation, tau: Float[np.ndarray, " classes"]
) -> Float[np.ndarray, " batch"]:
    r"""The normalised class-weighted margin at each pair of elements.

    The wrong label $c$ of the pair $(a, b)$ weighs $\tau$ at the class of $a b c^{-1}$, per
    element; classes as in `real_character_table`.
    """
    f, y = predictions(model, params, task)
    weights = element_weights(task.group, tau)
    offsets = task.group.table[y][:, task.group.inverses]  # a b c^-1, for every label c
    raw = f[np.arange(len(y)), y] - np.sum(weights[offsets] * f, axis=1)
    return raw / network_norm(model, params) ** degree_of(model)


def certificate(
    model: HomogeneousModel,
    params: Any,
    task: GroupOperation,
    tau: Float[np.ndarray, " classes"] | None = None,
) -> Certificate:
    """The network's margin and the bound that holds for all networks of its kind.

    Args:
        model: A quadratic network of two embeddings.
        params: Its parameters.
        task: The task whose population the margin is over.
        tau: Label weights by class, per element; None takes the best ones, of `maximum_margin`.

    Raises:
        ValueError: The network is not quadratic, has another number of elements than the task, or
            is wrong at an example, as a network of another group is.
    """
    if not isinstance(task, GroupOperation):
        raise TypeError(f"certificate: the task is a GroupOperation; got {task!r}.")
    if degree_of(model) != 3:
        raise ValueError(
            f"certificate: the bound is for quadratic networks, homogeneous of degree 3; "
            f"got {model}, of degree {degree_of(model)}."
        )
    leaves, n = jax.tree.leaves(params), task.group.order
    if any(n not in leaf.shape for leaf in leaves):
        raise ValueError(
            f"certificate: weights on {task.group} have an axis of {n} elements; these have shapes "
            f"{[leaf.shape for leaf in leaves]}, so that the network is one of another task."
        )
    tau = maximum_margin(task.group).tau if tau is None else tau
    check_weights(task.group, tau)
    margins = example_margins(model, params, task)
    wrong = int(np.sum(margins <= 0))
    if wrong:
        raise ValueError(
            f"certificate: the network is wrong at {wrong} of {len(margins)} pairs of "
            f"{task.group}, so that it is one of another task, or not trained; a certificate is "
            "for networks that are right everywhere. normalised_margin is for any network."
        )
    return Certificate(float(margins.min()), single_neuron_bound(task.group, tau))


def predictions(model: HomogeneousModel, params: Any, task: Population) -> Predictions:
    """The predictions on the whole population, in the precision of the parameters."""
    x, y = task.population()
    if hasattr(model, "apply_population"):
        values = model.apply_population(params)
    elif all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(params)):
        values = np.stack([model.apply(params, row) for row in np.asarray(x)])
    else:
        values = jax.vmap(model.apply, in_axes=(None, 0))(params, x)
    if len(values) != len(y):
        raise ValueError(
            f"{model}: predictions on the population are {len(y)} rows; got {len(values)}, so that "
            "the parameters are those of another task."
        )
    return Predictions(np.asarray(values), np.asarray(y))
