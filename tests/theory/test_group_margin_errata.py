"""Where appendix D of the thesis and brute force disagree about margins of groups."""

import itertools

import numpy as np
import pytest
from tests.groups import SMALL

from elegans.tasks.groups import Alternating, Symmetric
from elegans.theory.groups import (
    conjugacy_classes,
    cyclic_margin,
    inverse_closed_classes,
    maximum_margin,
    real_character_table,
)
from elegans.theory.groups.game import margin_unit


def test_errata_the_constraint_of_section_7_4_is_p_and_not_1():
    # Squared transforms of a unit neuron sum to p by Parseval's identity.
    p, z = 7, 2
    angle = 2 * np.pi * z * np.arange(p) / p
    u, v, w = (np.sqrt(2 / (3 * p)) * np.cos(angle + shift) for shift in (0.3, 0.4, 0.7))
    assert u @ u + v @ v + w @ w == pytest.approx(1, rel=1e-12)
    transforms = np.fft.fft([u, v, w])
    assert np.sum(np.abs(transforms) ** 2) == pytest.approx(p, rel=1e-12)
    j = np.arange(1, p)
    value = 2 / ((p - 1) * p**2) * np.sum(transforms[0, j] * transforms[1, j] * transforms[2, -j])
    assert value.real == pytest.approx(cyclic_margin(p), rel=1e-12)


def subset_search(group, *, sizes_in_sum):
    """D.9.2 as printed, or with |C| in the normalisation of tau: (margin, representations)."""
    table = real_character_table(group)
    d, sizes, chi = table.dimensions[1:], table.sizes[1:], table.values[1:, 1:]
    count = len(d)
    for k in range(1, count + 1):
        for r, c in itertools.product(itertools.combinations(range(count), k), repeat=2):
            rows, columns = list(r), list(c)
            # kappa_m / sqrt(d_m) = z for m in rows: sum |C| tau chi / d^1.5 + z = 1 / sqrt(d).
            system = np.zeros((k + 1, k + 1))
            system[:k, :k] = sizes[columns] * chi[np.ix_(rows, columns)] / d[rows, None] ** 1.5
            system[:k, k] = 1
            system[k, :k] = sizes[columns] if sizes_in_sum else 1
            other = np.zeros((k + 1, k + 1))
            other[:k, :k], other[:k, k], other[k, :k] = chi[np.ix_(rows, columns)].T, -1, 1
            if min(abs(np.linalg.det(system)), abs(np.linalg.det(other))) < 1e-12:
                continue
            solved = np.linalg.solve(system, np.append(1 / np.sqrt(d[rows]), 1.0))
            tau, z = solved[:k], solved[k]
            solved = np.linalg.solve(other, np.append(np.zeros(k), 1.0))
            scale, out = solved[:k], solved[k]
            kappa = (1 - (chi[:, columns] @ (sizes[columns] * tau)) / d) / np.sqrt(d)
            outputs = scale @ chi[rows]
            if min(tau.min(), scale.min()) < -1e-9:
                continue
            if kappa.max() > z + 1e-9 or outputs.max() > out + 1e-9:
                continue
            margin = (scale @ d[rows] - out) / (scale @ d[rows] ** 1.5)
            return (
                margin_unit(group) * margin,
                margin_unit(group) * z,
                [table.labels[1 + i] for i in rows],
            )
    return None


def test_subsets_of_the_character_table_are_the_kernels_of_the_game():
    for group in (Symmetric(3), Symmetric(4), Alternating(5)):
        primal, dual, _ = subset_search(group, sizes_in_sum=True)
        assert primal == pytest.approx(dual, rel=1e-9)
        assert primal == pytest.approx(maximum_margin(group).value, rel=1e-9)
    assert subset_search(Alternating(5), sizes_in_sum=True)[2] == ["3a", "3b", "4"]


def test_errata_d92_must_weigh_classes_by_their_size():
    # "sum tau_C = 1" as printed: two different margins for S3, and the wrong set for A5.
    primal, dual, _ = subset_search(Symmetric(3), sizes_in_sum=False)
    assert sorted([primal, dual]) == pytest.approx([0.02360, 0.02920], abs=5e-6)
    primal, _, labels = subset_search(Alternating(5), sizes_in_sum=False)
    assert labels == ["3a", "3b", "4", "5"]
    assert primal == pytest.approx(4.1729e-4, abs=5e-9)
    assert primal < maximum_margin(Alternating(5)).value


def test_errata_the_label_weights_of_lemma_d14_need_a_minus():
    group = Symmetric(3)
    solution, table = maximum_margin(group), real_character_table(group)
    d = table.dimensions[1:]
    printed = (d**1.5 @ table.values[1:, 1:]) / np.sum(d**2.5)
    np.testing.assert_allclose(solution.tau[1:], -printed, rtol=1e-10)
    np.testing.assert_allclose(solution.tau[1:], [0.15022, 0.27467], atol=5e-6)
    assert table.sizes.tolist() == [1, 3, 2]


def test_errata_offsets_and_their_inverses_are_one_class_for_real_groups_only():
    # D.7 weighs labels by the class of an offset or of its inverse without a difference.
    for group, is_real in ((Symmetric(4), True), (SMALL["F21"], False)):
        numbers = conjugacy_classes(group)
        assert np.array_equal(numbers, numbers[group.inverses]) == is_real
        closed = inverse_closed_classes(group)
        np.testing.assert_array_equal(closed, closed[group.inverses])
