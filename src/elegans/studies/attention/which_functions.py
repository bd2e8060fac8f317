r"""Which functions of three bits does a transformer find from about $\log T$ examples?

One protocol for four functions: AND, majority, a random function, and XOR (parity). All are
determined by about $\log_2 \binom T3$ labels, up to a constant. AND and majority are correlated
with each of their bits, which a gradient sees from few examples; the random function is with two of
its three. XOR has no such correlation: every statistic of fewer
than three bits is blind to it, so what it costs is steps, and a training set that is fitted before
it is understood teaches nothing. It should leave the logarithmic law. (Our own study; the
document has ANDs and, online, parities.)

Batches of 64 are drawn from the $m$ examples; ambiguous training sets are not rejected. A cell in
which no $m$ of the grid is enough is *censored* and shown as such. The controls are XORs at the
smallest $T$ with many times the steps and nothing else changed: with fresh examples, and with a
training set of fixed size, which is then learned by more runs than in the steps of the search.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies import thresholds
from elegans.studies.attention import function_claims as claims
from elegans.studies.attention.function_claims import EASY, FIXED, FRESH, XOR
from elegans.studies.attention.protocol import (
    CAPTIONS,
    FORMATS,
    HALF,
    SPARSITY,
    TARGET,
    ThresholdSettings,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Conjunction, Junta, Parity, SparseMajority
from elegans.training.recipe import Training

# A random balanced table that depends on all three bits, in the order of `tasks.Junta`.
RANDOM_TABLE = (1, -1, -1, -1, 1, 1, -1, 1)


@dataclass(frozen=True, kw_only=True)
class Settings(ThresholdSettings):
    """The grid of sizes that is searched, and the controls."""

    grid: tuple[int, ...]
    control_steps: int
    control_seeds: int
    per_round: int = 3
    control_samples: int = 128
    batch: int = 64

    def training(self, samples: int | None, steps: int) -> Training:
        """The recipe in batches; with no number of samples, online."""
        return self.until_success(samples, steps, batch=self.batch, evaluate_every=20)


def task_of(function: str, T: int) -> Conjunction | SparseMajority | Junta | Parity:
    """The task of a function's name; labels are balanced in all of them."""
    if function == "AND":
        return Conjunction(T, SPARSITY, p=HALF)
    if function == "majority":
        return SparseMajority(T, SPARSITY)
    return Junta(T, RANDOM_TABLE) if function == "random" else Parity(T, SPARSITY)


def runs(settings: Settings) -> Generator[dict[str, Sweep], dict[str, Runs], None]:
    """The controls, and the search for thresholds."""
    task = Parity(min(settings.lengths), SPARSITY)
    controls = [
        (
            {"examples": name},
            Experiment(
                task, settings.network.model(), settings.training(samples, settings.control_steps)
            ),
        )
        for name, samples in ((FRESH, None), (FIXED, settings.control_samples))
    ]
    seeds = range(settings.first_seed, settings.first_seed + settings.control_seeds)
    yield {"control": Sweep.of(controls, seeds=seeds)}

    def points(group: thresholds.Group, samples: int) -> list[tuple[dict[str, Any], Any]]:
        task = task_of(group["function"], group["T"])
        return settings.restarted(task, settings.training(samples, settings.steps))

    groups = [{"function": name, "T": T} for name in (*EASY, XOR) for T in settings.lengths]
    yield from thresholds.search(
        groups,
        settings.grid,
        points,
        seeds=settings.seeds,
        target=TARGET,
        per_round=settings.per_round,
    )


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Trials, success rates, thresholds, errors of runs that failed, and the control."""
    result = settings.tables(runs, ["function", "T"], apart="control")
    searched = pd.concat([each.table for name, each in runs.items() if name != "control"])
    return result | {"failed": errors_of_failures(searched), "control": runs["control"].table}


def errors_of_failures(table: pd.DataFrame) -> pd.DataFrame:
    """How many runs of each cell failed, and quartiles of their errors at the end."""
    failed = table[~table["success"].astype("boolean").fillna(False).astype(bool)]
    grouped = failed.groupby(["function", "T", "samples"])["test_error"]
    quartiles = grouped.quantile(np.array([0.25, 0.5, 0.75])).unstack()
    quartiles.columns = pd.Index(["low", "error", "high"])
    return grouped.size().rename("runs").to_frame().join(quartiles).reset_index()


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return settings.facts() | {
        "largest": max(settings.grid),
        "control_T": min(settings.lengths),
        "control_steps": settings.control_steps,
        "control_samples": settings.control_samples,
    }


STUDY = Study(
    name="which-functions",
    title="Which functions of three bits does a transformer find from few examples?",
    summary=(
        "Three of T bits decide the label. If it is their AND, their majority or a random function "
        "of them, a transformer finds the three bits from a number of examples that hardly grows "
        "with T. If it is their XOR, it does not, within the examples and steps that were tried. "
        "No statistic of fewer than three bits shows anything of an XOR, so that it takes steps; "
        "with many more of them the network does learn it, at small T."
    ),
    source="Thesis, sections 4.5 and 4.6; our own study",
    scales={
        "quick": Scale(
            Settings(
                lengths=(10, 28, 80),
                grid=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
                trials=16,
                restarts=1,
                steps=500,
                test_rows=1000,
                control_steps=10_000,
                control_seeds=10,
            ),
            minutes=3,
        ),
        "laptop": Scale(
            Settings(
                lengths=(10, 20, 40, 80),
                grid=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
                trials=20,
                restarts=3,
                steps=1000,
                test_rows=4000,
                control_steps=20_000,
                control_seeds=10,
            ),
            minutes=60,
        ),
        "paper": Scale(
            Settings(
                lengths=(10, 20, 40, 80, 160, 320),
                grid=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192),
                trials=40,
                restarts=5,
                steps=2000,
                test_rows=10_000,
                control_steps=50_000,
                control_seeds=20,
            ),
            minutes=3000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        claims.xor_leaves_the_law,
        claims.others_follow_information,
        claims.control_learns_xor,
        claims.steps_are_what_xor_lacks,
    ),
    figures="elegans.studies.attention.figures_and:functions",
    shown=("thresholds", "failed", "control"),
    formats=FORMATS | {"failed": ".2f", "runs": ","},
    captions=CAPTIONS
    | {
        "figure": (
            "The least number of examples from which 80% of trials succeed, by function. Arrows "
            "mark cells in which no size of the grid was enough: the threshold is above it, if "
            "there is one. Right: success rates at the largest T."
        ),
        "failed": (
            "Runs that did not succeed, and the median of their errors at the end with its "
            "quartiles. Who knows two of the three bits of the random function, those with a "
            "correlation, errs on 25%."
        ),
        "control": (
            "XOR at the smallest T with many more steps: with fresh examples at every step, and "
            "with a fixed training set."
        ),
    },
)
