r"""Many inputs: do sparse inits still learn where dense ones no longer do?

In Figure 4 of the Pareto paper the sparse init's region of success shrinks more slowly with $n$
than the default's, until at large $n$ only sparse networks learn. Here $n$ grows at a fixed width,
and the number of samples with it, close to the edge (the sizes are from a pilot on seeds 1000 to
1002, in which none of three dense networks learned and two of three sparse ones did).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.pareto import large_n_claims
from elegans.studies.pareto.frontier import INITS
from elegans.studies.pareto.recipe import COLUMNS, training
from elegans.studies.pareto.scores import summary, with_spared
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity

LABELS = ["n", "samples", "init"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A degree, a width, and pairs of inputs n and samples m."""

    k: int
    width: int
    sizes: tuple[tuple[int, int], ...]
    seeds: int
    steps: int
    evaluate_every: int = 500


def runs(settings: Settings) -> dict[str, Sweep]:
    """Both inits at every size."""
    points = [
        (
            {"n": n, "samples": samples, "init": name},
            Experiment(
                Parity(n, settings.k),
                MLP(width=settings.width, init=init),
                training(samples, settings.steps, settings.evaluate_every),
            ),
        )
        for n, samples in settings.sizes
        for name, init in INITS.items()
    ]
    return {"runs": Sweep.of(points, seeds=settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per size and init, and one per run."""
    table = runs["runs"].table[[*LABELS, *COLUMNS]]
    return {
        "cells": summary(table, LABELS, settings.steps),
        "runs": with_spared(table, settings.steps),
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return {name: getattr(settings, name) for name in ("k", "width", "seeds", "steps")}


STUDY = Study(
    name="large-n",
    title="Among many inputs sparse networks are ahead of dense ones, but not alone",
    summary=(
        "The label is the product of three out of n random signs. With more inputs to choose from "
        "the three are harder to find. Networks whose neurons start by reading all inputs are "
        "compared with networks whose neurons read two each, as n grows and the number of examples "
        "with it: does the sparse start matter more?"
    ),
    source="Pareto paper, appendix C.1 (3) and Figure 4",
    scales={
        "quick": Scale(
            Settings(
                k=3,
                width=1000,
                sizes=((50, 800), (100, 2000), (200, 6000)),
                seeds=12,
                steps=20_000,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                k=3,
                width=1000,
                sizes=((50, 800), (100, 2000), (150, 4000), (200, 6000), (300, 10_000)),
                seeds=20,
                steps=50_000,
            ),
            minutes=60,
        ),
        "paper": Scale(
            Settings(
                k=4,
                width=10_000,
                sizes=((50, 10_000), (100, 60_000), (150, 100_000), (200, 300_000)),
                seeds=50,
                steps=100_000,
            ),
            minutes=60_000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        large_n_claims.sparse_is_ahead_at_every_n,
        large_n_claims.dense_fails_where_sparse_learns,
        large_n_claims.the_gap_grows_with_n,
    ),
    figures="elegans.studies.pareto.figures_choices:large_n",
    shown=("cells",),
    formats={
        "rate": ".0%",
        "low": ".0%",
        "high": ".0%",
        "median_steps": ",.0f",
        "spared": ".1%",
        "samples": ",",
    },
    captions={
        "figure": (
            "Success rates with 95% Wilson intervals, and the share of steps that runs spare with "
            "95% bootstrap intervals over seeds, against the number of inputs; the number of "
            "training examples grows with it."
        ),
        "cells": "One row per size and init: success with its 95% Wilson interval, median steps",
        "runs": "One row per run.",
    },
)
