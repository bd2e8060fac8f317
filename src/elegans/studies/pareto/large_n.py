r"""Many inputs: do sparse inits still learn where dense ones no longer do?

In Figure 4 of the Pareto paper the sparse init's region of success shrinks more slowly with $n$
than the default's, until at large $n$ only sparse networks learn. A 2-sparse network learns early
if it holds a neuron that reads two relevant bits, and one of $\binom{n}{2} / 3$ does: so the same
chance takes a width that *grows* as $n^2$. At a *fixed* width it falls
(`theory.resources.lucky_chance`), and the sparse init's advantage should go with it. Here $n$ grows
both ways, on as many samples close to the edge.

A first version had width 1,000 alone, up to n = 200, 20,000 steps and seeds 0 to 11: sparse
networks were ahead, but less so with every n, and a third of them learned at n = 200. Sizes and
steps of this one are from a pilot on seeds from 1000 on.
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
from elegans.studies.pareto.scores import FORMATS, summary, with_spared
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources

LABELS = ["rule", "n", "width", "samples", "init"]
FIRST_SEED = 100  # seeds below it are those of the first version


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A degree, and sizes: inputs n, width, samples m, with growing widths and with one width."""

    k: int
    growing: tuple[tuple[int, int, int], ...]
    fixed: tuple[tuple[int, int, int], ...]
    seeds: int
    steps: int
    evaluate_every: int = 250


def runs(settings: Settings) -> dict[str, Sweep]:
    """Both inits at every size."""
    sizes = {large_n_claims.GROWING: settings.growing, large_n_claims.FIXED: settings.fixed}
    points = [
        (
            {"rule": rule, "n": n, "width": width, "samples": samples, "init": name},
            Experiment(
                Parity(n, settings.k),
                MLP(width=width, init=init),
                training(samples, settings.steps, settings.evaluate_every),
            ),
        )
        for rule, chosen in sizes.items()
        for n, width, samples in chosen
        for name, init in INITS.items()
    ]
    return {"runs": Sweep.of(points, seeds=range(FIRST_SEED, FIRST_SEED + settings.seeds))}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per size and init with the chance of a lucky neuron, and one per run."""
    table = runs["runs"].table[[*LABELS, *COLUMNS]]
    cells = summary(table, LABELS, settings.steps)
    chances = [
        resources.lucky_chance(int(n), settings.k, 2, int(width))
        if init == "2-sparse"
        else float("nan")
        for n, width, init in zip(cells["n"], cells["width"], cells["init"], strict=True)
    ]
    return {"cells": cells.assign(theory=chances), "runs": with_spared(table, settings.steps)}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return {name: getattr(settings, name) for name in ("k", "seeds", "steps")}


STUDY = Study(
    name="large-n",
    title="Among many inputs only sparse networks learn early, if width grows with the inputs",
    summary=(
        "The label is the product of three out of n random signs. With more inputs to choose from "
        "the three are harder to find. Networks whose neurons start by reading all inputs are "
        "compared with networks whose neurons read two each. A neuron that happens to read two of "
        "the three is rarer among more inputs: the width at which one is likely grows as n². So n "
        "grows twice: together with the width, and at one width."
    ),
    source="Pareto paper, appendix C.1 (3) and Figure 4",
    scales={
        "quick": Scale(
            Settings(
                k=3,
                growing=((25, 250, 500), (50, 1000, 1000), (100, 4000, 3000)),
                fixed=((50, 1000, 1000), (100, 1000, 3000), (150, 1000, 5000)),
                seeds=12,
                steps=5000,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                k=3,
                growing=((25, 250, 500), (50, 1000, 1000), (100, 4000, 3000), (200, 16_000, 7000)),
                fixed=((50, 1000, 1000), (100, 1000, 3000), (200, 1000, 7000), (300, 1000, 10_000)),
                seeds=20,
                steps=20_000,
            ),
            minutes=120,
        ),
        "paper": Scale(
            Settings(
                k=4,
                growing=((50, 10_000, 10_000), (100, 30_000, 60_000), (150, 100_000, 100_000)),
                fixed=(
                    (50, 10_000, 10_000),
                    (100, 10_000, 60_000),
                    (150, 10_000, 100_000),
                    (200, 10_000, 300_000),
                ),
                seeds=50,
                steps=100_000,
            ),
            minutes=300_000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        large_n_claims.sparse_is_ahead_at_every_n,
        large_n_claims.dense_fails_where_sparse_learns,
        large_n_claims.the_gap_grows_with_n,
        large_n_claims.the_gap_shrinks_at_one_width,
    ),
    figures="elegans.studies.pareto.figures_choices:large_n",
    shown=("cells",),
    formats=FORMATS | {"theory": ".0%"},
    captions={
        "figure": (
            "Success rates with 95% Wilson intervals, and the share of steps that runs spare with "
            "95% bootstrap intervals over seeds, against the number of inputs n; the number of "
            "training examples m grows with it. Solid: the width r grows as n². Dashed: one "
            "width. Dotted: the chance that a 2-sparse network holds a neuron that starts with a "
            "gradient."
        ),
        "cells": (
            "One row per size and init: success with its 95% Wilson interval, median steps, and "
            "the chance that a 2-sparse network holds a neuron with a gradient at the start"
        ),
        "runs": "One row per run.",
    },
)
