r"""Priors over transition matrices: where the Markov chain of a sequence comes from.

A prior draws row-stochastic matrices $P$, $P_{ij} = \Pr(x_{t+1} = j \mid x_t = i)$. They differ in
what a sequence's token frequencies tell of its next token: everything under `IidUnigram`, nothing
under `DoublyStochastic`, whose stationary distribution is uniform, and something under `Dirichlet`.
"""

import math
import numbers
from typing import Any

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks
from elegans.fields import Number, configuration
from elegans.tasks.markov.birkhoff import doubly_stochastic


class Prior:
    """What the priors of this file share."""

    def transitions(
        self, key: PRNGKeyArray, size: int, states: int
    ) -> Float[Array, "size states states"]:
        """Draws `size` independent transition matrices."""
        raise TypeError(f"{type(self).__name__} is not a prior: it draws no chains.")

    def check(self, task: object, states: int) -> None:
        """Refuses a task with so many states that this prior has no law for."""


def flat_simplex(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Uniform points of the simplex along the last axis: exponentials, divided by their sum."""
    draws = jr.exponential(key, shape)
    return draws / jnp.sum(draws, axis=-1, keepdims=True)


@configuration
class Dirichlet(Prior):
    r"""Independent rows $P_{i,:} \sim \mathrm{Dir}(\alpha)$.

    `alpha` is one concentration for all states or a tuple with one a state; 1 is the uniform law on
    the simplex. It is structure, because the flat law has a sampler of its own.
    """

    alpha: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        values = self.alpha if isinstance(self.alpha, tuple | list) else (self.alpha,)
        for value in values:
            is_positive = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if not (is_positive and math.isfinite(value) and value > 0):
                raise ValueError(
                    f"{checks.shown(self)}: alpha holds concentrations, which are positive; "
                    f"got {value!r}."
                )
        if isinstance(self.alpha, list):
            object.__setattr__(self, "alpha", tuple(self.alpha))

    def check(self, task: object, states: int) -> None:
        """Refuses a task whose states are not those of `alpha`."""
        if isinstance(self.alpha, tuple) and len(self.alpha) != states:
            raise ValueError(
                f"{checks.shown(task)}: alpha has one concentration a state, so {states} of them; "
                f"got {len(self.alpha)}."
            )

    def concentrations(self, states: int) -> tuple[float, ...]:
        """One concentration a state."""
        return self.alpha if isinstance(self.alpha, tuple) else (self.alpha,) * states

    def rows(self, key: PRNGKeyArray, shape: tuple[int, ...], states: int) -> Float[Array, "..."]:
        """Draws independent rows, so many as `shape` says."""
        if self.alpha == 1:
            return flat_simplex(key, (*shape, states))
        alpha = jnp.asarray(self.concentrations(states), jnp.float32)
        return jr.dirichlet(key, alpha, shape)

    def transitions(
        self, key: PRNGKeyArray, size: int, states: int
    ) -> Float[Array, "size states states"]:
        """Draws `size` independent transition matrices."""
        return self.rows(key, (size, states), states)


@configuration
class DoublyStochastic(Prior):
    """Uniform over matrices whose rows and columns sum to one (see `birkhoff`)."""

    def transitions(
        self, key: PRNGKeyArray, size: int, states: int
    ) -> Float[Array, "size states states"]:
        """Draws `size` independent transition matrices."""
        return doubly_stochastic(key, size, states)


@configuration
class IidUnigram(Prior):
    """All rows equal to one uniform point of the simplex: tokens are independent draws."""

    def transitions(
        self, key: PRNGKeyArray, size: int, states: int
    ) -> Float[Array, "size states states"]:
        """Draws `size` independent transition matrices."""
        row = flat_simplex(key, (size, 1, states))
        return jnp.broadcast_to(row, (size, states, states))


@configuration
class Mixture(Prior):
    """Part `i` with probability `weights[i]`, for each sequence anew.

    Without other `parts` it is the mixture of Figure 8.4: doubly stochastic chains, and sequences
    for which token frequencies are all there is.
    """

    weights: tuple[Number, ...]
    parts: tuple[Any, ...] = (DoublyStochastic(), IidUnigram())

    def __post_init__(self) -> None:
        if isinstance(self.weights, numbers.Real | str):
            raise TypeError(
                f"{checks.shown(self)}: weights is a tuple of one probability a part, such as "
                f"(0.5, 0.5); got {self.weights!r}."
            )
        object.__setattr__(self, "weights", tuple(self.weights))
        object.__setattr__(self, "parts", tuple(self.parts))
        if len(self.weights) != len(self.parts):
            raise ValueError(
                f"{checks.shown(self)}: weights has one probability a part, so {len(self.parts)}; "
                f"got {len(self.weights)}."
            )
        for weight in self.weights:
            checks.number(self, "weights", weight, low=0, high=1, what="holds probabilities")
        if all(isinstance(weight, numbers.Real) for weight in self.weights):
            total = math.fsum(float(weight) for weight in self.weights)
            if abs(total - 1) > 1e-6:
                raise ValueError(
                    f"{checks.shown(self)}: weights are probabilities that sum to one; "
                    f"these sum to {total:g}."
                )

    def check(self, task: object, states: int) -> None:
        """Refuses a task that one of the parts refuses."""
        for part in self.parts:
            if not isinstance(part, Prior):
                raise TypeError(f"{checks.shown(self)}: parts are priors; got {part!r}.")
            part.check(task, states)

    def transitions(
        self, key: PRNGKeyArray, size: int, states: int
    ) -> Float[Array, "size states states"]:
        """Draws `size` independent transition matrices."""
        keys = jr.split(key, len(self.parts) + 1)
        ends = jnp.cumsum(jnp.stack([jnp.asarray(w, jnp.float32) for w in self.weights]))
        chosen = jnp.sum(jr.uniform(keys[0], (size, 1)) >= ends[None, :-1], axis=-1)
        drawn = [
            part.transitions(k, size, states) for part, k in zip(self.parts, keys[1:], strict=True)
        ]
        matrices = drawn[0]
        for i, other in enumerate(drawn[1:], start=1):
            matrices = jnp.where((chosen == i)[:, None, None], other, matrices)
        return matrices
