"""Stored runs as a table: the experiment's fields as flat dotted columns beside what came out.

An experiment is flattened once, however many seeds it has, and joined to its runs by number; a
sweep has few experiments and many runs, which is what makes large tables fast.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from elegans.experiments.plain import nearest

if TYPE_CHECKING:
    from elegans.store.store import Store

KINDS = (".parquet", ".csv")
REALS = ("test_error", "test_loss", "train_error", "train_loss", "seconds")


def table(store: "Store", where: Mapping[str, Any]) -> pd.DataFrame:
    """The runs of a store that are as `where` says, in the order of the grid."""
    from elegans.store.store import METRICS, NOTES

    names = ("number", "run", "seed", *METRICS, *NOTES)
    query = (
        f"SELECT experiment, id, seed, {', '.join((*METRICS, *NOTES))} FROM runs "
        "ORDER BY experiment, seed"
    )
    runs = pd.DataFrame(store._rows(query), columns=list(names))
    numbers, flat = experiments(store)
    place = np.empty(max(numbers, default=0) + 1, np.int64)
    place[numbers] = np.arange(len(numbers))
    fields = flat.take(place[runs["number"]]).reset_index(drop=True)
    runs = typed(runs)
    joined = pd.concat([runs[["run"]], fields, runs.drop(columns=["run", "number"])], axis=1)
    return joined[selected(joined, where)].reset_index(drop=True) if where else joined


def experiments(store: "Store") -> tuple[list[int], pd.DataFrame]:
    """The numbers of the experiments, and a row of fields for each.

    Columns are filled one experiment at a time: a list of 200,000 dictionaries would keep Python's
    garbage collector busy for longer than all the rest takes.
    """
    found = store._rows("SELECT id, hash, json FROM experiments ORDER BY id")
    columns: dict[str, list[Any]] = {"experiment": [hash_ for _, hash_, _ in found]}
    for i, (_, _, text) in enumerate(found):
        for name, value in flattened(json.loads(text)).items():
            if name not in columns:
                columns[name] = [None] * len(found)
            columns[name][i] = value
    return [number for number, _, _ in found], pd.DataFrame(columns)


def flattened(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dictionaries as one with dotted keys; lists as JSON text, which any file can hold."""
    flat: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, dict):
            flat |= flattened(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = json.dumps(value) if isinstance(value, list) else value
    return flat


def typed(rows: pd.DataFrame) -> pd.DataFrame:
    """Outcomes in columns of their own types, also where a run failed and has none.

    A run without a stop rule, or that failed, has neither succeeded nor not: that is missing. NaN
    and missing are the same to a database, and so they are here.
    """
    kinds = {name: float for name in REALS if name in rows}
    known = rows["success"].astype("boolean")
    steps = rows["steps"].astype(float)
    return rows.astype(kinds).assign(
        success=known if known.isna().any() else known.astype(bool),
        steps=steps if steps.isna().any() else steps.astype(int),
    )


def selected(rows: pd.DataFrame, where: Mapping[str, Any]) -> pd.Series:
    """Which rows have the given values in the given columns."""
    chosen = pd.Series(True, index=rows.index)
    for name, value in where.items():
        if name not in rows:
            raise ValueError(
                f"where: the table has no column {name!r}{nearest(name, rows.columns)}"
            )
        if value is None:
            chosen &= rows[name].isna()
        else:
            values = value if isinstance(value, list | tuple | set | range) else [value]
            chosen &= rows[name].isin(list(values))
    return chosen


def export(store: "Store", path: Path) -> None:
    """Writes the table of a store to `path`, which appears whole or not at all."""
    if path.suffix not in KINDS:
        raise ValueError(f"{path}: an export is a {' or a '.join(KINDS)} file.")
    rows = store.table()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    if path.suffix == ".csv":
        rows.to_csv(part, index=False)
    else:
        write_parquet(pd.DataFrame({name: of_one_kind(rows[name]) for name in rows}), part)
    part.replace(path)


def write_parquet(rows: pd.DataFrame, path: Path) -> None:
    """Writes a table as Parquet, for which pandas needs a library."""
    try:
        rows.to_parquet(path, index=False)
    except ImportError as error:
        raise ValueError(
            "A .parquet file needs pyarrow: pip install 'elegans[parquet]', or export a .csv file."
        ) from error


def of_one_kind(column: pd.Series) -> pd.Series:
    """A column that Parquet can hold: as text if its values are of several kinds."""
    if column.dtype != object or not pd.api.types.infer_dtype(column).startswith("mixed"):
        return column
    return column.map(json.dumps)
