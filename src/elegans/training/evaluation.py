"""Looks at a run: losses and errors over rows of its training set and its test set.

Evaluation is staged. A look measures the training set and a screening part of the test set; only
if that is near the stop rule, or the run is at its end, is the whole test set computed. The three
passes go through one loop, which is a third of the code to compile. A test set that is one small
block, in training without a training set, is drawn once for many looks.
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


class PackedLook(NamedTuple):
    """A look as two arrays: eight would take longer to hand over than many a look to compute."""

    sums: Float[Array | np.ndarray, "..."]  # train loss, train error, test loss, test error
    counts: Int[Array | np.ndarray, "..."]  # rows for training, for testing; finite, whole

    @classmethod
    def of(cls, look: Look) -> "PackedLook":
        """The numbers of a look."""
        train, test, *flags = look
        counts = [jnp.asarray(n, jnp.int32) for n in (train.rows, test.rows, *flags)]
        return cls(jnp.stack([train.loss, train.error, test.loss, test.error]), jnp.stack(counts))

    def unpacked(self) -> Look:
        """The looks, on arrays whose first axis is that of the numbers."""
        losses, errors = self.sums[0::2], self.sums[1::2]
        train, test = (Sums(losses[i], errors[i], self.counts[i]) for i in (0, 1))
        return Look(train, test, self.counts[2] != 0, self.counts[3] != 0)


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


class Subject(NamedTuple):
    """The run that is looked at: its experiment, its keys, and its rows if they are listed.

    `block` is how many rows are evaluated at once.
    """

    task: Any
    model: Any
    training: Training
    keys: Keys
    table: PyTree
    block: int


def look(
    run: Subject, params: PyTree, stage: Stage, step: Int[Array, ""], test_block: PyTree = None
) -> Look:
    """Losses and errors of one run, the whole test set included if it is worth computing.

    With `test_block`, the one block that the test set is, nothing else is looked at.
    """
    leaves = jax.tree.leaves(params)
    is_finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in leaves]))
    is_last = (step >= stage.last) | ~is_finite

    def is_near(train: Sums, screened: Sums) -> Bool[Array, ""]:
        values = jnp.stack([train.loss, train.error, screened.loss, screened.error])
        return is_last | jnp.all(values <= stage.limits)

    if isinstance(run.table, Whole):
        train, test = population_sums(run, params, run.table)
        return Look(train, test, is_finite, is_near(train, test))

    zero = Sums(jnp.zeros(()), jnp.zeros(()), jnp.zeros((), jnp.int32))
    if test_block is not None:
        counts = jnp.arange(run.block) < stage.test
        loss, error = block_sums(run, params, test_block, counts)
        test = Sums(loss, error, jnp.asarray(stage.test, jnp.int32))
        return Look(zero, test, is_finite, is_near(zero, test))

    def stages(number: Array, total: tuple[Sums, ...]) -> tuple[Sums, ...]:
        is_worth = is_near(total[TRAIN], total[SCREEN]) & (stage.test != total[SCREEN].rows)
        counts = jnp.stack(
            [jnp.asarray(stage.train), jnp.asarray(stage.screen), is_worth * stage.test]
        )
        result = sums(run, params, number != TRAIN, counts[number])
        return tuple(
            jax.tree.map(lambda new, old, i=i: jnp.where(number == i, new, old), result, old)
            for i, old in enumerate(total)
        )

    train, screened, test = jax.lax.fori_loop(0, 3, stages, (zero, zero, zero))
    has_test = test.rows > 0
    test = jax.tree.map(lambda a, b: jnp.where(has_test, a, b), test, screened)
    return Look(train, test, is_finite, is_near(train, screened))


def sums(run: Subject, params: PyTree, is_test: Bool[Array, ""], count: Int[Array, ""]) -> Sums:
    """Loss and error over the first `count` rows of the training or the test set, by blocks."""
    if data.has_rows(run.table):
        rows = partial(data.taken, run.table, is_test=is_test)
    else:
        rows = partial(data.rows, run.task, jnp.where(is_test, run.keys.test, run.keys.data))

    def add(i: Array, total: tuple[Array, Array]) -> tuple[Array, Array]:
        indices = i.astype(jnp.uint32) * run.block + jnp.arange(run.block, dtype=jnp.uint32)
        x, y = rows(indices)[:2]
        if run.training.clean_test:
            y = jnp.where(is_test, run.task.label(x), y)
        counts = indices < jnp.asarray(count, jnp.uint32)
        loss, error = block_sums(run, params, (x, y), counts)
        return total[0] + loss, total[1] + error

    zero = jnp.zeros(())
    total, wrong = jax.lax.fori_loop(0, -(-count // run.block), add, (zero, zero))
    return Sums(total, wrong, jnp.asarray(count, jnp.int32))


def first_test_block(run: Subject) -> PyTree:
    """Inputs and labels of the first rows of a test set that is drawn."""
    x, y = data.rows(run.task, run.keys.test, jnp.arange(run.block, dtype=jnp.uint32))[:2]
    return x, (run.task.label(x) if run.training.clean_test else y)


def block_sums(
    run: Subject, params: PyTree, rows: PyTree, counts: Bool[Array, " rows"]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Loss and error summed over those of some rows that count."""
    x, y = rows
    predictions = jax.vmap(run.model.apply, in_axes=(None, 0))(params, x)
    each = (jax.vmap(f)(predictions, y) for f in (losses.loss_of(run.training.loss), losses.error))
    loss, error = (jnp.sum(jnp.where(counts, values, 0.0)) for values in each)
    return loss, error


def population_sums(run: Subject, params: PyTree, whole: Whole) -> tuple[Sums, Sums]:
    """Loss and error over the training rows and over the test rows of a population."""
    predictions = run.model.apply_population(params)
    y = jnp.asarray(whole.y)
    loss = jax.vmap(losses.loss_of(run.training.loss))(predictions, y)
    error = jax.vmap(losses.error)(predictions, y)

    def over(rows: Bool[Array | np.ndarray, " rows"]) -> Sums:
        total, wrong = (jnp.sum(jnp.where(rows, values, 0.0)) for values in (loss, error))
        return Sums(total, wrong, jnp.sum(rows, dtype=jnp.int32))

    return over(whole.is_train), over(whole.is_test)
