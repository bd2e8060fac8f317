"""Lottery tickets at a tiny scale, and their claims on made-up children."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import elegans as el
from elegans.experiments.run import initial_of
from elegans.models import inits
from elegans.report.result import Tables
from elegans.studies.pareto import (
    figures_search,
    lottery_tickets,
    tickets_claims,
    tickets_tables,
)
from elegans.studies.study import Scale

TINY = lottery_tickets.Settings(
    n=8,
    k=2,
    width=20,
    neurons=3,
    decays=(0.01, 0.0),
    parents=2,
    children=2,
    parent_steps=2000,
    steps=400,
    early=200,
    evaluate_every=100,
)


@pytest.fixture(scope="module")
def result():
    study = replace(lottery_tickets.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    return study.run("tiny", workers=0, progress=False)


def test_every_arm_has_as_many_children(result):
    assert result.facts["parents_learned"] == [2, 2]
    assert set(result.tables["children"].groupby(["decay", "arm"]).size()) == {4}
    assert len(result.tables["arms"]) == 2 * len(figures_search.ARMS) == 10
    assert result.structures == 4  # at each decay parents, and children whatever they start from
    picture = figures_search.lottery_tickets(Tables(result.tables, result.facts))
    assert len(picture.axes) == 10


def test_each_parent_has_child_seeds_of_its_own_and_controls_share_them(result):
    children = result.tables["children"]
    seeds = {
        (arm, block): set(part["seed"]) for (arm, block), part in children.groupby(["arm", "block"])
    }
    assert all(each == set(TINY.child_seeds(block)) for (_, block), each in seeds.items())
    assert not set(TINY.child_seeds(0)) & set(TINY.child_seeds(1))


def test_a_network_of_dead_neurons_is_constant_and_one_that_learned_is_not():
    run = el.run(TINY.parent(0.01), 0)
    assert not tickets_tables.is_constant(run)
    zeros = {name: np.zeros_like(weight) for name, weight in run.arrays["params"].items()}
    assert tickets_tables.is_constant(replace(run, arrays={"params": zeros}))


def test_a_parent_that_is_cut_to_all_its_neurons_is_the_parent(result):
    run = el.run(TINY.parent(0.01), 0)
    errors = tickets_tables.pruned_errors([run], TINY.width).set_index("kept")["pruned_error"]
    assert set(errors.index) == {"ticket, in", "ticket, in x out", "others"}
    np.testing.assert_allclose(errors, run.test_error, atol=0.02)  # other rows: five errors
    pruned = result.tables["pruned"]
    assert set(pruned["neurons"]) == {3, 6, 12}


def test_a_ticket_starts_where_its_neurons_started():
    parent = TINY.parent(0.01)
    child = TINY.child(0.01, inits.FromRun(parent, 7, at="start", neurons=(2, 5, 11)))
    wide, small = initial_of(parent, 7), initial_of(child, 1000)
    np.testing.assert_array_equal(
        small.layers[0].weight, np.asarray(wide.layers[0].weight)[:, [2, 5, 11]]
    )
    np.testing.assert_array_equal(
        small.layers[1].weight, np.asarray(wide.layers[1].weight)[[2, 5, 11]]
    )


def test_fresh_neurons_have_the_law_of_the_wide_network_and_differ_from_run_to_run():
    child = TINY.child(0.01, lottery_tickets.FirstOf(inits.Sparse(2), TINY.width))
    first, second = initial_of(child, 1), initial_of(child, 2)
    assert (np.asarray(first.layers[0].weight).sum(axis=0) == 2).all()
    assert np.abs(first.layers[1].weight).max() <= TINY.width**-0.5
    assert (np.asarray(first.layers[1].weight) != np.asarray(second.layers[1].weight)).all()
    wide = initial_of(TINY.parent(0.01), 1)
    np.testing.assert_array_equal(first.layers[1].weight, wide.layers[1].weight[:3])


def test_more_neurons_than_the_parent_has_are_refused():
    with pytest.raises(ValueError, match=r"neurons counts those kept, so it is in 1\.\.20; got 21"):
        replace(TINY, neurons=21)
    with pytest.raises(ValueError, match="width counts the neurons to cut from"):
        TINY.child(0.01, lottery_tickets.FirstOf(inits.Sparse(2), 2))
    with pytest.raises(ValueError, match="neurons"):
        TINY.child(0.01, inits.FromRun(TINY.parent(0.01), 0, at="start", neurons=(0, 1, 20)))
    with pytest.raises(ValueError, match="its parameters have the shapes"):
        TINY.child(0.01, inits.FromRun(TINY.parent(0.01), 0, at="start", neurons=(0, 1)))


@pytest.mark.parametrize("nothing", [None, "parent", 5])
def test_a_run_that_does_not_exist_is_refused(nothing):
    with pytest.raises(ValueError, match=r"FromRun: experiment is that of .* there is no run of"):
        inits.FromRun(nothing)
    with pytest.raises(
        ValueError, match=r"seed numbers a run, so it is in 0\.\.4294967295; got -1"
    ):
        inits.FromRun(TINY.parent(0.01), -1)
    with pytest.raises(ValueError, match="seed numbers a run"):
        inits.FromRun(TINY.parent(0.01), 2**32)


@pytest.mark.parametrize("neurons", [3, "12", (1.5,)])
def test_neurons_that_are_no_numbers_of_neurons_are_refused(neurons):
    with pytest.raises(TypeError, match="neurons"):
        inits.FromRun(TINY.parent(0.01), 0, at="start", neurons=neurons)
    with pytest.raises(ValueError, match="numbers neurons") as refusal:
        TINY.child(0.01, inits.FromRun(TINY.parent(0.01), 0, at="start", neurons=(0, 1, 20)))
    assert len(str(refusal.value)) < 600  # what the run is, without its defaults


def made_up(rates, start=0.5, pruned=0.1, early=None):
    """Children of ten parents with these success rates; other arms 0.9 for tickets, 0.1 else.

    At both weight decays, and as many are early, but for the arms of `early`.
    """
    early = rates if early is None else early
    rows = [
        {
            "decay": decay,
            "arm": arm,
            "block": block,
            "seed": 1000 + child,
            "success": child < 10 * rates.get(arm, 0.9 if arm.startswith("ticket") else 0.1),
            "steps": 1000,
            "start_error": start,
            "partial_steps": 500.0,
            "is_constant": False,
            "early": child < 10 * early.get(arm, 0.9 if arm.startswith("ticket") else 0.1),
        }
        for decay in (0.01, 0.0)
        for arm in figures_search.ARMS
        for block in range(10)
        for child in range(10)
    ]
    children = pd.DataFrame(rows)
    facts = {"steps": 9, "parent_median_steps": [500.0], "parents": 10, "decays": [0.01, 0.0]}
    facts["early"] = 5
    kept = [(parent, arm) for parent in range(10) for arm in tickets_claims.TICKETS]
    tables = {
        "children": children,
        "arms": tickets_tables.arm_table(children),
        "pruned": pd.DataFrame(kept, columns=["parent", "kept"]).assign(
            decay=0.01, pruned_error=pruned
        ),
    }
    return Tables(tables, facts | {"partial": tickets_claims.PARTIAL})


@pytest.mark.parametrize("claim", lottery_tickets.STUDY.claims)
def test_claims_hold_where_they_are_true(claim):
    checked = claim(made_up({}))
    assert checked.holds, checked


@pytest.mark.parametrize(
    "claim, rates, change",
    [
        (tickets_claims.tickets_beat_fresh_neurons, {"narrow": 0.9}, {}),
        (tickets_claims.tickets_beat_fresh_neurons, {"ticket, in": 0.1}, {}),
        (tickets_claims.tickets_beat_other_neurons, {"others": 0.9}, {}),
        (tickets_claims.most_fresh_neurons_fail, {"fresh": 0.5}, {}),
        (tickets_claims.tickets_start_poor, {}, {"start": 0.3}),
        (tickets_claims.pruning_keeps_the_function, {}, {"pruned": 0.3}),
        (tickets_claims.tickets_learn_sooner_without_decay, {}, {"early": {"fresh": 0.9}}),
        (tickets_claims.tickets_learn_sooner_without_decay, {}, {"early": {"ticket, in": 0.1}}),
    ],
)
def test_a_claim_fails_where_it_is_false(claim, rates, change):
    assert not claim(made_up(rates, **change)).holds


def test_without_a_parent_that_learned_there_is_no_ticket():
    tables = made_up({})
    children = tables["children"]
    none = Tables(
        {
            "children": children[children["arm"].isin(tickets_claims.FRESH)],
            "arms": tables["arms"],
            "pruned": tables["pruned"].iloc[:0],
        },
        tables.facts,
    )
    assert not tickets_claims.tickets_beat_fresh_neurons(none).holds
    assert "none of 10 parents learned" in tickets_claims.tickets_beat_fresh_neurons(none).measured
    assert not tickets_claims.tickets_start_poor(none).holds
    assert not tickets_claims.pruning_keeps_the_function(none).holds
    assert not tickets_claims.tickets_learn_sooner_without_decay(none).holds
