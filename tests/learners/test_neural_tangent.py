"""The tangent kernel against the network that it is the limit of, and its eigenvalues."""

import numpy as np
import pytest
from tests.brute_force import character, cube

from elegans.learners import (
    NeuralTangentClassifier,
    NeuralTangentRegressor,
    degree_eigenvalues,
    tangent_kernel,
)


def test_the_kernel_is_the_limit_of_inner_products_of_gradients():
    generator = np.random.default_rng(0)
    n, width, bias = 5, 400_000, 0.7
    x = generator.standard_normal((3, n))
    inputs = np.hstack([x / n**0.5, np.full((3, 1), bias)])
    w, u = generator.standard_normal((n + 1, width)), generator.standard_normal(width)
    z = inputs @ w
    # gradients with respect to u, and to w through u; E relu^2 = 1/2, so both are doubled
    of_outer = np.maximum(z, 0) @ np.maximum(z, 0).T
    of_inner = (u * (z > 0)) @ (u * (z > 0)).T * (inputs @ inputs.T)
    empirical = 2 * (of_outer + of_inner) / width
    np.testing.assert_allclose(empirical, tangent_kernel(x, x, bias), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_parities_are_eigenfunctions_with_the_eigenvalue_of_their_degree(bias):
    n, x = 7, cube(7)
    kernel = tangent_kernel(x, x, bias) / 2**n
    for k, eigenvalue in enumerate(degree_eigenvalues(n, bias)):
        chi = character(x, range(k))
        np.testing.assert_allclose(kernel @ chi, eigenvalue * chi, atol=1e-12)


def test_without_a_bias_odd_degrees_from_three_on_have_eigenvalue_zero():
    without, with_bias = degree_eigenvalues(20, 0.0), degree_eigenvalues(20, 1.0)
    np.testing.assert_allclose(without[3::2], 0, atol=1e-12)
    assert without[1] > 1e-3
    assert (without[:9:2] > 1e-12).all()
    assert (with_bias[:6] > 1e-9).all()


def test_ridge_regression_solves_its_normal_equations_and_reports_its_norm():
    generator = np.random.default_rng(1)
    x, y = generator.standard_normal((30, 4)), generator.standard_normal(30)
    learner = NeuralTangentRegressor(alpha=0.1).fit(x, y)
    kernel = tangent_kernel(x, x)
    dual = np.linalg.solve(kernel + 0.1 * np.eye(30), y)
    np.testing.assert_allclose(learner.predict(x), kernel @ dual, rtol=1e-8)
    np.testing.assert_allclose(learner.norms_, (dual @ kernel @ dual) ** 0.5, rtol=1e-8)


def test_it_learns_a_parity_of_degree_three_only_with_a_bias():
    x = cube(12)
    y = character(x, (0, 1, 2))
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:1000], order[1000:]
    scores = {b: NeuralTangentClassifier(bias=b).fit(x[train], y[train]) for b in (0.0, 1.0)}
    assert scores[1.0].score(x[test], y[test]) > 0.9
    assert scores[0.0].score(x[test], y[test]) < 0.7


def test_more_rows_than_memory_holds_are_refused_with_the_bytes():
    x = np.ones((1000, 3))
    with pytest.raises(
        ValueError, match=r"1,000 samples takes [\d,]+ bytes, and memory is 1,000,000"
    ):
        NeuralTangentRegressor(memory=1e6).fit(x, np.arange(1000.0))
    with pytest.raises(TypeError, match="memory counts bytes, so it is a number; got '4 GB'"):
        NeuralTangentRegressor(memory="4 GB").fit(x, np.arange(1000.0))


def test_penalties_and_biases_below_zero_are_refused():
    for wrong in ({"alpha": -1.0}, {"bias": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            NeuralTangentRegressor(**wrong).fit(np.ones((3, 2)), np.arange(3.0))
