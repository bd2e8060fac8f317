r"""Virtual data sets: example $i$ is a pure function of (data key, $i$).

Row $i$ of a run's training set is the task's own sampler under `fold_in(data_key, i)`. Nothing is
stored, so a set of any size $m$ costs no memory, $m$ is a traced number, and online training is
$m = \infty$: step $t$ takes rows $tB, \dots, tB + B - 1$. Offline, the $j$-th row of step $t$ is
drawn with replacement by a number that depends on $tB + j$ alone, so a step sees the same batch
however it is reached.

A task may have *stored* rows instead: `task.stored(key)` is the whole table in an order that
depends on the key, and `task.sizes` says how many rows of it are for training and for testing.
Training row $i$ is row $i$ of that table, and test row $i$ is row $i$ from its end. The table is an
argument of the compiled programs, so runs with different seeds share them.
"""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Int, PRNGKeyArray, PyTree, UInt32

from elegans.fields import Count
from elegans.keys import Keys
from elegans.training.recipe import Training


def is_stored(task: Any) -> bool:
    """Whether a task's rows are read from a table, and not drawn."""
    return hasattr(task, "stored")


def resolved(task: Any, training: Training) -> Training:
    """The recipe with the numbers of rows that a stored task has: `samples=None` is all of them.

    `test_samples` is a number at most, as its default would be too many for a small table.
    """
    if not is_stored(task):
        return training
    train, test = task.sizes
    return replace(
        training,
        samples=train if training.samples is None else training.samples,
        test_samples=min(test, int(training.test_samples)),
    )


def rows(task: Any, key: PRNGKeyArray, indices: UInt32[Array, " size"]) -> PyTree:
    """The rows with the given numbers of the data set under `key`."""

    def row(i: UInt32[Array, ""]) -> PyTree:
        return jax.tree.map(lambda leaf: leaf[0], task.sample(jr.fold_in(key, i), 1))

    return jax.vmap(row)(indices)


def batch_indices(training: Training, keys: Keys, step: Int[Array, ""]) -> UInt32[Array, " batch"]:
    """Which rows the batch of a step holds."""
    assert training.batch is not None
    places = jnp.arange(training.batch, dtype=jnp.uint32)
    places += step.astype(jnp.uint32) * jnp.uint32(training.batch)
    if training.samples is None:
        return places
    # a folded key is itself a word of random bits: the cheapest number that depends on its place
    words = jax.vmap(lambda place: jr.key_data(jr.fold_in(keys.order, place)))(places)
    return scaled(words[:, 0], training.samples)


def scaled(bits: UInt32[Array, " size"], m: Count) -> UInt32[Array, " size"]:
    r"""$\lfloor m \cdot \text{bits} / 2^{32} \rfloor$: uniform on $0, \dots, m - 1$.

    The upper half of a 64-bit product, by 16-bit limbs. Some rows are likelier than others by a
    factor of $1 + m/2^{32}$ at most.
    """
    low, m = jnp.uint32(0xFFFF), jnp.asarray(m).astype(jnp.uint32)
    cross_a, cross_b = (bits & low) * (m >> 16), (bits >> 16) * (m & low)
    carry = (((bits & low) * (m & low)) >> 16) + (cross_a & low) + (cross_b & low)
    return (bits >> 16) * (m >> 16) + (cross_a >> 16) + (cross_b >> 16) + (carry >> 16)


def taken(table: PyTree, indices: UInt32[Array, " size"], *, is_test: Any = False) -> PyTree:
    """The rows with the given numbers of a stored table, from its end if they are of the test set.

    Numbers beyond the table are those of evaluation's last block, and are not counted there.
    """
    size = jnp.uint32(len(jax.tree.leaves(table)[0]))
    indices = jnp.minimum(indices, size - 1)
    indices = jnp.where(is_test, size - 1 - indices, indices)
    return jax.tree.map(lambda leaf: leaf[indices], table)


def batches(
    task: Any, training: Training, keys: Keys, steps: Int[Array, " block"], table: PyTree = ()
) -> PyTree:
    """The batches of several steps at once: random numbers are cheap only in bulk."""

    def batch(step: Int[Array, ""]) -> PyTree:
        indices = batch_indices(training, keys, step)
        return taken(table, indices) if is_stored(task) else rows(task, keys.data, indices)

    return jax.vmap(batch)(steps)


def steps_in_bulk(
    task: Any, batch: int, cache: int = 2**17, most: int = 64, table: PyTree = ()
) -> int:
    """How many steps' batches to draw at once, so that they stay within `cache` bytes."""
    if is_stored(task):
        example = jax.eval_shape(lambda: jax.tree.map(lambda leaf: leaf[:1], table))
    else:
        example = jax.eval_shape(lambda key: task.sample(key, 1), jr.key(0))
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(example))
    return max(1, min(most, cache // (size * batch)))
