"""Stored runs as a table: the experiment's fields as flat dotted columns beside what came out.

An experiment is flattened once, however many seeds it has, and joined to its runs by number; a
sweep has few experiments and many runs, which is what makes large tables fast. Of what the JSON
names nothing is imported: a type is a text.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elegans import checks
from elegans.runs import METRICS, typed
from elegans.store.fields import flattened
from elegans.store.record import TEXTS
from elegans.store.schema import StoreError

SUFFIXES = (".parquet", ".csv")
OUTCOMES = ("seed", "status", *METRICS, "traceback", "host", "versions", "finished")


def joined(
    blocks: Sequence[Mapping[str, np.ndarray]], experiments: Mapping[int, tuple[str, str]]
) -> pd.DataFrame:
    """The table of all runs, given blocks of their columns, and hash and JSON of experiments by id.

    A run that is damaged, or whose experiment is, has no fields and no numbers.
    """
    names = ("id", "experiment", "sound", *OUTCOMES)
    runs = {n: np.concatenate([block[n] for block in blocks]) for n in names if blocks}
    if not runs:
        runs = {name: np.zeros(0, object if name in TEXTS else int) for name in names}
    order = np.lexsort((runs["seed"], runs["experiment"]))
    runs = {name: column[order] for name, column in runs.items()}
    ids = np.array([*experiments, np.iinfo(np.int64).max])  # so that every search ends at an id
    places = np.searchsorted(ids, runs["experiment"])
    is_sound = runs["sound"].astype(bool) & (ids[places] == runs["experiment"])
    for name in OUTCOMES if not is_sound.all() else ():
        if name != "seed":
            blank = "damaged" if name == "status" else None if name in TEXTS else np.nan
            runs[name][~is_sound] = blank
    flat = fields(list(experiments.values()))
    rows = flat.take(places) if is_sound.all() else flat.reindex(np.where(is_sound, places, -1))
    outcomes = typed(pd.DataFrame({name: runs[name] for name in OUTCOMES}))
    numbers = pd.DataFrame({"run": runs["id"]})
    return pd.concat([numbers, rows.reset_index(drop=True), outcomes], axis=1)


def fields(experiments: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """A row of fields for each experiment, given by hash and JSON.

    Columns are filled one experiment at a time: a list of 200,000 dictionaries would keep Python's
    garbage collector busy for longer than all the rest takes.
    """
    columns: dict[str, list[Any]] = {"experiment": [name for name, _ in experiments]}
    for i, (_, text) in enumerate(experiments):
        for name, value in _parsed(text).items():
            if name not in columns:
                columns[name] = [None] * len(experiments)
            columns[name][i] = value
    return pd.DataFrame(columns)


def _parsed(text: str) -> dict[str, Any]:
    """The fields of an experiment, by dotted name."""
    try:
        plain = json.loads(text)
        if not isinstance(plain, dict):
            raise ValueError(f"it is {text[:50]!r}")
        return flattened(plain)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"An experiment is not a JSON object: {error}.") from error


def selected(rows: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """The rows that have the given values in the given columns."""
    chosen = pd.Series(True, index=rows.index)
    for name, value in where.items():
        if name not in rows:
            close = checks.nearest(name, rows.columns)
            raise ValueError(f"where: the table has no column {name!r}{close}")
        if value is None:
            chosen &= rows[name].isna()
        else:
            values = value if isinstance(value, list | tuple | set | range) else [value]
            chosen &= rows[name].isin(list(values))
    return rows[chosen].reset_index(drop=True) if where else rows


def export(rows: pd.DataFrame, path: Path) -> None:
    """Writes a table to `path`, which appears whole or not at all."""
    if path.suffix not in SUFFIXES:
        raise ValueError(f"{path}: an export is a {' or a '.join(SUFFIXES)} file.")
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
