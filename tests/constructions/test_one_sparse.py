"""Each construction against its truth table, and for the sparsity that it claims."""

import itertools
import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.brute_force import cube

from elegans import constructions
from elegans.models import MLP
from elegans.tasks import Junta


def evaluated(params, x):
    """The network's values and the number of active neurons, in NumPy."""
    (weight, bias), (outer, _) = [(np.asarray(w, float), np.asarray(b)) for w, b in params.layers]
    active = x @ weight + bias
    return np.maximum(active, 0) @ outer[:, 0], (active > 1e-6).sum(axis=1)


@pytest.mark.parametrize(
    "params",
    [
        constructions.junta(4, [1, -1, -1, 1], (3, 1)),
        constructions.indexing(1),
        constructions.lifted_parity(2, (0, 1)),
        constructions.learning_with_rounding((1, 1), 2, [0, 1]),
        constructions.gated(np.ones((2, 3))),
    ],
)
def test_constructions_are_params_of_an_mlp(params):
    n, width = params.layers[0].weight.shape
    values = MLP(width=width).apply(params, jnp.asarray(cube(n), jnp.float32))
    np.testing.assert_allclose(np.asarray(values), evaluated(params, cube(n))[0], atol=1e-5)


def norms(params):
    (weight, bias), (outer, _) = [(np.asarray(w), np.asarray(b)) for w, b in params.layers]
    scale = np.abs(outer).max()
    return scale * np.linalg.norm(weight, axis=0).max(), scale * np.abs(bias).max()


@pytest.mark.parametrize("p", [1, 2, 3])
def test_every_small_junta_is_a_one_sparse_network(p):
    n = 4
    for table in itertools.product([-1, 1], repeat=2**p):
        support = tuple(range(n - p, n))[::-1]
        params = constructions.junta(n, table, support)
        values, active = evaluated(params, cube(n))
        row = (cube(n)[:, list(support)] < 0) @ 2 ** np.arange(p)
        np.testing.assert_array_equal(values, np.array(table)[row])
        assert set(active) == {1}
        assert norms(params) == pytest.approx((math.sqrt(p), max(p - 1, 0)))  # W and B


def test_a_junta_is_that_of_the_task():
    task = Junta(n=5, table=(1, -1, 1, 1, -1, -1, 1, -1), support=(4, 0, 2))
    values, _ = evaluated(constructions.junta(5, task.table, task.support), cube(5))
    np.testing.assert_array_equal(values, np.asarray(task.population().y))


def test_a_real_table_is_a_junta_too():
    table = [0.5, -2.0, 3.0, 0.0]
    values, _ = evaluated(constructions.junta(3, table), cube(3))
    np.testing.assert_allclose(values, np.tile(table, 2))


@pytest.mark.parametrize("b", [1, 2, 3])
def test_indexing_reads_the_memory_at_the_address(b):
    x = cube(b + 2**b)
    values, active = evaluated(constructions.indexing(b), x)
    address = (x[:, :b] < 0) @ 2 ** np.arange(b)
    memory = x[np.arange(len(x)), b + address]
    np.testing.assert_array_equal(values, (1 + memory) / 2)
    np.testing.assert_array_equal(active, values)  # 1-sparse, and silent where the bit is false


@pytest.mark.parametrize("m", [1, 2, 3, 5, 6])
def test_lifted_parities_of_all_supports_are_one_sparse(m):
    y = cube(m)
    x = constructions.lift(y)
    assert x.shape == (2**m, m * m)
    for mask in range(2**m):
        support = tuple(i for i in range(m) if mask >> i & 1)
        character = y[:, list(support)].prod(axis=1)
        params = constructions.lifted_parity(m, support)
        values, active = evaluated(params, x)
        np.testing.assert_allclose(values, character, atol=1e-5)
        assert set(active) == {1}
        assert params.layers[0].bias.shape[0] <= m + 1  # the paper has 2m
        indicator, _ = evaluated(constructions.lifted_parity(m, support, indicator=True), x)
        np.testing.assert_allclose(indicator, character > 0, atol=1e-5)


def test_lifted_parities_have_the_stated_norms():
    ms = np.array([4, 8, 16, 32])
    both = np.array([norms(constructions.lifted_parity(int(m), tuple(range(m)))) for m in ms])
    slopes = np.polyfit(np.log(ms), np.log(both), 1)[0]
    np.testing.assert_allclose(slopes, [1.5, 2.0], atol=0.1)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_errata_the_identity_for_parities_as_printed_is_constant(m):
    y = cube(m)
    for size in range(1, m + 1):
        total = y[:, :size].sum(axis=1)
        even = [a for a in range(-m, m + 1) if a % 2 == 0]
        printed = sum(2 * np.maximum(0.5 - (total - a) ** 2, 0) for a in even)
        assert set(printed) == {float(size % 2 == 0)}


@pytest.mark.parametrize("q, secret", [(3, (1, 2)), (4, (3, 1)), (5, (2, 4)), (2, (1, 0, 1))])
def test_learning_with_rounding_is_one_sparse_on_lifted_digits(q, secret):
    values_of = [2 * c // q + 1 for c in range(q)]  # rounding to two values, shifted off zero
    digits = (q - 1).bit_length()
    ys = np.array(list(itertools.product(range(q), repeat=len(secret))))
    z = 1.0 - 2.0 * (ys[:, :, None] >> np.arange(digits) & 1).reshape(len(ys), -1)
    params = constructions.learning_with_rounding(secret, q, values_of)
    values, active = evaluated(params, constructions.lift(z))
    expected = np.array(values_of)[ys @ np.array(secret) % q]
    np.testing.assert_allclose(values, expected, atol=1e-3)
    assert set(active) == {1}


def test_errata_definition_15_is_linear_where_p_divides_q():
    """(c mod q) mod p is then c mod p: linear algebra modulo p finds the secret."""
    q, p = 6, 3
    c = np.arange(200)
    np.testing.assert_array_equal(c % q % p, c % p)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 5))
def test_gated_networks_return_the_direction_at_the_address(seed, b, q):
    generator = np.random.default_rng(seed)
    directions = generator.standard_normal((2**b, q))
    x = cube(b + q)
    address = (x[:, :b] < 0) @ 2 ** np.arange(b)
    expected = np.maximum(np.sum(directions[address] * x[:, b:], axis=1), 0)
    scale = np.linalg.norm(directions, axis=1).max()
    for gamma in ["everywhere", 0.5 * math.sqrt(q) * scale]:  # half of the paper's is enough
        values, active = evaluated(constructions.gated(directions, gamma), x)
        np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-4)
        assert active.max() <= 1


def test_gated_networks_with_the_probable_gamma_are_rarely_denser_and_sometimes_are():
    generator = np.random.default_rng(0)
    b, q = 4, 40
    directions = generator.choice([-1.0, 1.0], (2**b, q)) / math.sqrt(q)
    x = 1.0 - 2.0 * generator.integers(0, 2, (20_000, b + q))
    params = constructions.gated(directions, "probable")
    _, active = evaluated(params, x)
    assert np.mean(active > 1) <= 1 / 2**b
    _, denser = evaluated(constructions.gated(directions, 0.5), x)
    assert np.mean(denser > 1) > 0.1


def test_refusals_show_the_sizes():
    with pytest.raises(ValueError, match=r"2\*\*p values.*got 3"):
        constructions.junta(3, [1, 1, 1])
    with pytest.raises(ValueError, match=r"2\*\*b addresses; got 6"):
        constructions.gated(np.ones((6, 2)))
    with pytest.raises(ValueError, match=r"one entry a residue, 5; got 2"):
        constructions.learning_with_rounding((1,), 5, [0, 1])
