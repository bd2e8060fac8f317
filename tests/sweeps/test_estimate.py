import pytest

from elegans.sweeps.estimate import Estimate, estimate


def test_an_estimate_grows_with_runs_and_steps_and_falls_with_workers(experiment):
    once = estimate([experiment])
    assert once.shapes == 1
    assert once.seconds > 0
    long = experiment.varied({"training.steps": 300_000, "training.learning_rate": 1e-4})
    wide = experiment.varied({"training.steps": 300_000, "training.learning_rate": 1e-3})
    many = estimate([long] * 10 + [wide] * 10)
    assert many.shapes == 1
    assert many.seconds > 100 * once.seconds  # 20,000 times the steps, of which a few were timed
    assert estimate([]) == Estimate(0.0, 0, 0.0)


def test_the_clock_counts_starting_and_compiling_once_a_shape():
    cost = Estimate(seconds=100.0, shapes=3, compiling=4.0)
    assert cost.on(4) - cost.on(10) == pytest.approx(15)
    assert cost.on(10**9) == pytest.approx(3 * 4 + 2)
    assert cost.on(0) == cost.on(1)
