"""Studies of hidden progress: one end to end, the plans of all, and the parts that compute."""

import dataclasses

import numpy as np
import pytest

from elegans.report.result import Result
from elegans.runs import Run
from elegans.studies import catalogue
from elegans.studies.plan import structures_of
from elegans.studies.progress import parity_grokking, polynet_paths, random_search
from elegans.studies.progress.times import quantile
from elegans.studies.study import Scale
from elegans.theory.boolean import polynet

NAMES = [
    "activation-functions",
    "deep-parity",
    "hidden-progress",
    "noisy-parities",
    "parity-grokking",
    "phase-transitions",
    "polynet-flow",
    "scaling-laws",
    "sgd-is-not-random-search",
    "weak-to-strong",
    "width-and-time",
]
MOST_STRUCTURES = 24


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_scale_compiles_few_programs_and_every_scale_is_declared(name):
    study = catalogue.study(name)
    assert set(study.scales) == {"quick", "laptop", "paper"}
    assert len(structures_of(study.plan("quick").first)) <= MOST_STRUCTURES


def test_a_study_goes_from_settings_to_a_bundle(tmp_path):
    tiny = parity_grokking.Settings(
        n=6,
        k=2,
        samples=(200, 30, 8),
        decays=(0.0, 0.01, 0.1),
        seeds=2,
        steps=300,
        evaluate_every=50,
        width=10,
    )
    study = dataclasses.replace(parity_grokking.STUDY, scales={"tiny": Scale(tiny, minutes=1)})
    result = study.run("tiny", out=tmp_path, workers=0, progress=False)
    assert len(result.tables["runs"]) == 3 * 3 * 2
    assert len(result.claims) == 5
    again = Result.read(tmp_path / "parity-grokking")
    assert [claim.measured for claim in again.claims] == [c.measured for c in result.claims]
    assert (tmp_path / "parity-grokking" / "figure.png").stat().st_size > 10_000
    assert set(result.tables["runs"]["outcome"]) <= {"learned", "grokked", "memorised", "neither"}


def test_the_best_of_r_times_is_that_of_all_samples_of_r():
    times = np.array([1.0, 2.0, 4.0])
    pairs = [min(a, b) for a in times for b in times]
    np.testing.assert_allclose(random_search.best_mean(times, 1), times.mean())
    np.testing.assert_allclose(random_search.best_mean(times, 2), np.mean(pairs))


def test_a_memoryless_time_is_below_half_of_its_median_as_often_as_said():
    rng = np.random.default_rng(0)
    times = rng.geometric(1e-4, 100_000)
    share = np.mean(times < np.median(times) / 2)
    # six standard errors
    assert abs(share - random_search.MEMORYLESS_BELOW_HALF) < 6 * (0.21 / 100_000) ** 0.5


def test_quantiles_with_failures_are_infinite_where_too_many_fail():
    assert quantile([1, 2, 3, np.inf], 0.5) == 3.0
    assert quantile([1, 2, np.inf, np.inf], 0.9) == np.inf


def test_population_descent_takes_the_time_of_the_flow():
    table = polynet_paths.Descent(30, 3, 1e-3)(0)
    np.testing.assert_allclose(table["time"].iloc[-1], table["theory"].iloc[-1], rtol=0.01)


def test_the_rates_of_theorem_5_8_are_those_of_the_theory():
    w = np.array([[1.0, -0.5], [0.25, 2.0]])
    steps = 1000
    norms = np.abs(w).sum(axis=1)
    scale = 2 * np.sqrt(2 * steps * np.log(2 * 4 * steps / polynet_paths.DELTA))
    np.testing.assert_allclose(
        norms / norms.prod() / scale, polynet.sgd_rate(w, steps, polynet_paths.DELTA), rtol=1e-12
    )


def test_products_of_others_leave_one_out():
    sums = np.array([[2.0, 3.0, 0.0], [1.0, 4.0, 5.0]])
    expected = [[0.0, 0.0, 6.0], [20.0, 5.0, 4.0]]
    np.testing.assert_array_equal(polynet_paths.products_of_others(sums), expected)


def test_moments_of_a_run_are_first_times():
    history = {
        "step": np.array([0, 100, 200, 300]),
        "train_error": np.array([0.5, 0.0, 0.0, 0.0]),
        "test_error": np.array([0.5, 0.5, 0.2, 0.005]),
    }
    run = Run(
        source=None, hash="x", seed=0, status="done", success=True, arrays={"history": history}
    )
    row = parity_grokking.moments(run).iloc[0]
    assert (row["memorised"], row["generalised"]) == (100.0, 300.0)
