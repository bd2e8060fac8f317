r"""One wide network or many narrow ones: how should a budget of arithmetic be spent?

The Pareto paper (section 1.1) sees model size, training steps and random restarts as one resource,
total arithmetic. So $R$ restarts of width $r$ are set beside one network of width $rR$: after every
step both have cost the same. Restarts share their training set, which is the resource that they do
not buy: only initial weights are drawn anew (batches come in one order). The restarts of a set
succeed when the first of them does, which takes a held-out set to see.

Beside the measurement stands $1 - (1 - p)^R$ with the measured rate $p$ of single runs, which would
be right if restarts on one training set were independent of each other. However the neurons are
divided, one of them is lucky (has a gradient at the start) with the same chance,
`theory.resources.lucky_chance`: restarts and width buy the same tickets.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import jax.random as jr
import numpy as np
import pandas as pd
from jaxtyping import PRNGKeyArray, PyTree

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.fields import Count, configuration
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.statistics import wilson
from elegans.studies.pareto import allocation_claims
from elegans.studies.pareto.recipe import COLUMNS, finished, training
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources


@configuration
class Restart:
    """The initial weights of a run's restart with this number: drawn anew for each seed and number.

    All else that a seed fixes, the examples, their order and the test set, stays.
    """

    init: inits.Sparse
    number: Count

    def __post_init__(self) -> None:
        checks.count(self, "number", self.number, low=0, what="numbers restarts")

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> PyTree:
        """What `init` draws under a key of the seed and the number."""
        return self.init(jr.fold_in(key, self.number), model, task)

    def check(self, model: Any, task: Any) -> None:
        """Refuses what `init` refuses."""
        self.init.check(model, task)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, the neurons to spend, into which widths, and on training sets of which sizes."""

    n: int
    k: int
    neurons: int
    widths: tuple[int, ...]
    samples: tuple[int, ...]
    seeds: int
    steps: int
    evaluate_every: int = 250

    def __post_init__(self) -> None:
        for width in self.widths:
            high = self.neurons
            checks.whole(self, "widths", width, low=1, high=high, what="divide the neurons")
            if self.neurons % width:
                raise ValueError(
                    f"{checks.shown(self)}: widths divide the {self.neurons} neurons, so that "
                    f"restarts cost as much as one network; got {width}."
                )


def runs(settings: Settings) -> dict[str, Sweep]:
    """As many restarts of each width on each training set as cost what the widest one does."""
    points = [
        (
            {"samples": samples, "width": width, "restart": restart},
            Experiment(
                Parity(settings.n, settings.k),
                MLP(width=width, init=Restart(inits.Sparse(2), restart)),
                training(samples, settings.steps, settings.evaluate_every),
            ),
        )
        for samples in settings.samples
        for width in settings.widths
        for restart in range(settings.neurons // width)
    ]
    return {"runs": Sweep.of(points, seeds=settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Rates by size and width, the lines of the figure, training sets, and runs."""
    table = runs["runs"].table[["samples", "width", "restart", *COLUMNS]]
    groups = first_successes(table)
    curves = success_curves(table, groups, settings)
    return {
        "allocations": allocation_table(table, groups, settings),
        "curves": curves,
        "groups": groups,
        "runs": table,
    }


def first_successes(table: pd.DataFrame) -> pd.DataFrame:
    """One row per size, width and training set: the step at which its first restart succeeds.

    It is infinite if none does.
    """
    runs = finished(table)
    steps = runs["steps"].astype(float).where(runs["success"], np.inf)
    groups = runs.assign(first=steps).groupby(["samples", "width", "seed"], sort=False)
    return groups.agg(restarts=("first", "size"), first=("first", "min")).reset_index()


def success_curves(table: pd.DataFrame, groups: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Per size, width and step: the share of training sets that are learned by then.

    `theory` is $1 - (1 - p)^R$ for the rate p of single runs, pooled over training sets.
    """
    singles = finished(table)
    rows = []
    for key, part in groups.groupby(["samples", "width"], sort=False):
        samples, width = cast(tuple[int, int], key)
        of_cell = singles[(singles["samples"] == samples) & (singles["width"] == width)]
        restarts = settings.neurons // width
        for step in range(settings.evaluate_every, settings.steps + 1, settings.evaluate_every):
            p = float((of_cell["success"] & (of_cell["steps"] <= step)).mean())
            rows.append(
                {
                    "samples": samples,
                    "width": width,
                    "restarts": restarts,
                    "step": step,
                    "arithmetic": settings.neurons * step,
                    "rate": float((part["first"] <= step).mean()),
                    "theory": 1 - (1 - p) ** restarts,
                }
            )
    return pd.DataFrame(rows)


def allocation_table(table: pd.DataFrame, groups: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Per size and width: rates of single runs and of whole sets of restarts, at the last step."""
    singles = finished(table).groupby(["samples", "width"])["success"].mean()
    rows = []
    for key, part in groups.groupby(["samples", "width"], sort=False):
        samples, width = cast(tuple[int, int], key)
        rate = wilson(int(np.isfinite(part["first"]).sum()), len(part))
        single = float(singles.loc[(samples, width)])
        median = float(part["first"].median())
        restarts = settings.neurons // width
        rows.append(
            {
                "samples": samples,
                "width": width,
                "restarts": restarts,
                "sets": len(part),
                "single_rate": single,
                "rate": rate.value,
                "low": rate.low,
                "high": rate.high,
                "theory": 1 - (1 - single) ** restarts,
                "median_first": median if np.isfinite(median) else np.nan,
            }
        )
    return pd.DataFrame(rows)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What claims and figure refer to."""
    names = ("n", "k", "neurons", "widths", "samples", "seeds", "steps")
    chance = resources.lucky_chance(settings.n, settings.k, 2, settings.neurons)
    return {name: getattr(settings, name) for name in names} | {"lucky_chance": chance}


STUDY = Study(
    name="allocation",
    title="One wide network or many narrow ones, for the same arithmetic?",
    summary=(
        "A network that fails may be trained again from other initial weights. Thirty networks of "
        "ten neurons cost as much arithmetic as one of three hundred. Which is the better use of "
        "it? Here both are trained on the same training sets: the restarts are counted as one "
        "attempt, which succeeds when the first of them does."
    ),
    source="Pareto paper, section 1.1",
    scales={
        "quick": Scale(
            Settings(
                n=50,
                k=3,
                neurons=300,
                widths=(10, 30, 100, 300),
                samples=(1000, 2000),
                seeds=30,
                steps=15_000,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                n=50,
                k=3,
                neurons=1000,
                widths=(10, 25, 50, 100, 250, 500, 1000),
                samples=(600, 800, 1000, 1400, 2000, 6000),
                seeds=20,
                steps=50_000,
            ),
            minutes=90,
        ),
        "paper": Scale(
            Settings(
                n=150,
                k=3,
                neurons=10_000,
                widths=(10, 100, 1000, 10_000),
                samples=(3000, 6000, 10_000, 30_000),
                seeds=20,
                steps=100_000,
            ),
            minutes=100_000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        allocation_claims.width_beats_restarts_with_few_samples,
        allocation_claims.restarts_beat_width_with_many_samples,
        allocation_claims.restarts_are_independent,
    ),
    figures="elegans.studies.pareto.figures_allocation:allocation",
    shown=("allocations",),
    formats={
        "single_rate": ".0%",
        "rate": ".0%",
        "low": ".0%",
        "high": ".0%",
        "theory": ".0%",
        "median_first": ",.0f",
        "arithmetic": ",",
        "first": ",.0f",
        "step": ",",
    },
    captions={
        "figure": (
            "The share of training sets that are learned, against arithmetic (neurons times "
            "steps), by how the neurons are divided: one wide network, or several narrow ones on "
            "the same examples, of which the first to learn counts. Dotted: what independent "
            "restarts would do. One panel per number of training examples m."
        ),
        "allocations": (
            "Per number of examples and width: success of single runs, and of all restarts of a "
            "training set together with its 95% Wilson interval; theory is 1 - (1 - p)^R"
        ),
        "curves": "The lines of the figure.",
        "groups": "One row per training set and width: the first success among its restarts.",
        "runs": "One row per run.",
    },
)
