"""Random search against simulation, lucky neurons against counting."""

import itertools
import math

import numpy as np
import pytest

from elegans.theory import resources
from elegans.theory.boolean import gradients


def test_copies_of_a_random_search_take_the_time_of_the_formula():
    means = [resources.random_search(40, 3, copies).mean for copies in (1, 10, 100, 1000, 10_000)]
    np.testing.assert_allclose(means, [9880, 988.45, 99.3, 10.39, 1.571], rtol=1e-3)
    time = resources.random_search(6, 2, copies=3)
    draws = np.random.default_rng(0).random((20_000, 60, 3)) < 1 / math.comb(6, 2)
    first = np.argmax(draws.any(axis=2), axis=1) + 1
    assert time.mean == pytest.approx(first.mean(), rel=0.03)  # five standard errors
    for steps in (1, 3, 10):
        assert time.within(steps) == pytest.approx((first <= steps).mean(), abs=0.02)
    assert resources.random_search(4, 4).mean == 1.0
    assert resources.random_search(4, 4).quantile(0.9) == 1


def test_quantiles_are_the_least_steps_that_suffice():
    time = resources.random_search(9, 3)
    for share in (0.01, 0.1, 0.5, 0.9, 0.999):
        steps = time.quantile(share)
        assert time.within(steps) >= share * (1 - 1e-12)
        assert steps == 1 or time.within(steps - 1) < share
    assert resources.random_search(4, 1).quantile(0.25) == 1  # exactly a quarter in one step


def test_a_memoryless_time_is_below_half_of_its_median_in_29_of_100_cases():
    time = resources.random_search(40, 3)
    median = time.quantile(0.5)
    assert time.within(median / 2) == pytest.approx(1 - 2**-0.5, abs=1e-3)
    assert time.within(median / 4) == pytest.approx(1 - 2**-0.25, abs=1e-3)


@pytest.mark.parametrize("n", [5, 6])
def test_lucky_neurons_are_those_with_a_gradient_at_a_relevant_bit(n):
    for k, s in itertools.product(range(1, n + 1), repeat=2):
        support = tuple(range(k))
        for bias in (0.1, -0.1):
            lucky = []
            for chosen in itertools.combinations(range(n), s):
                w = np.isin(np.arange(n), chosen).astype(float)
                gradient = gradients.enumerated(w, support, bias=bias)
                lucky.append(np.abs(gradient[:k]).max() > 1e-12)
            assert resources.lucky_probability(n, k, s) == pytest.approx(np.mean(lucky)), (k, s)


def test_width_is_a_number_of_tickets():
    chances = [resources.lucky_chance(50, 3, 2, r) for r in (10, 30, 100, 300, 1000, 3000)]
    np.testing.assert_allclose(chances, [0.024, 0.071, 0.22, 0.52, 0.91, 0.999], atol=5e-3)
    assert resources.lucky_chance(50, 4, 2, 10**6) == 0.0  # two bits cannot see a parity of four
    assert resources.lucky_chance(5, 2, 5, 1) == 1.0
    with pytest.raises(ValueError, match="width counts neurons"):
        resources.lucky_chance(50, 3, 2, 0)
    with pytest.raises(ValueError, match="s counts the ones"):
        resources.lucky_chance(50, 3, 51, 10)
