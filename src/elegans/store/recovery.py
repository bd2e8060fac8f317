"""What can still be read of a damaged store, as a new one.

SQLite keeps rows in the leaves of a tree of pages, and new rows go into new pages at the end. A
file that was cut short has lost its newest pages, and what is above the others in the tree still
stands, so rows are asked for one by one, by number: each comes back whole or with an error. A run
is saved if all of it fits its checksums, its experiment and its arrays included.
"""

import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elegans.runs import Run
from elegans.store.arrays import MAX_BYTES
from elegans.store.file import ROWS_PER_BLOCK, select_runs, sum_of
from elegans.store.record import Row, decode, digest, from_row
from elegans.store.schema import DAMAGE, StoreError
from elegans.store.store import ARRAYS, Store

MAX_ROWS_PER_PAGE = 100  # a row takes 40 bytes or more of a page's 4096
IDS_PER_ROW = 10  # at most, beyond the first LEAST_IDS: a damaged sequence may name any number
LEAST_IDS = 1_000_000
EXPERIMENTS = "SELECT id, hash, json, checksum FROM experiments NOT INDEXED WHERE id = ?"
BLOBS = "SELECT id, run, kind, checksum, data FROM arrays NOT INDEXED WHERE id = ?"


class Rescue(NamedTuple):
    """How many runs were saved, and how many were there but not whole."""

    saved: int
    lost: int


def recover(path: Path, out: Path) -> Rescue:
    """Saves the readable runs of the store at `path` in a new store at `out`.

    The damaged file is not touched: a copy is read.
    """
    if not path.exists():
        raise StoreError(f"There is no file {path}.")
    if out.exists():
        raise StoreError(f"{out} already exists; name a new file, and merge afterwards.")
    with tempfile.TemporaryDirectory() as directory, Store(out) as store:
        source = _opened(path, Path(directory))
        experiments = {
            number: (name.decode(), text.decode())
            for number, name, text, total in _rows(source, "experiments", EXPERIMENTS)
            if digest(number, name, text) == total
        }
        store.register(dict(experiments.values()))
        runs = _sound(source)
        saved = store.take(_whole(source, [row for row in runs if row is not None], experiments))
        source.close()
    return Rescue(saved, len(runs) - saved)


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
    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
    # With it SQLite opens a file that is shorter than its header says.
    connection.execute("PRAGMA writable_schema = ON")
    return connection


def _sound(source: sqlite3.Connection) -> list[Row | None]:
    """The runs that can be read, None in place of one that does not fit its checksum."""
    try:
        query = f"{select_runs(source)} WHERE id = ?"
    except DAMAGE:
        return []
    rows = list(_rows(source, "runs", query))
    runs: list[Row | None] = []
    for i in range(0, len(rows), ROWS_PER_BLOCK):
        block = rows[i : i + ROWS_PER_BLOCK]
        is_sound = decode(block)["sound"]
        runs += [row if ok else None for row, ok in zip(block, is_sound, strict=True)]
    return runs


def _whole(
    source: sqlite3.Connection, runs: list[Row], experiments: dict[int, tuple[str, str]]
) -> Iterator[tuple[Run, dict[str, bytes]]]:
    """The runs of known experiments whose arrays are all there, with those."""
    arrays = defaultdict(list)  # by run; not through an index, which may be damaged too
    for id_, run, kind, total, data in _rows(source, "arrays", BLOBS):
        if digest(run, kind, data) == total:
            arrays[run].append((id_, kind.decode(), total))
    for row in runs:
        stored = arrays[row[0]]
        total = sum_of((kind, total) for _, kind, total in stored)
        if total == row[ARRAYS] and row[1] in experiments:
            name, text = experiments[row[1]]
            blobs = {kind: _row(source, BLOBS, id_)[4] for id_, kind, _ in stored}
            yield from_row(row, source=text, hash=name), blobs


def _rows(source: sqlite3.Connection, table: str, query: str) -> Iterator[Row]:
    """The rows of a table that can be read, in the order of their ids."""
    pages = _row(source, "PRAGMA page_count") or (0,)
    # Ids of rows that were removed are not used again, so there may be more ids than rows.
    most = max(LEAST_IDS, IDS_PER_ROW * MAX_ROWS_PER_PAGE * pages[0])
    last = _row(source, "SELECT seq FROM sqlite_sequence WHERE name = ?", table)
    count = last[0] if last and isinstance(last[0], int) else MAX_ROWS_PER_PAGE * pages[0]
    for id_ in range(1, min(count, most) + 1):
        row = _row(source, query, id_)
        if row is not None:
            yield row


def _row(source: sqlite3.Connection, query: str, *values: Any) -> Any:
    """One row of an answer, or None if it is not there or not readable."""
    try:
        return source.execute(query, values).fetchone()
    except DAMAGE:
        return None
