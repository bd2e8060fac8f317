"""A sweep: a grid of experiments, each with several seeds."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from elegans import checks
from elegans.sweeps.experiment import Experiment
from elegans.sweeps.plain import plain_number
from elegans.sweeps.progress import Progress, progress_for
from elegans.sweeps.run import Run
from elegans.training import program
from elegans.training.loop import Job, train

COLUMNS = ("status", "success", "steps", "test_error", "test_loss", "train_error", "seconds")


class Cell(NamedTuple):
    """One run of a sweep, before it is done."""

    point: dict[str, Any]
    experiment: Experiment
    seed: int


@dataclass(frozen=True)
class Sweep:
    """Every combination of the values in `over`, with every seed.

    Args:
        experiment: What all runs share.
        over: The values of each dotted field that varies, such as `{"model.width": [10, 100]}`.
        seeds: One run of each grid point a seed.
    """

    experiment: Experiment
    over: Mapping[str, Sequence[Any]]
    seeds: Iterable[int] = (0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seeds", tuple(plain_number(seed) for seed in self.seeds))
        for seed in self.seeds:
            checks.whole("Sweep", "seeds", seed, low=0, what="number the runs of a grid point")
        axes = {}
        for path, values in self.over.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise TypeError(f"Sweep: over[{path!r}] is a list of values; got {values!r}.")
            axes[path] = [plain_number(value) for value in values]
            if not axes[path]:
                raise ValueError(f"Sweep: over[{path!r}] is empty; it holds at least one value.")
        object.__setattr__(self, "over", axes)

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
            cells += [Cell(point, experiment, seed) for seed in self.seeds]
        return cells

    def run(
        self,
        store: None = None,
        executor: None = None,
        workers: int | None = 0,
        progress: bool | Progress = True,
    ) -> pd.DataFrame:
        """Does every run, in this process, and returns a table with one row a run.

        The columns are the fields in `over`, the seed, and what came out.
        """
        cells = self.cells()
        meter = progress_for(progress)
        rows: dict[int, dict[str, Any]] = {}
        with meter.of(len(cells)):
            for i, run in execute(cells):
                rows[i] = row_of(cells[i], run)
                meter.done(rows[i])
        return pd.DataFrame([rows[i] for i in range(len(cells))])


def execute(cells: Sequence[Cell]) -> Iterator[tuple[int, Run]]:
    """Does the runs of all cells, those of one structure together, as they finish."""
    for group in by_structure(cells):
        for outcome in train(_job(i, cells[i]) for i in group):
            cell = cells[outcome.number]
            yield outcome.number, Run.of(cell.experiment, cell.seed, outcome)


def by_structure(cells: Sequence[Cell]) -> list[list[int]]:
    """The numbers of the cells that share compiled programs, the costliest kind first."""
    groups: dict[Any, list[int]] = {}
    for i, cell in enumerate(cells):
        experiment = cell.experiment
        structure, _ = program.split(experiment.task, experiment.model, experiment.training)
        groups.setdefault(structure, []).append(i)
    return list(groups.values())


def row_of(cell: Cell, run: Run) -> dict[str, Any]:
    """A row of the sweep's table."""
    point = {path: _shown(value) for path, value in cell.point.items()}
    return {**point, "seed": cell.seed, **{name: getattr(run, name) for name in COLUMNS}}


def _job(i: int, cell: Cell) -> Job:
    experiment = cell.experiment
    return Job(i, experiment.task, experiment.model, experiment.training, cell.seed)


def _shown(value: Any) -> Any:
    """A grid value as a cell of a table: configurations as they would be typed."""
    return value if isinstance(value, int | float | str | None) else checks.shown(value)
