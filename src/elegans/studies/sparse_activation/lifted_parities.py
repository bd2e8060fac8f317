r"""Networks with one active neuron that are hard to learn, because their inputs are not random.

On the products of all pairs of $m$ hidden bits a 1-sparse network of $m/2 + 1$ neurons computes the
parity of half of them (theorem 3), and another one learning with rounding (definition 15). On fair
bits such networks would be easy. Here students of the size of the construction, and ten times as
wide, are trained by SGD at four sizes; beside them stand the network set by hand, linear algebra on
the diagonal, where the hidden bits are, and a learner that asks statistical queries about all
$2^m$ parities, whose number of queries theorem 14 bounds from below.

Under fair bits, on the other hand, a learner that looks for the addresses finds gated networks
exactly (`learners.recover_gates`), where polynomials of degree 3 leave much of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.sparse_activation import lifted_claims as claims
from elegans.studies.sparse_activation.lifted_learners import (
    TOLERANCE,
    GateRecovery,
    LinearRounding,
    QuerySearches,
    WithoutGradients,
    half_parity,
    odd_secret,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import LearningWithRounding
from elegans.training.recipe import Stop, Training

SYSTEMS = 100  # of learning with rounding; a few secrets make it linear, so their share matters


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sizes of lifted parities and of learning with rounding, and how students are trained."""

    ms: tuple[int, ...]
    wider: int
    steps: int
    rate: float
    rounding_ms: tuple[int, ...]
    q: int
    rounding_steps: int
    rounding_rate: float
    query_ms: tuple[int, ...]
    searches: int
    gate_n: int
    gate_b: int
    gate_rows: int
    seeds: int


def runs(settings: Settings) -> dict[str, Sweep]:
    """Students of both tasks at every size and width, and learners that are not trained."""
    students = [
        (
            {"task": claims.PARITY, "m": m, "width": wider * 2 * m},
            Experiment(
                half_parity(m),
                MLP(width=wider * 2 * m),
                student(settings.steps, settings.rate, "hinge", Stop(test_error=0.01)),
            ),
        )
        for m in settings.ms
        for wider in (1, settings.wider)
    ]
    rounding = [
        (
            {"task": claims.ROUNDING, "m": m, "width": wider * neurons},
            Experiment(
                LearningWithRounding(m, settings.q, seed=odd_secret(m, settings.q, 0)),
                MLP(width=wider * neurons),
                student(settings.rounding_steps, settings.rounding_rate, "square", None),
            ),
        )
        for m in settings.rounding_ms
        for wider in (1, settings.wider)
        for neurons in [rounding_neurons(m, settings.q)]
    ]
    return {
        "students": Sweep.of(students, seeds=settings.seeds),
        "rounding": Sweep.of(rounding, seeds=settings.seeds),
        "without_gradients": Sweep.of(
            [({"m": m}, WithoutGradients(m=m)) for m in settings.ms], seeds=20
        ),
        "searches": Sweep.of(
            [
                (
                    {"m": m, "answers": answers},
                    QuerySearches(m=m, answers=answers, searches=settings.searches),
                )
                for m in settings.query_ms
                for answers in ("honest", "adversarial")
            ],
            seeds=2,
        ),
        "linear": Sweep.of(
            [
                ({"rule": rule}, LinearRounding(m=settings.rounding_ms[1], q=settings.q, rule=rule))
                for rule in ("modulus", "rounding")
            ],
            seeds=SYSTEMS,
        ),
        "gates": Sweep.of(
            [({}, GateRecovery(n=settings.gate_n, b=settings.gate_b, rows=settings.gate_rows))],
            seeds=3,
        ),
    }


def student(steps: int, rate: float, loss: str, stop: Stop | None) -> Training:
    """The recipe of the students: online, batches of 32."""
    return Training(
        loss=loss,
        batch=32,
        learning_rate=rate,
        steps=steps,
        evaluate_every=max(1, steps // 10),
        test_samples=2000,
        stop=stop,
    )


def rounding_neurons(m: int, q: int) -> int:
    """Twice the binary digits: as many neurons per hidden bit as the students of parities have."""
    return 2 * LearningWithRounding(m, q).m * LearningWithRounding(m, q).digits


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Errors of students by size and width beside those of other learners, and of gates."""
    students = runs["students"].table.assign(error=lambda rows: rows["test_error"])
    rounding = runs["rounding"].table
    variance = [
        np.var(np.asarray(LearningWithRounding(int(m), settings.q).values())) for m in rounding["m"]
    ]
    rounding = rounding.assign(error=rounding["test_loss"] / variance)
    columns = ["task", "m", "width", "seed", "steps", "error", "success"]
    both = pd.concat([students[columns], rounding[columns]], ignore_index=True)
    both["size"] = np.where(
        both["width"] == both.groupby(["task", "m"])["width"].transform("min"),
        claims.NARROW,
        claims.WIDE,
    )
    errors = both.groupby(["task", "size", "m"], sort=False)["error"].mean().unstack("m")
    errors.columns = [f"m = {m}" for m in errors.columns]
    return {"errors": errors.reset_index(), "trained": both}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What captions and claims mention."""
    return {
        "steps": settings.steps,
        "rounding_steps": settings.rounding_steps,
        "q": settings.q,
        "tolerance": TOLERANCE,
        "gate_n": settings.gate_n,
        "gate_rows": settings.gate_rows,
    }


STUDY = Study(
    name="lifted-parities",
    title="With inputs chosen by an enemy, networks with one active neuron are hard to learn",
    summary=(
        "On random bits, networks of which one neuron is active at any input are easy to learn. "
        "The same networks are hard if inputs come from another distribution: the products of all "
        "pairs of a few hidden bits. There a small network of the kind computes the parity of "
        "half of the hidden bits, or a rounded sum that cryptography relies on. Networks of that "
        "size, and ten times as wide, are trained on growing numbers of hidden bits. Linear "
        "algebra, which knows where to look, needs a few examples; a learner by statistical "
        "queries has to ask about nearly every parity there is."
    ),
    source="Sparse activations paper, theorems 3 and 14, definition 15, and its open questions",
    scales={
        "quick": Scale(
            Settings(
                ms=(8, 12, 16, 20),
                wider=10,
                steps=5000,
                rate=0.03,
                rounding_ms=(2, 3, 4, 5),
                q=8,
                rounding_steps=10_000,
                rounding_rate=0.01,
                query_ms=(4, 6, 8, 10),
                searches=10,
                gate_n=30,
                gate_b=3,
                gate_rows=2000,
                seeds=5,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                ms=(12, 16, 20, 24),
                wider=10,
                steps=50_000,
                rate=0.03,
                rounding_ms=(2, 3, 4, 5),
                q=8,
                rounding_steps=100_000,
                rounding_rate=0.01,
                query_ms=(4, 6, 8, 10),
                searches=50,
                gate_n=30,
                gate_b=3,
                gate_rows=2000,
                seeds=10,
            ),
            minutes=60,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        claims.students_fail_as_parities_grow,
        claims.other_learners_do_not,
        claims.queries_are_as_many_as_must_be,
        claims.rounding_is_hard_for_students,
        claims.rounding_is_not_linear,
        claims.addresses_are_recovered,
    ),
    figures="elegans.studies.sparse_activation.figures_lifted:lifted",
    charts="elegans.studies.sparse_activation.figures_lifted:lifted_chart",
    shown=("errors",),
    formats={"errors": ".1%", "error": ".2%", "elimination": ".1%", "by_hand": ".1%"},
    captions={
        "figure": (
            "Left: error of trained networks against the number m of hidden bits, one dot per run, "
            "for networks as wide as the construction and ten times as wide; linear algebra from "
            "m + 10 examples in green. Second: the same for learning with rounding, as a share of "
            "the variance. Third: statistical queries until the parity is known, beside the least "
            "number that any learner needs. Right: gated networks on fair bits, by what learns "
            "them."
        ),
        "chart": "Every trained network.",
        "errors": (
            "Mean error of students: the share of wrong signs for parities, of the variance for "
            "rounding"
        ),
        "trained": "One row per student.",
        "without_gradients": (
            "Linear algebra on the diagonal from so many rows, and the network set by hand."
        ),
        "searches": "One row per search among all parities; theory is the bound of theorem 14.",
        "linear": (
            "The parity that solves as many equations as have a solution, its error, and the "
            "least error of any parity, by rule."
        ),
        "gates": "One row per gated teacher: errors as shares of the variance.",
    },
)
