"""The file of a store: rows that fit their checksums, read and written within transactions.

Rows that do not fit are never handed on as if they did: a row of `runs` is marked, an experiment is
left out, an array is refused. Rows that cannot be reached are noticed by the totals (`schema`).
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from operator import xor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elegans.runs import Run
from elegans.store import schema
from elegans.store.record import COLUMNS, Row, checksums, decode, digest, to_values
from elegans.store.schema import MEMORY, StoreError, explained, rescue

ROWS_PER_BLOCK = 5_000  # Python's garbage collector slows down longer lists of rows


class Block(NamedTuple):
    """Some rows of `runs`, as they are and as columns, of which "sound" says what to believe."""

    rows: list[Row]
    columns: dict[str, np.ndarray]


class File:
    """A connection to the store at `path`: opened for reading, and again at the first write."""

    def __init__(self, path: Path, readonly: bool) -> None:
        self.path, self.readonly = path, readonly
        self._connection: sqlite3.Connection | None = None
        self._writes = False
        self._experiments: dict[int, tuple[str, str]] = {}  # by id: hash and JSON
        self._experiment_ids: list[int] = []  # of all rows that were read, damaged ones too

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file; a later use opens it again."""
        if self._connection is not None:
            schema.close(self._connection)
        self._connection, self._writes = None, False
        self.forget_experiments()

    @contextmanager
    def reading(self) -> Iterator[bool]:
        """A block that sees one moment of the store; false if there is none."""
        with explained(self.path):
            if self._connection is None and str(self.path) == MEMORY:
                self._open_to_write()
            elif self._connection is None and self.path.exists():
                self._connection = schema.connect(self.path, write=False)
            if self._connection is None or self._connection.in_transaction:
                yield self._connection is not None
            else:
                with schema.transaction(self._connection, "DEFERRED"):
                    yield True

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A block whose writes are all stored or none."""
        with explained(self.path):
            if not self._writes:
                self._open_to_write()
            with schema.transaction(self.connection):
                yield

    def _open_to_write(self) -> None:
        if self.readonly:
            raise StoreError(f"{self.path} was opened with readonly=True.")
        self.close()
        self._connection = schema.connect(self.path, write=True)
        self._writes = True
        with self.reading():  # what has lost rows is not written to
            self.experiments()
            ids = self.rows("SELECT count(*), coalesce(sum(id), 0) FROM runs NOT INDEXED")
            self._refuse_lost("runs", *ids[0])

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, within a block of `reading` or `writing`."""
        assert self._connection is not None, "outside of a transaction"
        return self._connection

    def rows(self, query: str, *values: Any) -> list[Any]:
        """What a query answers."""
        return self.connection.execute(query, values).fetchall()

    def experiments(self) -> dict[int, tuple[str, str]]:
        """Hash and JSON of every experiment that fits its checksum, by id.

        They never change, so those that were read before are not read again.
        """
        last = max(self._experiment_ids, default=0)
        for number, *texts, total in self.rows(
            "SELECT id, hash, json, checksum FROM experiments WHERE id > ? ORDER BY id", last
        ):
            self._experiment_ids.append(number)
            if all(isinstance(text, bytes) for text in texts) and digest(number, *texts) == total:
                self._experiments[number] = (texts[0].decode(), texts[1].decode())
        ids = self._experiment_ids
        self._refuse_lost("experiments", len(ids), sum(ids))
        return self._experiments

    def forget_experiments(self) -> None:
        """Reads experiments again when they are next asked for."""
        self._experiments, self._experiment_ids = {}, []

    def blocks(self, ids: Iterable[int] | None = None) -> Iterator[Block]:
        """The runs with these ids, or all, in the order of their ids."""
        query = select_runs(self.connection)
        if ids is not None:
            rows = [row for id_ in ids for row in self.rows(f"{query} WHERE id = ?", id_)]
            yield Block(rows, decode(rows))
            return
        cursor = self.connection.execute(f"{query} ORDER BY id")
        number = total = 0
        while rows := cursor.fetchmany(ROWS_PER_BLOCK):
            block = Block(rows, decode(rows))
            number, total = number + len(rows), total + int(block.columns["id"].sum())
            yield block
        self._refuse_lost("runs", number, total)

    def find(self, experiment: int, seed: int) -> list[int]:
        """The id of a run, if it is there."""
        rows = self.rows("SELECT id FROM runs WHERE experiment = ? AND seed = ?", experiment, seed)
        return [id_ for (id_,) in rows]

    def kinds(self, run: int, total: int) -> dict[str, int]:
        """The kinds of arrays of a run, with their checksums; `total` is what they add up to."""
        rows = self.rows("SELECT kind, checksum FROM arrays WHERE run = ? ORDER BY id", run)
        if sum_of(rows) != total:
            raise StoreError(f"{self.path}: arrays of run {run} are missing. {rescue(self.path)}")
        return {str(kind, errors="replace"): value for kind, value in rows}

    def blobs(self, run: int, total: int, kinds: Collection[str] | None = None) -> dict[str, bytes]:
        """Arrays of a run, of all kinds or some; refuses what does not fit its checksum."""
        blobs = {}
        stored = self.kinds(run, total)
        for kind in stored if kinds is None else kinds:
            query = "SELECT data FROM arrays WHERE run = ? AND kind = ?"
            for (data,) in self.rows(query, run, kind):
                if isinstance(data, bytes) and digest(run, kind, data) == stored.get(kind):
                    blobs[kind] = data
            if kind not in blobs:
                raise StoreError(
                    f"{self.path}: {kind} of run {run} does not fit its checksum. "
                    f"{rescue(self.path)}"
                )
        return blobs

    def register(self, name: str, text: str) -> None:
        """Writes an experiment that is not there, or whose row is damaged."""
        if self.rows("SELECT id FROM experiments WHERE hash = ?", name):
            self.prepare_repair()
        ((number,),) = self.rows(
            "INSERT INTO experiments (hash, json, checksum) VALUES (?, ?, 0) "
            "ON CONFLICT (hash) DO UPDATE SET json = excluded.json RETURNING id",
            name,
            text,
        )
        total = digest(number, name, text)
        self.rows("UPDATE experiments SET checksum = ? WHERE id = ?", total, number)

    def insert(self, experiment: int, run: Run) -> int:
        """Writes a row of `runs`, to be followed by `attach` and `seal`; its id."""
        values = {"experiment": experiment, **to_values(run), "arrays": 0, "checksum": 0}
        cursor = self.connection.execute(
            f"INSERT INTO runs ({', '.join(values)}) VALUES (?{', ?' * (len(values) - 1)})",
            tuple(values.values()),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def attach(self, run: int, blobs: Mapping[str, bytes]) -> None:
        """Writes arrays of a run by kind, to be followed by `seal`."""
        self.connection.executemany(
            "INSERT INTO arrays (run, kind, checksum, data) VALUES (?, ?, ?, ?)",
            [(run, kind, digest(run, kind, data), data) for kind, data in blobs.items()],
        )
        total = sum_of(self.rows("SELECT kind, checksum FROM arrays WHERE run = ?", run))
        self.connection.execute("UPDATE runs SET arrays = ? WHERE id = ?", (total, run))

    def seal(self, ids: Collection[int]) -> None:
        """Brings the checksums of some rows of `runs` up to date, as they are in the database."""
        for rows, _ in self.blocks(ids) if ids else ():
            self.connection.executemany(
                "UPDATE runs SET checksum = ? WHERE id = ?",
                [(total, row[0]) for total, row in zip(checksums(rows), rows, strict=True)],
            )

    def delete(self, ids: Collection[int]) -> int:
        """Removes runs and their arrays; how many."""
        for statement in ("DELETE FROM arrays WHERE run = ?", "DELETE FROM runs WHERE id = ?"):
            self.connection.executemany(statement, [(int(id_),) for id_ in ids])
        return len(ids)

    def prepare_repair(self) -> None:
        """Refuses to write over damaged rows unless the rest of the file is in order."""
        answers = [str(text, errors="replace") for (text,) in self.rows("PRAGMA quick_check")]
        if answers != ["ok"]:
            raise StoreError(f"{self.path} is read-only: {answers[0]}. {rescue(self.path)}")
        self.connection.execute("REINDEX")  # indices may have the values from before the damage

    def _refuse_lost(self, table: str, number: int, ids: int) -> None:
        """Refuses a store whose tables have other rows than were written."""
        rows = self.rows("SELECT number, ids FROM totals WHERE name = ?", table)
        if rows != [(number, ids)]:
            raise StoreError(
                f"{self.path}: {number} {table} can be read, and {rows[0][0] if rows else 'more'} "
                f"were written. {rescue(self.path)}"
            )


def select_runs(connection: sqlite3.Connection) -> str:
    """The query for rows of `runs`; a store from before a metric was added has none of it."""
    names = schema.columns_of(connection)
    columns = (name if name in names else f"NULL AS {name}" for name in COLUMNS)
    return f"SELECT {', '.join(columns)} FROM runs NOT INDEXED"


def sum_of(arrays: Iterable[tuple[Any, Any]]) -> int:
    """One checksum for the kinds and checksums of all arrays of a run, in any order."""
    return reduce(xor, (digest(kind, total) for kind, total in arrays), 0)
