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

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.random as jr
import numpy as np
import pandas as pd

from elegans import constructions, cube
from elegans.experiments.experiment import Experiment
from elegans.fields import configuration
from elegans.learners import GaussianElimination, LowDegreeRegressor, query_search, recover_gates
from elegans.models import MLP
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.sparse_activation import lifted_claims as claims
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import LearningWithRounding, LiftedParity, SparseNetwork
from elegans.theory import resources
from elegans.theory.boolean import fourier
from elegans.training.recipe import Stop, Training

FRESH_ROWS = 2000  # on which learners without gradients are tested
EXTRA_ROWS = 10  # beyond the unknowns: a random system then has full rank but for 1 in 1,000
TOLERANCE = 0.45  # of a query: below one half, so that one parity can be told from all others


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


def half_parity(m: int) -> LiftedParity:
    """The parity of every other hidden bit."""
    return LiftedParity(m=m, k=m // 2, support=tuple(range(0, 2 * (m // 2), 2)))


@configuration
class WithoutGradients:
    """A lifted parity: the error of the network set by hand, and of linear algebra by rows."""

    m: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per number of examples that linear algebra has."""
        task = half_parity(self.m)
        hidden = cube.drawn_signs(np.random.default_rng([seed, 9]), FRESH_ROWS, self.m)
        y = cube.character(hidden, task.relevant)
        by_hand = set_by_hand(task, constructions.lift(hidden))
        rows = []
        for count in (self.m // 2, self.m + EXTRA_ROWS):
            bits = cube.drawn_signs(np.random.default_rng([seed, count]), count, self.m)
            learner = GaussianElimination().fit(bits, cube.character(bits, task.relevant))
            error = float(np.mean(learner.predict(hidden) != y))
            rows.append({"rows": count, "elimination": error, "by_hand": np.mean(by_hand * y <= 0)})
        return pd.DataFrame(rows)


def set_by_hand(task: LiftedParity, x: np.ndarray) -> np.ndarray:
    """What the 1-sparse network of the construction says at each row."""
    (weight, bias), (outer, _) = constructions.lifted_parity(task.m, task.relevant).layers
    hidden = np.maximum(x @ np.asarray(weight, float) + np.asarray(bias, float), 0)
    return hidden @ np.asarray(outer, float)[:, 0]


@configuration
class QuerySearches:
    """Searches among all parities of the hidden bits, by statistical queries on lifted inputs."""

    m: int
    answers: str
    searches: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per search: queries until the parity was found."""
        task = half_parity(self.m)
        oracle = resources.StatisticalQueryOracle(task, TOLERANCE, answers=self.answers)
        diagonal = [i * (self.m + 1) for i in range(self.m)]
        right = tuple(diagonal[i] for i in task.relevant)
        rows = []
        for i in range(self.searches):
            number = self.searches * seed + i
            search = query_search(oracle, None, 2**self.m, seed=number, bits=diagonal)
            is_right = search.group == (right,)
            rows.append({"search": number, "queries": search.queries, "success": is_right})
        return pd.DataFrame(rows).assign(theory=resources.parity_queries(self.m, TOLERANCE))


@configuration
class LinearRounding:
    """Linear algebra over two elements on learning with rounding, with either rule."""

    m: int
    q: int
    rule: str

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: the error of the parity that solves independent equations, and the least of any.

        The secret has an odd entry, so that the label is not constant under either rule.
        """
        task = LearningWithRounding(
            self.m, self.q, seed=odd_secret(self.m, self.q, seed), rule=self.rule, lifted=False
        )
        x, y = (np.asarray(part, float) for part in task.population())
        signs = 1 - 2 * y
        generator = np.random.default_rng([seed, 11])
        order = generator.permutation(len(x))
        learner = GaussianElimination(signed=True)
        error = 1.0
        count = x.shape[1] + 1 + EXTRA_ROWS
        while True:
            try:
                learner.fit(x[order[:count]], signs[order[:count]])
                error = float(np.mean(learner.predict(x) != signs))
                break
            except ValueError:  # no parity fits so many equations: fewer, then
                count -= 1
        bits = x.shape[1]
        index = (x < 0) @ 2 ** np.arange(bits)
        table = np.zeros(2**bits)
        table[index] = signs
        best = float(np.abs(fourier.coefficients(table, bits)).max())
        row = {"error": error, "equations": count, "least": (1 - best) / 2}
        return pd.DataFrame([row])


@functools.lru_cache(maxsize=64)
def odd_secret(m: int, q: int, seed: int) -> int:
    """A seed from `seed` times a thousand on whose secret has an odd entry."""
    start = 1000 * seed
    while all(w % 2 == 0 for w in LearningWithRounding(m, q, seed=start).secret):
        start += 1
    return start


@configuration
class GateRecovery:
    """A gated network on fair bits, learned by its addresses and by polynomials of degree 3."""

    n: int
    b: int
    rows: int
    fresh: int = 2000

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: errors on fresh inputs as shares of the variance."""
        task = SparseNetwork(n=self.n, b=self.b, seed=seed)
        x, y = (np.asarray(part, float) for part in task.sample(jr.key(seed), self.rows))
        fresh = task.sample(jr.key(seed + 2**20), self.fresh)
        test, labels = (np.asarray(part, float) for part in fresh)
        learner = recover_gates(x, y, self.b)
        degrees = {
            f"degree_{d}": LowDegreeRegressor(degree=d).fit(x, y).predict(test) for d in (1, 2, 3)
        }
        values = {"addresses": learner.predict(test), **degrees}
        errors = {
            name: float(np.mean((value - labels) ** 2) / labels.var())
            for name, value in values.items()
        }
        return pd.DataFrame([{**errors, "right": learner.address == tuple(range(self.b))}])


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
            seeds=20,
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
