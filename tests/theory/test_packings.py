"""Capacity from below: shattering, selectors and packings, against networks and brute force."""

import itertools
import math

import numpy as np
import pytest

from elegans.constructions import selection_head
from elegans.theory import capacity


@pytest.mark.parametrize("T", [4, 8, 16, 32, 64, 128, 256, 7, 100])
def test_heads_on_a_circle_shatter_log_T_inputs(T):
    inputs, weights = capacity.shattering(T)
    p = int(math.log2(T))
    assert inputs.shape == (p, T, 3)
    values = capacity.circle_values(inputs, weights)
    assert values.shape == (T, p)
    bits = (np.arange(T)[:, None] >> np.arange(p) & 1).astype(bool)
    np.testing.assert_array_equal(values > 0.5, bits)
    assert len({tuple(row) for row in values > 0.5}) == 2**p
    np.testing.assert_allclose(values, bits, atol=1e-6)


def test_a_head_on_the_circle_attends_to_its_token_more_than_the_proof_needs():
    for T in (16, 256):
        inputs, weights = capacity.shattering(T)
        scores = inputs[0] @ weights.query_key[3]
        attention = np.exp(scores - scores.max())
        attention /= attention.sum()
        proved = 1 / (1 + math.sqrt(math.pi / 8))
        assert proved == pytest.approx(0.615, abs=1e-3)
        assert 1 - attention[3] == pytest.approx(2 * math.exp(-2 * math.pi**2), rel=0.3)
        assert 1 - attention[3] < 8e-9


def test_the_margin_needs_a_tenth_of_the_norm():
    for T in (8, 16, 32, 64, 128, 256):
        margins = [
            np.abs(capacity.circle_values(*capacity.shattering(T, R=c * T**2)) - 0.5).min()
            for c in (0.088, 0.097)
        ]
        assert margins[0] < 0.25 < margins[1]


def test_bounded_norms_stop_the_growth_with_the_context():
    """Saturation at 8 sqrt(R) - 1 heads, at this radius."""
    for R in (25, 100, 400):
        sizes = [capacity.circle_packing(T, R, 0.1) for T in (16, 1024, 2048, 4096)]
        assert sizes[0] == 16
        assert sizes[2] == sizes[3] == 8 * math.sqrt(R) - 1
    for T in (8, 100):
        values = capacity.circle_values(*capacity.shattering(T, R=50))
        assert capacity.circle_packing(T, 50, 0.1) == len(capacity.packing(values, 0.1))


def test_a_packing_is_separated_and_maximal():
    values = np.random.default_rng(0).standard_normal((60, 3))
    chosen = capacity.packing(values, 0.4)
    distances = np.abs(values[:, None] - values[None]).max(axis=2)
    among = distances[np.ix_(chosen, chosen)] + 9 * np.eye(len(chosen))
    assert among.min() > 0.8
    assert (
        distances[:, chosen].min(axis=1).max() <= 0.8
    )  # the chosen are a cover at twice the radius


@pytest.mark.parametrize("T, s, R", [(7, 3, 4.0), (6, 1, 1.0), (8, 2, 700.0)])
def test_selectors_are_the_heads_of_the_construction(T, s, R):
    x = 1 - 2 * (np.arange(2**T)[:, None] >> np.arange(T) & 1)
    supports = np.array(list(itertools.combinations(range(T), s)))
    values = capacity.selector_values(x, supports, R)
    for support, row in list(zip(supports, values, strict=True))[::7]:
        heads = selection_head(T, tuple(support.tolist()), rate=R)
        np.testing.assert_allclose(heads.model.evaluate(heads.params, x)[:, 0], row, atol=1e-13)
    distances = np.abs(values[:, None] - values[None]).max(axis=2) + 9 * np.eye(len(values))
    assert distances.min() == pytest.approx(capacity.selector_distance(T, s, R), rel=1e-10)
    eps = 0.499 * capacity.selector_distance(T, s, R)
    assert len(capacity.packing(values, eps)) == math.comb(T, s)
    assert capacity.selector_entropy(T, s) == pytest.approx(math.log(math.comb(T, s)))
    counts = (x[:, : supports[0].max() + 1] < 0)[:, supports[0]].sum(axis=1)
    error = np.abs(values[0] - (2 * counts - s) / s).max()
    assert error == pytest.approx(capacity.selection_error(T, s, R), rel=1e-9, abs=1e-15)
    flipped = x.copy()
    flipped[:, 0] *= -1
    effect = np.abs(values[0] - capacity.selector_values(flipped, supports[:1], R)[0])
    np.testing.assert_allclose(effect, capacity.flip_effect(T, s, R), rtol=1e-10)


def test_the_worked_errors_of_selection():
    assert capacity.selection_error(8, 3, math.log(96)) == pytest.approx(0.0374150, abs=5e-8)
    assert capacity.selection_error(8, 1, math.log(32)) == pytest.approx(0.375, rel=1e-12)
    assert capacity.bag_error(8, 3, math.log(8 * 8 * 9)) == pytest.approx(0.0411, abs=5e-5)


def test_bounded_weights_lose_a_bit_among_many():
    for T in (10**3, 10**6):
        assert capacity.flip_effect(T, 3, 2.0) == pytest.approx(2 * math.exp(2) / T, rel=0.02)
        sharp = math.log(4 * T * 3)
        assert capacity.flip_effect(T, 3, sharp) == pytest.approx(2 / 3, rel=0.03)


def test_packings_are_below_every_cover():
    """ln C(T, 2) <= measured packing <= all upper bounds, on the inputs that the packing used."""
    generator = np.random.default_rng(0)
    for T in (8, 16, 24):
        R = math.log(8 * T)
        x = np.where(generator.random((200, T)) < 0.5, -1, 1)
        supports = np.array(list(itertools.combinations(range(T), 2)))
        eps = 0.45 * capacity.selector_distance(T, 2, R)
        size = math.log(len(capacity.packing(capacity.selector_values(x, supports, R), eps)))
        heads = selection_head(T, (0, 1), rate=R)
        norms = capacity.norms(heads.model, heads.params)
        assert size == pytest.approx(capacity.selector_entropy(T, 2))
        for bound in (
            capacity.head_cover(norms, 200, T, eps),
            capacity.cls_cover(norms, 200, T, eps),
            capacity.volumetric_cover(norms, eps),
            capacity.volumetric_cover(norms, eps, cls=True),
        ):
            assert size <= bound


def test_the_correlation_of_selectors_with_signs_falls_as_the_root_of_the_samples():
    T, sizes = 30, (100, 400, 1600)
    supports = np.array(list(itertools.combinations(range(T), 2)))
    generator = np.random.default_rng(0)
    means = []
    for m in sizes:
        x = np.where(generator.random((m, T)) < 0.5, -1, 1)
        values = capacity.selector_values(x, supports, 6.0)
        draws = capacity.sign_correlations(values, draws=60)
        means.append(draws.mean())
        # Massart's lemma: the largest of N averages of m signed numbers in [-1, 1].
        assert means[-1] <= math.sqrt(2 * math.log(len(supports)) / m)
    exponent = np.polyfit(np.log(sizes), np.log(means), 1)[0]
    assert -0.6 < exponent < -0.4
