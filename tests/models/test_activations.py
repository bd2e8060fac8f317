"""Activations made for parities: the points that they pass through, and PolyNets by enumeration."""

import itertools
import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans.models import MLP, DisjointPolyNet, PolyNet
from elegans.models.activations import OF_PARITIES, activation, oscillating_coefficients
from elegans.models.inits import Layer, Layers
from elegans.models.polynet import Blocks
from elegans.tasks import DisjointParity, Parity

HALF = 0.5  # the scale at which "sinusoid-2z" passes through the points


@pytest.mark.parametrize("kind", list(OF_PARITIES))
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_each_activation_interpolates_the_parity_of_a_sum_of_signs(kind, k):
    sums = np.array([k - 2 * j for j in range(k + 1)], np.float32)
    signs = np.array([(-1) ** j for j in range(k + 1)])
    scale = HALF if kind == "sinusoid-2z" else 1.0
    values = activation(f"{kind}:{k}")(jnp.asarray(scale * sums))
    np.testing.assert_allclose(values, signs, atol=2e-4 if k > 4 else 1e-5)


def test_oscillating_polynomials_are_those_of_the_document():
    assert oscillating_coefficients(2) == (-1, 0, Fraction(1, 2))
    assert oscillating_coefficients(3) == (0, Fraction(-7, 6), 0, Fraction(1, 6))
    assert oscillating_coefficients(4) == (1, 0, Fraction(-2, 3), 0, Fraction(1, 24))
    for k in range(1, 13):
        c = oscillating_coefficients(k)
        assert c[k] != 0
        assert all(c[d] == 0 for d in range(k + 1) if (d - k) % 2)  # the parity of k
        for j in range(k + 1):
            assert sum(a * (k - 2 * j) ** d for d, a in enumerate(c)) == (-1) ** j


@pytest.mark.parametrize("k", [2, 3])
def test_a_zigzag_continues_its_end_segments_and_an_infinite_one_repeats(k):
    sigma, wave = activation(f"zigzag:{k}"), activation(f"infinite-zigzag:{k}")
    assert float(sigma(jnp.float32(k + 3))) == 4.0
    assert float(sigma(jnp.float32(-k - 3))) == 4.0 * (-1) ** k
    z = jnp.linspace(-k + 0.05, k - 0.05, 40)
    np.testing.assert_allclose(wave(z), sigma(z), atol=1e-6)
    np.testing.assert_allclose(wave(z + 4), wave(z), atol=1e-5)
    slopes = jax.vmap(jax.grad(sigma))(jnp.linspace(-k - 2.1, k + 2.2, 53))
    np.testing.assert_allclose(np.abs(slopes), 1.0)


def test_the_printed_infinite_zigzag_does_not_see_the_parity():
    """The points (2i, 1), (2i + 1, -1) have period 2: all sums of three signs are odd."""
    wave = {2 * i: 1 for i in range(-4, 5)} | {2 * i + 1: -1 for i in range(-4, 5)}
    assert {wave[z] for z in (-3, -1, 1, 3)} == {-1}


@pytest.mark.parametrize(
    "name, reason",
    [
        ("zigzag", r"activation 'zigzag' is made for a number of relevant bits, .* got none"),
        ("sinusoid:0", r"1 to 20, given after a colon as in 'sinusoid:3'; got '0'"),
        ("oscillating:99", r"'oscillating:3'; got '99'"),
        ("zigzagg:3", r"activation is one of 'relu'"),
    ],
)
def test_an_activation_without_its_degree_is_refused(name, reason):
    with pytest.raises(ValueError, match=reason):
        MLP(width=3, activation=name)


def test_a_polynet_computes_the_parity_of_its_forms():
    x, y = Parity(6, 3, support=(1, 3, 4)).population()
    weight = np.zeros((6, 3), np.float32)
    weight[[4, 1, 3], [0, 1, 2]] = 1
    params = Layers((Layer(jnp.asarray(weight), jnp.zeros(3)),))
    np.testing.assert_array_equal(PolyNet(degree=3).apply(params, x), y)


def test_polynets_are_products_of_linear_forms():
    task = DisjointParity(6, 2)
    x = np.asarray(task.population().x)
    model = PolyNet(degree=2)
    params = model.init_params(jr.key(0), task)
    weight, bias = (np.asarray(part) for part in params.layers[0])
    assert weight.shape == (6, 2)
    expected = np.prod(x @ weight + bias, axis=1)
    np.testing.assert_allclose(jax.vmap(model.apply, (None, 0))(params, x), expected, rtol=1e-5)
    blocks = DisjointPolyNet(degree=2).init_params(jr.key(0), task).weight
    assert blocks.shape == (2, 3)
    expected = (x[:, :3] @ np.asarray(blocks[0])) * (x[:, 3:] @ np.asarray(blocks[1]))
    network = jax.vmap(DisjointPolyNet(degree=2).apply, (None, 0))
    np.testing.assert_allclose(network(Blocks(blocks), x), expected, rtol=2e-5, atol=1e-6)


def test_disjoint_polynets_start_from_signs_or_normal_numbers():
    task = DisjointParity(3000, 3)
    signs = DisjointPolyNet(degree=3, init=el.inits.Sign(1.0)).init_params(jr.key(1), task).weight
    assert set(np.unique(signs)) == {-1.0, 1.0}
    normal = np.asarray(DisjointPolyNet(degree=3).init_params(jr.key(1), task).weight)
    # the mean and the variance of 3,000 standard normal numbers, within six standard errors
    assert abs(normal.mean()) < 6 / math.sqrt(3000)
    assert abs(normal.var() - 1) < 6 * math.sqrt(2 / 3000)


def test_products_refuse_what_does_not_fit():
    for model in (PolyNet, DisjointPolyNet):
        with pytest.raises(ValueError, match=r"degree counts the factors, so it is 1 or more; got"):
            model(degree=0)
    with pytest.raises(ValueError, match=r"degree divides the number of inputs; .* has 7, and 1"):
        el.Experiment(Parity(7, 2), DisjointPolyNet(degree=3), el.Training(steps=1))


def test_a_parity_of_k_bits_needs_k_forms():
    """A product of two forms has no correlation with a parity of three bits: degree 2."""
    rng = np.random.default_rng(0)
    x = np.array(list(itertools.product([1, -1], repeat=5)), float)
    f = np.prod(x @ rng.standard_normal((5, 2)) + rng.standard_normal(2), axis=1)
    assert abs(np.mean(f * x[:, 0] * x[:, 1] * x[:, 2])) < 1e-12


@pytest.mark.parametrize("model", [PolyNet(degree=2), MLP(width=2, activation="zigzag:2")])
def test_new_models_train_and_survive_json(model):
    training = el.Training(steps=20, batch=4, evaluate_every=10, test_samples=50)
    experiment = el.Experiment(Parity(6, 2), model, training)
    assert el.Experiment.from_json(experiment.to_json()) == experiment
    assert el.run(experiment, seed=0).status == "done"
