"""Lottery tickets at a tiny scale, and their claims on made-up children."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elegans.experiments.run import initial_of
from elegans.models import inits
from elegans.report.result import Tables
from elegans.studies.pareto import figures_search, lottery_tickets, tickets_claims
from elegans.studies.study import Scale

TINY = lottery_tickets.Settings(
    n=8,
    k=2,
    width=20,
    neurons=3,
    parents=2,
    children=2,
    parent_steps=2000,
    steps=400,
    evaluate_every=100,
    test_samples=500,
)


@pytest.fixture(scope="module")
def result():
    study = replace(lottery_tickets.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    return study.run("tiny", workers=0, progress=False)


def test_every_arm_has_as_many_children(result):
    assert result.facts["parents_learned"] == 2
    assert set(result.tables["children"].groupby("arm").size()) == {4}
    assert len(result.tables["arms"]) == len(figures_search.ARMS) == 5
    assert result.structures == 2  # parents, and all children whatever they start from
    picture = figures_search.lottery_tickets(Tables(result.tables, result.facts))
    assert len(picture.axes) == 5


def test_a_ticket_starts_where_its_neurons_started():
    parent = TINY.parent()
    child = TINY.child(inits.FromRun(parent, 7, at="start", neurons=(2, 5, 11)))
    wide, small = initial_of(parent, 7), initial_of(child, 1000)
    np.testing.assert_array_equal(
        small.layers[0].weight, np.asarray(wide.layers[0].weight)[:, [2, 5, 11]]
    )
    np.testing.assert_array_equal(
        small.layers[1].weight, np.asarray(wide.layers[1].weight)[[2, 5, 11]]
    )


def test_fresh_neurons_have_the_law_of_the_wide_network_and_differ_from_run_to_run():
    child = TINY.child(lottery_tickets.FirstOf(inits.Sparse(2), TINY.width))
    first, second = initial_of(child, 1), initial_of(child, 2)
    assert (np.asarray(first.layers[0].weight).sum(axis=0) == 2).all()
    assert np.abs(first.layers[1].weight).max() <= TINY.width**-0.5
    assert (np.asarray(first.layers[1].weight) != np.asarray(second.layers[1].weight)).all()
    wide = initial_of(TINY.parent(), 1)
    np.testing.assert_array_equal(first.layers[1].weight, wide.layers[1].weight[:3])


def test_more_neurons_than_the_parent_has_are_refused():
    with pytest.raises(ValueError, match=r"neurons counts those kept, so it is in 1\.\.20; got 21"):
        replace(TINY, neurons=21)
    with pytest.raises(ValueError, match="width counts the neurons to cut from"):
        TINY.child(lottery_tickets.FirstOf(inits.Sparse(2), 2))
    with pytest.raises(ValueError, match="neurons"):
        TINY.child(inits.FromRun(TINY.parent(), 0, at="start", neurons=(0, 1, 20)))
    with pytest.raises(ValueError, match="its parameters have the shapes"):
        TINY.child(inits.FromRun(TINY.parent(), 0, at="start", neurons=(0, 1)))


@pytest.mark.parametrize("nothing", [None, "parent", 5])
def test_a_run_that_does_not_exist_is_refused(nothing):
    with pytest.raises(ValueError, match=r"FromRun: experiment is that of .* there is no run of"):
        inits.FromRun(nothing)
    with pytest.raises(
        ValueError, match=r"seed numbers a run, so it is in 0\.\.4294967295; got -1"
    ):
        inits.FromRun(TINY.parent(), -1)
    with pytest.raises(ValueError, match="seed numbers a run"):
        inits.FromRun(TINY.parent(), 2**32)


@pytest.mark.parametrize("neurons, kind", [(3, "holds"), ("12", "holds"), ((1.5,), "numbers")])
def test_neurons_that_are_no_numbers_of_neurons_are_refused(neurons, kind):
    with pytest.raises(TypeError, match=f"neurons {kind}"):
        inits.FromRun(TINY.parent(), 0, at="start", neurons=neurons)
    with pytest.raises(ValueError, match="numbers neurons") as refusal:
        TINY.child(inits.FromRun(TINY.parent(), 0, at="start", neurons=(0, 1, 20)))
    assert len(str(refusal.value)) < 600  # what the run is, without its defaults


def made_up(rates, start=0.5):
    """Children of ten parents with these success rates; other arms 0.9 for tickets, 0.1 else."""
    rows = [
        {
            "arm": arm,
            "block": block,
            "seed": 1000 + child,
            "success": child < 10 * rates.get(arm, 0.9 if arm.startswith("ticket") else 0.1),
            "steps": 1000,
            "start_error": start,
        }
        for arm in figures_search.ARMS
        for block in range(10)
        for child in range(10)
    ]
    children = pd.DataFrame(rows)
    facts = {"steps": 9, "parent_median_steps": 500.0, "parents": 10}
    return Tables({"children": children, "arms": lottery_tickets.arm_table(children)}, facts)


@pytest.mark.parametrize("claim", lottery_tickets.STUDY.claims)
def test_claims_hold_where_they_are_true(claim):
    checked = claim(made_up({}))
    assert checked.holds, checked


@pytest.mark.parametrize(
    "claim, rates, start",
    [
        (tickets_claims.tickets_beat_fresh_neurons, {"narrow": 0.9}, 0.5),
        (tickets_claims.tickets_beat_fresh_neurons, {"ticket, in": 0.1}, 0.5),
        (tickets_claims.tickets_beat_other_neurons, {"others": 0.9}, 0.5),
        (tickets_claims.most_fresh_neurons_fail, {"fresh": 0.5}, 0.5),
        (tickets_claims.tickets_start_poor, {}, 0.3),
    ],
)
def test_a_claim_fails_where_it_is_false(claim, rates, start):
    assert not claim(made_up(rates, start)).holds


def test_without_a_parent_that_learned_there_is_no_ticket():
    tables = made_up({})
    children = tables["children"]
    none = Tables(
        {"children": children[children["arm"].isin(tickets_claims.FRESH)], "arms": tables["arms"]},
        tables.facts,
    )
    assert not tickets_claims.tickets_beat_fresh_neurons(none).holds
    assert "none of 10 parents learned" in tickets_claims.tickets_beat_fresh_neurons(none).measured
    assert not tickets_claims.tickets_start_poor(none).holds
