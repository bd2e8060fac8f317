r"""The success frontier: for which data sizes and widths does SGD learn a sparse parity?

Every cell of the grid (init, width $r$, samples $m$) is trained from several seeds in the settings
of the Pareto paper, appendix C.1: batch 32, learning rate 0.1, weight decay 0.01. The appendix
names no loss; here it is the hinge loss of its proofs. A run succeeds if its error on 10,000 fresh
examples falls to 10% within $T$ steps.

Beside the measurement stand two limits: $\log_2 \binom{n}{k}$ samples, without which no learner
can know the support, and Proposition 3, the samples behind one gradient that gradient descent with
so many parameters and steps needs at least. The second says nothing on any grid that can be
trained: it becomes sharp only where $rT \ll \binom{n}{k}$.

A seed fixes the test set, the order of the data and, within a width and an init, the initial
weights; training sets of different $m$ are nested. So runs of one seed are not independent, and
everything that pools cells is paired by seed, or resampled by whole seeds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.statistics import censored_median, wilson
from elegans.studies.pareto import frontier_claims, recipe
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources
from elegans.training.recipe import Training

INITS = {"dense": inits.Uniform(), "2-sparse": inits.Sparse(2)}
CURVES_PER_CELL = 5
PAPER_SAMPLES = (*(a * 10**b for b in range(2, 6) for a in (1, 2, 3, 6)), 10**6)
CELL = ["n", "k", "init", "width", "samples"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A grid; `samples` may hold None, which is online training."""

    tasks: tuple[tuple[int, int], ...]
    widths: tuple[int, ...]
    samples: tuple[int | None, ...]
    seeds: int
    steps: int
    evaluate_every: int = 500

    def training(self, samples: int | None) -> Training:
        """The recipe of appendix C.1 with so many samples."""
        return recipe.training(samples, self.steps, self.evaluate_every)


QUICK = Settings(
    tasks=((50, 3),),
    widths=(10, 30, 100, 300),
    samples=(600, 800, 1000, 1400, 2000, 4000),
    seeds=10,
    steps=20_000,
)
LAPTOP = Settings(
    tasks=((50, 3), (100, 3), (50, 4)),
    widths=(10, 30, 100, 300, 1000),
    samples=(100, *PAPER_SAMPLES[2:13], None),
    seeds=20,
    steps=100_000,
)
PAPER = Settings(
    tasks=tuple((n, k) for k in (3, 4) for n in (50, 100, 150, 200, 250, 300)),
    widths=(10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
    samples=(*PAPER_SAMPLES, None),
    seeds=50,
    steps=100_000,
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every cell of the grid with every seed, in one sweep."""
    points = [
        (
            {"n": n, "k": k, "init": name, "width": width, "samples": samples},
            Experiment(Parity(n, k), MLP(width=width, init=init), settings.training(samples)),
        )
        for n, k in settings.tasks
        for name, init in INITS.items()
        for width in settings.widths
        for samples in settings.samples
    ]
    return {"runs": Sweep.of(points, seeds=settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """The runs, one row per cell, the rates as a grid, and the curves of a few runs."""
    table = named(runs["runs"].table)
    cells = cell_table(table, settings.steps)
    return {
        "rates": rates(cells),
        "cells": cells,
        "runs": table,
        "curves": curves(runs["runs"], cells),
    }


def named(table: pd.DataFrame) -> pd.DataFrame:
    """The runs in the columns of this study; `success` is missing where a run failed."""
    columns = [*CELL, "seed", "status", "success", "steps", "test_error", "train_error", "seconds"]
    types = {"samples": "Int64", "success": "boolean"}  # None, that is online, is missing
    return table[columns].astype(types)


def cell_table(table: pd.DataFrame, steps: int) -> pd.DataFrame:
    """One row per cell: success rate with its interval, median steps, and the two limits.

    Runs that failed are not counted. The median is over all others, those without success as
    infinitely long; it is missing where half of them or more are.
    """
    rows = []
    for key, cell in table.groupby(CELL, sort=False, dropna=False):
        n, k, init, width, samples = cast(tuple[Any, ...], key)
        finished = cell.dropna(subset="success")
        success = finished["success"].to_numpy(bool)
        rate = wilson(int(success.sum()), len(finished)) if len(finished) else None
        median = (
            censored_median(finished["steps"].to_numpy(float), success).value if rate else np.inf
        )
        bound = resources.multi_resource_bound(
            int(n), int(k), width=int(width) * (int(n) + 2) + 1, steps=steps, luck=0.5
        )
        rows.append(
            {
                **dict(zip(CELL, (int(n), int(k), init, int(width), samples), strict=True)),
                "runs": len(finished),
                "successes": int(success.sum()),
                "rate": rate.value if rate else np.nan,
                "low": rate.low if rate else 0.0,
                "high": rate.high if rate else 1.0,
                "median_steps": median if np.isfinite(median) else np.nan,
                "theory": resources.statistical_limit(int(n), int(k)),
                "theory_proposition_3": bound,
            }
        )
    return pd.DataFrame(rows).astype({"samples": "Int64"})


def rates(cells: pd.DataFrame) -> pd.DataFrame:
    """Success rates as the figure shows them: samples across, widths downwards."""
    columns = {m: "online" if pd.isna(m) else f"m = {m}" for m in cells["samples"].unique()}
    long = cells.assign(column=[columns[m] for m in cells["samples"]])
    grid = long.pivot(index=["n", "k", "init", "width"], columns="column", values="rate")
    order = cells[["n", "k", "init", "width"]].drop_duplicates()
    return grid.loc[pd.MultiIndex.from_frame(order), list(columns.values())].reset_index()


def examples(cells: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Cells whose curves are drawn: of each task and init the widest network at its edge, the
    least samples at which half of its runs succeed, and the narrowest at as many samples."""
    finite = cells.dropna(subset="samples")
    for (n, k, init), part in finite.groupby(["n", "k", "init"], sort=False):
        widest = part[(part["width"] == part["width"].max()) & (part["rate"] >= 0.5)]
        edge = int(widest["samples"].min() if len(widest) else part["samples"].max())
        for width in dict.fromkeys((part["width"].max(), part["width"].min())):
            yield {"n": n, "k": k, "init": init, "width": int(width), "samples": edge}


def curves(runs: Runs, cells: pd.DataFrame) -> pd.DataFrame:
    """Training curves of a few runs of each example cell, as they were stored."""
    parts = [runs.where(**cell)[:CURVES_PER_CELL].history for cell in examples(cells)]
    columns = [*CELL, "seed", "step", "train_error", "test_error"]
    parts = [part[columns] for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """How long and how often each cell was tried."""
    return {"steps": settings.steps, "seeds": settings.seeds}


STUDY = Study(
    name="frontier",
    title="Wider networks learn sparse parities from fewer examples",
    summary=(
        "A sparse parity is the product of k out of n random signs: the label says whether the "
        "number of minus signs among the k relevant ones is odd, and nothing about it can be "
        "seen in fewer than k inputs at once. Networks with one hidden layer are trained on m "
        "examples by stochastic gradient descent, at many widths r and from two kinds of initial "
        "weights: dense ones, and rows with two entries that are not zero. A run succeeds if "
        "its error on new examples falls to 10%. Where do runs succeed? Width turns out to be "
        "a resource like data: wider networks succeed with fewer examples, and more often."
    ),
    source="Pareto paper, Figures 1, 2 and 4",
    scales={
        "quick": Scale(QUICK, minutes=2),
        "laptop": Scale(LAPTOP, minutes=120),
        "paper": Scale(PAPER, minutes=1_300_000),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        frontier_claims.wider_needs_fewer_samples,
        frontier_claims.width_never_hurts,
        frontier_claims.sparse_enlarges,
        frontier_claims.fewer_samples_take_longer,
    ),
    figures="elegans.studies.pareto.figures:frontier",
    charts="elegans.studies.pareto.figures:frontier_chart",
    shown=("rates",),
    formats={
        "rates": ".0%",
        "rate": ".0%",
        "low": ".0%",
        "high": ".0%",
        "test_error": ".1%",
        "train_error": ".1%",
        "median_steps": ",.0f",
        "steps": ",",
        "samples": ",",
    },
    captions={
        "figure": (
            "Each row of panels is a task and an init. First panel: the percentage of runs that "
            "succeeded in each cell, a tick for all of them. Second: the same rates with their 95% "
            "Wilson intervals; left of the red line no learner at all can know the relevant "
            "inputs. Third: median number of steps until success, in cells in which more than half "
            "of the runs succeed. Fourth: errors during a few runs, on new examples in colour and "
            "on the training set in grey; the dotted line is success."
        ),
        "chart": (
            "Click a cell to see its runs below: when each one ended, and with which error. Cells "
            "show the share of runs that succeeded."
        ),
        "rates": "Success rate by width (downwards) and number of training examples m (across)",
        "cells": (
            "One row per cell of the grid: success rate with its 95% Wilson interval, the median "
            "steps to success, and two lower limits of the samples: log2 C(n, k), and Proposition "
            "3 of the paper, which says nothing at these sizes."
        ),
        "runs": "One row per run.",
        "curves": "Errors during the example runs of the figure, one row per evaluation.",
    },
)
