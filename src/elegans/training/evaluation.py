"""Looks at a run: losses and errors over rows of its training set and its test set.

Evaluation is staged. A look measures the training set and a screening part of the test set; only
if that is near the stop rule, or the run is at its end, is the whole test set computed. The three
passes go through one loop, which is a third of the code to compile.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree

from elegans.keys import Keys
from elegans.training import losses
from elegans.training import source as data
from elegans.training.recipe import Training
from elegans.training.source import Whole

TRAIN, SCREEN, TEST = range(3)  # the passes


class Sums(NamedTuple):
    """Loss and error, summed over `rows` examples."""

    loss: Float[Array | np.ndarray, "..."]
    error: Float[Array | np.ndarray, "..."]
    rows: Int[Array | np.ndarray, "..."]


class Look(NamedTuple):
    """What is seen of a run at an evaluation, on the whole test set if `is_whole`."""

    train: Sums
    test: Sums
    is_finite: Bool[Array | np.ndarray, "..."]
    is_whole: Bool[Array | np.ndarray, "..."]


class Stage(NamedTuple):
    """How many rows each pass takes, and when the third is made.

    Attributes:
        train: Rows of the training set, likewise `screen` and `test` of the test set.
        limits: The whole test set is computed if train loss, train error, test loss and test error
            on these rows, each summed, are at most these four numbers.
        last: The step at which it is computed in any case.
    """

    train: Int[Array | np.ndarray, "..."]
    screen: Int[Array | np.ndarray, "..."]
    test: Int[Array | np.ndarray, "..."]
    limits: Float[Array | np.ndarray, "..."]
    last: Int[Array | np.ndarray, "..."]


def look(
    task: Any,
    model: Any,
    training: Training,
    keys: Keys,
    block: int,
    params: PyTree,
    table: PyTree,
    stage: Stage,
    step: Int[Array, ""],
) -> Look:
    """Losses and errors of one run, the whole test set included if it is worth computing."""
    leaves = jax.tree.leaves(params)
    is_finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in leaves]))
    is_last = (step >= stage.last) | ~is_finite

    def is_near(train: Sums, screened: Sums) -> Bool[Array, ""]:
        values = jnp.stack([train.loss, train.error, screened.loss, screened.error])
        return is_last | jnp.all(values <= stage.limits)

    if isinstance(table, Whole):
        train, test = population_sums(model, training, params, table)
        return Look(train, test, is_finite, is_near(train, test))

    def stages(stage_number: Array, total: tuple[Sums, ...]) -> tuple[Sums, ...]:
        is_worth = is_near(total[TRAIN], total[SCREEN]) & (stage.test != total[SCREEN].rows)
        counts = jnp.stack(
            [jnp.asarray(stage.train), jnp.asarray(stage.screen), is_worth * stage.test]
        )
        count = counts[stage_number]
        result = sums(
            task, model, training, keys, block, params, table, stage_number != TRAIN, count
        )
        return tuple(
            jax.tree.map(lambda new, old, i=i: jnp.where(stage_number == i, new, old), result, old)
            for i, old in enumerate(total)
        )

    zero = Sums(jnp.zeros(()), jnp.zeros(()), jnp.zeros((), jnp.int32))
    train, screened, test = jax.lax.fori_loop(0, 3, stages, (zero, zero, zero))
    has_test = test.rows > 0
    test = jax.tree.map(lambda a, b: jnp.where(has_test, a, b), test, screened)
    return Look(train, test, is_finite, is_near(train, screened))


def sums(
    task: Any,
    model: Any,
    training: Training,
    keys: Keys,
    block: int,
    params: PyTree,
    table: PyTree,
    is_test: Bool[Array, ""],
    count: Int[Array, ""],
) -> Sums:
    """Loss and error over the first `count` rows of the training or the test set, by blocks."""
    loss = losses.loss_of(training.loss)
    if data.has_rows(table):
        rows = partial(data.taken, table, is_test=is_test)
    else:
        rows = partial(data.rows, task, jnp.where(is_test, keys.test, keys.data))

    def add(i: Array, total: tuple[Array, Array]) -> tuple[Array, Array]:
        indices = i.astype(jnp.uint32) * block + jnp.arange(block, dtype=jnp.uint32)
        x, y = rows(indices)[:2]
        if training.clean_test:
            y = jnp.where(is_test, task.label(x), y)
        predictions = jax.vmap(model.apply, in_axes=(None, 0))(params, x)
        counts = indices < jnp.asarray(count, jnp.uint32)
        return (
            total[0] + jnp.sum(jnp.where(counts, jax.vmap(loss)(predictions, y), 0.0)),
            total[1] + jnp.sum(jnp.where(counts, jax.vmap(losses.error)(predictions, y), 0.0)),
        )

    zero = jnp.zeros(())
    total, wrong = jax.lax.fori_loop(0, -(-count // block), add, (zero, zero))
    return Sums(total, wrong, jnp.asarray(count, jnp.int32))


def population_sums(
    model: Any, training: Training, params: PyTree, whole: Whole
) -> tuple[Sums, Sums]:
    """Loss and error over the training rows and over the test rows of a population."""
    predictions = model.apply_population(params)
    y = jnp.asarray(whole.y)
    loss = jax.vmap(losses.loss_of(training.loss))(predictions, y)
    error = jax.vmap(losses.error)(predictions, y)

    def over(rows: Bool[Array | np.ndarray, " rows"]) -> Sums:
        total, wrong = (jnp.sum(jnp.where(rows, values, 0.0)) for values in (loss, error))
        return Sums(total, wrong, jnp.sum(rows, dtype=jnp.int32))

    return over(whole.is_train), over(whole.is_test)
