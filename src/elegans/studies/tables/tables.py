"""The tables of the study of tables: medians over seeds, the best of each learner, and Table 2."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pandas as pd

from elegans.statistics import bootstrap
from elegans.studies.tables import baselines as tabular_baselines
from elegans.studies.tables.reference import FRACTIONS, TABLE_2, reported
from elegans.tasks.tables.tabular import Tabular

MLP_NAME = "elegans MLP"
SETTING = ["optimizer", "start", "width", "depth", "weight_decay"]
TITLE = "Table 2: median test error (%), ours and the paper's (tuned: Grinsztajn et al., 2022)"


def cells(runs: pd.DataFrame, tasks: Sequence[Tabular]) -> pd.DataFrame:
    """One row a data set, fraction and setting of a learner: its median error, with interval.

    Where a limit of rows leaves less than the fraction, there is no number of the paper beside it.
    """
    by_name = {task.name: task for task in tasks}
    rows = []
    by = ["dataset", "fraction", "samples", "learner", "setting"]
    for key, cell in runs.groupby(by, sort=False):
        dataset, fraction, samples, learner, setting = cast(tuple[Any, ...], key)
        median = bootstrap(cell["error"].to_numpy(float))
        kinds = {MLP_NAME: "mlp", tabular_baselines.FOREST: "forest"}
        first, task = cell.iloc[0], by_name[dataset]
        whole = replace(task, fraction=float(fraction)).sizes.train
        is_reported = learner in kinds and int(samples) == whole
        paper = reported(dataset, kinds[learner], fraction) if is_reported else None
        rows.append(
            {
                "dataset": dataset,
                "is_exact": task.is_exact,
                "fraction": float(fraction),
                "samples": int(samples),
                "learner": learner,
                "setting": setting,
                **{name: first[name] for name in SETTING},
                "runs": len(cell),
                "median": median.value,
                "low": median.low,
                "high": median.high,
                "paper": None if paper is None else paper / 100,
            }
        )
    return pd.DataFrame(rows).astype({"width": "Int64", "depth": "Int64", "paper": "float64"})


def best_of(table: pd.DataFrame) -> pd.DataFrame:
    """Of each learner, the setting with the lowest median on each data set and fraction."""
    chosen = table.groupby(["dataset", "fraction", "learner"], sort=False)["median"].idxmin()
    return table.loc[chosen].reset_index(drop=True)


def summary(best: pd.DataFrame, tasks: Sequence[Tabular]) -> dict[str, pd.DataFrame]:
    """Table 2: the best MLP and the best forest beside the paper's; then every learner."""
    rest = [name for name in best["learner"].drop_duplicates() if name != MLP_NAME]
    every = {
        f"Median test error (%) of every learner at {fraction:.0%} of the training rows": grid(
            best[best["fraction"] == fraction], [MLP_NAME, *rest]
        )
        for fraction in FRACTIONS
        if (best["fraction"] == fraction).any()
    }
    found = {TITLE: table_2(best, tasks), **every}
    absent = tabular_baselines.absent()
    if absent:
        advice = pd.DataFrame({"to add it": "pip install 'elegans[tabular]'"}, index=absent)
        advice.index.name = "learner"
        found["Learners that are not installed, and so not shown"] = advice
    return found


def table_2(best: pd.DataFrame, tasks: Sequence[Tabular]) -> pd.DataFrame:
    """The paper's Table 2: of each data set a row that was measured here, and the paper's row.

    A data set of which some rows are missing, or left out by a limit, is marked as a part.
    """
    found = best.set_index(["dataset", "learner", "fraction"])
    ours, paper_ours = found["median"], found["paper"]
    kinds = {"MLP": MLP_NAME, "RF": tabular_baselines.FOREST}
    columns = [(kind, fraction) for kind in kinds for fraction in FRACTIONS]
    rows = {}
    for task in tasks:
        paper = TABLE_2[task.name]
        medians = [ours.get((task.name, kinds[kind], fraction)) for kind, fraction in columns]
        is_whole = task.is_exact and pd.notna(paper_ours.get((task.name, MLP_NAME, 1.0)))
        name = task.name if is_whole else f"{task.name} (part)"
        rows[name] = ["-" if m is None else f"{100 * m:.1f}" for m in medians] + ["", "", ""]
        rows[f"{task.name}, paper"] = [
            *(f"{error:.1f}" for error in (*paper.mlp, *paper.forest)),
            f"{paper.tuned_mlp:.1f}",
            f"{paper.tuned_forest:.1f}",
            f"{paper.best:.1f} {paper.best_model}",
        ]
    titles = [f"{kind} {'full' if f == 1 else f'{f:.0%}'}" for kind, f in columns]
    titles += ["tuned MLP", "tuned RF", "tuned best"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=titles)
    frame.index.name = "data set"
    return frame


def grid(best: pd.DataFrame, learners: list[str]) -> pd.DataFrame:
    """Medians with intervals, data sets downwards and learners across."""
    text = [
        f"{100 * m:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
        for m, low, high in best[["median", "low", "high"]].itertuples(index=False)
    ]
    frame = best.assign(text=text).pivot(index="dataset", columns="learner", values="text")
    frame.index.name, frame.columns.name = "data set", None
    return frame[learners]
