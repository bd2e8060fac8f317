r"""Kernels pay n^k: the tangent kernel of a wide network beside the network itself.

A learner that is linear in fixed features cannot know which $k$ of $n$ bits matter: by theorem 5.6
a hinge loss below $1 - \varepsilon$ takes a norm of $\varepsilon \binom{n}{k}^{1/2}$, and samples
of the order of $n^k$. The learner here is kernel ridge regression with the tangent kernel of a
two-layer ReLU network with biases (`learners.NeuralTangentRegressor`), what training would be if
features did not move. Its test error on the $(n, 3)$-parity is measured on nested training sets; a
seed needs as many examples as it takes to err on at most 10% from there on. Networks of width 100
are trained by SGD beside it with the recipe of the Pareto paper.

Functions that fit the examples have such large norms that the theorem says nothing about them. So
the kernel is also fitted under ridge penalties that keep the norm small, and its loss compared with
the theorem's there (the penalties are from a pilot on seed 1000).

As a control the kernel of a network without biases, whose eigenvalue at degree three is zero, so
that no number of examples helps.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans import checks
from elegans.cube import character, drawn_signs
from elegans.experiments.experiment import Experiment
from elegans.fields import Number, configuration
from elegans.learners import NeuralTangentRegressor, degree_eigenvalues
from elegans.models import MLP
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.pareto import kernel_claims
from elegans.studies.pareto.recipe import training
from elegans.studies.study import Scale, Study
from elegans.studies.thresholds import (
    law,
    least_sizes,
    power_law,
    threshold_draws,
    threshold_table,
    trials,
)
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources

GOAL = 0.1  # test error
TEST_ROWS = 2000
CONTROL = (1.0, 2.0)  # samples of the kernel without biases, as multiples of C(n, k)
ALPHA = 1e-6  # the ridge penalty; those of PENALTIES bring the norm below C(n, k)^(1/2)
PENALTIES = (3.0, 10.0, 30.0)
MULTIPLES = tuple(0.5 * 1.08**i for i in range(28))  # up to 4
TARGET = 0.5  # share of SGD's runs that succeed at its threshold


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Bits, samples of the kernel as multiples of C(n, k), and those of SGD."""

    ns: tuple[int, ...]
    k: int
    multiples: tuple[float, ...]
    seeds: int
    width: int
    samples: tuple[int, ...]
    sgd_seeds: int
    steps: int


@configuration
class KernelCurve:
    """Kernel ridge regression on nested training sets: error, hinge loss, norm, and its bound."""

    n: int
    k: int
    bias: float
    multiples: tuple[float, ...]
    alpha: Number = ALPHA

    def __post_init__(self) -> None:
        checks.whole(self, "k", self.k, low=1, high=self.n, what="counts relevant bits")
        checks.number(self, "alpha", self.alpha, low=0, what="is a penalty")

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per number of samples."""
        generator = np.random.default_rng([seed, self.n, self.k])
        supports = math.comb(self.n, self.k)
        sizes = [max(1, round(multiple * supports)) for multiple in self.multiples]
        x, z = (drawn_signs(generator, rows, self.n) for rows in (max(sizes), TEST_ROWS))
        y, labels = (character(rows, tuple(range(self.k))) for rows in (x, z))
        numbers, new = ((rows < 0) @ (1 << np.arange(self.n)) for rows in (x, z))
        scale = math.sqrt(2 * (1 + float(self.bias) ** 2))  # of the features: K(x, x) is its square
        rows = []
        for samples in sizes:
            learner = NeuralTangentRegressor(float(self.alpha), bias=float(self.bias))
            learner.fit(x[:samples], y[:samples])
            margin = labels * learner.predict(z)
            is_new = ~np.isin(new, numbers[:samples])
            norm = float(learner.norms_[0]) * scale
            rows.append(
                {
                    "samples": samples,
                    "error": float((margin[is_new] <= 0).mean()),
                    "hinge": float(np.maximum(0, 1 - margin).mean()),
                    "norm": norm,
                    "bound": resources.fixed_kernel_loss(self.n, self.k, norm),
                }
            )
            if rows[-1]["error"] <= GOAL / 2:  # more samples would say nothing new, at their cube
                break
        return pd.DataFrame(rows)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Curves of both kernels, and networks at every n and number of samples."""
    arms = [
        ("with biases", 1.0, settings.multiples, ALPHA),
        ("without biases", 0.0, CONTROL, ALPHA),
        *(("with biases", 1.0, CONTROL[-1:], alpha) for alpha in PENALTIES),
    ]
    curves = [
        (
            {"kernel": name, "n": n, "penalty": alpha},
            KernelCurve(n, settings.k, bias, multiples, alpha),
        )
        for name, bias, multiples, alpha in arms
        for n in settings.ns
    ]
    networks = [
        (
            {"n": n, "samples": m},
            Experiment(
                Parity(n, settings.k), MLP(width=settings.width), training(m, settings.steps)
            ),
        )
        for n in settings.ns
        for m in settings.samples
    ]
    return {
        "curves": Sweep.of(curves, seeds=settings.seeds),
        "networks": Sweep.of(networks, seeds=settings.sgd_seeds),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Least samples of each seed, exponents, thresholds of SGD, and the kernel's eigenvalues."""
    curves = runs["curves"].table
    columns = ["kernel", "n", "penalty", "seed", "samples", "error", "hinge", "norm", "bound"]
    is_plain = (curves["kernel"] == "with biases") & (curves["penalty"] == ALPHA)
    attempts = trials(runs["networks"].table, ["n"])
    plain = curves[is_plain]
    needed = least_sizes(plain, ["n", "seed"], plain["error"] <= GOAL)
    sgd = threshold_table(attempts, ["n"], settings.samples, TARGET)
    return {
        "exponents": exponents(settings, needed, attempts),
        "needed": needed,
        "sgd": sgd,
        "kernel": curves[columns],
        "eigenvalues": eigenvalues(settings),
    }


def exponents(settings: Settings, needed: pd.DataFrame, attempts: pd.DataFrame) -> pd.DataFrame:
    """Slopes over n of what the kernel and SGD need, with intervals that the grids widen.

    `exact` is the slope of C(n, k) itself at these n, which is not yet k.
    """
    kernel = power_law(needed, "n", "samples")
    sgd = law(threshold_draws(attempts, "n", TARGET), is_power=True)
    supports = [math.log(math.comb(n, settings.k)) for n in settings.ns]
    exact = float(np.polyfit(np.log(settings.ns), supports, 1)[0])
    laws = (
        ("kernel", kernel, grid_error(settings.ns, settings.multiples), float(settings.k), exact),
        ("SGD", sgd, grid_error(settings.ns, settings.samples), math.nan, math.nan),
    )
    rows = [
        {
            "law": name,
            "slope": slope.value,
            "low": slope.low - error,
            "high": slope.high + error,
            "grid_error": error,
            "theory": theory,
            "exact": supports_slope,
        }
        for name, slope, error, theory, supports_slope in laws
    ]
    return pd.DataFrame(rows)


def grid_error(ns: Sequence[int], grid: Sequence[float | int]) -> float:
    """How far a slope over n can be off because sizes between those of a grid were not tried.

    Each threshold may lie half of the largest step to either side, on a logarithmic scale: where
    all seeds switch between two neighbours, resampling them cannot tell.
    """
    x = np.log(ns)
    centred = x - x.mean()
    half_step = float(np.diff(np.log(grid)).max()) / 2
    return half_step * float(np.abs(centred).sum() / (centred @ centred))


def eigenvalues(settings: Settings) -> pd.DataFrame:
    """Of both kernels at the largest n, by degree up to one more than k."""
    n = max(settings.ns)
    both = {name: degree_eigenvalues(n, b) for name, b in (("with_bias", 1.0), ("without", 0.0))}
    return pd.DataFrame({"degree": range(settings.k + 2)}).assign(
        **{name: values[: settings.k + 2] for name, values in both.items()}
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The sizes that claims and figure mention."""
    return {
        "k": settings.k,
        "width": settings.width,
        "goal": GOAL,
        "ns": list(settings.ns),
        "penalty": ALPHA,
    }


STUDY = Study(
    name="fixed-kernel",
    title="A learner whose features do not move pays for every possible answer",
    summary=(
        "The label is the product of three hidden bits out of n. A very wide network that is "
        "trained very little is a kernel method: its features are fixed before it sees any data. "
        "Such a learner has to fit all products of three bits at once, and there are n^3/6 of "
        "them. A network whose features move can look for the right one. How many examples does "
        "each of the two need as n grows?"
    ),
    source="Pareto paper, section 3; thesis, theorem 5.6",
    scales={
        "quick": Scale(
            Settings(
                ns=(12, 15, 19, 24),
                k=3,
                multiples=MULTIPLES,
                seeds=6,
                width=100,
                samples=tuple(round(50 * 2 ** (i / 4)) for i in range(21)),
                sgd_seeds=10,
                steps=10_000,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                ns=(12, 15, 19, 24, 30),
                k=3,
                multiples=MULTIPLES,
                seeds=20,
                width=300,
                samples=tuple(round(50 * 2 ** (i / 4)) for i in range(25)),
                sgd_seeds=40,
                steps=50_000,
            ),
            minutes=50,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        kernel_claims.kernels_need_n_to_the_k,
        kernel_claims.networks_need_less,
        kernel_claims.without_biases_nothing_is_learned,
        kernel_claims.the_loss_is_above_its_bound,
    ),
    figures="elegans.studies.pareto.figures_theorems:fixed_kernel",
    shown=("exponents", "sgd", "eigenvalues"),
    formats={
        "slope": ".2f",
        "theory": ".0f",
        "exact": ".2f",
        "grid_error": ".2f",
        "low": ".3g",
        "high": ".3g",
        "m_star": ",.0f",
        "fit": ",.0f",
        "with_bias": ".2e",
        "without": ".2e",
        "error": ".3f",
        "hinge": ".3f",
        "norm": ".2f",
        "penalty": "g",
        "bound": ".3f",
    },
    captions={
        "figure": (
            "Left: the error of the kernel on new examples, one line per number of bits (median "
            "over seeds); grey, the kernel without biases. Middle: examples from which the kernel "
            "errs on at most 10% (dots, one per seed), and from which half of the networks trained "
            "by SGD do; the line is n^3. Right: hinge losses and norms of all fitted functions "
            "with biases, those under ridge penalties as rings. By theorem 5.6 none lies below the "
            "line, in the mean over targets."
        ),
        "exponents": (
            "Slopes over n of the examples that are needed; 95% intervals, widened by what the "
            "sizes between those of the grid may change; exact is the slope of C(n, k)"
        ),
        "needed": "One row per seed: the examples from which the kernel errs on at most 10%.",
        "sgd": "The least examples at which half of the networks succeed, and a logistic fit",
        "kernel": "One row per seed, penalty and number of samples.",
        "eigenvalues": "Eigenvalues of the kernel by degree, with and without biases",
        "curves": "One row per seed, penalty and number of samples.",
        "networks": "One row per run of SGD.",
    },
)
