"""A sweep: a list of points, each with several seeds, done once and kept.

A run is named by the hash of its experiment and its seed. What a store holds under that name is not
done again, so the same call goes on where it was stopped, and a larger sweep costs only what is
new.
"""

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.experiments.run import Probes, named
from elegans.runs import Runs
from elegans.store.store import Store
from elegans.sweeps.driver import complete
from elegans.sweeps.points import Point, grid, seeds_of
from elegans.sweeps.progress import Progress

KEEPABLE = ("params",)


class Sweep:
    """Every combination of the values in `over`, with every seed.

    Args:
        experiment: What all runs share.
        over: The values of each dotted field that varies, such as `{"model.width": [10, 100]}`; a
            mapping labels them, `{"model.init": {"dense": Uniform(), "2-sparse": Sparse(2)}}`. A
            field may be a whole part, "model" or "task".
        seeds: How many runs of each point there are, or their seeds.
        probes: Called as `probe(view)` at each evaluation; what they see is stored. Worker
            processes import them, so they are defined in a module, as functions or configurations.
        keep: "params" to store final weights too.
    """

    def __init__(
        self,
        experiment: Experiment,
        over: Mapping[str, Any] | None = None,
        seeds: int | Iterable[int] = 1,
        probes: Probes = (),
        keep: str | None = None,
    ) -> None:
        if not isinstance(experiment, Experiment):
            raise TypeError(
                f"Sweep: experiment is an Experiment; got {experiment!r}. A list of points goes "
                "into Sweep.of([(labels, experiment), ...])."
            )
        each = seeds_of(seeds)
        self._set([(point, each) for point in grid(experiment, over or {})], each, probes, keep)

    @classmethod
    def of(
        cls,
        points: Iterable[tuple[Any, ...]],
        seeds: int | Iterable[int] = 1,
        probes: Probes = (),
        keep: str | None = None,
    ) -> "Sweep":
        """A sweep of any list of labels and experiments (or computations).

        A point may have seeds of its own, (labels, experiment, seeds), in the place of `seeds`.
        """
        sweep, each = cls.__new__(cls), seeds_of(seeds)
        listed = [
            (Point.of(labels, experiment), seeds_of(its[0]) if its else each)
            for labels, experiment, *its in points
        ]
        sweep._set(listed, each, probes, keep)
        return sweep

    def _set(
        self,
        points: list[tuple[Point, tuple[int, ...]]],
        seeds: tuple[int, ...],
        probes: Probes,
        keep: str | None,
    ) -> None:
        if keep is not None and keep not in KEEPABLE:
            raise ValueError(f"Sweep: keep is 'params' or None; got {keep!r}.")
        self.points = [point for point, _ in points]
        self.seeds = tuple(dict.fromkeys(seed for _, its in points for seed in its)) or seeds
        self.pairs = [(point, seed) for point, its in points for seed in its]
        self.probes = named(probes)
        self.keep = keep

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.pairs)

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(name for point in self.points for name in point.labels))
        over = f" over {names}" if names else ""
        return f"Sweep({len(self.points)} points{over}, {len(self.seeds)} seeds)"

    def _repr_html_(self) -> str:
        rows = pd.DataFrame([point.labels for point in self.points[:20]])
        return f"<p>{self!r}</p>{rows.to_html(index=False)}"

    def run(
        self,
        store: Store | str | os.PathLike[str] | None = None,
        executor: Executor | None = None,
        workers: int | None = None,
        cluster: str | None = None,
        progress: bool | Progress = True,
    ) -> pd.DataFrame:
        """Does every run that is not stored yet, and returns a table with one row per run.

        Args:
            store: Where finished runs live, and where this sweep goes on from. None keeps them in
                memory.
            executor: Any `concurrent.futures.Executor`; None is local worker processes.
            workers: How many of those; 0 is none but this process, None one per core, unless there
                is too little work to be worth it.
            cluster: The address of a Dask scheduler, whose workers do the runs instead.
            progress: Whether to show it, or a meter to tell.

        Returns:
            The labels of the points, the seed, and what came out, in the order of the points. A run
            that raised has the status "failed"; its traceback is in the store.
        """
        return self.runs(store, executor, workers, cluster, progress).table

    def runs(
        self,
        store: Store | str | os.PathLike[str] | None = None,
        executor: Executor | None = None,
        workers: int | None = None,
        cluster: str | None = None,
        progress: bool | Progress = True,
    ) -> Runs:
        """As `run`, but the runs themselves: a sequence with `.table`, in the order of points."""
        return complete({"": self}, store, executor, workers, cluster, progress)[""]
