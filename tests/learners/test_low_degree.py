"""The low-degree algorithm against monomials written out by hand and the Fourier tail."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.brute_force import cube

from elegans.learners import LowDegreeClassifier, LowDegreeRegressor, low_degree
from elegans.learners.monomials import MonomialMap, monomial_count, monomial_kernel, monomials
from elegans.theory.boolean import fourier

seeds = st.integers(0, 2**32 - 1)


def by_hand(x, d):
    n = x.shape[1]
    sets = [t for j in range(d + 1) for t in itertools.combinations(range(n), j)]
    return np.stack([x[:, list(t)].prod(axis=1) for t in sets], axis=1)


@given(seeds, st.integers(1, 7), st.integers(0, 5))
def test_monomials_and_their_kernel_are_products_of_features(seed, n, d):
    generator = np.random.default_rng(seed)
    x, z = generator.standard_normal((4, n)), generator.standard_normal((3, n))
    expected = by_hand(x, min(d, n))
    np.testing.assert_allclose(MonomialMap(n, d)(x), expected, rtol=1e-12)
    assert monomial_count(n, d) == expected.shape[1] == len(monomials(n, d))
    kernel = expected @ by_hand(z, min(d, n)).T
    np.testing.assert_allclose(monomial_kernel(x, z, d), kernel, rtol=1e-7, atol=1e-9)


def test_the_documents_count():
    assert monomial_count(60, 3) == 36_051


@settings(max_examples=20)
@given(seeds, st.integers(2, 5), st.integers(0, 5))
def test_on_the_whole_cube_the_coefficients_are_fouriers(seed, n, d):
    f = np.random.default_rng(seed).standard_normal(2**n)
    learner = LowDegreeRegressor(degree=d).fit(cube(n), f)
    exact = fourier.coefficients(f, n)
    expected = [exact[fourier.mask_of(t)] for t in learner.monomials_]
    np.testing.assert_allclose(learner.coef_, expected, atol=1e-10)
    error = np.mean((learner.predict(cube(n)) - f) ** 2)
    assert error == pytest.approx(fourier.tail_weight(f, n, d), abs=1e-10)


@pytest.mark.parametrize("rows", [15, 40, 200])  # fewer than, as many as, more than monomials
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_blocks_and_the_dual_solve_the_same_equations(rows, alpha, monkeypatch):
    generator = np.random.default_rng(rows)
    x, y = generator.standard_normal((rows, 8)), generator.standard_normal((rows, 2))
    phi = by_hand(x, 2)
    if alpha:
        expected = np.linalg.solve(phi.T @ phi + alpha * np.eye(37), phi.T @ y)
    else:
        expected = np.linalg.pinv(phi) @ y
    np.testing.assert_allclose(low_degree.solve(x, y, 2, alpha), expected, atol=1e-8)
    monkeypatch.setattr(low_degree, "DIRECT", 0)
    monkeypatch.setattr(low_degree, "BLOCK", 500)  # several blocks
    np.testing.assert_allclose(low_degree.solve(x, y, 2, alpha), expected, atol=1e-6)


def test_singular_equations_have_the_solution_of_least_norm(monkeypatch):
    monkeypatch.setattr(low_degree, "DIRECT", 0)
    x = np.repeat(1.0 - 2.0 * np.random.default_rng(0).integers(0, 2, (12, 8)), 2, axis=0)
    y = np.repeat(np.random.default_rng(1).standard_normal((12, 1)), 2, axis=0)
    for d in (1, 2):  # nine monomials of rank nine at most; thirty-seven for twelve inputs
        solution = low_degree.solve(x, y, d, 0.0)
        expected = np.linalg.pinv(by_hand(x, d)) @ y
        np.testing.assert_allclose(solution, expected, atol=1e-6)


def test_cross_validation_finds_the_degree():
    generator = np.random.default_rng(0)
    x = 1.0 - 2.0 * generator.integers(0, 2, (400, 7))
    y = x[:, 0] * x[:, 3] + 0.3 * generator.standard_normal(400)
    learner = LowDegreeRegressor(degree="auto").fit(x, y)
    assert learner.degree_ == 2
    assert learner.cv_scores_.shape == (4,)
    labels = np.where(x[:, :3].prod(axis=1) > 0, "even", "odd")
    assert LowDegreeClassifier(degree="auto").fit(x, labels).degree_ == 3


def test_the_classifier_learns_noisy_juntas():
    generator = np.random.default_rng(0)
    x = 1.0 - 2.0 * generator.integers(0, 2, (3000, 12))
    clean = np.sign(x[:, 0] + x[:, 1] + x[:, 2])  # degree three
    noisy = np.where(generator.random(3000) < 0.2, -clean, clean)
    fresh = 1.0 - 2.0 * generator.integers(0, 2, (2000, 12))
    truth = np.sign(fresh[:, 0] + fresh[:, 1] + fresh[:, 2])
    assert LowDegreeClassifier(degree=3).fit(x, noisy).score(fresh, truth) > 0.98
    parity = x[:, :3].prod(axis=1)
    below = LowDegreeClassifier(degree=2).fit(x, parity)
    assert below.score(fresh, fresh[:, :3].prod(axis=1)) == pytest.approx(0.5, abs=0.06)


def test_what_does_not_fit_is_refused_with_the_number():
    x, y = np.ones((10_000, 200)), np.ones(10_000)
    count = 1 + 200 + math.comb(200, 2) + math.comb(200, 3)
    with pytest.raises(ValueError, match=rf"{count:,} monomials.*2\.2 GB, and memory is 1 GB"):
        LowDegreeRegressor(degree=3, memory=1e9).fit(x, y)
    with pytest.raises(ValueError, match=r"degree is one of 'auto'; got 'best'"):
        LowDegreeRegressor(degree="best").fit(x[:5], y[:5])
