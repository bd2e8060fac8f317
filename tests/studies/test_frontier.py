"""The frontier at a tiny scale, and its claims on made-up runs where the answer is known."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elegans.experiments.experiment import Experiment
from elegans.experiments.run import initial_of
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.pareto import (
    figures,
    figures_chart,
    frontier,
    frontier_claims,
    frontier_tables,
    frontier_time_claims,
)
from elegans.studies.plan import structures_of
from elegans.studies.study import Scale
from elegans.tasks import Parity

TINY = frontier.Settings(
    tasks=((8, 2),),
    widths=(2, 20),
    samples=(8, 200),
    seeds=2,
    steps=400,
    evaluate_every=100,
    zoom=(50,),
    past=(200,),
    past_width=20,
)
SEEDS = 10


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    study = replace(frontier.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    return study.run("tiny", out=tmp_path_factory.mktemp("out"), workers=0, progress=False)


def test_every_cell_of_the_grid_is_in_the_table_with_theory_beside_it(result):
    cells = result.tables["cells"]
    assert len(cells) == 2 * 2 * (2 + 1)
    assert (cells["part"] == "zoom").sum() == 2 * 2
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
    by = [*frontier_tables.CELL, "seed"]
    last = curves.groupby(by).tail(1).merge(runs, on=by)
    assert len(last) == 2 * 2 * 2
    np.testing.assert_array_equal(last["test_error_x"], last["test_error_y"])
    np.testing.assert_array_equal(last["step"], last["steps"])


def test_runs_past_success_are_the_same_runs_for_longer(result):
    past, runs = result.tables["past"], result.tables["runs"]
    by = ["init", "width", "samples", "seed"]
    both = past.merge(runs[runs["success"]], on=by, suffixes=("_past", ""))
    assert len(both) == 2 * 2
    np.testing.assert_array_equal(both["steps_past"], both["steps"])
    is_perfect = both["perfect"].to_numpy(bool)
    assert (both["test_error_past"][is_perfect] == 0).all()
    assert both["perfect_steps"].notna().equals(both["perfect"].astype(bool))


def test_fitted_is_the_first_look_without_an_error_on_the_training_rows(result):
    runs, curves = result.tables["runs"], result.tables["curves"]
    by = [*frontier_tables.CELL, "seed"]
    first = curves[curves["train_error"] == 0].groupby(by)["step"].min().rename("first")
    both = curves[by].drop_duplicates().merge(runs, on=by).set_index(by)
    np.testing.assert_array_equal(both["fitted"], first.reindex(both.index))
    assert both["fitted"].notna().any()


def test_the_quick_scale_compiles_few_structures(result):
    assert result.structures == 2 + 1  # two widths, and runs past success
    assert (
        len(structures_of(frontier.runs(frontier.QUICK))) == 2 * 5 + 2
    )  # online and past success apart


def runs_with(rates, fitted=400, perfect=True, seeds=SEEDS):
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
            "success": seed < seeds * rate,
            "steps": steps,
            "test_error": 0.0,
            "train_error": 0.0,
            "seconds": 1.0,
        }
        for (init, width, samples), (rate, steps) in rates.items()
        for seed in range(seeds)
    ]
    runs = frontier_tables.with_columns(pd.DataFrame(rows))
    # Those at the edge, m = 100, fit their rows early; the others never.
    runs = runs.assign(fitted=np.where(runs["samples"] == 100, fitted, np.nan))
    past = runs.assign(perfect=perfect, perfect_steps=2 * runs["steps"])
    cells = frontier_tables.cell_table(runs, 10_000)
    return Tables({"runs": runs, "cells": cells, "past": past})


GOOD = {
    ("dense", 10, 100): (0.0, 9000),
    ("dense", 10, 1000): (0.5, 8000),
    ("dense", 99, 100): (1.0, 7000),
    ("dense", 99, 1000): (1.0, 1000),
    ("2-sparse", 10, 100): (0.0, 9000),
    ("2-sparse", 10, 1000): (1.0, 3000),
    ("2-sparse", 99, 100): (1.0, 5000),
    ("2-sparse", 99, 1000): (1.0, 500),
    ("dense", 10, 50): (0.0, 9000),
    ("dense", 99, 50): (0.0, 9000),
    ("2-sparse", 10, 50): (0.0, 9000),
    ("2-sparse", 99, 50): (1.0, 9000),
}
CLAIMS = frontier.STUDY.claims


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_hold_where_they_are_true(claim):
    checked = claim(runs_with(GOOD))
    assert checked.holds, checked
    if checked.interval is not None:
        value, low, high = checked.interval
        assert low <= value <= high


ALIKE = {key: (rate, 1000) for key, (rate, _) in GOOD.items()}
DATA, TIME = frontier_claims, frontier_time_claims


@pytest.mark.parametrize(
    "claim, change, options",
    [
        (DATA.far_fewer_than_parities, dict.fromkeys(GOOD, (0.0, 9)), {}),
        (DATA.width_buys_data, {("dense", 10, 100): (0.6, 900)}, {}),
        (
            DATA.width_never_hurts,
            {("2-sparse", 99, m): (0.0, 500) for m in (50, 100, 1000)},
            {},
        ),
        (
            DATA.width_turns_failure_into_success,
            {(init, 99, m): (0.9, 9) for init in frontier.INITS for m in (50, 100)},
            {},
        ),
        (
            DATA.sparse_enlarges,
            {("2-sparse", 10, 1000): (0.5, 3000), ("2-sparse", 99, 50): (0.0, 9000)},
            {},
        ),
        (DATA.sparse_buys_data, {("2-sparse", 99, 50): (0.0, 9000)}, {}),
        (TIME.width_buys_time, ALIKE, {}),
        (TIME.width_buys_time, dict.fromkeys(GOOD, (0.0, 9)), {}),
        (TIME.sparse_buys_time, ALIKE, {}),
        (TIME.sparse_buys_time, {("2-sparse", 99, 1000): (1.0, 2000)}, {}),
        (TIME.fewer_samples_take_longer, ALIKE, {}),
        (TIME.fewer_samples_take_longer, dict.fromkeys(GOOD, (0.0, 9)), {}),
        (TIME.runs_grok_at_the_edge, {}, {"fitted": np.nan}),
        (TIME.runs_grok_at_the_edge, {}, {"fitted": 6000}),
        (TIME.runs_grok_at_the_edge, dict.fromkeys(GOOD, (0.0, 9)), {}),
        (TIME.generalisation_becomes_perfect, {}, {"perfect": False}),
    ],
)
def test_a_claim_fails_where_it_is_false(claim, change, options):
    assert not claim(runs_with(GOOD | change, **options)).holds


@pytest.mark.parametrize("settings", [frontier.QUICK, frontier.LAPTOP])
def test_width_hurts_if_one_width_fails_at_one_size_in_each_seed(settings):
    """At either scale less than the loss of one m out of all breaks the claim."""
    rates = {
        (init, width, samples): (1 - 0.8 * (init == "dense" and width == 300 and i == 0), 1000)
        for init in frontier.INITS
        for width in settings.widths
        for i, samples in enumerate(m for m in settings.samples if m is not None)
    }
    claim = frontier_claims.width_never_hurts(runs_with(rates, seeds=settings.seeds))
    assert "of 20 pairs" in claim.measured
    assert not claim.holds
    none = dict.fromkeys(rates, (1.0, 1000))
    assert frontier_claims.width_never_hurts(runs_with(none, seeds=settings.seeds)).holds


@pytest.mark.parametrize("settings", [frontier.QUICK, frontier.LAPTOP])
def test_one_column_of_all_shows_that_width_alone_decides(settings):
    """Of as many columns as a scale has one is enough with all its seeds, and none with half."""
    rates = {
        (init, width, samples): (float(init == "dense" and width == 1000 and samples == 1000), 1000)
        for init in frontier.INITS
        for width in (10, 1000)
        for samples in range(1000, 1000 + len(settings.tasks) * len(settings.samples))
    }
    tables = runs_with(rates, seeds=settings.seeds)
    assert frontier_claims.width_turns_failure_into_success(tables).holds
    fewer = Tables({"runs": tables["runs"].query(f"seed < {settings.seeds // 2}")})
    assert not frontier_claims.width_turns_failure_into_success(fewer).holds


def test_a_seed_has_one_vote_for_what_a_sparse_init_buys_whatever_the_tasks():
    """Four tasks on which four seeds differ are the evidence of four seeds, which is too little."""
    runs = runs_with(GOOD)["runs"]
    is_gain = (runs["init"] == "2-sparse") & (runs["samples"] == 50) & (runs["seed"] >= 4)
    runs.loc[is_gain, "success"] = False
    tasks = pd.concat([runs.assign(n=n) for n in (50, 60, 70, 80)])
    claim = frontier_claims.sparse_buys_data(Tables({"runs": tasks}))
    assert (
        "4 seeds need fewer examples from the sparse init, 0 more and 6 as many" in claim.measured
    )
    assert not claim.holds


def test_sparse_inits_of_different_widths_are_nested():
    """What a seed's narrow network reads, the first neurons of its wide one read too."""
    task, init = Parity(50, 3), inits.Sparse(2)
    narrow, wide = (
        initial_of(Experiment(task, MLP(width=width, init=init), TINY.training(8)), 7)
        for width in (30, 300)
    )
    np.testing.assert_array_equal(narrow.layers[0].weight, wide.layers[0].weight[:, :30])


def test_a_run_that_failed_counts_neither_way():
    tables = runs_with(GOOD)
    runs = tables["runs"].copy()
    lost = (runs["width"] == 99) & (runs["seed"] == 0)
    runs.loc[lost, ["success", "steps", "test_error"]] = None
    runs.loc[lost, "status"] = "failed"
    cells = frontier_tables.cell_table(runs, 10_000)
    assert set(cells["runs"]) == {SEEDS, SEEDS - 1}
    again = Tables({"runs": runs, "cells": cells, "past": tables["past"]})
    assert all(claim(again).holds for claim in CLAIMS)
    none = runs.assign(success=pd.array([None] * len(runs), "boolean"))
    assert frontier_tables.cell_table(none, 10_000)["rate"].isna().all()


def test_medians_count_runs_without_success_as_the_longest():
    runs = runs_with({("dense", 10, 100): (0.6, 1000)})["runs"]
    runs["steps"] = np.where(runs["success"], [100, 200, 300, 400, 500, 600, 9, 9, 9, 9], 10_000)
    assert frontier_tables.cell_table(runs, 10_000)["median_steps"].tolist() == [550.0]


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
    grid = Runs(labels, runs)
    past = grid.where(n=tasks[0][0], width=99)
    tables = frontier.tables(settings, {"runs": grid, "past": past})
    return Tables(tables, frontier.facts(settings, Tables(tables)))


def test_a_panel_has_the_curves_of_its_own_task_and_boxes_of_their_cells():
    tables = made_up(((50, 3), (60, 4)))
    curves = tables["curves"]
    assert len(curves) == 2 * 2 * 2 * 7 * 2
    ends = curves[curves["step"] == 5]
    np.testing.assert_array_equal(ends["test_error"], ends["n"] / 1000)
    picture = figures.frontier(tables)
    grid = np.array(picture.axes).reshape(4, 2)  # a column per task; maps and runs of each init
    for n, column in zip((50, 60), grid.T, strict=True):
        for heat_map, runs in (column[:2], column[2:]):
            assert f"({n}, " in heat_map.get_title()
            assert f"({n}, " in runs.get_title()
            assert n / 1000 in {
                float(line.get_ydata()[-1]) for line in runs.lines if len(line.get_ydata())
            }
            assert len(heat_map.patches) == 2
            places = {
                (round(box.get_x() + 0.46), round(box.get_y() + 0.46)) for box in (heat_map.patches)
            }
            assert places == {(0, 0), (0, 1)}  # m = 100 is the first column
    assert len(figures.width(tables).axes) == 8


def test_a_wait_is_from_the_first_fit_to_success_and_there_is_none_online():
    runs = runs_with({("dense", 10, 100): (1.0, 1000)}, fitted=400)["runs"]
    online = runs.assign(samples=pd.array([None] * len(runs), "Int64"), fitted=np.nan)
    late = runs.assign(samples=200, fitted=np.nan).astype({"samples": "Int64"})
    cells = frontier_tables.cell_table(pd.concat([runs, late, online]), 10_000)
    np.testing.assert_array_equal(cells["wait"], [0.6, 0.0, np.nan])


def test_one_task_is_drawn_in_rows():
    tables = made_up(((50, 3),))
    assert [axes.get_title().split(":")[0] for axes in figures.frontier(tables).axes[::2]] == [
        f"(50, 3)-parity, {init} init" for init in frontier.INITS
    ]


def test_online_runs_are_a_column_of_their_own():
    tables = made_up(((50, 3),))
    assert list(tables["rates"].columns[-2:]) == ["m = 100", "online"]
    assert tables["cells"]["samples"].isna().sum() == 4
    assert tables["runs"].loc[tables["runs"]["samples"].isna(), "fitted"].isna().all()
    chart = figures_chart.frontier_chart(tables).to_dict()
    maps = chart["vconcat"][0]["concat"]
    assert len(maps) == 2
    assert maps[0]["layer"][0]["encoding"]["x"]["sort"] == ["100", "online"]
