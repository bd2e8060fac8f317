"""Lucky neurons: the census against gradients by enumeration, and claims on made-up runs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elegans.experiments.experiment import Experiment
from elegans.experiments.run import initial_of
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.studies.pareto import figures_search, lucky_claims, lucky_neurons, recipe
from elegans.studies.study import Scale
from elegans.tasks import Parity
from elegans.theory.boolean import gradients

TINY = lucky_neurons.Settings(
    tasks=((8, 3),), widths=(4, 12), samples=100, seeds=3, steps=200, evaluate_every=100
)


def test_insiders_are_the_neurons_with_a_population_gradient_at_k_3():
    generator = np.random.default_rng(0)
    weight = np.zeros((7, 60))
    for j in range(60):
        weight[generator.choice(7, 2, replace=False), j] = 1.0
    support = (1, 4, 6)
    expected = [
        np.abs(gradients.enumerated(weight[:, j], support, bias=0.1)[list(support)]).max() > 1e-9
        for j in range(60)
    ]
    assert 0 < sum(expected) < 60
    np.testing.assert_array_equal(lucky_neurons.insiders(weight, support), expected)


def test_no_sparse_neuron_has_a_gradient_at_k_4():
    w = np.zeros(7)
    w[[0, 1]] = 1.0
    assert np.abs(gradients.enumerated(w, (0, 1, 2, 3), bias=0.1)).max() < 1e-12


def test_the_chance_of_an_insider_at_k_4():
    pairs = [(i, j) for i in range(9) for j in range(i)]
    p = np.mean([max(pair) < 4 for pair in pairs])
    np.testing.assert_allclose(lucky_neurons.chance_inside(9, 4, 5), 1 - (1 - p) ** 5, rtol=1e-12)


@pytest.fixture(scope="module")
def result():
    study = replace(lucky_neurons.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    return study.run("tiny", workers=0, progress=False)


def test_the_study_counts_every_network(result):
    census = result.tables["census"]
    assert len(census) == 6
    assert census["lucky"].between(0, census["width"]).all()
    assert len(result.tables["outcomes"]) == 4
    assert len(figures_search.lucky_neurons(Tables(result.tables, result.facts)).axes) == 2


def test_the_census_counts_the_networks_that_runs_start_from(monkeypatch):
    """Brute force: the same seeds as runs, one by one."""
    monkeypatch.setattr(lucky_neurons, "COUNTED", 100)
    monkeypatch.setattr(lucky_neurons, "FIRST_COUNTED", 3)
    experiment = Experiment(
        Parity(8, 3), MLP(width=4, init=inits.Sparse(2)), recipe.training(10, 10)
    )
    held = [
        lucky_neurons.insiders(
            np.asarray(initial_of(experiment, seed).layers[0].weight), (0, 1, 2)
        ).any()
        for seed in range(3, 103)
    ]
    assert 0 < sum(held) < 100
    assert lucky_neurons.networks_held(8, 3, 4) == sum(held)


def made_up(lucky=0.5, gain=1.0, decoy=0.0, unlucky=1.0, excess=0.0):
    """Runs of two widths: lucky ones learn early with rate `gain`, others by the end.

    Of the networks that are drawn so many more than predicted hold a lucky neuron.
    """
    rows = []
    for width in (30, 300):
        for seed in range(60):
            share = lucky if width == 300 else 0.1
            is_lucky = seed % 10 < 10 * share
            has_decoy = seed % 7 < 3
            early = (is_lucky and seed % 20 < 20 * gain) or (has_decoy and seed % 2 < 2 * decoy)
            rows.append(
                {
                    "n": 50,
                    "k": 3,
                    "width": width,
                    "lucky": int(is_lucky),
                    "decoy": int(has_decoy),
                    "early": early,
                    "seed": seed,
                    "status": "done",
                    "success": is_lucky or seed % 20 < 20 * unlucky,
                    "steps": 1000 if early else 3000,
                }
            )
    census = pd.DataFrame(rows)
    held = {
        cell: round(lucky_neurons.COUNTED * (lucky_neurons.chance_inside(*cell) + excess))
        for cell in lucky_neurons.cells_of(census)
    }
    return Tables({"census": census, "chances": lucky_neurons.chances(census, held)}, FACTS)


FACTS = {"early": 1500}


@pytest.mark.parametrize(
    "claim, world",
    [
        (lucky_claims.chances_are_as_predicted, {}),
        (lucky_claims.luck_saves_time, {}),
        (lucky_claims.luck_decides, {"unlucky": 0.2}),
        (lucky_claims.a_decoy_does_not_help, {}),
        (lucky_claims.success_is_calibrated, {}),
    ],
)
def test_claims_hold_where_they_are_true(claim, world):
    checked = claim(made_up(**world))
    assert checked.holds, checked


@pytest.mark.parametrize(
    "claim, world",
    [
        (lucky_claims.chances_are_as_predicted, {"excess": 0.03}),
        (lucky_claims.luck_saves_time, {"gain": 0.3}),
        (lucky_claims.luck_decides, {"unlucky": 1.0}),
        (lucky_claims.a_decoy_does_not_help, {"decoy": 1.0}),
        (lucky_claims.success_is_calibrated, {"gain": 0.2}),
        (lucky_claims.success_is_calibrated, {"lucky": 0.9}),
    ],
)
def test_a_claim_fails_where_it_is_false(claim, world):
    assert not claim(made_up(**world)).holds
