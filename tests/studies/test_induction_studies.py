"""Studies of induction heads: claims that hand-made tables break, figures, one study as a whole."""

import dataclasses

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import pytest

import elegans as el
from elegans.protocols import View
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies import catalogue
from elegans.studies.induction import (
    attention_patterns,
    figures,
    induction_heads,
    mixtures,
    more_states,
    one_layer_fails,
    trigrams,
)
from elegans.studies.induction import induction_heads_claims as heads_claims
from elegans.studies.induction.phases import Recipe, at_end, curves, phases, shares, visits_in_order
from elegans.studies.induction.probes import Losses, Scores, Unevenness
from elegans.studies.induction.single_layer import BestSingleLayer
from elegans.studies.study import Scale
from elegans.theory.markov import expected_loss

pytestmark = pytest.mark.usefixtures("cheap_compilation")
NAMES = (
    "induction-heads",
    "attention-patterns",
    "mixtures",
    "trigrams",
    "one-layer-fails",
    "more-states",
)
SEEDS = 6
LEVELS = {"uniform": 0.3, "unigram": 0.1, "bigram": 0.01, "trigram": 0.0}


def holds(claim, tables) -> bool:
    """Whether a claim holds on tables; what it says of them can be printed."""
    outcome = claim(tables)
    assert outcome.text
    assert outcome.against
    assert outcome.measured
    return outcome.holds


def run_curve(order, losses, names=("uniform", "unigram", "bigram"), **labels) -> pd.DataFrame:
    """The curves of some seeds that are nearest to given strategies, with given losses."""
    steps = np.arange(len(order)) * 10
    parts = []
    for seed in range(SEEDS):
        loss = np.asarray(losses) + 1e-4 * seed
        columns = {name: [0.1 if near != name else 0.0 for near in order] for name in names}
        above = {f"above_{name}": loss - LEVELS[name] for name in names}
        more = {f"above_{name}_mean": loss - LEVELS[name] for name in names}
        errors = {f"above_{name}_error": 1e-3 for name in names}
        parts.append(
            pd.DataFrame(
                {
                    **labels,
                    "seed": seed,
                    "step": steps,
                    "examples": 64 * steps,
                    **columns,
                    "nearest": list(order),
                    "loss": loss,
                    **above,
                    **more,
                    **errors,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def levels(names=("uniform", "unigram", "bigram"), **labels) -> pd.DataFrame:
    """The strategies' levels with an error of a hundredth of a nat."""
    divergence = np.array([LEVELS[name] for name in names])
    return pd.DataFrame(
        {
            **labels,
            "strategy": list(names),
            "divergence": divergence,
            "divergence_low": divergence - 0.001,
            "divergence_high": divergence + 0.001,
        }
    )


GOOD = (["uniform", "unigram", "unigram", "bigram"], [0.3, 0.1, 0.1, 0.012])
UNTRAINED = (["uniform"] * 4, [0.3] * 4)
STUCK = (["uniform", "unigram", "unigram", "unigram"], [0.3, 0.1, 0.1, 0.1])


def heads_tables(transformer=GOOD, minimal=GOOD, doubly=(0.3, 0.3, 0.28, 0.02), iid=0.05) -> Tables:
    """Tables of `induction-heads`; `doubly` and `iid` are losses on the other chains."""
    parts, elsewhere = [], []
    for model, (order, losses) in (("transformer", transformer), ("minimal", minimal)):
        for states in (2, 3):
            part = run_curve(order, losses, model=model, states=states)
            parts.append(part)
            for chains in ("dirichlet", "iid", "doubly_stochastic"):
                network = {
                    "dirichlet": part["loss"],
                    "iid": np.where(part["nearest"] == "uniform", 0.3, iid),
                    "doubly_stochastic": np.tile(doubly, SEEDS),
                }[chains]
                fixed = {"uniform": 0.3, "unigram": 0.02 if chains == "iid" else 0.1}
                rows = part[["model", "states", "seed", "step"]]
                elsewhere.append(rows.assign(chains=chains, network=network, bigram=0.01, **fixed))
    table = pd.concat(parts, ignore_index=True)
    by = ["model", "states", "seed"]
    return Tables(
        {
            "curves": table,
            "phases": phases(table, by),
            "elsewhere": pd.concat(elsewhere, ignore_index=True),
            "levels": pd.concat([levels(states=2), levels(states=3)], ignore_index=True),
        },
        {"length": 100, "seeds": SEEDS},
    )


def test_claims_about_phases_hold_of_phases_and_of_nothing_else():
    good, flat = heads_tables(), (0.3,) * 4
    untrained = heads_tables(UNTRAINED, UNTRAINED, doubly=flat, iid=0.3)
    for claim in (
        heads_claims.phases_come_in_order,
        heads_claims.transformers_end_at_bigrams,
        heads_claims.minimal_ends_at_bigrams,
        heads_claims.plateau_is_unigrams,
        heads_claims.doubly_stochastic_chains_are_learned_last,
    ):
        assert holds(claim, good)
        assert not holds(claim, untrained)
    assert not holds(heads_claims.minimal_spends_less_time_at_unigrams, untrained)
    stuck = heads_tables(STUCK, STUCK, doubly=flat)
    assert not holds(heads_claims.phases_come_in_order, stuck)
    assert not holds(heads_claims.transformers_end_at_bigrams, stuck)
    assert not holds(heads_claims.minimal_ends_at_bigrams, stuck)
    # On chains where unigrams tell nothing the loss has fallen already, or not on independent ones.
    assert not holds(heads_claims.plateau_is_unigrams, heads_tables(doubly=(0.3, 0.2, 0.1, 0.0)))
    assert not holds(heads_claims.plateau_is_unigrams, heads_tables(iid=0.2))


def test_the_minimal_model_is_compared_by_its_share_of_the_time_before_bigrams():
    quick = (["uniform", "bigram", "bigram", "bigram"], GOOD[1])
    claim = heads_claims.minimal_spends_less_time_at_unigrams
    assert holds(claim, heads_tables(minimal=quick))
    assert not holds(claim, heads_tables())
    assert claim.known_failure.scales == ("quick",)


def trigram_tables(three, one) -> Tables:
    names = trigrams.STRATEGIES
    table = pd.concat(
        [
            run_curve(*three, names, model="3 heads", heads=3),
            run_curve(*one, names, model="1 head", heads=1),
        ],
        ignore_index=True,
    )
    by = ["model", "heads", "seed"]
    ends = at_end(table, by)
    return Tables(
        {"curves": table, "phases": phases(table, by), "ends": ends, "levels": levels(names)},
        {"length": 20, "states": 2, "seeds": SEEDS},
    )


def test_claims_about_trigrams_need_both_the_success_and_the_failure():
    order = ["uniform", "unigram", "bigram", "trigram"]
    three, one = (order, [0.3, 0.1, 0.012, 0.01]), (order[:3] * 2, [0.3, 0.1, 0.01] * 2)
    below = (three[0], [0.3, 0.1, 0.012, -0.05])
    good = trigram_tables(below, one)
    assert holds(trigrams.phases_come_in_order, good)
    assert holds(trigrams.one_head_stays_at_bigrams, good)
    assert holds(trigrams.three_heads_converge, trigram_tables(three, one))
    untrained = trigram_tables(UNTRAINED, UNTRAINED)
    for claim in (
        trigrams.phases_come_in_order,
        trigrams.three_heads_converge,
        trigrams.one_head_stays_at_bigrams,
    ):
        assert not holds(claim, untrained)
    # One head that gets below bigrams, one that does not reach them, and a control that fails.
    for head, control in ((below, below), (STUCK, below), (one, one)):
        assert not holds(trigrams.one_head_stays_at_bigrams, trigram_tables(control, head))
    assert len(figures.stages(good).axes) == 4
    assert figures.stages_chart(good).to_dict()["$schema"]


def states_tables(short, long) -> Tables:
    parts = [
        run_curve(*run, model=f"5 states, {t} tokens", states=5, length=t)
        for run, t in ((short, 100), (long, 200))
    ]
    table = pd.concat(parts, ignore_index=True)
    gaps = [levels(states=5, length=100, model="a"), levels(states=5, length=200, model="b")]
    gaps[1].loc[0:1, ["divergence", "divergence_low", "divergence_high"]] += 0.05
    return Tables(
        {
            "curves": table,
            "phases": phases(table, more_states.BY),
            "shares_by_seed": shares(table, more_states.BY, ("uniform", "unigram", "bigram")),
            "levels": pd.concat(gaps, ignore_index=True),
        },
        {"lengths": [100, 200], "seeds": SEEDS},
    )


def test_claims_about_more_states_compare_lengths():
    brief = (["uniform", "uniform", "unigram", "bigram"], GOOD[1])
    good = states_tables(brief, GOOD)
    for claim in (
        more_states.phases_extend,
        more_states.difference_grows,
        more_states.unigram_phase_is_longer,
    ):
        assert holds(claim, good)
    assert not holds(more_states.phases_extend, states_tables(GOOD, STUCK))
    assert not holds(more_states.phases_extend, states_tables(UNTRAINED, UNTRAINED))
    assert not holds(more_states.unigram_phase_is_longer, states_tables(GOOD, brief))
    assert not holds(more_states.unigram_phase_is_longer, states_tables(UNTRAINED, UNTRAINED))
    reverse = Tables({"levels": good["levels"].assign(length=300 - good["levels"]["length"])})
    assert not holds(more_states.difference_grows, reverse)


def layer_tables(gains, way_of_two=0.9, best=0.02) -> Tables:
    names = [one_layer_fails.name_of(*variant) for variant in one_layer_fails.VARIANTS]
    gap = LEVELS["unigram"] - LEVELS["bigram"]
    ends = pd.DataFrame(
        {
            "model": names,
            "layers": 1,
            "seed": 0,
            "steps": 80,
            "gain": gains,
            "error": 1e-4,
            "way": np.asarray(gains) / gap,
            "best": best,
        }
    )
    two = {
        "model": "two layers",
        "layers": 2,
        "seed": 0,
        "steps": 10,
        "gain": way_of_two * gap,
        "error": 1e-4,
        "way": way_of_two,
    }
    fits = pd.DataFrame({"model": names, "gain": best, "low": best - 1e-3, "high": best + 1e-3})
    return Tables({"ends": pd.concat([ends, pd.DataFrame([two])]), "best": fits})


def test_one_layer_fails_only_if_it_reaches_unigrams_and_two_layers_go_on():
    stays, class_ = (
        one_layer_fails.one_layer_stays_at_unigrams,
        one_layer_fails.gain_is_that_of_the_class,
    )
    good = layer_tables([0.01, 0.01, 0.015, 0.018])
    assert holds(stays, good)
    assert holds(class_, good)
    assert not holds(stays, layer_tables([-0.2] * 4))  # an untrained network
    assert not holds(class_, layer_tables([-0.2] * 4))
    assert not holds(stays, layer_tables([0.01, 0.01, 0.015, 0.06]))
    assert not holds(stays, layer_tables([0.01] * 4, way_of_two=0.3))
    assert not holds(class_, layer_tables([0.01, 0.01, 0.01, 0.03]))


def mixture_tables(**curve) -> Tables:
    """Curves of each arm by step: the loss falls to the goal after so many steps."""
    parts = []
    for arm, (share, arrival, plateau) in curve.items():
        name = {"p100": "100%", "p90": "90%", "p75": "75%", "p50": "50%"}.get(arm, arm)
        step = np.arange(0, 100, 10)
        for seed in range(SEEDS):
            loss = np.where(step < arrival + seed, 0.1 if plateau else 0.2, 0.02)
            parts.append(
                pd.DataFrame(
                    {
                        "arm": name,
                        "share": share,
                        "seed": seed,
                        "step": step,
                        "examples": 64 * step,
                        "loss": loss,
                        "unigram": 0.1,
                        "bigram": 0.01,
                    }
                )
            )
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(counted=table["share"] * table["examples"])
    times = table.groupby(["arm", "share", "seed"], sort=False)[list(table)].apply(
        lambda part: mixtures.arrival(part, 1 / 3)
    )
    facts = {"goal": 0.07, "states": 3, "length": 50, "seeds": SEEDS, "mixture_seeds": SEEDS}
    return Tables({"curves": table, "times": times.reset_index(), "levels": levels()}, facts)


def test_mixtures_slow_learning_only_if_they_take_more_doubly_stochastic_sequences():
    slow = mixture_tables(
        p100=(1.0, 20, False),
        p90=(0.9, 40, True),
        p75=(0.75, 50, True),
        p50=(0.5, 80, True),
        original=(1.0, 60, True),
    )
    fast = mixture_tables(
        p100=(1.0, 50, True),
        p90=(0.9, 45, True),
        p75=(0.75, 50, False),
        p50=(0.5, 60, False),
        original=(1.0, 40, False),
    )
    never = mixture_tables(
        p100=(1.0, 999, True),
        p90=(0.9, 999, True),
        p75=(0.75, 999, True),
        p50=(0.5, 999, True),
        original=(1.0, 999, True),
    )
    claims = mixtures.STUDY.claims
    assert [holds(claim, slow) for claim in claims] == [True] * len(claims)
    assert not any(holds(claim, fast) for claim in claims if claim is not mixtures.half_slows_steps)
    assert not any(holds(claim, never) for claim in claims)
    assert len(figures.mixtures(slow).axes) == 2
    assert figures.mixtures_chart(slow).to_dict()["$schema"]


def test_arms_of_a_mixture_are_looked_at_after_as_many_doubly_stochastic_sequences():
    for share, experiment in mixtures.arms(mixtures.QUICK).values():
        training = experiment.training
        assert share * training.evaluate_every == pytest.approx(18)
        assert share * training.steps == pytest.approx(432)
        assert training.weight_decay == 0.01


def test_arrivals_are_interpolated_and_may_never_be():
    part = pd.DataFrame(
        {
            "step": [0, 10, 20],
            "examples": [0, 640, 1280],
            "counted": [0, 320, 640],
            "loss": [0.2, 0.1, 0.04],
            "unigram": 0.1,
            "bigram": 0.04,
        }
    )
    arrival = mixtures.arrival(part, 0.5)  # the goal is 0.07, half way between 0.1 and 0.04
    assert arrival["step"] == pytest.approx(15)
    assert arrival["counted"] == pytest.approx(480)
    assert arrival["plateau"] == pytest.approx(0.5)
    assert np.isinf(mixtures.arrival(part.assign(loss=0.2), 0.5)["step"])


def attention_tables(previous, successors, uneven) -> Tables:
    rows = [
        {
            "seed": seed,
            "step": step,
            "previous": previous[i],
            "successors": successors[i],
            "uneven_1": uneven[i],
            "uneven_2": uneven[i],
        }
        for seed in range(SEEDS)
        for i, step in enumerate((0, 10))
    ]
    arrays = {
        "step": np.arange(9),
        "scores.tokens": np.tile([0, 1, 1, 0, 2], (9, 1)),
        "scores.attention": np.broadcast_to(np.tril(np.ones((5, 5))), (9, 2, 5, 5)),
        "scores.scores": np.zeros((9, 2, 5, 5)),
    }
    run = Run(source=None, hash="", seed=0, status="done", arrays={"probes": arrays})
    maps = attention_patterns.maps(run)
    return Tables({"masses": pd.DataFrame(rows), "maps": maps})


def test_claims_about_attention_compare_the_end_with_even_attention():
    claims = attention_patterns.STUDY.claims
    good = attention_tables((0.05, 0.95), (0.33, 0.9), (0.01, 0.8))
    assert all(holds(claim, good) for claim in claims)
    untrained = attention_tables((0.05, 0.05), (0.33, 0.33), (0.01, 0.01))
    assert not any(holds(claim, untrained) for claim in claims)
    assert not holds(claims[2], attention_tables((0.5, 0.95), (0.33, 0.9), (0.5, 0.8)))
    assert sorted(good["maps"]["step"].unique()) == [0, 2, 5, 8]
    assert good["maps"].groupby("key")["token"].first().to_list() == [0, 1, 1, 0, 2]
    assert len(figures.attention(good).axes) == 2 * 4 + 1  # and a scale
    assert len(figures.scores(good).axes) == 2 * (2 * 4)
    assert figures.masses_chart(good).to_dict()["$schema"]


def test_figures_of_phases_have_a_row_for_each_model_and_number_of_states():
    tables = heads_tables()
    assert len(figures.stages(tables).axes) == 4 * 2
    assert len(figures.elsewhere(tables).axes) == 4 * 3
    assert figures.stages_chart(tables).to_dict()["$schema"]


@pytest.mark.parametrize("name", NAMES)
def test_every_study_comes_in_three_scales_and_its_figures_exist(name):
    study = catalogue.study(name)
    assert study.name == name
    assert list(study.scales) == ["quick", "laptop", "paper"]
    sweeps = study.plan("quick").first
    assert set(study.captions) >= set(sweeps)


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
