"""A store's numbers and settings in memory, where SQL answers within a glance.

The file is read in blocks, in transactions of their own, so that a sweep can go on writing; every
row is compared with its checksum, as `Store.table` does, and one that does not fit counts as
damaged and nothing else. What is kept is a narrow copy: per run its experiment, seed, status and
metrics, per experiment the codes of the fields that vary. Texts and arrays stay in the file.

A sweep that is running only adds rows, so a refresh reads those above the last id. If rows were
removed (failed runs that are done again, say), the totals differ, and all is read again. Between
two refreshes the file is closed: whoever has it open keeps its log from being removed.
"""

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from elegans.explorer.settings import Settings
from elegans.runs import METRICS, STATUSES
from elegans.store.file import File, select_runs
from elegans.store.record import decode, digest
from elegans.store.schema import StoreError, rescue

ROWS_PER_BLOCK = 5_000
SECONDS_PER_STATEMENT = 2.0  # of this thread's computing: a busy machine is no reason to refuse
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_FOR_ANOTHER_READER = 0.1
STEPS_BETWEEN_CHECKS = 10_000  # of SQLite's machine
TABLES = f"""
    CREATE TABLE experiments (id INTEGER PRIMARY KEY, hash TEXT NOT NULL);
    CREATE INDEX by_hash ON experiments (hash);
    CREATE TABLE runs (id INTEGER PRIMARY KEY, experiment INTEGER, seed INTEGER, status INTEGER,
        finished REAL, {", ".join(f"{name} NUMERIC" for name in METRICS)});
    CREATE INDEX by_experiment ON runs (experiment, seed);
"""
DAMAGED = STATUSES.index("damaged")
NO_EXPERIMENT = -1  # of a damaged run


class Progress(NamedTuple):
    """How much of a store has been read: rows here and in the file."""

    experiments: int
    runs: int
    all_experiments: int
    all_runs: int

    @property
    def is_complete(self) -> bool:
        """Whether all that the file had at the last look is here."""
        return (self.experiments, self.runs) == (self.all_experiments, self.all_runs)


class Timeout(ValueError):
    """A statement that took longer than it may."""


class Index:
    """The narrow copy of the store at `path`; `refresh` brings it up to date."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings = Settings()
        self.version = 0  # grows with every change of what is here
        self.error = ""
        self._file = File(path, readonly=True)
        self._memory: sqlite3.Connection
        self._lock = threading.RLock()  # of the copy
        self._loading = threading.Lock()  # one refresh at a time
        self._looked = 0.0
        self._state: object = None  # of the file and its log, when they were last read
        self._progress = Progress(0, 0, 0, 0)
        self._columns: set[int] = set()  # the numbers of fields that have a column
        self._counts = [0, 0]  # rows of experiments and runs that were read, damaged ones too
        self._last = [0, 0]  # their largest ids
        self._is_reading_again = False
        self._kept: dict[str, tuple[int, Any]] = {}
        self._clear()

    @property
    def progress(self) -> Progress:
        """How much has been read."""
        return self._progress

    def close(self) -> None:
        """Lets go of the file and the memory."""
        with self._loading, self._lock:
            self._file.close()
            self._memory.close()

    def refresh(self, seconds: float = float("inf")) -> None:
        """Reads what is new, for so many seconds at most; a later call goes on."""
        if not self._loading.acquire(timeout=min(seconds, SECONDS_FOR_ANOTHER_READER)):
            return  # the page says how far the other one is
        try:
            deadline = time.monotonic() + seconds
            if self._progress.is_complete and not self._has_changed():
                return
            while self._read_block() and time.monotonic() < deadline:
                pass
            self.error = ""
        except StoreError as error:
            self.error = str(error)
        finally:
            self._file.close()
            self._loading.release()

    def select(self, query: str, *values: Any) -> list[Any]:
        """What a query answers, which is stopped after two seconds."""
        with self._lock:
            deadline = time.thread_time() + SECONDS_PER_STATEMENT
            self._memory.set_progress_handler(
                lambda: time.thread_time() > deadline, STEPS_BETWEEN_CHECKS
            )
            try:
                return self._memory.execute(query, values).fetchall()
            except sqlite3.OperationalError as error:
                if "interrupted" not in str(error):
                    raise
                raise Timeout(
                    f"The answer takes longer than {SECONDS_PER_STATEMENT:.0f} s. Filter first."
                ) from error
            finally:
                self._memory.set_progress_handler(None, 0)

    def kept(self, name: str, answer: Callable[[], Any]) -> Any:
        """An answer that is asked for again and again, until what is here changes."""
        if self._kept.get(name, (None, None))[0] != self.version:
            self._kept[name] = (self.version, answer())
        return self._kept[name][1]

    def define(self, name: str, function: Any) -> None:
        """Makes a function of codes callable in the next query; hold `lock` for both."""
        self._memory.create_function(name, 1, function, deterministic=True)

    @property
    def lock(self) -> threading.RLock:
        """Held by whoever defines a function and then selects with it."""
        return self._lock

    def _clear(self) -> None:
        with self._lock:
            self._memory = sqlite3.connect(
                ":memory:", check_same_thread=False, isolation_level=None
            )
            self._memory.executescript(TABLES)
            self._memory.create_aggregate("quartiles", 1, Quartiles)  # type: ignore[arg-type]
            self.settings, self._columns = Settings(), set()
            self._counts, self._last = [0, 0], [0, 0]
            self.version += 1

    def _has_changed(self) -> bool:
        """Whether somebody wrote to the file since the last look, at most twice per second."""
        if time.monotonic() - self._looked < SECONDS_BETWEEN_LOOKS:
            return False
        self._looked = time.monotonic()
        return state_of(self.path) != self._state

    def _read_block(self) -> bool:
        """Reads a block of experiments or, if there are no more, of runs; whether there is more."""
        self._state = state_of(self.path)  # before reading: what comes meanwhile is seen next time
        with self._file.reading() as is_there:
            if not is_there:
                raise StoreError(f"There is no store at {self.path} any more.")
            totals = dict(self._file.rows("SELECT name, number FROM totals"))
            expected = [totals.get(name, 0) for name in (b"experiments", b"runs")]
            texts = self._file.rows(
                "SELECT id, hash, json, checksum FROM experiments WHERE id > ? ORDER BY id LIMIT ?",
                self._last[0],
                ROWS_PER_BLOCK,
            )
            rows = []
            if len(texts) < ROWS_PER_BLOCK:
                query = f"{select_runs(self._file.connection)} WHERE id > ? ORDER BY id LIMIT ?"
                rows = self._file.rows(query, self._last[1], ROWS_PER_BLOCK)
        with self._lock:
            self._memory.execute("BEGIN")
            self._add_experiments(texts)
            self._add_runs(rows)
            self._memory.execute("COMMIT")
            for i, block in enumerate((texts, rows)):
                self._counts[i] += len(block)
                self._last[i] = block[-1][0] if block else self._last[i]
            self.version += bool(texts or rows)
        self._progress = Progress(*self._counts, *expected)
        if len(texts) == ROWS_PER_BLOCK or len(rows) == ROWS_PER_BLOCK:
            return True
        if self._counts == expected:
            self._is_reading_again = False
            return False
        if self._is_reading_again:
            raise StoreError(f"{self.path}: rows are missing. {rescue(self.path)}")
        self._is_reading_again = True  # rows were removed since they were read
        self._clear()
        return True

    def _add_experiments(self, rows: list[Any]) -> None:
        experiments = []
        for number, *texts, total in rows:
            with suppress(ValueError, AttributeError, TypeError):  # damaged, or not JSON
                if digest(number, *texts) == total:
                    name, text = (part.decode() for part in texts)
                    experiments.append((number, name, self.settings.add(text)))
        for field in self.settings.fields.values():
            if field.varies and field.number not in self._columns:
                # Until now every experiment had the field's first value, whose code is zero.
                self._memory.execute(
                    f"ALTER TABLE experiments ADD COLUMN {field.column} INTEGER NOT NULL DEFAULT 0"
                )
                self._columns.add(field.number)
        columns = sorted(self._columns)
        names = ", ".join(["id", "hash", *(f"f{i}" for i in columns)])
        marks = ", ".join("?" * (len(columns) + 2))
        self._memory.executemany(
            f"INSERT INTO experiments ({names}) VALUES ({marks})",
            [(id_, name, *(codes.get(i, 0) for i in columns)) for id_, name, codes in experiments],
        )

    def _add_runs(self, rows: list[Any]) -> None:
        block = decode(rows)
        block["experiment"][~block["sound"]] = NO_EXPERIMENT
        codes = [STATUSES.index(s) if s in STATUSES else DAMAGED for s in block["status"]]
        columns = [block[name].tolist() for name in ("id", "experiment", "seed")]
        numbers = [block[name].tolist() for name in ("finished", *METRICS)]
        marks = ", ".join("?" * (5 + len(METRICS)))
        self._memory.executemany(
            f"INSERT INTO runs VALUES ({marks})", zip(*columns, codes, *numbers, strict=True)
        )
        self._memory.execute(  # a run whose experiment is damaged has no settings: it is, too
            f"UPDATE runs SET experiment = {NO_EXPERIMENT}, status = {DAMAGED} "
            "WHERE id > ? AND experiment NOT IN (SELECT id FROM experiments)",
            (self._last[1],),
        )


def state_of(path: Path) -> object:
    """What changes when a store is written: when and how long its file and its log are."""
    states = []
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            state = file.stat()
            states.append((state.st_mtime_ns, state.st_size))
        except OSError:
            states.append((0, 0))
    return states


class Quartiles(list[float | int]):
    """An aggregate of SQL: the three quartiles, as text, interpolated as pandas does."""

    def step(self, value: float | int | None) -> None:
        """Takes a value; a missing one does not count."""
        if value is not None:
            self.append(value)

    def finalize(self) -> str | None:
        """The quartiles, separated by spaces."""
        if not self:
            return None
        self.sort()
        return " ".join(repr(self._at(share)) for share in (0.25, 0.5, 0.75))

    def _at(self, share: float) -> float:
        place = share * (len(self) - 1)
        low = int(place)
        high = min(low + 1, len(self) - 1)
        return float(self[low] + (place - low) * (self[high] - self[low]))
