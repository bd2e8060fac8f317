"""The layout of a store's file, and what happens when a file has another one.

A store is an SQLite database with the application id of this package; its `user_version` is the
number of its schema. `STEPS[i]` takes schema i to i + 1, so an empty file and an old one come up to
date the same way, in one transaction. A file of a newer schema is refused.

Arrays are in a table of their own: a scan of `runs`, which is what a table needs, does not read
them. Ids grow with time and pages fill in that order, so that a file cut short keeps its oldest
rows (`recovery`).
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

APPLICATION = 0x656C6567  # "eleg"
HEADER = b"SQLite format 3\x00"
PATIENCE = 60.0  # seconds that a writer waits for another one

STEPS = (
    """
    CREATE TABLE experiments (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        hash TEXT NOT NULL UNIQUE,
        json TEXT NOT NULL
    );
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        experiment INTEGER NOT NULL REFERENCES experiments (id),
        seed INTEGER NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('done', 'diverged', 'failed')),
        success INTEGER,
        steps INTEGER,
        test_error REAL,
        test_loss REAL,
        train_error REAL,
        train_loss REAL,
        seconds REAL,
        probed TEXT NOT NULL,
        traceback TEXT,
        host TEXT NOT NULL,
        versions TEXT NOT NULL,
        finished REAL NOT NULL,
        UNIQUE (experiment, seed)
    );
    CREATE TABLE arrays (
        run INTEGER PRIMARY KEY REFERENCES runs (id),
        history BLOB,
        probes BLOB
    );
    """,
)


class StoreError(OSError):
    """A store that cannot be opened, read or written; what it holds is as it was."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the store at `path`, made or brought up to date if need be.

    `synchronous=FULL` waits at each commit until the disk has it. A commit costs a millisecond, the
    runs in it cost seconds, and with less a power cut could take finished runs back.
    """
    refuse_damaged(path)
    with explained(path):
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            while not is_ready(path, connection):
                time.sleep(0.01)
        except BaseException:
            connection.close()
            raise
        return connection


def is_ready(path: Path, connection: sqlite3.Connection) -> bool:
    """Makes a file a store of the newest schema; false while another process is about it.

    SQLite waits for other writers by itself, but not to change the kind of log.
    """
    try:
        with transaction(connection, "DEFERRED"):  # what is read is of one moment
            found = refuse_foreign(path, connection)
        connection.execute("PRAGMA synchronous = FULL")
        if found < len(STEPS):
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection)
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        return False
    return True


def refuse_foreign(path: Path, connection: sqlite3.Connection) -> int:
    """The schema of a store; refuses what is none, and one that a newer elegans wrote."""
    application, found = version(connection)
    names = tables(connection)
    if application not in (0, APPLICATION) or (application == 0 and names):
        raise StoreError(
            f"{path} is a database, but no store of elegans: it has the application id "
            f"{application:#x} and the tables {', '.join(names)}."
        )
    if found > len(STEPS):
        raise StoreError(
            f"{path} has schema {found}; this elegans reads schemas up to {len(STEPS)}. "
            "A newer elegans wrote it: upgrade with pip install --upgrade elegans."
        )
    return found


def migrate(connection: sqlite3.Connection) -> None:
    """Takes a store to the newest schema, all steps or none."""
    with transaction(connection):
        found = version(connection)[1]  # again: another process may have been faster
        for step in STEPS[found:]:
            for statement in step.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {max(found, len(STEPS))}")


def version(connection: sqlite3.Connection) -> tuple[int, int]:
    """The application id and the schema of a database."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    return application, schema


def tables(connection: sqlite3.Connection) -> list[str]:
    """The names of a database's tables."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [name for (name,) in found]


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
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "full" in text or "disk I/O" in text:
            help_ = "The disk is full or failing. Finished runs are safe: make room and run again."
        elif "locked" in text:
            help_ = f"Another process has been writing for {PATIENCE:.0f} s. Run again later."
        elif "malformed" in text or "not a database" in text:
            help_ = f"The file is damaged. Save what is readable: elegans recover {path} NEW.db"
        elif "unable to open" in text or "readonly" in text:
            help_ = "Is the directory there, and may you write to it? A store is written in place."
        else:
            raise
        raise StoreError(f"{path}: {text}. {help_}") from error


def refuse_damaged(path: Path) -> None:
    """Refuses a file that is no whole number of pages; SQLite would fill the last with zeros.

    A log beside it means that a process died while copying pages in, which SQLite makes good.
    """
    size = path.stat().st_size if path.exists() else 0
    log = path.with_name(path.name + "-wal")
    if size == 0 or (log.exists() and log.stat().st_size):
        return
    with path.open("rb") as file:
        header = file.read(100)
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    if header[:16] != HEADER[: len(header[:16])]:
        raise StoreError(f"{path} is no store: it does not start as an SQLite database does.")
    if len(header) < 100 or page < 512 or size % page:
        raise StoreError(
            f"{path} is damaged: its {size} bytes are no whole number of pages. "
            f"Save what is readable: elegans recover {path} NEW.db"
        )
