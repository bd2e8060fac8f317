"""The claims and pictures of the study of tables on hand-made ones, where the answer is known.

The error of a run is a formula of its network plus noise. By `good` every claim is true; each is
broken by turning its difference around, and by networks that differ in nothing but noise.
"""

import itertools

import numpy as np
import pandas as pd
import pytest

from elegans.report.result import Tables
from elegans.studies.tables import baselines, claims, comparisons, figures, reference
from elegans.studies.tables import pairs as pairs_of
from elegans.studies.tables import tables as tabular_tables

TABLES = ("heloc", "california")
FRACTIONS = (1.0, 0.1, 0.01)
SHAPES = ((100, 1, 0.0), (100, 2, 0.0), (100, 3, 0.0), (300, 2, 0.0), (100, 2, 0.01))


def good(optimizer, fraction, init, width, depth, decay):
    """An error by which every claim is true."""
    base = {1.0: 0.20, 0.1: 0.25, 0.01: 0.30}[fraction]
    sparse = {"dense": 0.02 / fraction**0.2, "2-sparse": 0.0, "4-sparse": 0.01}[init]
    return base + sparse + 0.5 / width + (0.01 if depth == 1 else 0.0) + 0.1 * decay


def hand_made(error=good, forest=0.0, noise=0.002):
    """Tables with networks that err by `error`, and forests that are `forest` off the paper's."""
    generator = np.random.default_rng(0)
    networks = tabular_tables.network_table(pd.DataFrame(list(runs_by(error, noise, generator))))
    fits = pd.DataFrame(
        {
            **rows_of(dataset, fraction),
            "learner": baselines.FOREST,
            "seed": seed,
            "setting": "all",
            "error": reference.reported(dataset, "forest", fraction) / 100
            + forest
            + noise * generator.normal(),
        }
        for dataset, fraction, seed in itertools.product(TABLES, FRACTIONS, range(5))
    )
    cells = tabular_tables.cell_table(networks, fits)
    best = tabular_tables.best_of(cells)
    facts = {"seeds": 5, "epochs": 100, "most_steps": None, "most_rows": None}
    return Tables({"networks": networks, "fits": fits, "cells": cells, "best": best}, facts)


def runs_by(error, noise, generator):
    """Rows as a sweep's table has them."""
    for dataset, fraction, seed, optimizer, init, (width, depth, decay) in itertools.product(
        TABLES, FRACTIONS, range(5), ("sgd", "adam"), ("dense", "2-sparse", "4-sparse"), SHAPES
    ):
        value = error(optimizer, fraction, init, width, depth, decay)
        yield {
            **rows_of(dataset, fraction),
            "optimizer": optimizer,
            "init": init,
            "hidden": " x ".join([str(width)] * depth),
            "width": width,
            "depth": depth,
            "weight_decay": decay,
            "seed": seed,
            "status": "done",
            "steps": 10,
            "seconds": 1.0,
            "train_error": 0.0,
            "test_error": value + noise * generator.normal(),
        }


def rows_of(dataset, fraction):
    """The labels of a complete table's rows."""
    samples = int(9_000 * fraction)
    return {"dataset": dataset, "is_complete": True, "fraction": fraction, "samples": samples}


@pytest.fixture(scope="module")
def tables():
    return hand_made()


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_a_claim_about_networks_holds_where_it_is_true(tables, claim):
    outcome = claim(tables)
    assert outcome.holds, outcome.measured
    value, low, high = outcome.interval
    assert low <= value <= high
    assert outcome.against


def opposite(name):
    """`good`, with the differences that a claim rests on turned around."""

    def error(optimizer, fraction, init, width, depth, decay):
        value = good(optimizer, fraction, init, width, depth, decay)
        if name.startswith("width"):
            return value - 1.0 / width
        if name.startswith("sparse_helps_more"):
            return value - (0.04 if init == "dense" and fraction == 0.01 else 0.0)
        if name.startswith("sparse"):
            return value - (0.1 if init == "dense" else 0.0)
        if name.startswith("two_sparse"):
            return value - (0.02 if init == "4-sparse" else 0.0)
        if name.startswith("depth"):
            return value - (0.02 if depth == 1 else 0.0)
        return value + 2 * decay  # two points more

    return error


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_a_claim_about_networks_fails_where_the_opposite_is_true(claim):
    outcome = claim(hand_made(opposite(claim.__name__)))
    assert not outcome.holds, outcome.measured


@pytest.mark.parametrize("claim", claims.CLAIMS[:-1], ids=lambda claim: claim.__name__)
def test_a_claim_about_networks_fails_where_there_is_nothing_but_noise(claim):
    assert not claim(hand_made(lambda *_: 0.3)).holds


def test_a_claim_that_has_no_runs_does_not_hold():
    tables = hand_made()
    only = tables["networks"].query("width == 100 and depth == 2 and init == 'dense'")
    only = only[only["weight_decay"] == 0]
    for claim in claims.CLAIMS:
        outcome = claim(Tables({"networks": only}))
        assert not outcome.holds
        assert "no such pairs" in outcome.measured


def test_an_optimizer_answers_for_its_own_networks():
    def error(optimizer, *rest):
        return good(optimizer, *rest) if optimizer == "sgd" else 0.5 - good(optimizer, *rest)

    tables = hand_made(error)
    assert claims.width_helps_under_sgd(tables).holds
    assert not claims.width_helps_under_adam(tables).holds
    assert "widths 100 to 300" in claims.width_helps_under_adam(tables).text


def test_reversals_are_pairs_that_go_the_other_way(tables):
    networks = tables["networks"].query("optimizer == 'adam' and weight_decay == 0")
    pairs = pairs_of.gains(networks, "depth", [(1, 2)])
    keys = ["dataset", "fraction", "init", "seed"]
    errors = networks[networks["width"] == 100].set_index(["depth", *keys])["error"]
    expected = errors.loc[1] - errors.loc[2]
    ours = pairs.set_index(keys)["gain"]
    pd.testing.assert_series_equal(ours.sort_index(), expected.sort_index(), check_names=False)
    assert pairs["reversal"].mean() == (expected < 0).mean()


def test_the_papers_own_numbers_are_near_the_papers(tables):
    def as_printed(optimizer, fraction, *_):
        return reference.reported("heloc", "mlp", fraction) / 100

    assert comparisons.forests_are_the_papers(tables).holds
    printed = hand_made(as_printed)
    printed = Tables({**printed, "best": printed["best"].query("dataset == 'heloc'")})
    assert comparisons.networks_reach_the_papers(printed).holds


def test_forests_more_than_a_point_off_fail_in_both_directions():
    for shift in (-0.015, 0.015):
        outcome = comparisons.forests_are_the_papers(hand_made(forest=shift))
        assert not outcome.holds
        assert "largest distance 1." in outcome.measured


def test_networks_that_err_more_than_the_papers_fail_and_that_err_less_do_not(tables):
    assert not comparisons.networks_reach_the_papers(tables).holds  # california's is 12.2%
    assert comparisons.networks_reach_the_papers(hand_made(lambda *_: 0.1)).holds


def test_sometimes_is_neither_never_nor_always():
    def on_half(optimizer, fraction, *_):
        return 0.05 if fraction == 1.0 else 0.45

    assert comparisons.sometimes_beats_forests(hand_made(on_half)).holds
    for always in (0.05, 0.45):
        outcome = comparisons.sometimes_beats_forests(hand_made(lambda *_, e=always: e))
        assert not outcome.holds


def test_a_picture_has_a_row_of_panels_per_table(tables):
    picture = figures.errors(tables)
    assert len(picture.axes) == len(TABLES) * figures.PANELS
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in picture.axes]
    assert titles[0].startswith("heloc\nAdam, by width")
    labels = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
    assert labels == ["width 100", "width 300"]


def test_a_picture_of_one_shape_and_one_optimizer_has_no_panel_of_sgd(tables):
    cells = tables["cells"].query("optimizer != 'sgd'")
    cells = cells[cells["width"].fillna(100).eq(100) & cells["depth"].fillna(2).eq(2)]
    picture = figures.errors(Tables({**tables, "cells": cells}, tables.facts))
    assert not picture.axes[3].axison


def test_the_chart_has_every_cell(tables):
    chart = figures.error_chart(tables).to_dict()
    (rows,) = chart["datasets"].values()
    assert len(rows) == len(tables["cells"])
    kinds = {row["kind"] for row in rows}
    assert kinds == {"elegans MLP, SGD", "elegans MLP, Adam", baselines.FOREST}
