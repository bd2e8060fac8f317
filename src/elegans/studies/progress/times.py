"""What the studies of this chapter share: the time to converge, its recipe, and how it is judged.

A run has converged at the first look without an error on its test set; a run that never does has an
infinite time, so that medians count it. The document looks every 10 steps, at 128 fresh examples in
its large experiments and at 8,192 in its curves: 128 accept true errors of up to 2% (at the 5%
level), so times from the two are not compared with each other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from elegans.statistics import Interval, wilson
from elegans.training.recipe import Stop, Training

CHAPTER = "thesis, chapter 5"
FEW_TEST_SAMPLES = 128
ROBUST_SHARE = 0.2  # of the runs, below which a setting is said not to learn
FALLEN_ERROR = 0.4  # below it the error has moved
CHANCE_ERROR = 0.45  # above it a network is said to know nothing yet


def until_perfect(
    learning_rate: float, *, batch: int = 32, steps: int, every: int = 10, **options: Any
) -> Training:
    """Online training with the hinge loss until no error is left on the test set."""
    defaults: dict[str, Any] = {
        "test_samples": FEW_TEST_SAMPLES,
        "stop": Stop(test_error=0.0),
    }
    return Training(
        loss="hinge",
        learning_rate=learning_rate,
        batch=batch,
        steps=steps,
        evaluate_every=every,
        **(defaults | options),
    )


def timed(table: pd.DataFrame) -> pd.DataFrame:
    """The runs that did not fail, with a column `time`, infinite where a run did not converge.

    A run that diverged has not converged.
    """
    rows = table[table["status"].isin(["done", "diverged"])]
    success = rows["success"].fillna(False).to_numpy(bool)
    return rows.assign(success=success, time=np.where(success, rows["steps"].astype(float), np.inf))


def groups(table: pd.DataFrame, by: Any) -> list[tuple[Any, pd.DataFrame]]:
    """The parts of a table with equal values in the columns `by`, in the order they appear in."""
    return list(table.groupby(by, sort=False))


def records(table: pd.DataFrame) -> list[Any]:
    """The rows of a table, with columns as attributes."""
    return list(table.itertuples())


def row_at(table: pd.DataFrame, place: Any) -> Any:
    """One row of a table, by the label of its index."""
    return table.loc[place]


def at_step(looks: pd.DataFrame, step: float | int) -> pd.DataFrame:
    """The last look of each run at or before a step, for runs that got that far, by seed."""
    reached = looks.groupby("seed")["step"].max() >= step
    rows = looks[looks["seed"].isin(reached.index[reached]) & (looks["step"] <= step)]
    return rows.sort_values("step").groupby("seed").last()


def by_group(
    table: pd.DataFrame, by: str, measure: Callable[[pd.DataFrame], Interval]
) -> dict[str, Interval]:
    """An interval of each group of rows, by its name, in the order the groups appear in."""
    return {str(name): measure(part) for name, part in groups(table, by)}


def share_of(flags: Any) -> Interval:
    """The share of the values that are true, with its Wilson interval."""
    values = np.asarray(flags, bool)
    return wilson(int(values.sum()), len(values))


def least_successful(cells: pd.DataFrame) -> tuple[Any, Interval]:
    """The row of `cells` whose share of converged runs has the lowest upper limit, with it."""
    shares = [
        wilson(int(a), int(b)) for a, b in zip(cells["converged"], cells["runs"], strict=True)
    ]
    worst = min(range(len(cells)), key=lambda i: (shares[i].high, shares[i].value))
    return cells.iloc[worst], shares[worst]


def best_rates(times: pd.DataFrame, by: Any) -> dict[Any, float]:
    """The learning rate of each group of runs with which most converge, the fastest of several."""
    best = {}
    for key, part in groups(times, by):
        scores = {
            rate: (-part_of["success"].mean(), quantile(part_of["time"], 0.5), rate)
            for rate, part_of in groups(part, "rate")
        }
        best[key] = float(min(scores, key=lambda rate: scores[rate]))
    return best


def quantile(values: Any, share: float) -> float:
    """A quantile that is one of the values, so that infinite ones do no harm."""
    return float(np.quantile(np.asarray(values, float), share, method="higher"))
