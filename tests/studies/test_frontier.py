"""The frontier at a tiny scale, and its claims on made-up runs where the answer is known."""

import math

import numpy as np
import pandas as pd
import pytest

from elegans.studies.catalogue import studies, study
from elegans.studies.pareto import frontier, frontier_claims

TINY = frontier.Settings(
    tasks=((8, 2),), widths=(2, 20), samples=(8, 200, None), seeds=2, steps=400, evaluate_every=100
)


@pytest.fixture(scope="module")
def result():
    return frontier.measure(TINY, scale="tiny", workers=0, progress=False)


def test_every_cell_of_the_grid_is_in_the_table_with_theory_beside_it(result):
    table = result.table
    assert len(table) == 2 * 2 * 3
    assert (table["runs"] == 2).all()
    np.testing.assert_allclose(table["theory"], math.log2(math.comb(8, 2)))
    parameters = table["width"] * 10 + 1
    np.testing.assert_allclose(
        table["theory_proposition_3"], 0.25 * 28 * 0.5 / (parameters * 400), rtol=1e-9
    )
    assert table["rate"].between(table["low"], table["high"]).all()
    assert table["samples"].isna().sum() == 4


def test_wide_networks_learn_from_enough_data_and_none_learns_from_eight_examples(result):
    table = result.table
    enough = (table["width"] == 20) & (table["samples"] == 200)
    few = (table["width"] == 2) & (table["samples"] == 8)
    assert enough.any()
    assert few.any()
    assert (table.loc[enough, "rate"] == 1).all()
    assert (table.loc[few, "rate"] == 0).all()


def test_curves_are_those_of_the_example_cells(result):
    curves = result.data["curves"]
    assert set(curves["start"]) == {"dense", "2-sparse"}
    assert set(curves["width"]) == {2, 20}
    assert curves.groupby(["start", "width", "seed"]).size().gt(1).all()


def runs_with(rates, starts=("dense", "2-sparse")):
    """Twenty made-up runs a cell with the given success rates by (start, width, samples)."""
    rows = [
        {"n": 50, "k": 3, "start": s, "width": r, "samples": m, "seed": seed,
         "status": "done", "success": seed < 20 * rate, "steps": steps, "test_error": 0.0,
         "train_error": 0.0, "seconds": 1.0}
        for (s, r, m), (rate, steps) in rates.items()
        for seed in range(20)
    ]  # fmt: skip
    runs = pd.DataFrame(rows).astype({"samples": "Int64"})
    return runs, frontier.cells(runs, TINY)


GOOD = {
    ("dense", 10, 100): (0.0, 9000), ("dense", 10, 1000): (0.5, 8000),
    ("dense", 99, 100): (0.6, 7000), ("dense", 99, 1000): (1.0, 1000),
    ("2-sparse", 10, 100): (0.3, 9000), ("2-sparse", 10, 1000): (0.9, 3000),
    ("2-sparse", 99, 100): (1.0, 5000), ("2-sparse", 99, 1000): (1.0, 500),
}  # fmt: skip


def test_all_claims_hold_where_they_are_true():
    claims = frontier_claims.check(*runs_with(GOOD))
    assert len(claims) == 5
    assert all(claim.holds for claim in claims), claims


@pytest.mark.parametrize(
    "change, broken",
    [
        ({("dense", 10, 100): (0.7, 9000), ("dense", 10, 1000): (0.9, 9)}, "Larger width"),
        ({("2-sparse", 99, 1000): (0.1, 500)}, "Width never hurts"),
        ({("dense", 10, 100): (0.3, 9), ("dense", 10, 1000): (0.9, 9), ("dense", 99, 100): (1, 9)},
         "Sparse initialisation"),
        ({key: (rate, 1000) for key, (rate, _) in GOOD.items()}, "Near the edge"),
    ],
)  # fmt: skip
def test_a_claim_fails_where_it_is_false(change, broken):
    claims = frontier_claims.check(*runs_with(GOOD | change))
    assert any(claim.text.startswith(broken) and not claim.holds for claim in claims)


def test_every_study_of_the_catalogue_has_its_costs():
    for found in studies():
        assert study(found.name) is found
        assert "quick" in found.scales
        assert all(scale.cost for scale in found.scales.values())


def test_an_unknown_study_or_scale_is_refused_by_name():
    with pytest.raises(ValueError, match=r"No study is named 'fronteir'; did you mean 'frontier'"):
        study("fronteir")
    with pytest.raises(ValueError, match=r"scale is one of quick, laptop, paper; got 'big'"):
        study("frontier").run("big")
