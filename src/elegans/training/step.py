"""One update: the gradient of the mean loss over a batch, and what the optimiser makes of it.

A full batch is padded to the next power of two and worked through in blocks of a fixed size, of
which only those that hold rows are computed: the number of rows is traced, and there is one
compilation per power of two. A model may ask for smaller blocks (`rows_at_once`), whose activations
stay in the cache. A model that offers `apply_population` predicts a whole population at
once, without looking up a single input.
"""

import inspect
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from elegans.keys import Keys
from elegans.training import losses, updates
from elegans.training.recipe import Training
from elegans.training.source import Whole

BLOCK_ROWS = 1024  # of a full batch, differentiated at once
BATCH_ROWS = 4096  # of a batch that is drawn, differentiated at once


class State(NamedTuple):
    """What training changes."""

    params: PyTree
    optimizer: PyTree
    step: Int[Array, "..."]


def updated(
    model: Any, training: Training, keys: Keys, state: State, batch: PyTree, *, is_full: bool
) -> State:
    """One step on one batch; a stochastic model draws by the run's noise key and the step."""
    noise = jr.fold_in(keys.noise, state.step) if is_stochastic(model) else None
    if isinstance(batch, Whole):
        grads = population_gradient(model, training, state.params, batch)
    elif is_full:
        grads = full_gradient(model, training, state.params, batch, noise)
    else:
        grads = mean_gradient(model, training, state.params, batch, noise)
    if training.regulariser is not None:
        penalty = partial(training.regulariser, model)
        grads = jax.tree.map(jnp.add, grads, jax.grad(penalty)(state.params))
    params, optimizer = updates.update(training, grads, state.optimizer, state.params, state.step)
    return State(params, optimizer, state.step + 1)


def is_stochastic(model: Any) -> bool:
    """Whether a model takes a key in training: it says so, or `apply` has an argument `key`."""
    if hasattr(model, "is_stochastic"):
        return bool(model.is_stochastic)
    return "key" in inspect.signature(model.apply).parameters


def padded_rows(count: int) -> int:
    """The next power of two."""
    return 1 << (count - 1).bit_length()


def rows_at_once(model: Any, x: Array, most: int) -> int:
    """How many rows are differentiated at once: `most`, or fewer if the model asks for that."""
    offered = getattr(model, "rows_at_once", None)
    asked = None if offered is None else offered(x.shape[-1])
    return most if asked is None else min(most, 1 << (asked.bit_length() - 1))


def total_loss(
    model: Any, training: Training, params: PyTree, batch: PyTree, counts: Bool[Array, " size"]
) -> Float[Array, ""]:
    """The loss summed over the rows of a batch (labels, inputs, perhaps keys) that count."""
    y, *inputs = batch
    predictions = jax.vmap(partial(model.apply, params))(*inputs)
    values = jax.vmap(losses.loss_of(training.loss))(predictions, y)
    return jnp.sum(jnp.where(counts, values, 0.0))


def full_gradient(
    model: Any, training: Training, params: PyTree, batch: PyTree, noise: PRNGKeyArray | None
) -> PyTree:
    """The gradient of the mean loss over the first `training.samples` rows of a padded batch."""
    x, y = batch[:2]
    block = min(len(y), rows_at_once(model, x, BLOCK_ROWS))
    assert training.samples is not None
    count = jnp.asarray(training.samples)

    def part(i: Int[Array, ""], gradient: PyTree) -> PyTree:
        rows = [jax.lax.dynamic_slice_in_dim(leaf, i * block, block) for leaf in (y, x)]
        if noise is not None:
            rows.append(jr.split(jr.fold_in(noise, i), block))
        counts = i * block + jnp.arange(block) < count
        slope = jax.grad(partial(total_loss, model, training))(params, rows, counts)
        return jax.tree.map(jnp.add, gradient, slope)

    zero = jax.tree.map(jnp.zeros_like, params)
    if block == len(y):
        total = part(jnp.zeros((), jnp.int32), zero)
    else:
        total = jax.lax.fori_loop(0, -(-count // block), part, zero)
    return jax.tree.map(lambda g: g / count, total)


def population_gradient(model: Any, training: Training, params: PyTree, whole: Whole) -> PyTree:
    """The gradient of the mean loss over the training rows of a population."""
    loss = jax.vmap(losses.loss_of(training.loss))

    def mean(params: PyTree) -> Float[Array, ""]:
        values = loss(model.apply_population(params), jnp.asarray(whole.y))
        return jnp.sum(jnp.where(whole.is_train, values, 0.0)) / jnp.sum(whole.is_train)

    return jax.grad(mean)(params)


def mean_gradient(
    model: Any,
    training: Training,
    params: PyTree,
    batch: PyTree,
    noise: PRNGKeyArray | None = None,
) -> PyTree:
    """The gradient of the mean loss over a batch, in blocks if the batch is large."""
    loss = losses.loss_of(training.loss)
    x, y = batch[:2]
    size = jax.tree.leaves(batch)[0].shape[0]
    batch = (y, x) if noise is None else (y, x, jr.split(noise, size))

    def total(params: PyTree, batch: PyTree) -> Float[Array, ""]:
        y, *inputs = batch
        return jnp.sum(jax.vmap(loss)(jax.vmap(partial(model.apply, params))(*inputs), y))

    most = rows_at_once(model, x, BATCH_ROWS)
    if size <= most:
        return jax.grad(lambda params: total(params, batch) / size)(params)
    blocks, rest = divmod(size, most)
    stacked = jax.tree.map(
        lambda leaf: leaf[: size - rest].reshape(blocks, most, *leaf.shape[1:]), batch
    )
    tail = jax.tree.map(lambda leaf: leaf[size - rest :], batch)
    grads, _ = jax.lax.scan(
        lambda acc, part: (jax.tree.map(jnp.add, acc, jax.grad(total)(params, part)), None),
        jax.grad(total)(params, tail),
        stacked,
    )
    return jax.tree.map(lambda g: g / size, grads)
