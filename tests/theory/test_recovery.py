"""From how many examples one truncated step is right: the normal law against steps that are run."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from elegans.theory import resources
from elegans.theory.resources.recovery import Entries, over_sparse_entries, under_sparse_entries


def share_right(w, k, samples, threshold, bits, trials, seed=0):
    """How many of so many first steps leave exactly the `bits` above the threshold; plain NumPy."""
    generator = np.random.default_rng(seed)
    right = 0
    for _ in range(trials):
        x = 2.0 * generator.integers(0, 2, (samples, len(w))) - 1
        y = x[:, :k].prod(axis=1)
        gradient = np.abs((y[:, None] * x * (x @ w > 0)[:, None]).mean(axis=0))
        right += set(np.flatnonzero(gradient > threshold)) == set(bits)
    return right


@pytest.mark.parametrize("n, s, chance", [(15, 9, 0.5), (31, 9, 0.5), (31, 9, 0.9)])
def test_a_truncated_step_of_theorem_16_is_right_as_often_as_predicted(n, s, chance):
    k, trials = 2, 400
    samples = round(resources.over_sparse_recovery(n, k, s, chance))
    w = np.zeros(n)
    w[:s] = 1.0
    right = share_right(w, k, samples, resources.truncation(s, k), range(k), trials)
    # 5 percentage points for what entries have to do with each other, and for the normal law
    low, high = binomtest(right, trials).proportion_ci(0.999)
    assert low - 0.05 < chance < high + 0.05


@pytest.mark.parametrize("n, s", [(13, 2), (11, 2)])
def test_a_truncated_step_of_theorem_21_is_right_as_often_as_predicted(n, s):
    k, trials = 4, 200
    samples = round(resources.under_sparse_recovery(n, k, s))
    w = np.full(n, 0.5 / (n - s))
    w[:s] = 1.0
    threshold = sum(resources.partial_gradients(n, k, s)) / 2
    right = share_right(w, k, samples, threshold, range(s, k), trials)
    low, high = binomtest(right, trials).proportion_ci(0.999)
    assert low - 0.05 < 0.5 < high + 0.05


def test_the_power_of_theorem_21_is_not_there_yet_at_sizes_that_can_be_run():
    def power(n, larger):
        ratio = resources.under_sparse_recovery(larger, 4, 0)
        ratio /= resources.under_sparse_recovery(n, 4, 0)
        return math.log(ratio) / math.log(larger / n)

    assert power(9, 21) < 2.4  # n^(k-1) is 3
    assert 3.0 < power(1001, 2001) < 3.2  # and a logarithm


def test_recovery_is_certain_with_enough_examples_and_refuses_what_no_number_is_enough_for():
    entries = over_sparse_entries(21, 2, 9)
    threshold = resources.truncation(9, 2)
    assert resources.recovery_chance(entries, threshold, 1e6) == pytest.approx(1)
    assert resources.recovery_chance(entries, threshold, 1) < 1e-3
    with pytest.raises(ValueError, match="lies between the irrelevant and the relevant gradients"):
        resources.recovery_samples([Entries(2, 0.1, True), Entries(3, 0.2, False)], 0.15)
    with pytest.raises(ValueError, match="lies between the irrelevant and the relevant gradients"):
        resources.recovery_samples([], 0.15)
    with pytest.raises(ValueError, match="samples counts the examples"):
        resources.recovery_chance(entries, threshold, 0)
    with pytest.raises(ValueError, match="for odd s"):
        resources.over_sparse_recovery(51, 2, 10)
    with pytest.raises(ValueError, match="for odd n - s"):
        resources.under_sparse_recovery(20, 4, 2)
    with pytest.raises(ValueError, match="s counts the ones of a neuron, fewer than k"):
        resources.under_sparse_recovery(21, 4, 3)
    assert sum(entry.number for entry in under_sparse_entries(21, 4, 2)) == 21
