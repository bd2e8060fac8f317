"""What studies of chapter 8 measure: phases of a curve, a bundle, probes of the construction."""

import dataclasses

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import pytest

import elegans as el
from elegans.protocols import View
from elegans.runs import Runs
from elegans.studies.induction import (
    induction_heads,
)
from elegans.studies.induction.phases import Recipe, curves, phases, visits_in_order
from elegans.studies.induction.probes import Losses, Scores, Unevenness
from elegans.studies.induction.single_layer import BestSingleLayer
from elegans.studies.study import Scale
from elegans.theory.markov import expected_loss

pytestmark = pytest.mark.usefixtures("cheap_compilation")


def test_phases_leave_out_repeats_and_note_first_visits():
    table = pd.DataFrame(
        {
            "seed": 0,
            "step": range(5),
            "nearest": ["uniform", "uniform", "unigram", "bigram", "bigram"],
        }
    )
    row = phases(table).iloc[0]
    assert row["phases"] == "uniform, unigram, bigram"
    assert (row["first_unigram"], row["first_bigram"]) == (2, 3)
    assert np.isnan(row["first_trigram"])
    assert visits_in_order("uniform, unigram, bigram, unigram, bigram", ("unigram", "bigram"))
    assert not visits_in_order("bigram, unigram", ("unigram", "bigram"))
    assert not visits_in_order("uniform, unigram, bigram, unigram", ("unigram", "bigram"))


TINY_RECIPE = Recipe(steps=6, rate=1e-3, evaluations=3, batch=8)
TINY = induction_heads.Settings(
    seeds=2,
    transformer=TINY_RECIPE,
    minimal=dataclasses.replace(TINY_RECIPE, optimizer="sgd"),
    states=(2,),
    length=8,
    dim=4,
)


def test_a_study_runs_from_settings_to_a_bundle(tmp_path):
    study = dataclasses.replace(induction_heads.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    result = study.run("tiny", out=tmp_path, workers=0, progress=False)
    assert set(result.tables) >= {"runs", "levels", "curves", "phases", "elsewhere", "shares"}
    assert len(result.tables["runs"]) == 4
    assert len(result.tables["curves"]) == 4 * 4  # evaluations at 0, 2, 4 and 6 steps
    assert not any(claim.holds for claim in result.claims)  # networks of six steps
    assert (tmp_path / "induction-heads" / "figure.png").exists()
    assert result.tables["levels"]["divergence"].is_monotonic_decreasing


def view(model, params, task):
    return View(params, params, model, task, jr.key(0), np.int32(0))


def test_losses_of_the_construction_are_those_of_the_bigram_strategy():
    task = el.tasks.MarkovChains(states=2, length=30)
    model, params = el.constructions.bigram_minimal(2, 30)
    priors = (el.tasks.Dirichlet(), el.tasks.IidUnigram(), el.tasks.DoublyStochastic())
    seen = Losses(priors, sequences=512)(view(model, params, task))
    assert set(seen) == {"dirichlet", "iid", "doubly_stochastic"}
    level = expected_loss("bigram", task, jr.key(0), 512).divergence_at_end
    assert float(seen["dirichlet"]["bigram"]) == pytest.approx(level.value, rel=1e-4)
    uniform = np.log(2)  # of which the truth's entropy is the rest
    assert float(seen["iid"]["uniform"]) < uniform
    # Where unigrams are all there is they are better than bigrams, and worthless where not.
    assert float(seen["iid"]["unigram"]) < float(seen["iid"]["bigram"])
    doubly = seen["doubly_stochastic"]
    assert float(doubly["unigram"]) == pytest.approx(float(doubly["uniform"]), abs=0.02)


def test_the_construction_has_all_its_attention_where_the_probe_looks():
    task = el.tasks.MarkovChains(states=2, length=30)
    model, params = el.constructions.bigram_transformer(2, 30)
    seen = el.probes.AttentionMasses()(view(model, params, task))
    assert float(seen["previous"]) == pytest.approx(1, abs=1e-5)
    # Less than one: the first token looks at itself, and so counts as its own successor.
    assert 0.9 < float(seen["successors"]) < 1
    assert int(np.argmax(seen["encoding"])) == 1
    uneven = Unevenness(sequences=16)(view(model, params, task))
    even = 1 - np.mean(1 / np.arange(1, 31))  # all on one token, but for the first position
    assert float(uneven[0]) == pytest.approx(even, abs=1e-4)


def test_scores_are_attention_before_the_softmax():
    task = el.tasks.MarkovChains(states=3, length=6)
    model = el.models.AttentionOnly(layers=2, heads=1, dim=8, scale=2.0)
    params = model.init_params(jr.key(0), task)
    seen = Scores(shown=6)(view(model, params, task))
    for layer in range(2):
        for i in range(6):
            exps = np.exp(np.asarray(seen["scores"][layer, i, : i + 1], np.float64))
            np.testing.assert_allclose(
                seen["attention"][layer, i, : i + 1], exps / exps.sum(), rtol=1e-4
            )


def test_curves_put_losses_beside_those_of_strategies():
    task, model = el.tasks.MarkovChains(2, 8), el.models.MinimalInduction()
    recipe = dataclasses.replace(TINY_RECIPE, optimizer="sgd")
    probes = {
        "divergences": el.probes.Divergences(sequences=16),
        "losses": Losses(sequences=32),
    }
    run = el.run(el.Experiment(task, model, recipe.training()), seed=0, probes=probes)
    table = curves(Runs([{"model": "minimal"}], [run]))
    assert list(table["step"]) == [0, 2, 4, 6]
    assert list(table["examples"]) == [0, 16, 32, 48]
    np.testing.assert_allclose(table["above_uniform"].iloc[0], 0, atol=1e-4)  # W = 0: all alike
    assert table["nearest"].iloc[0] == "uniform"


def test_the_best_single_layer_is_between_unigrams_and_bigrams():
    fit = BestSingleLayer(length=20, position="relative", mlp=False, steps=150, fresh=8192)
    row = fit(0).iloc[0]
    task = el.tasks.MarkovChains(2, 20)
    unigram, bigram = (
        expected_loss(name, task, jr.key(0), 4096).divergence_at_end.value
        for name in ("unigram", "bigram")
    )
    assert 0 < row["low"] < row["high"] < unigram - bigram
    # With no scores and a read-out of frequencies it is a unigram strategy, but for its logarithm.
    tokens = jnp.array([[0, 1, 1, 1], [0, 0, 0, 1]])
    zero = {
        "pairs": jnp.zeros((2, 2)),
        "distances": jnp.zeros((2, 4)),
        "values": jnp.zeros(4),
        "current": jnp.zeros(2),
        "slope": jnp.array([1.0, 0.0]),
    }
    odds = BestSingleLayer(4, "relative", False).log_odds(zero, tokens)
    np.testing.assert_allclose(odds, [0.75, 0.25], rtol=1e-6)
