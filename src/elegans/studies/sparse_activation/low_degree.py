r"""The low-degree algorithm on sparsely activated teachers, beside the exact Fourier tail.

Least squares over all monomials of degree at most $d$ are fitted to fair inputs labelled by a
teacher. Their error on fresh inputs is at least the teacher's Fourier weight above $d$; the weight
itself acts as noise on the $p$ coefficients, so that about $1 + p/(m - p)$ times as much is
expected of $m$ samples. Errors are fractions of the teacher's variance.

Three teachers have the same number of neurons: gated ones with one active neuron, the same without
gates, and the network of $s$ neurons that computes the parity of $s - 1$ bits, a piecewise linear
function of their sum (`constructions.parity_mlp`). The contrast of the paper is that of the worst
case: some dense networks are out of reach. Random ones without gates are easier than those with
them. Sample curves with noise, parities of $\log_2 s$ bits and the degree that theorem 8 prescribes
are in `polynomials`.

The bound $4k^2W^2/(d + 1)$ of the tail stands in the table. It is proved, and above the variance at
every degree that can be fitted here, so it is no claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans import constructions, cube
from elegans.fields import configuration
from elegans.learners import LowDegreeRegressor
from elegans.learners.monomials import monomial_count
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import bootstrap, log_slope, paired
from elegans.studies.sparse_activation.polynomials import (
    Prescription,
    SampleCurve,
    SparseParity,
    network_values,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import SparseNetwork
from elegans.theory import sparse_activation
from elegans.theory.boolean import fourier

SOURCE = "sparse activations paper"
SPARSE, UNGATED, PARITY = "1-sparse", "without gates", "parity"
TEACHERS = (SPARSE, UNGATED, PARITY)
AMPLE = 4.0  # samples per monomial from which the limit of many is to hold
VISIBLE_TAIL = 1e-3  # of the variance; below, the error is rounding and samples


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Teachers of n inputs and 2**b neurons, and how they are learned.

    Sample curves have `curve_seeds` teachers and their `ratios` of rows to monomials, with noise of
    these sizes; parities of these numbers of bits (`parity_bits`) are drawn at all of `parity_ns`.
    (A single bit has so few monomials that the few rows which a system needs besides count; below
    n = 12, so do inputs that are drawn twice.)
    """

    n: int
    b: int
    degrees: tuple[int, ...]
    samples: int
    seeds: int
    ratios: tuple[float, ...] = (1.5, 2.0, 4.0, 10.0, 20.0)
    noises: tuple[float, ...] = (0.0, 0.5)
    curve_seeds: int = 20
    parity_bits: tuple[int, ...] = (2, 3)
    parity_ns: tuple[int, ...] = (12, 16, 20, 24)
    epsilon: float = 0.1


@configuration
class LowDegreeFits:
    """A random teacher and its fits: tail, expectation and measurement by degree."""

    teacher: str
    n: int
    b: int
    degrees: tuple[int, ...]
    samples: int
    fresh: int = 4000

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per degree."""
        generator = np.random.default_rng([seed, 3])
        train = generator.integers(0, 2**self.n, self.samples)
        test = generator.integers(0, 2**self.n, self.fresh)
        x, values = cube.signs(self.n), self.values(seed)
        weights = fourier.degree_weights(values, self.n)
        variance = weights[1:].sum()
        rows = []
        for d in self.degrees:
            model = LowDegreeRegressor(degree=d).fit(x[train], values[train])
            error = np.mean((model.predict(x[test]) - values[test]) ** 2)
            tail = weights[d + 1 :].sum() / variance
            count = monomial_count(self.n, d)
            rows.append(
                {
                    "degree": d,
                    "monomials": count,
                    "error": error / variance,
                    "theory": tail,
                    "theory_samples": tail * self.samples / (self.samples - count),
                    "theory_bound": self.bound(seed, d) / variance,
                }
            )
        return pd.DataFrame(rows)

    def values(self, seed: int) -> np.ndarray:
        """The teacher's value at every input."""
        if self.teacher == PARITY:
            params = constructions.parity_mlp(self.n, tuple(range(min(self.n, 2**self.b - 1))))
            return network_values(params, cube.signs(self.n)) / 2
        task = SparseNetwork(n=self.n, b=self.b, seed=seed, dense=self.teacher == UNGATED)
        return np.asarray(task.population().y, float)

    def bound(self, seed: int, d: int) -> float:
        r"""$4k^2W^2/(d + 1)$, which bounds the tail of the sparse teacher; NaN for the others."""
        if self.teacher != SPARSE:
            return float("nan")
        member = sparse_activation.membership(
            SparseNetwork(n=self.n, b=self.b, seed=seed).teacher()
        )
        return sparse_activation.lipschitz_sensitivity(member.k, member.W) / (d + 1)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every teacher with every seed, sample curves, parities, and prescriptions."""
    points = [
        (
            {"teacher": teacher},
            LowDegreeFits(
                teacher=teacher,
                n=settings.n,
                b=settings.b,
                degrees=settings.degrees,
                samples=settings.samples,
            ),
        )
        for teacher in TEACHERS
    ]
    curves = [
        (
            {"ratio": ratio, "noise": noise},
            SampleCurve(n=settings.n, b=settings.b, degree=2, ratio=ratio, noise=noise),
        )
        for ratio in settings.ratios
        for noise in settings.noises
    ]
    parities = [
        ({"n": n, "p": p}, SparseParity(n=n, p=p))
        for p in settings.parity_bits
        for n in settings.parity_ns
    ]
    prescription = Prescription(n=settings.n, b=settings.b, epsilon=settings.epsilon)
    return {
        "fits": Sweep.of(points, seeds=settings.seeds),
        "curves": Sweep.of(curves, seeds=settings.curve_seeds),
        "parities": Sweep.of(parities, seeds=range(100, 103)),
        "prescriptions": Sweep.of([({}, prescription)], seeds=settings.seeds),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Means over seeds by teacher and degree, and the errors as a grid."""
    fits = runs["fits"].table
    means = fits.groupby(["teacher", "degree"], sort=False).mean(numeric_only=True)
    means = means.drop(columns="seed").reset_index()
    grid = means.pivot(index="teacher", columns="degree", values="error").loc[list(TEACHERS)]
    grid.columns = [f"d = {d}" for d in grid.columns]
    curve = runs["curves"].table.groupby(["noise", "ratio"], sort=False).mean(numeric_only=True)
    prescribed = runs["prescriptions"].table.drop(columns="seed").median()
    return {
        "errors": grid.reset_index(),
        "degrees": means,
        "curve_means": curve.drop(columns="seed").reset_index(),
        "prescribed": prescribed.rename_axis("quantity").rename("median").reset_index(),
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The sizes that the figure mentions, and the largest degree below the parity's."""
    below = [d for d in settings.degrees if d < min(settings.n, 2**settings.b - 1)]
    sizes = {"n": settings.n, "s": 2**settings.b, "samples": settings.samples}
    return {**sizes, "top": max(below), "epsilon": settings.epsilon}


def error_is_the_tail(tables: Tables) -> Claim:
    """The measured error is the Fourier tail, as enlarged by the number of samples."""
    fits = tables["fits"][tables["fits"]["theory"] > VISIBLE_TAIL]
    ratio = fits["error"] / fits["theory_samples"]
    means = ratio.groupby([fits["teacher"], fits["degree"]], sort=False).mean()
    interval = bootstrap(ratio.groupby(fits["seed"]).mean().to_numpy(float), np.mean)
    return Claim(
        text="The error of the low-degree algorithm is the Fourier weight above its degree",
        source=f"{SOURCE}, lemma 7",
        measured=(
            f"error / (tail m/(m - p)) is {interval:.3f} over all fits, and {means.min():.2f} to "
            f"{means.max():.2f} by teacher and degree"
        ),
        against="a teacher and degree at which the mean ratio is outside of 0.8 to 1.25",
        holds=bool(len(means) and (means > 0.8).all() and (means < 1.25).all()),
        interval=interval,
    )


def at_top(tables: Tables, teacher: str) -> pd.Series:
    """The errors of a teacher by seed, at the largest degree below the parity's."""
    fits = tables["fits"]
    chosen = fits[(fits["teacher"] == teacher) & (fits["degree"] == tables.facts["top"])]
    return chosen.set_index("seed")["error"]


def some_dense_networks_are_out_of_reach(tables: Tables) -> Claim:
    """The algorithm learns most of sparse teachers, and nothing of a dense one of their size."""
    sparse = bootstrap(at_top(tables, SPARSE).to_numpy(), np.mean)
    parity = bootstrap(at_top(tables, PARITY).to_numpy(), np.mean)
    return Claim(
        text=(
            "Sparsely activated networks are learned for the most part at a degree at which a "
            "dense network of the same size is out of reach"
        ),
        source=f"{SOURCE}, introduction: dense networks simulate parities on min(n, s) bits",
        measured=(
            f"error at d = {tables.facts['top']}: 1-sparse {sparse:.1%}, parity {parity:.1%} of "
            "the variance"
        ),
        against="an interval of the sparse error that reaches 50%, or of the parity's below 90%",
        holds=sparse.high < 0.5 and parity.low > 0.9,
        interval=sparse,
    )


def gates_make_it_harder(tables: Tables) -> Claim:
    """The same directions without gates are learned better: the contrast is about worst cases."""
    difference = paired(at_top(tables, UNGATED), at_top(tables, SPARSE), np.mean).difference
    return Claim(
        text="Random dense networks are easier than sparsely activated ones with their directions",
        source="a limit of the contrast above, which is about worst cases",
        measured=(
            f"at d = {tables.facts['top']} gates add {difference:.1%} of the variance to the error"
        ),
        against="an interval of the difference, paired by seed, that reaches down to zero",
        holds=difference.low > 0,
        interval=difference,
    )


def samples_and_noise_add_what_lemma_7_says(tables: Tables) -> Claim:
    """The error falls with samples as least squares say, noise included: the agnostic case."""
    curves = tables["curves"]
    ample = curves[curves["ratio"] >= AMPLE]
    cells = ample.groupby(["noise", "ratio"])["ratio_to_theory"].mean()
    interval = bootstrap(ample.groupby("seed")["ratio_to_theory"].mean().to_numpy(float), np.mean)
    below = curves[curves["ratio"] < AMPLE].groupby(["noise", "ratio"])["ratio_to_theory"].mean()
    noises = ", ".join(f"{noise:g}" for noise in sorted(curves["noise"].unique()))
    return Claim(
        text=(
            "From m samples the tail and the noise are enlarged by m/(m - p), p the number of "
            f"monomials, if m is at least {AMPLE:g} p"
        ),
        source=f"{SOURCE}, lemma 7 and theorem 4 with noise",
        measured=(
            f"measured over expected {interval:.3f}; {cells.min():.2f} to {cells.max():.2f} over "
            f"m/p up to {curves['ratio'].max():g} and noise {noises}; with fewer samples up to "
            f"{below.max():.2f}"
        ),
        against="a cell in which the mean ratio is more than 10% from 1",
        holds=bool((cells > 0.9).all() and (cells < 1.1).all()),
        interval=interval,
    )


def log_s_degrees_are_needed(tables: Tables) -> Claim:
    """Parities of log2 s bits need that degree, and samples that grow as n to that power."""
    parities = tables["parities"]
    exact = int((parities["least_degree"] == parities["p"]).sum())
    by_bits = {int(p): parities[parities["p"] == p] for p in sorted(parities["p"].unique())}
    slopes = {
        p: log_slope(part, "n", "m_star")
        for p, part in by_bits.items()
        if np.isfinite(part["m_star"]).all()
    }
    is_power = len(slopes) == len(by_bits) and all(
        abs(slope.value / p - 1) < 0.15 for p, slope in slopes.items()
    )
    text = ", ".join(f"{slope.value:.2f} (s = {2**p})" for p, slope in slopes.items())
    return Claim(
        text="1-sparse networks of s neurons can need degree log2 s and n to that power samples",
        source=f"{SOURCE}, theorem 13",
        measured=(
            f"the least degree is log2 s in {exact} of {len(parities)} networks; exponents of n in "
            f"the samples {text}"
        ),
        against="a network with another least degree, or an exponent 15% or more from log2 s",
        holds=exact == len(parities) and is_power,
        interval=slopes[max(slopes)] if slopes else None,
    )


STUDY = Study(
    name="low-degree",
    title="Networks with few active neurons are close to polynomials of low degree",
    summary=(
        "A network of which only few neurons are active at any input is, on random bits, close "
        "to a polynomial of low degree, and such polynomials are learned by least squares. Here "
        "polynomials of growing degree d are fitted to samples of three kinds of networks of the "
        "same size: with one active neuron, with the same weights but without the gates that keep "
        "the others silent, and one that computes a parity. The error should be exactly what the "
        "polynomial cannot express, the Fourier weight above degree d, which is computed from all "
        "inputs and drawn beside it."
    ),
    source="Sparse activations paper, lemma 7 and theorem 8",
    scales={
        "quick": Scale(
            Settings(n=10, b=3, degrees=(0, 1, 2, 3), samples=4000, seeds=5), minutes=0.2
        ),
        "laptop": Scale(
            Settings(n=14, b=3, degrees=(0, 1, 2, 3, 4), samples=20_000, seeds=5), minutes=3
        ),
        "paper": Scale(
            Settings(n=18, b=4, degrees=(0, 1, 2, 3, 4), samples=40_000, seeds=10), minutes=60
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        error_is_the_tail,
        samples_and_noise_add_what_lemma_7_says,
        log_s_degrees_are_needed,
        some_dense_networks_are_out_of_reach,
        gates_make_it_harder,
    ),
    figures={
        "figure": "elegans.studies.sparse_activation.figures:low_degree",
        "samples": "elegans.studies.sparse_activation.figures_polynomials:samples",
    },
    charts="elegans.studies.sparse_activation.figures:low_degree_chart",
    shown=("errors", "prescribed"),
    formats={
        "errors": ".1%",
        "error": ".2%",
        "prescribed": ",.4g",
        "theory": ".2%",
        "theory_samples": ".2%",
    },
    captions={
        "figure": (
            "Error of the best polynomial of degree d that samples give, as a fraction of the "
            "variance, for three networks of the same size. Blue: measured, grey dots are single "
            "runs. Red, dashed: the Fourier weight above d, below which no polynomial of degree d "
            "can be. Red, dotted: the same with what finitely many samples add."
        ),
        "samples": (
            "Left: the error of degree-2 polynomials against the number of samples, without noise "
            "and with it; lines are what least squares should give. Right: samples from which "
            "parities of p bits are learned, which are networks of 2^p neurons with one active, "
            "against the number n of inputs; dashed, the number of monomials of degree p."
        ),
        "curve_means": "Sample curves: means over teachers, as shares of the variance.",
        "curves": "One row per fit of the sample curves.",
        "parities": "One row per parity: the least degree, and the least samples at that degree.",
        "prescribed": (
            "Degrees for an error of a tenth of the variance: theorem 8 as printed with the "
            "logarithm of its samples, 4k²W²/ε, the certificate of the activity, and what is "
            "enough; medians over teachers"
        ),
        "prescriptions": "One row per teacher.",
        "chart": "Every fit as a dot, with the Fourier weight above its degree as a red tick.",
        "errors": "Error by degree d, as a fraction of the variance",
        "degrees": "Means over seeds.",
        "fits": (
            "One row per fit: measured error, Fourier tail, the tail with what samples add, and a "
            "proved bound of the tail of sparse networks, all as fractions of the variance."
        ),
    },
)
