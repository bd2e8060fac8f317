"""Refusals name the object, the field, the value and what would be right."""

import pytest

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.models import MLP, inits
from elegans.tasks import Parity
from elegans.training.recipe import Training


@pytest.mark.parametrize("value", [2.5, "3", True, None])
def test_a_count_is_an_integer(value):
    with pytest.raises(
        TypeError, match=r"Net: width counts neurons, so it is an integer, 1 or more"
    ):
        checks.whole("Net", "width", value, low=1, what="counts neurons")


def test_a_number_is_no_text():
    with pytest.raises(TypeError, match=r"rate multiplies, so it is a number; got '0.1'"):
        checks.number("Net", "rate", "0.1", what="multiplies")


@pytest.mark.parametrize(
    "limits, message",
    [
        ({}, "so it is finite; got inf"),
        ({"low": 0}, "finite and at least 0"),
        ({"high": 2}, "finite and at most 2"),
        ({"low": 0, "high": 2}, r"in \[0, 2\]"),
    ],
)
def test_limits_are_told(limits, message):
    with pytest.raises(ValueError, match=message):
        checks.number("Net", "rate", float("inf"), what="multiplies", **limits)


def test_an_object_is_shown_without_its_defaults():
    assert checks.shown(Training(steps=7, batch=5)) == "Training(steps=7, batch=5)"
    assert checks.shown("run") == "run"


def test_objects_within_objects_are_shown_without_their_defaults_too():
    experiment = Experiment(Parity(8, 2), MLP(width=20, init=inits.Sparse(2)), Training(steps=10))
    init = inits.FromRun(experiment, 3, at="start", neurons=(0, 4))
    assert checks.shown(MLP(width=2, init=init)) == (
        "MLP(width=2, init=FromRun(experiment=Experiment(task=Parity(n=8, k=2, support=(0, 1)), "
        "model=MLP(width=20, init=Sparse(s=2)), training=Training(steps=10)), seed=3, at='start', "
        "neurons=(0, 4)))"
    )
