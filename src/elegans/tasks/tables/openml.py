"""The 16 tables of the numerical classification benchmark, and where their rows come from.

The benchmark is OpenML's suite 337, curated by Grinsztajn, Oyallon and Varoquaux (2022). A table is
read from `NAME.npz` in a directory, with `X` (rows x features), `y` (0 or 1) and `feature_names`,
or else fetched from OpenML by scikit-learn, which keeps what it has fetched. Table 1 of the Pareto
paper counts the label among the features; here it is not.
"""

import os
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

VARIABLE = "ELEGANS_DATA"
FILES = "NAME.npz with X (rows x features, float32), y (0 or 1) and feature_names"


class MissingData(OSError):
    """A table that is neither in a directory nor to be had from OpenML."""


class Entry(NamedTuple):
    """A row of Table 1 of the Pareto paper, with OpenML's number of the data set."""

    task: int
    identifier: str
    data_id: int
    features: int
    rows: int


class Table(NamedTuple):
    """The rows of a data set, as they are stored: labels are 0 and 1."""

    x: Float[np.ndarray, "rows n"]
    y: Float[np.ndarray, " rows"]
    feature_names: tuple[str, ...]


ENTRIES = (
    Entry(1, "credit", 44089, 10, 16714),
    Entry(2, "electricity", 44120, 7, 38474),
    Entry(3, "covertype", 44121, 10, 566602),
    Entry(4, "pol", 44122, 26, 10082),
    Entry(5, "house_16H", 44123, 16, 13488),
    Entry(6, "MagicTelescope", 44125, 10, 13376),
    Entry(7, "bank-marketing", 44126, 7, 10578),
    Entry(8, "MiniBooNE", 44128, 50, 72998),
    Entry(9, "Higgs", 44129, 24, 940160),
    Entry(10, "eye_movements", 44130, 20, 7608),
    Entry(11, "Diabetes130US", 45022, 7, 71090),
    Entry(12, "jannis", 45021, 54, 57580),
    Entry(13, "default-of-credit-card-clients", 45020, 20, 13272),
    Entry(14, "Bioresponse", 45019, 419, 3434),
    Entry(15, "california", 45028, 8, 20634),
    Entry(16, "heloc", 45026, 22, 10000),
)
SUITE = {entry.identifier.lower(): entry for entry in ENTRIES}


def directory_of(directory: str | None) -> str | None:
    """The directory that is meant: this one, or that of the environment, or none."""
    return directory or os.environ.get(VARIABLE) or None


def table(name: str, directory: str | None) -> Table:
    """The table called `name`, from a directory or, without one, from OpenML."""
    return fetched(name) if directory is None else read(name, Path(directory))


def read(name: str, directory: Path) -> Table:
    """The table in `NAME.npz`, refused by name if it is not what it should be."""
    path = directory / f"{name}.npz"
    if not path.is_file():
        raise MissingData(f"There is no {path}. {advice(name)}")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            missing = [part for part in ("X", "y") if part not in arrays]
            if missing:
                raise ValueError(f"{path} has no {' and no '.join(missing)}; a table is {FILES}.")
            x = np.asarray(arrays["X"], np.float32)
            names = arrays["feature_names"] if "feature_names" in arrays else range(x.shape[-1])
            table = Table(x, np.asarray(arrays["y"], np.float32), tuple(map(str, names)))
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is not an npz file: {error}.") from error
    return checked(table, str(path))


def fetched(name: str) -> Table:
    """The table from OpenML, or from scikit-learn's cache of it."""
    from sklearn.datasets import fetch_openml

    entry = SUITE[name]
    try:
        bunch = fetch_openml(data_id=entry.data_id, as_frame=True, parser="auto")
    except (OSError, ValueError) as error:  # no network, a refusal by OpenML, a broken download
        raise MissingData(
            f"{name!r} cannot be fetched from OpenML (data set {entry.data_id}): {error}. "
            f"{advice(name)}"
        ) from error
    classes = np.unique(np.asarray(bunch.target).astype(str))
    y = (np.asarray(bunch.target).astype(str) == classes[-1]).astype(np.float32)
    x = np.asarray(bunch.data, np.float32)
    if x.shape != (entry.rows, entry.features) or len(classes) != 2:
        raise ValueError(
            f"OpenML's data set {entry.data_id} is not {name!r} as the benchmark has it: "
            f"{entry.rows} x {entry.features} and 2 classes; got {x.shape[0]} x {x.shape[1]} and "
            f"{len(classes)}."
        )
    return checked(Table(x, y, tuple(map(str, bunch.data.columns))), f"OpenML {entry.data_id}")


def checked(table: Table, where: str) -> Table:
    """The table, unless its parts do not fit together."""
    x, y = table.x, table.y
    if x.ndim != 2 or y.shape != x.shape[:1] or len(table.feature_names) != x.shape[1]:
        raise ValueError(
            f"{where}: X has a row for each label and a column for each name; got X {x.shape}, "
            f"y {y.shape} and {len(table.feature_names)} names."
        )
    if len(x) < 2:
        raise ValueError(f"{where}: a table has at least 2 rows, to train and to test on.")
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError(f"{where}: labels are 0 and 1; got {np.unique(y)[:5]}.")
    is_bad = ~np.isfinite(x).all(axis=0)
    if is_bad.any():
        columns = ", ".join(np.asarray(table.feature_names)[is_bad][:5])
        raise ValueError(f"{where}: all values are finite numbers; they are not in {columns}.")
    return table


def advice(name: str) -> str:
    """What to do to have a table."""
    return (
        f"Pass directory= (or --data, or set {VARIABLE}) to where {name}.npz is: {FILES}. "
        "Or give none of them and connect to the network once: scikit-learn fetches it from "
        "OpenML and keeps it."
    )


def available(directory: str | None) -> list[str]:
    """The names whose files a directory holds; all 16 where OpenML is meant."""
    if directory is None:
        return list(SUITE)
    return [name for name in SUITE if (Path(directory) / f"{name}.npz").is_file()]
