"""Networks of maximum margin in float64, with certificates; where the thesis prints others."""

import itertools

import numpy as np
import pytest
from tests.groups import LARGE, SMALL

from elegans.constructions.groups import max_margin, memorising, modular_addition, sparse_parity
from elegans.models.power_network import PowerNetwork, Powers
from elegans.models.two_embedding import Embeddings, TwoEmbedding
from elegans.tasks import Parity
from elegans.tasks.groups import Alternating, Cyclic, Dihedral, GroupOperation, Symmetric
from elegans.theory.groups import (
    certificate,
    cyclic_margin,
    example_margins,
    irreducibles,
    maximum_margin,
    norm_shares,
    normalised_margin,
    parity_margin,
    powers,
    real_character_table,
    weighted_margins,
)
from elegans.theory.groups.margins import network_norm

EVERY = {**SMALL, **LARGE}
CERTIFIED = [
    *(name for name in SMALL if SMALL[name].order >= 3),
    "3^{1+2}",
    "S3xS3",
    "D4xS3",
    "A5",
    "Q8xQ8",
]


@pytest.mark.parametrize("name", CERTIFIED)
def test_the_construction_reaches_the_bound_for_all_networks(name):
    group = EVERY[name]
    model, params = max_margin(group)
    proof = certificate(model, params, GroupOperation(group))
    assert network_norm(model, params) == pytest.approx(1, rel=1e-12)
    assert proof.margin == pytest.approx(maximum_margin(group).value, rel=1e-10)
    assert abs(proof.gap) < 1e-10 * proof.bound
    d = np.array([s.dimension for s in irreducibles(group)])
    assert model.width == 2 * np.sum(d[maximum_margin(group).shares > 0] ** 3)


@pytest.mark.parametrize("k, width", [(3, 18), (4, 126), (5, 1190)])
def test_symmetric_groups_have_the_widths_of_theorem_7_9(k, width):
    model, params = max_margin(Symmetric(k))
    assert model.width == width
    margin = normalised_margin(model, params, GroupOperation(Symmetric(k)))
    assert margin == pytest.approx(maximum_margin(Symmetric(k)).value, rel=1e-10)


def test_the_network_of_a5_has_width_236_and_uses_three_representations():
    group = Alternating(5)
    model, params = max_margin(group)
    assert model.width == 236
    power = powers(group, params.u)
    np.testing.assert_allclose(power.max(axis=0), power.sum(axis=0), rtol=1e-10)
    shares = [norm_shares(model, params)[power.argmax(axis=0) == i].sum() for i in range(5)]
    np.testing.assert_allclose(shares, maximum_margin(group).shares, atol=1e-12)
    # Only the class of (12)(34) is off the margin, so no pair is.
    each = example_margins(model, params, GroupOperation(group))
    np.testing.assert_allclose(each, maximum_margin(group).value, rtol=1e-10)


@pytest.mark.parametrize("name", ["S4", "A4", "Q8", "F21"])
def test_weighted_margins_are_above_margins_and_their_mean_below_the_bound(name):
    group = SMALL[name]
    task, solution = GroupOperation(group), maximum_margin(group)
    model, params = max_margin(group)
    each = weighted_margins(model, params, task, solution.tau)
    np.testing.assert_allclose(each, solution.value, rtol=1e-10)
    rng = np.random.default_rng(0)
    n = group.order
    params = Embeddings(*rng.standard_normal((2, n, 9)), rng.standard_normal((9, n)))
    each = weighted_margins(model, params, task, solution.tau)
    assert np.all(each >= example_margins(model, params, task) - 1e-15)
    assert each.mean() < solution.bound
    with pytest.raises(ValueError, match="or not trained; a certificate is for networks that are"):
        certificate(TwoEmbedding(9), params, task)


@pytest.mark.parametrize("p", [3, 5, 7, 9, 13, 23])
@pytest.mark.parametrize("neurons", [6, 8])
def test_addition_needs_eight_neurons_per_frequency_or_six(p, neurons):
    model, params = modular_addition(p, neurons)
    assert model.width == neurons * (p - 1) // 2
    assert network_norm(model, params) == pytest.approx(1, rel=1e-12)
    margins = example_margins(model, params, GroupOperation(Cyclic(p)))
    np.testing.assert_allclose(margins, cyclic_margin(p), rtol=1e-10)


def test_errata_the_network_of_d6_is_minus_two_at_wrong_labels():
    # At amplitude 1 eight neurons compute 4 cos and not cos, and wrong labels have -1/2 of the
    # printed unit and not 0.
    p = 7
    model, params = modular_addition(p)
    amplitude = np.abs(params.u).max()
    unit = Embeddings(*(part / amplitude for part in params))
    f = model.apply_population(unit).reshape(p, p, p)
    a, b, c = np.meshgrid(*[np.arange(p)] * 3, indexing="ij")
    waves = sum(np.cos(2 * np.pi * z * (a + b - c) / p) for z in range(1, (p + 1) // 2))
    np.testing.assert_allclose(f, 4 * waves, atol=1e-12)
    np.testing.assert_allclose(f, np.where((a + b - c) % p == 0, 2 * (p - 1), -2), atol=1e-12)


def test_phases_add_as_theorem_7_7_prints_them():
    for neurons in (6, 8):
        _, params = modular_addition(11, neurons)
        z = np.abs(np.fft.rfft(params.u, axis=0)).argmax(axis=0)
        transforms = [np.fft.rfft(part, axis=0) for part in (params.u, params.v, params.w.T)]
        phase = [np.angle(transform[z, np.arange(len(z))]) for transform in transforms]
        np.testing.assert_allclose(np.exp(1j * (phase[0] + phase[1] - phase[2])), 1, atol=1e-9)


@pytest.mark.parametrize("n, k", [(1, 1), (5, 1), (4, 2), (6, 3), (8, 4), (5, 5)])
def test_parities_reach_theorem_7_8(n, k):
    model, params = sparse_parity(n, k)
    assert model.width == 2 ** (k - 1)
    assert network_norm(model, params) == pytest.approx(1, rel=1e-12)
    margins = example_margins(model, params, Parity(n, k))
    np.testing.assert_allclose(margins, parity_margin(k), rtol=1e-10)
    relevant, norms = params.u[:k], np.linalg.norm(params.w, axis=1)
    np.testing.assert_allclose(np.abs(relevant), np.tile(norms, (k, 1)), rtol=1e-12)
    assert np.all(np.prod(relevant, axis=0) * (params.w @ [1, -1]) >= 0)


def test_parities_of_other_supports():
    model, params = sparse_parity(5, 2, support=(4, 1))
    margin = normalised_margin(model, params, Parity(5, 2, support=(4, 1)))
    assert margin == pytest.approx(parity_margin(2), rel=1e-10)


def signed(k, patterns):
    """A network of D.7 from any set of sign patterns, normalised."""
    sigma = np.array(patterns, dtype=float)
    w = np.outer(sigma.prod(axis=1), [1.0, -1.0]) / np.sqrt(2)
    return PowerNetwork(len(sigma), degree=k), Powers(sigma.T.copy(), w)


def test_errata_signs_of_product_one_do_not_make_an_even_parity():
    # D.7 takes one of each antipodal pair; for even k a product of one contains both or neither.
    margins = {}
    for k in (2, 3, 4):
        patterns = [s for s in itertools.product((1, -1), repeat=k) if np.prod(s) == 1]
        margins[k] = normalised_margin(*signed(k, patterns), Parity(k, k))
    assert margins[2] == pytest.approx(0, abs=1e-12)
    assert margins[3] == pytest.approx(parity_margin(3), rel=1e-10)
    assert margins[4] < 0


def test_errata_squares_carry_nothing_about_a_parity_of_four_bits():
    # D.2.2 says "quadratic" where Figure 7.5 and the theorem have the fourth power.
    rng = np.random.default_rng(0)
    x, y = (np.asarray(part, np.float64) for part in Parity(6, 4).population())
    u, w = rng.standard_normal((6, 30)), rng.standard_normal(30)
    assert np.mean(y * ((x @ u) ** 2 @ w)) == pytest.approx(0, abs=1e-12)
    assert abs(np.mean(y * ((x @ u) ** 4 @ w))) > 1e-3


@pytest.mark.parametrize("k, ratio", [(3, 0.869), (4, 0.941), (5, 0.953)])
def test_errata_the_scale_of_d16_is_for_neurons_that_are_not_of_unit_norm(k, ratio):
    # d^{1/3} on the printed neurons, of norm 1/sqrt(d), is d^{-1/6} on unit neurons.
    group = Symmetric(k)
    model, params = max_margin(group)
    representation = powers(group, params.u).argmax(axis=0)
    d = real_character_table(group).dimensions[representation]
    norms = np.linalg.norm(model.neurons(params), axis=1)
    np.testing.assert_allclose(norms / norms[0], (d / d[0]) ** (-1 / 6), rtol=1e-9)
    scale = d ** (1 / 3) / norms
    wrong = Embeddings(params.u * scale, params.v * scale, params.w * scale[:, None])
    margin = normalised_margin(model, wrong, GroupOperation(group))
    assert margin / maximum_margin(group).value == pytest.approx(ratio, abs=5e-4)


@pytest.mark.parametrize("group", [Cyclic(3), Cyclic(7), Symmetric(3), Dihedral(4)])
@pytest.mark.parametrize("balanced", [True, False])
def test_the_memorising_network_is_one_hot_with_two_neurons_per_pair(group, balanced):
    n = group.order
    model, params = memorising(group, balanced=balanced)
    assert model.width == 2 * n * n  # D.4 prints 2 p^2 for any n
    expected = np.eye(n)[group.table.reshape(-1)]
    np.testing.assert_allclose(model.apply_population(params), expected, atol=1e-12)


def test_memorising_has_a_small_part_of_the_maximum_margin():
    model, params = memorising(Cyclic(7))
    ratio = normalised_margin(model, params, GroupOperation(Cyclic(7))) / cyclic_margin(7)
    assert ratio == pytest.approx(np.sqrt(2) * 6 / 7**1.5, rel=1e-10)
    model, params = memorising(Cyclic(3))
    ratio = normalised_margin(model, params, GroupOperation(Cyclic(3))) / cyclic_margin(3)
    assert ratio == pytest.approx(0.544, abs=5e-4)
    # The formulas at p = 71, where the network itself has ten thousand neurons.
    p = 71
    neuron = (1 + 1 + 1 / 16) ** 1.5
    assert 1 / (2 * p**2 * neuron) / cyclic_margin(p) == pytest.approx(0.0726, abs=5e-5)
    assert np.sqrt(2) * (p - 1) / p**1.5 == pytest.approx(0.1655, abs=5e-5)


def test_single_precision_is_not_enough_for_a_certificate():
    group = Symmetric(4)
    model, params = max_margin(group)
    low = Embeddings(*(part.astype(np.float32) for part in params))
    best = maximum_margin(group).value
    task = GroupOperation(group)
    assert abs(normalised_margin(model, low, task) / best - 1) > 1e-10
    assert abs(normalised_margin(model, params, task) / best - 1) < 1e-13


def test_wider_networks_have_silent_neurons_and_narrower_ones_are_refused():
    model, params = max_margin(Symmetric(3), width=25)
    assert model.width == 25
    assert not params.u[:, 18:].any()
    margin = normalised_margin(model, params, GroupOperation(Symmetric(3)))
    assert margin == pytest.approx(maximum_margin(Symmetric(3)).value, rel=1e-10)
    with pytest.raises(ValueError, match="holds the neurons of the construction, so it is 18"):
        max_margin(Symmetric(3), width=17)
    with pytest.raises(ValueError, match="so it is 8 or more; got 5"):
        sparse_parity(6, 4, width=5)
    with pytest.raises(ValueError, match=r"p is odd here\. For any modulus"):
        modular_addition(6)
    with pytest.raises(ValueError, match="6 or 8 neurons; got 7"):
        modular_addition(5, neurons=7)


def test_certificates_for_another_task_or_another_model_are_refused():
    model, params = max_margin(Symmetric(3))
    with pytest.raises(ValueError, match="the network is one of another task"):
        certificate(model, params, GroupOperation(Cyclic(5)))
    relu = TwoEmbedding(model.width, activation="relu")
    with pytest.raises(ValueError, match="the bound is for quadratic networks"):
        certificate(relu, params, GroupOperation(Symmetric(3)))
    # The same number of elements and another group: shapes agree, and products do not.
    with pytest.raises(ValueError, match=r"wrong at \d+ of 36 pairs of Cyclic\(p=6\)"):
        certificate(model, params, GroupOperation(Cyclic(6)))
