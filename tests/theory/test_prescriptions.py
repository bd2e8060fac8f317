"""What the upper bounds prescribe, against counting and the quantities of their proofs."""

import itertools
import math

import numpy as np
import pytest

from elegans.theory.boolean import gradients, majority
from elegans.theory.resources.prescriptions import (
    good_probability,
    least_sparsity,
    over_sparse,
    over_sparse_formulas,
    readout,
    steps_over_log,
    truncated_samples,
    truncation,
    under_sparse,
)


@pytest.mark.parametrize("n, k, s", [(8, 2, 5), (8, 4, 4), (8, 4, 2), (9, 3, 9), (9, 1, 1)])
def test_the_chance_of_a_good_neuron_is_its_count(n, k, s):
    support = set(range(k))
    sets = [set(chosen) for chosen in itertools.combinations(range(n), s)]
    good = [support <= chosen if s >= k else chosen <= support for chosen in sets]
    assert good_probability(n, k, s) == pytest.approx(np.mean(good), rel=1e-12)


def test_lemma_7_holds_once_s_is_twice_k():
    for k in range(1, 6):
        for s in range(2 * k, 30):
            assert good_probability(40, k, s) >= (s / 80) ** k


@pytest.mark.parametrize("offset", [0.5, 1 / 16])
@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_the_readout_writes_the_parity(k, offset):
    nu = readout(k, offset)
    grid = (-k + 2 * np.arange(k // 2) + offset) / (2 * k)
    for true in range(k + 1):
        total = k - 2 * true
        up = np.maximum(total / (2 * k) + grid, 0)
        down = np.maximum(-total / (2 * k) + grid, 0)
        value = nu @ np.concatenate([[1.0], up, down])
        assert value == pytest.approx((-1.0) ** true, abs=1e-6)  # nu reaches 1e5 at k = 8


@pytest.mark.parametrize("k", [4, 6, 8])
def test_errata_the_printed_grid_cannot_write_the_parity(k):
    sums = np.arange(-k, k + 1, 2)
    grid = (-k + 2 * np.arange(1, k // 2) + 1 / 16) / (2 * k)
    up = np.maximum(sums[:, None] / (2 * k) + grid, 0)
    features = np.hstack([np.ones((k + 1, 1)), up, up[::-1]])
    parity = (-1.0) ** ((k - sums) // 2)
    assert features.shape[1] == k - 1  # the proof says k, against k + 1 values of the sum
    best = features @ np.linalg.lstsq(features, parity, rcond=None)[0]
    assert np.abs(best - parity).max() > 0.1


def test_over_sparse_scales_as_the_theorem():
    low, high = over_sparse(10**12, 2, 0.4), over_sparse(2 * 10**12, 2, 0.4)
    assert low.s == high.s  # independent of n
    assert high.width / low.width == pytest.approx(4, rel=1e-3)  # (n/s)**k
    assert high.samples / low.samples == pytest.approx(4, rel=0.1)  # n**2 log n
    assert over_sparse(10**12, 2, 0.2).s == pytest.approx(4 * low.s, rel=1e-3)  # 1/epsilon**2
    assert low.learning_rate * abs(majority.relevant_gradient(low.s, 2)) == pytest.approx(1 / 4)


def test_an_offset_of_one_half_makes_the_readout_small_and_keeps_bad_neurons_silent():
    norms = {o: [np.linalg.norm(readout(k, o)) for k in (2, 4, 6)] for o in (0.5, 1 / 16)}
    np.testing.assert_allclose(norms[0.5], [22.6, 231, 1205], rtol=1e-2)
    np.testing.assert_allclose(norms[1 / 16], [181, 11_953, 556_923], rtol=1e-2)
    for k in (2, 4, 6):
        n, s = 15, 13
        plan = 1 / (2 * k * abs(majority.relevant_gradient(s, k)))
        error = 1 / (16 * plan * k * n)  # the tolerance of lemma 11
        w = np.ones(n)
        w[[0, n - 1]] = 0.0  # a bad neuron: it does not read bit 0, which is relevant
        gradient = plan * np.abs(gradients.closed_form(w, tuple(range(k))))
        highest = (-k + 2 * (k // 2 - 1) + 0.5) / (2 * k)
        assert gradient.sum() + n * plan * error + highest < 0
    printed, ours = (over_sparse(10**15, 4, 0.4, offset=o).s for o in (1 / 16, 0.5))
    assert printed / ours == pytest.approx(2680, rel=0.01)


def test_errata_theorem_16_lacks_the_loss_in_its_samples():
    """The tolerance of the first gradient is proportional to epsilon, so the samples to 1/eps^2."""
    s = over_sparse(10**12, 2, 0.1).s
    coarse, fine = (over_sparse(10**12, 2, epsilon, s=s) for epsilon in (0.2, 0.1))
    assert fine.samples / coarse.samples == pytest.approx(4, rel=1e-6)
    # and to another logarithm of 1/delta, through the number of good neurons
    sure = over_sparse(10**12, 2, 0.2, delta=1e-8, s=s)
    assert sure.samples / coarse.samples > (math.log(8e8) / math.log(800)) ** 2


@pytest.mark.parametrize("k", [2, 4, 6])
def test_errata_the_grid_of_theorem_21_writes_the_parity_exactly(k):
    """Not up to one half minus epsilon: its kinks are at all odd sums, one between any two."""
    sums = np.arange(-k, k + 1, 2)
    grid = np.arange(1 - k, k, 2) / (2 * k)
    features = np.hstack([np.ones((k + 1, 1)), np.maximum(sums[:, None] / (2 * k) + grid, 0)])
    assert np.linalg.matrix_rank(features) == k + 1
    parity = (-1.0) ** ((k - sums) // 2)
    np.testing.assert_allclose(features @ np.linalg.solve(features, parity), parity, atol=1e-10)


def test_errata_lemma_14_lacks_the_square_of_the_norm_in_its_steps():
    plan = over_sparse(10**12, 2, 0.4)
    epsilon, B = 0.4 / 11, plan.readout_norm
    F = math.sqrt(8 * 2 * 8 * math.log(2 / 0.0025))

    def left(steps):  # by descent, relative to the epsilon that it may be
        return 100 * B**2 * (F + epsilon / B) ** 2 * (1 + math.log(steps)) / (epsilon**2 * steps)

    printed = steps_over_log(100 / epsilon**2 * (F + 1 / B) ** 2)
    assert left(printed) > 0.5 * B**2
    assert 0.4 < left(plan.steps) <= 1


def test_errata_lemma_14_ends_at_eleven_epsilon_and_not_at_seven():
    h = np.linspace(-3, 3, 601)
    hinge = np.maximum(0, 1 - h)
    assert (hinge <= 1 + np.abs(h)).all()
    assert (hinge > np.abs(h)).sum() == np.sum(h < 0.5)  # claim 1 as printed
    # In units of epsilon: the readout with its decay ends at 1 + 1 + 1/2 (decay epsilon / B^2), and
    # sampling adds 1/2, descent 1: 4. So ||w_T||^2 <= 8 B^2. Fresh examples add 1, and features
    # that are off by epsilon / B, twice, 2 ||w_T|| / B.
    B, epsilon = 22.6, 0.1
    decay = epsilon / B**2
    longest = math.sqrt(2 * 4 * epsilon / decay)  # decay / 2 ||w_T||^2 is at most the loss
    assert longest == pytest.approx(math.sqrt(8) * B)
    total = 4 * epsilon + epsilon + 2 * longest * epsilon / B
    assert 7 * epsilon < 10 * epsilon < total < 11 * epsilon


def test_over_sparse_says_what_it_needs():
    with pytest.raises(ValueError, match=r"the proof needs s, and so n, of 20,746,699 or more"):
        over_sparse(50, 2, 0.4)
    with pytest.raises(ValueError, match=r"s is odd and lies between 20,746,699 and n = 1,0"):
        over_sparse(10**12, 2, 0.4, s=21_000_000)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"k": 3}, "the theorem is for even k"),
        ({"epsilon": 0.0}, "epsilon is a loss"),
        ({"delta": 2.0}, "delta is a probability"),
        ({"offset": 1.0}, "offset keeps bad neurons silent"),
    ],
)
def test_what_theorem_16_does_not_speak_of_is_refused(options, message):
    fields = {"n": 51, "k": 2, "s": 9, "epsilon": 0.1} | options
    with pytest.raises(ValueError, match=message):
        over_sparse_formulas(**fields)
    fields.pop("s")
    with pytest.raises(ValueError, match=message):
        over_sparse(**fields)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"k": 3}, "s counts the ones of a neuron, fewer than k"),
        ({"k": 5}, r"under_sparse\(n=21, k=5, s=2, delta=0.01\): the lemmas are for even k and s"),
        ({"s": 3, "k": 6}, "the lemmas are for even k and s"),
        ({"s": 4}, r"s counts the ones of a neuron, fewer than k, so it is in 2\.\.2; got 4"),
        ({"s": 0}, r"in 2\.\.2; got 0"),
        ({"k": 21}, r"k counts relevant bits, so it is in 2\.\.20; got 21"),
        ({"delta": 0.6}, "delta is a probability"),
    ],
)
def test_what_theorem_21_does_not_speak_of_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        under_sparse(**({"n": 21, "k": 4, "s": 2} | options))


def test_the_formulas_of_theorem_16_are_those_of_the_prescription_where_it_holds():
    plan = over_sparse(10**12, 2, 0.4)
    assert plan.s == least_sparsity(2, 0.4)
    assert over_sparse_formulas(10**12, 2, plan.s, 0.4) == plan
    with pytest.raises(ValueError, match="the lemmas are for odd s"):
        over_sparse_formulas(50, 2, 10, 0.1)
    with pytest.raises(ValueError, match="s counts the ones of a neuron, above k"):
        over_sparse_formulas(50, 2, 2, 0.1)


def test_with_the_samples_of_footnote_4_truncation_leaves_the_support():
    n, k, s = 21, 2, 9
    w = np.zeros(n)
    w[:s] = 1.0  # a good neuron
    samples = truncated_samples(n, k, s, width=100)
    for seed in range(5):
        step = np.abs(gradients.sampled(w, (0, 1), samples, seed=seed).gradient)
        assert set(np.flatnonzero(step > truncation(s, k))) == {0, 1}
    few = np.abs(gradients.sampled(w, (0, 1), samples // 50, seed=0).gradient)
    assert set(np.flatnonzero(few > truncation(s, k))) != {0, 1}
    # only a logarithm of n, where the theorem has n**2
    assert truncated_samples(10 * n, k, s, 100) < 1.3 * samples


def test_the_chance_of_lemma_15_is_far_above_its_bound():
    """So that its r' is far below the number of good neurons, which it also bounds above."""
    n, k, s = 1000, 4, 101
    assert good_probability(n, k, s) > 2 ** (k - 1) * (s / (2 * n)) ** k


def test_errata_the_gradients_of_theorem_21_have_the_ratio_n_minus_k():
    for n, k, s in [(21, 6, 2), (25, 8, 4), (33, 6, 4)]:
        if (n - s) % 2:
            ratio = majority.coefficient(n - s, k - s - 1) / majority.coefficient(n - s, k - s + 1)
            assert abs(ratio) == pytest.approx((n - k) / (k - s - 1))
            assert abs(ratio) != pytest.approx((n - s) / (k - s - 1), rel=1e-3)


def test_under_sparse_trades_width_for_samples():
    narrow, wide = under_sparse(401, 6, 2), under_sparse(401, 6, 4)
    assert wide.width > 1000 * narrow.width
    assert narrow.samples > 1000 * wide.samples
    doubled = under_sparse(801, 6, 2)
    assert math.log2(doubled.samples / narrow.samples) == pytest.approx(3, abs=0.15)  # k - s - 1


def test_the_samples_of_theorem_21_tell_relevant_bits_from_others_in_one_step():
    n, k, s = 13, 4, 2
    prescription = under_sparse(n, k, s, delta=0.01)
    w = np.full(n, 0.5 / (n - s))
    w[:s] = 1.0  # a good neuron
    exact = np.abs(gradients.enumerated(w, tuple(range(k))))
    threshold = exact[s] - prescription.tolerance
    for seed in range(5):
        drawn = gradients.sampled(w, tuple(range(k)), prescription.samples, seed=seed)
        step = np.abs(drawn.gradient)
        assert set(np.flatnonzero(step > threshold)) == set(range(s, k))
    assert prescription.learning_rate * exact[s] == pytest.approx(1 / (2 * k))


def test_steps_solve_their_inequality():
    for ratio in [1.0, 10.0, 1e4, 1e9]:
        steps = steps_over_log(ratio)
        assert steps / math.log(steps) >= ratio
        assert steps == 3 or (steps - 1) / math.log(steps - 1) < ratio * (1 + 1e-9)
