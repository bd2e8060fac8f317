r"""Schedules: what multiplies all learning rates at step $t$ of $T$.

A schedule is a configuration that is called with $t$, counted from zero, and $T$. A recipe takes
one, or the name of one of these, and one of your own class likewise; `warmup` comes on top.
"""

from typing import Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array, Float

from elegans import checks
from elegans.fields import Count, Number, configuration, is_off

Step = Float[Array, ""]


@runtime_checkable
class Schedule(Protocol):
    """A factor on learning rates."""

    def __call__(self, t: Step, total: Count) -> Number:
        """The factor at step `t` of `total`."""


@configuration
class Constant:
    """One throughout."""

    def __call__(self, t: Step, total: Count) -> Number:
        """The factor at step `t` of `total`."""
        return jnp.ones(())


@configuration
class Linear:
    r"""$1 - t/T$."""

    def __call__(self, t: Step, total: Count) -> Number:
        """The factor at step `t` of `total`."""
        return 1 - t / total


@configuration
class Cosine:
    r"""$(1 + \cos(\pi t/T))/2$."""

    def __call__(self, t: Step, total: Count) -> Number:
        """The factor at step `t` of `total`."""
        return 0.5 * (1 + jnp.cos(jnp.pi * t / total))


@configuration
class Inverse:
    r"""$1/(t + 1)$, counted from step `start` on and 1 before it.

    Rates $\frac{1}{\lambda t}$ with coupled decay $\lambda$ are those of strongly convex losses.
    """

    start: Count = 0

    def __post_init__(self) -> None:
        checks.count(self, "start", self.start, low=0, what="is the step that counts as the first")

    def __call__(self, t: Step, total: Count) -> Number:
        """The factor at step `t` of `total`."""
        return 1 / (t + 1) if is_off(self.start) else 1 / jnp.maximum(1, t + 1 - self.start)


@configuration
class Milestones:
    """Multiplied by `factor` at each of the given steps."""

    steps: tuple[int, ...]
    factor: Number = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        for step in self.steps:
            checks.whole(self, "steps", step, low=1, what="holds numbers of steps")
        checks.number(self, "factor", self.factor, low=0, what="multiplies learning rates")

    def __call__(self, t: Step, total: Count) -> Number:
        """The factor at step `t` of `total`."""
        passed = jnp.sum(t >= jnp.asarray(self.steps, jnp.float32))
        return jnp.asarray(self.factor, jnp.float32) ** passed


SCHEDULES: dict[str, Schedule] = {
    "constant": Constant(),
    "linear": Linear(),
    "cosine": Cosine(),
    "inverse": Inverse(),
}


def schedule_of(schedule: str | Schedule) -> Schedule:
    """The schedule that a name stands for; anything else is one itself."""
    return SCHEDULES[schedule] if isinstance(schedule, str) else schedule
