"""What can still be read of a damaged store, as a new one.

SQLite keeps rows in the leaves of a tree of pages, and new rows go into new pages at the end. A
file that was cut short has lost its newest pages, and what is above the others in the tree still
stands, so rows are asked for one by one, by number: each comes back whole or with an error. A run
is saved if all of it is readable, its experiment and its curves included; checksums of the curves
are verified.
"""

import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elegans.store.arrays import unpack
from elegans.store.record import Record
from elegans.store.schema import StoreError
from elegans.store.store import METRICS, NOTES, Store

BATCH = 1_000  # rows a transaction
ROWS_A_PAGE = 100  # at most: a row of `runs` takes 40 bytes or more of a page's 4096


class Rescue(NamedTuple):
    """How many runs were saved, and how many were seen but not whole."""

    saved: int
    lost: int


def recover(path: Path, out: Path) -> Rescue:
    """Saves the readable runs of the store at `path` in a new store at `out`.

    The damaged file is not touched: a copy is read.
    """
    if not path.exists():
        raise StoreError(f"There is no file {path}.")
    if out.exists():
        raise StoreError(f"{out} is there already; name a file that is not, or merge afterwards.")
    saved = lost = 0
    with tempfile.TemporaryDirectory() as directory, Store(out) as store:
        store.register({})
        source = _opened(path, Path(directory))
        experiments = {number: (name, text) for number, name, text in _experiments(source)}
        store.register(dict(experiments.values()))
        batch: list[Record] = []
        for record in _records(source, {n: name for n, (name, _) in experiments.items()}):
            lost += record is None
            batch += [record] if record is not None else []
            if len(batch) == BATCH:
                saved += store.add(batch)
                batch = []
        saved += store.add(batch)
        source.close()
    return Rescue(saved, lost)


def _opened(path: Path, directory: Path) -> sqlite3.Connection:
    """A connection to a copy of the damaged file and its log, that looks past the damage."""
    copy = directory / "copy.db"
    shutil.copyfile(path, copy)
    log = path.with_name(path.name + "-wal")
    if log.exists():
        shutil.copyfile(log, copy.with_name("copy.db-wal"))
    with copy.open("rb+") as file:  # SQLite would fill half a page with zeros, and read those
        page = int.from_bytes(file.read(18)[16:], "big") or 1
        file.truncate(copy.stat().st_size // page * page)
    connection = sqlite3.connect(copy, isolation_level=None)
    # With it SQLite opens a file that is shorter than its header says.
    connection.execute("PRAGMA writable_schema = ON")
    return connection


def _experiments(source: sqlite3.Connection) -> Iterator[tuple[int, str, str]]:
    query = "SELECT id, hash, json FROM experiments WHERE id = ?"
    for number in range(1, _last(source, "experiments") + 1):
        row = _row(source, query, number)
        if row is not None:
            yield row


def _records(source: sqlite3.Connection, names: dict[int, str]) -> Iterator[Record | None]:
    """Every run that is there: its record, or None where part of it is not readable."""
    fields = (*METRICS, *NOTES)
    run = f"SELECT experiment, seed, {', '.join(fields)} FROM runs WHERE id = ?"
    for number in range(1, _last(source, "runs") + 1):
        row = _row(source, run, number)
        arrays = _row(source, "SELECT history, probes FROM arrays WHERE run = ?", number)
        if row is None and arrays is None:
            continue
        if row is None or arrays is None or row[0] not in names or not _is_sound(arrays):
            yield None
            continue
        named = dict(zip(fields, row[2:], strict=True))
        yield Record(names[row[0]], row[1], **named, history=arrays[0], probes=arrays[1])


def _is_sound(blobs: tuple[bytes | None, ...]) -> bool:
    """Whether arrays can be read back, checksum included."""
    try:
        for blob in blobs:
            if blob is not None:
                unpack(blob)
    except (zlib.error, ValueError):
        return False
    return True


def _row(source: sqlite3.Connection, query: str, number: int) -> Any:
    """One row by its number, or None if it is not there or not readable."""
    try:
        return source.execute(query, (number,)).fetchone()
    except sqlite3.DatabaseError:
        return None


def _last(source: sqlite3.Connection, table: str) -> int:
    """The largest number that a row of a table may have."""
    try:
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        found = source.execute(query, (table,)).fetchone()
        return int(found[0]) if found else 0
    except sqlite3.DatabaseError:
        pass
    try:
        (pages,) = source.execute("PRAGMA page_count").fetchone()
    except sqlite3.DatabaseError:
        return 0
    return int(pages) * ROWS_A_PAGE
