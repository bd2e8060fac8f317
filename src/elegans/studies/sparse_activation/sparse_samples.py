r"""How many examples does it take to learn a network with few active neurons, or with many?

Four teachers of $s = 2^b$ neurons on $n$ fair bits: gated ones with one active neuron, the same
directions without gates, and the worst of either kind: the parity of $\log_2 s$ bits is a 1-sparse
network (theorem 13), that of $s - 1$ bits a dense one. Two students: an MLP trained by Adam, and
least squares over monomials whose degree is chosen by cross-validation. $m^*$ is the least size of
the training set from which 80% of the runs leave at most a quarter of the variance unexplained,
found by bisection. Theorem 17 lets it grow as $s$ for $k = 1$, the dense bound as $s^2$.
"""

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.fields import configuration
from elegans.learners import LowDegreeRegressor
from elegans.models import MLP
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies import thresholds
from elegans.studies.sparse_activation import samples_claims as claims
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity, SparseNetwork
from elegans.training.recipe import Stop, Training

UNEXPLAINED = 0.25  # of the variance, at most
RIDGE = 1e-3  # normal equations are solved in place of a singular value decomposition
TARGET = 0.8  # of the runs


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Teachers, training sets to choose from, and students."""

    n: int
    bs: tuple[int, ...]
    grid: tuple[int, ...]
    width: int
    steps: int
    rate: float
    max_degree: int
    seeds: int


def teacher(kind: str, n: int, b: int) -> Any:
    """The task of a kind of teacher with 2**b neurons."""
    if kind == claims.JUNTA:
        return Parity(n, b)
    if kind == claims.PARITY:
        return Parity(n, min(n, 2**b - 1))
    return SparseNetwork(n=n, b=b, dense=kind == claims.UNGATED)


def variance(task: Any) -> float:
    """Of the labels over all inputs."""
    return float(np.var(np.asarray(task.population().y, float)))


@configuration
class PolynomialTrial:
    """Least squares of the degree that cross-validation chooses, from `samples` random inputs."""

    kind: str
    n: int
    b: int
    samples: int
    max_degree: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: the share of the variance that is left on all inputs."""
        x, y = (np.asarray(part, float) for part in teacher(self.kind, self.n, self.b).population())
        rows = np.random.default_rng([seed, self.samples]).integers(0, len(x), self.samples)
        learner = LowDegreeRegressor(degree="auto", max_degree=self.max_degree, cv=3, alpha=RIDGE)
        left = float(np.mean((learner.fit(x[rows], y[rows]).predict(x) - y) ** 2) / y.var())
        row = {"left": left, "degree": learner.degree_, "success": left <= UNEXPLAINED}
        return pd.DataFrame([row])


def runs(settings: Settings) -> Generator[dict[str, Sweep], dict[str, Runs], None]:
    """Bisection for every student, kind of teacher and size."""
    groups = [{"teacher": kind, "s": 2**b} for kind in claims.TEACHERS for b in settings.bs]

    def polynomials(group: thresholds.Group, m: int) -> list[tuple[dict[str, Any], Any]]:
        b = int(group["s"]).bit_length() - 1
        trial = PolynomialTrial(
            kind=group["teacher"], n=settings.n, b=b, samples=m, max_degree=settings.max_degree
        )
        return [({}, trial)]

    def networks(group: thresholds.Group, m: int) -> list[tuple[dict[str, Any], Any]]:
        b = int(group["s"]).bit_length() - 1
        task = teacher(group["teacher"], settings.n, b)
        stop = Stop(test_error=None, test_loss=UNEXPLAINED * variance(task))
        training = Training(
            loss="square",
            optimizer="adam",
            learning_rate=settings.rate,
            batch=32,
            steps=settings.steps,
            samples=m,
            evaluate_every=settings.steps // 20,
            test_samples=2000,
            stop=stop,
        )
        return [({}, Experiment(task, MLP(width=settings.width), training))]

    options: dict[str, Any] = {"seeds": settings.seeds, "target": TARGET}
    yield from thresholds.search(
        groups, settings.grid, polynomials, name=claims.POLYNOMIAL, **options
    )
    yield from thresholds.search(groups, settings.grid, networks, name=claims.NETWORK, **options)


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Trials of both students, and the least sizes of training sets by teacher and s."""
    by = ["student", "teacher", "s"]
    parts = [
        thresholds.trials(each.table, ["teacher", "s"]).assign(student=name.rsplit("-", 1)[0])
        for name, each in runs.items()
    ]
    trials = pd.concat(parts, ignore_index=True)
    sizes = thresholds.threshold_table(trials, by, settings.grid, TARGET)
    grid = sizes.pivot(index=["student", "teacher"], columns="s", values="m_star")
    grid.columns = [f"s = {s}" for s in grid.columns]
    return {"least": grid.reset_index(), "sizes": sizes, "trials": trials}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What captions mention."""
    return {
        "n": settings.n,
        "largest": max(settings.grid),
        "unexplained": UNEXPLAINED,
        "target": TARGET,
    }


def powers(low: int, high: int) -> tuple[int, ...]:
    """Sizes from `low` to `high`, each about the square root of two times the one before."""
    count = round(2 * math.log2(high / low))
    return tuple(round(low * 2 ** (i / 2)) for i in range(count + 1))


STUDY = Study(
    name="sparse-samples",
    title="How many examples does a network with one active neuron need, or with many?",
    summary=(
        "Bounds say that networks of which few neurons are active at any input can be learned "
        "from fewer examples than others: in proportion to the number s of neurons, not to its "
        "square. Bounds are about the worst case. Here the least training set is found by "
        "bisection for random networks with one active neuron and the same without the gates that "
        "keep the others silent, and for the worst of either kind, parities of few and of many "
        "bits; for two students, polynomials and networks."
    ),
    source="Sparse activations paper, theorems 5 and 17, beside the dense bound",
    scales={
        "quick": Scale(
            Settings(
                n=12,
                bs=(2, 3, 4),
                grid=powers(16, 4096),
                width=100,
                steps=3000,
                rate=3e-3,
                max_degree=4,
                seeds=5,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                n=14,
                bs=(1, 2, 3, 4),
                grid=powers(16, 8192),
                width=256,
                steps=20_000,
                rate=1e-3,
                max_degree=4,
                seeds=10,
            ),
            minutes=60,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        claims.random_dense_networks_are_easier,
        claims.worst_dense_networks_are_harder,
        claims.grows_less_than_the_dense_bound,
    ),
    figures="elegans.studies.sparse_activation.figures_samples:samples",
    charts="elegans.studies.sparse_activation.figures_samples:samples_chart",
    shown=("least",),
    formats={"least": ",.0f", "m_star": ",.0f", "fit": ",.0f", "low": ",.0f", "high": ",.0f"},
    captions={
        "figure": (
            "Least number of examples from which a student leaves at most a quarter of the "
            "variance unexplained in 80% of runs, against the number s of the teacher's neurons: "
            "a logistic fit to all sizes that were tried, with its bootstrap interval. Triangles: "
            "no training set was large enough."
        ),
        "chart": "Success rates of all sizes that were tried.",
        "least": "Least number of examples by student, teacher and s",
        "sizes": "The same with a logistic fit and its interval.",
        "trials": "One row per run of the search.",
    },
)
