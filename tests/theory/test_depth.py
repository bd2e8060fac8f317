"""Quadratic networks: what one layer cannot see, and how far the degree reaches."""

import itertools

import numpy as np
import pytest
from tests.brute_force import character, cube

from elegans.theory.boolean import depth, fourier


def network(weights, biases, x):
    """Activations of each hidden layer, all squared."""
    layers, z = [], x
    for weight, bias in zip(weights, biases, strict=True):
        z = (z @ weight + bias) ** 2
        layers.append(z)
    return layers


def drawn(widths, seed=0):
    generator = np.random.default_rng(seed)
    shapes = list(itertools.pairwise(widths))
    return [generator.standard_normal(s) for s in shapes], [
        generator.standard_normal(s[1]) for s in shapes
    ]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_one_quadratic_layer_has_no_gradient_beyond_two_relevant_bits(k):
    generator = np.random.default_rng(k)
    n, support = 6, tuple(range(k))
    w, b, x = generator.standard_normal(n), 0.7, cube(n)
    values = character(x, support) * 2 * (x @ w + b)
    exact = depth.layerwise_gradient(w, b, support)
    np.testing.assert_allclose(exact, np.append(values @ x, values.sum()) / 2**n, atol=1e-12)
    assert (exact == 0).all() == (k > 2)


def test_all_layers_together_reach_what_one_cannot():
    # The first layer's gradient with the upper layers in place, at k = 4 and L = 3: not zero.
    weights, biases = drawn((6, 3, 1))
    x = cube(6)
    z1, z2 = network(weights, biases, x)
    assert z2.shape == (64, 1)
    downstream = 2 * (z1 @ weights[1] + biases[1]) * weights[1][:, 0]
    slopes = 2 * (x @ weights[0] + biases[0])
    gradient = x.T @ (character(x, (0, 1, 2, 3))[:, None] * downstream * slopes) / 64
    assert np.abs(gradient[:4]).min() > 1e-3
    np.testing.assert_allclose(gradient[4:], 0.0, atol=1e-10)  # order 5 against degree 4


@pytest.mark.parametrize("layers, widths", [(2, (9, 2)), (3, (9, 2, 2)), (4, (9, 2, 2, 2))])
def test_degrees_are_those_of_the_network_and_of_what_it_sends_down(layers, widths):
    weights, biases = drawn(widths)
    x = cube(9)
    activations = network(weights, biases, x)
    f = activations[-1].sum(axis=1)
    assert fourier.degree(f, 9) == min(9, depth.degree_limit(layers))
    back = np.ones((512, 2))
    for weight, bias, z in zip(weights[:0:-1], biases[:0:-1], activations[-2::-1], strict=True):
        back = (2 * (z @ weight + bias) * back) @ weight.T
    degree = fourier.degree(back[:, 0], 9)
    assert degree == depth.downstream_degree(layers)
    if layers > 2:
        assert degree > 2 ** (layers - 2) - 1  # T25: as printed, the degree in z_1


def test_errata_a_last_width_of_one_has_a_constant_sign_without_an_output_bias():
    # T2: u z^2 has the sign of u, so that the widths (2, 1) and (10, 10, 1) need an output bias.
    weights, biases = drawn((6, 2, 1))
    f = network(weights, biases, cube(6))[-1][:, 0]
    assert (f >= 0).all()
    assert len(np.unique(np.sign(f - np.median(f)))) > 1


def test_depths_below_one_are_refused():
    assert [depth.degree_limit(layers) for layers in (1, 2, 3, 4)] == [1, 2, 4, 8]
    with pytest.raises(ValueError, match="layers counts the layers"):
        depth.degree_limit(0)
