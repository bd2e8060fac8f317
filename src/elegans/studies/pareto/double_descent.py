r"""Sample-wise double descent: can more data make learning slower, or fail?

The Pareto paper (section 4.1 (4), Figure 2 right) sees success rates and convergence times worsen
as the training set grows, and success return with still more data or online; the drop shrinks with
width, and its place depends on weight decay. Its named case, $n = 200$, is out of reach of a quick
study. A pilot on other seeds (1000 to 1007) found the same at $n = 50$: in the times at the
paper's decay 0.01, and in the success rates at decay 0.05. It also chose the sizes between which
the claims compare: `few` samples, where learning is fastest, and `many`, where runs fail.

A first version looked at width 100 alone for the return of success and for the effect of width, and
compared times at `few` and `many`; on seeds 0 to 11 these three claims failed, though all went the
right way. Now all widths are pooled, the narrowest is compared with the widest, and times with
those online; the study has other seeds. On these the lowest point is at 12,000, not at `many`.

At $n = 100$, the laptop scale, the frontier's seeds 0 to 9 lose success between 10,000 and 100,000
samples at the paper's own decay: sizes and decays are chosen by them, and the seeds are others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.models import MLP
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.pareto import descent_claims
from elegans.studies.pareto.frontier import INITS
from elegans.studies.pareto.recipe import COLUMNS, WEIGHT_DECAY, training
from elegans.studies.pareto.scores import FORMATS, summary, with_spared
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity

LABELS = ["init", "width", "decay", "samples"]
FIRST_SEED = 100  # on those before the claims were revised


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, widths and weight decays, and sizes up to online training (None).

    Attributes:
        few: The size at which learning was fastest in the pilot.
        many: A larger one, at which runs failed.
    """

    n: int
    k: int
    widths: tuple[int, ...]
    decays: tuple[float, ...]
    samples: tuple[int | None, ...]
    seeds: int
    steps: int
    few: int
    many: int
    evaluate_every: int = 500

    def __post_init__(self) -> None:
        missing = {self.few, self.many, None} - set(self.samples)
        if missing:
            raise ValueError(
                f"{checks.shown(self)}: samples holds few, many and None, which is online; "
                f"{missing} is missing."
            )
        if WEIGHT_DECAY not in self.decays:
            raise ValueError(
                f"{checks.shown(self)}: decays holds the recipe's, {WEIGHT_DECAY}; "
                f"got {self.decays}."
            )


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every init, width, decay and size."""
    points = [
        (
            {"init": name, "width": width, "decay": decay, "samples": samples},
            Experiment(
                Parity(settings.n, settings.k),
                MLP(width=width, init=init),
                training(samples, settings.steps, settings.evaluate_every, weight_decay=decay),
            ),
        )
        for name, init in INITS.items()
        for width in settings.widths
        for decay in settings.decays
        for samples in settings.samples
    ]
    seeds = range(FIRST_SEED, FIRST_SEED + settings.seeds)
    return {"runs": Sweep.of(points, seeds=seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per cell, and one per run; online is missing in `samples`."""
    table = runs["runs"].table[[*LABELS, *COLUMNS]].astype({"samples": "Int64"})
    cells = summary(table, LABELS, settings.steps).astype({"samples": "Int64"})
    return {"cells": cells, "runs": with_spared(table, settings.steps)}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What claims and figure refer to."""
    names = ("n", "k", "few", "many", "seeds", "steps", "decays", "widths")
    return {name: getattr(settings, name) for name in names}


STUDY = Study(
    name="double-descent",
    title="Under strong weight decay narrow networks lose success as examples are added",
    summary=(
        "One expects that learning gets easier with more examples. Under strong weight decay it "
        "does so only up to a point: beyond some thousand examples fewer networks learn a parity, "
        "narrow ones above all. Whether success returns with still more examples, or with fresh "
        "ones all the time, and whether under the weak decay of the other studies runs take "
        "longer, is tested too."
    ),
    source="Pareto paper, section 4.1 (4), appendix C.1 (4) and Figure 2",
    scales={
        "quick": Scale(
            Settings(
                n=50,
                k=3,
                widths=(30, 100, 300),
                decays=(0.01, 0.05),
                samples=(2000, 5000, 12_000, 20_000, 60_000, None),
                seeds=12,
                steps=30_000,
                few=5000,
                many=20_000,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                n=100,
                k=3,
                widths=(30, 100, 300),
                decays=(0.003, 0.01),
                samples=(3000, 10_000, 30_000, 100_000, 300_000, None),
                seeds=20,
                steps=100_000,
                few=10_000,
                many=100_000,
            ),
            minutes=5,
        ),
        "paper": Scale(
            Settings(
                n=200,
                k=3,
                widths=(100, 300, 1000, 3000, 10_000),
                decays=(0.003, 0.01, 0.03),
                samples=(10_000, 30_000, 60_000, 100_000, 300_000, 1_000_000, None),
                seeds=50,
                steps=100_000,
                few=30_000,
                many=300_000,
            ),
            minutes=100_000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        descent_claims.more_data_takes_longer,
        descent_claims.success_falls,
        descent_claims.success_returns,
        descent_claims.the_drop_shrinks_with_width,
        descent_claims.the_drop_depends_on_decay,
    ),
    figures="elegans.studies.pareto.figures_choices:double_descent",
    shown=("cells",),
    formats=FORMATS,
    captions={
        "figure": (
            "Success rates (above, with 95% Wilson intervals) and median steps to success (below, "
            "where more than half of the runs succeed) against the number of training examples; "
            "the last point is online training. One column per init and weight decay. The grey "
            "lines mark the two sizes that the claims compare."
        ),
        "cells": (
            "One row per init, width, weight decay and number of samples (online has none): "
            "success with its 95% Wilson interval, median steps, and the share of steps spared"
        ),
        "runs": "One row per run.",
    },
)
