"""The claims of the chapter on attention: each holds on a good table and fails on a bad one."""

import math

import numpy as np
import pandas as pd
import pytest

from elegans.report.result import Tables
from elegans.runs import Run
from elegans.studies.attention import (
    and_curves,
    attention_claims,
    attention_selects,
    capacity_claims,
    function_claims,
    selection_constructions,
    sparse_and,
    transformer_parity,
)
from elegans.studies.attention.protocol import HALF
from elegans.studies.attention.references import bits_needed, elimination_threshold


def table_with(table, row, **values):
    """A copy with some values of one row changed."""
    changed = table.copy()
    for name, value in values.items():
        changed.loc[row, name] = value
    return changed


def trials_of(truth, sizes, seeds=20, **labels):
    """Trials in which a share of seeds succeeds that rises from 0 to 1 around truth[T]."""
    rows = []
    for T, threshold in truth.items():
        for m in sizes:
            rate = 1 / (1 + math.exp(-12 * (math.log(m / threshold)) - math.log(4)))
            rows += [
                {**labels, "T": T, "samples": m, "seed": seed, "success": seed < rate * seeds}
                for seed in range(seeds)
            ]
    return pd.DataFrame(rows)


SIZES = tuple(range(10, 200, 6))


def and_tables(truth):
    trials = trials_of(truth, SIZES)
    thresholds = sparse_and.thresholds.threshold_table(trials, ["T"], SIZES).assign(
        elimination=[elimination_threshold(T, 3, HALF) for T in truth],
        search=[30.0] * len(truth),
        bits=[bits_needed(T, 3) for T in truth],
    )
    return Tables({"trials": trials, "thresholds": thresholds}, {})


GOOD_AND = {40: 45, 120: 56, 360: 68}


@pytest.mark.parametrize(
    "claim, bad",
    [
        (sparse_and.grows_like_a_logarithm, {40: 30, 120: 60, 360: 120}),
        (sparse_and.slope_is_that_of_information, {40: 60, 120: 60, 360: 60}),
        (sparse_and.is_about_elimination, {40: 45, 120: 56, 360: 150}),
    ],
)
def test_claims_of_sparse_and(claim, bad):
    assert claim(and_tables(GOOD_AND)).holds
    assert not claim(and_tables(bad)).holds


def curve_tables(changes=()):
    rows = [
        {
            "place": place,
            "samples": m,
            "restart": restart,
            "seed": seed,
            "train_error": 0.0,
            "train_loss": 1e-4,
            "test_error": 0.0 if place == "above" else 0.05 * seed,
            "success": place == "above" or (place == "near" and restart == 0),
        }
        for place, m in (("below", 20), ("near", 40), ("above", 100))
        for seed in range(10)
        for restart in range(2)
    ]
    runs = pd.DataFrame(rows)
    for (place, column), value in dict(changes).items():
        runs.loc[runs["place"] == place, column] = value
    trials = runs[runs["restart"] == 0].reset_index(drop=True)
    return Tables({"runs": runs, "trials": trials}, {})


@pytest.mark.parametrize(
    "claim, change",
    [
        (and_curves.every_run_fits, {("below", "train_error"): 0.1}),
        (and_curves.enough_examples_suffice, {("above", "success"): False}),
        (and_curves.few_examples_mislead, {("below", "success"): True}),
        (and_curves.accuracies_spread, {("below", "test_error"): 0.3}),
        (and_curves.restarts_disagree, {("near", "success"): True}),
    ],
)
def test_claims_of_and_curves(claim, change):
    assert claim(curve_tables()).holds
    assert not claim(curve_tables(change)).holds


def attention_tables(elsewhere=0.2, first=0.03, late=0.0, steady=0.005, **changes):
    final = pd.DataFrame(
        {
            "seed": range(5),
            "test_error": 0.0,
            "relevant": 0.9,
            "irrelevant": [0.02, 0.03, 0.04, 0.03, 0.02],
            "cls": 0.07,
            "smallest_relevant": 0.2,
            "largest_irrelevant": 0.01,
            "weight_if_false": [0.7, 0.8, 0.75, 0.8, 0.7],
            "weight_if_true": 0.1,
            "top_is_hidden": True,
            "irrelevant_if_false": 0.02,
            "irrelevant_if_true": 0.3,
        }
    )
    for name, value in changes.items():
        final = table_with(final, 2, **{name: value})
    curves = pd.DataFrame(
        {
            "seed": [*range(5)] * 3,
            "step": np.repeat([0, 50, 500], 5),
            "irrelevant": np.repeat([0.92, first, 0.02], 5),
            "test_error": np.repeat([0.5, 0.0, 0.0], 5),
        }
    )
    shares = {
        attention_claims.EMBEDDINGS_KEPT: elsewhere,
        attention_claims.LONGER: elsewhere,
        attention_claims.WEIGHTS_KEPT: steady,
    }
    variants = pd.concat(
        final[["seed"]].assign(variant=name, irrelevant=share, test_error=late)
        for name, share in shares.items()
    )
    return Tables({"final": final, "curves": curves, "variants": variants}, {})


@pytest.mark.parametrize(
    "claim, change",
    [
        (attention_claims.network_has_learned, {"test_error": 0.02}),
        (attention_claims.irrelevant_positions_get_nothing, {"irrelevant": 0.9}),
        (attention_claims.selection_comes_first, {"first": 0.2}),
        (attention_claims.more_steps_do_not_help, {"elsewhere": 0.05}),
        (attention_claims.more_steps_do_not_help, {"late": 0.5}),
        (attention_claims.dropout_spreads_attention, {"steady": 0.05}),
        (attention_claims.dropout_spreads_attention, {"late": 0.5}),
        (attention_claims.a_false_bit_takes_it_all, {"irrelevant_if_false": 0.9}),
        (attention_claims.largest_weights_are_hidden_bits, {"top_is_hidden": False}),
        (attention_claims.false_bits_are_looked_at, {"weight_if_true": 9.0}),
    ],
)
def test_claims_of_attention_selects(claim, change):
    assert claim(attention_tables()).holds
    assert not claim(attention_tables(**change)).holds


def test_shares_of_attention_are_those_of_the_inputs_they_are_about():
    # Two inputs of two bits and [CLS]; bit 0 is hidden, true in input 0 and false in input 1.
    weights = pd.DataFrame(
        {
            "input": [0, 0, 0, 1, 1, 1],
            "position": [0, 1, 2] * 2,
            "is_true": [True] * 3 + [False] * 3,
            "weight": [0.1, 0.7, 0.2, 0.8, 0.15, 0.05],
            "is_relevant": [True, False, False] * 2,
            "is_cls": [False, False, True] * 2,
        }
    )
    row = attention_selects.summary(weights)
    assert row["relevant"] == pytest.approx(0.45)
    assert row["cls"] == pytest.approx(0.125)
    assert row["irrelevant"] == pytest.approx(0.425)
    assert (row["irrelevant_if_true"], row["irrelevant_if_false"]) == pytest.approx((0.7, 0.15))
    assert (row["weight_if_true"], row["weight_if_false"]) == pytest.approx((0.1, 0.8))
    assert row["top_is_hidden"]


def parity_tables(**changes):
    runs = pd.DataFrame(
        {
            "T": [8] * 5 + [12] * 5,
            "seed": [*range(5), *range(5)],
            "success": True,
            "plateau": math.log(2),
            "steps_to_solve": [300.0, 400, 500, 600, 700, 2000, 2200, 2400, 2600, 2800],
            "fall": 0.05,
        }
    )
    for name, value in changes.items():
        runs[name] = value if isinstance(value, list) else [value, *runs[name][1:]]
    return Tables({"runs": runs}, {"steps": 3000, "lengths": [8, 12]})


@pytest.mark.parametrize(
    "claim, change",
    [
        (transformer_parity.all_seeds_succeed, {"success": False}),
        (transformer_parity.plateau_is_chance, {"plateau": 0.6}),
        (transformer_parity.fall_is_sharp, {"fall": [0.4] * 10}),
        (transformer_parity.longer_inputs_take_longer, {"steps_to_solve": [500.0] * 10}),
    ],
)
def test_claims_of_transformer_parity(claim, change):
    assert claim(parity_tables()).holds
    assert not claim(parity_tables(**change)).holds


def test_the_shape_of_a_curve_is_read_off_its_evaluations():
    history = {
        "step": np.array([0, 10, 20, 30, 40, 50]),
        "test_error": np.array([0.5, 0.5, 0.5, 0.46, 0.2, 0.04]),
        "test_loss": np.array([0.9, 0.693, 0.694, 0.69, 0.4, 0.1]),
    }
    run = Run(source="", hash="", seed=0, status="done", arrays={"history": history})
    row = transformer_parity.shape(run)
    assert row == pytest.approx({"plateau": 0.6935, "steps_to_solve": 50, "fall": 0.4})
    short = {name: column[:3] for name, column in history.items()}
    run = Run(source="", hash="", seed=0, status="done", arrays={"history": short})
    assert transformer_parity.shape(run)["steps_to_solve"] == math.inf


def function_tables(truth, control=True):
    sizes = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
    trials = pd.concat(
        trials_of(thresholds, sizes, function=name) for name, thresholds in truth.items()
    )
    table = function_claims.thresholds.threshold_table(trials, ["function", "T"], sizes)
    seeds = 10
    runs = pd.DataFrame(
        {
            "examples": ["fresh"] * seeds + ["fixed"] * seeds,
            "seed": [*range(seeds)] * 2,
            "success": [control] + [True] * (2 * seeds - 1),
            "steps": [900] * seeds + ([400] * 3 + [900] * 7 if control else [400] * seeds),
        }
    )
    facts = {"control_T": 10, "control_steps": 10_000, "control_samples": 100, "steps": 500}
    return Tables({"trials": trials, "thresholds": table, "control": runs}, facts)


EASY = {"AND": {10: 30, 40: 45}, "majority": {10: 30, 40: 50}, "random": {10: 40, 40: 80}}
GOOD_FUNCTIONS = {**EASY, "XOR": {10: 300, 40: 5000}}


@pytest.mark.parametrize(
    "claim, bad",
    [
        (function_claims.xor_leaves_the_law, {**EASY, "XOR": {10: 60, 40: 90}}),
        (
            function_claims.others_follow_information,
            {**GOOD_FUNCTIONS, "majority": {10: 30, 40: 300}},
        ),
    ],
)
def test_claims_of_which_functions(claim, bad):
    assert claim(function_tables(GOOD_FUNCTIONS)).holds
    assert not claim(function_tables(bad)).holds
    for control in (function_claims.control_learns_xor, function_claims.steps_are_what_xor_lacks):
        assert control(function_tables(GOOD_FUNCTIONS)).holds
        assert not control(function_tables(bad, control=False)).holds


def test_censored_thresholds_are_infinite():
    table = function_tables(GOOD_FUNCTIONS)["thresholds"].set_index(["function", "T"])
    assert table.loc[("XOR", 40), "is_censored"]
    assert table.loc[("XOR", 40), "m_star"] == math.inf
    assert not table.loc[("XOR", 10), "is_censored"]


def construction_tables(**changes):
    tables = {
        "truth": pd.DataFrame(
            {"kind": "junta", "inputs": "bag", "s": 2, "tables": 16, "error": [1e-15, 2e-15]}
        ),
        "norms": pd.DataFrame(
            {
                "inputs": "positions",
                "T": [16, 64, 16, 64],
                "weight": ["query", "query", "key", "key"],
                "norm": [math.log(12 * 16), math.log(12 * 64), 1.7, 1.7],
                "bound": [math.log(12 * 16), math.log(12 * 64), 1.7, 1.7],
            }
        ),
        "coherent": pd.DataFrame(
            {"key": ["printed", "dual"], "error": [0.8, 1e-3], "allowed": 0.17, "coherence": 0.1}
        ),
        "flips": pd.DataFrame(
            {
                "T": [16, 16, 16, 64, 64, 64],
                "head": ["growing", "fixed", "averaging"] * 2,
                "effect": [0.65, 0.65, 0.1, 0.65, 0.2, 0.03],
                "theory": [0.65, 0.65, 0.1, 0.65, 0.2, 0.03],
            }
        ),
    }
    for name, (row, values) in changes.items():
        tables[name] = table_with(tables[name], row, **values)
    return Tables(tables, {"T": 8, "large_T": 1000})


@pytest.mark.parametrize(
    "claim, change",
    [
        (selection_constructions.constructions_are_exact, {"truth": (1, {"error": 1e-9})}),
        (selection_constructions.norms_are_logarithmic, {"norms": (3, {"norm": 1.8})}),
        (
            selection_constructions.norms_are_logarithmic,
            {"norms": (1, {"norm": 20.0, "bound": 20.0})},
        ),
        (selection_constructions.dual_key_repairs, {"coherent": (1, {"error": 0.3})}),
        (selection_constructions.dual_key_repairs, {"coherent": (0, {"error": 0.1})}),
        (selection_constructions.fixed_norms_lose_the_bit, {"flips": (3, {"effect": 0.3})}),
        (
            selection_constructions.fixed_norms_lose_the_bit,
            {"flips": (4, {"effect": 0.6, "theory": 0.6})},
        ),
    ],
)
def test_claims_of_selection_constructions(claim, change):
    assert claim(construction_tables()).holds
    assert not claim(construction_tables(**change)).holds


def capacity_tables(**changes):
    T = np.array([16, 64, 256, 1024])
    log = np.log(T)
    tables = {
        "sandwich": pd.DataFrame(
            {
                "T": T,
                "entropy": 3 * log,
                "half_distance": 0.32,
                "packing": math.log(500),
                "selectors": 500,
                "head_cover": 1e7 * log,
                "sharp_cover": 4e6 * log,
                "cls_cover": 1e6 * log,
                "volume": T**2.0,
                "volume_cls": 10.0 * T,
            }
        ),
        "shattering": pd.DataFrame(
            {"T": [4, 8], "inputs": [2, 3], "patterns": [4, 8], "margin": 0.5}
        ),
        "circle": pd.DataFrame({"T": [8, 16, 32], "R": 10.0, "heads": [8, 9, 9]}),
        "gaps": pd.DataFrame(
            {
                "T": 10,
                "samples": [10, 10, 10, 80, 80, 80],
                "seed": [0, 1, 2] * 2,
                "gap": [0.5, 0.6, 0.7, 0.1, 0.1, 0.2],
                "bound": [30.0, 31.0, 32.0, 20.0, 21.0, 22.0],
            }
        ),
    }
    # a second norm, so that there is a power of it
    tables["circle"] = pd.concat(
        [tables["circle"], tables["circle"].assign(R=1000.0, heads=[8, 30, 31])],
        ignore_index=True,
    )
    for name, (row, values) in changes.items():
        tables[name] = table_with(tables[name], row, **values)
    return Tables(tables, {"eps": 0.2, "inputs": 100})


@pytest.mark.parametrize(
    "claim, change",
    [
        (capacity_claims.packings_are_below_covers, {"sandwich": (1, {"volume_cls": 5.0})}),
        (capacity_claims.selectors_are_far_apart, {"sandwich": (2, {"packing": 3.0})}),
        (capacity_claims.bounds_are_logarithmic, {"sandwich": (3, {"cls_cover": 1e9})}),
        (capacity_claims.shattering_holds, {"shattering": (1, {"patterns": 7})}),
        (capacity_claims.bounded_norms_stop_growth, {"circle": (2, {"heads": 18})}),
        (capacity_claims.gaps_are_below_bounds, {"gaps": (4, {"gap": 40.0})}),
        (capacity_claims.gaps_and_bounds_fall, {"gaps": (4, {"gap": 2.0})}),
    ],
)
def test_claims_of_capacity(claim, change):
    assert claim(capacity_tables()).holds
    assert not claim(capacity_tables(**change)).holds
