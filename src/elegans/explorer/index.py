"""A store's numbers and settings in memory, as NumPy columns, which a page groups and counts.

The file is read in blocks, in transactions of their own, so that a sweep can go on writing; every
row is compared with its checksum, as `Store.table` does, and one that does not fit counts as
damaged and nothing else. What is kept is narrow: per run its experiment, seed, status and metrics,
per experiment the codes of the fields that vary. Texts and arrays stay in the file.

Runs are read as soon as their experiments are, so that a page has something to show before all of
a large store has been read. A sweep that is running only adds rows, so a refresh reads those above
the last id. If rows were removed (failed runs that are done again, say), the totals differ, and all
is read again. Between two refreshes the file is closed: whoever has it open keeps its log from
being removed.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elegans.explorer.limits import limited
from elegans.explorer.settings import Field, Settings
from elegans.runs import METRICS, STATUSES
from elegans.store.file import File, select_runs
from elegans.store.record import decode, digest
from elegans.store.schema import StoreError, rescue

ROWS_PER_BLOCK = 5_000
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_FOR_ANOTHER_READER = 0.1
DAMAGED = STATUSES.index("damaged")
NO_EXPERIMENT = -1  # of a damaged run
TYPES = {"id": np.int64, "place": np.int32, "seed": np.int64, "status": np.int8}
COLUMNS = (*TYPES, "finished", *METRICS)


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


class Column:
    """Numbers of one type that grow at the end; a view of them stays as it is."""

    def __init__(self, dtype: Any, length: int = 0) -> None:
        self._data = np.zeros(length, dtype)
        self._length = length

    @property
    def values(self) -> np.ndarray:
        """All of them."""
        return self._data[: self._length]

    def extend(self, values: Any) -> None:
        """Adds numbers at the end, in new memory of twice the size if there is no room."""
        end = self._length + len(values)
        if end > len(self._data):
            data = np.zeros(max(end, 2 * len(self._data)), self._data.dtype)
            data[: self._length] = self.values
            self._data = data
        self._data[self._length : end] = values
        self._length = end


class Index:
    """The narrow copy of the store at `path`; `refresh` brings it up to date.

    Hold `lock` while asking several things that have to be of one moment.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = 0  # grows with every change of what is here
        self.error = ""
        self.lock = threading.RLock()
        self._file = File(path, readonly=True)
        self._loading = threading.Lock()  # one refresh at a time
        self._looked = 0.0
        self._state: object = None  # of the file and its log, when they were last read
        self._progress = Progress(0, 0, 0, 0)
        self._is_reading_again = False
        self._kept: dict[str, tuple[int, Any]] = {}
        self._clear()

    @property
    def progress(self) -> Progress:
        """How much has been read."""
        return self._progress

    def close(self) -> None:
        """Lets go of the file."""
        with self._loading:
            self._file.close()

    def refresh(self, seconds: float = float("inf")) -> None:
        """Reads what is new, for so many seconds at most; a later call goes on."""
        patience = 0.0 if self._progress.runs else min(seconds, SECONDS_FOR_ANOTHER_READER)
        if not self._loading.acquire(timeout=patience):
            return  # there is something to show, and the page says how far the other one is
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

    def column(self, name: str) -> np.ndarray:
        """A column of runs, in the order of their ids: one of `COLUMNS`, not a number if missing.

        "place" is the place of the run's experiment among those that were read.
        """
        return self._runs[name].values

    def codes(self, field: Field) -> np.ndarray:
        """The code of a field in every experiment."""
        column = self._codes.get(field.number)
        return np.zeros(len(self.hashes), np.int32) if column is None else column.values

    def seeds_of(self, name: str) -> np.ndarray:
        """The runs of an experiment, given by hash: their rows in the columns, by seed."""
        with self.lock:
            if name not in self.hashes:
                return np.zeros(0, np.intp)
            rows = np.flatnonzero(self.column("place") == self.hashes.index(name))
            return rows[np.argsort(self.column("seed")[rows], kind="stable")]

    def varied(self, name: str) -> list[tuple[Field, Any]]:
        """The settings in which experiments differ, with those of one that is given by hash."""
        with self.lock:
            if name not in self.hashes:
                return []
            place = self.hashes.index(name)
            fields = self.settings.varying()
            return [(field, field.values[self.codes(field)[place]]) for field in fields]

    def metrics(self, row: int) -> dict[str, Any]:
        """What was measured of a run."""
        return {name: number(self.column(name)[row]) for name in METRICS}

    def kept(self, name: str, answer: Callable[[], Any]) -> Any:
        """An answer that is asked for again and again, until what is here changes."""
        if self._kept.get(name, (None, None))[0] != self.version:
            self._kept[name] = (self.version, answer())
        return self._kept[name][1]

    def _clear(self) -> None:
        with self.lock:
            self.settings = Settings()
            self.hashes: list[str] = []  # of experiments, by place
            self._ids = Column(np.int64)  # of experiments, by place
            self._codes: dict[int, Column] = {}  # by the number of a field that varies
            self._runs = {name: Column(TYPES.get(name, float)) for name in COLUMNS}
            self._counts = [0, 0]  # rows of experiments and runs that were read, damaged ones too
            self._last = [0, 0]  # their largest ids
            self.version += 1

    def _has_changed(self) -> bool:
        """Whether somebody wrote to the file since the last look, at most twice per second."""
        if time.monotonic() - self._looked < SECONDS_BETWEEN_LOOKS:
            return False
        self._looked = time.monotonic()
        return state_of(self.path) != self._state

    def _read_block(self) -> bool:
        """Reads a block of experiments, and runs of those that were read; whether there is more."""
        self._state = state_of(self.path)  # before reading: what comes meanwhile is seen next time
        with limited(self._file):
            totals = dict(self._file.rows("SELECT name, number FROM totals"))
            expected = [totals.get(name, 0) for name in (b"experiments", b"runs")]
            texts = self._file.rows(
                "SELECT id, hash, json, checksum FROM experiments WHERE id > ? ORDER BY id LIMIT ?",
                self._last[0],
                ROWS_PER_BLOCK,
            )
            has_all = len(texts) < ROWS_PER_BLOCK
            known = texts[-1][0] if texts else self._last[0]
            rows = self._rows(None if has_all else known)
        with self.lock:
            self._add_experiments(texts)
            self._add_runs(rows)
            for i, block in enumerate((texts, rows)):
                self._counts[i] += len(block)
                self._last[i] = block[-1][0] if block else self._last[i]
            self.version += bool(texts or rows)
        self._progress = Progress(*self._counts, *expected)
        if not has_all or len(rows) == ROWS_PER_BLOCK:
            return True
        if self._counts == expected:
            self._is_reading_again = False
            return False
        if self._is_reading_again:
            raise StoreError(f"{self.path}: rows are missing. {rescue(self.path)}")
        self._is_reading_again = True  # rows were removed since they were read
        self._clear()
        return True

    def _rows(self, known: int | None) -> list[Any]:
        """The next runs; with `known`, up to the first whose experiment has a larger id."""
        count = ROWS_PER_BLOCK
        if known is not None:
            query = "SELECT experiment FROM runs NOT INDEXED WHERE id > ? ORDER BY id LIMIT ?"
            names = [one for (one,) in self._file.rows(query, self._last[1], count)]
            is_later = (isinstance(one, int) and one > known for one in names)
            count = next((i for i, later in enumerate(is_later) if later), len(names))
        query = f"{select_runs(self._file.connection)} WHERE id > ? ORDER BY id LIMIT ?"
        return self._file.rows(query, self._last[1], count) if count else []

    def _add_experiments(self, rows: list[Any]) -> None:
        ids, codes, before = [], [], len(self.hashes)
        for id_, *texts, total in rows:
            with suppress(ValueError, AttributeError, TypeError):  # damaged, or not JSON
                if digest(id_, *texts) == total:
                    name, text = (part.decode() for part in texts)
                    codes.append(self.settings.add(text))
                    self.hashes.append(name)
                    ids.append(id_)
        self._ids.extend(ids)
        for field in self.settings.fields.values():
            if field.varies:
                if field.number not in self._codes:
                    # Until now every experiment had the field's first value, whose code is zero.
                    self._codes[field.number] = Column(np.int32, before)
                self._codes[field.number].extend([one.get(field.number, 0) for one in codes])

    def _add_runs(self, rows: list[Any]) -> None:
        block = decode(rows)
        ids = np.append(self._ids.values, np.iinfo(np.int64).max)  # every search ends at an id
        place = np.searchsorted(ids, block["experiment"])
        is_sound = block["sound"] & (ids[place] == block["experiment"])
        status = [STATUSES.index(s) if s in STATUSES else DAMAGED for s in block["status"]]
        # A run whose experiment is damaged has no settings: it is damaged, too.
        block["place"] = np.where(is_sound, place, NO_EXPERIMENT)
        block["status"] = np.where(is_sound, np.array(status, np.int8), DAMAGED)
        for name, column in self._runs.items():
            column.extend(block[name])


def number(value: float) -> float | int | None:
    """A number as Python has it: whole ones as integers, and nothing for what is not a number."""
    if np.isnan(value):
        return None
    return int(value) if float(value).is_integer() else float(value)


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
