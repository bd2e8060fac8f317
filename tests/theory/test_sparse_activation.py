"""The class of sparsely activated networks: membership, sensitivities, complexities."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.brute_force import cube

from elegans import constructions
from elegans.tasks import SparseNetwork
from elegans.theory import sparse_activation
from elegans.theory.boolean import fourier
from elegans.theory.sparse_activation import rademacher

seeds = st.integers(0, 2**32 - 1)


def values_of(weight, bias, outer, x):
    return np.maximum(x @ weight + bias, 0) @ outer


def random_network(seed, n, s):
    generator = np.random.default_rng(seed)
    weight = generator.standard_normal((n, s)) * generator.integers(0, 2, (n, s))
    bias = generator.uniform(-2, 1) * np.sqrt(n) * generator.random(s)
    return weight, bias, generator.standard_normal(s)


@pytest.mark.parametrize("b", [1, 2])
def test_membership_is_counted_on_the_whole_cube(b):
    network = sparse_activation.membership(constructions.indexing(b))
    assert (network.n, network.s, network.k, network.exact) == (b + 2**b, 2**b, 1, True)
    assert pytest.approx(math.sqrt(b + 0.25)) == network.W
    assert pytest.approx(b - 0.5) == network.B
    lifted = constructions.lifted_parity(4, (0, 1, 2, 3))
    assert sparse_activation.membership(lifted).k > 1  # not on the whole cube
    assert sparse_activation.membership(lifted, x=constructions.lift(cube(4))).k == 1


@settings(max_examples=20)
@given(seeds, st.integers(1, 6), st.integers(1, 5))
def test_membership_is_the_definition(seed, n, s):
    weight, bias, outer = random_network(seed, n, s)
    network = sparse_activation.membership(constructions.network(weight, bias, outer))
    assert network.k == (cube(n) @ weight + bias > 1e-4).sum(axis=1).max()
    scale = np.abs(outer).max()
    assert pytest.approx(scale * np.linalg.norm(weight, axis=0).max(), rel=1e-5) == network.W
    assert pytest.approx(scale * np.abs(bias).max(), rel=1e-5) == network.B


def test_large_inputs_are_sampled_with_a_stated_confidence():
    task = SparseNetwork(n=40, b=3)
    network = sparse_activation.membership(task.teacher(), samples=3000)
    assert (network.k, network.exact, network.confidence) == (1, False, 0.99)
    assert (1 - network.exceeding) ** 3000 == pytest.approx(0.01, rel=0.01)


def test_networks_outside_of_the_class_are_refused():
    layers = constructions.indexing(1).layers
    with pytest.raises(ValueError, match="one hidden layer; the network has 0"):
        sparse_activation.membership(type(constructions.indexing(1))(layers[:1]))


@settings(max_examples=60)
@given(seeds, st.integers(1, 8))
def test_lemma_6_with_its_constant_and_the_identity_behind_it(seed, n):
    generator = np.random.default_rng(seed)
    w, b = generator.random(n) ** 3, generator.standard_normal()
    x = cube(n)
    g = (x @ w <= b).astype(float)
    sensitivity = fourier.average_sensitivity(g, n)
    p = g.mean()
    assert sensitivity <= sparse_activation.halfspace_sensitivity(n, p) + 1e-12
    identity = abs(np.mean(g * x.sum(axis=1)))
    assert sensitivity == pytest.approx(identity / 2, abs=1e-12)


def test_errata_the_identity_of_lemma_6_has_a_half():
    x = cube(3)
    g = (x.sum(axis=1) <= 0).astype(float)
    assert fourier.average_sensitivity(g, 3) != pytest.approx(abs(np.mean(g * x.sum(axis=1))) / 4)


@settings(max_examples=100)
@given(seeds, st.integers(1, 7), st.integers(1, 6), st.floats(0, 1))
def test_sensitivities_are_below_four_k_squared_w_squared(seed, n, s, rho):
    weight, bias, outer = random_network(seed, n, s)
    k, W, *_ = sparse_activation.membership(constructions.network(weight, bias, outer))[2:]
    h = values_of(weight, bias, outer, cube(n))
    slack = 1 + 1e-5  # W is measured on float32 weights
    sensitivity = fourier.average_sensitivity(h, n)
    assert sensitivity <= sparse_activation.lipschitz_sensitivity(k, W) * slack
    noise = fourier.noise_sensitivity(h, n, rho)
    assert noise <= sparse_activation.lipschitz_noise(k, W, rho) * slack
    epsilon = 0.3 * sensitivity
    if epsilon > 0:
        d = sparse_activation.lipschitz_degree(k, W, epsilon)
        assert fourier.tail_weight(h, n, d) <= epsilon * slack


def test_linear_networks_come_within_a_quarter_of_the_bound():
    n = 6
    h = values_of(np.ones((n, 1)), np.array([float(n)]), np.ones(1), cube(n))  # always active
    assert fourier.average_sensitivity(h, n) == pytest.approx(n)  # W squared
    assert sparse_activation.lipschitz_sensitivity(1, math.sqrt(n)) == pytest.approx(4 * n)


def test_errata_the_term_u_of_lemma_9_is_four_times_what_is_printed():
    n = 6  # as above: no neuron changes, so all of the sensitivity is in (U)
    h = cube(n).sum(axis=1) + n
    assert fourier.average_sensitivity(h, n) == pytest.approx(4 * (n / 4))


def test_errata_lemma_9_is_zero_for_one_neuron_on_one_bit():
    h = np.maximum(cube(1)[:, 0], 0)
    assert fourier.average_sensitivity(h, 1) == pytest.approx(0.25)
    assert sparse_activation.sensitivity_bound(1, 1, 1, 1.0, 0.0) == 0.0


def test_errata_jensens_step_in_lemma_9_is_zero_if_every_neuron_may_be_active():
    """It bounds the chance that the active set changes by k sqrt(log(s/k)/n): zero for s = k."""
    x = cube(5)
    on = x.sum(axis=1) > 0  # one neuron, s = k = 1
    flipped = (x * np.array([-1, 1, 1, 1, 1])).sum(axis=1) > 0
    assert np.mean(on != flipped) > 0.3


@pytest.mark.parametrize("n, b, k", [(6, 1, 1), (8, 2, 1), (9, 2, 2)])
def test_teachers_are_below_the_bounds_of_lemmas_9_and_10(n, b, k):
    task = SparseNetwork(n=n, b=b, k=k)
    network = sparse_activation.membership(task.teacher())
    h = np.asarray(task.population().y, float)
    shape = (network.n, network.s, network.k, network.W, network.B)
    assert fourier.average_sensitivity(h, n) <= sparse_activation.sensitivity_bound(*shape)
    for rho in [0.5, 0.9, 0.99]:
        noise = fourier.noise_sensitivity(h, n, rho)
        assert noise <= sparse_activation.noise_bound(*shape, rho)


def test_theorem_8_and_the_degree_that_is_enough():
    assert sparse_activation.degree_bound(20, 4, 1, 1.0, 2.0, 0.1) == pytest.approx(
        (math.log(80) ** 4 + 16 * math.log(4)) / 0.01
    )
    assert sparse_activation.lipschitz_degree(1, 1.0, 0.1) == 39
    log = sparse_activation.log_low_degree_samples(100, 2, 1, 1.0, 0.0, epsilon=0.1, delta=0.01)
    assert log == pytest.approx(4 + math.log10(100 * math.log(100) / 0.1))


def test_the_sizes_of_theorem_17():
    shape = {"n": 20, "s": 8, "k": 2, "W": 1.0, "B": 1.0, "R": math.sqrt(20)}
    printed = sparse_activation.sample_size(**shape, epsilon=0.1, delta=0.01, printed=True)
    full = sparse_activation.sample_size(**shape, epsilon=0.1, delta=0.01)
    bound = sparse_activation.sparse_rademacher(full, **shape)
    value = 2 * (math.sqrt(20) + 1)
    error = value * bound + math.sqrt(math.log(100) / full)
    assert error == pytest.approx(0.1, rel=1e-4)
    assert full > value**2 * printed  # the factor that is lost in the printed theorem


@settings(max_examples=15)
@given(seeds, st.sampled_from([(1, 1), (4, 1), (4, 2), (9, 3), (8, 1)]), st.floats(0.2, 3))
def test_correlated_networks_belong_to_the_class_and_correlate(seed, shape, W):
    s, k = shape
    generator = np.random.default_rng(seed)
    x = 1.0 - 2.0 * generator.integers(0, 2, (60, 7))
    signs = generator.choice([-1.0, 1.0], 60)
    B = float(generator.uniform(0, 3))
    weight, bias, outer = sparse_activation.correlated_network(x, signs, s, k, W, B, seed=0)
    assert weight.shape == (7, s)
    assert (x @ weight + bias > 1e-9).sum(axis=1).max() <= k
    assert np.abs(outer).max() <= 1
    assert np.linalg.norm(weight, axis=0).max() <= W * (1 + 1e-9)
    assert np.abs(bias).max() <= B * (1 + 1e-9)
    alone = np.linalg.norm(signs @ x) * W / 60 / 2  # half of a linear function is a rectifier's
    assert signs @ values_of(weight, bias, outer, x) / 60 >= alone * (1 - 1e-9)


def test_the_bounds_are_above_the_lower_estimate():
    generator = np.random.default_rng(0)
    m, n, s, k, W, B = 100, 8, 4, 1, 1.0, 2.0
    x = 1.0 - 2.0 * generator.integers(0, 2, (m, n))
    lower = sparse_activation.rademacher_lower(x, s, k, W, B, draws=10)
    R = math.sqrt(n)
    conjecture = sparse_activation.conjectured_rademacher(m, s, k, W, B, R)
    proved = sparse_activation.sparse_rademacher(m, n, s, k, W, B, R)
    dense = sparse_activation.dense_rademacher(m, s, W, B, R)
    assert 0 < lower.value < conjecture < proved
    assert dense == pytest.approx(conjecture * math.sqrt(s / k))
    more = sparse_activation.rademacher_lower(x, 8, 2, W, B, draws=10)
    assert more.value == pytest.approx(2 * lower.value)  # two copies of the same network


def test_neurons_that_are_always_active_are_among_the_witnesses():
    """The complexity of k linear neurons is known; at s = k it is 0.88 of the conjecture's."""
    generator = np.random.default_rng(0)
    m, n, k, W = 100, 10, 2, 1.0
    B = R = math.sqrt(n)
    x = 1.0 - 2.0 * generator.integers(0, 2, (m, n))
    signs = generator.choice([-1.0, 1.0], m)
    weight, bias, outer = sparse_activation.correlated_network(x, signs, k, k, W, B)
    linear = k * (W * np.linalg.norm(signs @ x) + B * abs(signs.sum()))
    assert signs @ values_of(weight, bias, outer, x) >= linear * (1 - 1e-9)
    draws = generator.choice([-1.0, 1.0], (4000, m))
    mean = k * (np.linalg.norm(draws @ x, axis=1) + B * np.abs(draws.sum(axis=1))).mean() / m
    conjecture = sparse_activation.conjectured_rademacher(m, k, k, W, B, R)
    assert mean / conjecture == pytest.approx(0.88, abs=0.02)


def test_neurons_that_are_active_at_one_input_are_among_the_witnesses():
    """With as many neurons as inputs every sign is written, at twice the largest slope."""
    x = cube(4)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], 16)
    weight, bias, outer = sparse_activation.correlated_network(x, signs, 16, 1, 2.0, 2.0)
    assert signs @ values_of(weight, bias, outer, x) >= 16 * 2 * (1 - 1e-9)
    weight, bias, outer = rademacher.prototype_part(x, signs, 16, 2.0, 2.0)
    np.testing.assert_allclose(values_of(weight, bias, outer, x), 2 * signs)
