"""Studies of what the frontier depends on, at a tiny scale, and their claims on made-up runs."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import elegans as el
from elegans.keys import keys_of
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.studies.pareto import (
    choices_claims,
    descent_claims,
    double_descent,
    figures_choices,
    how_sparse,
    large_n,
    large_n_claims,
    recipe,
    shuffled_epochs,
    sparsity_claims,
    unstated_choices,
)
from elegans.studies.pareto.scores import gain, seed_means, summary, with_spared
from elegans.studies.plan import structures_of
from elegans.studies.study import Scale
from elegans.tasks import Parity
from elegans.theory import resources

STEPS = 1000


def runs_of(cells, seeds=10, steps=STEPS):
    """Made-up runs: by labels, the step at which each seed succeeds, or None if it does not."""
    rows = []
    for labels, step in cells:
        for seed in range(seeds):
            at = step(seed) if callable(step) else step
            numbers = {"success": at is not None, "steps": steps if at is None else at}
            rows.append({**labels, "seed": seed, "status": "done", **numbers})
    return with_spared(pd.DataFrame(rows), steps)


def test_steps_spared_are_the_area_under_the_share_of_runs_that_have_learned():
    runs = runs_of([({"arm": "a"}, lambda seed: 100 * (seed + 1) if seed < 6 else None)])
    grid = np.arange(0, STEPS, 1)
    learned = [(runs["success"] & (runs["steps"] <= t)).mean() for t in grid]
    np.testing.assert_allclose(runs["spared"].mean(), np.mean(learned), atol=2e-3)
    (row,) = summary(runs.drop(columns="spared"), ["arm"], STEPS).to_dict("records")
    assert row["rate"] == 0.6
    assert row["median_steps"] == 550
    assert row["spared"] == pytest.approx(runs["spared"].mean())


def test_a_gain_is_within_seeds():
    runs = runs_of([({"arm": "a"}, lambda s: 90 * s + 50), ({"arm": "b"}, lambda s: 90 * s)])
    change = gain(seed_means(runs, {"arm": "a"}), seed_means(runs, {"arm": "b"}))
    np.testing.assert_allclose(change, [0.05, 0.05, 0.05], atol=1e-12)


# How sparse


def test_rows_hold_the_inits_of_the_paper():
    task, model = Parity(9, 2), MLP(width=200)
    key = keys_of(3).init
    for init, other in (
        (how_sparse.Rows(2, 2.0, False), inits.Sparse(2)),
        (how_sparse.Rows(None, 1 / 3), inits.Uniform()),
    ):
        for a, b in zip(init(key, model, task).layers, other(key, model, task).layers, strict=True):
            np.testing.assert_allclose(a.weight, b.weight, rtol=1e-6)
            np.testing.assert_array_equal(a.bias, b.bias)


@pytest.mark.parametrize("s", [1, 4, None])
@pytest.mark.parametrize("random_signs", [True, False])
def test_rows_have_their_norm_and_signs(s, random_signs):
    init = how_sparse.Rows(s, 0.7, random_signs)
    weight = np.asarray(init(keys_of(0).init, MLP(width=3000), Parity(9, 2)).layers[0].weight)
    np.testing.assert_allclose((weight**2).sum(axis=0).mean(), 0.7, rtol=0.03)  # 3,000 rows
    assert (weight >= 0).all() != random_signs
    if s is not None:
        assert ((weight != 0).sum(axis=0) == s).all()
    with pytest.raises(ValueError, match=r"s counts the entries of a neuron, so it is in 1\.\.9"):
        how_sparse.Rows(10, 1.0).check_sizes((9, 5, 1), None)


def sparse_world(two=100, others=500, dense=600, sparse_alone=200):
    """Runs in which two entries succeed at step `two`, and norm and signs change nothing."""
    settings = how_sparse.STUDY.scales["quick"].settings
    cells = []
    for s, norm, signs in how_sparse.arms(settings):
        step = {"2": two, "dense": dense}.get(s, others)
        if s == "2" and (norm, signs) != (2.0, "positive"):
            step = sparse_alone
        cells.append(({"s": s, "norm": norm, "signs": signs, "samples": 9}, step))
    runs = runs_of(cells)
    return Tables({"runs": runs, "effects": sparsity_claims.effects(runs)})


@pytest.mark.parametrize(
    "claim, world",
    [
        (sparsity_claims.two_ones_are_best, {"others": 90}),
        (sparsity_claims.two_ones_are_best, {"dense": 100}),
        (sparsity_claims.two_are_best_at_equal_norm, {"others": 100}),
        (sparsity_claims.sparsity_helps_alone, {"sparse_alone": 600}),
        (sparsity_claims.sparsity_is_most_of_it, {"sparse_alone": 600}),
        (sparsity_claims.sparsity_is_most_of_it, {"two": 600, "sparse_alone": 600}),
    ],
)
def test_claims_about_sparsity_hold_and_can_fail(claim, world):
    assert claim(sparse_world()).holds
    assert not claim(sparse_world(**world)).holds


def test_odd_sparsities_have_no_gradient_at_the_start():
    settings = how_sparse.STUDY.scales["quick"].settings
    assert how_sparse.lucky(settings, "3") == 0.0
    assert how_sparse.lucky(settings, "2") > 0.9
    assert np.isnan(how_sparse.lucky(settings, "dense"))


# Double descent

FACTS = {"few": 10, "many": 20, "widths": [3, 30, 300], "decays": [0.01, 0.05]}


def descent_world(slow=900, many_fails=True, returns=100, wide_fails=False, weak_fails=False):
    """At decay 0.01 more samples take longer; at 0.05 runs fail there unless they are wide."""
    cells = []
    for width in FACTS["widths"]:
        for samples in (10, 20, None):
            for decay in FACTS["decays"]:
                step = 100
                if samples is None and decay == 0.01:
                    step = slow
                if samples == 20 and decay == 0.01 and weak_fails:
                    step = None
                if samples == 20 and decay == 0.05 and (width < 300 or wide_fails):
                    step = None if many_fails else 100
                if samples is None and decay == 0.05:
                    step = returns
                for init in ("dense", "2-sparse"):
                    labels = {"init": init, "width": width, "decay": decay, "samples": samples}
                    cells.append((labels, step))
    runs = runs_of(cells).astype({"samples": "Int64"})
    return Tables({"runs": runs}, FACTS)


@pytest.mark.parametrize(
    "claim, world",
    [
        (descent_claims.more_data_takes_longer, {"slow": 100}),
        (descent_claims.success_falls, {"many_fails": False}),
        (descent_claims.success_returns, {"returns": None}),
        (descent_claims.the_drop_shrinks_with_width, {"wide_fails": True}),
        (descent_claims.the_drop_depends_on_decay, {"weak_fails": True}),
    ],
)
def test_claims_about_double_descent_hold_and_can_fail(claim, world):
    assert claim(descent_world()).holds
    assert not claim(descent_world(**world)).holds


def test_sizes_that_are_compared_have_to_be_trained():
    quick = double_descent.STUDY.scales["quick"].settings
    with pytest.raises(ValueError, match="samples holds few, many and None"):
        replace(quick, many=7)
    with pytest.raises(ValueError, match="decays holds the recipe's"):
        replace(quick, decays=(0.05,))


# Large n


def large_world(dense=None, sparse=300, small=(400, 300), fixed_sparse=600):
    """Runs of both inits that succeed at these steps at n = 150, and at `small` ones at n = 50.

    At one width the sparse init succeeds at `fixed_sparse` at n = 150.
    """
    growing, fixed = large_n_claims.GROWING, large_n_claims.FIXED
    cells = []
    for rule, n, m, width, steps in (
        (growing, 50, 8, 10, small),
        (growing, 150, 40, 90, (dense, sparse)),
        (fixed, 50, 8, 10, (900, 300)),
        (fixed, 150, 40, 10, (700, fixed_sparse)),
    ):
        for init, step in zip(("dense", "2-sparse"), steps, strict=True):
            labels = {"rule": rule, "n": n, "samples": m, "width": width, "init": init}
            cells.append((labels, step))
    runs = runs_of(cells)
    return Tables({"runs": runs, "cells": runs.assign(theory=0.5)}, {"steps": STEPS})


@pytest.mark.parametrize(
    "claim, world",
    [
        (large_n_claims.dense_fails_where_sparse_learns, {"sparse": None}),
        (
            large_n_claims.dense_fails_where_sparse_learns,
            {"dense": lambda seed: None if seed else 900},
        ),
        (large_n_claims.the_gap_grows_with_n, {"dense": 300}),
        (large_n_claims.sparse_is_ahead_at_every_n, {"small": (300, 300)}),
        (large_n_claims.the_gap_shrinks_at_one_width, {"fixed_sparse": 50}),
    ],
)
def test_claims_about_many_inputs_hold_and_can_fail(claim, world):
    assert claim(large_world()).holds
    assert not claim(large_world(**world)).holds


def test_the_width_that_grows_keeps_the_chance_of_a_lucky_neuron():
    settings = large_n.STUDY.scales["quick"].settings
    chances = [resources.lucky_chance(n, 3, 2, width) for n, width, _ in settings.growing]
    assert max(chances) - min(chances) < 0.02
    fixed = [resources.lucky_chance(n, 3, 2, width) for n, width, _ in settings.fixed]
    assert fixed == sorted(fixed, reverse=True)
    assert fixed[-1] < 0.5


# Unstated choices


def test_an_epoch_holds_every_row_once():
    batches = shuffled_epochs.epochs(0, 10, 3)
    for _ in range(4):
        epoch = np.concatenate([next(batches) for _ in range(3)])
        assert len(set(epoch)) == 9
        assert set(epoch) <= set(range(10))


def test_shuffled_epochs_make_the_engines_updates():
    """On the batches of the engine the trainer ends with the engine's weights."""
    from elegans.training import source, step, updates

    training = recipe.training(50, 40, 40, batch=5, stop=None)
    experiment = el.Experiment(Parity(8, 2), MLP(width=6), training)
    run = el.run(experiment, seed=1)
    keys = keys_of(1)
    batches = jnp.stack(
        [source.batch_indices(training, keys, jnp.asarray(t)) for t in range(40)]
    ).astype(jnp.int32)
    state = step.State(run.initial, updates.init(training, run.initial), jnp.zeros((), jnp.int32))
    train = shuffled_epochs.data_rows(experiment.task, keys.data, 50)
    state = shuffled_epochs.advanced(experiment.model, training, keys, state, train, batches)
    for ours, theirs in zip(state.params.layers, run.params.layers, strict=True):
        np.testing.assert_allclose(ours.weight, theirs.weight, rtol=1e-4, atol=1e-6)
    test = shuffled_epochs.data_rows(experiment.task, keys.test, 10_000)
    error = float(shuffled_epochs.error_of(experiment.model, state.params, test))
    assert error == pytest.approx(run.test_error, abs=1e-3)


def test_shuffled_epochs_need_a_training_set_of_a_batch():
    with pytest.raises(ValueError, match="samples is at least one batch, so it is 32 or more"):
        shuffled_epochs.ShuffledEpochs(Parity(8, 2), MLP(width=6), recipe.training(20, 40))


def choices_world(**steps):
    """Runs of all variants: by name with underscores, the step of success, or None."""
    steps = {
        "logistic_loss": 700,
        "decay_not_coupled_to_the_rate": None,
        "no_weight_decay": None,
    } | steps
    names = [*unstated_choices.VARIANTS, unstated_choices.SHUFFLED]
    cells = [
        ({"variant": v, "init": i, "samples": 9}, steps.get(v.replace(" ", "_"), 300))
        for v in names
        for i in ("dense", "2-sparse")
    ]
    runs = runs_of(cells)
    return Tables({"runs": runs, "changes": choices_claims.changes(runs)})


@pytest.mark.parametrize(
    "claim, world",
    [
        (choices_claims.shuffling_does_not_matter, {"shuffled_epochs": 600}),
        (choices_claims.bias_decay_does_not_matter, {"biases_do_not_decay": 50}),
        (choices_claims.the_loss_matters, {"logistic_loss": 300}),
        (choices_claims.decay_is_coupled_to_the_rate, {"decay_not_coupled_to_the_rate": 900}),
        (choices_claims.decay_is_coupled_to_the_rate, {"the_recipe": None}),
        (choices_claims.weight_decay_is_needed, {"no_weight_decay": 900}),
        (choices_claims.rate_and_batch_are_the_best, {"batch_8": 200}),
    ],
)
def test_claims_about_choices_hold_and_can_fail(claim, world):
    assert claim(choices_world()).holds
    assert not claim(choices_world(**world)).holds


# The studies themselves

TINY = {
    "how-sparse": (
        how_sparse,
        how_sparse.Settings(
            n=8,
            k=2,
            width=10,
            sparsities=(2,),
            samples=(50,),
            seeds=2,
            steps=200,
            evaluate_every=100,
        ),
        figures_choices.how_sparse,
    ),
    "double-descent": (
        double_descent,
        double_descent.Settings(
            n=8,
            k=2,
            widths=(10,),
            decays=(0.01, 0.05),
            samples=(50, 100, None),
            seeds=2,
            steps=200,
            few=50,
            many=100,
            evaluate_every=100,
        ),
        figures_choices.double_descent,
    ),
    "large-n": (
        large_n,
        large_n.Settings(
            k=2,
            growing=((8, 10, 50), (10, 16, 100)),
            fixed=((8, 10, 50), (10, 10, 100)),
            seeds=2,
            steps=200,
            evaluate_every=100,
        ),
        figures_choices.large_n,
    ),
    "unstated-choices": (
        unstated_choices,
        unstated_choices.Settings(
            n=8, k=2, width=10, samples=(200,), seeds=2, steps=200, evaluate_every=100
        ),
        figures_choices.unstated_choices,
    ),
}


@pytest.mark.parametrize("name", TINY)
def test_a_study_runs_from_settings_to_figure(name, monkeypatch):
    few = ("the recipe", "square loss")  # each variant compiles; the others are numbers or words
    variants = {variant: unstated_choices.VARIANTS[variant] for variant in few}
    monkeypatch.setattr(unstated_choices, "VARIANTS", variants)
    module, settings, figure = TINY[name]
    is_short = module is unstated_choices
    claims = (choices_claims.shuffling_does_not_matter,) if is_short else module.STUDY.claims
    tiny = {"tiny": Scale(settings, minutes=0.1)}
    result = replace(module.STUDY, scales=tiny, claims=claims).run(
        "tiny", workers=0, progress=False
    )
    assert len(result.claims) == len(claims)
    assert len(figure(Tables(result.tables, result.facts)).axes) >= 2


@pytest.mark.parametrize("name", TINY)
def test_a_quick_scale_compiles_at_most_24_structures(name):
    module = TINY[name][0]
    assert len(structures_of(module.runs(module.STUDY.scales["quick"].settings))) <= 24
