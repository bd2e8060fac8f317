r"""Transformers learn sparse parities suddenly (thesis, Figure 4.4).

A transformer of the same kind as for ANDs is trained online on the parity of 3 of $T$ fair bits.
The sentence of the document that says how it differs breaks off, and neither the learning rate nor
the number of steps is given: here it is Adam with the rates of chapter 5's transformers ($3$ to
$5 \cdot 10^{-4}$) and, at scales below the paper's, smaller batches without dropout. A run stops
when its error on new examples is at most 1%.

The *plateau* is the median loss over the first half of the steps to success, beside $\ln 2$. The
*fall* is the time from the last evaluation with 45% error or more to 5%, as a share of the time to
5%.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.report.result import Claim, Tables
from elegans.runs import Run, Runs
from elegans.statistics import Interval, bootstrap, bootstrap_clustered, wilson
from elegans.studies.attention.protocol import GOAL, SPARSITY, Network
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.training.recipe import Stop, Training

SOURCE = "thesis, Figure 4.4"
NEAR_CHANCE, SOLVED = 0.45, 0.05  # errors between which the fall is
PLATEAU_TOLERANCE, SHARP = 0.02, 0.3


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Lengths, and how runs are done."""

    lengths: tuple[int, int]
    batch: int
    steps: int
    seeds: int
    learning_rate: float = 5e-4
    evaluate_every: int = 20
    test_samples: int = 2000
    network: Network = field(default_factory=lambda: Network(other_dropout=0.0))


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every length with every seed."""
    training = Training(
        loss="logistic",
        optimizer="adam",
        learning_rate=settings.learning_rate,
        batch=settings.batch,
        steps=settings.steps,
        evaluate_every=settings.evaluate_every,
        test_samples=settings.test_samples,
        screen_rows=settings.test_samples,
        stop=Stop(test_error=GOAL),
    )
    model = settings.network.model()
    points = [
        ({"T": T}, Experiment(Parity(T, SPARSITY), model, training)) for T in settings.lengths
    ]
    return {"runs": Sweep.of(points, seeds=settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per run with its plateau and its fall, and all curves."""
    every = runs["runs"]
    shapes = every.rows(lambda run: pd.DataFrame([shape(run)]))
    columns = ["T", "seed", "step", "test_loss", "test_error"]
    return {"runs": every.table.merge(shapes, on=["T", "seed"]), "curves": every.history[columns]}


def shape(run: Run) -> dict[str, float]:
    """The plateau and the fall of a curve; NaN where the run did not come to 5% error."""
    step, error = (run.history[name].to_numpy(float) for name in ("step", "test_error"))
    solved = np.flatnonzero(error <= SOLVED)
    if not len(solved):
        return {"plateau": math.nan, "steps_to_solve": math.inf, "fall": math.nan}
    end = step[solved[0]]
    before = np.flatnonzero((error >= NEAR_CHANCE) & (step < end))
    start = step[before[-1]] if len(before) else 0.0
    # The loss at the start is that of random weights, and not yet on the plateau.
    is_first_half = (step > 0) & (step <= end / 2)
    loss = run.history["test_loss"].to_numpy(float)[is_first_half]
    return {
        "plateau": float(np.median(loss)) if len(loss) else math.nan,
        "steps_to_solve": float(end),
        "fall": float((end - start) / end),
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return {"batch": settings.batch, "steps": settings.steps, "lengths": list(settings.lengths)}


def all_seeds_succeed(tables: Tables) -> Claim:
    """Every seed learns the parity."""
    success = tables["runs"]["success"].astype("boolean").fillna(False).to_numpy(bool)
    interval = wilson(int(success.sum()), len(success))
    return Claim(
        text="A transformer learns a sparse parity, from every seed",
        source=SOURCE,
        measured=(
            f"{int(success.sum())} of {len(success)} runs reach an error of 1% within "
            f"{tables.facts['steps']:,} steps"
        ),
        against="a single seed that does not",
        holds=bool(success.all()),
        interval=interval,
    )


def plateau_is_chance(tables: Tables) -> Claim:
    """Over the first half of the way to success the loss is that of chance."""
    plateau = tables["runs"]["plateau"].dropna().to_numpy(float) / math.log(2)
    interval = bootstrap(plateau) if len(plateau) else Interval(math.nan, -math.inf, math.inf)
    farthest = float(np.abs(plateau - 1).max(initial=0.0))
    return Claim(
        text="For the first half of the way the loss stays at ln 2, as if nothing were learned",
        source=SOURCE,
        measured=(
            f"median loss over the first half of the steps to 5% error, divided by ln 2: "
            f"{interval:.3f}; farthest from 1 by {farthest:.1%}"
        ),
        against="a run whose plateau is more than 2% away from ln 2, or no run with a plateau",
        holds=len(plateau) > 0 and farthest < PLATEAU_TOLERANCE,
        interval=interval,
    )


def fall_is_sharp(tables: Tables) -> Claim:
    """The fall takes less than 0.3 of the time."""
    fall = tables["runs"]["fall"].dropna().to_numpy(float)
    interval = bootstrap(fall) if len(fall) else Interval(math.nan, -math.inf, math.inf)
    return Claim(
        text="Then the error falls within a small part of the time that it took",
        source=SOURCE,
        measured=(
            f"from 45% to 5% error takes {interval:.2f} of all steps until then, in the median"
        ),
        against="an interval of the median that reaches 0.3",
        holds=interval.high < SHARP,
        interval=interval,
    )


def longer_inputs_take_longer(tables: Tables) -> Claim:
    """The median number of steps grows with T."""
    few, many = tables.facts["lengths"]
    table = tables["runs"][["T", "seed", "steps_to_solve"]]

    def ratio(part: pd.DataFrame) -> float:
        medians = part.groupby("T")["steps_to_solve"].median()
        return float(medians[many] / medians[few])

    interval = bootstrap_clustered(table, ratio)
    medians = table.groupby("T")["steps_to_solve"].median()
    return Claim(
        text="Among more bits it takes longer",
        source=SOURCE,
        measured=(
            f"median steps to 5% error: {medians[few]:,.0f} at T = {few}, {medians[many]:,.0f} at "
            f"T = {many}; a ratio of {interval:.1f}"
        ),
        against="an interval of the ratio that reaches down to 1",
        holds=interval.low > 1,
        interval=interval,
    )


STUDY = Study(
    name="transformer-parity",
    title="Transformers learn sparse parities all at once",
    summary=(
        "The label is the parity of three of T bits, so no two bits together say anything about "
        "it. A transformer is trained on fresh examples at every step. For a long time its loss "
        "is that of guessing; then, within few steps, it is right on every example. With more "
        "irrelevant bits the wait is longer."
    ),
    source="Thesis, Figure 4.4",
    scales={
        "quick": Scale(
            Settings(
                lengths=(8, 12),
                batch=256,
                steps=12_000,
                seeds=5,
                learning_rate=3e-4,
                test_samples=1000,
            ),
            minutes=2,
        ),
        "laptop": Scale(Settings(lengths=(10, 15), batch=1024, steps=20_000, seeds=10), minutes=40),
        "paper": Scale(
            Settings(
                lengths=(10, 15),
                batch=2048,
                steps=30_000,
                seeds=10,
                learning_rate=1e-3,
                network=Network(embedding_dropout=0.1, other_dropout=0.1),
            ),
            minutes=2000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(all_seeds_succeed, plateau_is_chance, fall_is_sharp, longer_inputs_take_longer),
    figures="elegans.studies.attention.figures:parity",
    shown=("runs",),
    formats={
        "plateau": ".4f",
        "fall": ".2f",
        "steps_to_solve": ",.0f",
        "steps": ",",
        "test_error": ".2%",
        "train_error": ".1%",
    },
    captions={
        "figure": (
            "Loss (left) and accuracy (right) on new examples during training, a line per seed. "
            "Runs end when their error is at most 1%."
        ),
        "runs": (
            "One row per run: plateau is the median loss over the first half of the steps to 5% "
            "error (ln 2 is 0.6931), fall the share of those steps that lie between 45% and 5%."
        ),
        "curves": "Losses and errors on new examples during training.",
    },
)
