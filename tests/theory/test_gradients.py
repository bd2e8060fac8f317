"""Gradients against sums over the cube, for every small (n, s, k)."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.brute_force import character, cube

from elegans.theory.boolean import fourier, gradients, majority


def brute(w, support, bias=0.0, slope=lambda z: (z > 0).astype(float)):
    x = cube(len(w))
    z = x @ w + bias
    z = np.where(np.abs(z) < 1e-9, 0.0, z)
    return (character(x, support) * slope(z)) @ x / len(x)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(-1, 1))
def test_enumeration_is_the_definition(seed, n, bias):
    generator = np.random.default_rng(seed)
    w = generator.standard_normal(n)
    support = tuple(sorted(generator.permutation(n)[: generator.integers(1, n + 1)].tolist()))
    for name, slope in [("relu", lambda z: z > 0), ("sin", np.cos), (np.sin, np.sin)]:
        gradient = gradients.population(w, support, bias=bias, activation=name)
        np.testing.assert_allclose(gradient, brute(w, support, bias, slope), atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_the_gradient_is_the_spectrum_of_the_derivative(seed, n):
    w = np.random.default_rng(seed).standard_normal(n)
    spectrum = fourier.coefficients(lambda x: np.tanh(x @ w), n)
    gradient = gradients.population(w, (0, 1), activation=np.tanh)
    expected = [spectrum[3 ^ (1 << i)] for i in range(n)]
    np.testing.assert_allclose(gradient, expected, atol=1e-12)


@pytest.mark.parametrize("n", range(2, 9))
def test_sparse_and_sign_starts_are_their_closed_form(n):
    generator = np.random.default_rng(n)
    for s, k in itertools.product(range(1, n + 1), range(1, n + 1)):
        w = np.zeros(n)
        w[generator.permutation(n)[:s]] = generator.choice([-1.0, 1.0], s)
        support = tuple(generator.permutation(n)[:k].tolist())
        for bias in [-0.5, 0.0, 0.5]:
            gradient = gradients.closed_form(w, support, bias=bias)
            np.testing.assert_allclose(gradient, brute(w, support, bias), atol=1e-12)


@pytest.mark.parametrize("n", range(3, 10))
def test_perturbed_starts_are_their_closed_form(n):
    generator = np.random.default_rng(n)
    for s, k in itertools.product(range(1, n), range(1, n + 1)):
        epsilon = 0.7 / (n - s)
        w = np.full(n, epsilon)
        w[generator.permutation(n)[:s]] = 1.0
        w *= generator.choice([-1.0, 1.0], n)
        support = tuple(generator.permutation(n)[:k].tolist())
        for bias in [-0.3 * epsilon, 0.0, 0.3 * epsilon]:
            gradient = gradients.closed_form(w, support, bias=bias)
            np.testing.assert_allclose(gradient, brute(w, support, bias), atol=1e-12)


@pytest.mark.parametrize("k, s", [(2, 9), (4, 17)])
def test_lemmas_8_and_9(k, s):
    n = s + 3
    for missing in [0, 1, 2]:
        support = tuple(range(k - missing)) + tuple(range(s, s + missing))
        w = np.concatenate([np.ones(s), np.zeros(3)])
        gradient = gradients.enumerated(w, support)
        relevant = majority.relevant_gradient(s, k)
        if missing == 0:  # a good neuron
            expected = np.full(n, majority.irrelevant_gradient(s, k)) * w
            expected[list(support)] = relevant
        else:  # a bad one: at most one coordinate, at most |C_{k,s}|
            expected = np.zeros(n)
            expected[s] = relevant * (missing == 1)
        np.testing.assert_allclose(gradient, expected, atol=1e-14)
        assert missing == 0 or np.abs(gradient).sum() <= abs(relevant) * (1 + 1e-12)


def test_errata_the_bound_of_lemma_9_needs_an_absolute_value():
    assert majority.relevant_gradient(17, 4) < 0  # as printed, a norm is at most a negative number


@pytest.mark.parametrize("n, k, s", [(11, 4, 2), (12, 4, 2), (12, 6, 2), (13, 6, 4)])
def test_lemma_20(n, k, s):
    w = np.full(n, 0.5 / (n - s))
    w[:s] = 1.0
    gradient = gradients.enumerated(w, tuple(range(k)))
    share = majority.half(s, s) / 2
    expected = np.full(n, share * majority.coefficient(n - s, k - s + 1))
    expected[:s] = 0.0
    expected[s:k] = share * majority.coefficient(n - s, k - s - 1)
    np.testing.assert_allclose(gradient, expected, atol=1e-14)


@pytest.mark.parametrize("n, s, k", [(8, 2, 4), (9, 2, 4), (8, 2, 3)])
def test_the_biases_of_theorem_21_move_no_gradient_if_k_is_even(n, s, k):
    """They decide the ties of the small weights, which cancel at sets of odd size."""
    epsilon = 0.5 / (n - s)
    w = np.full(n, epsilon)
    w[[0, n - 1]] = 1.0  # a bad neuron: one relevant bit, one that is not
    support = tuple(range(k))
    biases = [epsilon * i / (2 * k) for i in range(1 - k, k, 2)]
    gradient = np.array([gradients.enumerated(w, support, bias=bias) for bias in biases])
    moved = np.ptp(gradient, axis=0).max()
    assert moved < 1e-15 if k % 2 == 0 else moved > 0.01


def test_closed_forms_go_on_where_enumeration_stops():
    w = np.ones(10_001)
    gradient = gradients.population(w, (0, 1, 2, 3))
    assert gradient[0] == pytest.approx(majority.coefficient(10_001, 3) / 2)
    assert gradient[4] == pytest.approx(majority.coefficient(10_001, 5) / 2)
    assert gradients.fourier_gap(w, (0, 1, 2, 3)) == pytest.approx(majority.gap(10_001, 4) / 2)


def test_what_has_no_closed_form_is_refused_with_its_sizes():
    with pytest.raises(ValueError, match=r"sizes from 0.5 to 3.*sampled"):
        gradients.population(np.linspace(0.5, 3, 30), (0, 1))
    with pytest.raises(ValueError, match="bias=3"):
        gradients.closed_form(np.ones(5), (0, 1), bias=3.0)


@pytest.mark.parametrize("n, k", [(9, 2), (9, 4), (11, 4)])
def test_the_gap_of_the_all_ones_neuron_is_half_of_majoritys(n, k):
    support = tuple(range(k))
    expected = majority.gap(n, k) / 2
    assert gradients.fourier_gap(np.ones(n), support) == pytest.approx(expected, abs=1e-14)
    relaxed = gradients.fourier_gap(np.ones(n), support, relaxed=True)
    assert relaxed == pytest.approx(expected, abs=1e-14)  # one size of gradient, one gap


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_the_gap_of_a_function_compares_all_neighbours_of_the_set(seed, n):
    f = np.random.default_rng(seed).standard_normal(2**n)
    x, support = cube(n), (0, n - 1)
    below = [abs(np.mean(f * x[:, i])) for i in support]
    above = [abs(np.mean(f * x[:, 0] * x[:, n - 1] * x[:, i])) for i in range(1, n - 1)]
    expected = min(below) - max(above, default=0.0)
    assert gradients.function_gap(f, n, support) == pytest.approx(expected, abs=1e-12)
    assert gradients.function_gap(lambda x: np.sign(x.sum(axis=1)), 7, (0, 1)) == pytest.approx(
        majority.gap(7, 2)
    )


@given(st.integers(0, 2**32 - 1))
def test_the_relaxed_gap_is_at_least_the_strict_one(seed):
    w = np.random.default_rng(seed).standard_normal(7)
    g = np.abs(brute(w, (0, 1, 2)))
    strict, relaxed = (gradients.fourier_gap(w, (0, 1, 2), relaxed=r) for r in (False, True))
    assert strict == pytest.approx(g[:3].min() - g[3:].max(), abs=1e-12)
    assert relaxed == pytest.approx(g[:3].max() - g[3:].max(), abs=1e-12)
    assert relaxed >= strict


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2]))
def test_sampled_gradients_are_within_their_radius(seed, flip):
    w = np.random.default_rng(seed).standard_normal(6)
    exact = gradients.population(w, (1, 4)) * (1 - 2 * flip)
    estimate = gradients.sampled(w, (1, 4), 2000, flip=flip, seed=seed)
    assert np.abs(estimate.gradient - exact).max() <= estimate.radius


def test_proposition_b7_recovers_the_support_and_an_eighth_of_its_samples_need_not():
    n, support = 15, (3, 8)
    gap = gradients.fourier_gap(np.ones(n), support)
    samples = gradients.recovery_samples(gap, n, failure=1e-6)
    assert samples == pytest.approx(8 * np.log(2 * n / 1e-6) / gap**2, rel=1e-3)
    for seed in range(5):
        gradient = gradients.sampled(np.ones(n), support, samples, seed=seed).gradient
        assert gradients.recovered(gradient, 2) == support
    few = [gradients.sampled(np.ones(n), support, 50, seed=seed).gradient for seed in range(20)]
    assert any(gradients.recovered(g, 2) != support for g in few)
    with pytest.raises(ValueError, match="positive gap"):
        gradients.recovery_samples(0.0, n)
