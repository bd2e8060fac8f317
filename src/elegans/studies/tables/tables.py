"""The tables of the study of tables: runs, medians over seeds, the best of each learner, Table 2.

All are functions of the runs: a run's labels say on which rows it was, and whether these are the
paper's own (`is_complete`: the whole table is at hand, and no limit of rows cut the fraction).
"""

from typing import Any, cast

import pandas as pd

from elegans.statistics import bootstrap
from elegans.studies.tables.baselines import FOREST
from elegans.studies.tables.reference import FRACTIONS, TABLE_2, reported

MLP_NAME = "elegans MLP"
ROWS = ["dataset", "is_complete", "fraction", "samples"]
NETWORK = ["optimizer", "init", "hidden", "width", "depth", "weight_decay"]
RUN = ["seed", "status", "steps", "error", "train_error", "seconds"]
KINDS = {MLP_NAME: "mlp", FOREST: "forest"}


def network_table(runs: pd.DataFrame) -> pd.DataFrame:
    """One row per run of a network; one that diverged errs as a coin does, a failed one is out."""
    error = runs["test_error"].where(runs["status"] == "done", 0.5).astype(float)
    finished = runs.assign(error=error)[runs["status"].isin(["done", "diverged"])]
    types = {"width": "Int64"}  # missing where layers are unequal
    return finished[[*ROWS, *NETWORK, *RUN]].astype(types).reset_index(drop=True)


def cell_table(networks: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """One row per data set, fraction and setting of a learner: median error with its interval."""
    settings = [
        f"{optimizer}, {init}, {hidden}, decay {decay:g}"
        for optimizer, init, hidden, _, _, decay in networks[NETWORK].itertuples(index=False)
    ]
    everything = [networks.assign(learner=MLP_NAME, setting=settings), fits]
    runs = pd.concat(everything, ignore_index=True)
    rows = []
    by = [*ROWS, "learner", "setting"]
    for key, cell in runs.groupby(by, sort=False):
        labels = dict(zip(by, cast(tuple[Any, ...], key), strict=True))
        median = bootstrap(cell["error"].to_numpy(float))
        kind = KINDS.get(labels["learner"])
        paper = None
        if labels["is_complete"] and kind:
            paper = reported(labels["dataset"], kind, labels["fraction"])
        rows.append(
            {
                **labels,
                **{name: cell[name].iloc[0] for name in NETWORK},
                "runs": len(cell),
                "median": median.value,
                "low": median.low,
                "high": median.high,
                "paper": None if paper is None else paper / 100,
            }
        )
    types = {"width": "Int64", "depth": "Int64", "weight_decay": "float64", "paper": "float64"}
    return pd.DataFrame(rows).astype(types)


def best_of(cells: pd.DataFrame) -> pd.DataFrame:
    """Of each learner, the setting with the lowest median on each data set and fraction."""
    chosen = cells.groupby(["dataset", "fraction", "learner"], sort=False)["median"].idxmin()
    return cells.loc[chosen].reset_index(drop=True)


def best_by_seed(
    best: pd.DataFrame, networks: pd.DataFrame, fits: pd.DataFrame, learner: str
) -> pd.DataFrame:
    """The runs of a learner's best setting, one row per data set, fraction and seed."""
    chosen = best[best["learner"] == learner]
    if learner == MLP_NAME:
        keys = ["dataset", "fraction", "optimizer", "init", "hidden", "weight_decay"]
        runs = networks
    else:
        keys = ["dataset", "fraction", "setting"]
        runs = fits[fits["learner"] == learner]
    return runs.merge(chosen[keys], on=keys)[["dataset", "fraction", "seed", "error"]]


def width_table(networks: pd.DataFrame) -> pd.DataFrame:
    """Mean test errors over seeds, and train errors in brackets, in percent: rows are widths.

    Of networks with two equal layers, under the least weight decay, dense and 2-sparse.
    """
    part = networks[
        (networks["depth"] == 2)
        & networks["width"].notna()
        & (networks["weight_decay"] == networks["weight_decay"].min())
        & networks["init"].isin(["dense", "2-sparse"])
    ]
    index = ["fraction", "dataset", "width"]
    means = part.groupby([*index, "optimizer", "init"])[["error", "train_error"]].mean()
    text = [f"{100 * test:.1f} ({100 * train:.0f})" for test, train in means.to_numpy()]
    frame = means.assign(text=text)["text"].unstack(["optimizer", "init"]).fillna("-")
    order = [(o, i) for o in ("adam", "sgd") for i in ("dense", "2-sparse")]
    chosen = [column for column in order if column in frame.columns]
    frame = frame[chosen].set_axis([", ".join(column) for column in chosen], axis=1)
    return frame.sort_index(ascending=[False, True, True]).reset_index()


def table_2(best: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 2: of each data set a row that was measured here, and the paper's row.

    A data set of which rows are missing, or left out by a limit, is marked as a part.
    """
    cells = best.set_index(["dataset", "learner", "fraction"])
    kinds = {"MLP": MLP_NAME, "RF": FOREST}
    columns = [(kind, fraction) for kind in kinds for fraction in FRACTIONS]
    rows = {}
    for name in best["dataset"].drop_duplicates():
        paper = TABLE_2[name]
        medians = [cells["median"].get((name, kinds[kind], share)) for kind, share in columns]
        is_part = not cells["is_complete"].get((name, FOREST, 1.0), False)
        title = f"{name} (part)" if is_part else name
        rows[title] = ["-" if m is None else f"{100 * m:.1f}" for m in medians] + ["", "", ""]
        rows[f"{name}, paper"] = [
            *(f"{error:.1f}" for error in (*paper.mlp, *paper.forest)),
            f"{paper.tuned_mlp:.1f}",
            f"{paper.tuned_forest:.1f}",
            f"{paper.best:.1f} {paper.best_model}",
        ]
    titles = [f"{kind} {'full' if share == 1 else f'{share:.0%}'}" for kind, share in columns]
    titles += ["tuned MLP", "tuned RF", "tuned best"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=titles)
    frame.index.name = "data set"
    return frame


def learner_table(best: pd.DataFrame) -> pd.DataFrame:
    """Medians with intervals in percent, one row per fraction and data set, learners across."""
    text = [
        f"{100 * m:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
        for m, low, high in best[["median", "low", "high"]].itertuples(index=False)
    ]
    index = ["fraction", "dataset"]
    frame = best.assign(text=text).pivot(index=index, columns="learner", values="text")
    others = [name for name in best["learner"].drop_duplicates() if name != MLP_NAME]
    frame.columns.name = None
    return frame.sort_index(ascending=[False, True])[[MLP_NAME, *others]]
