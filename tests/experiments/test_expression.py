"""Configurations as typed are those of Python, and nothing is evaluated."""

import pytest

import elegans as el
from elegans.experiments.expression import literal, parse


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Parity(n=50, k=3)", el.tasks.Parity(50, 3)),
        ("Parity(50, 3, flip=0.1, support=(4, 2, 0))", el.tasks.Parity(50, 3, 0.1, (4, 2, 0))),
        ("MLP(width=9, init=Sparse(2))", el.models.MLP(width=9, init=el.inits.Sparse(2))),
        ("el.models.MLP(9, init=el.inits.Uniform)", el.models.MLP(9)),
        ("Stop(0.1)", el.Stop(0.1)),
    ],
)
def test_a_configuration_is_read_as_it_is_typed(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize("value", [el.tasks.Parity(9, 2, 0.1), el.models.MLP(3), el.Training()])
def test_a_configuration_can_be_pasted_back(value):
    assert parse(repr(value)) == value


@pytest.mark.parametrize(
    "text, expected",
    [
        ("10", 10),
        ("1e-3", 1e-3),
        ("None", None),
        ("hinge", "hinge"),
        ("inf", float("inf")),
        ("cross-entropy", "cross-entropy"),
        ("Stop(0.2)", el.Stop(0.2)),
        ("(1, 2)", (1, 2)),
        ("-3", -3),
        ("z^2", "z^2"),
    ],
)
def test_an_option_is_a_literal_or_stands_for_itself(text, expected):
    assert literal(text) == expected


@pytest.mark.parametrize(
    "text", ["__import__('os')", "open('x')", "Parity(n=1+1, k=[i for i in x])"]
)
def test_nothing_but_configurations_is_called(text):
    with pytest.raises(ValueError, match=r"No configuration is named|is neither a number"):
        parse(text)


def test_a_type_of_ones_own_is_named_by_its_module():
    assert parse("test_own_tasks.Threshold(shift=0.5)").shift == 0.5
    with pytest.raises(ValueError, match="'nonsense:Parity' cannot be imported"):
        parse("nonsense.Parity(5, 2)")
