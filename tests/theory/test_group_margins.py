"""Maximum margins: published numbers, brute force over neurons, games and subsets."""

import itertools
import time

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.groups import LARGE, SMALL

from elegans.tasks import Parity
from elegans.tasks.groups import Alternating, Cyclic, GroupOperation, Symmetric
from elegans.theory.groups import (
    class_condition,
    closed_form_margin,
    cyclic_margin,
    game,
    maximum_margin,
    normalised_margin,
    parity_margin,
    real_character_table,
    real_group_margin,
    single_neuron_bound,
)
from elegans.theory.groups.game import element_weights, margin_unit, payoff

EVERY = {**SMALL, **LARGE}

NUMBERS = {  # every digit that the spec sheet of this chapter has
    "Z3": "0.0785674201",
    "Z5": "0.0304290310",
    "Z7": "0.0171448167",
    "Z13": "6.29043e-3",
    "Z23": "2.579565e-3",
    "Z71": "4.614301e-4",
    "Z4": "0.050268709",
    "Z6": "0.023604969",
    "Z8": "0.014346729",
    "S3": "0.0236049693",
    "S4": "2.07664800e-3",
    "S5": "1.32597749e-4",
    "A5": "4.31570899e-4",
    "A4": "6.0331112e-3",
    "D4": "0.015719655",
    "Q8": "0.01237116",
    "Dic3": "6.3545509e-3",
    "D5": "9.8846033e-3",
    "D6": "7.7625663e-3",
    "D7": "5.7243004e-3",
    "V4": "0.06415003",
    "Z2^3": "0.019440395",
    "SL(2,3)": "1.8522676e-3",
    "F20": "2.402179e-3",
    "F21": "1.790142e-3",
    "S3xS3": "1.1131859e-3",
}
UNLISTED = {"S6": (6, 7.26630339e-6), "S7": (7, 2.68898240e-7), "S8": (8, 1.07280e-8)}


def digits(text):
    """Half a unit of the last digit of a number as it is written."""
    mantissa, _, exponent = text.partition("e")
    return 0.51 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


@pytest.mark.parametrize("name", NUMBERS)
def test_maximum_margins_of_the_sheet(name):
    text = NUMBERS[name]
    assert maximum_margin(EVERY[name]).value == pytest.approx(float(text), abs=digits(text))


@pytest.mark.parametrize("name", UNLISTED)
def test_maximum_margins_of_symmetric_groups_without_tables(name):
    k, expected = UNLISTED[name]
    game._maximum_margin.cache_clear()
    started = time.perf_counter()
    solution = maximum_margin(Symmetric(k))
    assert time.perf_counter() - started < 2
    assert solution.value == pytest.approx(expected, rel=1e-5 if k == 8 else 2e-9)
    assert solution.bound == pytest.approx(solution.value, rel=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_shares_and_weights_are_distributions_that_meet_in_one_value(name):
    group = EVERY[name]
    solution, table = maximum_margin(group), real_character_table(group)
    assert solution.bound == pytest.approx(solution.value, rel=1e-12)
    assert solution.shares.min() == solution.shares[0] == 0
    assert solution.shares.sum() == pytest.approx(1, rel=1e-12)
    assert solution.tau.min() == solution.tau[0] == 0
    assert solution.tau @ table.sizes == pytest.approx(1, rel=1e-12)
    assert single_neuron_bound(group, solution.tau) == pytest.approx(solution.bound, rel=1e-12)
    everything = [*solution.required, *solution.optional, *solution.never]
    assert sorted(everything) == list(range(len(table.labels)))
    assert 0 in solution.never


def trilinear(group, tau):
    """E_{a,b} u[a] v[b] (w[ab] - sum over g of tau(g) w[g^-1 ab]) as a tensor in (a, b, c)."""
    n = group.order
    tensor = np.zeros((n, n, n))
    a, b = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    tensor[a, b, group.table] = 1
    for g in range(n):
        tensor[a, b, group.table[group.inverses[g], group.table]] -= tau[g]
    return tensor / n**2


def alternating_maximum(tensor, seed, restarts=16, sweeps=400):
    """The largest value of 2 T(u, v, w) on unit neurons that alternating maximisation reaches."""
    n = len(tensor)
    rng = np.random.default_rng(seed)
    v, w = rng.standard_normal((2, n, restarts))
    flat = tensor.reshape(n, n * n)
    by_b = tensor.transpose(1, 0, 2).reshape(n, n * n)
    by_c = tensor.transpose(2, 0, 1).reshape(n, n * n)
    for _ in range(sweeps):
        u = flat @ (v[:, None] * w[None]).reshape(n * n, -1)
        u /= np.linalg.norm(u, axis=0)
        v = by_b @ (u[:, None] * w[None]).reshape(n * n, -1)
        v /= np.linalg.norm(v, axis=0)
        w = by_c @ (u[:, None] * v[None]).reshape(n * n, -1)
        value = np.linalg.norm(w, axis=0)
        w /= value
    return 2 * value.max() / 27**0.5  # each of u, v, w has a third of the squared norm


BRUTE = ["Z4", "Z5", "Z6", "S3", "S4", "D4", "Q8", "A4", "Dic3", "SL(2,3)", "F20", "F21"]


@pytest.mark.parametrize("name", BRUTE)
def test_no_neuron_exceeds_the_bound_and_the_best_ones_reach_it(name):
    group = SMALL[name]
    tau = maximum_margin(group).tau
    tensor = trilinear(group, element_weights(group, tau))
    best = alternating_maximum(tensor, seed=0)
    bound = single_neuron_bound(group, tau)
    assert best <= bound * (1 + 1e-12)
    assert best == pytest.approx(bound, rel=1e-6)  # power iterations converge linearly


@pytest.mark.parametrize("name", ["A4", "Q8", "F20"])
def test_the_bound_holds_for_other_weights_than_the_best(name):
    group = SMALL[name]
    sizes = real_character_table(group).sizes
    rng = np.random.default_rng(0)
    for seed in range(3):
        tau = np.append(0.0, rng.dirichlet(np.ones(len(sizes) - 1)) / sizes[1:])
        best = alternating_maximum(trilinear(group, element_weights(group, tau)), seed=seed)
        bound = single_neuron_bound(group, tau)
        assert bound >= maximum_margin(group).value * (1 - 1e-12)
        assert best == pytest.approx(bound, rel=1e-5)


def test_the_mean_weighted_margin_of_a_neuron_is_twice_its_trilinear_form():
    # The squares of (u[a] + v[b])^2 average to nothing; D.11 and D.13 lack the factor 2.
    group = SMALL["F21"]
    tau = element_weights(group, maximum_margin(group).tau)
    n = group.order
    u, v, w = np.random.default_rng(0).standard_normal((3, n))
    total = 0.0
    for a, b in itertools.product(range(n), repeat=2):
        label = group.table[a, b]
        wrong = sum(tau[group.table[label, group.inverses[c]]] * w[c] for c in range(n))
        total += (u[a] + v[b]) ** 2 * (w[label] - wrong) / n**2
    assert total == pytest.approx(2 * np.einsum("abc,a,b,c", trilinear(group, tau), u, v, w))


@pytest.mark.parametrize("p", [3, 5, 9, 15, 71])
def test_theorem_7_7_holds_for_every_odd_modulus(p):
    solution = maximum_margin(Cyclic(p))
    assert cyclic_margin(p) == pytest.approx(solution.value, rel=1e-12)
    np.testing.assert_allclose(solution.shares[1:], 2 / (p - 1), rtol=1e-10)
    np.testing.assert_allclose(solution.tau[1:], 1 / (p - 1), rtol=1e-10)
    assert solution.required == tuple(range(1, (p + 1) // 2))


def test_theorem_7_8_has_the_numbers_of_the_sheet():
    numbers = [0.7071067812, 0.5443310540, 0.5303300859, 0.6071573108, 0.7856742013]
    np.testing.assert_allclose([parity_margin(k) for k in range(1, 6)], numbers, rtol=2e-10)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_theorem_7_9_holds_up_to_s5(k):
    group = Symmetric(k)
    assert real_group_margin(group) == pytest.approx(maximum_margin(group).value, rel=1e-12)
    largest = [-1, -1, -1, -0.303][k - 2]
    assert class_condition(group)[1:].max() == pytest.approx(largest, abs=5e-4)
    d = real_character_table(group).dimensions
    shares = np.append(0.0, d[1:] ** 2.5 / np.sum(d[1:] ** 2.5))
    np.testing.assert_allclose(maximum_margin(group).shares, shares, rtol=1e-9)


@pytest.mark.parametrize("name", ["Z6", "Z7", "Q8", "S4", "Z2^3", "Dic3", "F21", "A4", "SL(2,3)"])
def test_the_closed_form_for_all_types_is_the_value_of_the_game(name):
    group = SMALL[name]
    assert closed_form_margin(group) == pytest.approx(maximum_margin(group).value, rel=1e-12)
    table = real_character_table(group)
    weights = table.dimensions[1:] ** 2.5 / table.commutants[1:]
    np.testing.assert_allclose(maximum_margin(group).shares[1:], weights / weights.sum(), rtol=1e-9)


def test_the_condition_of_theorem_7_9_fails_where_the_sheet_says_so():
    assert class_condition(Alternating(5))[1:].max() == pytest.approx(0.788, abs=5e-4)
    assert class_condition(LARGE["D4xS3"])[1:].max() == pytest.approx(0.373, abs=5e-4)
    table, sums = real_character_table(Symmetric(6)), class_condition(Symmetric(6))
    broken = {table.classes[i] for i in np.flatnonzero(sums > 0) if i}
    assert broken == {"(4, 2)", "(5, 1)"}
    for k in (7, 8):
        assert class_condition(Symmetric(k))[1:].max() > 0


def test_closed_forms_refuse_what_they_are_not_for():
    with pytest.raises(ValueError, match=r"Theorem 7\.7 is for odd p; got 8"):
        cyclic_margin(8)
    with pytest.raises(ValueError, match="representations are all real; frequency 1 is complex"):
        real_group_margin(Cyclic(5))
    with pytest.raises(ValueError, match=r"it is 0\.788\d* on that of 0 2 1 4 3|it is 0\.788"):
        real_group_margin(Alternating(5))
    with pytest.raises(ValueError, match=r"on that of \(5, 1\)|on that of \(4, 2\)"):
        closed_form_margin(Symmetric(6))
    with pytest.raises(ValueError, match="k counts the relevant bits"):
        parity_margin(0)


def test_a5_leaves_out_its_largest_representation_and_a_class():
    group = Alternating(5)
    solution, table = maximum_margin(group), real_character_table(group)
    np.testing.assert_allclose(solution.shares, [0, 0.36104, 0.36104, 0.27793, 0], atol=5e-6)
    assert [table.labels[i] for i in solution.required] == ["3a", "3b", "4"]
    assert [table.labels[i] for i in solution.never] == ["1", "5"]
    outputs = solution.shares[1:] @ payoff(table) * margin_unit(group) / solution.value
    (off,) = np.flatnonzero(outputs > 1 + 1e-9)
    assert table.sizes[1 + off] == 15  # the products of two transpositions
    assert outputs[off] == pytest.approx(4 / 3, rel=1e-9)
    assert solution.value > 4.1729e-4  # what the formula of Theorem 7.9 would give


def face_by_definition(game, value):
    """The smallest and largest share of each row among mixtures worth the value everywhere."""
    rows, columns = game.shape
    ends = []
    for sign in (1, -1):
        programs = [
            linprog(
                sign * np.eye(rows)[i],
                A_ub=-game.T,
                b_ub=np.full(columns, -value * (1 - 1e-9)),
                A_eq=np.ones((1, rows)),
                b_eq=[1.0],
            )
            for i in range(rows)
        ]
        ends.append([sign * program.fun for program in programs])
    return np.array(ends)


@pytest.mark.parametrize("name", ["S6", "S7", "S8", "A5", "D4xS3", "S4", "D60"])
def test_required_optional_and_never_are_those_of_the_whole_optimal_face(name):
    group = EVERY.get(name) or Symmetric(UNLISTED[name][0])
    solution = maximum_margin(group)
    game = payoff(real_character_table(group))
    low, high = face_by_definition(game, solution.value / margin_unit(group))
    np.testing.assert_allclose(solution.low[1:], low, atol=1e-5)  # the face is cut 1e-9 wider
    np.testing.assert_allclose(solution.high[1:], high, atol=1e-5)


def test_s6_has_several_solutions():
    solution = maximum_margin(Symmetric(6))
    kinds = ("required", "optional", "never")
    names = {kind: {solution.labels[i] for i in getattr(solution, kind)} for kind in kinds}
    assert names["required"] == {"(3, 3)", "(2, 1, 1, 1, 1)"}
    assert names["optional"] == {"(5, 1)", "(2, 2, 2)", "(4, 1, 1)", "(3, 1, 1, 1)"}
    assert names["never"] == {"(6)", "(4, 2)", "(2, 2, 1, 1)", "(3, 2, 1)", "(1, 1, 1, 1, 1, 1)"}


def test_weights_that_are_no_distribution_on_wrong_labels_are_refused():
    group = Symmetric(3)
    with pytest.raises(ValueError, match="has 3 classes joined with their inverses"):
        single_neuron_bound(group, np.full(6, 1 / 6))
    with pytest.raises(ValueError, match=r"sum to 1 over elements; got 0\.0 at the identity"):
        single_neuron_bound(group, np.array([0.0, 0.5, 0.5]))
    with pytest.raises(ValueError, match="zero at the identity"):
        single_neuron_bound(group, np.array([0.2, 0.2, 0.1]))


class LinearSign:
    """A model without neurons: x -> u . x."""

    homogeneity = 1

    def apply(self, params, x):
        return x @ params


def test_any_homogeneous_model_has_a_margin_and_others_are_refused():
    params = np.array([3.0, 4.0, 0.0])
    assert normalised_margin(LinearSign(), params, Parity(3, 1)) == pytest.approx(-1 / 5)
    model = LinearSign()
    model.homogeneity = None
    with pytest.raises(TypeError, match="does not name as its `homogeneity`"):
        normalised_margin(model, params, Parity(3, 1))


def test_a_network_of_another_task_is_refused():
    from elegans.constructions.groups import max_margin

    model, params = max_margin(Symmetric(3))
    with pytest.raises(ValueError, match="the parameters are those of another task"):
        normalised_margin(model, params, GroupOperation(Cyclic(5)))
