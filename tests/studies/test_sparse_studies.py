"""`lifted-parities` and `sparse-samples`: made-up tables break every claim; small computations."""

import numpy as np
import pandas as pd
import pytest

from elegans.report.result import Tables
from elegans.studies.sparse_activation import (
    figures_lifted,
    figures_samples,
    lifted_claims,
    lifted_learners,
    samples_claims,
    sparse_samples,
)


def lifted_tables(
    easy=0.0, hard=0.5, left=1.0, elimination=0.0, queries=2.5, rounded=0.48, gates=1e-12, low=0.6
) -> Tables:
    """Students, systems, searches and gates with the given errors."""
    ends = {lifted_claims.PARITY: (easy, hard), lifted_claims.ROUNDING: (easy, left)}
    trained = [
        {"task": task, "size": size, "m": m, "width": 10, "seed": seed, "error": error, "steps": 9}
        for task, errors in ends.items()
        for size in (lifted_claims.NARROW, lifted_claims.WIDE)
        for m, error in zip((4, 8), errors, strict=True)
        for seed in range(4)
    ]
    systems = [
        {"m": m, "rows": rows, "seed": s, "elimination": error, "by_hand": 0.0}
        for m in (4, 8)
        for rows, error in ((m // 2, 0.3), (m + 10, elimination))
        for s in range(20)
    ]
    searches = [
        {"m": m, "answers": a, "queries": queries * t, "theory": t, "success": True}
        for m, t in ((4, 10.0), (8, 100.0))
        for a in ("honest", "adversarial")
        for _ in range(4)
    ]
    linear = [
        {"rule": rule, "seed": s, "error": e}
        for rule, e in (("modulus", 0.0), ("rounding", rounded))
        for s in range(5)
    ]
    recovery = pd.DataFrame(
        {"addresses": [gates] * 4, "degree_1": 0.9, "degree_2": low, "degree_3": 1.5, "right": True}
    )
    facts = {"steps": 100, "rounding_steps": 100, "gate_n": 30, "gate_rows": 2000}
    named = {"trained": trained, "without_gradients": systems, "searches": searches}
    frames = {name: pd.DataFrame(rows) for name, rows in named.items()}
    return Tables({**frames, "linear": pd.DataFrame(linear), "gates": recovery}, facts)


@pytest.mark.parametrize(
    "claim, change",
    [
        (lifted_claims.students_fail_as_parities_grow, {"easy": 0.5}),  # as if untrained
        (lifted_claims.students_fail_as_parities_grow, {"hard": 0.1}),
        (lifted_claims.other_learners_do_not, {"elimination": 0.5}),
        (lifted_claims.queries_are_as_many_as_must_be, {"queries": 5.0}),
        (lifted_claims.queries_are_as_many_as_must_be, {"queries": 0.9}),
        (lifted_claims.rounding_is_hard_for_students, {"easy": 1.0}),  # as if untrained
        (lifted_claims.rounding_is_hard_for_students, {"left": 0.3}),
        (lifted_claims.rounding_is_not_linear, {"rounded": 0.2}),
        (lifted_claims.addresses_are_recovered, {"gates": 0.01}),
        (lifted_claims.addresses_are_recovered, {"low": 0.1}),
    ],
)
def test_claims_about_lifted_parities_can_fail(claim, change):
    assert claim(lifted_tables()).holds
    assert not claim(lifted_tables(**change)).holds


def test_learners_without_gradients_at_a_small_size():
    systems = lifted_learners.WithoutGradients(m=4)(0)
    assert list(systems["rows"]) == [2, 14]
    assert systems["elimination"].iloc[1] == 0
    assert not systems["by_hand"].any()
    searches = lifted_learners.QuerySearches(m=4, answers="adversarial", searches=3)(0)
    assert searches["success"].all()
    assert (searches["queries"] <= 2**4).all()


def test_rounding_is_linear_as_printed_only():
    linear = lifted_learners.LinearRounding(m=3, q=8, rule="modulus")(1000).iloc[0]
    rounding = lifted_learners.LinearRounding(m=3, q=8, rule="rounding")(1000).iloc[0]
    assert linear["error"] == linear["least"] == 0
    assert rounding["error"] >= rounding["least"] > 0
    assert linear["equations"] > rounding["equations"]


THRESHOLDS = {
    samples_claims.SPARSE: 200,
    samples_claims.UNGATED: 60,
    samples_claims.JUNTA: 50,
    samples_claims.PARITY: 400,
}


def sample_tables(exponent=1.0, **changes) -> Tables:
    """Trials that succeed from a size on that grows as a power of s."""
    grid = sparse_samples.powers(16, 8192)
    rows = [
        {"student": student, "teacher": teacher, "s": s, "samples": m, "seed": seed, "success": ok}
        for student in samples_claims.STUDENTS
        for teacher, size in (THRESHOLDS | changes).items()
        for s in (4, 8, 16)
        for m in grid
        for seed in range(5)
        for ok in [bool(m >= size * (s / 4) ** exponent * (1 + 0.1 * seed))]
    ]
    trials = pd.DataFrame(rows)
    by = ["student", "teacher", "s"]
    sizes = sparse_samples.thresholds.threshold_table(trials, by, grid)
    facts = {"n": 12, "largest": max(grid), "unexplained": 0.25}
    return Tables({"trials": trials, "sizes": sizes}, facts)


@pytest.mark.parametrize(
    "claim, change",
    [
        (samples_claims.random_dense_networks_are_easier, {samples_claims.UNGATED: 200}),
        (samples_claims.worst_dense_networks_are_harder, {samples_claims.JUNTA: 600}),
        (samples_claims.grows_less_than_the_dense_bound, {"exponent": 2.2}),
        *[(claim, dict.fromkeys(THRESHOLDS, 10**6)) for claim in sparse_samples.STUDY.claims],
    ],
)
def test_claims_about_samples_can_fail(claim, change):
    assert claim(sample_tables()).holds
    assert not claim(sample_tables(**change)).holds


def test_worst_networks_may_be_out_of_reach():
    claim = samples_claims.worst_dense_networks_are_harder(
        sample_tables(**{samples_claims.PARITY: 10**6})
    )
    assert claim.holds
    assert "more than were tried" in claim.measured


def test_a_polynomial_trial_learns_from_enough_rows():
    trial = {"kind": samples_claims.JUNTA, "n": 6, "b": 2, "max_degree": 2}
    assert sparse_samples.PolynomialTrial(samples=200, **trial)(0)["success"].all()
    assert not sparse_samples.PolynomialTrial(samples=8, **trial)(0)["success"].any()


def test_figures_of_both_are_drawn():
    assert len(figures_lifted.lifted(lifted_tables()).axes) == 4
    assert len(figures_samples.samples(sample_tables()).axes) == 2
    assert figures_lifted.lifted_chart(lifted_tables()).to_dict()
    assert figures_samples.samples_chart(sample_tables()).to_dict()


def test_sizes_double_every_other_step():
    sizes = sparse_samples.powers(16, 64)
    assert sizes == (16, 23, 32, 45, 64)
    assert np.all(np.diff(sizes) > 0)
