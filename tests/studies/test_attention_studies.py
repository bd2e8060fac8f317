"""The studies of attention: one from end to end at a tiny scale, and pictures of odd tables."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from elegans.report.result import Tables
from elegans.studies.attention import figures_and, figures_classes, sparse_and, which_functions
from elegans.studies.attention.protocol import HALF, Network, conjunction
from elegans.studies.attention.references import UniqueFrom, elimination_threshold
from elegans.studies.attention.which_functions import RANDOM_TABLE
from elegans.studies.study import Scale
from elegans.training.program import split

TINY = sparse_and.Settings(
    lengths=(6, 10),
    multiples=(0.4,),
    grid=(15, 16),
    trials=2,
    restarts=2,
    steps=20,
    test_rows=64,
    network=Network(dim=8, heads=2),
)


@pytest.mark.usefixtures("cheap_compilation")
def test_sparse_and_runs_from_end_to_end(tmp_path):
    study = dataclasses.replace(sparse_and.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    result = study.run("tiny", out=tmp_path, workers=0, progress=False)
    table = result.tables["thresholds"]
    assert table["T"].tolist() == [6, 10]
    assert (table["sizes"] == 3).all()
    assert len(result.tables["sizes-restart-2"]) == (~result.tables["sizes"]["success"]).sum()
    assert (table["bits"] <= table["search"]).all()
    assert len(result.tables["trials"]) == 2 * 3 * 2
    assert result.structures == 2  # one per T: all sizes are below one power of two
    assert len(result.claims) == 3
    assert all(claim.against and claim.measured for claim in result.claims)
    assert (tmp_path / "sparse-and" / "figure.png").stat().st_size > 10_000


def test_a_sweep_over_m_compiles_once_per_power_of_two():
    settings = dataclasses.replace(TINY, lengths=(50, 60), grid=(100,), restarts=3)

    def structure(T, m):
        _, experiment = settings.points({"T": T}, m)[m % 3]
        return split(experiment.task, experiment.model, experiment.training)[0]

    assert len({structure(50, m) for m in range(33, 65)}) == 1
    assert len({structure(T, m) for T in (50, 60) for m in (40, 50, 70, 100)}) == 4


def test_sizes_are_multiples_of_what_elimination_needs():
    settings = dataclasses.replace(TINY, multiples=(0.5, 1.0), grid=(200,))
    assert settings.sizes(100) == (28, 55, 200)


@pytest.mark.parametrize("T, m", [(20, 40), (50, 49), (100, 55), (300, 65), (1100, 77)])
def test_elimination_needs_as_many_examples_as_its_closed_form_says(T, m):
    assert elimination_threshold(T, 3, HALF) == m


def test_exhaustive_search_knows_the_answer_at_the_first_unique_set():
    from elegans.tasks.unique_conjunction import fit_count

    first = UniqueFrom(T=12, s=2, p=0.7, sets=4)
    for i, m in enumerate(first(0)["m"]):
        x = np.random.default_rng([0, i]).random((1024, 12)) < 0.7
        y = x[:, :2].all(axis=1)
        assert fit_count(x[:m], y[:m], 2, most=9) == 1
        assert m == 1 or fit_count(x[: m - 1], y[: m - 1], 2, most=9) > 1


def test_half_of_the_labels_are_true():
    assert pytest.approx(0.5) == HALF**3
    assert conjunction(20, 10, rows=16, test_rows=10).p == HALF


def test_thresholds_that_were_not_reached_are_drawn_without_a_dot():
    rates = pd.DataFrame({"T": [20, 20, 40], "samples": [10, 20, 20], "rate": [0.0, 0.5, 0.0]})
    table = pd.DataFrame(
        {"T": [20, 40], "fit": math.inf, "low": 10.0, "high": math.inf, "elimination": [40, 47]}
    ).assign(search=20.0, bits=10.0)
    facts = {"trials": 1, "restarts": 1}
    picture = figures_and.thresholds(Tables({"thresholds": table, "rates": rates}, facts))
    assert len(picture.axes) == 2


def test_cells_that_were_not_reached_are_drawn_as_arrows():
    table = pd.DataFrame(
        {
            "function": np.repeat(["AND", "majority", "random", "XOR"], 2),
            "T": [10, 20] * 4,
            "m_star": [32.0, 48, 32, 48, 64, 96, math.inf, math.inf],
            "is_censored": [False] * 6 + [True] * 2,
        }
    )
    rates = table[["function", "T"]].assign(samples=64, rate=0.5)
    facts = {"trials": 2, "steps": 100, "largest": 512}
    picture = figures_and.functions(Tables({"thresholds": table, "rates": rates}, facts))
    arrows = [text for text in picture.axes[0].texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == 2


def test_the_random_function_is_correlated_with_two_of_its_bits():
    bits = 1 - 2 * (np.arange(8)[:, None] >> np.arange(3) & 1)
    assert (bits.T @ np.array(RANDOM_TABLE) / 8).tolist() == [0.0, 0.5, -0.5]
    assert sum(RANDOM_TABLE) == 0
    by_two_bits = np.array(RANDOM_TABLE).reshape(4, 2)  # rows are the values of bits 1 and 2
    assert np.abs(by_two_bits.mean(axis=1)).mean() == 0.5  # the best guess is right on 75%


def test_errors_of_runs_that_failed_leave_out_those_that_succeeded():
    table = pd.DataFrame(
        {
            "function": ["AND"] * 4 + ["XOR"],
            "T": 10,
            "samples": 16,
            "success": pd.array([True, False, False, None, True], dtype="boolean"),
            "test_error": [0.0, 0.1, 0.2, 0.3, 0.0],
        }
    )
    (row,) = which_functions.errors_of_failures(table).to_dict("records")
    assert (row["function"], row["runs"]) == ("AND", 3)
    assert [row[name] for name in ("low", "error", "high")] == pytest.approx([0.15, 0.2, 0.25])


def test_the_docs_show_the_three_wirings_as_they_are_drawn():
    picture = figures_classes.classes()
    words = [" ".join(text.get_text() for text in axes.texts) for axes in picture.axes]
    assert len(words) == 3
    assert "Score" in words[0]
    assert words[1].count("head") == 3
    assert "[CLS]" in words[2]
    docs = Path(__file__).parents[2] / "docs"
    assert "](attention-classes.svg)" in (docs / "variable-creation.md").read_text("utf-8")
    assert (docs / "attention-classes.svg").stat().st_size > 10_000
