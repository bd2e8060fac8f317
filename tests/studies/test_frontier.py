"""The frontier at a tiny scale, and its claims on made-up runs where the answer is known."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.pareto import figures, frontier, frontier_claims
from elegans.studies.plan import structures_of
from elegans.studies.study import Scale

TINY = frontier.Settings(
    tasks=((8, 2),), widths=(2, 20), samples=(8, 200), seeds=2, steps=400, evaluate_every=100
)
SEEDS = 10


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    study = replace(frontier.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    return study.run("tiny", out=tmp_path_factory.mktemp("out"), workers=0, progress=False)


def test_every_cell_of_the_grid_is_in_the_table_with_theory_beside_it(result):
    cells = result.tables["cells"]
    assert len(cells) == 2 * 2 * 2
    assert (cells["runs"] == 2).all()
    pairs = [math.comb(n, 2) for n in cells["n"]]
    np.testing.assert_allclose(cells["theory"], np.log2(pairs))
    parameters = cells["width"] * (cells["n"] + 2) + 1
    bound = 0.25 * np.array(pairs) * 0.5 / (parameters * 400)
    np.testing.assert_allclose(cells["theory_proposition_3"], bound, rtol=1e-9)
    assert cells["rate"].between(cells["low"], cells["high"]).all()


def test_wide_networks_learn_from_enough_data_and_none_learns_from_eight_examples(result):
    cells = result.tables["cells"]
    enough = (cells["width"] == 20) & (cells["samples"] == 200)
    few = (cells["width"] == 2) & (cells["samples"] == 8)
    assert (cells.loc[enough, "rate"] == 1).sum() == 2
    assert (cells.loc[few, "rate"] == 0).sum() == 2


def test_curves_are_those_of_the_runs(result):
    """Nothing is trained again: a curve ends with the numbers of its run."""
    curves, runs = result.tables["curves"], result.tables["runs"]
    by = [*frontier.CELL, "seed"]
    last = curves.groupby(by).tail(1).merge(runs, on=by)
    assert len(last) == 2 * 2 * 2
    np.testing.assert_array_equal(last["test_error_x"], last["test_error_y"])
    np.testing.assert_array_equal(last["step"], last["steps"])


def test_the_quick_scale_compiles_few_structures(result):
    assert result.structures == 2
    assert len(structures_of(frontier.runs(frontier.QUICK))) == 4  # one per width


def runs_with(rates):
    """Made-up runs with the given success rates and steps by (init, width, samples)."""
    rows = [
        {
            "n": 50,
            "k": 3,
            "init": init,
            "width": width,
            "samples": samples,
            "seed": seed,
            "status": "done",
            "success": seed < SEEDS * rate,
            "steps": steps,
            "test_error": 0.0,
            "train_error": 0.0,
            "seconds": 1.0,
        }
        for (init, width, samples), (rate, steps) in rates.items()
        for seed in range(SEEDS)
    ]
    runs = frontier.named(pd.DataFrame(rows))
    return Tables({"runs": runs, "cells": frontier.cell_table(runs, 10_000)})


GOOD = {
    ("dense", 10, 100): (0.0, 9000),
    ("dense", 10, 1000): (0.5, 8000),
    ("dense", 99, 100): (1.0, 7000),
    ("dense", 99, 1000): (1.0, 1000),
    ("2-sparse", 10, 100): (0.0, 9000),
    ("2-sparse", 10, 1000): (1.0, 3000),
    ("2-sparse", 99, 100): (1.0, 5000),
    ("2-sparse", 99, 1000): (1.0, 500),
}
CLAIMS = frontier.STUDY.claims


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_hold_where_they_are_true(claim):
    checked = claim(runs_with(GOOD))
    assert checked.holds, checked
    assert checked.interval is not None
    value, low, high = checked.interval
    assert low <= value <= high


@pytest.mark.parametrize(
    "claim, change",
    [
        (frontier_claims.wider_needs_fewer_samples, {("dense", 10, 100): (0.6, 900)}),
        (
            frontier_claims.width_never_hurts,
            {("2-sparse", 99, 1000): (0.0, 500), ("2-sparse", 99, 100): (0.0, 500)},
        ),
        (frontier_claims.sparse_enlarges, {("2-sparse", 10, 1000): (0.5, 3000)}),
        (
            frontier_claims.fewer_samples_take_longer,
            {key: (rate, 1000) for key, (rate, _) in GOOD.items()},
        ),
        (frontier_claims.fewer_samples_take_longer, dict.fromkeys(GOOD, (0.0, 9))),
    ],
)
def test_a_claim_fails_where_it_is_false(claim, change):
    assert not claim(runs_with(GOOD | change)).holds


def test_width_can_hurt_at_the_quick_scale_beyond_chance():
    """With as many pairs of widths and seeds as the quick scale has, the claim can fail."""
    settings = frontier.QUICK
    rates = {
        (init, width, samples): (float(init == "dense" or width != 300), 1000)
        for init in frontier.INITS
        for width in settings.widths
        for samples in settings.samples
    }
    assert settings.seeds == SEEDS
    claim = frontier_claims.width_never_hurts(runs_with(rates))
    assert "of 12 pairs" in claim.measured
    assert not claim.holds


def test_a_run_that_failed_counts_neither_way():
    tables = runs_with(GOOD)
    runs = tables["runs"].copy()
    lost = (runs["width"] == 99) & (runs["seed"] == 0)
    runs.loc[lost, ["success", "steps", "test_error"]] = None
    runs.loc[lost, "status"] = "failed"
    cells = frontier.cell_table(runs, 10_000)
    assert set(cells["runs"]) == {SEEDS, SEEDS - 1}
    again = Tables({"runs": runs, "cells": cells})
    assert all(claim(again).holds for claim in CLAIMS)
    none = runs.assign(success=pd.array([None] * len(runs), "boolean"))
    assert frontier.cell_table(none, 10_000)["rate"].isna().all()


def test_medians_count_runs_without_success_as_the_longest():
    runs = runs_with({("dense", 10, 100): (0.6, 1000)})["runs"]
    runs["steps"] = np.where(runs["success"], [100, 200, 300, 400, 500, 600, 9, 9, 9, 9], 10_000)
    assert frontier.cell_table(runs, 10_000)["median_steps"].tolist() == [550.0]


def made_up(tasks):
    """Runs of several tasks with curves that end at their own n, and their tables."""
    labels, runs = [], []
    for n, k in tasks:
        history = {"step": np.array([0, 5]), "train_error": np.zeros(2)}
        arrays = {"history": {**history, "test_error": np.array([0.5, n / 1000])}}
        for init in frontier.INITS:
            for width in (10, 99):
                for samples in (100, None):
                    for seed in range(7):
                        label = {"n": n, "k": k, "init": init, "width": width, "samples": samples}
                        labels.append(label)
                        run = Run(
                            source=None,
                            hash="a",
                            seed=seed,
                            status="done",
                            success=seed < 5,
                            steps=5,
                            test_error=0.1,
                            train_error=0.0,
                            seconds=1.0,
                            arrays=arrays,
                        )
                        runs.append(run)
    settings = replace(TINY, tasks=tasks, widths=(10, 99), samples=(100, None), seeds=7)
    tables = frontier.tables(settings, {"runs": Runs(labels, runs)})
    return Tables(tables, frontier.facts(settings, Tables(tables)))


def test_a_row_of_panels_has_the_curves_of_its_own_task():
    tables = made_up(((50, 3), (60, 4)))
    curves = tables["curves"]
    assert len(curves) == 2 * 2 * 2 * frontier.CURVES_PER_CELL * 2
    ends = curves[curves["step"] == 5]
    np.testing.assert_array_equal(ends["test_error"], ends["n"] / 1000)
    picture = figures.frontier(tables)
    assert len(picture.axes) == 4 * 4
    for axes, n in zip(picture.axes[3::4], (50, 50, 60, 60), strict=True):
        assert f"({n}, " in axes.get_title()
        assert n / 1000 in {
            float(line.get_ydata()[-1]) for line in axes.lines if len(line.get_ydata())
        }


def test_online_runs_are_a_column_of_their_own():
    tables = made_up(((50, 3),))
    assert list(tables["rates"].columns[-2:]) == ["m = 100", "online"]
    assert tables["cells"]["samples"].isna().sum() == 4
    chart = figures.frontier_chart(tables).to_dict()
    maps = chart["vconcat"][0]["concat"]
    assert len(maps) == 2
    assert maps[0]["layer"][0]["encoding"]["x"]["sort"] == ["100", "online"]
