"""Intervals hold the truth as often as they say, and agree with independent references."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from elegans import statistics
from elegans.statistics import Interval, wilson


def test_an_interval_prints_itself_in_any_format():
    interval = Interval(0.5, 0.4, 0.625)
    assert str(interval) == f"{interval}" == "0.5 [0.4, 0.625]"
    assert f"{interval:.1%}" == "50.0% [40.0%, 62.5%]"
    assert interval.contains(0.4)
    assert not interval.contains(0.39)
    assert interval.radius == pytest.approx(0.1125)


@given(st.integers(1, 60), st.data())
def test_the_interval_is_that_of_scipy(runs, data):
    successes = data.draw(st.integers(0, runs))
    expected = stats.binomtest(successes, runs).proportion_ci(0.95, method="wilson")
    interval = wilson(successes, runs)
    np.testing.assert_allclose(interval[1:], [expected.low, expected.high], atol=1e-12)
    assert interval.low <= interval.value <= interval.high


def test_impossible_counts_are_refused():
    for successes, runs in ((3, 2), (-1, 5), (0, 0)):
        with pytest.raises(ValueError, match=f"got {successes} of {runs}"):
            wilson(successes, runs)
    for level in (95.0, 1.0, 0.0):
        with pytest.raises(ValueError, match="level lies strictly between 0 and 1"):
            wilson(1, 2, level=level)
        with pytest.raises(ValueError, match="level lies strictly between 0 and 1"):
            statistics.bernstein_mean(np.arange(3.0), 2.0, level=level)


def test_no_error_on_128_examples_leaves_room_for_two_percent():
    # T19: convergence on 128 examples and on 8,192 are not the same event.
    assert pytest.approx(0.05, rel=0.02) == (1 - 0.0231) ** 128
    assert 0.02 < wilson(0, 128, level=0.9).high < 0.025
    assert wilson(0, 8192, level=0.9).high < 4e-4


@pytest.mark.parametrize("p", [0.5, 0.05])
def test_intervals_cover_the_mean_as_often_as_they_say(p):
    draws = (np.random.default_rng(0).random((500, 400)) < p).astype(float)
    normal = [statistics.normal_mean(values, 0.9).contains(p) for values in draws]
    rigorous = [statistics.bernstein_mean(values, 1.0, 0.9).contains(p) for values in draws]
    assert np.mean(normal) == pytest.approx(0.9, abs=0.05)  # three standard errors, and the limit
    assert np.mean(rigorous) >= 0.9


def test_the_rigorous_interval_is_wider_and_shrinks_with_the_variance():
    values = np.random.default_rng(0).random(1000)
    wide = statistics.bernstein_mean(values, 1.0, 0.99)
    assert statistics.normal_mean(values, 0.99).radius < wide.radius
    assert statistics.bernstein_mean(values * 1e-3, 1.0, 0.99).radius < wide.radius / 2


def test_hoeffding_is_solved_for_samples():
    samples = statistics.hoeffding_samples(0.1, 2.0, 0.01, means=50)
    assert statistics.hoeffding_radius(samples, 2.0, 0.01, means=50) <= 0.1
    assert statistics.hoeffding_radius(samples - 1, 2.0, 0.01, means=50) > 0.1
    with pytest.raises(ValueError, match="positive"):
        statistics.hoeffding_samples(0.0, 1.0, 0.1)


def test_the_bootstrap_interval_of_a_median_covers_it_as_often_as_it_says():
    generator = np.random.default_rng(1)
    intervals = [statistics.bootstrap(generator.normal(size=25), resamples=300) for _ in range(400)]
    covered = np.mean([interval.contains(0.0) for interval in intervals])
    assert 0.91 < covered <= 0.99  # 95% nominal; the percentile interval is a little cautious
    with pytest.raises(ValueError, match="none of them NaN"):
        statistics.bootstrap(np.array([0.1, np.nan]))


def test_any_function_of_the_numbers_has_a_bootstrap_interval():
    values = np.random.default_rng(0).exponential(size=40)
    mean = statistics.bootstrap(values, np.mean)
    assert statistics.bootstrap(values, lambda x: float(np.mean(x))) == pytest.approx(mean)
    tenth = statistics.bootstrap(values, lambda x: float(np.quantile(x, 0.1)))
    assert tenth.low <= tenth.value <= tenth.high < mean.low


def test_runs_that_share_a_seed_are_drawn_together():
    generator = np.random.default_rng(0)
    shared = generator.normal(size=10)
    table = pd.DataFrame(
        [
            {"seed": s, "error": shared[s] + 0.01 * generator.normal()}
            for s in range(10)
            for _ in range(20)
        ]
    )
    mean = lambda t: t["error"].mean()  # noqa: E731
    clustered = statistics.bootstrap_clustered(table, mean, resamples=300)
    naive = statistics.bootstrap(table["error"].to_numpy(), np.mean)
    assert clustered.value == pytest.approx(naive.value)
    assert clustered.radius > 3 * naive.radius  # about the square root of the 20 copies
    by_hand = statistics.bootstrap(table.groupby("seed")["error"].mean().to_numpy(), np.mean)
    assert clustered.radius == pytest.approx(by_hand.radius, rel=0.2)
    alone = statistics.bootstrap_clustered(table[table["seed"] == 0], mean)
    assert (alone.low, alone.high) == (-np.inf, np.inf)
    with pytest.raises(ValueError, match="by names a column, one of seed, error; got 'trial'"):
        statistics.bootstrap_clustered(table, mean, by="trial")


def test_a_statistic_that_is_undefined_on_a_resample_only_widens_the_interval():
    table = pd.DataFrame({"seed": [0, 1], "x": [1.0, np.nan]})
    interval = statistics.bootstrap_clustered(table, lambda t: t["x"].mean())
    assert interval == (1.0, -np.inf, np.inf)


def test_pairs_are_matched_by_seed_and_the_sign_test_is_exact():
    index = np.arange(12)
    generator = np.random.default_rng(0)
    noise = 100 * generator.normal(size=12)  # between seeds: it cancels within pairs
    first = pd.Series(noise, index)
    second = pd.Series(noise + 1 + 0.1 * generator.normal(size=12), index)
    shuffled = second.sample(frac=1.0, random_state=0)
    result = statistics.paired(first, shuffled)
    assert result == statistics.paired(first, second)
    assert result.difference.low > 0.8
    assert result.p == pytest.approx(stats.binomtest(12, 12).pvalue)
    assert statistics.paired(first, first).p == 1.0
    assert statistics.paired(first[:5], second[3:]).pairs == 2
    mixed = statistics.paired(first, first + np.array([1.0] * 9 + [-1.0] * 2 + [0.0]))
    assert mixed.p == pytest.approx(stats.binomtest(9, 11).pvalue)
    with pytest.raises(ValueError, match="no index in common"):
        statistics.paired(first[:2], second[3:])
    with pytest.raises(ValueError, match="unambiguous"):
        statistics.paired(pd.concat([first, first]), second)


def test_a_median_with_failures_is_infinite_once_half_of_the_runs_fail():
    steps = np.array([10.0, 20.0, 30.0, 40.0, 50.0])
    all_but_one = statistics.censored_median(steps, steps < 50)
    assert all_but_one.value == 30.0
    assert all_but_one.low <= 30.0 < all_but_one.high
    assert statistics.censored_median(steps, steps < 30).value == np.inf
    assert statistics.censored_median(steps, steps < 99, limit=25).value == np.inf
    many = np.arange(1.0, 101.0)
    interval = statistics.censored_median(many, many < 90, limit=1000)
    assert np.isfinite(interval).all()
    assert interval.contains(50.5)


def test_rank_correlation_is_that_of_scipy_with_its_range_under_permutation():
    generator = np.random.default_rng(0)
    x = generator.normal(size=40)
    y = np.round(x + generator.normal(size=40), 1)  # with ties
    result = statistics.spearman(x, y)
    expected = stats.spearmanr(x, y)
    assert result.interval.value == pytest.approx(expected.statistic, abs=1e-12)
    assert result.interval.low > 0 > result.null.low
    assert result.interval.value > result.null.high
    assert result.null.high == pytest.approx(1.96 / np.sqrt(39), rel=0.15)
    assert result.p == pytest.approx(expected.pvalue, abs=0.01)
    other = generator.permuted(y)
    null = statistics.spearman(x, other)
    assert null.p == pytest.approx(stats.spearmanr(x, other).pvalue, abs=0.05)
    assert null.null.contains(null.interval.value)
    with pytest.raises(ValueError, match="finite pairs; got 40 and 3"):
        statistics.spearman(x, y[:3])


def test_intraclass_correlation_is_the_share_of_the_variance_between_groups():
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 8)
    values = 2 * generator.normal(size=60)[groups] + generator.normal(size=480)
    interval = statistics.intraclass(values, groups)
    assert interval.contains(0.8)
    assert interval.radius < 0.1
    grid = values.reshape(60, 8)  # the textbook's balanced case
    between, within = 8 * grid.mean(axis=1).var(ddof=1), grid.var(axis=1, ddof=1).mean()
    assert interval.value == pytest.approx((between - within) / (between + 7 * within), rel=1e-12)
    assert statistics.intraclass(generator.normal(size=480), groups).contains(0.0)
    assert statistics.intraclass(np.repeat([1.0, 2.0], 3), np.repeat(["a", "b"], 3)).value == 1.0
    with pytest.raises(ValueError, match="two values or more"):
        statistics.intraclass(np.arange(3.0), np.array([0, 0, 1]))


def test_the_exponent_of_a_power_law_is_recovered():
    generator = np.random.default_rng(0)
    rows = [
        {"n": n, "seed": s, "steps": 3 * n**1.7 * np.exp(0.3 * generator.normal())}
        for n in (10, 20, 40, 80)
        for s in range(30)
    ]
    table = pd.DataFrame(rows)
    interval = statistics.log_slope(table, "n", "steps")
    medians = np.log(table.groupby("n")["steps"].median())
    assert interval.value == pytest.approx(np.polyfit(np.log(medians.index), medians, 1)[0])
    assert interval.contains(1.7)
    assert interval.radius < 0.2
    failed = table.assign(steps=table["steps"].where(table["n"] < 80, np.inf))
    with pytest.raises(ValueError, match=r"infinite at n = \[80.0\]"):
        statistics.log_slope(failed, "n", "steps")
    with pytest.raises(ValueError, match="n has several values"):
        statistics.log_slope(table[table["n"] == 10], "n", "steps")
    with pytest.raises(ValueError, match="some are missing"):
        statistics.log_slope(table[:-1], "n", "steps")


def test_the_sample_size_at_a_success_rate_is_recovered():
    generator = np.random.default_rng(0)
    m = np.tile([50, 100, 200, 400, 800], 200)
    trials = np.repeat(np.arange(200), 5)
    chance = 1 / (1 + np.exp(-3 * (np.log(m) - np.log(200))))
    interval = statistics.success_threshold(m, generator.random(1000) < chance, trials)
    truth = 200 * np.exp(np.log(4) / 3)
    assert interval.contains(truth)
    assert interval.radius < 0.15 * truth
    assert statistics.success_threshold(m, m > 0, trials).value == 0.0
    assert statistics.success_threshold(m, m < 0, trials).value == np.inf
    separated = statistics.success_threshold(m, m > 150, trials)
    assert 100 < separated.value < 200
    falling = statistics.success_threshold(m, m < 150, trials)
    assert np.isnan(falling.value)
    with pytest.raises(ValueError, match="got 1000, 1000 and 2"):
        statistics.success_threshold(m, m > 0, [0, 1])
