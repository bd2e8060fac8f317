"""Gated networks are recovered exactly, wherever their addresses are; what is refused."""

import jax.random as jr
import numpy as np
import pytest

from elegans import constructions, cube
from elegans.learners import query_search, recover_gates
from elegans.tasks import LiftedParity, SparseNetwork
from elegans.theory.resources import StatisticalQueryOracle
from elegans.theory.sparse_activation import neurons


@pytest.mark.parametrize("b", [1, 2, 3])
def test_addresses_and_directions_are_exact(b):
    task = SparseNetwork(n=16, b=b, seed=4)
    x, y = (np.asarray(part, float) for part in task.sample(jr.key(0), 400 * 2**b))
    order = np.random.default_rng(1).permutation(16)  # addresses are found wherever they are
    network = recover_gates(x[:, order], y, b)
    assert network.address == tuple(sorted(int(np.flatnonzero(order == i)[0]) for i in range(b)))
    assert network.is_determined.all()
    np.testing.assert_allclose(network.predict(x[:, order]), y, atol=1e-5)
    if b == 1:  # one address bit: cells keep their numbers under any order
        weight = neurons(task.teacher())[0]
        np.testing.assert_allclose(
            network.directions[:, np.argsort(order)][:, 1:].T, weight[1:], atol=1e-5
        )


def test_cells_with_too_few_positive_rows_are_not_made_up():
    directions = np.ones((2, 6))
    params = constructions.gated(directions)
    weight, bias, outer = neurons(params)
    x = cube.signs(7)
    x = x[(x[:, 0] > 0) | (x[:, 1:].sum(axis=1) < 0)]  # the second address: silent rows only
    y = np.maximum(x @ weight + bias, 0) @ outer
    network = recover_gates(x, y, 1)
    if network.address == (0,):
        assert not network.is_determined.all()
        assert np.isnan(network.directions[~network.is_determined][:, 1:]).all()


def test_what_is_not_signs_or_leaves_no_data_is_refused():
    x, y = np.ones((4, 3)), np.ones(4)
    with pytest.raises(ValueError, match="x holds signs"):
        recover_gates(0.5 * x, y, 1)
    with pytest.raises(ValueError, match="counts address bits"):
        recover_gates(x, y, 3)


def test_a_search_by_queries_finds_a_parity_of_any_size_on_lifted_inputs():
    task = LiftedParity(m=4, k=3, support=(0, 2, 3))
    diagonal = [i * 5 for i in range(4)]
    oracle = StatisticalQueryOracle(task, 0.45, answers="adversarial")
    search = query_search(oracle, None, 2**4, seed=3, bits=diagonal)
    assert search.group == ((0, 10, 15),)
    assert search.queries == oracle.queries <= 2**4
