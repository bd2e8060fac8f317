r"""Proposition 3 at work: a search on a budget, and gradients that an adversary blinds.

**Search.** A learner asks an oracle about groups of $g$ supports at a time and may ask $q$ times
(`learners.query_search`). It finds the right group with probability
$\min(1, qg/\binom{n}{k})$ as long as the tolerance is below $1/(2g)$; from there on an adversary
hides it. Luck, queries and precision are exchanged at known rates.

**Blind trajectories.** Gradient descent with the square loss on a network $f_\theta$ follows
$\mathbb{E}\,(f - y) \nabla f$; if labels were coins, it would follow $\mathbb{E}\,f \nabla f$ to
iterates $\theta^*_t$ that know nothing of $S$. The difference in parameter $i$ is the Fourier
coefficient of $\partial_i f$ at $S$. An adversary with tolerance $\tau$ may answer blindly for
every $S$ at which all $rT$ coefficients are at most $\tau$. By Bessel, with $|\partial_i f| \le 1$,
all but a share $rT / (\tau^2 \binom{n}{k})$ of the supports is blinded. The derivatives are clipped
to that, coordinate by coordinate. (The proposition prints a constant for sampled gradients, see
`theory.resources.multi_resource_bound`; with exact ones it is 1.) At $n = 16$, $k = 8$ there are
12,870 supports, and the bound says something.

Everything is exact, by a Walsh transform over all $2^n$ inputs.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Float

from elegans import checks, cube
from elegans.fields import configuration
from elegans.learners.query_search import query_search, search_luck
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.statistics import wilson
from elegans.studies.pareto import queries_claims
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources
from elegans.theory.boolean import fourier

# The tolerance of a query about g supports, times g, precise and not: just below and above 1/2, at
# which an adversary can hide the support.
TOLERANCE_TIMES_GROUP = {True: 0.45, False: 0.55}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sizes of the search with its groups and budgets (as shares), and of the trajectories."""

    n: int
    k: int
    groups: tuple[int, ...]
    shares: tuple[float, ...]
    searches: int
    path_n: int
    path_k: int
    neurons: int
    steps: int
    tolerances: tuple[float, ...]
    paths: int


@configuration
class BudgetedSearch:
    """So many searches for random supports, each with its own order of queries."""

    n: int
    k: int
    group: int
    budget: int
    tolerance: float
    answers: str
    searches: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per search."""
        rows = []
        for i in range(self.searches):
            number = self.searches * seed + i
            generator = np.random.default_rng([number, 3])
            support = tuple(sorted(int(j) for j in generator.choice(self.n, self.k, replace=False)))
            task = Parity(self.n, self.k, support=support)
            oracle = resources.StatisticalQueryOracle(
                task, float(self.tolerance), answers=self.answers, seed=number
            )
            search = query_search(oracle, self.k, self.budget, group=self.group, seed=number)
            is_right = search.group is not None and support in search.group
            rows.append({"search": number, "queries": search.queries, "success": is_right})
        return pd.DataFrame(rows)


@configuration
class BlindPath:
    r"""Gradient descent of a small ReLU network whose labels are coins, and who could tell.

    $f(x) = \sum_j u_j \mathrm{ReLU}(\langle w_j, x \rangle + b_j)$, square loss, rate 0.1, uniform
    init; every coordinate of the gradient at an example is clipped to $[-1, 1]$.
    """

    n: int
    k: int
    neurons: int
    steps: int
    learning_rate: float = 0.1

    def __post_init__(self) -> None:
        checks.whole(self, "n", self.n, low=1, high=20, what="counts bits, all enumerated")
        checks.whole(self, "k", self.k, low=1, high=self.n, what="counts relevant bits")

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per support: the largest coefficient that any gradient has there."""
        generator = np.random.default_rng([seed, 5])
        w = generator.uniform(-1, 1, (self.neurons, self.n)) / math.sqrt(self.n)
        b = generator.uniform(-1, 1, self.neurons) / math.sqrt(self.n)
        u = generator.uniform(-1, 1, self.neurons) / math.sqrt(self.neurons)
        x = cube.signs(self.n)
        sizes = cube.subset_sizes(self.n)
        largest = np.zeros(int((sizes == self.k).sum()))
        for _ in range(self.steps):
            z = x @ w.T + b
            f = np.maximum(z, 0) @ u
            blind = []
            for derivative in self.derivatives(x, z, u):
                coefficients = fourier.coefficients(derivative, self.n)[sizes == self.k]
                largest = np.maximum(largest, np.abs(coefficients))
                blind.append(float(np.mean(f * derivative)))
            gradient = np.array(blind).reshape(self.neurons, self.n + 2)
            w = w - self.learning_rate * gradient[:, : self.n]
            b = b - self.learning_rate * gradient[:, self.n]
            u = u - self.learning_rate * gradient[:, self.n + 1]
        return pd.DataFrame({"support": np.flatnonzero(sizes == self.k), "largest": largest})

    def derivatives(
        self,
        x: Float[np.ndarray, "rows n"],
        z: Float[np.ndarray, "rows neurons"],
        u: Float[np.ndarray, " neurons"],
    ) -> Any:
        r"""The clipped $\partial_i f$ at every input: weights, bias, outgoing weight of each."""
        for j in range(self.neurons):
            slope = u[j] * (z[:, j] > 0)
            for column in itertools.chain(x.T, [np.ones(len(x))]):
                yield np.clip(slope * column, -1, 1)
            yield np.clip(np.maximum(z[:, j], 0), -1, 1)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Searches of every group and budget, who answers, and blind paths."""
    supports = math.comb(settings.n, settings.k)
    searches = [
        (
            {"group": group, "answers": answers, "precise": precise, "budget": budget},
            BudgetedSearch(
                n=settings.n,
                k=settings.k,
                group=group,
                budget=budget,
                tolerance=TOLERANCE_TIMES_GROUP[precise] / group,
                answers=answers,
                searches=settings.searches,
            ),
        )
        for group in settings.groups
        for precise in (True, False)
        for answers in ("honest", "adversarial")
        for budget in sorted({max(1, round(s * supports / group)) for s in settings.shares})
    ]
    path = BlindPath(
        n=settings.path_n, k=settings.path_k, neurons=settings.neurons, steps=settings.steps
    )
    return {
        "searches": Sweep.of(searches, seeds=1),
        "paths": Sweep.of([({}, path)], seeds=settings.paths),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per kind of search, and one per path and tolerance."""
    rows = []
    by = ["group", "answers", "precise", "budget"]
    for key, part in runs["searches"].table.groupby(by, sort=False):
        group, answers, precise, budget = cast(tuple[Any, ...], key)
        rate = wilson(int(part["success"].sum()), len(part))
        rows.append(
            {
                **dict(zip(by, (int(group), answers, bool(precise), int(budget)), strict=True)),
                "tolerance": TOLERANCE_TIMES_GROUP[bool(precise)] / int(group),
                "searches": len(part),
                "rate": rate.value,
                "low": rate.low,
                "high": rate.high,
                "predicted": search_luck(settings.n, settings.k, int(budget), int(group)),
            }
        )
    return {"luck": pd.DataFrame(rows), "blinding": blinding(settings, runs["paths"].table)}


def blinding(settings: Settings, paths: pd.DataFrame) -> pd.DataFrame:
    """Per path and tolerance: the share of supports that could tell, beside its bound."""
    parameters = settings.neurons * (settings.path_n + 2)
    supports = math.comb(settings.path_n, settings.path_k)
    rows = []
    for seed, part in paths.groupby("seed"):
        for tolerance in settings.tolerances:
            share = float((part["largest"] > tolerance).mean())
            bound = parameters * settings.steps / (tolerance**2 * supports)
            rows.append({"seed": seed, "tolerance": tolerance, "not_hidden": share, "bound": bound})
    return pd.DataFrame(rows)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The sizes that the figure mentions."""
    return {
        "n": settings.n,
        "k": settings.k,
        "supports": math.comb(settings.n, settings.k),
        "path_n": settings.path_n,
        "path_k": settings.path_k,
        "parameters": settings.neurons * (settings.path_n + 2),
        "steps": settings.steps,
        "path_supports": math.comb(settings.path_n, settings.path_k),
    }


QUICK = Settings(
    n=8,
    k=3,
    groups=(1, 4),
    shares=(0.25, 0.5, 1.0),
    searches=100,
    path_n=16,
    path_k=8,
    neurons=1,
    steps=20,
    tolerances=(1e-7, 1e-5, 1e-4, 0.001, 0.01, 0.1, 0.3, 0.5),
    paths=4,
)
LAPTOP = Settings(
    n=10,
    k=3,
    groups=(1, 3, 12),
    shares=(0.1, 0.25, 0.5, 0.75, 1.0),
    searches=400,
    path_n=16,
    path_k=8,
    neurons=2,
    steps=50,
    tolerances=(1e-7, 1e-5, 1e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9),
    paths=20,
)

STUDY = Study(
    name="statistical-queries",
    title="Queries, precision and luck can be exchanged, and gradients can be blinded",
    summary=(
        "To find which k of n bits decide a label, a learner may ask for averages over all "
        "examples, each answered up to a tolerance. Asking about several candidates at once saves "
        "queries and costs precision; asking fewer leaves the rest to luck. Gradient descent asks "
        "such questions too, one per parameter and step. If the tolerance is too large, an "
        "adversary can answer as if labels were coins, and descent goes where it would have gone "
        "without any data. How many tasks can be hidden from it in this way?"
    ),
    source="Pareto paper, Proposition 3 and section 3.2",
    scales={
        "quick": Scale(QUICK, minutes=0.5),
        "laptop": Scale(LAPTOP, minutes=15),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        queries_claims.budgets_buy_luck,
        queries_claims.the_adversary_hides,
        queries_claims.honest_answers_do_not,
        queries_claims.blinding_obeys_the_bound,
        queries_claims.precise_answers_give_it_away,
    ),
    figures="elegans.studies.pareto.figures_queries:statistical_queries",
    shown=("luck", "blinding"),
    formats={
        "rate": ".0%",
        "low": ".0%",
        "high": ".0%",
        "predicted": ".0%",
        "not_hidden": ".1%",
        "bound": ".3g",
        "tolerance": ".3g",
    },
    captions={
        "figure": (
            "Left: how often a search finds the support within its budget, as a share of the "
            "queries that certainty takes; dots with 95% Wilson intervals, the dashed line is the "
            "prediction. With a tolerance just above the critical one, 1/(2g) for g supports per "
            "query, an adversary hides the support (crosses). Right: for how many supports some "
            "gradient differs from that of random labels by more than the tolerance, one line per "
            "initial network; red, the bound of the theorem, which lies above."
        ),
        "luck": "Success of searches for all budgets, tolerances and ways to answer",
        "blinding": "Share of supports that gradients could tell from coins, and its bound",
        "searches": "One row per search.",
        "paths": "Per support (as a number whose bits are its elements) the largest coefficient.",
    },
)
