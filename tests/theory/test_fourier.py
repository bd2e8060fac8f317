"""Fourier analysis against sums over the cube, on random real functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.brute_force import character, characters, cube

from elegans.theory.boolean import fourier

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 6)


def function(seed, n):
    return np.random.default_rng(seed).standard_normal(2**n)


def flipped(values, n, i):
    return values[np.arange(2**n) ^ (1 << i)]


@given(seeds, st.integers(0, 9))
def test_the_transform_is_the_product_with_all_characters(seed, n):
    f = function(seed, n)
    np.testing.assert_allclose(fourier.walsh_hadamard(f), characters(n) @ f, rtol=1e-10, atol=1e-10)


@given(seeds, sizes)
def test_twice_the_transform_is_the_identity_times_the_size(seed, n):
    f = np.random.default_rng(seed).integers(-9, 9, 2**n)
    twice = fourier.walsh_hadamard(fourier.walsh_hadamard(f))
    np.testing.assert_array_equal(twice, 2**n * f)  # integers are exact


def test_the_transform_takes_leading_axes():
    tables = np.arange(24.0).reshape(3, 8)
    each = np.stack([fourier.walsh_hadamard(row) for row in tables])
    np.testing.assert_array_equal(fourier.walsh_hadamard(tables), each)


@given(seeds, sizes)
def test_parseval(seed, n):
    f = function(seed, n)
    assert np.mean(f**2) == pytest.approx(np.sum(fourier.coefficients(f, n) ** 2), rel=1e-10)


@given(seeds, sizes)
def test_a_callable_a_table_and_a_spectrum_are_one_function(seed, n):
    f = function(seed, n)
    spectrum = fourier.coefficients(f, n)
    x = cube(n)
    lookup = {tuple(row): value for row, value in zip(x, f, strict=True)}
    callable_f = lambda rows: np.array([lookup[tuple(row)] for row in rows])  # noqa: E731
    np.testing.assert_array_equal(fourier.coefficients(callable_f, n), spectrum)
    values = fourier.table(fourier.Spectrum(spectrum), n)
    np.testing.assert_allclose(values, f, rtol=1e-9, atol=1e-12)


def test_a_callable_is_evaluated_in_chunks_and_in_the_order_of_the_masks():
    n = 17  # two chunks
    spectrum = fourier.coefficients(lambda x: x[:, 0] * x[:, 16] + 2 * x[:, 3], n)
    assert fourier.sparse(fourier.Spectrum(spectrum), n, 0.5) == {(3,): 2.0, (0, 16): 1.0}
    assert fourier.degree(fourier.Spectrum(spectrum), n) == 2


@given(seeds, sizes)
def test_influences_and_average_sensitivity_are_their_definitions(seed, n):
    f = function(seed, n)
    expected = [np.mean((f - flipped(f, n, i)) ** 2) / 4 for i in range(n)]
    np.testing.assert_allclose(fourier.influences(f, n), expected, rtol=1e-9, atol=1e-12)
    assert fourier.average_sensitivity(f, n) == pytest.approx(sum(expected), rel=1e-9)


def test_average_sensitivity_counts_bits_of_boolean_functions():
    assert fourier.average_sensitivity(lambda x: x[:, 0] * x[:, 1] * x[:, 2], 5) == 3.0


def pair_chances(n, p, rho):
    """The joint law of x and its noisy copy, row x and column y, by definition."""
    x = cube(n)
    marginal = np.where(x < 0, p, 1 - p).prod(axis=1)
    same = rho + (1 - rho) * np.where(x < 0, p, 1 - p)  # for each target bit y = x
    other = (1 - rho) * np.where(x < 0, p, 1 - p)  # drawn anew and different
    chances = np.ones((2**n, 2**n))
    for i in range(n):
        agree = x[:, None, i] == x[None, :, i]
        chances *= np.where(agree, same[None, :, i], other[None, :, i])
    return marginal[:, None] * chances


@given(seeds, st.integers(1, 5), st.floats(0, 1), st.floats(0.05, 0.95))
def test_claim_2_1_noise_sensitivity_is_its_definition(seed, n, rho, p):
    f = function(seed, n)
    for bias in (0.5, p):
        expected = np.sum(pair_chances(n, bias, rho) * (f[:, None] - f[None, :]) ** 2) / 4
        sensitivity = fourier.noise_sensitivity(f, n, rho, p=bias)
        assert sensitivity == pytest.approx(expected, rel=1e-8, abs=1e-12)
        stability = np.sum(pair_chances(n, bias, rho) * f[:, None] * f[None, :])
        assert fourier.noise_stability(f, n, rho, p=bias) == pytest.approx(stability, abs=1e-9)


@given(seeds, sizes, st.floats(0.01, 0.99), st.integers(0, 5))
def test_claim_2_1_bounds_the_tail(seed, n, rho, d):
    f = function(seed, n)
    tail = fourier.tail_weight(f, n, d)
    noise = fourier.noise_sensitivity(f, n, rho)
    assert tail * (1 - rho**d) <= 2 * noise + 1e-12
    assert tail == pytest.approx(np.sum(fourier.degree_weights(f, n)[d + 1 :]))


@given(seeds, sizes, st.integers(0, 6))
def test_the_low_degree_projection_leaves_the_tail(seed, n, d):
    f = function(seed, n)
    rest = f - fourier.table(fourier.low_degree(f, n, d), n)
    assert np.mean(rest**2) == pytest.approx(fourier.tail_weight(f, n, d), abs=1e-10)
    assert fourier.degree(fourier.low_degree(f, n, d), n) <= d


@given(seeds, st.integers(1, 5), st.floats(0.05, 0.95))
def test_biased_coefficients_are_their_definition(seed, n, p):
    f = function(seed, n)
    x = cube(n)
    weight = np.where(x < 0, p, 1 - p).prod(axis=1)
    phi = (x - (1 - 2 * p)) / np.sqrt(4 * p * (1 - p))
    expected = [
        np.sum(weight * f * character(phi, fourier.subset_of(mask))) for mask in range(2**n)
    ]
    spectrum = fourier.coefficients(f, n, p=p)
    np.testing.assert_allclose(spectrum, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        fourier.table(fourier.Spectrum(spectrum, p), n), f, rtol=1e-7, atol=1e-9
    )
    variance = [np.sum(weight * p * (1 - p) * (f - flipped(f, n, i)) ** 2) for i in range(n)]
    np.testing.assert_allclose(fourier.influences(f, n, p=p), variance, rtol=1e-7, atol=1e-9)


@given(seeds, st.integers(2, 6), st.integers(0, 5), st.sampled_from([-1, 1]))
def test_restriction_keeps_the_rows_with_the_fixed_bit(seed, n, i, value):
    f = function(seed, n)
    i = i % n
    kept = f[cube(n)[:, i] == value]
    np.testing.assert_array_equal(fourier.restriction(f, n, {i: value}), kept)


@settings(max_examples=20)
@given(seeds, st.floats(-0.9, 1))
def test_sampled_noise_sensitivity_contains_the_exact_one(seed, rho):
    n = 5
    f = np.random.default_rng(seed).uniform(-1, 1, 2**n)
    evaluate = lambda x: f[(x < 0) @ 2 ** np.arange(n)]  # noqa: E731
    interval = fourier.noise_sensitivity_sampled(
        evaluate, n, rho, samples=4000, confidence=1 - 1e-9, bound=1.0, seed=seed
    )
    assert interval.contains(fourier.noise_sensitivity(f, n, rho))


def test_sampling_reaches_inputs_that_cannot_be_enumerated():
    parity = lambda x: x[:, :3].prod(axis=1)  # noqa: E731
    with pytest.raises(ValueError, match=r"up to n = 22.*noise_sensitivity_sampled"):
        fourier.noise_sensitivity(parity, 200, 0.9)
    noise = fourier.noise_sensitivity_sampled(parity, 200, 0.9, confidence=1 - 1e-9, bound=1.0)
    assert noise.contains((1 - 0.9**3) / 2)
    interval = fourier.coefficient_sampled(parity, 200, (0, 1, 2), bound=1.0)
    assert interval.value == 1.0
    normal = fourier.coefficient_sampled(parity, 200, (0, 1, 3))
    assert abs(normal.value) < 0.02
    assert 0 < normal.radius < 0.02


def test_masks_and_tuples_name_the_same_sets():
    assert fourier.mask_of((0, 3)) == 9
    assert all(fourier.mask_of(fourier.subset_of(mask)) == mask for mask in range(64))
    sizes = np.bitwise_count(fourier.masks_by_size(5))
    assert all(np.diff(sizes.astype(int)) >= 0)


def test_a_model_with_params_is_a_function():
    import jax
    import jax.numpy as jnp

    from elegans.models import MLP
    from elegans.tasks import Parity

    model = MLP(width=7)
    params = model.init_params(jax.random.key(0), Parity(n=4, k=2))
    spectrum = fourier.coefficients(model, 4, params=params)
    values = np.asarray(model.apply(params, jnp.asarray(cube(4), jnp.float32)))
    np.testing.assert_allclose(spectrum, characters(4) @ values / 16, atol=1e-6)
    with pytest.raises(TypeError, match="give its params"):
        fourier.coefficients(model, 4)


def test_tables_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match=r"2\*\*n values; got 6"):
        fourier.walsh_hadamard(np.zeros(6))
    with pytest.raises(ValueError, match=r"2\*\*3 values, and n is 4"):
        fourier.coefficients(np.zeros(8), 4)


def test_importing_fourier_loads_neither_scikit_learn_nor_matplotlib():
    import subprocess
    import sys

    code = (
        "import sys, elegans.theory.boolean.fourier;"
        "sys.exit(any(m in sys.modules for m in ('sklearn', 'matplotlib')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
