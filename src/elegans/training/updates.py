r"""Updates: an optimiser between gradient truncation, clipping, weight decay and learning rates.

Rates are resolved for each parameter: the recipe's own, or those of the first `Group` whose path
matches and which is active at the step. They are scalars inside the compiled step, so a learning
rate can be swept without compiling anew; one that is exactly zero is known when compiling, and the
parameter is then not differentiated.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PyTree

from elegans.fields import Number, is_off
from elegans.protocols import matches, path_name
from elegans.training.optimizers import is_decoupled, optimizer_of
from elegans.training.recipe import Group, Training
from elegans.training.schedules import Constant, schedule_of


def init(training: Training, params: PyTree) -> PyTree:
    """The optimiser's state before the first step."""
    return optimizer_of(training.optimizer).transformation().init(params)


class Rates(NamedTuple):
    """Numbers of a step: for one parameter or, as trees like the parameters, for all."""

    learning_rate: PyTree
    coupled: PyTree
    shrink: PyTree
    truncate: PyTree


def update(
    training: Training, grads: PyTree, state: PyTree, params: PyTree, step: Int[Array, ""]
) -> tuple[PyTree, PyTree]:
    """Parameters and state after one step with the given mean gradients."""
    rates = rates_at(training, params, step)
    grads = jax.tree.map(_truncated, grads, rates.truncate)
    if training.clip is not None:
        grads = clipped(grads, training.clip)
    decoupled = is_decoupled(training.optimizer)
    if not decoupled:
        grads = jax.tree.map(_decayed, grads, params, rates.coupled)
    directions, state = (
        optimizer_of(training.optimizer).transformation().update(grads, state, params)
    )
    if decoupled:
        directions = jax.tree.map(_decayed, directions, params, rates.coupled)
    params = jax.tree.map(lambda p, d: p if is_off(d) else (1 - d) * p, params, rates.shrink)
    return jax.tree.map(_moved, params, directions, rates.learning_rate), state


def clipped(grads: PyTree, limit: Number) -> PyTree:
    """Gradients scaled down so that their norm, all parameters together, is at most `limit`."""
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
    # A gradient of zero has no direction to keep: the quotient would be 0/0 there.
    factor = jnp.minimum(1.0, limit / jnp.where(norm > 0, norm, 1.0))
    return jax.tree.map(lambda g: factor * g, grads)


def rates_at(training: Training, params: PyTree, step: Int[Array, ""]) -> Rates:
    """The rates of each parameter at a step, schedule included."""
    factor = schedule_factor(training, step)

    def resolve(name: str) -> Rates:
        rates = own_rates(training)
        for group in reversed(training.groups):
            if not matches(group.match, name):
                continue
            others = group_rates(training, group)
            if group.start == 0 and group.stop is None:
                rates = others
                continue
            is_active = group.is_active(step)
            rates = Rates(*(_chosen(is_active, *pair) for pair in zip(others, rates, strict=True)))
        rate = rates.learning_rate
        return (
            rates if factor is None or is_off(rate) else rates._replace(learning_rate=factor * rate)
        )

    leaves, structure = jax.tree_util.tree_flatten_with_path(params)
    columns = zip(*(resolve(path_name(path)) for path, _ in leaves), strict=True)
    return Rates(*(jax.tree.unflatten(structure, column) for column in columns))


def own_rates(training: Training) -> Rates:
    """The rates of parameters that no group matches."""
    return _rates(training, training.learning_rate, training.weight_decay, None, None)


def group_rates(training: Training, group: Group) -> Rates:
    """The rates of parameters of a group while it is active."""
    numbers = group.learning_rate, group.weight_decay, group.truncate, group.decay
    return _rates(training, *numbers)


def _rates(
    training: Training, rate: Number, decay: Number, truncate: Number | None, form: str | None
) -> Rates:
    # An optimiser with a decay of its own takes the number, whatever the form.
    is_coupled = is_decoupled(training.optimizer) or (form or training.decay) == "coupled"
    coupled, shrink = (decay, 0.0) if is_coupled else (0.0, decay)
    return Rates(rate, coupled, shrink, training.truncate if truncate is None else truncate)


def frozen_names(training: Training, params: PyTree, step: int) -> frozenset[str]:
    """The parameters that a step leaves without a gradient: their rate is zero when compiled.

    None if what the gradients of some do matters to others or later: a norm of all of them, or an
    optimiser with a memory.
    """
    if not training.groups or training.clip is not None or jax.tree.leaves(init(training, params)):
        return frozenset()
    leaves, _ = jax.tree_util.tree_flatten_with_path(params)
    names = [path_name(path) for path, _ in leaves]
    return frozenset(name for name in names if is_off(_rate_when_compiled(training, name, step)))


def _rate_when_compiled(training: Training, name: str, step: int) -> Number:
    for group in training.groups:
        if matches(group.match, name) and group.is_active(step):
            return group.learning_rate
    return training.learning_rate


def schedule_factor(training: Training, step: Int[Array, ""]) -> Number | None:
    """What multiplies every learning rate at a step; None where nothing does."""
    t, schedule = step.astype(jnp.float32), schedule_of(training.schedule)
    factor = None if isinstance(schedule, Constant) else schedule(t, training.steps)
    if is_off(training.warmup):
        return factor
    return jnp.minimum(1.0, (t + 1) / training.warmup) * (1.0 if factor is None else factor)


def _chosen(is_active: Bool[Array, ""], value: Number, other: Number) -> Number:
    # a mechanism that is off either way stays off
    return 0.0 if is_off(value) and is_off(other) else jnp.where(is_active, value, other)


def _truncated(gradient: Array, size: Number) -> Array:
    return gradient if is_off(size) else jnp.where(jnp.abs(gradient) <= size, 0.0, gradient)


def _moved(param: Array, direction: Array, rate: Number) -> Array:
    return param if is_off(rate) else param - rate * direction


def _decayed(update: Array, param: Array, decay: Number) -> Array:
    return update if is_off(decay) else update + decay * param
