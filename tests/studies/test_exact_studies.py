"""The studies that train nothing: one per chapter end to end, and claims on made-up tables."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special

from elegans.report import bundle
from elegans.report.result import Result, Tables
from elegans.studies import catalogue
from elegans.studies.progress import building_blocks, fourier_gaps
from elegans.studies.sparse_activation import (
    figures_gates,
    figures_polynomials,
    gates,
    low_degree,
    rademacher,
    sensitivity,
)
from elegans.studies.study import Scale
from elegans.theory.boolean import majority

SMALL = {
    "fourier-gaps": fourier_gaps.Settings(
        n=9,
        ks=(2, 4),
        hundreds=1,
        paths=8,
        path_k=4,
        steps=4000,
        every=400,
        blocks=building_blocks.Settings(
            n=10, odd=3, even=2, gap_n=9, gap_ks=(2,), seeds=12, steps=2000
        ),
    ),
    "low-degree": low_degree.Settings(
        n=8,
        b=3,
        degrees=(1, 2, 3),
        samples=1500,
        seeds=3,
        ratios=(4.0, 10.0),
        parity_bits=(2,),
        parity_ns=(8, 16),
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
def test_claims_hold_at_a_small_scale(results, name):
    # What B.3.2 says of gaps and of moving weights asks for more bits than these
    surprises = {claim.text.partition(":")[0] for claim in results[name].surprises}
    assert surprises <= {"Moving helps", "Sharpness helps"}
    assert all(claim.interval is not None for claim in results[name].claims)


def test_signs_have_majoritys_gap(results):
    kinds = results["fourier-gaps"].tables["kinds"]
    signs = kinds[(kinds["function"] == "threshold") & (kinds["init"] == "sign")]
    expected = [majority.gap(9, int(k)) / 2 for k in signs["k"]]
    np.testing.assert_allclose(signs["median_gap"], expected, rtol=1e-9)


def test_functions_and_k_share_their_random_neurons():
    w = [fourier_gaps.random_vector("gaussian", 5, np.random.default_rng([7, 2])) for _ in range(2)]
    np.testing.assert_array_equal(*w)
    gaps = fourier_gaps.RandomGaps(n=5, k=2, function="threshold", init="sign")(1)
    assert list(gaps["neuron"]) == list(range(100, 200))


def test_tails_of_sparse_teachers_are_below_their_bound(results):
    fits = results["low-degree"].tables["fits"].dropna(subset="theory_bound")
    assert len(fits) == 3 * 3
    assert (fits["theory"] <= fits["theory_bound"]).all()


def gap_tables(share=0.5, first=0.1, growth=5.0):
    """Tables of Fourier gaps with the given shares and growth."""
    kinds = pd.DataFrame(
        [
            {
                "function": function,
                "init": init,
                "k": k,
                "reaches_majority": share,
                "low": share - 0.1,
                "high": share + 0.1,
            }
            for function in fourier_gaps.FUNCTIONS
            for init in fourier_gaps.INITS
            for k in (2, 4)
        ]
    )
    paths = pd.DataFrame(
        [
            {"seed": seed, "step": step, "gap": first * growth ** (step > 0)}
            for seed in range(5)
            for step in (0, 100, 200)
        ]
    )
    return Tables({"kinds": kinds, "paths": paths})


@pytest.mark.parametrize(
    "claim, change",
    [
        (fourier_gaps.thresholds_are_comparable, {"share": 0.1}),
        (fourier_gaps.sinusoids_are_comparable, {"share": 0.1}),
        (fourier_gaps.training_enlarges_the_gap, {"growth": 1.2}),
        (fourier_gaps.training_enlarges_the_gap, {"first": -0.1}),
    ],
)
def test_claims_about_gaps_can_fail(claim, change):
    assert claim(gap_tables()).holds
    assert not claim(gap_tables(**change)).holds


def block_tables(unbiased=0, smooth=0.10, moving=1000.0):
    """Tables of biases, gaps and examples, with so many successes without biases."""
    wins = {("no biases", 3): unbiased, ("no biases", 2): 20, ("biases zero at first", 3): 20}
    biases = pd.DataFrame(
        [
            {"biases": name, "k": k, "seed": seed, "success": seed < count}
            for (name, k), count in wins.items()
            for seed in range(20)
        ]
    )
    sharpness = pd.DataFrame(
        [
            {"k": 2, "seed": seed, "activation": name, "gap": gap + 0.001 * seed}
            for name, gap in {"rectifier": 0.12, "smooth rectifier": smooth}.items()
            for seed in range(20)
        ]
    )
    examples = pd.DataFrame(
        {"seed": range(20), "moving": moving, "standing": [2000.0] * 19 + [np.inf], "bound": 1e5}
    )
    return Tables({"biases": biases, "sharpness": sharpness, "examples": examples})


@pytest.mark.parametrize(
    "claim, change",
    [
        (building_blocks.biases_break_the_symmetry, {"unbiased": 15}),
        (building_blocks.sharper_rectifiers_have_larger_gaps, {"smooth": 0.13}),
        (building_blocks.moving_helps, {"moving": 3000.0}),
    ],
)
def test_claims_about_building_blocks_can_fail(claim, change):
    assert claim(block_tables()).holds
    assert not claim(block_tables(**change)).holds


@pytest.mark.parametrize("k", [2, 4])
def test_errata_powers_have_larger_gaps_than_rectifiers(k):
    neurons = [building_blocks.Sharpness(n=9, k=k)(seed) for seed in range(20)]
    gaps = pd.concat(neurons).groupby("activation")["gap"].mean()
    assert gaps["power"] > gaps["rectifier"] > 0


def fit_tables(sparse=0.2, ungated=0.02, parity=1.0, ratio=1.0, curve=1.0, least=0, power=1.0):
    """Tables of fits with the given errors at degree 3, and their ratio to what is expected.

    Sample curves have the ratio `curve`; parities of p bits have least degree p + `least` and need
    samples that grow as n to `power` times p.
    """
    errors = {low_degree.SPARSE: sparse, low_degree.UNGATED: ungated, low_degree.PARITY: parity}
    rows = [
        {
            "teacher": teacher,
            "degree": d,
            "seed": seed,
            "error": error + 0.01 * seed,
            "theory": error,
            "theory_samples": (error + 0.01 * seed) / ratio,
        }
        for teacher, error in errors.items()
        for d in (2, 3)
        for seed in range(4)
    ]
    curves = [
        {"noise": noise, "ratio": r, "seed": seed, "ratio_to_theory": curve if r == 4.0 else 1.0}
        for noise in (0.0, 0.5)
        for r in (2.0, 4.0, 10.0)
        for seed in range(4)
    ]
    parities = [
        {"n": n, "p": p, "seed": s, "least_degree": p + least, "m_star": n ** (power * p)}
        for n in (8.0, 16.0)
        for p in (1, 2)
        for s in range(3)
    ]
    frames = {"fits": rows, "curves": curves, "parities": parities}
    return Tables({name: pd.DataFrame(each) for name, each in frames.items()}, {"top": 3})


@pytest.mark.parametrize(
    "claim, change",
    [
        (low_degree.error_is_the_tail, {"ratio": 1.3}),
        (low_degree.error_is_the_tail, {"ratio": 0.7}),
        (low_degree.some_dense_networks_are_out_of_reach, {"sparse": 0.6}),
        (low_degree.some_dense_networks_are_out_of_reach, {"parity": 0.5}),
        (low_degree.gates_make_it_harder, {"ungated": 0.3}),
        (low_degree.samples_and_noise_add_what_lemma_7_says, {"curve": 1.2}),
        (low_degree.samples_and_noise_add_what_lemma_7_says, {"curve": 0.8}),
        (low_degree.log_s_degrees_are_needed, {"least": 1}),
        (low_degree.log_s_degrees_are_needed, {"power": 0.7}),
        (low_degree.log_s_degrees_are_needed, {"power": np.inf}),
    ],
)
def test_claims_about_degrees_can_fail(claim, change):
    assert claim(fit_tables()).holds
    assert not claim(fit_tables(**change)).holds


def teacher_tables(exponent=0.1, scale=1.0, tight=1.0, jump=1.0, class_bound=40.0, gaussian=-1.0):
    """Teachers whose sensitivity grows as a power of n, gates, tight families, Gaussian inputs."""
    rows = [
        {
            "n": n,
            "b": b,
            "s": k * 2**b,
            "k": k,
            "seed": seed,
            "W": 2.0,
            "B": 1.0,
            "AS": scale * k * (1 + 0.01 * seed) * n**exponent,
            "NS": scale * 0.05,
            "theory": 16.0 * k**2,
            "theory_lemma_9": 100.0 * k**4,
            "theory_noise": 0.8 * k**2,
            "theory_lemma_10": 10.0 * k**4,
        }
        for n in (8, 10, 12)
        for b in (1, 2)
        for k in (1, 2)
        for seed in range(3)
    ]
    teachers = pd.DataFrame(rows)
    sizes = teachers.groupby(sensitivity.SIZE).mean().drop(columns="seed")
    gates = [
        {
            "share": share,
            "seed": seed,
            "k": k,
            "second_moment": 1.1,
            "AS": sensitive,
            "theory": bound,
            "theory_activity": 8.0,
        }
        for share, k, sensitive, bound in ((0.3, 3, jump, class_bound), (0.5, 1, 1.0, 8.0))
        for seed in range(4)
    ]
    family = [
        {"p": p, "k": k, "AS": tight * 4 * k**2 * p, "theory": 4.0 * k**2 * p}
        for p in (1, 2)
        for k in (1, 2)
    ]
    normal = [
        {"s": s, "seed": seed, "bias": 2.0, "theory": 2.5, "gaussian": s**gaussian, "bits": 0.5}
        for s in (4, 8, 16)
        for seed in range(3)
    ]
    tables = {
        "gates": pd.DataFrame(gates),
        "strengths": pd.DataFrame(gates),
        "tight": pd.DataFrame(family).assign(theory_activity=lambda rows: rows["theory"]),
        "gaussian": pd.DataFrame(normal),
    }
    return Tables({"teachers": teachers, "sizes": sizes, **tables}, {"rho": 0.9})


@pytest.mark.parametrize(
    "claim, change",
    [
        (sensitivity.lemma_9, {"scale": 1e3}),
        (sensitivity.lemma_10, {"scale": 1e3}),
        (sensitivity.hardly_grows_with_inputs, {"exponent": 0.7}),
        (sensitivity.the_bound_is_attained, {"tight": 0.25}),
        (sensitivity.mostly_sparse_is_enough, {"jump": 1.3}),
        (sensitivity.mostly_sparse_is_enough, {"class_bound": 9.0}),
        (sensitivity.gaussian_inputs_leave_nothing, {"gaussian": -0.5}),
    ],
)
def test_claims_about_sensitivities_can_fail(claim, change):
    assert claim(teacher_tables()).holds
    assert not claim(teacher_tables(**change)).holds


def complexity_tables(scale=0.1, in_m=-0.5, in_s=0.2, in_n=0.5, dense=1.0, wide=0.2):
    """Estimates that are powers of m, s and n, beside their bounds."""
    rows = [
        {
            "n": 10,
            "m": m,
            "s": s,
            "k": k,
            "seed": seed,
            "measured": scale * (1 + 0.01 * seed) * (m / 100) ** in_m * s**in_s,
            "theory": 2.0 * (m / 100) ** -0.5 * s**0.5,
            "theory_dense": (m / 100) ** -0.5 * s,
            "theory_conjecture": (m / 100) ** -0.5 * s**0.5,
        }
        for m in (100, 400)
        for s in (2, 8)
        for k in (1, 2)
        for seed in range(3)
    ]
    estimates = pd.DataFrame(rows)
    sizes = estimates.groupby(rademacher.SIZE).mean().drop(columns="seed")
    sizes = sizes.assign(low=sizes["measured"], high=sizes["measured"])
    more = {
        "dimensions": [{"n": n, "seed": i, "measured": n**in_n} for n in (5, 20) for i in (0, 1)],
        "dense": [
            {"s": s, "seed": i, "measured": 0.5 * s**dense, "theory_dense": s}
            for s in (2, 8)
            for i in (0, 1)
        ],
        "wide": [
            {"s": 512, "seed": i, "measured": wide, "theory": 1.0, "theory_dense": 3.0}
            for i in (0, 1)
        ],
    }
    frames = {name: pd.DataFrame(each) for name, each in more.items()}
    return Tables({"estimates": estimates, "sizes": sizes, **frames}, {"draws": 9})


@pytest.mark.parametrize(
    "claim, change",
    [
        (rademacher.bound_15_is_above, {"scale": 5.0}),
        (rademacher.conjecture_is_not_refuted, {"scale": 1.5}),
        (rademacher.falls_with_samples, {"in_m": -0.2}),
        (rademacher.no_linear_growth_was_found, {"in_s": 1.1}),
        (rademacher.the_dimension_does_not_enter, {"in_n": 1.0}),
        (rademacher.without_sparsity_it_is_linear_in_s, {"dense": 0.7}),
        (rademacher.without_sparsity_it_is_linear_in_s, {"dense": 1.3}),
        (rademacher.sparsity_pays_where_s_is_large, {"wide": 1.5}),
    ],
)
def test_claims_about_complexities_can_fail(claim, change):
    assert claim(complexity_tables()).holds
    assert not claim(complexity_tables(**change)).holds


@pytest.mark.parametrize(
    "study, tables, panels",
    [(sensitivity, teacher_tables(), 4), (rademacher, complexity_tables(), 2)],
)
def test_figures_are_drawn_from_small_tables(study, tables, panels):
    assert len(bundle.function(study.STUDY.figures["figure"])(tables).axes) == panels
    assert bundle.function(study.STUDY.charts["chart"])(tables).to_dict()["$schema"]


def test_second_figures_are_drawn(results):
    assert len(figures_gates.gates(teacher_tables()).axes) == 2
    assert len(figures_polynomials.samples(results["low-degree"].tables).axes) == 2


def test_the_bias_that_keeps_neurons_silent_is_least():
    for s in (4, 64):
        q = special.ndtr(-gates.sparse_bias(s))
        twice = 1 - (1 - q) ** s - s * q * (1 - q) ** (s - 1)
        assert twice == pytest.approx(s**-2.0, rel=1e-6)
    z = np.random.default_rng(0).standard_normal(400_000)
    ramp = np.maximum(z - 0.7, 0)
    np.testing.assert_allclose(gates.ramp_moments(0.7), [ramp.mean(), (ramp**2).mean()], rtol=0.02)


@pytest.mark.parametrize(
    "computation, columns",
    [
        (sensitivity.Sensitivities(n=6, b=1, k=2, rho=0.9), 12),
        (rademacher.Complexities(n=6, m=50, s=4, k=2, draws=2), 4),
    ],
)
def test_computations_are_functions_of_their_seed(computation, columns):
    first, again, other = computation(0), computation(0), computation(1)
    pd.testing.assert_frame_equal(first, again)
    assert first.shape == (1, columns)
    assert not first.equals(other)
    assert (first["theory"] > 0).all()
