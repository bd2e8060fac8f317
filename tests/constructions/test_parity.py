"""Parities as small networks: what works exactly, and what provably does not."""

import itertools
import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import linprog
from tests.brute_force import character, cube

from elegans import constructions
from elegans.constructions.parity import readout
from elegans.models import MLP


@pytest.mark.parametrize("n, support", [(3, (1,)), (5, (0, 4)), (6, (5, 1, 2)), (7, (0, 2, 3, 6))])
def test_a_parity_is_an_mlp_with_one_neuron_more_than_bits(n, support):
    params = constructions.parity_mlp(n, support)
    x = cube(n)
    values = MLP(width=len(support) + 1).apply(params, jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(values, 2 * character(x, support), atol=1e-4)


def sums_and_parity(k):
    sums = np.arange(-k, k + 1, 2)
    return sums, (-1.0) ** ((k - sums) // 2)


@pytest.mark.parametrize("k", range(1, 13))
def test_the_readout_is_exact_at_every_sum(k):
    sums, parity = sums_and_parity(k)
    bias, outer = readout(k)
    values = np.maximum(sums[:, None] / (2 * k) + bias, 0) @ outer
    np.testing.assert_allclose(values, 2 * parity, atol=1e-9)
    assert np.linalg.norm(outer) < 8 * k**1.5
    assert np.abs(outer).sum() == pytest.approx(8 * k**2)


@pytest.mark.parametrize("k", [4, 6, 8])
def test_errata_the_printed_readout_is_wrong_at_one_pattern(k):
    # T13: k neurons for k + 1 sums. Claim 5 with the biases of lemma B.4, then with lemma B.5's.
    sums, parity = sums_and_parity(k)
    i = np.arange(1, k + 1)
    outer = np.append(8.0 * k * (-1.0) ** (i[:-2] + 1), [6.0 * k, -2.0 * k])
    first = np.maximum(sums[:, None] / (2 * k) - 0.5 + (i + 1) / k, 0) @ outer
    second = np.maximum(sums[:, None] / (2 * k) - 0.5 + i / k, 0) @ outer
    wrong_first = np.flatnonzero(np.abs(np.abs(first) - 2) > 1e-9)
    wrong_second = np.flatnonzero(np.abs(second - 2 * parity) > 1e-9)
    assert len(wrong_first) == len(wrong_second) == 1
    assert second[wrong_second[0]] == pytest.approx(0.0)


def test_the_last_bias_is_off_the_grid_at_two_bits_only():
    for k in (2, 4, 6):
        grid = np.arange(1 - k, k) / k
        inside = [np.isclose(grid, b).any() for b in readout(k)[0]]
        assert all(inside) == (k > 2)
    # mirrored ramps at biases 0 and 1/2 repair it
    s, parity = sums_and_parity(2)
    features = np.maximum(np.stack([s / 4, -s / 4, s / 4 + 0.5], axis=1), 0)
    np.testing.assert_allclose(features @ [12, 4, -4], 2 * parity)


def separable(patterns, outer, labels, x, output_bias):
    """Whether two rectifiers with these active sets and outer signs get all labels right."""
    rows, limits = [], []
    points = np.column_stack([x, np.ones(len(x))])
    for j, pattern in enumerate(patterns):
        for point, on in zip(points, pattern, strict=True):
            row = np.zeros(7)
            row[3 * j : 3 * j + 3] = -point if on else point
            rows.append(row)
            limits.append(0.0)
    for r, (point, label) in enumerate(zip(points, labels, strict=True)):
        row = np.zeros(7)
        for j, pattern in enumerate(patterns):
            if pattern[r]:
                row[3 * j : 3 * j + 3] = -label * outer[j] * point
        row[6] = -label * output_bias
        rows.append(row)
        limits.append(-1.0)
    solution = linprog(np.zeros(7), np.array(rows), limits, bounds=(None, None))
    return solution.status == 0


def test_errata_two_rectifiers_need_an_output_bias_for_the_parity_of_two_bits():
    # T2: exact, by a linear program for every pair of active sets and signs of the outer weights.
    x = cube(2)
    labels = character(x, (0, 1))
    active = list(itertools.product([False, True], repeat=4))
    cases = [
        (pair, outer)
        for pair in itertools.combinations_with_replacement(active, 2)
        for outer in ((1, 1), (1, -1), (-1, 1), (-1, -1))
    ]
    assert not any(separable(*case, labels, x, output_bias=0) for case in cases)
    assert any(separable(*case, labels, x, output_bias=1) for case in cases)


@pytest.mark.parametrize("k", range(2, 7))
def test_k_powers_write_the_parity_of_k_bits_without_an_output_bias(k):
    # T3: the interpolating polynomial is a sum of k powers (s + b_i)^k. All but one of the b_i are
    # free, and the last one makes a linear functional that vanishes on the powers vanish on it.
    sums, parity = sums_and_parity(k)
    scaled = np.array([math.comb(k, j) for j in range(k + 1)])
    target = np.polyfit(sums, parity, k) / scaled  # of s^(k-j)
    free = np.linspace(-0.7, 1.1, k - 1)
    h = np.append(np.poly(free)[::-1], 0.0)  # zero at the free biases, lowest power first
    last = (target[1:] @ h[:-1]) / (target @ h)
    features = (sums[:, None] + np.append(free, last)) ** k
    outer, *_ = np.linalg.lstsq(features, parity, rcond=None)
    np.testing.assert_allclose(features @ outer, parity, atol=1e-8)
