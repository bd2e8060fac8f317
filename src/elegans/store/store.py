"""Where finished runs live: an SQLite file, one row per run, found by (experiment hash, seed).

A store is data. Reading it imports nothing that it names, opens the file read-only, and believes
no row that does not fit its checksum: such a run has the status "damaged", and a sweep does it
again. A record is a function of its experiment and seed, so a second record of the same run must
agree with the first; it may bring probes or weights that the first did not have. What probes saw
is found by run, name and settings of the probe.

Readers work while a sweep writes, and see whole transactions only; several drivers may share a
store. It lies on a disk of the machine that writes it: SQLite's log needs shared memory, which
network file systems do not have. `Store(":memory:")` lives as long as the object.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from elegans.runs import Key, Run
from elegans.store.arrays import Lazy, unpack
from elegans.store.file import File
from elegans.store.kinds import PROBE, packed, probe_kind, refuse_difference
from elegans.store.record import COLUMNS, Row, from_row
from elegans.store.schema import MEMORY, StoreError

Path_ = str | os.PathLike[str]
NO_PROBES: Mapping[str, str] = MappingProxyType({})
KEYS_WORTH_A_SCAN = 1_000  # more are looked for in one pass over all runs
ARRAYS, STATUS = COLUMNS.index("arrays"), COLUMNS.index("status")


class Store:
    """Finished runs in the file at `path`, which the first write makes if it is not there."""

    def __init__(self, path: Path_, readonly: bool = False) -> None:
        self.path = Path(path)
        self._file = File(self.path, readonly)
        with self._file.reading():  # refuses what is not a store at once
            pass

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def __len__(self) -> int:
        """How many runs are stored, damaged ones included."""
        with self._file.reading() as is_there:
            query = "SELECT count(*) FROM runs NOT INDEXED"
            return int(self._file.rows(query)[0][0]) if is_there else 0

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file; a later use opens it again. A store in memory stays."""
        if str(self.path) != MEMORY:
            self._file.close()

    def register(self, experiments: Mapping[str, str]) -> None:
        """Notes experiments by hash, as JSON, in this order, which is the order of tables."""
        file = self._file
        with file.writing():
            known = dict(file.experiments().values())
            for name, text in experiments.items():
                if name not in known:
                    file.register(name, text)
            file.forget_experiments()

    def add(
        self,
        runs: Iterable[Run],
        probes: Mapping[str, str] = NO_PROBES,
        keep: Collection[str] = (),
    ) -> int:
        """Stores runs of registered experiments, all or none.

        Args:
            runs: Finished runs. One that is stored already must agree with what is stored.
            probes: The settings of each probe, as JSON, by name.
            keep: "params" if the final weights are to be stored.

        Returns:
            How many of the runs the store did not have, or not with these probes and weights.

        Raises:
            StoreError: A run differs from the stored one, or the store cannot be written.
        """
        return self.take((run, packed(run, probes, keep)) for run in runs)

    def merge(self, other: "Store | Path_") -> int:
        """Takes over what this store lacks of another one; returns the number of runs."""
        source = other if isinstance(other, Store) else Store(other, readonly=True)
        source._refuse_absent()
        self.register(source.experiments())
        return self.take(source._whole())

    def forget_failed(self) -> int:
        """Removes the runs that failed, so that a sweep does them again; returns how many."""
        return self._forget(lambda run: run.status == "failed")

    def forget_other_code(self, code: str) -> int:
        """Removes the runs whose versions name another "code" than this; returns how many."""
        return self._forget(lambda run: code_of(run.versions) != code)

    def experiments(self) -> dict[str, str]:
        """Every experiment as JSON, by hash, in the order in which they were registered."""
        with self._file.reading() as is_there:
            return dict(self._file.experiments().values()) if is_there else {}

    def keys(self) -> set[Key]:
        """The experiment hash and seed of every run that is stored and not damaged."""
        return {key for key, _, is_sound in self._rows() if is_sound}

    def lacking(
        self,
        keys: Iterable[Key],
        probes: Mapping[str, str] = NO_PROBES,
        keep: Collection[str] = (),
    ) -> set[Key]:
        """Which runs are not there, are damaged, or lack one of these probes or weights.

        A failed run is there. Arrays are read and compared with their checksums.
        """
        wanted = set(keys)
        kinds = {probe_kind(name, text) for name, text in probes.items()} | {"params"} & set(keep)
        with self._file.reading():
            rows = self._rows(wanted)
            return wanted - {
                key for key, row, is_sound in rows if is_sound and self._has(row, kinds)
            }

    def version(self) -> int:
        """A number that changes when another connection has written since it was last asked."""
        with self._file.reading() as is_there:
            return int(self._file.rows("PRAGMA data_version")[0][0]) if is_there else 0

    def runs(self, keys: Sequence[Key], probes: Mapping[str, str] = NO_PROBES) -> list[Run]:
        """The runs of these keys, in this order, with what these probes saw.

        Arrays are read when they are asked for. A damaged record is a run of status "damaged".
        """
        kinds = frozenset(probe_kind(name, text) for name, text in probes.items())
        texts = self.experiments()
        runs: dict[Key, Run] = {}
        for key, row, is_sound in self._rows(set(keys)):
            rest: dict[str, Any] = {"source": texts[key[0]], "hash": key[0]}
            if is_sound:
                runs[key] = from_row(row, arrays=self._arrays(row[0], kinds), **rest)
            else:
                runs.setdefault(key, Run(seed=key[1], status="damaged", **rest))
        for key in keys:
            if key not in runs:
                raise StoreError(f"{self} has no run of experiment {key[0]} with seed {key[1]}.")
        return [runs[key] for key in keys]

    def table(self, where: Mapping[str, Any] = MappingProxyType({})) -> pd.DataFrame:
        """One row per run: its number, experiment, the experiment's fields, seed, what came out.

        Args:
            where: Columns and the value, or list of values, that the rows have there, such as
                `{"status": "done", "model.width": [10, 100]}`.

        Returns:
            Rows in the order of the experiments and seeds. Fields are dotted columns, `task.n` or
            `model.init.s`. A run whose record is damaged has that status, and no numbers.
        """
        from elegans.store import table

        self._refuse_absent()
        with self._file.reading():
            blocks = [block.columns for block in self._file.blocks()]
            experiments = self._file.experiments()
        return table.selected(table.joined(blocks, experiments), where)

    def history(self, run: int | pd.Series) -> pd.DataFrame:
        """The curves of a run, given its number in the table or its row: one row per evaluation."""
        return pd.DataFrame(dict(self._arrays(number_of(run)).get("history", {})))

    def probes(self, run: int | pd.Series) -> dict[str, np.ndarray]:
        """What every probe saw in a run, stacked over evaluations, by dotted name."""
        return dict(self._arrays(number_of(run)).get("probes", {}))

    def export(self, path: Path_) -> None:
        """Writes the whole table to a `.parquet` or `.csv` file."""
        from elegans.store import table

        table.export(self.table(), Path(path))

    def _refuse_absent(self) -> None:
        with self._file.reading() as is_there:
            if not is_there:
                raise StoreError(f"There is no store at {self.path}; a sweep makes one.")

    def _rows(self, keys: Collection[Key] | None = None) -> Iterator[tuple[Key, Row, bool]]:
        """Runs by key, all or some: their rows, and whether these fit their checksums."""
        with self._file.reading() as is_there:
            experiments = self._file.experiments() if is_there else {}
            ids = None
            if keys is not None and len(keys) <= KEYS_WORTH_A_SCAN:
                numbers = {name: number for number, (name, _) in experiments.items()}
                places = [(numbers[name], seed) for name, seed in keys if name in numbers]
                ids = [id_ for place in places for id_ in self._file.find(*place)]
            for rows, columns in self._file.blocks(ids) if is_there else ():
                parts = (columns[name].tolist() for name in ("experiment", "seed", "sound"))
                for row, number, seed, is_sound in zip(rows, *parts, strict=True):
                    key = (experiments[number][0], seed) if number in experiments else None
                    if key is not None and (keys is None or key in keys):
                        yield key, row, is_sound

    def _has(self, row: Row, kinds: set[str]) -> bool:
        """Whether a sound run has arrays of these kinds, and they and its curves are sound."""
        try:
            stored = self._file.kinds(row[0], row[ARRAYS])
            if row[STATUS] == b"failed" or "table" in stored:  # a computation has nothing else
                kinds = set()
            self._file.blobs(row[0], row[ARRAYS], kinds | ({"history", "table"} & stored.keys()))
        except StoreError:
            return False
        return True

    def _arrays(self, number: int, probes: Collection[str] | None = None) -> Lazy:
        """The arrays of a run, of all probes or of some, to be read when they are asked for."""
        return Lazy(lambda: self._kinds(number, probes)[1], partial(self._columns, number, probes))

    def _kinds(
        self, number: int, probes: Collection[str] | None
    ) -> tuple[int, dict[str, list[str]]]:
        """What is stored of a run, by the kind under which a `Run` has it, and the checksum."""
        with self._file.reading() as is_there:
            blocks = list(self._file.blocks([number])) if is_there else []
            if not any(block.rows for block in blocks):
                raise ValueError(f"{self} has no run {number}; the column 'run' of its table does.")
            if not blocks[0].columns["sound"][0]:
                raise StoreError(f"{self.path}: run {number} is damaged. A sweep does it again.")
            total = int(blocks[0].columns["arrays"][0])
            stored = self._file.kinds(number, total)
        groups: dict[str, list[str]] = {}
        for kind in stored:
            if not kind.startswith(PROBE):
                groups[kind] = [kind]
            elif probes is None or kind in probes:
                groups.setdefault("probes", []).append(kind)
        return total, groups

    def _columns(
        self, number: int, probes: Collection[str] | None, kind: str
    ) -> dict[str, np.ndarray]:
        columns: dict[str, np.ndarray] = {}
        with self._file.reading():
            total, groups = self._kinds(number, probes)
            for stored, data in self._file.blobs(number, total, groups[kind]).items():
                try:
                    part = unpack(data)
                except ValueError as error:
                    raise StoreError(f"{self.path}: {stored} of run {number}: {error}") from error
                for name in columns.keys() & part.keys() - {"step"}:
                    raise ValueError(
                        f"{self}: run {number} has {name!r} of probes with several settings. "
                        "Say which: store.runs([key], probes={name: settings})."
                    )
                columns |= part
        return columns

    def take(self, records: Iterable[tuple[Run, Mapping[str, bytes]]]) -> int:
        """Stores runs with their packed arrays, all or none; how many were new, or brought more."""
        with self._file.writing():
            numbers = {name: n for n, (name, _) in self._file.experiments().items()}
            unsealed: list[int] = []
            count = sum(self._take_one(numbers, *record, unsealed) for record in records)
            self._file.seal(unsealed)
            return count

    def _take_one(
        self,
        numbers: Mapping[str, int],
        run: Run,
        blobs: Mapping[str, bytes],
        unsealed: list[int],
    ) -> bool:
        """Stores one run; `unsealed` has the rows that are to get their checksums together."""
        if run.hash not in numbers:
            raise ValueError(f"{self}: register experiment {run.hash} before its runs.")
        file, place = self._file, (numbers[run.hash], run.seed)
        for id_ in file.find(*place):
            file.seal(unsealed)  # the row that is there may be one of them
            unsealed.clear()
            records = list(self._whole({run.key}))
            if not records:
                file.prepare_repair()
                file.delete(file.find(*place))
                break
            ((old, stored),) = records
            if run.status == "failed":  # the same once more, or bad luck on another machine
                return False
            if old.status == "failed":
                file.delete([id_])
                break
            refuse_difference(self.path, old, run)
            additions = {kind: data for kind, data in blobs.items() if kind not in stored}
            if additions:
                file.attach(id_, additions)
                file.seal([id_])
            return bool(additions)
        number = file.insert(place[0], run)
        file.attach(number, blobs)
        unsealed.append(number)
        return True

    def _whole(self, keys: Collection[Key] | None = None) -> Iterator[tuple[Run, dict[str, bytes]]]:
        """Runs with their packed arrays, without those of which anything is damaged."""
        with self._file.reading():
            texts = self.experiments()
            for key, row, is_sound in self._rows(keys):
                with suppress(StoreError):
                    if is_sound:
                        blobs = self._file.blobs(row[0], row[ARRAYS])
                        arrays = self._arrays(row[0])
                        yield from_row(row, source=texts[key[0]], hash=key[0], arrays=arrays), blobs

    def _forget(self, is_unwanted: Callable[[Run], bool]) -> int:
        with self._file.writing():
            rows = [row for _, row, is_sound in self._rows() if is_sound]
            runs = [(row[0], from_row(row, source="", hash="")) for row in rows]
            return self._file.delete([number for number, run in runs if is_unwanted(run)])


def code_of(versions: str) -> object:
    """The "code" of a run's versions, None if they have none."""
    try:
        plain = json.loads(versions or "{}")
    except (ValueError, RecursionError):
        return None
    return plain.get("code") if isinstance(plain, dict) else None


def number_of(run: int | pd.Series) -> int:
    """The number of a run, given that or its row of the table."""
    return int(run["run"] if isinstance(run, pd.Series) else run)
