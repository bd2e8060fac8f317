r"""Updates: an optimiser between gradient truncation, clipping, weight decay and learning rates.

Rates are resolved for each parameter: the recipe's own, or those of the first `Group` whose path
matches and which is active at the step. They are scalars inside the compiled step, so a learning
rate can be swept without compiling anew.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PyTree

from elegans.fields import Number, is_off
from elegans.protocols import matches, path_name
from elegans.training.optimizers import is_decoupled, optimizer_of
from elegans.training.recipe import Training
from elegans.training.schedules import Constant, schedule_of


def init(training: Training, params: PyTree) -> PyTree:
    """The optimiser's state before the first step."""
    return optimizer_of(training.optimizer).transformation().init(params)


def update(
    training: Training, grads: PyTree, state: PyTree, params: PyTree, step: Int[Array, ""]
) -> tuple[PyTree, PyTree]:
    """Parameters and state after one step with the given mean gradients."""
    rates, decays = rates_at(training, params, step)
    if not is_off(training.truncate):
        grads = jax.tree.map(lambda g: jnp.where(jnp.abs(g) <= training.truncate, 0.0, g), grads)
    if training.clip is not None:
        grads = clipped(grads, training.clip)
    decoupled = is_decoupled(training.optimizer)
    if training.decay == "coupled" and not decoupled:
        grads = jax.tree.map(_decayed, grads, params, decays)
    directions, state = (
        optimizer_of(training.optimizer).transformation().update(grads, state, params)
    )
    if decoupled:
        directions = jax.tree.map(_decayed, directions, params, decays)
    elif training.decay == "shrink":
        params = jax.tree.map(lambda p, d: p if is_off(d) else (1 - d) * p, params, decays)
    return jax.tree.map(lambda p, u, rate: p - rate * u, params, directions, rates), state


def clipped(grads: PyTree, limit: Number) -> PyTree:
    """Gradients scaled down so that their norm, all parameters together, is at most `limit`."""
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
    # A gradient of zero has no direction to keep: the quotient would be 0/0 there.
    factor = jnp.minimum(1.0, limit / jnp.where(norm > 0, norm, 1.0))
    return jax.tree.map(lambda g: factor * g, grads)


def rates_at(training: Training, params: PyTree, step: Int[Array, ""]) -> tuple[PyTree, PyTree]:
    """The learning rate and weight decay of each parameter at a step, schedule included."""
    factor = schedule_factor(training, step)

    def resolve(name: str) -> tuple[Number, Number]:
        rate, decay = training.learning_rate, training.weight_decay
        for group in reversed(training.groups):
            if not matches(group.match, name):
                continue
            if group.start == 0 and group.stop is None:
                rate, decay = group.learning_rate, group.weight_decay
                continue
            active = step >= group.start
            if group.stop is not None:
                active &= step < group.stop
            rate = jnp.where(active, group.learning_rate, rate)
            decay = jnp.where(active, group.weight_decay, decay)
        return rate if factor is None else factor * rate, decay

    leaves, structure = jax.tree_util.tree_flatten_with_path(params)
    rates, decays = zip(*(resolve(path_name(path)) for path, _ in leaves), strict=True)
    return jax.tree.unflatten(structure, rates), jax.tree.unflatten(structure, decays)


def schedule_factor(training: Training, step: Int[Array, ""]) -> Number | None:
    """What multiplies every learning rate at a step; None where nothing does."""
    t, schedule = step.astype(jnp.float32), schedule_of(training.schedule)
    factor = None if isinstance(schedule, Constant) else schedule(t, training.steps)
    if is_off(training.warmup):
        return factor
    return jnp.minimum(1.0, (t + 1) / training.warmup) * (1.0 if factor is None else factor)


def _decayed(update: Array, param: Array, decay: Number) -> Array:
    return update if is_off(decay) else update + decay * param
