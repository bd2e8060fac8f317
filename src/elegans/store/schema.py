"""The layout of a store's file, and how a file is opened.

A store is an SQLite database with the application id of this package; its `user_version` is the
number of its schema. A file of another schema is refused: nothing is migrated.

A reader opens the file read-only. A writer turns on the write-ahead log, so that readers work while
it writes, and the last one to close the file turns it off again: at rest a store is a single file,
which can be read where nothing may be written.

Each row carries a checksum (`record`). `totals` has the number of rows of a table and the sum of
their ids, so that rows which damage has made unreachable are missed. A row of `runs` also has the
exclusive or of the checksums of its arrays. Arrays are in a table of their own: a scan of `runs`,
which is what a table needs, does not read them. Ids grow with time and pages fill in that order, so
that a file cut short keeps its oldest rows (`recovery`).
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elegans.runs import METRIC_TYPES
from elegans.store.arrays import MAX_BYTES

APPLICATION = 0x656C6567  # "eleg"
SCHEMA = 2
HEADER = b"SQLite format 3\x00"
MEMORY = ":memory:"
# What SQLite raises on a damaged file: a damaged length may ask for all the memory, and a message
# may quote text that is not Unicode.
DAMAGE = (sqlite3.Error, MemoryError, UnicodeDecodeError)
PATIENCE = 60.0  # seconds that a writer waits for another one

SQL_TYPES = {"bool": "INTEGER", "int": "INTEGER", "float": "REAL"}
LAYOUT = f"""
    CREATE TABLE experiments (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        hash TEXT NOT NULL UNIQUE,
        json TEXT NOT NULL,
        checksum INTEGER NOT NULL
    );
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        experiment INTEGER NOT NULL,
        seed INTEGER NOT NULL,
        status TEXT NOT NULL,
        {", ".join(f"{name} {SQL_TYPES[kind]}" for name, kind in METRIC_TYPES.items())},
        traceback TEXT,
        host TEXT NOT NULL,
        versions TEXT NOT NULL,
        finished REAL NOT NULL,
        arrays INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        UNIQUE (experiment, seed)
    );
    CREATE TABLE arrays (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL,
        kind TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        data BLOB NOT NULL,
        UNIQUE (run, kind)
    );
    CREATE TABLE totals (name TEXT PRIMARY KEY, number INTEGER NOT NULL, ids INTEGER NOT NULL);
    INSERT INTO totals VALUES ('experiments', 0, 0), ('runs', 0, 0);
"""
TRIGGER = """
    CREATE TRIGGER {table}_{event} AFTER {event} ON {table} BEGIN
        UPDATE totals SET number = number {sign} 1, ids = ids {sign} {row}.id
        WHERE name = '{table}';
    END
"""


class StoreError(OSError):
    """A store that cannot be opened, read or written; what it holds is as it was."""


def connect(path: Path, *, write: bool) -> sqlite3.Connection | None:
    """A connection to the store at `path`, which a writer makes; None if a reader finds nothing.

    `synchronous=FULL` waits at each commit until the disk has it. A commit costs a millisecond, the
    runs in it cost seconds, and with less a power cut could take finished runs back.
    """
    in_memory = str(path) == MEMORY
    if not in_memory:
        refuse_damaged(path)
    mode = "memory" if in_memory else "rwc" if write else "ro"
    if mode == "ro" and is_frozen(path):
        mode += "&immutable=1"  # SQLite would look for a log, which it can neither find nor make
    with explained(path):
        uri = f"file:{MEMORY}" if in_memory else path.absolute().as_uri()
        connection = sqlite3.connect(
            f"{uri}?mode={mode}",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,  # SQLite itself takes turns
        )
        try:
            connection.text_factory = bytes  # damaged text is no reason for SQLite to stop
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
            connection.execute("PRAGMA trusted_schema = OFF")  # a view calls no function
            connection.execute("PRAGMA cell_size_check = ON")
            if write:
                make(path, connection)
            elif schema_at_one_moment(path, connection) == 0:
                connection.close()
                return None
        except BaseException:
            connection.close()
            raise
        return connection


def make(path: Path, connection: sqlite3.Connection) -> None:
    """Turns a file into a store with a write-ahead log, unless it is one.

    SQLite waits for other writers by itself, but not to change the kind of log.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            schema_at_one_moment(path, connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA journal_mode = WAL")
            with transaction(connection):
                if schema_of(path, connection) == 0:  # again: another may have been faster
                    lay_out(connection)
                for name in METRIC_TYPES.keys() - columns_of(connection):  # metrics that are new
                    connection.execute(
                        f"ALTER TABLE runs ADD COLUMN {name} {SQL_TYPES[METRIC_TYPES[name]]}"
                    )
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def lay_out(connection: sqlite3.Connection) -> None:
    """Makes the tables of an empty database."""
    for statement in LAYOUT.split(";"):
        connection.execute(statement)
    for table in ("experiments", "runs"):
        for event, sign, row in (("INSERT", "+", "new"), ("DELETE", "-", "old")):
            connection.execute(TRIGGER.format(table=table, event=event, sign=sign, row=row))
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def schema_of(path: Path, connection: sqlite3.Connection) -> int:
    """The schema of a store, 0 if the file is empty; refuses what this elegans does not read."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    names = [str(name, errors="replace") for (name,) in connection.execute(query)]
    if application not in (0, APPLICATION) or (application == 0 and names):
        raise StoreError(
            f"{path} is a database, but not a store of elegans: it has the application id "
            f"{application:#x} and the tables {', '.join(names)}."
        )
    if schema == 0 and names:
        raise StoreError(f"{path} has tables, but no number of a schema. {rescue(path)}")
    if schema not in (0, SCHEMA):
        advice = "Name another file, and do the runs again."
        if schema > SCHEMA:
            advice = "A newer elegans wrote it: upgrade with pip install --upgrade elegans."
        raise StoreError(
            f"{path} has schema {schema}; this elegans reads schema {SCHEMA}. {advice}"
        )
    return int(schema)


def schema_at_one_moment(path: Path, connection: sqlite3.Connection) -> int:
    """The schema of a store that another process may be laying out."""
    with transaction(connection, "DEFERRED"):
        return schema_of(path, connection)


def columns_of(connection: sqlite3.Connection) -> set[str]:
    """The columns of `runs`; a store that an older elegans wrote may lack the newest metrics."""
    rows = connection.execute("PRAGMA table_info(runs)")
    return {str(name, errors="replace") for _, name, *_ in rows}


def close(connection: sqlite3.Connection) -> None:
    """Closes a connection; the last writer leaves a single file without a log."""
    with suppress(sqlite3.Error):  # others have it open: they will
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """A block whose writes are all stored or none: the whole of it, even if the process dies."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled it back already
            connection.execute("ROLLBACK")
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns SQLite's errors within the block into errors that say what to do."""
    try:
        yield
    except DAMAGE as error:
        text = str(error)
        if "full" in text or "disk I/O" in text:
            advice = "The disk is full or failing. Finished runs are safe: make room and run again."
        elif "locked" in text:
            advice = f"Another process has been writing for {PATIENCE:.0f} s. Run again later."
        elif "unable to open" in text or "readonly" in text:
            advice = "Is the directory there, and may you write to it? A store is written in place."
        else:
            advice = rescue(path)
        raise StoreError(f"{path}: {text}. {advice}") from error


def rescue(path: Path) -> str:
    """What to do about a damaged file."""
    return f"The file is damaged. Save what is readable: elegans recover {path} NEW.db"


def is_frozen(path: Path) -> bool:
    """Whether nothing can change a file: nothing may be written beside it, and there is no log."""
    logs = [path.with_name(path.name + end) for end in ("-wal", "-journal")]
    return not os.access(path.parent, os.W_OK) and not any(log.exists() for log in logs)


def refuse_damaged(path: Path) -> None:
    """Refuses a file that is not a whole number of pages; SQLite would fill the last with zeros.

    A log beside it means that a process died while copying pages in, which SQLite makes good.
    """
    if path.is_dir():
        raise StoreError(f"{path} is a directory; a store is a file, such as {path / 'runs.db'}.")
    size = path.stat().st_size if path.exists() else 0
    log = path.with_name(path.name + "-wal")
    if size == 0 or (log.exists() and log.stat().st_size):
        return
    with path.open("rb") as file:
        header = file.read(100)
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    if header[:16] != HEADER[: len(header[:16])]:
        raise StoreError(f"{path} is not a store: it does not start as an SQLite database does.")
    if len(header) < 100 or page < 512 or size % page:
        raise StoreError(
            f"{path}: its {size} bytes are not a whole number of pages. {rescue(path)}"
        )
