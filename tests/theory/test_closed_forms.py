"""Closed-form gradients against sums over the cube, and what follows from them for gaps."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.brute_force import character, cube

from elegans.theory.boolean import closed_forms, gradients


def brute(w, b, support, slope):
    x = cube(len(w))
    values = character(x, support) * slope(x @ w + b)
    return np.append(values @ x, values.sum()) / len(x)


def draw(seed, n):
    generator = np.random.default_rng(seed)
    support = tuple(sorted(generator.permutation(n)[: generator.integers(1, n + 1)].tolist()))
    return generator.standard_normal(n), float(generator.standard_normal()), support


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_sinusoids_are_sums_over_the_cube(seed, n):
    w, b, support = draw(seed, n)
    k = len(support)
    np.testing.assert_allclose(
        gradients.sinusoid(w, b, support), brute(w, b, support, np.cos), rtol=1e-10, atol=1e-14
    )
    shifted = brute(w, b, support, lambda z: -np.pi / 2 * np.sin(np.pi / 2 * (z - k)))
    np.testing.assert_allclose(
        gradients.parity_sinusoid(w, b, support), shifted, rtol=1e-10, atol=1e-13
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_powers_and_polynomials_are_sums_over_the_cube(seed, n):
    w, b, support = draw(seed, n)
    k = len(support)
    exact = brute(w, b, support, lambda z: k * z ** (k - 1))
    scale = np.abs(exact).max()  # zeros of the closed form are rounding errors of the sum
    power = gradients.power(w, b, support)
    np.testing.assert_allclose(power, exact, rtol=1e-10, atol=1e-9 * max(scale, 1))
    monomial = gradients.polynomial([0] * k + [1], w, b, support)
    np.testing.assert_allclose(monomial, power, rtol=1e-10, atol=1e-12 * scale)
    odd = brute(w, b, support, lambda z: -7 / 6 + z**2 / 2)
    cubic = gradients.polynomial((3, -7 / 6, 0, 1 / 6), w, b, support)
    np.testing.assert_allclose(cubic, odd, rtol=1e-9, atol=1e-12 * (1 + np.abs(odd).max()))


def test_irrelevant_bits_of_a_power_have_no_gradient_at_all():
    w = np.random.default_rng(0).standard_normal(300)
    gradient = gradients.power(w, 0.3, (5, 70, 200))
    relevant = np.flatnonzero(gradient)
    assert relevant.tolist() == [5, 70, 200]
    assert gradient[5] == pytest.approx(6 * w[70] * w[200], rel=1e-12)
    np.testing.assert_array_equal(
        gradients.polynomial((0, 0, 0, 1), w, 0.3, (5, 70, 200)) != 0, gradient != 0
    )


def test_a_sinusoid_of_many_bits_agrees_with_samples():
    w = np.random.default_rng(0).uniform(-0.2, 0.2, 60)
    support = (3, 31)
    exact = gradients.population(w, support, bias=0.4, activation="sin")
    np.testing.assert_array_equal(exact, gradients.sinusoid(w, 0.4, support)[:-1])
    sampled = gradients.sampled(w, support, 40_000, bias=0.4, activation="sin")
    assert np.abs(sampled.gradient - exact).max() <= sampled.radius
    assert gradients.fourier_gap(w, support, bias=0.4, activation="sin", relaxed=True) == (
        pytest.approx(gradients.gap(exact, support, relaxed=True))
    )


def test_zeros_among_the_factors_do_no_harm():
    w = np.array([np.pi / 2, 0.0, 0.7, np.pi / 2, 0.0])
    for k in range(1, 6):
        for support in itertools.combinations(range(5), k):
            exact = brute(w, 0.2, support, np.cos)
            np.testing.assert_allclose(gradients.sinusoid(w, 0.2, support), exact, atol=1e-15)


def test_closed_forms_run_inside_compiled_programs():
    w, b, support = draw(3, 6)
    for form in (gradients.sinusoid, gradients.parity_sinusoid, gradients.power):
        compiled = jax.jit(lambda w, b, form=form: form(w, b, support))
        got = compiled(jnp.asarray(w, jnp.float32), jnp.float32(b))
        np.testing.assert_allclose(got, form(w, b, support), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("k, n", [(1, 3), (2, 5), (3, 6), (4, 6)])
def test_the_gradient_of_a_polynet_is_made_of_permanents(k, n):
    generator = np.random.default_rng(k)
    weights, biases = generator.standard_normal((k, n)), generator.standard_normal(k)
    support = tuple(range(n - k, n))
    x = cube(n)
    chi, forms = character(x, support), x @ weights.T + biases
    got = gradients.polynet(weights, biases, support)
    assert got.value == pytest.approx((chi * forms.prod(axis=1)).mean(), rel=1e-10)
    for i in range(k):
        others = chi * np.delete(forms, i, axis=1).prod(axis=1)
        np.testing.assert_allclose(got.weights[i], others @ x / len(x), atol=1e-12)
        assert abs(others.mean() - got.biases[i]) < 1e-12
    # The gap of every form is that of its relevant weights: irrelevant ones have no gradient.
    assert gradients.gap(got.weights[0], support) == np.abs(got.weights[0, n - k :]).min()


def test_permanents_are_sums_over_permutations():
    matrix = np.random.default_rng(0).standard_normal((5, 5))
    terms = [
        math.prod(matrix[i, j] for i, j in enumerate(order))
        for order in itertools.permutations(range(5))
    ]
    assert closed_forms.permanent(matrix) == pytest.approx(sum(terms), rel=1e-12)
    assert closed_forms.permanent(np.ones((8, 8))) == math.factorial(8)
    assert closed_forms.permanent(np.zeros((0, 0))) == 1.0
    with pytest.raises(ValueError, match="square"):
        closed_forms.permanent(np.ones((2, 3)))


def test_without_a_bias_rectifiers_and_sines_have_gaps_at_even_k_only():
    # T20: a derivative that is a constant plus an odd function (relu), or even (sin), has no
    # coefficients of order k - 1 and k + 1 both at odd k, or at even k.
    w = np.random.default_rng(0).standard_normal(9)
    for k in (1, 3, 5):
        assert np.abs(gradients.population(w, tuple(range(k + 1)))).max() > 0
        odd = gradients.population(w, tuple(range(k)))
        np.testing.assert_allclose(odd[1:] if k == 1 else odd, 0.0, atol=1e-15)
        # cos(w.x) has coefficients of even order: an odd parity sees them, an even one does not
        np.testing.assert_allclose(gradients.sinusoid(w, 0.0, tuple(range(k + 1)))[:-1], 0.0)
        assert np.abs(gradients.sinusoid(w, np.pi / 2, tuple(range(k + 1)))[:-1]).max() > 0


def test_flipped_labels_scale_gradients_and_gaps_by_one_minus_twice_their_rate():
    # T9: a rate of 1/2 - e leaves 2 e of every correlation, not e.
    w, support, flip = np.ones(11), (0, 1), 0.4
    exact = gradients.fourier_gap(w, support)
    assert gradients.fourier_gap(w, support, flip=flip) == pytest.approx(0.2 * exact)
    noisy = gradients.sampled(w, support, 200_000, flip=flip)
    clean = gradients.population(w, support)
    assert np.abs(noisy.gradient - (1 - 2 * flip) * clean).max() <= noisy.radius
    assert np.abs(noisy.gradient - (0.5 - flip) * clean).max() > noisy.radius
    asked = gradients.recovery_samples(exact, 11)
    assert gradients.recovery_samples(exact, 11, flip=flip) == pytest.approx(25 * asked, rel=1e-3)
    with pytest.raises(ValueError, match=r"flip is 0\.5"):
        gradients.recovery_samples(exact, 11, flip=0.5)


def test_even_numbers_of_bits_give_lemma_b3_a_bias_gradient():
    # T21: with ties, a coefficient of even order is not zero.
    for n, zero in ((7, True), (8, False)):
        x = cube(n)
        gradient = (character(x, (0, 1)) * (x.sum(axis=1) + 0.25 > 0)).mean()
        assert (abs(gradient) < 1e-15) == zero


def test_supports_and_weights_that_do_not_fit_are_refused():
    w = np.ones(4)
    with pytest.raises(ValueError, match=r"sinusoid\(n=4\): support holds coordinates"):
        gradients.sinusoid(w, 0.0, (0, 4))
    with pytest.raises(ValueError, match=r"sinusoid\(n=4\): weights are finite; got .*nan"):
        gradients.sinusoid(np.array([1.0, np.nan, 0.0, 0.0]), 0.0, (0, 1))
    with pytest.raises(ValueError, match="sinusoid: b is the bias, so it is finite; got inf"):
        gradients.sinusoid(w, math.inf, (0, 1))
    with pytest.raises(ValueError, match="2 distinct coordinates"):
        gradients.power(w, 0.0, (1, 1))
    with pytest.raises(ValueError, match="degree is that of a neuron"):
        gradients.polynomial((1.0,), w, 0.0, (0,))
    with pytest.raises(ValueError, match=r"polynet\(forms=3, n=4\): .* got 2 relevant"):
        gradients.polynet(np.ones((3, 4)), np.ones(3), (0, 1))
    with pytest.raises(ValueError, match="and 2 biases"):
        gradients.polynet(np.ones((3, 4)), np.ones(2), (0, 1, 2))
    with pytest.raises(ValueError, match="closed forms for relu and sin alone"):
        gradients.population(np.ones(30), (0,), activation="tanh")


def test_weights_may_be_any_sequence_of_numbers():
    np.testing.assert_array_equal(
        gradients.sinusoid([1, 2, 0.5], 0, [0, 2]),
        gradients.sinusoid(np.array([1.0, 2.0, 0.5]), 0.0, (0, 2)),
    )
