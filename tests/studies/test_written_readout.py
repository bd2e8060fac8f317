"""The readout of theorem 16 on Gaussian errors: its ingredients against brute force."""

import math

import numpy as np
import pytest
from tests.brute_force import cube

from elegans.studies.pareto import written_readout as readout
from elegans.theory.boolean import majority


@pytest.mark.parametrize("s, shared", [(5, 5), (5, 3), (5, 0), (3, 1)])
def test_the_agreement_of_two_majorities_is_that_over_all_inputs(s, shared):
    x = cube(2 * s - shared)
    first, second = (
        np.sign(x[:, part].sum(axis=1)) for part in (slice(0, s), slice(s - shared, None))
    )
    assert readout.agreement(s, shared) == pytest.approx(np.mean(first * second))


def test_errors_of_neurons_have_the_covariance_of_sampled_gradients():
    n, s, samples = 9, 5, 200
    generator = np.random.default_rng(0)
    w = np.zeros((n, 2))
    w[:s, 0] = 1.0
    w[[0, 1, 2, 7, 8], 1] = 1.0
    draws = []
    for _ in range(4000):
        x = 2.0 * generator.integers(0, 2, (samples, n)) - 1
        y = x[:, :2].prod(axis=1)
        draws.append(
            (x[:, 6:7] * y[:, None] * (x @ w > 0)).mean(axis=0)
        )  # bit 6: not read by either
    measured = np.cov(np.array(draws).T) * samples
    np.testing.assert_allclose(np.diag(measured), 0.5, rtol=0.1)
    assert measured[0, 1] == pytest.approx((1 + readout.agreement(s, 3)) / 4, rel=0.1)


def test_without_errors_and_decay_the_written_readout_writes_the_parity():
    neurons = readout.drawn(41, 35, 3, seed=0)
    neurons = neurons._replace(mean=np.where(np.arange(41)[:, None] < 2, neurons.relevant, 0.0))
    assert readout.written_loss(neurons, 1e12, 0.0) < 0.02
    assert majority.relevant_gradient(35, 2) == neurons.relevant


def test_more_examples_leave_less_loss_and_decay_leaves_more():
    neurons = readout.drawn(31, 9, 5, seed=1)
    losses = [readout.written_loss(neurons, m, 0.0) for m in (1e3, 1e4, 1e5)]
    assert losses == sorted(losses, reverse=True)
    assert readout.written_loss(neurons, 1e4, 1e-2) > losses[1] + 0.05
    assert readout.written_samples(31, 9, 5, epsilon=1e-4, decay=0.1, draws=2) == math.inf
    with pytest.raises(ValueError, match="pairs counts good neurons"):
        readout.written_samples(31, 9, 0, epsilon=0.1, decay=0.0)


def test_decay_raises_the_exponent_and_without_it_many_bits_bring_it_to_one():
    def exponent(n, decay):
        needed = [
            readout.written_samples(n, s, 7, epsilon=0.1, decay=decay, draws=24) for s in (9, 35)
        ]
        return math.log(needed[1] / needed[0]) / math.log(35 / 9)

    few, many = exponent(51, 1e-3), exponent(201, 0.0)
    assert few > 1.3
    assert 0.7 < many < 1.3
    assert few > many + 0.2
