"""One update: the gradient of the mean loss over a batch, and what the optimiser makes of it.

A full batch is padded to the next power of two and worked through in blocks of a fixed size, of
which only those that hold rows are computed: the number of rows is traced, and there is one
compilation per power of two. A model may ask for smaller blocks (`rows_at_once`), whose activations
stay in the cache. A model that offers `apply_population` predicts a whole population at
once, without looking up a single input.

Parameters whose learning rate is zero in a phase of the recipe are not differentiated there: a
network with a frozen first layer costs what its forward pass does.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree, UInt32

from elegans.fields import Count
from elegans.keys import Keys
from elegans.protocols import path_name
from elegans.training import losses, updates
from elegans.training.recipe import Training
from elegans.training.source import Whole

Names = frozenset[str]  # of parameters

BLOCK_ROWS = 1024  # of a full batch, differentiated at once
BATCH_ROWS = 4096  # of a batch that is drawn, differentiated at once


class State(NamedTuple):
    """What training changes."""

    params: PyTree
    optimizer: PyTree
    step: Int[Array, "..."]


def updated(
    model: Any,
    training: Training,
    keys: Keys,
    state: State,
    batch: PyTree,
    *,
    is_full: bool,
    rows: Callable[[UInt32[Array, " size"]], PyTree] | None = None,
) -> State:
    """One step on one batch; a stochastic model draws by the run's noise key and the step.

    `rows` are those of the training set by their numbers, for a first step on many of them.
    """
    noise = jr.fold_in(keys.noise, state.step) if is_stochastic(model) else None

    def gradient_in(phase: Phase) -> PyTree:
        objective = Objective(model, training, state.params, noise, phase.frozen)
        if phase.is_first:
            assert rows is not None
            return first_gradient(objective, rows)
        if isinstance(batch, Whole):
            return population_gradient(objective, batch)
        if is_full:
            return full_gradient(objective, batch)
        return mean_gradient(objective, batch)

    first, *later = phases(training, state.params)
    if later:
        number = sum((state.step >= phase.start).astype(jnp.int32) for phase in later)
        branches = [partial(gradient_in, phase) for phase in (first, *later)]
        grads = jax.lax.switch(number, branches)
    else:
        grads = gradient_in(first)
    if training.regulariser is not None:
        penalty = partial(training.regulariser, model)
        grads = jax.tree.map(jnp.add, grads, jax.grad(penalty)(state.params))
    params, optimizer = updates.update(training, grads, state.optimizer, state.params, state.step)
    return State(params, optimizer, state.step + 1)


class Objective(NamedTuple):
    """What a step differentiates: the loss of a network at its parameters, all but the frozen ones.

    `noise` is the key of the step if the model is stochastic.
    """

    model: Any
    training: Training
    params: PyTree
    noise: PRNGKeyArray | None = None
    frozen: Names = frozenset()

    def gradient(self, function: Callable[..., Array], *rest: Any) -> PyTree:
        """The gradient of a function of the parameters and the `rest`; zeros for what is frozen."""
        return slope(function, self.params, *rest, frozen=self.frozen)

    def total(
        self, params: PyTree, batch: PyTree, counts: Bool[Array, " size"] | None = None
    ) -> Float[Array, ""]:
        """The loss summed over a batch (labels, inputs, perhaps keys), or its rows that count."""
        y, *inputs = batch
        predictions = jax.vmap(partial(self.model.apply, params))(*inputs)
        values = jax.vmap(losses.loss_of(self.training.loss))(predictions, y)
        return jnp.sum(values if counts is None else jnp.where(counts, values, 0.0))


class Phase(NamedTuple):
    """Steps, from `start` on, that differentiate the same parameters on batches of one kind."""

    start: int
    frozen: Names
    is_first: bool = False


def phases(training: Training, params: PyTree) -> list[Phase]:
    """The phases of a recipe: one, with nothing frozen, unless a rate is zero or step 0 larger."""
    ends = {end for group in training.groups for end in (group.start, group.stop) if end}
    starts = sorted({0} | ends | ({1} if training.first_batch is not None else set()))
    different: list[Phase] = []
    for start in starts:
        is_first = start == 0 and training.first_batch is not None
        phase = Phase(start, updates.frozen_names(training, params, start), is_first)
        if not different or phase[1:] != different[-1][1:]:
            different.append(phase)
    return different


def slope(function: Callable[..., Array], params: PyTree, *rest: Any, frozen: Names) -> PyTree:
    """The gradient of a function of `params` and others; zeros for what is frozen."""
    if not frozen:
        return jax.grad(function)(params, *rest)
    leaves, structure = jax.tree_util.tree_flatten_with_path(params)
    names = [path_name(path) for path, _ in leaves]

    def of_free(free: dict[str, Array]) -> Array:
        merged = [free.get(name, leaf) for name, (_, leaf) in zip(names, leaves, strict=True)]
        return function(jax.tree.unflatten(structure, merged), *rest)

    values = {name: leaf for name, (_, leaf) in zip(names, leaves, strict=True)}
    grads = jax.grad(of_free)({n: leaf for n, leaf in values.items() if n not in frozen})
    whole = [grads[n] if n in grads else jnp.zeros_like(leaf) for n, leaf in values.items()]
    return jax.tree.unflatten(structure, whole)


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


def full_gradient(objective: Objective, batch: PyTree) -> PyTree:
    """The gradient of the mean loss over the first `training.samples` rows of a padded batch."""
    x, y = batch[:2]
    block = min(len(y), rows_at_once(objective.model, x, BLOCK_ROWS))

    def rows_of(i: Int[Array, ""]) -> list[PyTree]:
        return [jax.lax.dynamic_slice_in_dim(leaf, i * block, block) for leaf in (y, x)]

    is_one_block = block == len(y)
    return gradient_in_blocks(objective, rows_of, block, objective.training.samples, is_one_block)


def first_gradient(
    objective: Objective, rows: Callable[[UInt32[Array, " size"]], PyTree]
) -> PyTree:
    """The gradient of the mean loss over the first `training.first_batch` rows, drawn in blocks."""

    def rows_of(i: Int[Array, ""]) -> list[PyTree]:
        x, y = rows((i * BLOCK_ROWS + jnp.arange(BLOCK_ROWS)).astype(jnp.uint32))[:2]
        return [y, x]

    return gradient_in_blocks(objective, rows_of, BLOCK_ROWS, objective.training.first_batch)


def gradient_in_blocks(
    objective: Objective,
    rows_of: Callable[[Int[Array, ""]], list[PyTree]],
    block: int,
    rows: Count | None,
    is_one_block: bool = False,
) -> PyTree:
    """The gradient of the mean loss over `rows` rows, of which `rows_of(i)` is block i.

    With `is_one_block` there is never a second one, and no loop is compiled.
    """
    assert rows is not None
    count = jnp.asarray(rows)

    def add(i: Int[Array, ""], total: PyTree) -> PyTree:
        part = rows_of(i)
        if objective.noise is not None:
            part = [*part, jr.split(jr.fold_in(objective.noise, i), block)]
        counts = i * block + jnp.arange(block) < count
        return jax.tree.map(jnp.add, total, objective.gradient(objective.total, part, counts))

    zero = jax.tree.map(jnp.zeros_like, objective.params)
    if is_one_block:
        total = add(jnp.zeros((), jnp.int32), zero)
    else:
        total = jax.lax.fori_loop(0, -(-count // block), add, zero)
    return jax.tree.map(lambda g: g / count, total)


def population_gradient(objective: Objective, whole: Whole) -> PyTree:
    """The gradient of the mean loss over the training rows of a population."""
    loss = jax.vmap(losses.loss_of(objective.training.loss))

    def mean(params: PyTree) -> Float[Array, ""]:
        values = loss(objective.model.apply_population(params), jnp.asarray(whole.y))
        return jnp.sum(jnp.where(whole.is_train, values, 0.0)) / jnp.sum(whole.is_train)

    return objective.gradient(mean)


def mean_gradient(objective: Objective, batch: PyTree) -> PyTree:
    """The gradient of the mean loss over a batch, in blocks if the batch is large."""
    x, y = batch[:2]
    size, noise, total = jax.tree.leaves(batch)[0].shape[0], objective.noise, objective.total
    batch = (y, x) if noise is None else (y, x, jr.split(noise, size))
    most = rows_at_once(objective.model, x, BATCH_ROWS)
    if size <= most:
        return objective.gradient(lambda params: total(params, batch) / size)
    blocks, rest = divmod(size, most)
    stacked = jax.tree.map(
        lambda leaf: leaf[: size - rest].reshape(blocks, most, *leaf.shape[1:]), batch
    )
    tail = jax.tree.map(lambda leaf: leaf[size - rest :], batch)
    grads, _ = jax.lax.scan(
        lambda acc, part: (jax.tree.map(jnp.add, acc, objective.gradient(total, part)), None),
        objective.gradient(total, tail),
        stacked,
    )
    return jax.tree.map(lambda g: g / size, grads)
