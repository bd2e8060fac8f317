"""The records of a store, one at a time: what a run is, its curves, and what probes saw.

Everything is read from the file when it is asked for, with checksums, and within limits: two
seconds of computing, and 64 MB for a blob once decompressed. What a record names is text.
"""

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from elegans.explorer.index import Index
from elegans.explorer.limits import limited
from elegans.runs import METRICS, Run
from elegans.store.arrays import unpack
from elegans.store.file import File
from elegans.store.kinds import PROBE
from elegans.store.record import COLUMNS, digest, from_row
from elegans.store.schema import StoreError

MAX_ARRAY_BYTES = 64 * 2**20  # of a blob once decompressed
CACHE_BYTES = 64 * 2**20
MIN_SECONDS_OF_SILENCE = 60.0  # after which a store may be at rest
GAPS_OF_SILENCE = 3.0  # in the longest time between the last runs
ARRAYS = COLUMNS.index("arrays")
Columns = dict[str, np.ndarray]


class NotThere(ValueError):
    """A run, a cell or an array that the store does not have."""


@dataclass(frozen=True)
class Record:
    """A run with its number, its settings as plain data, and the kinds of arrays that it has."""

    number: int
    run: Run
    settings: dict[str, Any]
    kinds: tuple[str, ...]

    @property
    def probes(self) -> list[str]:
        """The kinds that are of probes."""
        return [kind for kind in self.kinds if kind.startswith(PROBE)]


class Records:
    """A store of the explorer: its index, and its file for single records."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self._file = File(path, readonly=True)
        self._depth = 0
        with self._file.reading() as is_there:  # refuses what is not a store at once
            if not is_there:
                raise StoreError(f"There is no store at {path}; a sweep makes one.")
        self._file.close()
        self.index = Index(path)
        self._lock = threading.RLock()
        self._cache: OrderedDict[tuple[int, str], Columns] = OrderedDict()

    def close(self) -> None:
        """Lets go of the file."""
        self.index.close()
        with self._lock:
            self._file.close()

    def is_growing(self) -> bool:
        """Whether it has a log that was written to not long ago, as times between runs go."""
        log = self.path.with_name(self.path.name + "-wal")
        try:
            state = log.stat()
        except OSError:
            return False
        moments = sorted(filter(None, self.index.column("finished")[-20:].tolist()))
        gap = max((b - a for a, b in pairwise(moments)), default=0.0)
        silence = max(MIN_SECONDS_OF_SILENCE, GAPS_OF_SILENCE * gap)
        return state.st_size > 0 and time.time() - state.st_mtime < silence

    def experiment(self, name: str) -> dict[str, Any]:
        """The settings of an experiment, given by hash, as plain data."""
        with self.reading():
            rows = self._file.rows(
                "SELECT id, hash, json, checksum FROM experiments WHERE hash = ?", name
            )
        for number, *texts, total in rows:
            if digest(number, *texts) == total:
                try:
                    plain = json.loads(texts[1])
                except (ValueError, RecursionError) as error:
                    raise StoreError(f"Experiment {name} is not valid JSON.") from error
                if isinstance(plain, dict):
                    return plain
            raise StoreError(f"{self.path}: experiment {name} does not fit its checksum.")
        raise NotThere(f"Store {self.name} has no experiment {name!r}.")

    def record(self, name: str, seed: int) -> Record:
        """A run, given by the hash of its experiment and its seed."""
        with self.reading():
            settings = self.experiment(name)
            ((number,),) = self._file.rows("SELECT id FROM experiments WHERE hash = ?", name)
            ids = self._file.find(number, seed)
            if not ids:
                query = "SELECT seed FROM runs WHERE experiment = ? ORDER BY seed LIMIT 21"
                seeds = [str(other) for (other,) in self._file.rows(query, number)]
                there = ", ".join(seeds[:20]) + (" ..." if len(seeds) > 20 else "")
                raise NotThere(
                    f"Store {self.name} has no run of experiment {name} with seed {seed}. "
                    f"Seeds that it has: {there or 'none yet'}."
                )
            ((row,), columns) = next(iter(self._file.blocks(ids)))
            if not columns["sound"][0]:
                raise StoreError(
                    f"The run with seed {seed} is damaged: it does not fit its checksum. "
                    "A sweep does it again."
                )
            kinds = tuple(self._file.kinds(ids[0], row[ARRAYS]))
        return Record(ids[0], from_row(row, source="", hash=name), settings, kinds)

    def arrays(self, number: int, kind: str) -> Columns:
        """The columns of one kind of a run's arrays; an empty mapping if there are none."""
        key = (number, kind)
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
            with self.reading():
                (block,) = self._file.blocks([number])
                if not block.rows or not block.columns["sound"][0]:
                    raise StoreError(f"Run {number} is damaged or gone.")
                total = block.rows[0][ARRAYS]
                if kind not in self._file.kinds(number, total):
                    return {}
                (data,) = self._file.blobs(number, total, [kind]).values()
            try:
                columns = unpack(data, MAX_ARRAY_BYTES)
            except ValueError as error:
                raise StoreError(f"{kind.partition('.')[0]} of run {number}: {error}") from error
            self._cache[key] = columns
            while len(self._cache) > 1 and self._cached_bytes() > CACHE_BYTES:
                self._cache.popitem(last=False)
            return columns

    def probes(self, record: Record) -> Columns:
        """What all probes saw, by dotted name; "step" says when. A second name gets a suffix."""
        columns: Columns = {}
        for kind in record.probes:
            suffix = kind.rpartition(".")[2][:6]
            for name, values in self.arrays(record.number, kind).items():
                is_other = name in columns and name != "step"
                columns[f"{name} ({suffix})" if is_other else name] = values
        return columns

    def metrics(self, record: Record) -> dict[str, Any]:
        """What was measured, by name."""
        return {name: getattr(record.run, name) for name in METRICS}

    def _cached_bytes(self) -> int:
        return sum(a.nbytes for columns in self._cache.values() for a in columns.values())

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A block that reads one moment of the file, within limits; blocks may nest."""
        with self._lock:
            self._depth += 1
            try:
                with limited(self._file) if self._depth == 1 else nullcontext():
                    yield
            finally:
                self._depth -= 1
                if not self._depth:  # whoever has it open keeps its log from being removed
                    self._file.close()
