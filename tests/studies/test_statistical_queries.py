"""Statistical queries: searches and blind paths against brute force, claims on made-up rates."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elegans import cube
from elegans.learners import query_search, search_luck
from elegans.report.result import Tables
from elegans.studies.pareto import figures_queries, queries_claims, statistical_queries
from elegans.studies.study import Scale
from elegans.tasks import Parity
from elegans.theory.resources import StatisticalQueryOracle

TINY = statistical_queries.Settings(
    n=5,
    k=2,
    groups=(2,),
    shares=(0.5, 1.0),
    searches=4,
    path_n=6,
    path_k=3,
    neurons=1,
    steps=2,
    tolerances=(1e-6, 0.9),
    paths=2,
)


def test_over_all_targets_a_budget_finds_its_share():
    supports = list(itertools.combinations(range(5), 2))
    for budget, group in ((3, 1), (10, 1), (2, 2)):
        hits = 0
        for support in supports:
            oracle = StatisticalQueryOracle(Parity(5, 2, support=support), 0.2)
            search = query_search(oracle, 2, budget, group=group, seed=4)
            assert search.queries == oracle.queries <= budget
            assert search.group is None or support in search.group
            hits += search.group is not None
        assert hits / len(supports) == search_luck(5, 2, budget, group)


@pytest.mark.parametrize("group, tolerance, expected", [(1, 0.49, 10), (1, 0.5, 0), (2, 0.26, 0)])
def test_an_adversary_hides_the_support_from_the_critical_tolerance_on(group, tolerance, expected):
    supports = list(itertools.combinations(range(5), 2))
    hits = sum(
        query_search(
            StatisticalQueryOracle(Parity(5, 2, support=s), tolerance, answers="adversarial"),
            2,
            10,
            group=group,
        ).group
        is not None
        for s in supports
    )
    assert hits == expected


def test_a_budget_or_a_tolerance_of_zero_is_refused():
    oracle = StatisticalQueryOracle(Parity(5, 2), 0.1)
    with pytest.raises(ValueError, match="budget counts queries, so it is 1 or more; got 0"):
        query_search(oracle, 2, 0)
    with pytest.raises(ValueError, match="group counts the supports of a query"):
        query_search(oracle, 2, 1, group=0)
    with pytest.raises(ValueError, match=r"tolerance is positive.*; got 0\.0"):
        StatisticalQueryOracle(Parity(5, 2), 0.0)
    with pytest.raises(
        ValueError, match=r"bits holds columns of an input, so it is in 0\.\.4; got 9"
    ):
        query_search(oracle, 2, 1, bits=(0, 9))
    assert oracle.queries == 0


def test_the_largest_coefficient_of_the_first_gradient_is_that_of_brute_force():
    path = statistical_queries.BlindPath(n=5, k=3, neurons=1, steps=1)
    generator = np.random.default_rng([2, 5])
    w, b = generator.uniform(-1, 1, (1, 5)) / 5**0.5, generator.uniform(-1, 1, 1) / 5**0.5
    u = generator.uniform(-1, 1, 1)
    table = path(2).set_index("support")["largest"]
    x = np.array(list(itertools.product([1.0, -1.0], repeat=5)))
    z = x @ w[0] + b[0]
    derivatives = [u[0] * (z > 0) * column for column in (*x.T, np.ones(32))]
    derivatives.append(np.clip(np.maximum(z, 0), -1, 1))
    for support in itertools.combinations(range(5), 3):
        expected = max(abs(np.mean(d * x[:, list(support)].prod(axis=1))) for d in derivatives)
        np.testing.assert_allclose(table[cube.mask_of(support)], expected, rtol=1e-10)


@pytest.fixture(scope="module")
def result():
    study = replace(statistical_queries.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    return study.run("tiny", workers=0, progress=False)


def test_the_study_has_all_kinds_and_a_picture(result):
    assert len(result.tables["luck"]) == 2 * 2 * 2
    assert len(result.tables["blinding"]) == 4
    assert (result.tables["blinding"]["not_hidden"] <= result.tables["blinding"]["bound"]).all()
    picture = figures_queries.statistical_queries(Tables(result.tables, result.facts))
    assert len(picture.axes) == 2


def made_up(rate=0.5, hidden=0.0, honest=0.5, seen=0.05, least=0.9):
    """Rates that a table might have; predictions are 0.5 and the bound 0.1."""
    kinds = [("honest", True, rate), ("adversarial", True, rate)]
    kinds += [("honest", False, honest), ("adversarial", False, hidden)]
    luck = [
        {"answers": a, "precise": p, "rate": r, "searches": 100, "predicted": 0.5}
        for a, p, r in kinds
    ]
    blinding = [
        {"seed": 0, "tolerance": 0.5, "not_hidden": seen, "bound": 0.1},
        {"seed": 0, "tolerance": 1e-5, "not_hidden": least, "bound": 9.0},
    ]
    return Tables({"luck": pd.DataFrame(luck), "blinding": pd.DataFrame(blinding)})


@pytest.mark.parametrize(
    "claim, world",
    [
        (queries_claims.budgets_buy_luck, {"rate": 0.8}),
        (queries_claims.the_adversary_hides, {"hidden": 0.01}),
        (queries_claims.honest_answers_do_not, {"honest": 0.1}),
        (queries_claims.blinding_obeys_the_bound, {"seen": 0.2}),
        (queries_claims.precise_answers_give_it_away, {"least": 0.4}),
    ],
)
def test_a_claim_holds_until_one_number_is_wrong(claim, world):
    assert claim(made_up()).holds
    assert not claim(made_up(**world)).holds
