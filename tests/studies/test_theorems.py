"""The theorems that are run: tiny runs of all stages, and each claim broken by one table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.brute_force import character, cube

from elegans.report.result import Tables
from elegans.studies.pareto import (
    figures_theorems,
    fixed_kernel,
    good_neurons,
    kernel_claims,
    over_claims,
    over_sparse,
    under_claims,
    under_sparse,
)
from elegans.studies.progress import dense_claims, dense_sign, figures_dense
from elegans.studies.study import Scale
from elegans.studies.thresholds import least_size
from elegans.theory import resources
from elegans.theory.boolean import gradients

DENSE = dense_sign.Settings(ns=(9,), k=2, width=16, shares=(0.05, 1.0), seeds=3, steps=301)
OVER = over_sparse.Settings(
    n=13,
    sparsities=((5, 16), (9, 16)),
    fixed_s=9,
    larger=((15, 16),),
    plain=(50, 100),
    truncated=(50, 400),
    narrower=(1.0,),
    many=500,
    seeds=2,
    plain_seeds=2,
    width_seeds=2,
    steps=40,
)
UNDER = under_sparse.Settings(
    draw=(9, 4, 2),
    draws=2,
    k=4,
    searches=((0, (9, 11)), (2, (9, 11))),
    seeds=3,
    exact_n=8,
    exact_width=40,
    exact_samples=(20, 60),
    exact_seeds=2,
    exact_steps=100,
)
KERNEL = fixed_kernel.Settings(
    ns=(8, 10),
    k=3,
    multiples=(1.0, 2.0),
    seeds=2,
    width=8,
    samples=(50, 100),
    sgd_seeds=2,
    steps=100,
)


def tiny(module, settings):
    study = replace(module.STUDY, scales={"tiny": Scale(settings, minutes=0.1)})
    return study.run("tiny", workers=0, progress=False)


def test_the_first_step_of_theorem_5_5_is_measured_on_the_trained_networks():
    result = tiny(dense_sign, DENSE)
    cells = result.tables["cells"].set_index(["arm", "first_batch"])
    enough = dense_sign.recovery_samples(9, 2)
    assert cells.loc[("algorithm", enough), "recovered"] == 1
    # at 9 bits irrelevant weights are a seventh of relevant ones; without a readout it is 1
    assert cells.loc[("algorithm", enough), "readout_loss"] < 0.9
    assert cells.loc[("fixed features", enough), "recovered"] < 0.5
    assert len(figures_dense.dense_sign(Tables(result.tables, result.facts)).axes) == 2


def test_a_placed_readout_writes_the_parity_on_exact_features():
    n, k = 7, 4
    signs = np.array([1.0, -1.0])
    weight = np.zeros((n, 2 * (2 * k - 1)))
    weight[:k] = np.repeat(signs, 2 * k - 1) / (2 * k)
    bias = np.tile(np.arange(1 - k, k) / k, 2)
    outer = dense_sign.placed_readout(weight, bias, k)
    x = cube(n)
    np.testing.assert_allclose(
        np.maximum(x @ weight + bias, 0) @ outer, 2 * character(x, range(k)), atol=1e-9
    )


def test_theorem_16_is_run_in_every_arm():
    result = tiny(over_sparse, OVER)
    trials = result.tables["trials"]
    assert set(trials["arm"]) == {"plain", "truncated", "fixed features"}
    assert len(result.tables["exponents"]) == 4
    assert (result.tables["thresholds"]["prescribed"] > 0).all()
    assert len(figures_theorems.over_sparse(Tables(result.tables, result.facts)).axes) == 3


def test_theorem_21_finds_the_support_at_its_prescription():
    result = tiny(under_sparse, UNDER)
    networks = result.tables["networks"]
    most = networks[networks["samples"] == networks["samples"].max()]
    assert (most["correlation"] > 0.49).all()
    assert np.isfinite(result.tables["least_samples"]["samples"]).mean() > 0.5
    assert len(figures_theorems.under_sparse(Tables(result.tables, result.facts)).axes) == 3


def test_the_gradients_of_good_neurons_are_those_of_the_closed_form():
    n, k, s = 11, 4, 2
    w = np.full(n, good_neurons.small_weight(n, s))
    w[:s] = 1.0
    exact = gradients.enumerated(w, tuple(range(k)))
    relevant, irrelevant = resources.partial_gradients(n, k, s)
    np.testing.assert_allclose(np.abs(exact[s:k]), relevant, rtol=1e-9)
    np.testing.assert_allclose(np.abs(exact[k:]), irrelevant, rtol=1e-9)


def test_normal_gradients_need_as_many_samples_as_examples_do():
    """Neurons of signs, by both searches; counting only the entries that are left needs fewer."""
    medians = []
    for search in (good_neurons.SampleSearch(9, 4, 0), good_neurons.NormalSearch(9, 4)):
        least = [
            least_size(rows["samples"].tolist(), (rows["correlation"] >= 0.49).tolist())
            for rows in map(search, range(16))
        ]
        medians.append(np.median(least))
    assert medians[1] == pytest.approx(medians[0], rel=0.25)
    assert resources.under_sparse_recovery(9, 4, 0) < 0.9 * min(medians)


def test_the_search_for_widths_counts_neurons_until_each_bias_has_a_good_one():
    widths = [good_neurons.WidthSearch(9, 4, 2)(seed)["width"][0] for seed in range(200)]
    chance = resources.good_probability(9, 4, 2) / 4
    coupon = sum(1 / (j * chance) for j in range(1, 5))  # four kinds, each with this chance
    assert np.mean(widths) == pytest.approx(2 * coupon, rel=0.15)


def test_the_kernel_is_measured_beside_networks():
    result = tiny(fixed_kernel, KERNEL)
    assert set(result.tables["kernel"]["kernel"]) == {"with biases", "without biases"}
    assert (result.tables["kernel"]["hinge"] >= result.tables["kernel"]["bound"] - 0.2).all()
    assert result.tables["kernel"]["bound"].max() > 0.1  # under the larger penalties
    assert set(result.tables["needed"]["n"]) == {8, 10}
    picture = figures_theorems.fixed_kernel(Tables(result.tables, result.facts))
    assert len(picture.axes) == 3


def test_an_exponent_is_as_uncertain_as_its_grid_is_coarse():
    """Brute force: thresholds moved half a step either way, and the largest change of slope."""
    ns, half = (12, 15, 19, 24), np.log(2) / 2
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(ns))).reshape(len(ns), -1)
    slopes = np.polyfit(np.log(ns), half * signs, 1)[0]
    assert fixed_kernel.grid_error(ns, (50, 100, 200)) == pytest.approx(slopes.max())
    assert fixed_kernel.grid_error(ns, (50, 70.7, 100, 200)) == pytest.approx(slopes.max())


def test_a_least_size_is_one_from_which_all_pass():
    assert least_size([4, 1, 2], [True, True, False]) == 4
    assert least_size([1, 2], [True, True]) == 1
    assert least_size([1, 2], [True, False]) == np.inf


def dense_tables(recovered=1.0, few=0.1, readout=0.01, loss=0.01, fixed=0.8):
    rows = []
    for n in (15, 21):
        for seed in range(20):
            base = {"n": n, "seed": seed, "readout_loss": readout}
            rows += [
                {"arm": "algorithm", "first_batch": 10, "recovered": few, "test_loss": 0.5, **base},
                {
                    "arm": "algorithm",
                    "first_batch": 100,
                    "recovered": recovered,
                    "test_loss": loss,
                    **base,
                },
                {
                    "arm": "fixed features",
                    "first_batch": 100,
                    "recovered": 0.0,
                    "test_loss": fixed,
                    **base,
                },
            ]
    trials = pd.DataFrame(rows)
    cells = trials[["arm", "n", "first_batch"]].drop_duplicates()
    cells = cells.assign(of_b7=cells["first_batch"] / 100)
    return Tables({"trials": trials, "cells": cells}, {"epsilon": 0.1})


DENSE_WORLDS = [
    (dense_claims.the_first_step_recovers_the_support, {"recovered": 0.95}),
    (dense_claims.recovery_takes_samples, {"few": 0.7}),
    (dense_claims.the_readout_is_there, {"readout": 0.2}),
    (dense_claims.the_algorithm_reaches_its_loss, {"loss": 0.2}),
    (dense_claims.fixed_features_fail, {"fixed": 0.2}),
]


@pytest.mark.parametrize("claim, world", DENSE_WORLDS)
def test_claims_of_theorem_5_5_hold_and_break(claim, world):
    assert claim(dense_tables()).holds
    assert not claim(dense_tables(**world)).holds


LAWS = {
    "samples over s, plain": 1.0,
    "samples over s, truncated": 1.0,
    "samples over n, truncated": 0.0,
    "width over s": -2.0,
    "samples over n, s = 0": 3.0,
    "samples over n, s = 2": 1.0,
    "width over n, s = 2": 2.0,
    "kernel": 3.0,
    "SGD": 1.5,
}


def law_tables(shift="", by=0.0, facts=None, **tables):
    rows = [
        {
            "law": law,
            "slope": theory + by * (law == shift),
            "low": theory + by * (law == shift) - 0.1,
            "high": theory + by * (law == shift) + 0.1,
            "exact": theory,
            "theory": theory,
        }
        for law, theory in LAWS.items()
    ]
    return Tables({"exponents": pd.DataFrame(rows), **tables}, {"s": 2, **(facts or {})})


@pytest.mark.parametrize(
    "claim, law, by",
    [
        (over_claims.samples_grow_with_sparsity, "samples over s, plain", 0.5),
        (over_claims.truncated_samples_grow_with_sparsity, "samples over s, truncated", -0.6),
        (over_claims.truncation_removes_the_bits, "samples over n, truncated", 1.0),
        (over_claims.width_falls_with_sparsity, "width over s", 0.5),
        (under_claims.samples_grow_as_the_rest, "samples over n, s = 2", 0.6),
        (under_claims.dense_samples_grow_as_the_whole, "samples over n, s = 0", -1.0),
        (under_claims.width_grows_with_what_is_known, "width over n, s = 2", 0.7),
        (kernel_claims.kernels_need_n_to_the_k, "kernel", -0.8),
        (kernel_claims.networks_need_less, "SGD", 1.4),
    ],
)
def test_claims_about_exponents_hold_and_break(claim, law, by):
    assert claim(law_tables()).holds
    assert not claim(law_tables(law, by)).holds


def test_exponents_are_held_against_the_exact_calculation_and_not_the_limit():
    table = law_tables()["exponents"]
    is_plain = table["law"] == "samples over s, plain"
    exact = table.assign(exact=table["exact"].where(~is_plain, 2.0))
    shifted = exact.assign(**{c: exact[c] + is_plain for c in ("slope", "low", "high")})
    for tables, holds in ((exact, False), (shifted, True)):
        claim = over_claims.samples_grow_with_sparsity(Tables({"exponents": tables}, {}))
        assert claim.holds == holds
        assert "gives 2.00, and in the limit 1" in claim.measured


def over_tables(success="", fixed=0.8, saves=10.0, prescribed=1e6):
    rows = [
        {"search": "samples", "arm": arm, "n": 51, "s": s, "samples": m, "seed": seed}
        | {"success": success != arm or seed > 10, "test_loss": 0.01}
        for arm in ("plain", "truncated")
        for s in (9, 35)
        for m in (100, 1000)
        for seed in range(20)
    ]
    rows += [
        {"search": "control", "arm": "fixed features", "n": 51, "s": 9, "samples": 9, "seed": i}
        | {"success": False, "test_loss": fixed}
        for i in range(20)
    ]
    thresholds = [
        {"search": search, "arm": arm, "n": 51, "s": s, "threshold": t, "low": 0.8 * t}
        | {"high": 1.2 * t, "prescribed": prescribed, "looseness": prescribed / t}
        for s in (9, 35)
        for search, arm, t in (
            ("samples", "plain", 1000.0 * saves),
            ("samples", "truncated", 1000.0),
            ("width", "truncated", 50.0),
        )
    ]
    facts = {"epsilon": 0.1, "n": 51, "least_sparsity": 9999, "least_sparsity_printed": 99_999}
    return Tables({"trials": pd.DataFrame(rows), "thresholds": pd.DataFrame(thresholds)}, facts)


@pytest.mark.parametrize(
    "claim, world",
    [
        (over_claims.the_algorithm_reaches_its_loss, {"success": "truncated"}),
        (over_claims.the_algorithm_reaches_its_loss, {"success": "plain"}),
        (over_claims.fixed_features_fail, {"fixed": 0.2}),
        (over_claims.truncation_saves_samples, {"saves": 2.5}),
        (over_claims.prescriptions_suffice, {"prescribed": 900.0}),
    ],
)
def test_claims_of_theorem_16_hold_and_break(claim, world):
    assert claim(over_tables()).holds
    assert not claim(over_tables(**world)).holds


def under_tables(passed=1.0, few=0.0, loose=4.0, dense=0.0):
    networks = [
        {"samples": m, "seed": seed, "correlation": 0.9 if seed < 60 * share else 0.2}
        for m, share in ((1000, passed), (10, few))
        for seed in range(60)
    ]
    needed = [{"s": 2, "n": n, "loose_samples": loose, "loose_width": 3.0} for n in (15, 31)]
    rates = [
        {"init": init, "samples": m, "rate": rate, "low": rate - 0.1, "high": rate + 0.1}
        for m in (60, 120)
        for init, rate in (("exact", 0.9), ("dense", dense))
    ]
    facts = {"goal": 0.49, "n": 21, "k": 4, "s": 2, "width": 1872, "samples": 1000}
    tables = {"networks": networks, "needed": needed, "exact_rates": rates}
    return Tables({name: pd.DataFrame(rows) for name, rows in tables.items()}, facts)


@pytest.mark.parametrize(
    "claim, world",
    [
        (under_claims.the_prescription_suffices, {"passed": 59 / 60}),
        (under_claims.few_samples_fail, {"few": 0.6}),
        (under_claims.prescriptions_are_loose, {"loose": 0.7}),
        (under_claims.exact_sparsity_needs_few_samples, {"dense": 0.8}),
    ],
)
def test_claims_of_theorem_21_hold_and_break(claim, world):
    assert claim(under_tables()).holds
    assert not claim(under_tables(**world)).holds


def kernel_tables(error=0.5, hinge=0.9, bound=0.6):
    rows = [
        {"kernel": kernel, "n": n, "seed": seed, "samples": m, "error": error, "hinge": hinge}
        | {"bound": bound if m == 100 else 0.0, "penalty": 1.0}
        for kernel in ("with biases", "without biases")
        for n in (12, 18)
        for m in (100, 1000)
        for seed in range(8)
    ]
    eigenvalues = pd.DataFrame({"degree": range(5), "with_bias": 0.1, "without": 0.0})
    return Tables({"kernel": pd.DataFrame(rows), "eigenvalues": eigenvalues}, {"k": 3})


@pytest.mark.parametrize(
    "claim, world",
    [
        (kernel_claims.without_biases_nothing_is_learned, {"error": 0.3}),
        (kernel_claims.the_loss_is_above_its_bound, {"hinge": 0.5}),
        (kernel_claims.the_loss_is_above_its_bound, {"bound": 0.0}),
    ],
)
def test_claims_about_kernels_hold_and_break(claim, world):
    assert claim(kernel_tables()).holds
    assert not claim(kernel_tables(**world)).holds
