"""Characters and representations against definitions, counts and each other."""

import itertools
import math
import time

import numpy as np
import pytest
from tests.groups import LARGE, SMALL

from elegans.tasks.groups import (
    Alternating,
    Cyclic,
    Dicyclic,
    Quaternion,
    Symmetric,
    check_group,
)
from elegans.theory.groups import (
    character_table,
    conjugacy_classes,
    inverse_closed_classes,
    irreducibles,
    maximal_power,
    powers,
    real_character_table,
    symmetric,
)

EVERY = {**SMALL, **LARGE}


@pytest.mark.parametrize("name", SMALL)
def test_classes_are_orbits_of_conjugation(name):
    group = SMALL[name]
    numbers, closed = conjugacy_classes(group), inverse_closed_classes(group)
    assert numbers[0] == closed[0] == 0
    for x in range(group.order):
        orbit = {int(group.table[group.table[g, x], group.inverses[g]]) for g in range(group.order)}
        assert set(np.flatnonzero(numbers == numbers[x])) == orbit
        assert set(np.flatnonzero(closed == closed[x])) == orbit | {
            int(group.inverses[y]) for y in orbit
        }
    np.testing.assert_array_equal(np.bincount(numbers), character_table(group).sizes)
    np.testing.assert_array_equal(np.bincount(closed), real_character_table(group).sizes)


@pytest.mark.parametrize("name", EVERY)
def test_characters_are_orthogonal_by_rows_and_by_columns(name):
    group = EVERY[name]
    table = character_table(group)
    values, k = table.values, len(table.sizes)
    assert values.shape == (k, k)
    rows = (values * table.sizes) @ values.conj().T / group.order
    columns = values.conj().T @ values * table.sizes / group.order
    np.testing.assert_allclose(rows, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(columns, np.eye(k), atol=1e-12)
    assert np.all(values[0] == 1)
    assert np.sum(table.dimensions**2) == group.order
    assert np.all(group.order % table.dimensions == 0)
    assert len(set(table.labels)) == len(set(table.classes)) == k


@pytest.mark.parametrize("name", EVERY)
def test_the_indicators_count_the_square_roots_of_the_identity(name):
    group = EVERY[name]
    table = character_table(group)
    roots = np.sum(np.diag(group.table) == 0)
    assert table.indicators @ table.dimensions == roots


@pytest.mark.parametrize("name", EVERY)
def test_matrices_are_orthogonal_and_multiply_as_the_group(name):
    group = EVERY[name]
    for representation in irreducibles(group):
        s = representation.matrices
        d = representation.dimension
        assert np.abs(s[0] - np.eye(d)).max() < 1e-12
        assert np.abs(np.einsum("gij,gkj->gik", s, s) - np.eye(d)).max() < 1e-12
        assert np.abs(np.einsum("aij,bjk->abik", s, s) - s[group.table]).max() < 1e-12


@pytest.mark.parametrize("name", EVERY)
def test_real_irreducibles_are_all_there_and_have_their_type(name):
    group = EVERY[name]
    all_of_them, table = irreducibles(group), real_character_table(group)
    closed = inverse_closed_classes(group)
    assert len(all_of_them) == closed.max() + 1
    total = 0
    for i, s in enumerate(all_of_them):
        np.testing.assert_allclose(s.character, table.values[i][closed], atol=1e-11)
        assert np.mean(s.character**2) == pytest.approx(s.commutant, rel=1e-10)
        squares = np.mean(s.character[np.diag(group.table)])  # of chi at g^2
        assert squares == pytest.approx(
            {"real": 1, "complex": 0, "quaternionic": -2}[s.type], abs=1e-10
        )
        total += s.dimension**2 // s.commutant
    assert total == group.order


KINDS = {
    "Q8": [(1, "real")] * 4 + [(4, "quaternionic")],
    "A4": [(1, "real"), (2, "complex"), (3, "real")],
    "Dic3": [(1, "real"), (1, "real"), (2, "complex"), (2, "real"), (4, "quaternionic")],
    "SL(2,3)": [
        (1, "real"),
        (2, "complex"),
        (3, "real"),
        (4, "complex"),
        (4, "quaternionic"),
    ],
    "F20": [(1, "real"), (1, "real"), (2, "complex"), (4, "real")],
    "F21": [(1, "real"), (2, "complex"), (6, "complex")],
    "Z5": [(1, "real"), (2, "complex"), (2, "complex")],
    "Z6": [(1, "real"), (1, "real"), (2, "complex"), (2, "complex")],
}


@pytest.mark.parametrize("name", KINDS)
def test_dimensions_and_types_of_known_groups(name):
    kinds = sorted((s.dimension, s.type) for s in irreducibles(SMALL[name]))
    assert kinds == KINDS[name]


def test_the_two_quaternion_groups_have_one_table():
    for group in (Quaternion(), Dicyclic(2)):
        values = real_character_table(group).values
        assert sorted(values[:, 0]) == [1, 1, 1, 1, 4]
        assert sorted(values[-1]) == [-4, 0, 0, 0, 4]


@pytest.mark.parametrize("k", [3, 4, 5])
def test_murnaghan_and_nakayama_agree_with_young(k):
    group = Symmetric(k)
    for shape, s in zip(symmetric.partitions(k), irreducibles(group), strict=True):
        expected = [
            symmetric.character(shape, symmetric.cycle_type(tuple(row)))
            for row in group.permutations().tolist()
        ]
        np.testing.assert_allclose(s.character, expected, atol=1e-12)
        assert s.label == str(shape).replace(",)", ")")


def test_the_table_of_s5_by_its_cycle_types_and_by_its_cayley_table_is_one():
    one, other = character_table(Symmetric(5)), character_table(LARGE["S5 from its table"])
    columns = [
        int(np.flatnonzero(conjugacy_classes(Symmetric(5)) == i)[0]) for i in range(len(one.sizes))
    ]
    values = other.values[:, conjugacy_classes(LARGE["S5 from its table"])[columns]]
    assert sorted(map(tuple, values)) == sorted(map(tuple, one.values))


def test_errata_the_standard_representation_of_s5_is_positive_on_transpositions():
    # Table D.1 has the rows "standard" and "standard x sign" exchanged.
    group = Symmetric(5)
    table = character_table(group)
    fixed_points = np.sum(group.permutations() == np.arange(5), axis=1)
    standard = fixed_points - 1  # the permutation representation without the constants
    row = table.values[table.labels.index("(4, 1)")]
    np.testing.assert_array_equal(row[conjugacy_classes(group)], standard)
    assert row[table.classes.index("(2, 1, 1, 1)")] == 2
    assert (
        table.values[table.labels.index("(2, 1, 1, 1)")][table.classes.index("(2, 1, 1, 1)")] == -2
    )


def hook_dimension(shape):
    columns = [sum(part > j for part in shape) for j in range(shape[0])]
    hooks = [part - j + columns[j] - i - 1 for i, part in enumerate(shape) for j in range(part)]
    return math.factorial(sum(shape)) // math.prod(hooks)


def test_characters_of_s8_are_exact_and_need_no_table():
    started = time.perf_counter()
    table = character_table(Symmetric(8))
    assert time.perf_counter() - started < 2
    values = table.values.astype(np.int64)
    np.testing.assert_array_equal(values, table.values)
    assert (values * table.sizes @ values.T == math.factorial(8) * np.eye(22)).all()
    dimensions = [hook_dimension(shape) for shape in symmetric.partitions(8)]
    np.testing.assert_array_equal(table.dimensions, dimensions)
    # The regular representation splits into permutation characters: conjugating is the sign.
    sign = values[-1]
    np.testing.assert_array_equal(
        values[table.labels.index("(2, 1, 1, 1, 1, 1, 1)")], values[1] * sign
    )


@pytest.mark.parametrize("shape", [(3, 2), (3, 1, 1), (2, 2, 1, 1)])
def test_young_s_matrices_satisfy_the_relations_of_transpositions(shape):
    s = symmetric.adjacent_transpositions(shape)
    identity = np.eye(s.shape[1])
    for i, j in itertools.combinations(range(len(s)), 2):
        order = 3 if j == i + 1 else 2
        np.testing.assert_allclose(np.linalg.matrix_power(s[i] @ s[j], order), identity, atol=1e-12)
    np.testing.assert_allclose(s @ s, np.tile(identity, (len(s), 1, 1)), atol=1e-12)


def test_representations_of_s5_take_less_than_two_seconds():
    from elegans.theory.groups import representations

    representations._irreducibles.cache_clear()
    started = time.perf_counter()
    assert [s.dimension for s in irreducibles(Symmetric(5))] == [1, 4, 5, 6, 5, 4, 1]
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("name", ["Z7", "S4", "A4", "Q8", "SL(2,3)", "F21"])
def test_projections_are_those_of_the_characters(name):
    group = SMALL[name]
    vectors = np.random.default_rng(0).standard_normal((group.order, 5))
    quotients = group.table[:, group.inverses]
    total = np.zeros_like(vectors)
    for s in irreducibles(group):
        matrix = s.dimension / (s.commutant * group.order) * s.character[quotients]
        np.testing.assert_allclose(matrix @ matrix, matrix, atol=1e-12)
        assert np.trace(matrix) == pytest.approx(s.dimension**2 / s.commutant)
        np.testing.assert_allclose(s.projection(vectors), matrix @ vectors, atol=1e-12)
        np.testing.assert_allclose(s.power(vectors), np.sum((matrix @ vectors) ** 2, axis=0))
        total += s.projection(vectors)
    np.testing.assert_allclose(total, vectors, atol=1e-12)
    np.testing.assert_allclose(powers(group, vectors).sum(axis=0), np.sum(vectors**2, axis=0))


def test_errata_powers_of_a_cyclic_group_take_both_signs_of_a_frequency_together():
    # Figure 7.4 divides one |u^[i]|^2 by all: a real vector of one frequency then has 1/2.
    p = 11
    u = np.cos(0.7 + 2 * np.pi * 3 * np.arange(p) / p)
    spectrum = np.abs(np.fft.fft(u)) ** 2 / p
    np.testing.assert_allclose(spectrum.max() / spectrum.sum(), 0.5, rtol=1e-12)
    assert maximal_power(Cyclic(p), u) == pytest.approx(1.0, rel=1e-12)
    u = np.random.default_rng(0).standard_normal(p)
    spectrum = np.abs(np.fft.fft(u)) ** 2 / p
    expected = [spectrum[0], *(spectrum[1:6] + spectrum[:5:-1])]
    np.testing.assert_allclose(powers(Cyclic(p), u), expected, rtol=1e-10)


def test_errata_basis_vectors_are_orthogonal_for_real_types_only():
    # D.10: the d^2 entries have squared norm |G|/d and are orthogonal. "The number of real
    # representations is that of classes" and "|G| basis vectors" are true of real groups alone.
    for s in irreducibles(Symmetric(4)):
        entries = s.matrices.reshape(24, -1)
        np.testing.assert_allclose(
            entries.T @ entries, 24 / s.dimension * np.eye(s.dimension**2), atol=1e-12
        )
    for group in (Quaternion(), Cyclic(5), Alternating(4)):
        all_of_them = irreducibles(group)
        assert sum(s.dimension**2 for s in all_of_them) > group.order
        for s in all_of_them:
            entries = s.matrices.reshape(group.order, -1)
            np.testing.assert_allclose(np.sum(entries**2, axis=0), group.order / s.dimension)
            assert np.linalg.matrix_rank(entries) == s.dimension**2 / s.commutant
    assert len(irreducibles(Alternating(4))) == 3
    assert len(character_table(Alternating(4)).sizes) == 4


def test_errata_transforms_of_the_group_law_are_ordered():
    # D.9.1 has a non-zero transform at (j, k) and at the exchanged (k, j): products are ordered.
    group = Symmetric(3)
    s = irreducibles(group)[1].matrices
    transform = np.einsum("aij,bkl,abmn->ijklmn", s, s, s[group.table]) / 36
    for i, j, k, m, n in itertools.product(range(2), repeat=5):
        for l in range(2):  # noqa: E741
            expected = 1 / 4 if (i, j, l) == (m, k, n) else 0.0
            assert transform[i, j, k, l, m, n] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k, mean", [(3, 0.726), (4, 0.475), (5, 0.313)])
def test_random_vectors_have_their_power_spread_over_representations(k, mean):
    # Means of the spec sheet of this chapter, to the precision of their last digit and 6000 draws.
    u = np.random.default_rng(1).standard_normal((math.factorial(k), 6000))
    assert np.mean(maximal_power(Symmetric(k), u)) == pytest.approx(mean, abs=0.008)


def test_vectors_of_another_group_are_refused():
    with pytest.raises(ValueError, match="axis 0 is the 6 elements"):
        powers(Symmetric(3), np.zeros((5, 2)))
    with pytest.raises(ValueError, match="the group has 40320 elements"):
        irreducibles(Symmetric(8))


@pytest.mark.parametrize("other", [5, "S3", np.array([[0, 1], [1, 0]])])
def test_what_is_no_group_is_refused_by_name(other):
    # The functions themselves are under the tests' check of types, which comes first.
    with pytest.raises(TypeError, match=r"maximum_margin: takes a group such as Cyclic\(5\)"):
        check_group("maximum_margin", other)


def test_cached_results_cannot_be_written_to():
    for array in (irreducibles(Cyclic(3))[1].matrices, character_table(Cyclic(3)).values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2
