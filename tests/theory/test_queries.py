"""Bounds against brute force over all parities, and an oracle that keeps its word."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.brute_force import character, cube

from elegans.tasks import Parity
from elegans.theory import resources


def correlations(values, n, k):
    """Of a table of values with the parities of all k-sets."""
    x = cube(n)
    return np.array(
        [np.mean(values * character(x, s)) for s in itertools.combinations(range(n), k)]
    )


def test_a_noiseless_label_is_a_bit():
    assert resources.statistical_limit(50, 3) == pytest.approx(math.log2(19600))
    assert resources.statistical_limit(7, 7) == 0.0
    assert resources.statistical_limit(50, 3, flip=0.11) == pytest.approx(
        2 * math.log2(19600), rel=0.01
    )  # H(0.11) is a half
    assert resources.statistical_limit(50, 3, flip=0.5) == math.inf


@given(
    width=st.floats(1, 1e6),
    steps=st.floats(1, 1e6),
    samples=st.floats(1, 1e6),
    luck=st.floats(1e-6, 1),
    n=st.sampled_from([20, 50, 300]),
)
def test_solving_for_any_resource_lands_on_the_same_edge(width, steps, samples, luck, n):
    full = {"width": width, "steps": steps, "samples": samples, "luck": luck}
    for name in full:
        rest = {other: value for other, value in full.items() if other != name}
        solved = resources.multi_resource_bound(n, 4, **rest)
        edge = {**rest, name: solved}
        product = edge["width"] * edge["steps"] * edge["samples"] / edge["luck"]
        if name == "luck" and solved == 1:
            assert product >= math.comb(n, 4) / 4 * (1 - 1e-9)
        else:
            assert product == pytest.approx(math.comb(n, 4) / 4, rel=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_errata_gradients_leave_the_blind_trajectory_with_the_chance_of_one_quarter(seed):
    """Over all targets at once: the proof's counting at half the tolerance, not at all of it."""
    n, k, width = 7, 3, 4
    generator = np.random.default_rng(seed)
    gradients = generator.uniform(-1, 1, (width, 2**n))  # of a network with |gradients| <= 1
    largest = np.max([np.abs(correlations(g, n, k)) for g in gradients], axis=0)
    for tolerance in [0.1, 0.2, 0.4]:
        luck = resources.multi_resource_bound(n, k, width=width, steps=1, samples=tolerance**-2)
        assert np.mean(largest > tolerance / 2) <= luck


def test_errata_markov_as_printed_gives_twice_the_failure():
    """A gradient that is a sum of parities, each correlated by exactly half the tolerance."""
    n, k, tolerance = 7, 3, 0.4
    sets = list(itertools.combinations(range(n), k))[:24]  # 24 * 0.2**2 < 1
    x = cube(n)
    gradient = sum(0.2001 * character(x, s) for s in sets)
    assert np.mean(gradient**2) <= 1
    escaped = np.mean(np.abs(correlations(gradient, n, k)) > tolerance / 2)
    given_resources = {"width": 1, "steps": 1, "samples": tolerance**-2}
    assert escaped > resources.multi_resource_bound(n, k, **given_resources, constant=0.5)
    assert escaped <= resources.multi_resource_bound(n, k, **given_resources)


def test_a_missing_resource_is_asked_for_by_name():
    with pytest.raises(ValueError, match="left out: samples, luck"):
        resources.multi_resource_bound(50, 3, width=10, steps=10)


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.5))
def test_a_query_rules_out_fewer_than_one_over_tolerance_squared_parities(seed, tolerance):
    h = np.random.default_rng(seed).standard_normal(2**6)
    h /= np.sqrt(np.mean(h**2))
    every = np.concatenate([correlations(h, 6, k) for k in range(7)])
    ruled_out = np.sum(np.abs(every) > tolerance)
    assert ruled_out * resources.query_bound(2**6, tolerance) <= 2**6


def test_theorem_14_leaves_nine_parities_that_one_hypothesis_could_fit():
    assert resources.parity_queries(10, 0.1) == pytest.approx((1024 - 9) * 0.01)
    assert resources.parity_queries(3, 0.1) == 0.0


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_some_parity_is_out_of_reach_of_fixed_features(seed, dimension):
    n, k, norm = 6, 3, 1.5
    features = np.random.default_rng(seed).standard_normal((2**n, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    reach = np.linalg.norm([correlations(f, n, k) for f in features.T], axis=0)
    best = 1 - norm * reach  # a lower bound on the hinge loss at each parity
    assert best.max() >= resources.fixed_kernel_loss(n, k, norm) - 1e-12
    assert resources.fixed_kernel_loss(n, k, norm) >= resources.fixed_kernel_loss(
        n, k, norm, dimension
    )
    assert resources.fixed_kernel_norm(n, k, 1 - resources.fixed_kernel_loss(n, k, norm)) == (
        pytest.approx(norm)
    )


@given(st.integers(0, 2**32 - 1))
def test_errata_no_parity_has_a_zero_one_loss_above_a_half(seed):
    n, k = 5, 2
    x = cube(n)
    f = np.random.default_rng(seed).standard_normal(2**n)
    for s in itertools.combinations(range(n), k):
        y = character(x, s)
        assert min(np.mean(np.sign(f) != y), np.mean(np.sign(-f) != y)) <= 0.5


@pytest.mark.parametrize("flip", [0.0, 0.1])
@pytest.mark.parametrize("answers", ["honest", "random", "adversarial"])
def test_the_oracle_stays_within_its_tolerance_and_counts(flip, answers):
    task = Parity(n=5, k=2, flip=flip)
    oracle = resources.StatisticalQueryOracle(task, 0.3, answers=answers, seed=1)
    assert abs(oracle(lambda x, y: y * x[:, 0] * x[:, 1]) - (1 - 2 * flip)) <= 0.3 + 1e-12
    assert abs(oracle(lambda x, y: y * x[:, 0])) <= 0.3
    assert oracle.queries == 2


def test_an_honest_oracle_is_exact_and_an_adversary_hides_small_correlations():
    honest = resources.StatisticalQueryOracle(Parity(n=5, k=2, p=0.3), 0.1)
    assert honest(lambda x, y: x[:, 4]) == pytest.approx(0.4)  # E x = 1 - 2p
    assert honest(lambda x, y: y) == pytest.approx(0.16, abs=1e-6)  # p is stored as float32
    adversary = resources.StatisticalQueryOracle(Parity(n=5, k=2), 0.1, answers="adversarial")
    assert adversary(lambda x, y: y * np.sign(x.sum(axis=1))) == 0.0
    assert adversary(lambda x, y: y * x[:, 0] * x[:, 1]) == pytest.approx(0.9)


def test_large_tasks_are_sampled_with_enough_samples():
    task = Parity(n=60, k=2, flip=0.1)
    oracle = resources.StatisticalQueryOracle(task, 0.1, samples=5000)
    assert oracle(lambda x, y: y * x[:, 0] * x[:, 1]) == pytest.approx(0.8, abs=0.1)
    assert oracle(lambda x, y: y * x[:, 0]) == pytest.approx(0.0, abs=0.1)
    with pytest.raises(ValueError, match=r"at least 4,284 samples; got 1,000"):
        resources.StatisticalQueryOracle(task, 0.1, samples=1000)


def test_the_oracle_refuses_queries_that_are_not_bounded():
    oracle = resources.StatisticalQueryOracle(Parity(n=4, k=2), 0.1)
    with pytest.raises(ValueError, match=r"\[-1, 1\].*largest absolute value 2"):
        oracle(lambda x, y: 2 * y)


def test_search_needs_a_little_more_than_the_statistical_limit():
    for flip in [0.0, 0.1, 0.3]:
        needed = resources.search_samples(50, 3, flip)
        assert resources.statistical_limit(50, 3, flip) < needed
        assert needed < 4 * resources.statistical_limit(50, 3, flip)  # Chernoff and delta
    with pytest.raises(ValueError, match="1/2"):
        resources.search_samples(50, 3, 0.5)
