"""The tables of the success frontier: runs, cells, rates, example curves, runs past success."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pandas as pd

from elegans.runs import Runs
from elegans.statistics import censored_median, wilson
from elegans.studies.pareto.recipe import COLUMNS
from elegans.theory import resources

CELL = ["n", "k", "init", "width", "samples"]
CURVES_PER_CELL = 10
GRID, ZOOM = "grid", "zoom"


def with_columns(table: pd.DataFrame, part: str = GRID) -> pd.DataFrame:
    """The runs in the columns of this study; `success` is missing where a run failed.

    `part` says which sweep they are of: the grid, or the denser sizes between its own.
    """
    types = {"samples": "Int64", "success": "boolean"}  # None, that is online, is missing
    return table[[*CELL, *COLUMNS]].astype(types).assign(part=part)


def fitted_steps(runs: Runs) -> list[float]:
    """Of each run, the first step at which no training row was misclassified; NaN if never.

    At most 1,000 training rows are looked at, the first ones, and online there are none.
    """
    steps: list[float] = []
    for label, run in zip(runs.labels, runs, strict=True):
        history = run.history
        is_offline = label["samples"] is not None and len(history) > 0
        at = list(history["step"][history["train_error"] == 0]) if is_offline else []
        steps.append(float(min(at, default=np.nan)))
    return steps


def cell_table(table: pd.DataFrame, steps: int) -> pd.DataFrame:
    """One row per cell: success rate with its interval, median steps, and the two limits.

    Runs that failed are not counted. The median is over all others, those without success as
    infinitely long; it is missing where half of them or more are.
    """
    rows = []
    for key, cell in table.groupby([*CELL, "part"], sort=False, dropna=False):
        n, k, init, width, samples, part = cast(tuple[Any, ...], key)
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
                "part": part,
                "runs": len(finished),
                "successes": int(success.sum()),
                "rate": rate.value if rate else np.nan,
                "low": rate.low if rate else 0.0,
                "high": rate.high if rate else 1.0,
                "median_steps": median if np.isfinite(median) else np.nan,
                "wait": (waits(finished) / finished["steps"].astype(float))[success].median(),
                "theory": resources.statistical_limit(int(n), int(k)),
                "theory_proposition_3": bound,
            }
        )
    return pd.DataFrame(rows).astype({"samples": "Int64"})


def waits(runs: pd.DataFrame) -> pd.Series:
    """Steps between the first fit of all rows and the end; zero for a run that ends before it fits,
    and missing online, where there are no rows to fit."""
    steps = (runs["steps"].astype(float) - runs["fitted"]).clip(lower=0).fillna(0.0)
    return steps.where(runs["samples"].notna())


def rates(cells: pd.DataFrame) -> pd.DataFrame:
    """Success rates as the figure shows them: samples across, widths downwards."""
    cells = cells[cells["part"] == GRID]
    columns = {m: "online" if pd.isna(m) else f"m = {m}" for m in cells["samples"].unique()}
    long = cells.assign(column=[columns[m] for m in cells["samples"]])
    grid = long.pivot(index=["n", "k", "init", "width"], columns="column", values="rate")
    order = cells[["n", "k", "init", "width"]].drop_duplicates()
    return grid.loc[pd.MultiIndex.from_frame(order), list(columns.values())].reset_index()


def boxes(cells: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Cells whose curves are drawn: of each task and init the widest network at its edge, the
    least samples at which half of its runs succeed, and the narrowest at as many samples."""
    finite = cells[cells["part"] == GRID].dropna(subset="samples")
    for (n, k, init), part in finite.groupby(["n", "k", "init"], sort=False):
        widest = part[(part["width"] == part["width"].max()) & (part["rate"] >= 0.5)]
        edge = int(widest["samples"].min() if len(widest) else part["samples"].max())
        for width in dict.fromkeys((part["width"].max(), part["width"].min())):
            yield {"n": n, "k": k, "init": init, "width": int(width), "samples": edge}


def curves(runs: Runs, cells: pd.DataFrame) -> pd.DataFrame:
    """Training curves of the first runs of each boxed cell, as they were stored."""
    parts = [runs.where(**cell)[:CURVES_PER_CELL].history for cell in boxes(cells)]
    columns = [*CELL, "seed", "step", "train_error", "test_error"]
    parts = [part[columns] for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def past_table(runs: Runs) -> pd.DataFrame:
    """Runs that go on after success: when their error was 10% and when it was zero, and the last.

    `perfect_steps` is the first evaluation without an error on the whole test set.
    """
    table = with_columns(runs.table).drop(columns="part").rename(columns={"steps": "perfect_steps"})
    success = table["success"].astype("boolean")
    learned = [first_at_most(run.history, 0.1) for run in runs]
    return table.assign(
        perfect=success, steps=learned, perfect_steps=table["perfect_steps"].where(success)
    ).drop(columns="success")


def first_at_most(history: pd.DataFrame, error: float) -> float:
    """The first step at which the test error was at most this; NaN if it never was."""
    if not len(history):
        return np.nan
    return float(min(history["step"][history["test_error"] <= error], default=np.nan))
