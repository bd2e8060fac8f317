"""Learners of conjunctions against a search without any tricks, and elimination's closed form."""

import itertools
import math
import warnings

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from elegans import learners
from elegans.learners import (
    ConjunctionElimination,
    ConjunctionSearch,
    consistent_conjunctions,
    elimination_probability,
)
from elegans.learners.search import FED_REAL_FEATURES
from elegans.tasks import Conjunction, Junta, Parity, SparseMajority

BALANCED = 2 ** (-1 / 3)
THRESHOLDS = {
    20: 40,
    40: 47,
    50: 49,
    80: 53,
    100: 55,
    150: 59,
    200: 62,
    300: 65,
    400: 68,
    500: 70,
    800: 74,
    1000: 76,
    1100: 77,
}


def bits(seed, rows, n, p=BALANCED):
    return np.where(np.random.default_rng(seed).random((rows, n)) < p, -1, 1)


def errors_of_all(x, y, function, s):
    """Brute force over ordered supports: `function` maps a tuple of true bits to a truth value."""
    supports = list(itertools.permutations(range(x.shape[1]), s))
    errors = [
        sum(
            function(tuple(row[list(support)] < 0)) != (label < 0)
            for row, label in zip(x, y, strict=True)
        )
        for support in supports
    ]
    return supports, np.array(errors)


NAMED = {
    "and": all,
    "or": any,
    "parity": lambda b: sum(b) % 2 == 1,
    "majority": lambda b: 2 * sum(b) > len(b),
}


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(list(NAMED)), st.sampled_from([1, 2, 3]))
def test_search_finds_the_least_error_of_all_supports(seed, name, s):
    s = 3 if name == "majority" and s == 2 else s
    generator = np.random.default_rng(seed)
    n, rows = 6, int(generator.choice([5, 64, 70]))
    x, y = bits(seed, rows, n, 0.5), generator.choice([-1, 1], rows)
    y[0] = -y[1]
    search = ConjunctionSearch(s, function=name).fit(x, y)
    supports, errors = errors_of_all(x, y, NAMED[name], s)
    assert search.error_ == errors.min() / rows
    assert errors[supports.index(search.support_)] == errors.min()
    assert search.n_best_ == np.sum(errors == errors.min()) / math.factorial(s)
    assert search.n_searched_ == math.comb(n, s)
    assert search.score(x, y) == pytest.approx(1 - search.error_)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.tuples(*[st.sampled_from([-1, 1])] * 8))
def test_a_table_is_searched_in_every_order_of_its_bits_that_matters(seed, table):
    n, rows = 5, 40
    x, y = bits(seed, rows, n, 0.5), np.random.default_rng(seed + 1).choice([-1, 1], rows)

    def function(b):
        return table[sum(2**i for i in range(3) if b[i])] < 0

    search = ConjunctionSearch(3, function=table).fit(x, y)
    supports, errors = errors_of_all(x, y, function, 3)
    assert search.error_ == errors.min() / rows
    assert errors[supports.index(search.support_)] == errors.min()
    assert search.score(x, y) == pytest.approx(1 - search.error_)


@pytest.mark.parametrize(
    "task, function",
    [
        (Conjunction(30, 3, support=(4, 11, 29)), "and"),
        (Parity(30, 3, support=(4, 11, 29)), "parity"),
        (SparseMajority(30, 3, support=(4, 11, 29)), "majority"),
        (
            Junta(30, (1, -1, 1, -1, 1, 1, -1, 1), support=(11, 29, 4)),
            (1, -1, 1, -1, 1, 1, -1, 1),
        ),
    ],
)
def test_search_recovers_the_support_of_a_task(task, function):
    x = bits(0, 120, 30, 0.5)
    y = np.asarray(task.label(jnp.asarray(x, jnp.float32))).astype(int)
    search = ConjunctionSearch(3, function=function).fit(x, y)
    assert search.error_ == 0
    assert search.n_best_ == 1
    assert set(search.support_) == set(task.support)
    if not isinstance(function, str):
        assert search.support_ == task.support
    zero_one = ConjunctionSearch(3, function=function).fit((x < 0).astype(int), (y < 0).astype(int))
    assert zero_one.support_ == search.support_


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(2, 14))
def test_consistent_conjunctions_are_those_without_an_error(seed, rows):
    x = bits(seed, rows, 9)
    y = x[:, [1, 4, 6]].max(axis=1)
    every = [
        support
        for support in itertools.combinations(range(9), 3)
        if (x[:, list(support)].max(axis=1) == y).all()
    ]
    assert consistent_conjunctions(x < 0, y < 0, 3) == every


def test_elimination_needs_the_samples_of_the_closed_form():
    for T, m in THRESHOLDS.items():
        assert elimination_probability(T, 3, m, BALANCED) >= 0.8
        assert elimination_probability(T, 3, m - 1, BALANCED) < 0.8
    slope = (77 - 40) / math.log(1100 / 20)
    assert slope == pytest.approx(9.2, abs=0.05)  # samples per e-fold of T


@pytest.mark.parametrize(
    "T, s, m, p", [(3, 1, 3, 0.5), (4, 2, 2, 0.7), (3, 3, 2, 0.4), (2, 0, 4, 0.3)]
)
def test_elimination_probability_is_the_sum_over_all_training_sets(T, s, m, p):
    total = 0.0
    for rows in itertools.product(itertools.product([-1, 1], repeat=T), repeat=m):
        x = np.array(rows)
        y = x[:, :s].max(axis=1, initial=-1)
        chance = np.prod(np.where(x < 0, p, 1 - p))
        total += chance * (ConjunctionElimination().fit(x, y).support_ == tuple(range(s)))
    assert elimination_probability(T, s, m, p) == pytest.approx(total, rel=1e-10)


def test_elimination_succeeds_as_often_as_its_probability_says():
    T, m, trials = 100, 55, 2000
    successes = 0
    for seed in range(trials):
        x = bits(seed, m, T) < 0
        successes += x[x[:, :3].all(axis=1)].all(axis=0).sum() == 3
    radius = math.sqrt(math.log(2e9) / (2 * trials))  # Hoeffding, failure 1e-9
    assert abs(successes / trials - elimination_probability(T, 3, m, BALANCED)) < radius


def test_search_needs_about_half_the_samples_of_elimination():
    sets = [bits(seed, 30, 100) < 0 for seed in range(200)]
    unique = np.mean([len(consistent_conjunctions(x, x[:, :3].all(axis=1), 3)) == 1 for x in sets])
    assert abs(unique - 0.8) < 0.15  # Hoeffding at 1e-3 is 0.13
    assert elimination_probability(100, 3, 30, BALANCED) < 0.1


def test_elimination_keeps_negated_literals_if_asked():
    x = bits(3, 60, 8, 0.5)
    y = np.maximum(x[:, 2], -x[:, 5])  # bit 2 and not bit 5
    learner = ConjunctionElimination(negations=True).fit(x, y)
    assert (learner.support_, learner.negated_, learner.error_) == ((2,), (5,), 0.0)
    assert learner.score(x, y) == 1.0
    assert ConjunctionElimination().fit(x, y).error_ > 0


def test_elimination_without_positives_keeps_every_bit():
    x = np.array([[1, -1, -1], [-1, 1, -1]])
    assert ConjunctionElimination().fit(x, np.array([1, 1])).support_ == (0, 1, 2)


@pytest.mark.parametrize("estimator", [ConjunctionSearch(1), ConjunctionElimination()])
def test_learners_fail_exactly_the_checks_that_feed_them_real_features(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks provoke warnings on purpose
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    ran = {result["check_name"] for result in results if result["status"] != "skipped"}
    failed = {r["check_name"] for r in results if r["status"] == "failed"}
    assert failed == ran & set(FED_REAL_FEATURES)


@pytest.mark.parametrize(
    "fit, message",
    [
        (lambda x, y: ConjunctionSearch(9).fit(x, y), "s counts relevant bits.*1..6; got 9"),
        (lambda x, y: ConjunctionSearch(2, function="nor").fit(x, y), "'and'.*got 'nor'"),
        (lambda x, y: ConjunctionSearch(2, function="majority").fit(x, y), "no ties"),
        (lambda x, y: ConjunctionSearch(2, function=(1, -1)).fit(x, y), r"2\*\*2 signs"),
        (lambda x, y: ConjunctionSearch(1).fit(x, 0 * y), "one class"),
        (lambda x, y: ConjunctionElimination().fit(x, np.arange(4)), "y has 4 classes"),
        (lambda x, y: ConjunctionElimination().fit(x + 0.5, y), "reads bits"),
        (lambda x, y: elimination_probability(5, 6, 3, 0.5), "s counts relevant bits"),
        (lambda x, y: elimination_probability(5, 2, 3, 1.5), "p is the probability"),
    ],
)
def test_bad_input_is_refused_by_name(fit, message):
    x = bits(0, 4, 6)
    with pytest.raises(ValueError, match=message):
        fit(x, np.array([1, -1, 1, -1]))


def test_the_learners_are_public():
    assert {"ConjunctionSearch", "ConjunctionElimination", "elimination_probability"} <= set(
        dir(learners)
    )
