"""The certificate of sensitivity against enumeration, and the family that attains it."""

import jax.random as jr
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.brute_force import cube

from elegans import constructions
from elegans.models import MLP, AttentionOnly
from elegans.models.inits import Layer, Layers
from elegans.tasks import MarkovChains
from elegans.theory import sparse_activation
from elegans.theory.boolean import fourier
from elegans.theory.sparse_activation.activity import checked_inputs


def drawn(seed, n, s):
    """A random network, its parameters in float32, and its values at all inputs."""
    generator = np.random.default_rng(seed)
    weight = generator.standard_normal((n, s)) * generator.integers(0, 2, (n, s))
    bias, outer = generator.standard_normal(s), generator.standard_normal(s)
    params = constructions.network(weight, bias, outer)
    (w, b), (u, _) = ((np.asarray(a, float), np.asarray(c, float)) for a, c in params.layers)
    return params, (w, b, u[:, 0]), np.maximum(cube(n) @ w + b, 0) @ u[:, 0]


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 8))
def test_the_certificate_is_above_the_sensitivity_and_below_the_class_bound(seed, n, s):
    params, (w, b, u), h = drawn(seed, n, s)
    bound = sparse_activation.activity_bound(MLP(width=s), params)
    sensitivity = fourier.average_sensitivity(h, n)
    assert sensitivity <= bound * (1 + 1e-6)
    active = cube(n) @ w + b > 1e-6
    squares = sum((active @ np.abs(u * row)) ** 2 for row in w)
    assert bound == pytest.approx(4 * np.mean(squares), rel=1e-9, abs=1e-12)
    minkowski = 4 * np.mean((active @ (np.abs(u) * np.linalg.norm(w, axis=0))) ** 2)
    assert bound <= minkowski * (1 + 1e-6)
    found = sparse_activation.membership(params)
    assert minkowski <= sparse_activation.lipschitz_sensitivity(found.k, found.W) * (1 + 1e-6)
    direct = sparse_activation.activity_bound(MLP(width=s), params, x=cube(n))
    assert direct == pytest.approx(bound, rel=1e-12)
    epsilon = 0.2 * sensitivity
    if epsilon > 0:
        d = sparse_activation.activity_degree(MLP(width=s), params, epsilon)
        assert fourier.tail_weight(h, n, d) <= epsilon * (1 + 1e-6)


@pytest.mark.parametrize("p, k", [(1, 1), (2, 1), (3, 2), (5, 3)])
def test_the_bounds_are_attained(p, k):
    params = constructions.sensitive_parity(p, k)
    found = sparse_activation.membership(params)
    assert (found.k, found.W) == (k, pytest.approx(np.sqrt(p)))
    model = MLP(width=k * 2**p)
    sensitivity = fourier.average_sensitivity(model, p, params=params)
    assert sensitivity == pytest.approx(4 * k**2 * p, rel=1e-6)
    assert sparse_activation.lipschitz_sensitivity(k, found.W) == pytest.approx(sensitivity)
    assert sparse_activation.activity_bound(model, params) == pytest.approx(sensitivity, rel=1e-6)
    tail = fourier.tail_weight(model, p, p - 1, params=params)
    assert tail == pytest.approx(sensitivity / p, rel=1e-6)  # 4 k^2 W^2 / (d + 1) at d = p - 1


def test_rare_activity_counts_little():
    """One input that activates everything: the class has k = s, the second moment does not."""
    n = 8
    often = np.eye(n)[:, :1] * 2.0
    rare = np.ones((n, 6))
    weight = np.concatenate([often, rare], axis=1)
    bias = np.append(0.0, np.full(6, 1.0 - n))
    params = constructions.network(weight, bias, np.ones(7))
    found = sparse_activation.membership(params)
    assert found.k == 7
    bound = sparse_activation.activity_bound(MLP(width=7), params)
    assert bound < sparse_activation.lipschitz_sensitivity(found.k, found.W) / 100
    sensitivity = fourier.average_sensitivity(MLP(width=7), n, params=params)
    assert sensitivity <= bound


def test_long_inputs_have_a_rigorous_sampled_bound():
    n = 30  # one neuron that reads three bits: known exactly
    weight = np.zeros((n, 1))
    weight[:3] = 1.0
    params = constructions.network(weight, np.array([-1.0]), np.ones(1))
    exact = 4 * 3 * (1 / 8)  # active where all three bits are +1, with a_i = 1 at each of them
    assert exact <= sparse_activation.activity_bound(MLP(width=1), params) <= 1.1 * exact


def test_networks_without_one_layer_of_rectifiers_are_refused():
    params = constructions.sensitive_parity(2)
    with pytest.raises(
        ValueError, match=r"hidden layer of rectifiers; MLP\(.*has activation 'sin'"
    ):
        sparse_activation.activity_bound(MLP(width=4, activation="sin"), params)
    deep = Layers((*params.layers[:1], *params.layers))
    with pytest.raises(ValueError, match=r"one hidden layer; .* has 2"):
        sparse_activation.activity_bound(MLP(width=4, depth=2), deep)
    two = Layers((params.layers[0], Layer(np.ones((4, 2), np.float32), np.zeros(2, np.float32))))
    with pytest.raises(ValueError, match="has one output"):
        sparse_activation.activity_bound(MLP(width=4), two)
    with pytest.raises(ValueError, match="reads 2 bits; the rows of x have 5"):
        sparse_activation.activity_bound(MLP(width=4), params, x=cube(5))
    with pytest.raises(ValueError, match="activation None"):
        sparse_activation.activity_bound(object(), params)
    transformer, task = AttentionOnly(mlp=True), MarkovChains(2, 10)
    weights = transformer.init_params(jr.key(0), task)
    with pytest.raises(ValueError, match=r"each layer is a weight and a bias, .*AttentionOnly"):
        sparse_activation.activity_bound(transformer, weights)


@pytest.mark.parametrize(
    "x, part",
    [
        (np.ones(2), "one row per input, at least one; its shape is \\(2,\\)"),
        (np.ones((0, 2)), "its shape is \\(0, 2\\)"),
        (np.array([[1.0, 0.0]]), "bits, \\+1 or -1; one is 0"),
        (np.array([[1.0, np.nan]]), "one is nan"),
    ],
)
def test_inputs_that_are_no_rows_of_bits_are_refused(x, part):
    with pytest.raises(ValueError, match=part):
        checked_inputs(x, 2)
