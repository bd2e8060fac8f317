"""Theorem 5.5: its prescription, what its proof has wrong, and the algorithm itself."""

import itertools
import math

import numpy as np
import pytest
from tests.brute_force import character, cube

from elegans.theory import resources
from elegans.theory.boolean import majority
from elegans.theory.resources.dense import least_bits


def one_step(n, k, width, batch, generator):
    """The network after the first step: weights are gradients, biases moved, second layer zero."""
    half = width // 2
    w = np.tile(generator.choice([-1.0, 1.0], (n, half)), (1, 2))
    b = np.tile(generator.choice(np.arange(1 - k, k) / k, half), 2)
    sign = generator.choice([-1.0, 1.0], half)
    u = np.concatenate([sign, -sign])
    x = generator.choice([-1.0, 1.0], (batch, n))
    signal = (x @ w + b > 0) * x[:, :k].prod(axis=1)[:, None] * u / batch
    rate = 1 / (k * abs(majority.coefficient(n, k - 1)))
    return rate * x.T @ signal, b + rate * signal.sum(axis=0)


@pytest.mark.parametrize("n, batch", [(15, 4000), (21, 4000), (51, 20_000)])
def test_the_algorithm_reaches_its_loss_far_below_the_prescription(n, batch):
    generator = np.random.default_rng(0)
    k, width, epsilon = 2, 64, 0.1
    w, b = one_step(n, k, width, batch, generator)
    largest = np.argsort(-np.abs(w), axis=0)[:k]
    assert (np.sort(largest, axis=0) == np.arange(k)[:, None]).all()
    outer = np.zeros(width)
    for x in generator.choice([-1.0, 1.0], (500, 64, n)):
        h, y = np.maximum(x @ w + b, 0), x[:, :k].prod(axis=1)
        outer += 0.5 * ((y * (h @ outer) < 1) * y) @ h / 64
    x = generator.choice([-1.0, 1.0], (8192, n))
    margin = x[:, :k].prod(axis=1) * (np.maximum(x @ w + b, 0) @ outer)
    assert np.maximum(0, 1 - margin).mean() <= epsilon
    assert (margin > 0).mean() > 0.99


def test_at_the_prescribed_tolerance_the_readout_keeps_its_margin():
    n, k, epsilon = 3001, 2, 0.1
    plan = resources.dense_sign(n, k, epsilon)
    generator = np.random.default_rng(0)
    relevant, irrelevant = (abs(majority.coefficient(n, k + j)) / 2 for j in (-1, 1))
    # Slopes +, - at bias 0 and + at 1/2 write 2 chi; all gradients are off by the tolerance.
    slope, bias, outer = np.array([1, -1, 1]), np.array([0.0, 0.0, 0.5]), np.array([12, 4, -4])
    error = plan.tolerance * generator.choice([-1.0, 1.0], (n, 3))
    gradient = irrelevant * generator.choice([-1.0, 1.0], (n, 3)) + error
    gradient[:k] = relevant * slope + error[:k]
    w = plan.learning_rate * gradient
    b = bias + plan.learning_rate * plan.tolerance
    x = generator.choice([-1.0, 1.0], (4000, n))
    assert (x[:, :k].prod(axis=1) * (np.maximum(x @ w + b, 0) @ outer) >= 1).all()
    assert np.linalg.norm(outer) < plan.readout_norm


def test_the_prescription_follows_its_formulas():
    n, k, epsilon = 3001, 2, 0.1
    plan = resources.dense_sign(n, k, epsilon)
    xi = abs(majority.coefficient(n, k - 1))
    log = math.log(2 * (k + 1) * 64 * k**2 * n / epsilon)
    drift = (abs(majority.coefficient(n, k + 1)) + 2 * plan.tolerance) / (2 * k * xi)
    deviation = (k + 1) * plan.tolerance / (k * xi) + drift * math.sqrt(2 * n * log)
    assert deviation == pytest.approx(1 / (8 * k**2), rel=1e-9)
    assert plan.learning_rate == pytest.approx(1 / (k * xi))
    wide = resources.dense_sign(n, k, epsilon, delta=1e-6)
    assert wide.width > plan.width
    assert plan.steps - 1 == pytest.approx(2**12 * k**3 * plan.width * n**2 / epsilon**2)
    least = least_bits(k, epsilon)
    assert least == 2225
    assert resources.dense_sign(least, k, epsilon).tolerance > 0
    with pytest.raises(ValueError, match="needs n of 2225 or more"):
        resources.dense_sign(least - 2, k, epsilon)


def test_what_the_theorem_is_not_about_is_refused():
    with pytest.raises(ValueError, match="even k and odd n"):
        resources.dense_sign(3001, 3, 0.1)
    with pytest.raises(ValueError, match="even k and odd n"):
        resources.dense_sign(3000, 2, 0.1)
    with pytest.raises(ValueError, match=r"least_bits\(k=3, epsilon=0.1\): .* even k"):
        resources.least_bits(3, 0.1)


def test_errata_the_chance_of_a_good_pair():
    # T16: the signs agree on S, and the bias is one of 2k - 1.
    for k in (2, 4):
        grid = np.arange(1 - k, k)
        cases = itertools.product(itertools.product([-1, 1], repeat=k), grid)
        share = np.mean([len(set(w)) == 1 and b == 1 for w, b in cases])
        assert resources.good_pair_probability(k) == pytest.approx(share)
        assert share != pytest.approx(1 / (k * 2 ** (k - 1)))


def test_errata_the_second_layer_moves_in_the_first_step():
    # T16: for even k its gradient is not zero, so that it needs a rate of zero and a decay of one.
    n, x = 7, cube(7)
    w = np.random.default_rng(0).choice([-1.0, 1.0], n)
    for k, moves in ((2, True), (4, True)):
        gradient = (character(x, range(k)) * np.maximum(x @ w + 0.25, 0)).mean()
        assert (abs(gradient) > 1e-3) == moves


def test_errata_hoeffding_with_half_of_the_range():
    # T14: n terms of size D have ranges 2 D; the printed threshold is passed far too often.
    n, failure = 100, 1e-3
    printed = math.sqrt(n * math.log(2 / failure) / 2)
    repaired = math.sqrt(2 * n * math.log(2 / failure))
    chance = {
        t: 2 * sum(math.comb(n, j) for j in range(n + 1) if 2 * j - n >= t) / 2**n
        for t in (printed, repaired)
    }
    assert chance[printed] > 50 * failure
    assert chance[repaired] <= failure


def test_errata_the_powers_of_two_of_theorem_5_5():
    # T15: 2 / tau**2 has the square of the coefficient, and (16 * 4)**2 is 2**12.
    n, k, epsilon = 10_001, 2, 0.1
    xi, log = abs(majority.coefficient(n, k - 1)), math.log(128 * k**3 * n / epsilon)
    tau = xi / (16 * k * math.sqrt(2 * n * log))
    assert 2 / tau**2 == pytest.approx(2**10 * k**2 * n * log / xi**2)
    assert 2 / tau**2 > 100 * 2**8 * k**2 * n * log / xi
    r, steps = 64, 2**9 * k**3 * 64 * n**2 / epsilon**2
    assert 16 * k**1.5 * math.sqrt(r) * n / math.sqrt(steps) > epsilon / 4
    assert 16 * k**1.5 * math.sqrt(r) * n / math.sqrt(8 * steps) == pytest.approx(epsilon / 4)
