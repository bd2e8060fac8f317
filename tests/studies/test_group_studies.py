"""The studies of chapter 7: each end to end at a tiny scale, and claims on tables made by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from elegans.constructions.groups import memorising
from elegans.report.result import Result, Tables
from elegans.studies import catalogue
from elegans.studies.groups import (
    group_features,
    group_features_claims,
    margin_game,
    margin_game_claims,
    margin_lines,
    modular_addition,
    modular_addition_claims,
    modular_grokking,
    networks,
    parity_margin,
    regularisation_path,
    weights,
)
from elegans.studies.groups.figures.drawings import neuron_and_network
from elegans.studies.study import Scale
from elegans.tasks import GroupOperation
from elegans.tasks.groups import Alternating, Dicyclic, Symmetric
from elegans.theory import groups as theory

DOCS = Path(__file__).parents[2] / "docs"
TINY = networks.Recipe(width=8, weight=1e-3, steps=20, doublings=(10,), evaluations=4)
SMALL = {
    "margin-game": margin_game.Settings(
        certified={"S3": Symmetric(3), "Dic3": Dicyclic(3), "A5": Alternating(5)},
        solved={"S6": Symmetric(6)},
        training_group="Dic3",
        recipe=replace(TINY, weight=3.6e-3),
        seeds=2,
    ),
    "modular-addition": modular_addition.Settings(p=5, recipe=TINY, seeds=2),
    "group-features": group_features.Settings(recipes={"3": TINY}, seeds=2),
    "parity-margin": parity_margin.Settings(n=4, k=3, recipe=TINY, seeds=2),
    "regularisation-path": regularisation_path.Settings(
        widths={"Z5": 8, "S3": 8}, weights=(1e-3, 1e-4), steps=20, seeds=2, points=5
    ),
    "modular-grokking": modular_grokking.Settings(
        p=5, fraction=0.6, width=8, steps=20, seeds=2, evaluations_per_decade=5
    ),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What is read back from the bundles."""
    out = tmp_path_factory.mktemp("out")
    for name, settings in SMALL.items():
        study = replace(catalogue.study(name), scales={"small": Scale(settings, minutes=0.1)})
        study.run("small", out=out, workers=0, progress=False)
    return {name: Result.read(out / name) for name in SMALL}


@pytest.mark.parametrize("name", SMALL)
def test_a_study_runs_end_to_end(results, name):
    result = results[name]
    assert len(result.claims) == len(catalogue.study(name).claims)
    assert all(claim.against for claim in result.claims)


def test_exact_claims_about_games_hold(results):
    exact = results["margin-game"].claims[:3]
    assert [claim.text for claim in exact if not claim.holds] == []
    groups = results["margin-game"].tables["groups"].set_index("group")
    np.testing.assert_allclose(groups.loc["A5", "value"], 4.31570899e-4, rtol=1e-8)
    assert groups.loc["A5", "never"] == 1
    assert groups.loc["S6", ["required", "optional", "never"]].tolist() == [2, 4, 4]


def test_the_best_neuron_is_the_bound_whatever_the_weights():
    """Alternating maximisation reaches B(tau) for label weights other than the best ones too."""
    group = Dicyclic(3)
    sizes = theory.real_character_table(group).sizes
    tau = np.arange(len(sizes), dtype=float)
    tau /= tau @ sizes
    expected = theory.single_neuron_bound(group, tau)
    np.testing.assert_allclose(margin_game.best_neuron(group, tau, 30, 0), expected, rtol=1e-9)


def test_slopes_are_zero_where_the_optimum_has_a_share_and_positive_elsewhere():
    group, weight = Dicyclic(3), 3.6e-3
    shares = theory.regularised_optimum(group, weight).shares
    slopes = margin_game.slopes(group, weight)
    np.testing.assert_allclose(slopes[shares > 0], 0, atol=1e-9)
    assert (slopes[shares == 0] > 1e-5).all()


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_time_of_gradient_flow_counts_each_doubling_and_momentum(momentum):
    training = replace(TINY, momentum=momentum).training(3)
    expected = np.concatenate([[0], np.cumsum([0.05] * 10 + [0.1] * 10)]) / (1 - momentum)
    times = networks.flow_times(training, np.array([0, 5, 10, 20]))
    np.testing.assert_allclose(times, expected[[0, 5, 10, 20]])


def test_the_time_of_gradient_flow_of_a_rate_that_falls_to_zero():
    training = replace(TINY, doublings=(), schedule="linear").training(3)
    times = networks.flow_times(training, np.array([0, 10, 20]))
    np.testing.assert_allclose(times, 0.05 * np.array([0, 10 - 45 / 20, 20 - 190 / 20]), rtol=1e-6)


@pytest.mark.parametrize("direction", margin_lines.DIRECTIONS)
def test_the_weighted_margin_is_above_the_margin_and_touches_it_at_the_maximum(direction):
    line = margin_lines.MarginLine(Symmetric(3), direction, points=20)(0)
    assert (line["weighted"] >= line["margin"] - 1e-12).all()
    assert (line["weighted"] <= 1 + 1e-12).all()
    np.testing.assert_allclose(margin_lines.touches(line), [0.0], atol=1e-12)


def test_the_second_line_arrives_at_the_memorising_network():
    line = margin_lines.MarginLine(Symmetric(3), "memorising", points=5)(0)
    model, params = memorising(Symmetric(3))
    best = theory.maximum_margin(Symmetric(3)).value
    expected = theory.normalised_margin(model, params, GroupOperation(Symmetric(3))) / best
    end = line.iloc[(line["t"] - 1).abs().argmin()]
    np.testing.assert_allclose(end["t"], 1.0)
    np.testing.assert_allclose(end["margin"], expected, rtol=1e-12)


def test_the_interpolant_goes_through_the_weights_and_has_their_frequencies_alone():
    vector = np.cos(2 * np.pi * 2 * np.arange(7) / 7 + 0.3)
    x, curve = weights.interpolant(vector)
    np.testing.assert_allclose(curve[:: weights.POINTS], vector, atol=1e-12)
    np.testing.assert_allclose(curve, np.cos(2 * np.pi * 2 * x / 7 + 0.3), atol=1e-12)


def test_table_d1_has_the_printed_names_of_its_two_rows_of_dimension_four_exchanged():
    rows = group_features.character_rows().set_index("representation")
    assert rows.loc["(4, 1)", ["name", "printed"]].tolist() == ["standard", "standard x sign"]
    assert rows.loc["(4, 1)", "(2, 1, 1, 1)"] == 2  # three fixed points, less one
    numbers = rows.drop(columns=["name", "printed"])
    printed = {  # Table D.1, by class (2), (2, 2), (3), (4), (5), (2, 3)
        "sign": (1, -1, 1, 1, -1, 1, -1),
        "standard": (4, -2, 0, 1, 0, -1, 1),
        "standard x sign": (4, 2, 0, 1, 0, -1, -1),
        "5d_a": (5, 1, 1, -1, -1, 0, 1),
        "5d_b": (5, -1, 1, -1, 1, 0, -1),
        "6d": (6, 0, -2, 0, 0, 1, 0),
    }
    order = ["(1, 1, 1, 1, 1)", "(2, 1, 1, 1)", "(2, 2, 1)", "(3, 1, 1)", "(4, 1)", "(5)", "(3, 2)"]
    for label, name in rows["printed"].items():
        if name != "trivial":
            assert tuple(numbers.loc[label, order]) == printed[name]


def test_the_docs_show_the_drawing_of_figure_7_2():
    texts = [text.get_text() for axes in neuron_and_network().axes for text in axes.texts]
    assert any("\\sum_i (u_i[a] + v_i[b])^2" in text for text in texts)
    assert (DOCS / "images" / "neuron-and-network.svg").stat().st_size > 10_000
    page = (DOCS / "feature-emergence.md").read_text(encoding="utf-8")
    assert "images/neuron-and-network.svg" in page


def game_tables(
    network=1.0, neuron=1.0, formula=1.0, never=1, share=0.001, rate=1.0, ratio=0.97, start=0.5
):
    """Tables of two groups, the second without the condition, and of a dying representation."""
    groups = pd.DataFrame(
        {
            "group": ["A", "B"],
            "value": [1.0, 1.0],
            "bound": [1.0, 1.0],
            "network": [1.0, network],
            "neuron": [1.0, neuron],
            "condition": [-1.0, 1.0],
            "formula": [formula, 0.9 if never else 1.0],
            "never": [0, never],
        }
    )
    optimum = pd.DataFrame(
        {
            "representation": ["x", "y"] * 3,
            "seed": np.repeat([0, 1, 2], 2),
            "theory": [0.0, 1.0] * 3,
            "share_start": start,
            "share_end": [share, 1 - share] * 3,
        }
    )
    decay = pd.DataFrame(
        {
            "seed": np.repeat([0, 1, 2], 2),
            "time": [1.0, 10.0] * 3,
            "share": [0.1, 0.1 * 10 ** (-3.0 * rate)] * 3,
            "predicted": [0.1, 1e-4] * 3,
        }
    )
    ends = pd.DataFrame({"seed": range(3), "ratio": ratio, "theory_ratio": 0.974})
    ends = ends.assign(norm=1.0, theory_norm=1.0)
    tables = {"groups": groups, "optimum": optimum, "decay": decay, "ends": ends}
    return Tables(tables, {"trained": "B"})


@pytest.mark.parametrize(
    "claim, change",
    [
        (margin_game_claims.networks_meet_the_bound, {"network": 1 - 1e-6}),
        (margin_game_claims.networks_meet_the_bound, {"neuron": 1 + 1e-6}),
        (margin_game_claims.theorem_holds_under_its_condition, {"formula": 0.999}),
        (margin_game_claims.condition_matters, {"never": 0}),
        (margin_game_claims.forbidden_representation_dies, {"share": 0.02}),
        (margin_game_claims.forbidden_representation_dies, {"rate": 0.5}),
        (margin_game_claims.training_reaches_the_optimum, {"ratio": 0.95}),
        (margin_game_claims.training_reaches_the_optimum, {"ratio": np.nan}),
        (margin_game_claims.shares_are_those_of_the_optimum, {"share": np.nan}),
        (margin_game_claims.shares_are_those_of_the_optimum, {"share": 0.2}),
        (margin_game_claims.shares_are_those_of_the_optimum, {"start": 0.95}),
    ],
)
def test_claims_about_games_can_fail(claim, change):
    assert claim(game_tables()).holds
    assert not claim(game_tables(**change)).holds


def neuron_rows(**end):
    """Two neurons of each of three seeds, at the start and the end."""
    values = {"power_u": 1.0, "power_v": 1.0, "power_w": 1.0, "gap": 0.0, "is_same": True} | end
    start = {"power_u": 0.3, "power_v": 0.3, "power_w": 0.3, "gap": 1.5, "is_same": False}
    rows = [
        {"seed": seed, "when": when, "is_live": True, "share": 0.5, **kind}
        for seed in range(3)
        for when, kind in (("start", start), ("end", values))
        for _ in range(2)
    ]
    return pd.DataFrame(rows)


def addition_tables(ratio=0.999, norm=1.0, share=0.5, count=3, relu=0.9, start=0.3, **end):
    """Tables of both activations."""
    ends = pd.DataFrame(
        {
            "activation": "square",
            "seed": range(3),
            "ratio": ratio,
            "norm": norm,
            "theory_norm": 1.0,
            "loss": 1.0,
            "theory_loss": 1.0,
        }
    )
    frequencies = pd.DataFrame(
        {
            "activation": "square",
            "seed": np.repeat(range(3), 2),
            "theory_limit": 0.5,
            "share_start": [0.2, 0.8] * 3,
            "share_end": [share, 1 - share] * 3,
            "neurons_end": [count, 3] * 3,
        }
    )
    rectified = neuron_rows(power_u=relu).assign(activation="relu")
    rectified.loc[rectified["when"] == "start", "power_u"] = start
    neurons = pd.concat([neuron_rows(**end).assign(activation="square"), rectified])
    tables = {"ends": ends, "frequencies": frequencies, "neurons": neurons}
    return Tables(tables, {"memorising": 0.3, "p": 13})


@pytest.mark.parametrize(
    "claim, change",
    [
        (modular_addition_claims.margin_is_reached, {"ratio": 0.98}),
        (modular_addition_claims.margin_is_reached, {"ratio": np.nan}),
        (modular_addition_claims.norm_and_loss_are_predicted, {"norm": np.nan}),
        (modular_addition_claims.norm_and_loss_are_predicted, {"norm": 1.05}),
        (modular_addition_claims.frequencies_share_evenly, {"share": 0.4}),
        (modular_addition_claims.every_frequency_is_present, {"count": 0}),
        (modular_addition_claims.neurons_have_one_frequency, {"power_w": 0.98}),
        (modular_addition_claims.neurons_have_one_frequency, {"is_same": False}),
        (modular_addition_claims.phases_add_up, {"gap": 0.5}),
        (modular_addition_claims.rectifiers_come_near, {"relu": 0.7}),
        (modular_addition_claims.rectifiers_come_near, {"relu": 0.995}),
        (modular_addition_claims.rectifiers_come_near, {"start": 0.85}),
    ],
)
def test_claims_about_addition_can_fail(claim, change):
    assert claim(addition_tables()).holds
    assert not claim(addition_tables(**change)).holds


def feature_tables(ratio=0.979, share=0.8, gone=0.0, count=5, **end):
    """Tables of one group with three representations, the last left out by the optimum."""
    ends = pd.DataFrame({"group": "G", "seed": range(3), "ratio": ratio, "theory_ratio": 0.98})
    representations = pd.DataFrame(
        {
            "group": "G",
            "seed": np.repeat(range(3), 3),
            "representation": ["a", "b", "c"] * 3,
            "dimension": [2, 1, 1] * 3,
            "theory": [0.8, 0.2, 0.0] * 3,
            "share_start": [0.3, 0.3, 0.4] * 3,
            "share_end": [share, 1 - share, gone] * 3,
            "neurons_end": [20, count, 0] * 3,
        }
    )
    neurons = neuron_rows(**end).assign(group="G")
    return Tables({"ends": ends, "representations": representations, "neurons": neurons})


@pytest.mark.parametrize(
    "claim, change",
    [
        (group_features_claims.optimum_is_reached, {"ratio": 0.96}),
        (group_features_claims.optimum_is_reached, {"ratio": np.nan}),
        (group_features_claims.neurons_have_one_representation, {"power_v": 0.9}),
        (group_features_claims.shares_are_predicted, {"share": 0.7}),
        (group_features_claims.representations_are_those_of_the_optimum, {"count": 0}),
        (group_features_claims.representations_are_those_of_the_optimum, {"gone": 0.05}),
        (group_features_claims.larger_ones_have_more_neurons, {"count": 50}),
    ],
)
def test_claims_about_representations_can_fail(claim, change):
    assert claim(feature_tables()).holds
    assert not claim(feature_tables(**change)).holds


def parity_tables(ratio=0.99, **end):
    """Tables of the strongest neurons of three seeds."""
    values = {"off_support": 0.01, "unequal": 0.01, "along": 1.0, "is_signed": True} | end
    start = {"off_support": 1.0, "unequal": 1.0, "along": 0.5, "is_signed": False}
    neurons = pd.DataFrame(
        [
            {"seed": seed, "when": when, "share": 1.0, **kind}
            for seed in range(3)
            for when, kind in (("start", start), ("end", values))
        ]
    )
    ends = pd.DataFrame({"seed": range(3), "ratio": ratio, "norm": 1.0, "theory_norm": 1.0})
    return Tables({"ends": ends, "neurons": neurons})


@pytest.mark.parametrize(
    "claim, change",
    [
        (parity_margin.margin_is_reached, {"ratio": 0.9}),
        (parity_margin.top_neurons_find_the_support, {"off_support": 0.1}),
        (parity_margin.relevant_weights_are_equal, {"unequal": 0.1}),
        (parity_margin.outputs_and_signs_agree, {"along": 0.99}),
        (parity_margin.outputs_and_signs_agree, {"is_signed": False}),
    ],
)
def test_claims_about_parities_can_fail(claim, change):
    assert claim(parity_tables()).holds
    assert not claim(parity_tables(**change)).holds


def path_tables(large=0.94, small=0.98, cyclic=1.0):
    """Tables of a group of permutations and a cyclic one at two weights."""
    rows = [
        {"group": group, "weight": weight, "seed": seed, "ratio": ratio, "theory_ratio": truth}
        for group, weight, ratio, truth in (
            ("S3", 1e-3, large, 0.94),
            ("S3", 1e-7, small, 0.98),
            ("Z5", 1e-3, cyclic, 1.0),
            ("Z5", 1e-7, cyclic, 1.0),
        )
        for seed in range(3)
    ]
    return Tables({"ends": pd.DataFrame(rows)})


@pytest.mark.parametrize(
    "claim, change",
    [
        (regularisation_path.training_follows_the_path, {"large": 0.92}),
        (regularisation_path.smaller_penalties_have_larger_margins, {"small": 0.94}),
        (regularisation_path.smaller_penalties_have_larger_margins, {"small": 0.999}),
        (regularisation_path.cyclic_groups_need_no_limit, {"cyclic": 0.98}),
    ],
)
def test_claims_about_the_path_can_fail(claim, change):
    assert claim(path_tables()).holds
    assert not claim(path_tables(**change)).holds


def grokking_curves(late=0.02, early=0.95, power=0.5, control=0.9, idle=0.3):
    """Errors and power at four evaluations, with weight decay and without."""
    rows = []
    for seed in range(3):
        for step, train, test, share in (
            (0, 0.9, 0.95, 0.1),
            (1, 0.0, early, 0.3),
            (50, 0.0, early, power),
            (100, 0.0, late, 0.9),
        ):
            row = {"seed": seed, "step": step, "train_error": train}
            rows.append({**row, "decay": "decay", "test_error": test, "power": share})
            unmoved = min(share, 0.3) if step < 50 else idle
            rows.append({**row, "decay": "none", "test_error": control, "power": unmoved})
    curves = pd.DataFrame(rows)
    return Tables({"curves": curves, "times": modular_grokking.times(curves)})


def test_hidden_progress_ends_before_the_test_error_falls():
    times = grokking_curves()["times"].set_index(["decay", "seed"]).loc[("decay", 0)]
    assert times["train_step"] == 1
    assert times["hidden_step"] == 50
    assert times["test_step"] == 100
    assert times["power_hidden"] == 0.5


@pytest.mark.parametrize(
    "claim, change",
    [
        (modular_grokking.generalisation_is_delayed, {"early": 0.0}),
        (modular_grokking.generalisation_is_delayed, {"late": 0.5}),
        (modular_grokking.generalisation_is_delayed, {"early": 0.3}),
        (modular_grokking.power_grows_unseen, {"power": 0.31}),
        (modular_grokking.power_grows_unseen, {"idle": 0.5}),
        (modular_grokking.decay_is_needed, {"control": 0.3}),
    ],
)
def test_claims_about_grokking_can_fail(claim, change):
    assert claim(grokking_curves()).holds
    assert not claim(grokking_curves(**change)).holds
