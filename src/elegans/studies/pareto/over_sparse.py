r"""Theorem 4/16 end to end: sparse neurons that contain the support, one step, and a readout.

The network starts with `SymmetricSparse(s)`, complete and with offset $\frac12$. Step 0 on $m$
examples replaces the hidden weights by their gradient ($\eta = 1/(2k|C_{k,s}|)$); then the second
layer descends on the same examples with decay $\lambda$ coupled to rates $\frac{1}{\lambda t}$, in
batches (lemma 14 has whole sweeps; the theorem of Shamir and Zhang behind it is about stochastic
gradients). A run succeeds if its hinge loss on new examples is at most $\varepsilon$ at the end.

Two arms: *plain* as in the theorem, and *truncated* as in footnote 4, where entries of the first
gradient below `theory.resources.truncation` become zero. A control leaves out the first step.

Thresholds are where half of the runs succeed, by a logistic fit; exponents are slopes of their
logarithms, refitted on resampled seeds. The theorem gives upper bounds: $m$ of the order of
$s^{k-1} n^2 \log n$, without $n^2$ if truncated, and width of the order of $(n/s)^k$. Exponents
are compared with exact ones at the same sizes (`expected`): of the examples from which the readout
as the proof writes it, under the same decay, reaches the loss (`written_readout`); of those from
which a truncated step is right in half of the draws (`theory.resources.recovery`); and of one over
the chance of a good neuron. Widths in the search for $m$ hold 7 to 8 good pairs on average.

Decay, batch and steps of the second phase and the grids were chosen on seeds from 1,000 on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.statistics import Interval, success_threshold
from elegans.studies.pareto import over_claims
from elegans.studies.pareto.written_readout import written_samples
from elegans.studies.study import Scale, Study
from elegans.studies.thresholds import law, threshold_draws
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources
from elegans.theory.boolean import majority
from elegans.training import layerwise
from elegans.training.recipe import Training

TARGET = 0.5  # the success rate at a threshold
K = 2


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Networks (n, s, width) of the search for samples, and multiples of s that are tried.

    Attributes:
        sparsities: (s, width) at `n` bits.
        larger: (n, width) at sparsity `fixed_s`, truncated only.
        plain: Samples of the plain arm, as multiples of s; likewise `truncated`.
        narrower: Widths of the search for widths, as shares of those in `sparsities`.
        many: Samples in the search for widths and of the control.
        seeds: Of truncated runs and the control; the plain arm, whose training sets are large, and
            the search for widths, whose runs are short, have their own numbers.
    """

    n: int
    sparsities: tuple[tuple[int, int], ...]
    fixed_s: int
    larger: tuple[tuple[int, int], ...]
    plain: tuple[int, ...]
    truncated: tuple[int, ...]
    narrower: tuple[float, ...]
    many: int
    seeds: int
    plain_seeds: int
    width_seeds: int
    steps: int = 2001
    batch: int = 128
    decay: float = 1e-3
    epsilon: float = 0.1


def recipe(settings: Settings, s: int, samples: int, arm: str) -> Training:
    """The theorem's algorithm; truncated, or without its first step."""
    rate = 1 / (2 * K * abs(majority.relevant_gradient(s, K)))
    is_fixed = arm == "fixed features"
    return layerwise(
        samples,
        0.0 if is_fixed else rate,
        first_decay=0.0 if is_fixed else 1.0,
        truncate=resources.truncation(s, K) if arm == "truncated" else None,
        second_decay=settings.decay,
        is_strongly_convex=True,
        batch=settings.batch,
        steps=settings.steps,
        test_samples=2000,
        screen_rows=250,
        train_rows=250,
        evaluate_every=settings.steps,
    )


def cells(settings: Settings) -> list[dict[str, Any]]:
    """Labels of all points: what is searched for, by which arm, and all sizes."""
    labels = []
    for s, width in settings.sparsities:
        for arm, sizes in (("plain", settings.plain), ("truncated", settings.truncated)):
            labels += [("samples", arm, settings.n, s, width, s * size) for size in sizes]
        for share in settings.narrower:
            narrow = 2 * max(1, round(share * width / 2))
            labels.append(("width", "truncated", settings.n, s, narrow, settings.many))
    for n, width in settings.larger:
        labels += [
            ("samples", "truncated", n, settings.fixed_s, width, settings.fixed_s * size)
            for size in settings.truncated
        ]
    for s, width in (settings.sparsities[0], settings.sparsities[-1]):
        labels.append(("control", "fixed features", settings.n, s, width, settings.many))
    names = ("search", "arm", "n", "s", "width", "samples")
    return [dict(zip(names, each, strict=True)) for each in labels]


def point(settings: Settings, labels: dict[str, Any]) -> tuple[dict[str, Any], Experiment]:
    """A cell with its experiment."""
    s = labels["s"]
    init = inits.SymmetricSparse(s, complete=True, offset=resources.OFFSET)
    training = recipe(settings, s, labels["samples"], labels["arm"])
    model = MLP(width=labels["width"], init=init)
    return labels, Experiment(Parity(labels["n"], K), model, training)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every cell from every seed of its part."""
    seeds = {
        "plain": settings.plain_seeds,
        "truncated": settings.seeds,
        "width": settings.width_seeds,
    }
    points: dict[str, list[tuple[dict[str, Any], Experiment]]] = {name: [] for name in seeds}
    for labels in cells(settings):
        is_width = labels["search"] == "width"
        part = "width" if is_width else "plain" if labels["arm"] == "plain" else "truncated"
        points[part].append(point(settings, labels))
    return {name: Sweep.of(points[name], seeds=count) for name, count in seeds.items()}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per run, the thresholds beside what is prescribed, and exponents."""
    table = pd.concat([part.table for part in runs.values()], ignore_index=True)
    columns = ["search", "arm", "n", "s", "width", "samples", "seed", "test_loss"]
    trials = table[columns].assign(success=table["test_loss"] <= settings.epsilon)
    return {
        "thresholds": thresholds(settings, trials),
        "exponents": exponents(settings, trials),
        "trials": trials,
    }


def thresholds(settings: Settings, trials: pd.DataFrame) -> pd.DataFrame:
    """Per search, arm, n and s: where half of the runs succeed, and what the theorem asks for."""
    rows = []
    by = ["search", "arm", "n", "s"]
    for key, part in trials[trials["search"] != "control"].groupby(by, sort=False):
        labels = dict(zip(by, cast(tuple[Any, ...], key), strict=True))
        n, s = int(labels["n"]), int(labels["s"])
        varied = part[str(labels["search"])].to_numpy(float)
        success = part["success"].to_numpy(bool)
        fit = success_threshold(varied, success, part["seed"].to_numpy(), TARGET)
        asked = prescribed(settings, labels, n, s, int(part["width"].max()))
        rows.append(
            {
                **labels,
                "threshold": fit.value,
                "low": fit.low,
                "high": fit.high,
                "expected": expected(settings, {**labels, "width": part["width"].max()}),
                "prescribed": asked,
                "looseness": asked / fit.value if fit.value > 0 else np.inf,
            }
        )
    return pd.DataFrame(rows)


def prescribed(settings: Settings, labels: Mapping[str, Any], n: int, s: int, width: int) -> float:
    """The samples or the width that the formulas of the theorem, or of footnote 4, give."""
    plan = resources.over_sparse_formulas(n, K, s, settings.epsilon)
    if labels["search"] == "width":
        return float(plan.width)
    if labels["arm"] == "plain":
        return float(plan.samples)
    return float(resources.truncated_samples(n, K, s, width))


def expected(settings: Settings, labels: Mapping[str, Any]) -> float:
    """The exact calculation of a threshold; of a width and of truncated samples to a factor."""
    n, s = int(labels["n"]), int(labels["s"])
    chance = resources.good_probability(n, K, s)
    if labels["search"] == "width":
        return 1 / chance
    if labels["arm"] == "truncated":
        return resources.over_sparse_recovery(n, K, s)
    return plain_samples(settings, n, s, int(labels["width"]), settings.decay)


def plain_samples(settings: Settings, n: int, s: int, width: int, decay: float) -> float:
    """`written_samples` of as many good pairs as a network of this width holds in the mean."""
    pairs = max(1, round(resources.good_probability(n, K, s) * width / 2))
    return written_samples(n, s, pairs, epsilon=settings.epsilon, decay=decay)


def exponent_of(sizes: Sequence[float | int], values: Sequence[float]) -> float:
    """The slope of logarithms; unknown if a value is infinite."""
    if not np.isfinite(values).all():
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def exponents(settings: Settings, trials: pd.DataFrame) -> pd.DataFrame:
    """Slopes of the thresholds' logarithms: samples over s and over n, width over s."""
    at_n, at_s = trials["n"] == settings.n, trials["s"] == settings.fixed_s
    plain, samples = trials["arm"] == "plain", trials["search"] == "samples"
    is_width = trials["search"] == "width"
    searches = {
        "samples over s, plain": (samples & plain & at_n, "s", K - 1.0),
        "samples over s, truncated": (samples & ~plain & at_n, "s", K - 1.0),
        "samples over n, truncated": (samples & ~plain & at_s, "n", 0.0),
        "width over s": (is_width, "s", -float(K)),
    }
    rows = []
    for name, (chosen, x, theory) in searches.items():
        part = trials[chosen]
        varied = part["width"] if name == "width over s" else part["samples"]
        slope: Interval = law(
            threshold_draws(part.assign(samples=varied), x, TARGET), is_power=True
        )
        sizes = part.drop_duplicates(x)
        exact = [expected(settings, cast(Any, row)) for row in sizes.to_dict("records")]
        rows.append(
            {
                "law": name,
                "slope": slope.value,
                "low": slope.low,
                "high": slope.high,
                "exact": exponent_of(sizes[x].tolist(), exact),
                "theory": theory,
            }
        )
    return pd.DataFrame(rows)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes, the sparsity from which the theorem holds, and the plain exponent without decay."""
    without = [plain_samples(settings, settings.n, s, r, 0.0) for s, r in settings.sparsities]
    return {
        "k": K,
        "n": settings.n,
        "fixed_s": settings.fixed_s,
        "many": settings.many,
        "epsilon": settings.epsilon,
        "decay": settings.decay,
        "exponent_without_decay": exponent_of([s for s, _ in settings.sparsities], without),
        "seeds": settings.seeds,
        "plain_seeds": settings.plain_seeds,
        "width_seeds": settings.width_seeds,
        "least_sparsity": resources.least_sparsity(K, settings.epsilon),
        "least_sparsity_printed": resources.least_sparsity(K, settings.epsilon, offset=1 / 16),
    }


STUDY = Study(
    name="over-sparse",
    title="Sparse neurons trade width for data: a theorem, run",
    summary=(
        "The label is the product of two hidden bits out of n. Each neuron starts by reading s "
        "inputs at random. If both hidden bits are among them, its first gradient shows which two "
        "they are, and it shows them from fewer examples if s is small; but such neurons are rarer "
        "then. The Pareto paper proves that an algorithm of one large step and a trained readout "
        "works, with a number of examples that grows like s and a width that grows like (n/s)^2. "
        "Its constants are astronomical. Here the algorithm is run: do the powers hold, and how "
        "many examples and neurons does it really need?"
    ),
    source="Pareto paper, theorems 4 and 16, lemma 14, footnote 4",
    scales={
        "quick": Scale(
            Settings(
                n=51,
                sparsities=((9, 512), (17, 128), (25, 64), (35, 32)),
                fixed_s=35,
                larger=((101, 128), (151, 256)),
                plain=(500, 1000, 2000, 4000, 8000),
                truncated=(20, 40, 80, 160, 800),
                narrower=(1 / 16, 1 / 8, 1 / 4, 1 / 2),
                many=20_000,
                seeds=24,
                plain_seeds=32,
                width_seeds=120,
            ),
            minutes=3,
        ),
        "laptop": Scale(
            Settings(
                n=51,
                sparsities=((9, 512), (13, 256), (17, 128), (25, 64), (35, 32), (51, 16)),
                fixed_s=35,
                larger=((101, 128), (201, 512), (401, 2048)),
                plain=(250, 500, 1000, 2000, 4000, 8000, 16_000),
                truncated=(25, 35, 50, 70, 100, 140, 200, 280, 400, 800),
                narrower=(1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0),
                many=20_000,
                seeds=100,
                plain_seeds=100,
                width_seeds=100,
            ),
            minutes=80,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        over_claims.the_algorithm_reaches_its_loss,
        over_claims.fixed_features_fail,
        over_claims.samples_grow_with_sparsity,
        over_claims.truncated_samples_grow_with_sparsity,
        over_claims.truncation_removes_the_bits,
        over_claims.truncation_saves_samples,
        over_claims.width_falls_with_sparsity,
        over_claims.prescriptions_suffice,
    ),
    figures="elegans.studies.pareto.figures_theorems:over_sparse",
    shown=("thresholds", "exponents"),
    formats={
        "threshold": ",.0f",
        "expected": ",.0f",
        "low": ".3g",
        "thresholds.low": ",.0f",
        "thresholds.high": ",.0f",
        "high": ".3g",
        "prescribed": ".3g",
        "looseness": ".3g",
        "slope": ".2f",
        "exact": ".2f",
        "theory": ".0f",
        "test_loss": ".3f",
    },
    captions={
        "figure": (
            "Left: examples from which half of the runs reach the loss, over the number s of "
            "inputs that a neuron reads, with 95% intervals. Middle: the same over the number of "
            "bits, if small gradients are set to zero. Right: the width from which half of the "
            "runs do. Dashed lines are the theorem's powers, solid lines exact calculations at the "
            "same sizes; both are drawn through the middle of the dots. Sizes at which no half "
            "of the runs succeeds have no dot."
        ),
        "thresholds": (
            "Where half of the runs succeed, what exact gradients give to a factor, and what "
            "the theorem's formulas ask for"
        ),
        "exponents": (
            "Slopes of the thresholds' logarithms, what exact gradients give at the same sizes, "
            "and the theorem's powers"
        ),
        "trials": "One row per run.",
    },
)
