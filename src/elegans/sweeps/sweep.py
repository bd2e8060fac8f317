"""A sweep: a grid of experiments, each with several seeds, done once and kept.

A run is named by the hash of its experiment and its seed. What a store holds under that name is not
done again, so the same call goes on where it was stopped, and a larger grid costs only what is new.
"""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.experiments.plain import plain_number
from elegans.experiments.run import name_of
from elegans.store.record import Record
from elegans.store.store import Store
from elegans.store.table import typed
from elegans.sweeps.driver import drive
from elegans.sweeps.executors import InProcess, force
from elegans.sweeps.plan import Plan
from elegans.sweeps.progress import Progress, progress_for
from elegans.sweeps.shelf import Memory, Shelf
from elegans.sweeps.unit import Key, refuse_unimportable

COLUMNS = ("status", "success", "steps", "test_error", "test_loss", "train_error", "seconds")
SEEDS = 2**32  # JAX makes a key of 32 bits
Who = tuple[Executor | None, int | None, str | None]  # executor, workers, cluster
Probes = Mapping[str, Callable[..., Any]] | Iterable[Callable[..., Any]]


class Cell(NamedTuple):
    """One run of a sweep, before it is done; `name` is the hash of its experiment."""

    point: dict[str, Any]
    experiment: Experiment
    name: str
    seed: int

    @property
    def key(self) -> Key:
        """What the run is stored under."""
        return self.name, self.seed


@dataclass(frozen=True)
class Sweep:
    """Every combination of the values in `over`, with every seed.

    Args:
        experiment: What all runs share.
        over: The values of each dotted field that varies, such as `{"model.width": [10, 100]}`.
        seeds: One run of each grid point a seed.
        probes: Functions `probe(params, initial, task, key)`, called at each evaluation; what they
            see is stored. Worker processes import them, so they are defined in a module, or are
            frozen dataclasses of plain fields and configurations with a method `__call__`.
    """

    experiment: Experiment
    over: Mapping[str, Sequence[Any]]
    seeds: Iterable[int] = (0,)
    probes: Probes = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", tuple(plain_number(seed) for seed in self.seeds))
        for seed in self.seeds:
            what = "number the runs of a grid point"
            checks.whole("Sweep", "seeds", seed, low=0, high=SEEDS - 1, what=what)
        if not isinstance(self.probes, Mapping):
            object.__setattr__(self, "probes", tuple(self.probes))
        axes = {}
        for path, values in self.over.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise TypeError(f"Sweep: over[{path!r}] is a list of values; got {values!r}.")
            axes[path] = [plain_number(value) for value in values]
            if not axes[path]:
                raise ValueError(f"Sweep: over[{path!r}] is empty; it holds at least one value.")
        object.__setattr__(self, "over", axes)

    @property
    def named_probes(self) -> dict[str, Callable[..., Any]]:
        """The probes by name."""
        if isinstance(self.probes, Mapping):
            return dict(self.probes)
        return {name_of(probe): probe for probe in self.probes}

    def cells(self) -> list[Cell]:
        """All runs, in the order of the grid; a bad cell is refused by name."""
        cells = []
        for values in itertools.product(*self.over.values()):
            point = dict(zip(self.over, values, strict=True))
            try:
                experiment = self.experiment.varied(point)
            except (ValueError, TypeError) as error:
                where = ", ".join(f"{path} = {value!r}" for path, value in point.items())
                raise type(error)(f"Sweep, at {where}: {error}") from error
            name = experiment.name
            cells += [Cell(point, experiment, name, seed) for seed in self.seeds]
        return cells

    def run(
        self,
        store: Store | str | os.PathLike[str] | None = None,
        executor: Executor | None = None,
        workers: int | None = None,
        cluster: str | None = None,
        progress: bool | Progress = True,
    ) -> pd.DataFrame:
        """Does every run that is not stored yet, and returns a table with one row a run.

        Args:
            store: Where finished runs live, and where this sweep goes on from. None keeps them in
                memory only.
            executor: Any `concurrent.futures.Executor`; None is local worker processes.
            workers: How many of those; 0 is none but this process, None a core each, unless there
                is too little work to be worth it.
            cluster: The address of a Dask scheduler, whose workers do the runs instead.
            progress: Whether to show it, or a meter to tell.

        Returns:
            The fields in `over`, the seed, and what came out, in the order of the grid. A run that
            raised has the status "failed"; its traceback is in the store.
        """
        cells = self.cells()
        with _shelf(store) as shelf:
            self._complete(cells, shelf, (executor, workers, cluster), progress_for(progress))
            found = shelf.outcomes([cell.key for cell in cells])
        return typed(pd.DataFrame([row_of(cell, found[cell.key]) for cell in cells]))

    def _complete(self, cells: list[Cell], shelf: Shelf, who: Who, meter: Progress) -> None:
        """Does the runs of the cells that are not on the shelf, and puts them there."""
        found = shelf.outcomes([cell.key for cell in cells])
        _refuse_other_probes(found.values(), sorted(self.named_probes), shelf)
        new = {cell.key: cell for cell in cells if cell.key not in found}
        total = len(new) + len(found)
        shelf.register({cell.name: cell.experiment.to_json() for cell in new.values()})
        try:
            with meter.of(total, len(found)):
                for records, left in self._execute(list(new.values()), who, shelf):
                    shelf.add(records)
                    for record in records:
                        cell = new[record.experiment, record.seed]
                        meter.done(row_of(cell, record._asdict()), left)
        except KeyboardInterrupt:
            kept = len(shelf.outcomes([cell.key for cell in cells]))
            meter.note(f"Stopped: {shelf!r} has {kept} of {total} runs. {shelf.advice}")
            raise

    def _execute(
        self, cells: list[Cell], who: Who, shelf: Shelf
    ) -> Iterator[tuple[list[Record], float]]:
        """Does the runs of some cells; yields records, several at a time, and seconds left."""
        if not cells:
            return
        plan = Plan([cell.experiment for cell in cells])
        seconds = plan.seconds_left()
        with force(*who, self.named_probes, runs=len(cells), seconds=seconds) as hands:
            keys = [cell.key for cell in cells]
            texts = {cell.name: cell.experiment.to_json() for cell in cells}
            if not isinstance(hands.executor, InProcess):
                for text in texts.values():
                    refuse_unimportable(text)
            for records in drive(plan, hands, keys, texts, shelf.holds):
                yield records, plan.seconds_left() / plan.workers


@contextmanager
def _shelf(store: Store | str | os.PathLike[str] | None) -> Iterator[Shelf]:
    """The place that is meant, closed afterwards if it was opened here."""
    if store is None:
        yield Memory()
    elif isinstance(store, Store):
        yield store
    else:
        with Store(store) as opened:
            yield opened


def row_of(cell: Cell, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the sweep's table."""
    point = {path: _shown(value) for path, value in cell.point.items()}
    return {**point, "seed": cell.seed, **{name: outcome[name] for name in COLUMNS}}


def _shown(value: Any) -> Any:
    """A grid value as a cell of a table: configurations as they would be typed."""
    return value if isinstance(value, int | float | str | None) else checks.shown(value)


def _refuse_other_probes(
    found: Iterable[Mapping[str, Any]], names: Sequence[str], shelf: Shelf
) -> None:
    """Refuses to go on in a store whose runs were watched by other probes."""
    for outcome in found:
        if outcome["status"] != "failed" and outcome["probed"] != ",".join(names):
            raise ValueError(
                f"{shelf!r} has runs of this sweep with the probes {outcome['probed']!r}, and now "
                f"they are {','.join(names)!r}. Use another store, or the same probes."
            )
