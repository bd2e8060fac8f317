"""Virtual data sets: the same rows however they are reached, and exactly m of them."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elegans.keys import keys_of
from elegans.tasks import Parity
from elegans.training import source as data
from elegans.training.recipe import Training

pytestmark = pytest.mark.usefixtures("cheap_compilation")

TASK = Parity(64, 3)
KEYS = keys_of(5)


def test_row_i_is_the_sampler_under_the_folded_key_however_it_is_reached():
    indices = jnp.asarray([9, 2, 9, 700_000], jnp.uint32)
    together = data.rows(TASK, KEYS.data, indices)
    for j, i in enumerate(indices):
        alone = TASK.sample(jr.fold_in(KEYS.data, i), 1)
        np.testing.assert_array_equal(together.x[j], alone.x[0])
        assert together.y[j] == alone.y[0]
    np.testing.assert_array_equal(together.x[0], together.x[2])


@pytest.mark.parametrize("m", [1, 7, 100])
def test_exactly_m_distinct_rows_are_used(m):
    training = Training(samples=m, batch=32)
    drawn = data.batches(TASK, training, KEYS, jnp.arange(100))
    x = np.asarray(drawn.x).reshape(-1, 64)
    assert len(np.unique(x, axis=0)) == m  # 64 bits: rows do not coincide by chance


def test_rows_are_drawn_uniformly():
    training = Training(samples=10, batch=1000)
    indices = np.asarray(data.batch_indices(training, KEYS, jnp.asarray(3)))
    counts = np.bincount(indices, minlength=10)
    assert np.abs(counts - 100).max() < 5 * 100**0.5


def test_online_training_never_sees_a_row_twice():
    training = Training(samples=None, batch=8)
    drawn = [data.batch_indices(training, KEYS, jnp.asarray(t)) for t in range(5)]
    np.testing.assert_array_equal(np.concatenate(drawn), np.arange(40))


def test_a_steps_batch_does_not_depend_on_the_bulk_it_is_drawn_in():
    training = Training(samples=50, batch=4)
    bulk = data.batches(TASK, training, KEYS, jnp.arange(10))
    alone = data.batches(TASK, training, KEYS, jnp.arange(7, 8))
    np.testing.assert_array_equal(bulk.x[7], alone.x[0])


@given(st.integers(1, 2**31 - 1), st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4))
def test_scaling_is_the_upper_half_of_the_product(m, bits):
    got = data.scaled(jnp.asarray(bits, jnp.uint32), m)
    assert [int(i) for i in got] == [b * m >> 32 for b in bits]
