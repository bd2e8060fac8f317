"""One numbering of the cube: signs, random signs, sets and their characters."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from elegans import cube
from tests.brute_force import characters
from tests.brute_force import cube as rows_of_the_cube

FAIR = [[-1, -1, 1, -1, 1], [1, 1, 1, 1, 1]]
BIASED = [[1, 1, 1, 1, 1], [1, 1, 1, -1, -1]]


@pytest.mark.parametrize("n", [1, 3, 6])
def test_signs_are_numbered_by_their_bits(n):
    np.testing.assert_array_equal(cube.signs(n), rows_of_the_cube(n))
    np.testing.assert_array_equal(cube.signs(n, 1, 2), rows_of_the_cube(n)[1:2])
    np.testing.assert_array_equal(cube.population(n), rows_of_the_cube(n))
    assert cube.population(n).dtype == jnp.float32


def test_characters_of_numpy_and_jax_arrays_are_the_rows_of_the_walsh_matrix():
    x = rows_of_the_cube(4)
    for mask, row in enumerate(characters(4)):
        subset = cube.subset_of(mask)
        assert cube.mask_of(subset) == mask
        assert cube.subset_sizes(4)[mask] == len(subset)
        np.testing.assert_array_equal(cube.character(x, subset), row)
        got = cube.character(jnp.asarray(x, jnp.float32), subset)
        assert isinstance(got, jax.Array)
        np.testing.assert_array_equal(got, row)


def test_random_signs_have_the_bias_that_they_are_asked_for():
    fair = np.asarray(cube.uniform_bits(jr.key(0), 4000, 40))
    assert set(np.unique(fair)) == {-1.0, 1.0}
    assert np.abs(fair.mean(axis=0)).max() < 0.11  # seven standard errors
    biased = np.asarray(cube.biased_bits(jr.key(0), 4000, 40, 0.9))
    assert (biased < 0).mean() == pytest.approx(0.9, abs=0.01)
    drawn = cube.drawn_signs(np.random.default_rng(0), 4000, 40)
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    assert np.abs(drawn.mean(axis=0)).max() < 0.11


def test_the_first_bits_of_the_samplers_never_change():
    # Every stored run rests on them: examples are functions of their keys.
    fair = cube.uniform_bits(jr.key(7), 2, 5)
    biased = cube.biased_bits(jr.key(7), 2, 5, 0.3)
    assert np.asarray(fair).astype(int).tolist() == FAIR
    assert np.asarray(biased).astype(int).tolist() == BIASED
