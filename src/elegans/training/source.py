r"""Where the rows of a run come from: virtual data sets, stored tables, and whole populations.

*Virtual.* Row $i$ of a run's training set is the task's own sampler under `fold_in(data_key, i)`.
Nothing is stored, so a set of any size $m$ costs no memory, $m$ is a traced number, and online
training is $m = \infty$: step $t$ takes rows $tB, \dots, tB + B - 1$. Offline, the $j$-th row of
step $t$ is drawn with replacement by a number that depends on $tB + j$ alone, so a step sees the
same batch however it is reached.

*Stored.* `task.stored(key)` is a whole table in an order that depends on the key, and `task.sizes`
says how many rows of it are for training and for testing. Training row $i$ is row $i$ of the table,
and test row $i$ is row $i$ from its end. A task that also has `accepts(table)` has tables redrawn
until it says yes.

*Populations.* With `samples=None, batch=None` a task that lists its population is trained on all of
it, and tested on all of it. A task with an attribute `fraction` is split: that share of its
population, drawn by the run's data key, is the training set, and the rest is the test set.

A task's `data_seed`, if it has one, takes the place of the run's seed for its training set, so that
runs of other seeds share their examples. Tables are arguments of the compiled programs, so runs
with different seeds share those too.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Bool, Int, Num, PRNGKeyArray, PyTree, UInt32

from elegans import checks
from elegans.descriptions import is_split, row_counts
from elegans.fields import Count
from elegans.keys import Keys, Seed, keys_of
from elegans.training.recipe import Training

REDRAWS = 1000  # tables that a task may reject before it is taken to reject all


class Whole(NamedTuple):
    """A population's labels, and which rows are for training and testing; inputs are not needed.

    For models that predict all of a population at once, in its own order.
    """

    y: Num[Array | np.ndarray, "rows *shape"]
    is_train: Bool[Array | np.ndarray, " rows"]
    is_test: Bool[Array | np.ndarray, " rows"]


def keys_for(task: Any, seed: int) -> Keys:
    """The keys of a run of a task, whose training set may have a seed of its own."""
    return keys_with(seed, data_seed_of(task))


def data_seed_of(task: Any) -> np.uint32 | None:
    """The seed that a task has for its training set, in place of the run's."""
    data_seed = getattr(task, "data_seed", None)
    return None if data_seed is None else np.uint32(data_seed)


def keys_with(seed: Seed, data_seed: Seed | None) -> Keys:
    """The keys of a run, that of its training set from another seed if there is one."""
    keys = keys_of(seed)
    return keys if data_seed is None else keys._replace(data=keys_of(data_seed).data)


def is_whole(training: Training) -> bool:
    """Whether a recipe asks for all rows that a task has, in every step."""
    return training.samples is None and training.batch is None


def resolved(task: Any, training: Training) -> Training:
    """The recipe with the numbers of rows that there are: `samples=None` is all of them.

    `test_samples` is a number at most, as its default would be too many for a small table.
    """
    sizes = row_counts(task, is_whole=is_whole(training))
    if sizes is None:
        return training
    train, test = sizes
    return replace(
        training,
        samples=train if training.samples is None else training.samples,
        test_samples=min(test, int(training.test_samples)) if hasattr(task, "stored") else test,
    )


def is_drawn(task: Any, training: Training) -> bool:
    """Whether the rows of a run are drawn when they are needed, batch by batch."""
    is_listed = row_counts(task, is_whole=is_whole(training)) is not None
    return training.batch is not None and not (hasattr(task, "stored") or is_listed)


def table_of(task: Any, model: Any, training: Training, key: PRNGKeyArray) -> PyTree:
    """The rows of a run that are stored or listed, for a recipe as it was given; () if drawn."""
    if hasattr(task, "stored"):
        return _accepted(task, key)
    sizes = row_counts(task, is_whole=is_whole(training))
    if sizes is None:
        return ()
    train, test = sizes
    x, y = task.population()[:2]
    order = np.arange(len(y))
    if is_split(task):
        order = np.random.default_rng(np.asarray(jr.key_data(key)).tolist()).permutation(len(y))
    if training.batch is None and hasattr(model, "apply_population"):
        is_train, is_test = np.zeros((2, len(y)), bool)
        is_train[order[:train]], is_test[order[::-1][:test]] = True, True
        return Whole(y, is_train, is_test)
    return x[order], y[order]


def _accepted(task: Any, key: PRNGKeyArray) -> PyTree:
    """The first table that the task does not reject."""
    accepts = getattr(task, "accepts", lambda table: True)
    for attempt in range(REDRAWS):
        table = task.stored(jr.fold_in(key, attempt) if attempt else key)
        if accepts(table):
            return table
    raise ValueError(f"{checks.shown(task)}: it rejected {REDRAWS} tables in a row.")


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
        # online, the rows of a large first step are not seen again
        first = training.first_batch
        return places if first is None else places + jnp.asarray(first).astype(jnp.uint32)
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


def has_rows(table: PyTree) -> bool:
    """Whether rows are read from a table, and not drawn."""
    return bool(jax.tree.leaves(table))


def training_rows(task: Any, keys: Keys, table: PyTree, indices: UInt32[Array, " size"]) -> PyTree:
    """The rows with the given numbers of a run's training set."""
    return taken(table, indices) if has_rows(table) else rows(task, keys.data, indices)


def batches(
    task: Any, training: Training, keys: Keys, steps: Int[Array, " block"], table: PyTree = ()
) -> PyTree:
    """The batches of several steps at once: random numbers are cheap only in bulk."""

    def batch(step: Int[Array, ""]) -> PyTree:
        return training_rows(task, keys, table, batch_indices(training, keys, step))

    return jax.vmap(batch)(steps)


def steps_in_bulk(
    task: Any, batch: int, cache: int = 2**17, most: int = 64, table: PyTree = ()
) -> int:
    """How many steps' batches to draw at once, so that they stay within `cache` bytes."""
    if has_rows(table):
        example = jax.eval_shape(lambda: jax.tree.map(lambda leaf: leaf[:1], table))
    else:
        example = jax.eval_shape(lambda key: task.sample(key, 1), jr.key(0))
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(example))
    return max(1, min(most, cache // (size * batch)))
