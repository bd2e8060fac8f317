"""Learners of parities on data near their limits, against a search without any tricks."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from elegans.learners import (
    GaussianElimination,
    KushilevitzMansour,
    ParitySearch,
    large_coefficients,
)
from elegans.learners.kushilevitz_mansour import pair_samples
from elegans.theory.boolean import fourier
from elegans.theory.resources.bounds import search_samples, statistical_limit

seeds = st.integers(0, 2**32 - 1)


def examples(seed, n, support, rows, flip=0.0):
    generator = np.random.default_rng(seed)
    x = 1 - 2 * generator.integers(0, 2, (rows, n))
    y = x[:, list(support)].prod(axis=1)
    return x, np.where(generator.random(rows) < flip, -y, y)


def errors_of_all(x, y, k):
    supports = list(itertools.combinations(range(x.shape[1]), k))
    return supports, np.array([np.sum(x[:, list(s)].prod(axis=1) != y) for s in supports])


@settings(max_examples=30)
@given(seeds, st.integers(1, 8), st.integers(1, 5), st.sampled_from([3, 64, 65, 200]))
def test_search_finds_the_least_error_of_all_supports(seed, n, k, rows):
    k = min(k, n)
    generator = np.random.default_rng(seed)
    x, y = 1 - 2 * generator.integers(0, 2, (rows, n)), generator.choice([-1, 1], rows)
    supports, errors = errors_of_all(x, y, k)
    learner = ParitySearch(k=k).fit(x, y)
    assert learner.error_ == errors.min() / rows
    assert learner.support_ == supports[int(errors.argmin())]
    assert learner.n_best_ == np.sum(errors == errors.min())
    assert learner.n_searched_ == math.comb(n, k)
    assert learner.score(x, y) == pytest.approx(1 - learner.error_)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("flip", [0.0, 0.1, 0.3])
def test_search_succeeds_with_the_samples_that_it_states(k, flip):
    n, support = 20, tuple(range(0, 3 * k, 3))
    rows = search_samples(n, k, flip, delta=1e-3)
    for seed in range(5):
        x, y = examples(seed, n, support, rows, flip)
        assert ParitySearch(k=k).fit(x, y).support_ == support


def test_search_below_the_statistical_limit_is_a_guess():
    n, k = 20, 3
    rows = int(statistical_limit(n, k)) - 4
    learners = [ParitySearch(k=k).fit(*examples(s, n, (2, 5, 7), rows)) for s in range(20)]
    assert np.mean([f.support_ == (2, 5, 7) for f in learners]) < 0.5
    assert np.mean([f.n_best_ > 1 for f in learners]) > 0.5


def test_random_order_with_an_early_stop_tries_half_of_the_supports_on_average():
    n, k, support = 12, 3, (0, 1, 2)  # the first support of all in lexicographic order
    x, y = examples(0, n, support, 60)
    first = ParitySearch(k=k, stop_error=0.0).fit(x, y)
    assert (first.support_, first.n_searched_) == (support, 1)
    searched = []
    for seed in range(200):
        one = ParitySearch(k=k, stop_error=0.0, order="random", random_state=seed).fit(x, y)
        assert one.support_ == support
        searched.append(one.n_searched_ / math.comb(n, k))
    # uniform on (0, 1]: five standard errors of the mean
    assert np.mean(searched) == pytest.approx(0.5, abs=5 * 12**-0.5 / 200**0.5)


@settings(max_examples=30)
@given(seeds, st.integers(1, 70))
def test_elimination_solves_the_system_or_says_that_nothing_does(seed, n):
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(1, 2 * n + 2))
    support = tuple(np.flatnonzero(generator.integers(0, 2, n)).tolist())
    x, y = examples(seed, n, support, rows)
    learner = GaussianElimination().fit(x, y)
    assert learner.score(x, y) == 1.0
    assert learner.unique_ == (learner.rank_ == n)
    assert not learner.unique_ or learner.support_ == support


def test_elimination_needs_about_as_many_samples_as_bits():
    support = (1, 5, 31, 63, 64, 99)
    learners = [GaussianElimination().fit(*examples(s, 100, support, 112)) for s in range(5)]
    assert all(f.unique_ and f.support_ == support for f in learners)


def test_elimination_tells_noise_from_a_parity():
    x, y = examples(0, 30, (1, 2, 3), 60)
    y[7] *= -1
    with pytest.raises(ValueError, match=r"no parity fits all 60 labels.*ParitySearch"):
        GaussianElimination().fit(x, y)


@pytest.mark.parametrize("learner", [ParitySearch(k=3), GaussianElimination()])
def test_zeros_and_ones_are_signs_in_another_hand(learner):
    x, y = examples(3, 12, (1, 4, 9), 80)
    signs = clone(learner).fit(x, y)
    bits = clone(learner).fit((1 - x) // 2, (1 - y) // 2)
    named = clone(learner).fit((1 - x) // 2, np.where(y < 0, "yes", "no"))
    assert signs.support_ == bits.support_ == named.support_ == (1, 4, 9)
    np.testing.assert_array_equal(bits.predict((1 - x) // 2), (1 - y) // 2)
    assert named.score((1 - x) // 2, np.where(y < 0, "yes", "no")) == 1.0


@pytest.mark.parametrize(
    "learner", [ParitySearch(k=2, signed=True), GaussianElimination(signed=True)]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_negated_parities_are_learned_if_asked_for(learner, sign):
    x, y = examples(4, 10, (0, 6), 60)
    fitted = learner.fit(x, sign * y)
    assert fitted.support_ == (0, 6)
    assert fitted.score(x, sign * y) == 1.0


def test_what_is_no_bit_is_shown():
    with pytest.raises(
        ValueError, match=r"ParitySearch reads bits.*2 other values, such as 0.5, 7"
    ):
        ParitySearch().fit([[1, 0.5], [7, 1]], [1, -1])
    with pytest.raises(ValueError, match=r"other values, such as -1"):
        ParitySearch().fit([[1, 0], [0, -1]], [1, -1])
    with pytest.raises(ValueError, match=r"k counts relevant bits.*1\.\.2"):
        ParitySearch(k=3).fit([[1, -1], [1, 1]], [1, -1])


def test_parities_of_real_features_go_through_a_pipeline():
    generator = np.random.default_rng(0)
    x = generator.standard_normal((100, 8))
    y = np.sign(x[:, 1] * x[:, 6])
    pipeline = make_pipeline(Binarizer(), ParitySearch(k=2)).fit(x, y)
    assert pipeline[-1].support_ == (1, 6)


@settings(max_examples=10)
@given(seeds)
def test_all_large_coefficients_are_found_and_no_small_ones(seed):
    n, threshold = 6, 0.45
    generator = np.random.default_rng(seed)
    spectrum = np.zeros(2**n)
    chosen = generator.permutation(2**n)[:6]
    spectrum[chosen] = generator.choice([0.5, -0.45, 0.2, 0.1], 6) / 2
    spectrum[0] = 0.5
    f = fourier.table(fourier.Spectrum(spectrum), n)
    f = f / max(1.0, np.abs(f).max())
    exact = fourier.sparse(f, n, threshold / 2)
    large = large_coefficients(
        lambda x: f[(x < 0) @ 2 ** np.arange(n)], n, threshold, failure=1e-6, seed=seed
    )
    assert {t for t, c in exact.items() if abs(c) >= threshold} <= set(large)
    assert set(large) <= set(exact)
    assert all(large[t] == pytest.approx(exact[t], abs=0.1) for t in large)


def test_functions_that_are_not_bounded_are_refused():
    with pytest.raises(ValueError, match=r"in \[-1, 1\].*up to 3"):
        large_coefficients(lambda x: 3 * x[:, 0], 4, 0.5)


def test_a_weak_learner_becomes_the_parity():
    n, support = 10, (2, 7)
    x, y = examples(0, n, support, 500, flip=0.2)
    weak = RandomForestClassifier(20, min_samples_leaf=8, random_state=0)
    learner = KushilevitzMansour(weak, threshold=0.4, samples=4000, random_state=0).fit(x, y)
    fresh, truth = examples(1, n, support, 2000)
    assert learner.support_ == support
    assert learner.score(fresh, truth) == 1.0
    assert np.mean(learner.predict_weak(fresh) == truth) < 0.95
    assert learner.coefficients_[support] > 0.4


def test_nothing_is_found_where_nothing_is_large():
    generator = np.random.default_rng(0)
    x, _ = examples(0, 9, (0,), 600)
    noise = generator.choice([-1, 1], 600)
    learner = KushilevitzMansour(threshold=0.9, samples=2000, random_state=0).fit(x, noise)
    assert (learner.support_, learner.coefficients_) == ((), {})
    assert set(learner.predict(x)) == {1}
    assert pair_samples(9, 0.5, 0.01) < pair_samples(9, 0.25, 0.01) / 16
