r"""Virtual data sets: example $i$ is a pure function of (data key, $i$).

Row $i$ of a run's training set is the task's own sampler under `fold_in(data_key, i)`. Nothing is
stored, so a set of any size $m$ costs no memory, $m$ is a traced number, and online training is
$m = \infty$: step $t$ takes rows $tB, \dots, tB + B - 1$. Offline, the $j$-th row of step $t$ is
drawn with replacement by a number that depends on $tB + j$ alone, so a step sees the same batch
however it is reached.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Int, PRNGKeyArray, PyTree, UInt32

from elegans.configuration import Count
from elegans.training.recipe import Training


class Keys(NamedTuple):
    """Every source of randomness of a run, by what it is for."""

    init: PRNGKeyArray
    data: PRNGKeyArray
    order: PRNGKeyArray
    test: PRNGKeyArray
    probe: PRNGKeyArray
    noise: PRNGKeyArray


def keys_of(seed: int) -> Keys:
    """The keys of a run, from its seed."""
    return _split(jr.key(seed))


@jax.jit
def _split(root: PRNGKeyArray) -> Keys:
    return Keys(*(jr.fold_in(root, i) for i in range(len(Keys._fields))))


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


def batches(task: Any, training: Training, keys: Keys, steps: Int[Array, " block"]) -> PyTree:
    """The batches of several steps at once: random numbers are cheap only in bulk."""

    def batch(step: Int[Array, ""]) -> PyTree:
        return rows(task, keys.data, batch_indices(training, keys, step))

    return jax.vmap(batch)(steps)


def steps_in_bulk(task: Any, batch: int, cache: int = 2**17, most: int = 64) -> int:
    """How many steps' batches to draw at once, so that they stay within `cache` bytes."""
    example = jax.eval_shape(lambda key: task.sample(key, 1), jr.key(0))
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(example))
    return max(1, min(most, cache // (size * batch)))
