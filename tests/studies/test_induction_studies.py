"""Studies of induction heads: phases, claims that can fail, and runs that depend on seeds alone."""

import importlib

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import pytest

import elegans as el
from elegans.protocols import View
from elegans.studies import catalogue
from elegans.studies.induction import (
    attention_patterns,
    even_odd,
    induction_heads,
    more_states,
    one_layer_fails,
    trigrams,
    unigrams_slow_learning,
)
from elegans.studies.induction import runs as induction_runs
from elegans.studies.induction.runs import Recipe
from elegans.studies.study import Result
from elegans.theory.markov import induction
from elegans.training import losses

pytestmark = pytest.mark.usefixtures("cheap_compilation")
NAMES = ("induction-heads", "attention-patterns", "unigrams-slow-learning", "even-odd", "trigrams",
         "one-layer-fails", "more-states")  # fmt: skip
SMALL = induction_heads.Settings(
    seeds=2,
    transformer=Recipe(6, 1e-3, 3, batch=8),
    minimal=Recipe(6, 1e-3, 3, optimizer="sgd", batch=8),
    length=8,
    dim=4,
)


def phase_table(names: list[str], **columns) -> pd.DataFrame:
    """A run of one seed that is nearest to the given strategies, one after the other."""
    return pd.DataFrame({"seed": 0, "step": range(len(names)), "nearest": names, **columns})


@pytest.fixture(scope="module")
def small():
    return induction_heads.measure(SMALL, scale="small", workers=0, progress=False)


def test_the_study_is_measured_drawn_and_has_a_page(small):
    assert small.study == "induction-heads"
    assert set(small.table["model"]) == {"transformer", "minimal"}
    assert small.table["theory"].notna().all()
    shares = next(iter(small.summary.values()))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    pictures = importlib.import_module("elegans.report.induction_heads")
    assert len(pictures.draw(small).axes) == 4
    assert pictures.page(small).to_dict()["$schema"]


def test_a_stored_study_trains_nothing_and_its_networks_are_those_that_were_trained(tmp_path):
    task, model = el.tasks.MarkovChains(states=2, length=8), el.models.MinimalInduction()
    experiment = el.Experiment(task, model, SMALL.minimal.training())
    store = tmp_path / "runs.db"
    first, again = (
        induction_runs.watched(experiment, [0, 1], ("unigram", "bigram"), store=store, workers=0,
                               progress=False)
        for _ in range(2)
    )  # fmt: skip
    pd.testing.assert_frame_equal(first[1], again[1])
    assert len(el.Store(store)) == 2
    trained = el.run(experiment, seed=1).params
    for ours, theirs in zip(induction_runs.network(again[0][1]), trained, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_run_that_fails_fails_the_study():
    def broken(params, initial, task, key):
        raise ValueError("a probe that fails")

    task, model = el.tasks.MarkovChains(states=2, length=8), el.models.MinimalInduction()
    experiment = el.Experiment(task, model, SMALL.minimal.training())
    with pytest.raises(RuntimeError, match=r"(?s)seed 0: .*a probe that fails"):
        induction_runs.runs_of(experiment, [0], {"broken": broken}, workers=0, progress=False)


@pytest.mark.parametrize("name", NAMES)
def test_every_study_comes_in_three_scales_with_pictures(name):
    study = catalogue.study(name)
    assert study.name == name
    assert list(study.scales) == ["quick", "laptop", "paper"]
    pictures = importlib.import_module(f"elegans.report.{name.replace('-', '_')}")
    assert callable(pictures.draw)
    assert callable(pictures.page)


def drawn(name: str, table: pd.DataFrame, data: dict, **facts) -> int:
    """How many panels the figure of a study has; its page is made too."""
    result = Result(name, "small", table, {}, (), data, facts)
    pictures = importlib.import_module(f"elegans.report.{name.replace('-', '_')}")
    assert pictures.page(result).to_dict()["$schema"]
    return len(pictures.draw(result).axes)


def test_pictures_of_attention_show_every_layer_at_four_times_and_name_the_tokens():
    tokens = np.tile([0, 1, 1, 0, 2], (9, 1))
    attention = np.broadcast_to(np.tril(np.ones((5, 5))), (9, 2, 1, 5, 5))
    history = pd.DataFrame({"step": np.arange(9)})
    experiment = el.Experiment(
        el.tasks.MarkovChains(3, 5), el.models.AttentionOnly(), SMALL.minimal.training()
    )
    probes = {"attended.tokens": tokens, "attended.attention": attention}
    run = induction_runs.Watched(experiment, 0, history, probes)
    heat = attention_patterns.heat(run, 4)
    assert sorted(heat["step"].unique()) == [0, 2, 5, 8]
    assert heat.groupby("key")["token"].first().to_list() == [0, 1, 1, 0]
    table = pd.DataFrame({"seed": 0, "step": [0, 8], "previous": 0.9, "successors": 0.8})
    assert drawn("attention-patterns", table, {"heat": heat}) == 2 * 4 + 1  # and a scale


def test_pictures_of_the_other_studies_have_their_panels():
    names = ["alone", "with unigrams added", "with unigrams instead"]
    table = pd.DataFrame({"model": names, "seed": 0, "step": 1, "seen": 64.0, "divergence": 0.1})
    levels = pd.DataFrame({"strategy": ["unigram", "bigram"], "divergence": [0.2, 0.1]})
    facts = {"states": 3, "length": 20, "seeds": 1}
    assert drawn("unigrams-slow-learning", table, {"levels": levels}, goal=0.15, **facts) == 1
    steps = pd.DataFrame({"step": [1, 2], "seed": 0, "position": 1, "v": 0.1, "theory": 0.1})
    longer = pd.DataFrame(
        {"model": ["minimal", "transformer"], "seed": 0, "step": 5, "position": 1, "v": 0.1}
    )
    assert drawn("even-odd", steps, {"longer": longer}, **facts) == 3


def test_phases_leave_out_repeats():
    table = phase_table(["uniform", "uniform", "unigram", "bigram", "bigram"])
    assert induction_runs.phases(table) == {0: ("uniform", "unigram", "bigram")}
    columns = {"uniform_at_end": [0.1, 0.9], "bigram_at_end": [0.2, 0.3]}
    near = induction_runs.nearest(pd.DataFrame(columns), ("uniform", "bigram"))
    assert list(near) == ["uniform", "bigram"]


def test_the_construction_has_all_its_attention_where_the_probe_looks():
    task = el.tasks.MarkovChains(states=2, length=30)
    model, params = el.constructions.bigram_transformer(2, 30)
    view = View(params, params, model, task, jr.key(0), np.int32(0))
    seen = jax.jit(lambda: el.probes.AttentionMasses()(view))()
    assert float(seen["previous"]) == pytest.approx(1, abs=1e-5)
    # Less than one: the first token looks at itself, and so counts as its own successor.
    assert 0.9 < float(seen["successors"]) < 1
    assert int(np.argmax(seen["encoding"])) == 1


def test_claims_about_phases_fail_in_the_wrong_order():
    def claims(order, gap, last):
        table = phase_table(order, model="transformer")
        end = pd.DataFrame(
            {"model": ["transformer", "minimal"], "excess": [gap, gap], "nearest": ["bigram", last]}
        )
        return [claim.holds for claim in induction_heads.check(table, end, 1)]

    assert claims(["uniform", "unigram", "bigram"], 0.005, "bigram") == [True, True, True]
    assert claims(["uniform", "bigram", "unigram"], 0.02, "unigram") == [False, False, False]


def test_claims_of_the_other_studies_can_fail():
    end = pd.DataFrame({"previous": [0.9, 0.9], "successors": [0.5, 0.6]})
    assert [claim.holds for claim in attention_patterns.check(end)] == [True, False]
    for mean, at_end in ((-0.005, -0.02), (-0.011, -0.012)):
        one = pd.DataFrame({"model": ["relative"], "mean": [mean], "at_end": [at_end]})
        found = [claim.holds for claim in one_layer_fails.check(one, 10, length=100)]
        assert found == [mean > -0.01, at_end > -0.0158]
    names = ["uniform", "unigram", "bigram", "trigram"]
    ends = pd.DataFrame({"heads": [3, 1], "bigram": [-0.1, 0.0]})
    assert [c.holds for c in trigrams.check(phase_table(names, heads=3), ends)] == [True, True]
    wrong = phase_table(names[:3], heads=3)
    worse = ends.assign(bigram=[-0.1, -0.1])
    assert [c.holds for c in trigrams.check(wrong, worse)] == [False, False]
    level = pd.DataFrame({"loss": [0.6, 0.5]}, index=["unigram", "bigram"])
    for gap, holds in ((0.01, True), (0.09, False)):
        claim = more_states.check(4, phase_table(names[:3]), pd.Series([gap]), level)
        assert claim.holds is holds


def test_unigrams_slow_learning_only_if_with_them_it_arrives_later():
    def holds(alone, added, instead):
        curves = {"alone": alone, "with unigrams added": added, "with unigrams instead": instead}
        rows = [(name, 0, seen, loss) for name, curve in curves.items() for seen, loss in curve]
        table = pd.DataFrame(rows, columns=["model", "seed", "seen", "divergence"])
        times = unigrams_slow_learning.arrivals(table.assign(step=table["seen"]), 0.5)
        return [claim.holds for claim in unigrams_slow_learning.check(times, 0.5)]

    soon, late, never = [(10, 0.6), (20, 0.4)], [(20, 0.6), (30, 0.4)], [(10, 0.6), (20, 0.6)]
    assert holds(soon, late, never) == [True, True]
    assert holds(late, never, soon) == [True, False]
    assert holds(never, soon, never) == [False, False]
    ways = unigrams_slow_learning.Settings(1, Recipe(1, 1e-3, batch=64), 3, 20).ways()
    counted = {name: recipe.batch * share for name, (_, recipe, share) in ways.items()}
    assert list(counted.values()) == [64, 64, 32]


def test_two_steps_of_the_engine_are_those_of_the_theory():
    settings = even_odd.Settings(2048, 1, Recipe(1, 1e-3), Recipe(1, 1e-3), length=20, rate=0.5)
    task = el.tasks.MarkovChains(states=2, length=20)
    (run,) = even_odd.first_steps(task, settings, workers=0, progress=False)
    exact = induction.two_steps(20, settings.start, settings.rate)
    table = even_odd.steps_table(exact, run)
    for step in (1, 2):  # 2,048 sequences leave a tenth of chance in each coordinate
        assert even_odd.distance(table[table["step"] == step], settings.start) < 0.2
    np.testing.assert_allclose(
        run.probes["weight"][1], exact[1].weight, atol=0.2 * np.ptp(exact[1].weight)
    )


def test_the_margin_loss_is_linear_while_the_margin_is_not_reached():
    f = jnp.array([[0.1, 0.2, 0.0], [0.0, -0.1, 0.3]])
    y = jnp.array([2, 0])
    by_hand = np.mean([(1.1 + 1.2) / 3, (0.9 + 1.3) / 3])
    assert float(losses.Margin()(f, y)) == pytest.approx(by_hand, rel=1e-6)
    assert float(losses.Margin()(jnp.array([[9.0, 0.0]]), jnp.array([0]))) == 0


def test_cross_entropy_of_few_states_is_that_of_many():
    f = jnp.asarray(np.random.default_rng(0).normal(size=(5, 3)), jnp.float32)
    y = jnp.array([0, 1, 2, 1, 0])
    expected = -float(jnp.mean(jax.nn.log_softmax(f)[jnp.arange(5), y]))
    assert float(losses.CrossEntropy()(f, y)) == pytest.approx(expected, rel=1e-6)
