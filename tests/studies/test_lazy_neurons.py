"""`lazy-neurons`: claims that made-up tables break, an untrained network, one run."""

import itertools

import numpy as np
import pandas as pd
import pytest

import elegans as el
from elegans.report.result import Tables
from elegans.studies.sparse_activation import figures_lazy, lazy_neurons
from elegans.studies.sparse_activation import lazy_claims as claims

pytestmark = pytest.mark.usefixtures("cheap_compilation")
SEEDS = 10
GOOD = {
    "start": 30.0,
    "at_success": 8.0,
    "end": 4.0,
    "half_error": 5.0,
    "half_effective": 6.0,
    "positive_start": 0.5,
    "positive_end": 0.45,
    "dead_end": 0.01,
}
UNTRAINED = {
    "at_success": np.nan,
    "end": 30.0,
    "half_error": 0.0,
    "half_effective": 0.0,
    "positive_end": 0.5,
    "dead_end": 0.0,
}


ALL_LABELS = (claims.RULE, claims.COINS)
STRONG = GOOD | {"half_effective": 3.0, "at_success": 5.0}


def lazy_tables(coins=20.0, chains=8.0, strong=None, **changes) -> Tables:
    """Tables of runs that all end alike, but for a little; changes are those of one case."""
    rows = []
    for width, decay, labels in itertools.product((100, 300), (0.01, 0.05), ALL_LABELS):
        values = GOOD if decay == 0.01 else STRONG
        if width == 300 and labels == claims.RULE:
            values = values | changes
        if decay == 0.05:
            values = values | (strong or {})
        if labels == claims.COINS:
            values = GOOD | {"end": coins, "at_success": np.nan}
        case = {"network": f"width {width}", "data": "fresh", "decay": decay, "labels": labels}
        rows += [{**case, "seed": s, **values} for s in range(SEEDS)]
    for labels, success in ((claims.CHAINS, chains), (claims.INDEPENDENT, np.nan)):
        case = {"network": claims.TRANSFORMER, "data": "fresh", "decay": 0.01, "labels": labels}
        values = GOOD | {"at_success": success}
        rows += [{**case, "seed": s, **values} for s in range(SEEDS)]
    return Tables({"runs": pd.DataFrame(rows)})


ALL = (
    claims.fewer_neurons_work_after_success,
    claims.they_leave_at_the_transition,
    claims.decay_decides,
    claims.it_is_dynamic,
    claims.coins_keep_more_neurons,
    claims.counting_positive_neurons_does_not_show_it,
    claims.transformers_too,
)


@pytest.mark.parametrize("claim", ALL)
def test_claims_hold_where_everything_is_as_said(claim):
    assert claim(lazy_tables()).holds


@pytest.mark.parametrize("claim", ALL)
def test_an_untrained_network_fails_every_claim(claim):
    assert not claim(lazy_tables(coins=30.0, chains=np.nan, **UNTRAINED)).holds


@pytest.mark.parametrize(
    "claim, change",
    [
        (ALL[0], {"at_success": 11.0}),
        (ALL[1], {"half_effective": 7.0}),
        (ALL[1], {"half_effective": 3.0}),
        (ALL[2], {"strong": {"at_success": 11.0}}),
        (ALL[2], {"strong": {"half_effective": 6.0}}),
        (ALL[2], {"strong": {"at_success": np.nan}}),
        (ALL[3], {"dead_end": 0.3}),
        (ALL[4], {"end": 20.0}),
        (ALL[5], {"positive_end": 0.2}),
        (ALL[6], {"chains": 20.0}),
    ],
)
def test_claims_about_activity_can_fail(claim, change):
    assert not claim(lazy_tables(**change)).holds


def test_half_way_is_between_the_first_and_the_last_value():
    assert lazy_neurons.half_way(np.array([10.0, 9.0, 6.0, 5.0, 2.0])) == 2
    curve = pd.DataFrame(
        {
            "step": [0, 10, 20],
            "error": [0.5, 0.5, 0.0],
            "learned": [False, False, True],
            "effective": [8.0, 7.0, 2.0],
            "positive": 0.5,
            "dead": 0.0,
            "always_on": 0.0,
        }
    )
    row = lazy_neurons.moments(curve)
    assert (row["start"], row["at_success"], row["success_step"]) == (8.0, 2.0, 20)
    assert np.isnan(lazy_neurons.moments(curve[:2])["at_success"])


def test_a_run_has_a_curve_and_certificates_above_what_is_sampled():
    training = el.Training(steps=40, evaluate_every=20, test_samples=100, loss="hinge")
    experiment = el.Experiment(el.tasks.Parity(6, 2), el.models.MLP(width=8), training)
    run = el.run(experiment, probes={"activity": el.probes.Activity(64)})
    certificates = lazy_neurons.certificates(run)
    assert list(certificates["when"]) == ["start", "end"]
    assert (certificates["theory"] > certificates["sensitivity"]).all()
    assert (certificates["degree"] <= 6).all()
    curve = lazy_neurons.parity_curve(run)
    np.testing.assert_array_equal(curve["step"], [0, 20, 40])
    labels = dict(zip(claims.CASE, ("width 8", "fresh", 0.01, claims.RULE), strict=True))
    tables = Tables({"curves": curve.assign(**labels, seed=0)}, {"n": 6, "k": 2, "states": 3})
    assert figures_lazy.activity(tables).axes
    assert figures_lazy.activity_chart(tables).to_dict()
