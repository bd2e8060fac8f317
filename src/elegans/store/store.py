"""Where finished runs live: an SQLite file, one row a run, found by (experiment hash, seed).

Readers work while a sweep writes (write-ahead log), and a reader sees whole transactions only. A
run is stored once: a second record of the same experiment and seed is ignored, because a record is
a function of those two, so two drivers on one store at worst do the same work twice. Nothing is
pickled. A store lies on a disk of the machine that writes it: SQLite's log needs shared memory,
which network file systems do not have.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elegans.store.arrays import unpack
from elegans.store.record import Record
from elegans.store.schema import StoreError, connect, explained, transaction
from elegans.sweeps.unit import Key

METRICS = ("status", "success", "steps", "test_error", "test_loss", "train_error", "train_loss",
           "seconds")  # fmt: skip
NOTES = ("probed", "traceback", "host", "versions", "finished")
Path_ = str | os.PathLike[str]


class Store:
    """Finished runs in the file at `path`, which the first write makes if it is not there."""

    advice = "Run the same again to go on."

    def __init__(self, path: Path_) -> None:
        self.path = Path(path)
        self._open: sqlite3.Connection | None = None
        if self.path.exists():
            self._open = connect(self.path)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def __len__(self) -> int:
        """How many runs are stored."""
        return int(self._rows("SELECT count(*) FROM runs")[0][0]) if self._open else 0

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file; a later use opens it again."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def keys(self) -> set[Key]:
        """The experiment hash and seed of every run that is stored."""
        query = "SELECT hash, seed FROM runs JOIN experiments ON experiments.id = runs.experiment"
        return set(self._rows(query)) if self.path.exists() else set()

    def outcomes(self, keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
        """What came out of some runs, by experiment hash and seed, for those that are stored."""
        query = (
            f"SELECT hash, seed, {', '.join((*METRICS, 'probed'))} FROM runs "
            "JOIN experiments ON experiments.id = runs.experiment"
        )
        rows = self._rows(query) if self.path.exists() else []
        wanted = set(keys)
        return {
            (hash_, seed): dict(zip((*METRICS, "probed"), values, strict=True))
            for hash_, seed, *values in rows
            if (hash_, seed) in wanted
        }

    def holds(self, keys: Iterable[Key]) -> set[Key]:
        """Which of a few runs are stored."""
        query = (
            "SELECT 1 FROM runs JOIN experiments ON experiments.id = runs.experiment "
            "WHERE hash = ? AND seed = ?"
        )
        return {key for key in keys if self._rows(query, *key)}

    def register(self, experiments: Mapping[str, str]) -> None:
        """Notes experiments by hash, as JSON, in this order, which is the order of tables."""
        if not self.path.exists():
            self._open = connect(self.path)
        with explained(self.path), transaction(self._connection):
            self._connection.executemany(
                "INSERT OR IGNORE INTO experiments (hash, json) VALUES (?, ?)", experiments.items()
            )

    def add(self, records: Iterable[Record]) -> int:
        """Stores records of registered experiments, all or none, and returns how many were new."""
        with explained(self.path), transaction(self._connection):
            return sum(self._insert(record) for record in records)

    def _insert(self, record: Record) -> int:
        fields = (*METRICS, *NOTES)
        found = self._connection.execute(
            f"INSERT OR IGNORE INTO runs (experiment, seed, {', '.join(fields)}) "
            f"SELECT id, ?{', ?' * len(fields)} FROM experiments WHERE hash = ?",
            (record.seed, *(getattr(record, name) for name in fields), record.experiment),
        )
        if found.rowcount == 0:
            self._refuse_unregistered(record)
            return 0
        self._connection.execute(
            "INSERT INTO arrays (run, history, probes) VALUES (?, ?, ?)",
            (found.lastrowid, record.history, record.probes),
        )
        return 1

    def _refuse_unregistered(self, record: Record) -> None:
        query = "SELECT count(*) FROM experiments WHERE hash = ?"
        if self._rows(query, record.experiment)[0][0] == 0:
            raise ValueError(f"{self}: register experiment {record.experiment} before its runs.")

    def forget_failed(self) -> int:
        """Removes the runs that failed, so that a sweep does them again; returns how many."""
        failed = "SELECT id FROM runs WHERE status = 'failed'"
        with explained(self.path), transaction(self._connection):
            self._connection.execute(f"DELETE FROM arrays WHERE run IN ({failed})")
            return self._connection.execute("DELETE FROM runs WHERE status = 'failed'").rowcount

    def experiments(self) -> dict[str, str]:
        """Every experiment as JSON, by hash, in the order in which they were registered."""
        return dict(self._rows("SELECT hash, json FROM experiments ORDER BY id"))

    def records(self) -> Iterator[Record]:
        """Every run, in the order in which they were stored."""
        fields = ", ".join((*METRICS, *NOTES, "history", "probes"))
        query = (
            f"SELECT hash, seed, {fields} FROM runs "
            "JOIN experiments ON experiments.id = runs.experiment "
            "JOIN arrays ON arrays.run = runs.id ORDER BY runs.id"
        )
        names = ("experiment", "seed", *METRICS, *NOTES, "history", "probes")
        with explained(self.path):
            for row in self._connection.execute(query):
                yield Record(**dict(zip(names, row, strict=True)))

    def table(self, where: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """One row a run: its number, experiment, seed, the experiment's fields, what came out.

        Args:
            where: Columns and the value, or list of values, that the rows have there, such as
                `{"status": "done", "model.width": [10, 100]}`.

        Returns:
            Rows in the order of the grid. Fields are dotted columns, `task.n` or `model.init.s`.
        """
        from elegans.store import table

        return table.table(self, where or {})

    def history(self, run: int | pd.Series) -> pd.DataFrame:
        """The curves of a run, given its number in the table or its row: a row an evaluation."""
        return pd.DataFrame(self._arrays(run, "history"))

    def probes(self, run: int | pd.Series) -> dict[str, np.ndarray]:
        """What each probe saw in a run, stacked over evaluations, by dotted name."""
        return self._arrays(run, "probes")

    def export(self, path: Path_) -> None:
        """Writes the whole table to a `.parquet` or `.csv` file."""
        from elegans.store import table

        table.export(self, Path(path))

    def merge(self, other: "Store | Path_") -> int:
        """Takes over the runs of another store that this one lacks; returns how many."""
        source = other if isinstance(other, Store) else Store(other)
        self.register(source.experiments())
        return self.add(source.records())

    def _arrays(self, run: int | pd.Series, column: str) -> dict[str, np.ndarray]:
        number = int(run["run"] if isinstance(run, pd.Series) else run)
        found = self._rows(f"SELECT {column} FROM arrays WHERE run = ?", number)
        if not found:
            raise ValueError(f"{self} has no run {number}; the column 'run' of its table does.")
        return unpack(found[0][0]) if found[0][0] is not None else {}

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with explained(self.path):
            return self._connection.execute(query, values).fetchall()

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            if not self.path.exists():
                raise StoreError(f"There is no store at {self.path}; a sweep makes one.")
            self._open = connect(self.path)
        return self._open
