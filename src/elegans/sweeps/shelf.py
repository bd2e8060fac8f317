"""What a sweep needs of the place where it puts finished runs, and the one that is only memory."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from elegans.store.record import Record
from elegans.sweeps.unit import Key


@runtime_checkable
class Shelf(Protocol):
    """A place for finished runs, found by experiment hash and seed."""

    advice: str  # to whoever stops a sweep

    def outcomes(self, keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
        """What came out of some runs, for those that are here."""

    def holds(self, keys: Iterable[Key]) -> set[Key]:
        """Which of a few runs are here."""

    def register(self, experiments: Mapping[str, str]) -> None:
        """Notes experiments by hash, as JSON."""

    def add(self, records: Iterable[Record]) -> int:
        """Takes records in, all or none; returns how many are new."""


class Memory:
    """Finished runs for as long as this object lives."""

    advice = "Nothing is kept; with store='grid.db' it would be."

    def __init__(self) -> None:
        self._found: dict[Key, dict[str, Any]] = {}

    def __repr__(self) -> str:
        return "Memory()"

    def outcomes(self, keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
        """What came out of some runs, for those that are here."""
        return {key: self._found[key] for key in keys if key in self._found}

    def holds(self, keys: Iterable[Key]) -> set[Key]:
        """Nobody else adds, so nothing that is asked for is here."""
        return set()

    def register(self, experiments: Mapping[str, str]) -> None:
        """Needs no note."""

    def add(self, records: Iterable[Record]) -> int:
        """Takes records in without their curves; returns how many."""
        taken = {(r.experiment, r.seed): r._replace(history=None)._asdict() for r in records}
        self._found |= taken
        return len(taken)
