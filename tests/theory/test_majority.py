"""Closed forms against enumeration for every small size, and their limits at large ones."""

import math

import numpy as np
import pytest
from tests.brute_force import characters, cube

from elegans.theory.boolean import majority

SIZES = range(1, 10)


def spectrum(n, values):
    """The coefficient at the first k bits, for k = 0..n."""
    coefficients = characters(n) @ values(cube(n).sum(axis=1)) / 2**n
    return [coefficients[2**k - 1] for k in range(n + 1)]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("ties", [-1.0, 0.0, 1.0])
def test_majority_is_its_enumeration(n, ties):
    expected = spectrum(n, lambda total: np.where(total == 0, ties, np.sign(total)))
    found = [majority.coefficient(n, k, ties) for k in range(n + 1)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n", SIZES)
def test_half_is_its_enumeration(n):
    expected = spectrum(n, lambda total: (total == 0).astype(float))
    found = [majority.half(n, k) for k in range(n + 1)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("m, j", [(500, 0), (500, 3), (500, 250), (500, 499)])
def test_half_is_exact_where_integers_say_so(m, j):
    numerator = math.comb(m, j) * math.comb(2 * m, m)
    exact = numerator / (math.comb(2 * m, 2 * j) * 4**m)  # big integers, rounded once
    np.testing.assert_allclose(majority.half(2 * m, 2 * j), (-1) ** j * exact, rtol=1e-12)


def test_a_hundred_thousand_bits_overflow_nowhere():
    n = 100_001
    assert majority.coefficient(n, 1) == pytest.approx(math.sqrt(2 / (math.pi * n)), rel=1e-5)
    assert majority.degree_weight(n, 5) == pytest.approx(majority.limit_weight(5), rel=1e-3)
    assert majority.coefficient(n, 50_001) == 0.0  # below the smallest float
    assert majority.log_coefficient(n, 50_001) == pytest.approx(-n * math.log(2) / 2, rel=1e-3)


@pytest.mark.parametrize("n", [9, 17, 41, 201])
@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_neighbouring_coefficients_have_the_ratio_of_lemma_b2(n, k):
    if n <= k:
        return
    ratio = abs(majority.coefficient(n, k + 1) / majority.coefficient(n, k - 1))
    assert ratio == pytest.approx((k - 1) / (n - k), rel=1e-12)
    expected = (n - 2 * k + 1) / (k - 1) * abs(majority.coefficient(n, k + 1))
    assert majority.gap(n, k) == pytest.approx(expected, rel=1e-10, abs=1e-18)


def test_the_gap_of_lemma_b2_is_above_its_bound():
    for k in range(2, 40, 2):
        for n in range(4 * k + 1, 12 * k, 2):
            assert majority.gap(n, k) >= majority.gap_bound(n, k)


def test_the_degree_weight_decreases_to_its_limit():
    for k in [1, 3, 5, 9]:
        weights = [majority.degree_weight(n, k) for n in range(k, 400, 2)]
        assert all(np.diff(weights) < 0)
        assert weights[-1] > majority.limit_weight(k)


def test_errata_the_printed_upper_bound_of_lemma_8_fails_everywhere():
    for k in [1, 3, 5]:
        printed = majority.limit_weight(k) / 2
        for n in range(k, 400, 2):
            assert majority.degree_weight(n, k) > 2 * printed
        for n in range(2 * k**2 + 1, 400, 2):
            assert majority.degree_weight(n, k) <= 2 * majority.limit_weight(k)


def test_errata_the_weight_decays_as_the_three_halves_power_not_the_two_thirds():
    ks = np.array([11, 101, 1001])
    weight = np.array([majority.degree_weight(2 * k**2 + 1, k) for k in ks.tolist()])
    np.testing.assert_allclose(weight * ks**1.5, (2 / math.pi) ** 1.5, rtol=0.1)
    assert all(np.diff(weight * ks ** (2 / 3)) < 0)  # no constant c_1 is below all of these
    assert (weight * ks ** (2 / 3))[-1] < 0.01


@pytest.mark.parametrize("k", [2, 4, 6])
def test_lemma_8_bounds_hold_for_every_odd_s_above_4k(k):
    for s in range(4 * k + 1, 100, 2):
        relevant = abs(majority.relevant_gradient(s, k))
        assert relevant >= majority.relevant_bound(s, k)
        assert abs(majority.irrelevant_gradient(s, k)) / relevant <= 4 * k / s


def test_refusals_show_the_values():
    with pytest.raises(ValueError, match=r"Maj\(n=3, k=5\).*0\.\.3"):
        majority.coefficient(3, 5)
    with pytest.raises(ValueError, match=r"gap\(n=9, k=3\): k is even, .* got 3"):
        majority.gap(9, 3)
