r"""Where the minimal model starts and what it is trained on, beyond what the package has.

`Aligned` starts it with a second layer that is a multiple of the identity, or of $11^\top$, or in
between; `HardChains` are the chains of the second step of Proposition 8.5, which leave their states
with one probability $1 - a$ close to a half.
"""

from typing import Any

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks
from elegans.fields import configuration
from elegans.models.induction import Induction
from elegans.tasks.markov.priors import Prior


@configuration
class Aligned:
    r"""An init: $W = c\,11^\top + (\rho - c)\,I$ and $v = w 1$."""

    diagonal: float
    rest: float
    position: float

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> Induction:
        """The parameters; nothing is random."""
        identity = jnp.eye(task.states)
        return Induction(
            self.rest * (1 - identity) + self.diagonal * identity,
            jnp.full(task.length, self.position, jnp.float32),
        )


@configuration
class HardChains(Prior):
    r"""Two states, each kept with $a \sim U(\frac12 - \varepsilon, \frac12 + \varepsilon)$."""

    epsilon: float

    def __post_init__(self) -> None:
        what = "is half of the range of a probability around one half"
        checks.number(self, "epsilon", self.epsilon, low=0, high=0.5, what=what)

    def check(self, task: object, states: int) -> None:
        """Refuses a task with other than two states."""
        if states != 2:
            raise ValueError(f"{checks.shown(task)}: HardChains have two states; got {states}.")

    def transitions(
        self, key: PRNGKeyArray, size: int, states: int
    ) -> Float[Array, "size states states"]:
        """Draws `size` independent transition matrices."""
        a = 0.5 + self.epsilon * jr.uniform(key, (size,), minval=-1.0, maxval=1.0)
        return jnp.stack([jnp.stack([a, 1 - a], -1), jnp.stack([1 - a, a], -1)], -2)
