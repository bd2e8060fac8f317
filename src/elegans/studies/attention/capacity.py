r"""How many functions does an attention head have? Bounds from both sides (thesis, 4.3, 4.4, A.1).

*The sandwich.* Heads that select 3 of $T$ positions all have the same norms, with a query of norm
$\ln(4Ts)$. There are $\binom T3$ of them, so any class of these norms has at least
$\ln \binom T3 \approx 3 \ln T$ nats. A packing measured on random inputs is a second lower bound.
Above stand the covering bounds of the document and ours, at the norms of these very heads. All of
the norm-based ones are far from sharp, and parameter counting beats them at any $T$ of a laptop;
what they have is the logarithm.

*Bounded norms.* On the circle of proposition 4.8 the number of heads that are far apart grows with
$T$ and then stops, if the norm is fixed.

*Trained heads.* The network of the theory is trained on ANDs. Its generalisation gap stands beside
the bound at its measured norms, which holds for a class that is fixed in advance: norms that are
measured afterwards would cost a union bound, far smaller than what the bound leaves unused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import BoundedTransformer
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.attention import capacity_claims
from elegans.studies.attention.capacity_bounds import RADIUS, Circle, Sandwich, Shattered
from elegans.studies.attention.protocol import HALF, SPARSITY
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Conjunction
from elegans.theory import capacity
from elegans.training.recipe import Training


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Lengths of the sandwich and of the circle, and how heads are trained."""

    lengths: tuple[int, ...]
    selectors: int
    inputs: int
    circle_lengths: tuple[int, ...]
    circle_norms: tuple[float, ...]
    shatter: tuple[int, ...]
    train_lengths: tuple[int, ...]
    samples: tuple[int, ...]
    seeds: int
    steps: int


def runs(settings: Settings) -> dict[str, Sweep]:
    """Computations, and trained heads."""
    sandwich = [
        ({"T": T}, Sandwich(T, settings.selectors, settings.inputs)) for T in settings.lengths
    ]
    circle = [
        ({"T": T, "R": R}, Circle(T, R))
        for R in settings.circle_norms
        for T in settings.circle_lengths
    ]
    trained = [
        (
            {"T": T, "samples": m},
            Experiment(
                Conjunction(T, SPARSITY, p=HALF),
                BoundedTransformer(kind="scalar", heads=1, key_width=8),
                Training(
                    loss="logistic",
                    optimizer="adam",
                    learning_rate=1e-2,
                    batch=32,
                    samples=m,
                    steps=settings.steps,
                    test_samples=4000,
                ),
            ),
        )
        for T in settings.train_lengths
        for m in settings.samples
    ]
    return {
        "sandwich": Sweep.of(sandwich),
        "circle": Sweep.of(circle),
        "shattering": Sweep.of([({"T": T}, Shattered(T)) for T in settings.shatter]),
        "trained": Sweep.of(trained, seeds=settings.seeds, keep="params"),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """The computations' tables, and the gap of each trained head beside its bound."""
    gaps = runs["trained"].rows(lambda run: pd.DataFrame([gap_row(run)]))
    names = ("sandwich", "circle", "shattering")
    return {**{name: runs[name].table for name in names}, "gaps": gaps}


def gap_row(run: Run) -> dict[str, float]:
    """The gap of a trained head, its norms, and the bound at those norms.

    The logistic loss is 1-Lipschitz, and at outputs of at most A it is at most ln(1 + e^A).
    """
    experiment = run.experiment
    T, m = experiment.task.features, int(experiment.training.samples)
    sizes = capacity.norms(experiment.model, run.params)
    (head,) = sizes.layers[0]
    largest = capacity.largest_output(sizes)
    bound = capacity.generalisation(
        lambda m, eps: min(
            capacity.cls_cover(sizes, m, T, eps), capacity.volumetric_cover(sizes, eps, cls=True)
        ),
        m,
        A=largest,
        b=float(np.logaddexp(0.0, largest)),
    )
    assert run.test_loss is not None
    assert run.train_loss is not None
    assert run.test_error is not None
    return {
        "gap": float(run.test_loss - run.train_loss),
        "bound": bound,
        "train_loss": run.train_loss,
        "test_error": run.test_error,
        "query_norm": head.cls,
        "value_norm": head.V,
        "readout_norm": sizes.w,
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the claims mention."""
    return {"eps": RADIUS, "inputs": settings.inputs}


STUDY = Study(
    name="capacity",
    title="How many functions does an attention head have? About T to a small power",
    summary=(
        "Among T tokens a head can select any three, so it has at least C(T, 3) functions: the "
        "logarithm of their number grows with ln T. The bounds of the thesis say that it does not "
        "grow faster than a power of ln T, if the weights are bounded. Here both sides are "
        "computed for the same heads. They are far apart: as numbers the upper bounds are "
        "vacuous at any size that can be trained, and counting parameters gives better ones. "
        "It is the growth with T that they get right."
    ),
    source="Thesis, proposition 4.8, corollary 4.9 and theorem 4.11",
    scales={
        "quick": Scale(
            Settings(
                lengths=(16, 32, 64, 128, 256, 512, 1024),
                selectors=600,
                inputs=200,
                circle_lengths=(8, 16, 32, 64, 128, 256, 512, 1024, 2048),
                circle_norms=(10.0, 100.0, 1000.0),
                shatter=(4, 8, 16, 32, 64, 128, 256),
                train_lengths=(10, 20, 40),
                samples=(10, 20, 40, 80),
                seeds=3,
                steps=600,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                lengths=(16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
                selectors=4000,
                inputs=1000,
                circle_lengths=(8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
                circle_norms=(10.0, 100.0, 1000.0, 10_000.0),
                shatter=(4, 8, 16, 32, 64, 128, 256),
                train_lengths=(10, 20, 40, 80),
                samples=(10, 20, 40, 80, 160, 320),
                seeds=10,
                steps=2000,
            ),
            minutes=20,
        ),
        "paper": Scale(
            Settings(
                lengths=(16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
                selectors=20_000,
                inputs=1000,
                circle_lengths=(8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
                circle_norms=(10.0, 100.0, 1000.0, 10_000.0),
                shatter=(4, 8, 16, 32, 64, 128, 256, 512),
                train_lengths=(10, 20, 40, 80, 160),
                samples=(10, 20, 40, 80, 160, 320, 640),
                seeds=20,
                steps=5000,
            ),
            minutes=300,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        capacity_claims.packings_are_below_covers,
        capacity_claims.selectors_are_far_apart,
        capacity_claims.bounds_are_logarithmic,
        capacity_claims.shattering_holds,
        capacity_claims.bounded_norms_stop_growth,
        capacity_claims.gaps_are_below_bounds,
        capacity_claims.gaps_and_bounds_fall,
    ),
    figures="elegans.studies.attention.figures_theory:capacity",
    shown=("sandwich",),
    formats={
        "sandwich": ".3g",
        "T": ",",
        "selectors": ",",
        "margin": ".4f",
        "gap": ".3f",
        "bound": ".1f",
        "test_error": ".1%",
    },
    captions={
        "figure": (
            "Left: the logarithm of the number of functions that tell apart heads of the norms of "
            "a selector, from above (circles) and from below (line and triangles; at large T only "
            "some selectors are tried, so that the triangles stop growing). Middle: heads on a "
            "circle that are pairwise far apart, at fixed norms. Right: a dot for each trained "
            "head."
        ),
        "sandwich": (
            "ln of covering numbers at radius 0.2: entropy and packing from below, the others from "
            "above."
        ),
        "circle": "How many of the T heads of norm R are pairwise more than 0.4 apart.",
        "shattering": "Patterns that the heads of proposition 4.8 realise.",
        "gaps": "Trained heads: gap of the logistic loss, norms, and the bound at those norms.",
    },
)
