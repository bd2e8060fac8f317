"""From covers to gaps: Dudley's integral against closed forms, and what is wrong in print."""

import math

import pytest

from elegans.theory import capacity


def test_dudley_is_the_closed_form_for_inverse_squares():
    for C, m, A in ((0.02, 1000, 1.0), (50.0, 10**6, 3.0)):
        value = capacity.dudley(lambda _, eps, C=C: C / eps**2, m, A)
        assert value == pytest.approx(capacity.inverse_square_dudley(C, m, A), rel=1e-8)
        rate = math.sqrt(C / m)
        assert value == pytest.approx(12 * rate * (1 + math.log(A / (3 * rate))), rel=1e-8)
    assert capacity.dudley(lambda m, eps: 1e6 / eps**2, 10, 1.0) == 1.0


def test_the_printed_corollary_turns_negative_where_it_does_not_hold():
    assert capacity.inverse_square_dudley(100.0, 10, 1.0, printed=True) < 0
    assert capacity.inverse_square_dudley(100.0, 10, 1.0) == 1.0
    small = capacity.inverse_square_dudley(0.01, 10**4, 1.0, printed=True)
    assert small == pytest.approx(1e-3 * (1 + math.log(1e3)), rel=1e-12)


def test_the_complexity_of_a_finite_class_is_a_square_root():
    """A cover that does not depend on the radius: Massart's lemma up to the constant 12."""
    value = capacity.dudley(lambda m, eps: math.log(100), 10**8, 1.0)
    assert value == pytest.approx(12 * math.sqrt(math.log(100) / 10**8), rel=1e-6)


def test_generalisation_adds_the_deviation_and_samples_invert_it():
    def cover(m, eps):
        return 2.0 / eps**2

    m, delta = 10**6, 0.01
    complexity = capacity.dudley(cover, m, 1.0)
    assert capacity.generalisation(cover, m, L=2.0, b=3.0, delta=delta) == pytest.approx(
        4 * complexity + 9 * math.sqrt(math.log(400) / (2 * m)), rel=1e-12
    )
    assert capacity.generalisation(cover, m, L=2.0, b=3.0, delta=delta, printed=True) == (
        pytest.approx(8 * complexity + 6 * math.sqrt(math.log(100) / (2 * m)), rel=1e-12)
    )
    needed = capacity.samples_for(0.1, cover)
    assert capacity.generalisation(cover, needed) <= 0.1
    assert capacity.generalisation(cover, int(0.99 * needed)) > 0.1
