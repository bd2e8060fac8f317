"""Refusals name the object, the field, the value and what would be right."""

import pytest

from elegans import Experiment, Store, Sweep, checks, inits, models, run, tasks
from elegans.durations import duration
from elegans.training.recipe import Group, Training


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


@pytest.mark.parametrize(
    "seconds, text",
    [
        (7.2, "7 s"),
        (100, "100 s"),
        (600, "10 min"),
        (7200, "2 h"),
        (9000, "2.5 h"),
        (2e5, "2.3 days"),
        (1e8, "3.2 years"),
    ],
)
def test_times_are_said_as_readers_say_them(seconds, text):
    assert duration(seconds) == text


E = Experiment(tasks.Parity(6, 2), models.MLP(width=4), Training(samples=9))


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: Training(batch_size=3),
            "Training has no field 'batch_size'; did you mean 'batch'",
        ),
        (lambda: tasks.Parity(m=3, k=1), "Parity has no field 'm'. It has n, k, flip"),
        (
            lambda: Training(stop=0.1),
            r"stop is one such as Stop\(test_error=0.1\), or None; got 0.1",
        ),
        (lambda: Training(groups=Group("layers.0")), "groups is a tuple, such as"),
        (lambda: Training(groups=("layers.0",)), r"groups is a tuple, .* got \('layers.0',\)"),
        (lambda: run(E, seed=-1), r"seed numbers a run, so it is in 0..4294967295; got -1"),
        (lambda: Sweep(E, seeds=[3, 1, 3]), "seeds differ, as a run has one record; got 3 twice"),
        (lambda: Store("tests"), "tests is a directory; a store is a file, such as tests/runs.db"),
    ],
)
def test_typical_mistakes_are_named_with_what_is_right(call, message):
    with pytest.raises((TypeError, ValueError, OSError), match=message):
        call()


def test_an_object_is_shown_without_its_defaults():
    assert checks.shown(Training(steps=7, batch=5)) == "Training(steps=7, batch=5)"
    assert checks.shown("run") == "run"


def test_objects_within_objects_are_shown_without_their_defaults_too():
    experiment = Experiment(
        tasks.Parity(8, 2), models.MLP(width=20, init=inits.Sparse(2)), Training(steps=10)
    )
    init = inits.FromRun(experiment, 3, at="start", neurons=(0, 4))
    assert checks.shown(models.MLP(width=2, init=init)) == (
        "MLP(width=2, init=FromRun(experiment=Experiment(task=Parity(n=8, k=2, support=(0, 1)), "
        "model=MLP(width=20, init=Sparse(s=2)), training=Training(steps=10)), seed=3, at='start', "
        "neurons=(0, 4)))"
    )
