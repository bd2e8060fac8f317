"""The exact optimum under a penalty, against closed forms, solvers and trained networks."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.groups import LARGE, SMALL

from elegans.tasks.groups import Alternating, Cyclic, Symmetric
from elegans.theory.groups import (
    cyclic_margin,
    maximum_margin,
    parity_margin,
    parity_optimum,
    powers,
    real_character_table,
    regularised_optimum,
)
from elegans.theory.groups.game import margin_unit, payoff

RATIOS = {  # of the spec sheet: (k, weight, power): margin / maximum margin
    (3, 1e-7, 3): 0.9805,
    (3, 1e-7, 2): 0.9835,
    (3, 1e-7, 1): 0.9861,
    (3, 1e-9, 3): 0.9853,
    (3, 1e-12, 3): 0.9893,
    (3, 1e-20, 3): 0.9938,
    (4, 1e-7, 3): 0.9464,
    (4, 1e-7, 2): 0.9575,
    (4, 1e-7, 1): 0.9656,
    (4, 1e-9, 3): 0.9605,
    (4, 1e-12, 3): 0.9716,
    (4, 1e-20, 3): 0.9838,
    (5, 1e-5, 3): 0.9319,
    (5, 1e-5, 2): 0.9545,
    (5, 1e-5, 1): 0.9660,
    (5, 1e-9, 3): 0.9667,
    (5, 1e-12, 3): 0.9767,
    (5, 1e-20, 3): 0.9870,
}


@pytest.mark.parametrize("k, weight, power", RATIOS)
def test_ratios_to_the_maximum_margin_of_the_sheet(k, weight, power):
    optimum = regularised_optimum(Symmetric(k), weight, power)
    ratio = optimum.margin / maximum_margin(Symmetric(k)).value
    assert ratio == pytest.approx(RATIOS[k, weight, power], abs=6e-5)


def test_the_largest_representation_of_s5_is_absent_at_the_weight_of_the_thesis():
    shares = regularised_optimum(Symmetric(5), weight=1e-5).shares
    np.testing.assert_allclose(shares, [0, 0.297, 0.186, 0, 0.186, 0.297, 0.035], atol=6e-4)
    assert shares[3] == 0
    assert regularised_optimum(Symmetric(5), weight=1e-7).shares[3] == 0
    assert regularised_optimum(Symmetric(5), weight=1e-9).shares[3] > 0
    limit = maximum_margin(Symmetric(5)).shares
    np.testing.assert_allclose(limit, [0, 0.121, 0.211, 0.333, 0.211, 0.121, 0.004], atol=6e-4)


def test_a5_at_weight_1e_4():
    optimum = regularised_optimum(Alternating(5), weight=1e-4)
    np.testing.assert_allclose(optimum.shares, [0, 0.409, 0.409, 0.183, 0], atol=6e-4)
    ratio = optimum.margin / maximum_margin(Alternating(5)).value
    assert ratio == pytest.approx(0.974, abs=5e-4)


@pytest.mark.parametrize("p, weight", [(3, 1e-3), (5, 1e-3), (23, 1e-4), (71, 1e-4)])
@pytest.mark.parametrize("power", [3, 2, 1])
def test_odd_cyclic_groups_are_at_the_maximum_margin_at_every_weight(p, weight, power):
    best = cyclic_margin(p)
    optimum = regularised_optimum(Cyclic(p), weight, power)
    assert optimum.margin == pytest.approx(best, rel=1e-10)
    np.testing.assert_allclose(optimum.shares[1:], 2 / (p - 1), rtol=1e-8)
    total = optimum.norm**3
    q = weight * power / 3 * total ** (power / 3 - 1) / best  # of the effective weight
    assert optimum.logit_margin == pytest.approx(math.log((p - 1) * (1 - q) / q), rel=1e-9)
    assert optimum.loss == pytest.approx(-math.log(1 - q), rel=1e-8)
    assert total == pytest.approx(optimum.logit_margin / best, rel=1e-10)


def test_the_numbers_of_the_sheet_for_addition_modulo_71():
    numbers = {
        3: (5.5334, 0.24426, 1.19918),
        2: (9.488, 0.00529, 0.0751),
        1: (13.744, 7.5e-5, 0.0031),
    }
    for power, (logit, loss, penalty) in numbers.items():
        optimum = regularised_optimum(Cyclic(71), 1e-4, power)
        assert optimum.logit_margin == pytest.approx(logit, rel=1e-4)
        assert optimum.loss == pytest.approx(loss, rel=3e-3)
        assert optimum.objective - optimum.loss == pytest.approx(penalty, rel=1e-3)
    assert regularised_optimum(Cyclic(71), 1e-4).norm ** 3 == pytest.approx(11991.8, abs=0.1)
    assert regularised_optimum(Symmetric(3), 1e-7).norm ** 3 == pytest.approx(590.38, abs=0.01)


GROUPS = {
    "Z6": SMALL["Z6"],
    "A4": SMALL["A4"],
    "SL(2,3)": SMALL["SL(2,3)"],
    "A5": LARGE["A5"],
    "D4xS3": LARGE["D4xS3"],
    "S8": Symmetric(8),
    "Z120": LARGE["Z120 from its table"],
}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("relative", [0.3, 1e-2, 1e-6, 1e-15])
def test_solutions_satisfy_the_conditions_of_optimality(name, relative):
    group = GROUPS[name]
    table = real_character_table(group)
    game, sizes, unit = payoff(table), table.sizes[1:], margin_unit(group)
    weight = relative * maximum_margin(group).value
    optimum = regularised_optimum(group, weight)
    total = optimum.norm**3 * optimum.shares[1:]
    margins = unit * total @ game
    wrong = sizes * np.exp(-margins) / (1 + np.sum(sizes * np.exp(-margins)))
    slack = 1 - unit * game @ wrong / weight  # of the penalty's gradient over the loss's
    assert slack.min() > -1e-8
    assert np.abs(slack[total > 0]).max() < 1e-8
    assert optimum.loss == pytest.approx(np.log1p(np.sum(sizes * np.exp(-margins))), rel=1e-10)
    assert optimum.margin == pytest.approx(margins.min() / total.sum(), rel=1e-10)
    assert optimum.margin <= maximum_margin(group).value * (1 + 1e-12)


def test_large_weights_leave_the_zero_network():
    for power in (3, 2, 1):
        optimum = regularised_optimum(Symmetric(3), 1.0, power)
        assert (optimum.margin, optimum.norm, optimum.shares.sum()) == (0, 0, 0)
        assert optimum.loss == optimum.objective == pytest.approx(math.log(6))
    edge = cyclic_margin(5) * 4 / 5
    assert regularised_optimum(Cyclic(5), edge * 0.999).norm > 0
    assert regularised_optimum(Cyclic(5), edge * 1.001).norm == 0


@pytest.mark.parametrize("power", [1, 2, 4])
def test_other_powers_are_no_worse_than_any_point_of_a_grid(power):
    group, weight = Symmetric(3), 5e-3
    optimum = regularised_optimum(group, weight, power)
    game, unit = payoff(real_character_table(group)), margin_unit(group)
    sizes = real_character_table(group).sizes[1:]
    total = np.append(0.0, np.geomspace(1e-2, 1e4, 2000))[:, None, None]
    share = np.linspace(0, 1, 201)[None, :, None]
    margins = unit * total * (share * game[0] + (1 - share) * game[1])
    values = np.log1p(np.sum(sizes * np.exp(-margins), axis=2)) + weight * total[..., 0] ** (
        power / 3
    )
    assert optimum.objective <= values.min() + 1e-12
    assert optimum.objective == pytest.approx(values.min(), rel=1e-3)


def trained(group, width, weight, power, *, seed):
    """Objective, norm cubed and shares of a network trained by L-BFGS in float64."""
    n, y = group.order, group.table.reshape(-1)
    rows = np.arange(n * n)

    def objective(flat):
        theta = flat.reshape(3, n, width)
        u, v, w = theta
        z = u[:, None] + v[None]
        hidden = (z * z).reshape(n * n, width)
        logits = hidden @ w.T
        logits -= logits.max(axis=1, keepdims=True)
        log_sum = np.log(np.exp(logits).sum(axis=1))
        error = np.exp(logits - log_sum[:, None])
        error[rows, y] -= 1
        error /= n * n
        inner = 2 * z * (error @ w).reshape(n, n, width)
        gradient = np.stack([inner.sum(axis=1), inner.sum(axis=0), error.T @ hidden])
        norms = np.sqrt(np.sum(theta**2, axis=(0, 1)))
        total = np.sum(norms**3)
        gradient += weight * power * total ** (power / 3 - 1) * norms * theta
        loss = np.mean(log_sum - logits[rows, y])
        return loss + weight * total ** (power / 3), gradient.reshape(-1)

    start = np.random.default_rng(seed).uniform(-1, 1, 3 * n * width)
    options = {"maxiter": 500, "maxfun": 700, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    result = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    theta = result.x.reshape(3, n, width)
    each = np.sum([powers(group, part) for part in theta], axis=0)
    norms = each.sum(axis=0) ** 1.5
    return result.fun, norms.sum(), (each / each.sum(axis=0)) @ norms / norms.sum()


TRAINED = [
    ("Z4", 16, 1e-3, 3),
    ("Z5", 24, 3e-3, 3),
    ("Z5", 24, 3e-3, 2),
    ("S3", 24, 1e-3, 3),
    ("S3", 24, 1e-3, 2),
    ("Q8", 60, 5e-4, 3),
    ("A4", 60, 2e-4, 3),
]


@pytest.mark.parametrize("name, width, weight, power", TRAINED)
def test_networks_trained_from_random_weights_end_at_the_optimum(name, width, weight, power):
    group = SMALL[name]
    optimum = regularised_optimum(group, weight, power)
    objective, total, shares = trained(group, width, weight, power, seed=0)
    assert objective >= optimum.objective * (1 - 1e-12)
    # The steps of L-BFGS become small long before its 500 are over, and not zero.
    assert objective == pytest.approx(optimum.objective, rel=1e-5)
    assert total == pytest.approx(optimum.norm**3, rel=1e-3)
    np.testing.assert_allclose(shares, optimum.shares, atol=1e-3)


def test_the_gap_to_the_maximum_closes_like_one_over_the_logarithm():
    best = maximum_margin(Symmetric(3)).value
    weights = np.array([1e-8, 1e-16, 1e-32, 1e-64])
    gaps = [1 - regularised_optimum(Symmetric(3), weight).margin / best for weight in weights]
    products = gaps * np.log(1 / weights)
    np.testing.assert_allclose(products[1:], products[-1], rtol=0.12)  # corrections fall as 1/log
    assert np.ptp(products[2:]) < np.ptp(products[:3])


def test_parities_are_at_the_maximum_margin():
    optimum = parity_optimum(4, weight=1e-3)
    assert optimum.logit_margin == pytest.approx(6.4071, abs=5e-5)
    assert optimum.norm**5 == pytest.approx(10.5527, abs=5e-5)
    assert optimum.margin == parity_margin(4)
    total = np.linspace(0, 40, 400_001)
    values = np.log1p(np.exp(-parity_margin(4) * total)) + 1e-3 * total
    assert optimum.objective == pytest.approx(values.min(), rel=1e-8)
    assert parity_optimum(2, weight=0.3).norm == 0


def test_weights_and_powers_are_positive():
    with pytest.raises(ValueError, match="weight is positive; got 0"):
        regularised_optimum(Cyclic(3), 0.0)
    with pytest.raises(ValueError, match="weight is positive, so it is finite and at least 0"):
        regularised_optimum(Cyclic(3), -1.0)
    with pytest.raises(ValueError, match="power is positive"):
        regularised_optimum(Cyclic(3), 0.1, power=-2)
