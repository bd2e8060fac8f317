"""The compiled programs of the engine: starting, advancing, observing and testing lanes of runs.

Each is a pure function of a task, a model and a recipe, of which it knows only that a task samples
and a model starts and predicts. Configurations are split: fields that are structure, and numbers
that are exactly zero, choose the program; all other numbers are its arguments. A program works on
a fixed number of lanes, which all its arguments carry as their leading axis.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from elegans import fields
from elegans.fields import Count, Structure, is_off
from elegans.keys import Keys
from elegans.protocols import Probe, View
from elegans.training import losses, optimizers
from elegans.training import source as data
from elegans.training.recipe import Training

STRUCTURES: set[Structure] = set()  # that this process has compiled
ROWS = 250  # evaluated at once: activations of a wide network stay within the cache
FULL_BATCH_ROWS = 4096  # of a full batch, differentiated at once


class State(NamedTuple):
    """What training changes."""

    params: PyTree
    optimizer: PyTree
    step: Int[Array, "..."]


class Sums(NamedTuple):
    """Loss and error, summed over `rows` examples."""

    loss: Float[Array | np.ndarray, "..."]
    error: Float[Array | np.ndarray, "..."]
    rows: Int[Array | np.ndarray, "..."]


class Rows(NamedTuple):
    """How many rows of the training and the test set to look at."""

    train: Count
    test: Count


class Observation(NamedTuple):
    """What is seen of a run at an evaluation."""

    train: Sums
    test: Sums
    is_finite: Bool[Array | np.ndarray, "..."]


def split(task: Any, model: Any, training: Training) -> tuple[Structure, tuple[Any, ...]]:
    """The structure of an experiment, and its numbers.

    A model whose predictions do not depend on all its fields names what they depend on its `body`,
    so that networks that only start differently share a program.
    """
    return fields.split((task, getattr(model, "body", model), training), is_off)


def join(structure: Structure, numbers: tuple[Any, ...]) -> tuple[Any, Any, Training]:
    """The task, model and recipe that `split` took apart."""
    return fields.join(structure, numbers)


def compile_count() -> int:
    """How many structures this process has compiled."""
    return len(STRUCTURES)


def in_lanes(function: Callable[..., Any], lanes: int) -> Callable[..., Any]:
    """`function` on arguments with a leading axis of lanes.

    One lane is no `vmap`: XLA compiles a batch of one matrix product to slower code.
    """
    if lanes > 1:
        return jax.vmap(function)

    def single(*arguments: Any) -> Any:
        result = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], result)

    return single


def start(
    structure: Structure,
    model: Any,
    numbers: tuple[Any, ...],
    keys: Keys,
    initial: PyTree | None = None,
) -> State:
    """One run before its first step, with `initial` parameters or those that the model draws."""
    if initial is not None:
        return _start_at(structure, numbers, initial)
    # Zeros are traced here: an init's seed 0 is a number like any other.
    skeleton, free = fields.split(model, lambda leaf: False)
    return _start(structure, skeleton, numbers, free, keys)


@partial(jax.jit, static_argnums=(0, 1))
def _start(
    structure: Structure,
    model: Structure,
    numbers: tuple[Any, ...],
    model_numbers: tuple[Any, ...],
    keys: Keys,
) -> State:
    task, _, training = join(structure, numbers)
    params = fields.join(model, model_numbers).init_params(keys.init, task)
    return State(params, optimizers.init(training, params), jnp.zeros((), jnp.int32))


@partial(jax.jit, static_argnums=0)
def _start_at(structure: Structure, numbers: tuple[Any, ...], params: PyTree) -> State:
    _, _, training = join(structure, numbers)
    params = jax.tree.map(jnp.asarray, params)
    return State(params, optimizers.init(training, params), jnp.zeros((), jnp.int32))


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=3)
def advance(
    structure: Structure,
    lanes: int,
    numbers: tuple[Any, ...],
    state: State,
    keys: Keys,
    count: Int[Array, " lanes"],
    full_batch: PyTree,
    table: PyTree = (),
) -> State:
    """Each lane after `count` more steps, on rows of its `table` if the task has stored ones."""

    def one(
        numbers: Any, state: State, keys: Keys, count: Count, full_batch: PyTree, table: PyTree
    ) -> State:
        task, model, training = join(structure, numbers)
        update = partial(_update, model, training, keys)
        if training.batch is None:
            return jax.lax.fori_loop(0, count, lambda _, s: update(s, full_batch), state)
        bulk = data.steps_in_bulk(task, training.batch, table=table)

        def block(i: Array, state: State) -> State:
            steps = state.step + jnp.arange(bulk)
            drawn = data.batches(task, training, keys, steps, table)
            return jax.lax.fori_loop(
                0,
                jnp.minimum(bulk, count - i * bulk),
                lambda j, s: update(s, jax.tree.map(lambda leaf: leaf[j], drawn)),
                state,
            )

        return jax.lax.fori_loop(0, -(-count // bulk), block, state)

    return in_lanes(one, lanes)(numbers, state, keys, count, full_batch, table)


@partial(jax.jit, static_argnums=(0, 1))
def observe(
    structure: Structure,
    lanes: int,
    numbers: tuple[Any, ...],
    params: PyTree,
    keys: Keys,
    rows: Rows,
    table: PyTree = (),
) -> Observation:
    """Train and test error over so many rows, and whether all parameters are finite."""

    def one(numbers: Any, params: PyTree, keys: Keys, rows: Rows, table: PyTree) -> Observation:
        task, model, training = join(structure, numbers)
        is_finite = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(params)]
        is_stored = data.is_stored(task)
        sets = jnp.asarray([False, True]) if is_stored else jnp.stack([keys.data, keys.test])
        both = (sets, jnp.stack([*map(jnp.asarray, rows)]))
        # one after the other through one loop: half the code to compile
        totals = jax.lax.map(partial(sums, task, model, training, params, table), both)
        return Observation(
            train=jax.tree.map(lambda leaf: leaf[0], totals),
            test=jax.tree.map(lambda leaf: leaf[1], totals),
            is_finite=jnp.all(jnp.stack(is_finite)),
        )

    return in_lanes(one, lanes)(numbers, params, keys, rows, table)


@partial(jax.jit, static_argnums=(0, 1, 2))
def probe(
    structure: Structure,
    lanes: int,
    probes: tuple[tuple[str, Probe], ...],
    numbers: tuple[Any, ...],
    params: PyTree,
    initial: PyTree,
    keys: Keys,
    step: Int[Array, " lanes"],
) -> dict[str, PyTree]:
    """What each probe sees of each lane: a program of its own, so that watching changes no bit."""

    def one(
        numbers: Any, params: PyTree, initial: PyTree, keys: Keys, step: Count
    ) -> dict[str, PyTree]:
        task, model, _ = join(structure, numbers)
        view = View(params, initial, model, task, keys.probe, jnp.asarray(step))
        return {name: look(view) for name, look in probes}

    return in_lanes(one, lanes)(numbers, params, initial, keys, step)


@partial(jax.jit, static_argnums=(0, 1))
def whole_training_set(
    structure: Structure, samples: int, numbers: tuple[Any, ...], keys: Keys, table: PyTree = ()
) -> PyTree:
    """All rows of one run's training set, for full-batch training."""
    task, _, _ = join(structure, numbers)
    indices = jnp.arange(samples, dtype=jnp.uint32)
    return (
        data.taken(table, indices) if data.is_stored(task) else data.rows(task, keys.data, indices)
    )


def sums(
    task: Any,
    model: Any,
    training: Training,
    params: PyTree,
    table: PyTree,
    rows: tuple[PRNGKeyArray | Bool[Array, ""], Array],
) -> Sums:
    """Loss and error over the first `count` rows of a data set, block by block.

    The set is the one under a key or, of a stored table, the training set or the test set.
    """
    chosen, count = rows
    loss = losses.loss_of(training.loss)
    some = (
        partial(data.taken, table, is_test=chosen)
        if data.is_stored(task)
        else partial(data.rows, task, chosen)
    )

    def block(i: Array, total: tuple[Array, Array]) -> tuple[Array, Array]:
        indices = i.astype(jnp.uint32) * ROWS + jnp.arange(ROWS, dtype=jnp.uint32)
        x, y = some(indices)[:2]
        predictions = jax.vmap(model.apply, in_axes=(None, 0))(params, x)
        counts = indices < jnp.asarray(count, jnp.uint32)
        return (
            total[0] + jnp.sum(jnp.where(counts, jax.vmap(loss)(predictions, y), 0.0)),
            total[1] + jnp.sum(jnp.where(counts, jax.vmap(losses.error)(predictions, y), 0.0)),
        )

    zero = jnp.zeros(())
    total, wrong = jax.lax.fori_loop(0, -(-count // ROWS), block, (zero, zero))
    return Sums(total, wrong, jnp.asarray(count, jnp.int32))


def _update(model: Any, training: Training, keys: Keys, state: State, batch: PyTree) -> State:
    """One step on one batch; a stochastic model draws by the run's noise key and the step."""
    noise = jr.fold_in(keys.noise, state.step) if is_stochastic(model) else None
    grads = mean_gradient(model, training, state.params, batch, noise)
    params, optimizer = optimizers.update(
        training, grads, state.optimizer, state.params, state.step
    )
    return State(params, optimizer, state.step + 1)


def is_stochastic(model: Any) -> bool:
    """Whether a model takes a key in training: it says so, or `apply` has a third argument."""
    if hasattr(model, "is_stochastic"):
        return bool(model.is_stochastic)
    return "key" in inspect.signature(model.apply).parameters


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

    if size <= FULL_BATCH_ROWS:
        return jax.grad(lambda params: total(params, batch) / size)(params)
    blocks, rest = divmod(size, FULL_BATCH_ROWS)
    stacked = jax.tree.map(
        lambda leaf: leaf[: size - rest].reshape(blocks, FULL_BATCH_ROWS, *leaf.shape[1:]), batch
    )
    tail = jax.tree.map(lambda leaf: leaf[size - rest :], batch)
    grads, _ = jax.lax.scan(
        lambda acc, part: (jax.tree.map(jnp.add, acc, jax.grad(total)(params, part)), None),
        jax.grad(total)(params, tail),
        stacked,
    )
    return jax.tree.map(lambda g: g / size, grads)
