"""Disjoint PolyNets against an integrated flow, enumeration, and simulated descent."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from tests.brute_force import cube

from elegans.tasks import DisjointParity
from elegans.theory.boolean import polynet


def integrated(v0, time):
    """The flow by Runge and Kutta."""
    rate = lambda _, v: [np.prod(np.delete(v, i)) for i in range(len(v))]  # noqa: E731
    return solve_ivp(rate, (0, time), v0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def enumerated_error(v, u):
    """The error as a count over all inputs; zero is no sign."""
    x = cube(u.size + len(v)).reshape(-1, len(v), u.shape[1] + 1)
    forms = (x * np.concatenate([v[:, None], u], axis=1)).sum(axis=2)
    forms[np.abs(forms) < 1e-12] = 0.0
    return np.mean(np.sign(forms.prod(axis=1)) != x[:, :, 0].prod(axis=1))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.floats(0.05, 0.9))
def test_the_flow_is_the_integrated_one_from_every_start(seed, k, share):
    v0 = np.random.default_rng(seed).standard_normal(k)
    end = polynet.blow_up(v0)
    time = share * min(end, 2.0)
    np.testing.assert_allclose(polynet.flow(v0, time), integrated(v0, time), rtol=1e-7, atol=1e-9)
    if np.prod(v0) > 0:
        q = polynet.flow(v0, time)[0] ** 2 - v0[0] ** 2
        assert polynet.flow_time(v0, q) == pytest.approx(time, rel=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(1e-3, 1e3))
def test_lemma_b8_bounds_the_time(seed, k, q):
    v0 = np.abs(np.random.default_rng(seed).standard_normal(k)) + 1e-6
    low, high = polynet.time_bounds(v0, q)
    assert low * (1 - 1e-12) <= polynet.flow_time(v0, q) <= high * (1 + 1e-12)
    low, high = polynet.time_bounds(v0, math.inf)
    assert low * (1 - 1e-12) <= polynet.blow_up(v0) <= high * (1 + 1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_equal_weights_have_the_closed_form(k):
    v0, time = np.full(k, 1.0), 0.15
    closed = math.exp(time) if k == 2 else (1 - (k - 2) * time) ** (-1 / (k - 2))
    np.testing.assert_allclose(polynet.flow(v0, time), closed, rtol=1e-12)
    assert polynet.blow_up(v0) == pytest.approx(1 / (k - 2) if k > 2 else math.inf, rel=1e-12)


def test_errata_the_blow_up_is_printed_with_the_wrong_exponent_once():
    # T17: 1 / ((k - 2) G^-(k/2 - 1)) is the inverse of what the second expression says.
    v0, k = np.array([0.5, 0.2, 0.4, 0.3]), 4
    geometric = np.prod(v0**2) ** (1 / k)
    second = 1 / ((k - 2) * np.prod(v0) ** (1 - 2 / k))
    assert polynet.time_bounds(v0, math.inf).high == pytest.approx(second)
    assert polynet.blow_up(v0) < second
    assert 1 / ((k - 2) * geometric ** -(k / 2 - 1)) < polynet.blow_up(v0)  # so no upper bound


def test_negative_products_escape_unless_the_smallest_weights_are_equal():
    generator = np.random.default_rng(0)
    for _ in range(20):
        v0 = generator.standard_normal(4)
        v0[0] *= -np.sign(np.prod(v0))
        crossing = polynet.crossing_time(v0)
        assert 0 < crossing < polynet.blow_up(v0) < math.inf
        assert np.prod(polynet.flow(v0, 0.99 * crossing)) < 0
        assert np.prod(polynet.flow(v0, 1.01 * crossing)) > 0
    stuck = np.array([1.0, -1.0, 1.0])
    assert polynet.crossing_time(stuck) == polynet.blow_up(stuck) == math.inf
    np.testing.assert_allclose(polynet.flow(stuck, 3.0), stuck / 4, rtol=1e-9)


def test_small_steps_of_population_descent_take_the_time_of_the_flow():
    v, rate, steps = np.array([0.7, 1.0, 1.4, 0.9]), 1e-4, 0
    start = v.copy()
    while np.abs(v).min() < 5:
        v = v + rate * np.prod(v) / v
        steps += 1
    time = polynet.flow_time(start, float(v[0] ** 2 - start[0] ** 2))
    assert rate * steps == pytest.approx(time, rel=0.01)


@pytest.mark.parametrize("k, rest", [(1, 3), (2, 3), (3, 3), (2, 6)])
def test_the_error_is_a_count_over_all_inputs(k, rest):
    generator = np.random.default_rng(k)
    for u in (
        generator.standard_normal((k, rest)),
        generator.choice([-1.0, 1.0], (k, rest)),
        np.zeros((k, rest)),
        generator.choice([0.0, 2.0], (k, rest)),
    ):
        for v in (generator.standard_normal(k), np.ones(k), 2.0 * np.arange(k), -np.full(k, 3.0)):
            assert polynet.error(v, u) == pytest.approx(enumerated_error(v, u), abs=1e-12)


def test_the_normal_approximation_is_near_the_exact_error():
    v = np.array([3.0, 4.3, 5.1])
    u = np.ones((3, 401))
    assert polynet.error(v, u, normal=True) == pytest.approx(polynet.error(v + 0.5, u), abs=0.01)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 9))
def test_lemma_b9_as_corrected_bounds_the_error(seed, k, rest):
    generator = np.random.default_rng(seed)
    scale = 10 ** generator.uniform(-2, 2)  # the bounds do not depend on it
    v = scale * np.abs(generator.standard_normal(k)) * generator.choice([1, 3])
    u = scale * generator.standard_normal((k, rest))
    low, high = polynet.error_bounds(v, u)
    assert low - 1e-12 <= polynet.error(v, u) <= high + 1e-12


def test_errata_both_bounds_of_lemma_b9_fail_as_printed():
    few, many = np.ones((3, 8)), np.ones((3, 100))
    above = polynet.error_bounds(np.full(3, 2.01), few, printed=True).low
    assert polynet.error(np.full(3, 2.01), few) == pytest.approx(0.3203, abs=1e-4)  # T10
    assert above == pytest.approx(0.418, abs=1e-3)
    below = polynet.error_bounds(np.full(3, 30.5), many, printed=True).high
    assert polynet.error(np.full(3, 30.5), many) == pytest.approx(0.00268, abs=1e-5)  # T11
    assert below == pytest.approx(0.00055, abs=1e-5)
    # The Berry-Esseen term as printed changes when all weights are multiplied by ten.
    scaled = polynet.error_bounds(np.full(3, 20.1), 10 * few, printed=True).low
    assert scaled != pytest.approx(above, abs=1e-3)


def simulated_plateau(block, k, gamma):
    """The share from the error at many times, all weights +1."""
    u = np.ones((k, block - 1))
    levels = np.unique(np.concatenate([np.arange(1, block) + 1e-7, np.linspace(1, block, 40)]))
    errors = np.array([polynet.error(np.full(k, v), u) for v in levels])
    times = np.array([polynet.flow_time(np.ones(k), v**2 - 1) for v in levels])
    return times[np.argmax(errors <= 0.5 - gamma)] / times[np.argmax(errors <= 1e-15)]


@pytest.mark.parametrize("k, block", [(3, 9), (3, 17), (4, 12), (5, 7)])
def test_the_plateau_is_that_of_the_error_along_the_flow(k, block):
    exact = polynet.plateau(k * block, k, 0.01)
    assert exact == pytest.approx(simulated_plateau(block, k, 0.01), abs=1e-6)
    share = polynet.plateau_share(np.ones(k), np.ones((k, block - 1)), 0.01)
    assert share == pytest.approx(exact, abs=1e-6)


def test_plateaus_of_corollary_b10():
    expected = {3: (0.533, 0.516, 0.758, 0.860, 0.901), 4: (0.753, 0.751, 0.938, 0.988, 0.996)}
    for k, shares in expected.items():
        got = [polynet.plateau(k * block, k, 0.01) for block in (17, 33, 101, 334, 1001)]
        np.testing.assert_allclose(got, shares, atol=1e-3)
    assert polynet.plateau(30, 3, 0.01) == 0.0  # the theorem bites for long blocks only
    blocks = np.array([1001, 10_001, 100_001])
    for k in (3, 4, 5):
        exact = np.array([1 - polynet.plateau(int(k * m), k, 0.01) for m in blocks])
        bound = np.array([1 - polynet.plateau_bound(int(k * m), k, 0.01) for m in blocks])
        assert (exact <= bound * (1 + 1e-9)).all()
        slopes = np.diff(np.log(exact)) / np.diff(np.log(blocks))
        np.testing.assert_allclose(slopes, 1 - k / 2, atol=0.1)  # sums live on a lattice


def test_gaussian_starts_have_a_plateau_too():
    generator = np.random.default_rng(0)
    shares = []
    while len(shares) < 40:
        v, u = generator.standard_normal(4), generator.standard_normal((4, 29))
        if np.prod(v) > 0:
            shares.append(polynet.plateau_share(v, u, 0.01, normal=True))
    assert np.median(shares) == pytest.approx(0.93, abs=0.03)


def test_ties_at_the_start_put_the_error_above_one_half():
    # T18: with an odd number of other signs their sum may be exactly the relevant weight.
    assert polynet.error(np.ones(3), np.ones((3, 3))) > 0.5
    assert polynet.error(np.ones(3), np.ones((3, 4))) < 0.5
    assert polynet.error(np.full(3, 1 + 1e-6), np.ones((3, 3))) < 0.5


def test_zero_error_comes_before_the_blow_up():
    # T24: descent on the correlation loss diverges afterwards, so that one stops there.
    u = np.ones((3, 6))
    zero = polynet.flow_time(np.ones(3), 6.001**2 - 1)
    assert zero < polynet.blow_up(np.ones(3))
    assert polynet.error(polynet.flow(np.ones(3), zero), u) == 0.0


def test_the_steps_of_theorem_5_8_and_what_its_proof_leaves_of_the_printed_ones():
    printed = [polynet.sgd_steps(n, k, 0.1, constant=6) for n, k in ((4, 2), (6, 2), (6, 3))]
    np.testing.assert_allclose(printed, [2.4e4, 1.4e5, 5.1e5], rtol=0.03)
    n, k, epsilon, delta = 6, 2, 0.1, 0.01
    for constant, holds in ((polynet.SGD_PRINTED, False), (polynet.SGD_CONSTANT, True)):
        steps = polynet.sgd_steps(n, k, epsilon, delta, constant=constant)
        log = math.log(2 * n * steps / delta)
        target = constant * log * math.log(2 * k / epsilon) * (3 * n // k - 2) ** (2 * k - 1)
        assert steps - 1 <= target <= steps + 1
        # What the proof guarantees at the end, put into the bound of lemma B.9.
        relevant = 0.5 + (3 * n // k - 2) ** (1 - k) * math.sqrt(steps / (8 * log))
        v, u = np.full(k, relevant), np.full((k, n // k - 1), 1.5)
        assert (polynet.error_bounds(v, u).high <= epsilon) == holds


def test_the_rate_of_theorem_5_8_keeps_irrelevant_weights_small_and_learns():
    n, k, epsilon, delta = 4, 2, 0.1, 0.01
    steps = polynet.sgd_steps(n, k, epsilon, delta)
    generator = np.random.default_rng(0)
    runs, block = 8, n // k  # side by side; all start with a positive product
    w = np.ones((runs, k, block))
    rate = polynet.sgd_rate(w[0], steps, delta) * np.abs(w[0]).sum(axis=1)[::-1]
    worst = 0.0
    for x in generator.choice([-1.0, 1.0], (steps, runs, k, block)):
        forms = (w * x).sum(axis=2)
        norms = np.abs(w).sum(axis=2)
        y = x[:, :, 0].prod(axis=1)
        # for two blocks the other one's form over its norm; the rate has the norm taken out
        step = (y[:, None] * forms[:, ::-1] / norms[:, ::-1] * rate)[:, :, None]
        w = w + step * x
        worst = max(worst, np.abs(w[:, :, 1:]).max())
    assert worst <= 1.5
    for run in w:
        assert polynet.error(run[:, 0], run[:, 1:]) <= epsilon


def test_disjoint_parities_are_counted_by_their_blocks():
    supports = 0
    for support in itertools.combinations(range(6), 3):  # T22: one relevant bit in each block
        try:
            DisjointParity(6, 3, support=support)
        except ValueError:
            continue
        supports += 1
    assert supports == (6 // 3) ** 3


def test_what_the_theorems_are_not_about_is_refused():
    with pytest.raises(ValueError, match="k divides n; 1 left over"):
        polynet.plateau(10, 3, 0.01)
    with pytest.raises(ValueError, match="k of 3 or more"):
        polynet.plateau(10, 2, 0.01)
    with pytest.raises(ValueError, match="gamma lies between"):
        polynet.plateau(30, 3, 0.5)
    with pytest.raises(ValueError, match="product of v0 is positive"):
        polynet.flow_time(np.array([1.0, -1.0, 2.0]), 1.0)
    with pytest.raises(ValueError, match="0 or more; got -1"):
        polynet.flow_time(np.ones(3), -1)
    with pytest.raises(ValueError, match="before the blow-up at 1;"):
        polynet.flow(np.ones(3), 1.5)
    with pytest.raises(ValueError, match="too long to enumerate"):
        polynet.error(np.ones(2), np.random.default_rng(0).standard_normal((2, 30)))
    with pytest.raises(ValueError, match="k divides n"):
        polynet.sgd_steps(10, 4, 0.1)


def test_a_start_may_be_any_sequence_of_numbers():
    exact = polynet.flow_time(np.array([1.0, 2.0, 1.0]), 3.0)
    assert polynet.flow_time([1, 2, 1], 3) == exact
    assert polynet.blow_up((1.0, 1.0, 1.0)) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="a finite relevant weight for each block"):
        polynet.flow_time([1.0, math.nan], 1.0)
