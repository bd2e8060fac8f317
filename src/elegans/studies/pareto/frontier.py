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
weights. Training sets of different $m$ are nested, and so are 2-sparse first layers of different
widths: the first neurons of a wide network read what those of a narrow one do. So runs of one seed
are not independent, and everything that pools cells is paired by seed, or resampled by whole seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.pareto import frontier_claims, frontier_time_claims, recipe
from elegans.studies.pareto.frontier_tables import (
    GRID,
    ZOOM,
    cell_table,
    curves,
    fitted_steps,
    past_table,
    rates,
    with_columns,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.training.recipe import Stop, Training

INITS = {"dense": inits.Uniform(), "2-sparse": inits.Sparse(2)}
PAPER_SAMPLES = (*(a * 10**b for b in range(2, 6) for a in (1, 2, 3, 6)), 10**6)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A grid; `samples` may hold None, which is online training.

    Attributes:
        zoom: More sizes near the edge, for the first task.
        past: Sizes at which networks of width `past_width` train on until they make no error.
    """

    tasks: tuple[tuple[int, int], ...]
    widths: tuple[int, ...]
    samples: tuple[int | None, ...]
    seeds: int
    steps: int
    evaluate_every: int = 500
    zoom: tuple[int, ...] = ()
    past: tuple[int | None, ...]
    past_width: int

    def training(self, samples: int | None, **changes: Any) -> Training:
        """The recipe of appendix C.1 with so many samples."""
        return recipe.training(samples, self.steps, self.evaluate_every, **changes)


QUICK = Settings(
    tasks=((50, 3),),
    widths=(10, 30, 100, 300, 1000),
    samples=(600, 800, 1000, 1400, 2000, 4000, None),
    seeds=10,
    steps=20_000,
    past=(1000, 2000, None),
    past_width=300,
)
LAPTOP = Settings(
    tasks=((50, 3), (100, 3), (50, 4)),
    widths=(10, 30, 100, 300, 1000),
    samples=(*(m for m in PAPER_SAMPLES if 300 <= m <= 100_000), None),
    seeds=20,
    steps=100_000,
    zoom=(400, 500, 700, 800, 1200, 1400, 1700),
    past=(1000, 10_000, 100_000, None),
    past_width=1000,
)
PAPER = Settings(
    tasks=tuple((n, k) for k in (3, 4) for n in (50, 100, 150, 200, 250, 300)),
    widths=(10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
    samples=(*PAPER_SAMPLES, None),
    seeds=50,
    steps=100_000,
    zoom=(400, 500, 700, 800, 1200, 1400, 1700),
    past=(1000, 10_000, 100_000, None),
    past_width=1000,
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every cell of the grid with every seed; the sizes between; and a few runs past success."""
    first = settings.tasks[:1]
    past = {"stop": Stop(test_error=0.0)}
    points = {
        "runs": cells(settings, settings.tasks, settings.widths, settings.samples),
        ZOOM: cells(settings, first, settings.widths, settings.zoom),
        "past": cells(settings, first, (settings.past_width,), settings.past, **past),
    }
    return {name: Sweep.of(each, seeds=settings.seeds) for name, each in points.items() if each}


def cells(
    settings: Settings,
    tasks: Sequence[tuple[int, int]],
    widths: Sequence[int],
    samples: Sequence[int | None],
    **changes: Any,
) -> list[tuple[dict[str, Any], Experiment]]:
    """The points of a grid, both inits each, with its labels."""
    return [
        (
            {"n": n, "k": k, "init": name, "width": width, "samples": size},
            Experiment(
                Parity(n, k), MLP(width=width, init=init), settings.training(size, **changes)
            ),
        )
        for n, k in tasks
        for name, init in INITS.items()
        for width in widths
        for size in samples
    ]


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """The runs, one row per cell, the rates as a grid, the curves of a few runs, and runs past
    success."""
    parts = {GRID: runs["runs"]} | ({ZOOM: runs[ZOOM]} if ZOOM in runs else {})
    table = pd.concat(
        [
            with_columns(part.table, name).assign(fitted=fitted_steps(part))
            for name, part in parts.items()
        ],
        ignore_index=True,
    )
    grid = cell_table(table, settings.steps)
    return {
        "rates": rates(grid),
        "cells": grid,
        "runs": table,
        "curves": curves(runs["runs"], grid),
        "past": past_table(runs["past"]),
    }


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
        "laptop": Scale(LAPTOP, minutes=50),
        "paper": Scale(PAPER, minutes=1_300_000),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        frontier_claims.far_fewer_than_parities,
        frontier_claims.width_buys_data,
        frontier_time_claims.width_buys_time,
        frontier_claims.width_never_hurts,
        frontier_claims.width_turns_failure_into_success,
        frontier_claims.sparse_enlarges,
        frontier_claims.sparse_buys_data,
        frontier_time_claims.sparse_buys_time,
        frontier_time_claims.fewer_samples_take_longer,
        frontier_time_claims.runs_grok_at_the_edge,
        frontier_time_claims.generalisation_becomes_perfect,
    ),
    figures={
        "figure": "elegans.studies.pareto.figures:frontier",
        "width": "elegans.studies.pareto.figures:width",
    },
    charts="elegans.studies.pareto.figures_chart:frontier_chart",
    shown=("rates",),
    formats={
        "rates": ".0%",
        "rate": ".0%",
        "wait": ".0%",
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
            "Heat maps: the percentage of runs that succeeded in each cell, a tick for all of "
            "them, for each task and init. Boxes mark two cells, the widest network at the least m "
            "at which half of its runs succeed, and the narrowest at the same m. Beside or below "
            "each map are ten runs of each of its two boxes: errors on new examples in the box's "
            "colour, on the training set in grey; the dotted line is success, at which runs end."
        ),
        "width": (
            "Success rates with their 95% Wilson intervals, by width; from fewer examples than the "
            "red number no learner at all can know the relevant inputs. And the median steps until "
            "success, in cells in which more than half of the runs succeed (the others count as "
            "longest); crosses: until no error is made on 10,000 new examples, by runs that "
            "were trained on after success."
        ),
        "chart": (
            "Click a cell to see its runs below: when each one ended, and with which error. Cells "
            "show the share of runs that succeeded."
        ),
        "rates": "Success rate by width (downwards) and number of training examples m (across)",
        "cells": (
            "One row per cell of the grid and of the sizes between (part is zoom): success rate "
            "with its 95% Wilson interval, the median steps to success, the median share of a run "
            "between the first fit of its rows and success (wait; none online), and two lower "
            "limits of the samples: log2 C(n, k), and Proposition 3 of the paper, which says "
            "nothing at these sizes."
        ),
        "runs": (
            "One row per run; fitted is the first evaluation without an error on the training "
            "rows, of which at most 1,000 are looked at."
        ),
        "curves": "Errors during the example runs of the figure, one row per evaluation.",
        "past": (
            "Runs that go on after success until they make no error on 10,000 new examples: the "
            "steps to 10% error, and to none."
        ),
        "zoom": "The runs at sizes between those of the grid.",
    },
)
