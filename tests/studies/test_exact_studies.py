"""The studies that train nothing: what they claim at a small size, and that claims can fail."""

import importlib

import numpy as np
import pytest

from elegans.studies import catalogue
from elegans.studies.progress import fourier_gaps
from elegans.studies.sparse_activation import low_degree, rademacher, sensitivity
from elegans.theory.boolean import majority

SMALL = {
    "fourier-gaps": fourier_gaps.Settings(
        n=9, ks=(2, 4), trials=60, paths=3, path_k=4, steps=3000, every=300
    ),
    "low-degree": low_degree.Settings(n=9, b=3, degrees=(0, 1, 2, 3), samples=3000, seeds=2),
    "sensitivity": sensitivity.Settings((6, 8), (1, 2), (1, 2), 0.9, 1),
    "rademacher": rademacher.Settings((8,), (100, 400), (2, 8), (1, 2), 4),
}


@pytest.fixture(scope="module")
def results():
    return {name: catalogue.study(name).measure(small) for name, small in SMALL.items()}


@pytest.mark.parametrize("name", SMALL)
def test_studies_have_a_table_with_theory_and_claims_that_hold(results, name):
    result = results[name]
    assert result.study == name == catalogue.study(name).name
    assert result.table["theory"].notna().all()
    assert [claim.text for claim in result.claims if not claim.holds] == []
    assert len(result.claims) >= 3


@pytest.mark.parametrize("name", SMALL)
def test_studies_are_drawn_and_have_a_page(results, name):
    pictures = importlib.import_module(f"elegans.report.{name.replace('-', '_')}")
    assert len(pictures.draw(results[name]).axes) >= 2
    assert pictures.page(results[name]).to_dict()["$schema"]


@pytest.mark.parametrize("name", SMALL)
def test_every_study_comes_in_three_scales(name):
    assert list(catalogue.study(name).scales) == ["quick", "laptop", "paper"]


def test_signs_have_majoritys_gap_in_the_table(results):
    table = results["fourier-gaps"].table
    signs = table[(table["function"] == "threshold") & (table["start"] == "sign")]
    expected = [majority.gap(9, int(k)) / 2 for k in signs["k"]]
    np.testing.assert_allclose(signs["median_gap"], expected, rtol=1e-9)


def test_claims_about_gaps_fail_where_gaps_are_small(results):
    table, paths = results["fourier-gaps"].table, results["fourier-gaps"].data["paths"]
    small = table.assign(median_gap=0.0, above_majority=0.0, above_majority_low=0.0)
    flat = paths.assign(gap=0.1)
    assert not any(claim.holds for claim in fourier_gaps.check(small, flat))


def test_claims_about_degrees_fail_on_other_errors(results):
    runs, table = results["low-degree"].data["runs"], results["low-degree"].table
    wrong = table.assign(error=0.5)
    heavy = runs.assign(theory_bound=0.5 * runs["theory"])
    assert not any(claim.holds for claim in low_degree.check(heavy, wrong, SMALL["low-degree"]))


def test_claims_about_sensitivities_fail_above_their_bounds(results):
    result = results["sensitivity"]
    runs = result.data["runs"].assign(AS=1e9, NS=1e9, theory_lemma_9=1.0)
    assert not any(claim.holds for claim in sensitivity.check(runs, result.table))


def test_claims_about_complexities_fail_above_their_bounds(results):
    table = results["rademacher"].table
    assert not any(
        claim.holds for claim in rademacher.check(table.assign(measured=1e3 * table["s"]))
    )
