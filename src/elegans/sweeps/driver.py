"""The driver of sweeps: one schedule for all of them, one pool, one writer.

The driver hands loads of runs to an executor and stores what comes back. It alone writes: it waits
for any load, takes all that are back into one transaction, and only then gives out more. So at any
moment the store holds every run whose load has come back, and a process that dies takes at most the
loads under way with it.

A run that starts from another run's end waits for it: runs are done in levels, parents first.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from typing import Any, NamedTuple, Protocol, runtime_checkable

from elegans.experiments.plain import to_json
from elegans.experiments.run import parent_of, versions
from elegans.protocols import Probe
from elegans.runs import Key, Run, Runs
from elegans.store.schema import MEMORY
from elegans.store.store import Store
from elegans.sweeps.executors import Choice, Pool, default_workers, pool
from elegans.sweeps.executors.local import WorkerLost
from elegans.sweeps.points import Point
from elegans.sweeps.progress import Progress, progress_for
from elegans.sweeps.requests import (
    Request,
    failed_run,
    perform,
    probe_settings,
    runs_of,
    unimportable,
)
from elegans.sweeps.schedule import Load, Schedule

CHANCES = 3  # workers that a run may take down with it before it counts as failed


class SweepError(RuntimeError):
    """A sweep that cannot go on; what was finished is stored."""


@runtime_checkable
class Points(Protocol):
    """What the driver needs of a sweep."""

    pairs: list[tuple[Point, int]]  # with the seed of each run
    probes: dict[str, Probe]
    keep: str | None


class Wanted(NamedTuple):
    """A run that somebody wants, and what is to be stored of it."""

    point: Point
    seed: int
    probes: tuple[tuple[str, Probe], ...]
    keep: tuple[str, ...]

    @property
    def key(self) -> Key:
        """What the run is stored under."""
        return self.point.key(self.seed)

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the probes by name."""
        return {name: probe_settings(probe) for name, probe in self.probes}


def complete(
    sweeps: Mapping[str, Points],
    store: Store | str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool | Progress = True,
) -> dict[str, Runs]:
    """Does every run of some sweeps that is not stored yet, in one schedule, and returns them all.

    The arguments are those of `Sweep.run`.
    """
    choice = Choice(executor, workers, cluster)
    choice.check()
    place = store if isinstance(store, Store) else Store(MEMORY if store is None else store)
    meter = progress_for(progress)
    wanted = [w for sweep in sweeps.values() for w in _wanted(sweep)]
    _fill(place, wanted, choice, meter)
    runs = {name: _runs(sweep, place) for name, sweep in sweeps.items()}
    _say_versions(runs.values(), meter)
    return runs


def _wanted(sweep: Points) -> list[Wanted]:
    probes = tuple(sorted(sweep.probes.items()))
    keep = () if sweep.keep is None else (sweep.keep,)
    return [Wanted(point, seed, probes, keep) for point, seed in sweep.pairs]


def _runs(sweep: Points, store: Store) -> Runs:
    settings = {name: probe_settings(probe) for name, probe in sweep.probes.items()}
    labels = [point.labels for point, _ in sweep.pairs]
    keys = [point.key(seed) for point, seed in sweep.pairs]
    return Runs(labels, store.runs(keys, settings))


def _fill(store: Store, wanted: list[Wanted], choice: Choice, meter: Progress) -> None:
    """Does the wanted runs that a store lacks, those that others start from first."""
    keys = {w.key for w in wanted}
    levels = [_lacking(store, level) for level in _levels(wanted)]
    missing = [w for level in levels for w in level]
    total = len(keys | {w.key for w in missing})
    stored = total - len({w.key for w in missing})
    if not missing:
        with meter.of(total, stored):
            return
    points = {w.point.hash: w.point for w in missing}
    store.register({name: to_json(point.experiment) for name, point in points.items()})
    schedules = [_schedule(level) for level in levels]
    seconds = sum(schedule.seconds_left() for schedule in schedules)
    choice = _importable(choice, missing, meter, seconds)
    try:
        with meter.of(total, stored), pool(choice, runs=len(missing), seconds=seconds) as crew:
            for level, schedule in zip(levels, schedules, strict=True):
                for finished in drive(schedule, crew, level, store):
                    _keep(store, finished)
                    left = schedule.seconds_left() / schedule.workers
                    for w, run in finished:
                        meter.done({**w.point.labels, **run.row()}, left)
    except KeyboardInterrupt:
        kept = total - len({w.key for level in levels for w in _lacking(store, level)})
        meter.note(f"Stopped: {store!r} has {kept} of {total} runs. {advice(store)}")
        raise


def _levels(wanted: Sequence[Wanted]) -> list[list[Wanted]]:
    """The wanted runs and those that they start from, the latter in earlier levels."""
    level = list(wanted)
    levels = [level]
    while parents := [(w, parent) for w in level if (parent := parent_of(w.point.experiment))]:
        level = [
            Wanted(Point.of(w.point.labels, experiment), seed, (), ("params",))
            for w, (experiment, seed) in parents
        ]
        levels.insert(0, level)
    return levels


def _lacking(store: Store, wanted: Iterable[Wanted]) -> list[Wanted]:
    """The wanted runs that a store lacks, or of which it lacks probes or weights; each once."""
    by_needs: dict[Any, dict[Key, Wanted]] = {}
    for w in wanted:
        by_needs.setdefault((w.probes, w.keep), {}).setdefault(w.key, w)
    lacking = []
    for group in by_needs.values():
        first = next(iter(group.values()))
        missing = store.lacking(group, first.settings, first.keep)
        lacking += [w for key, w in group.items() if key in missing]
    return lacking


def _schedule(level: Sequence[Wanted]) -> Schedule:
    return Schedule([w.point.experiment for w in level], [(w.probes, w.keep) for w in level])


def _importable(
    choice: Choice, missing: Sequence[Wanted], meter: Progress, seconds: float
) -> Choice:
    """The choice, or this process if a type lives in it alone and nothing else was asked for."""
    if choice.workers == 0 and choice.executor is None and choice.cluster is None:
        return choice
    request = _request(missing, {})
    what = unimportable(request)
    if what is None:
        return choice
    if choice.is_open:
        if default_workers(seconds):
            meter.note(
                f"{what} is defined in this script or notebook, where worker processes cannot "
                "import it: the sweep is done in this process. In a module of its own it would "
                "use all cores."
            )
        return Choice(workers=0)
    raise ValueError(
        f"A worker process cannot import {what}. Define it at the top of a module of its own, or "
        "do the sweep in this process with workers=0."
    )


def _request(wanted: Sequence[Wanted], weights: Mapping[Key, Any]) -> Request:
    return Request(
        experiments={w.point.hash: w.point.experiment for w in wanted},
        runs=[w.key for w in wanted],
        probes=dict(wanted[0].probes),
        weights=weights,
        keep=wanted[0].keep,
    )


def _keep(store: Store, finished: Sequence[tuple[Wanted, Run]]) -> None:
    """Stores finished runs, those with the same probes in one go."""
    groups: dict[Any, list[tuple[Wanted, Run]]] = {}
    for w, run in finished:
        groups.setdefault((w.probes, w.keep), []).append((w, run))
    for group in groups.values():
        first, _ = group[0]
        store.add([run for _, run in group], first.settings, first.keep)


def drive(
    schedule: Schedule, crew: Pool, wanted: Sequence[Wanted], store: Store
) -> Iterator[list[tuple[Wanted, Run]]]:
    """Does all runs of a schedule and yields them, several at a time."""
    flying: dict[Future[Any], tuple[Load, Request]] = {}
    schedule.at_least = crew.at_least
    version, is_shared = store.version(), False
    try:
        while True:
            schedule.workers = crew.workers()
            while (load := schedule.next(len(flying))) is not None:
                is_shared = is_shared or store.version() != version
                if is_shared:  # asked only if another driver writes: a run done twice is no harm
                    _drop_done(schedule, load, wanted, store)
                if not load.runs:
                    continue
                request = _request([wanted[i] for i in load.runs], _weights(store, wanted, load))
                future = _submitted(crew, request)
                flying[future] = load, request
                if future.done():  # in this process: store it before going on
                    break
            if not flying:
                return
            back, _ = wait(flying, return_when=FIRST_COMPLETED)
            fine = {future for future in back if error_of(future) is None}
            for group in (fine, back - fine):  # what went well is stored before what may stop us
                loads = [(*flying.pop(future), future) for future in group]
                finished = [pair for each in loads for pair in _taken(schedule, *each, wanted)]
                if finished:
                    yield finished
    finally:
        for future in flying:  # if the sweep is stopped, in an executor that goes on
            future.cancel()


def _submitted(crew: Pool, request: Request) -> "Future[Any]":
    if crew.is_this_process:
        return crew.executor.submit(lambda: list(perform(request)))
    return crew.executor.submit(crew.call, request.to_text())


def _drop_done(schedule: Schedule, load: Load, wanted: Sequence[Wanted], store: Store) -> None:
    """Takes out of a load what another driver has stored meanwhile."""
    first = wanted[load.runs[0]]
    keys = [wanted[i].key for i in load.runs]
    lacking = store.lacking(keys, first.settings, first.keep)
    schedule.drop(load, [i for i in load.runs if wanted[i].key not in lacking])


def _weights(store: Store, wanted: Sequence[Wanted], load: Load) -> dict[Key, Any]:
    """The final weights from which some runs of a load start."""
    parents = [parent_of(wanted[i].point.experiment) for i in load.runs]
    keys = {(experiment.name, seed) for experiment, seed in filter(None, parents)}
    return {run.key: run.arrays["params"] for run in store.runs(sorted(keys))}


def _taken(
    schedule: Schedule,
    load: Load,
    request: Request,
    future: "Future[Any]",
    wanted: Sequence[Wanted],
) -> list[tuple[Wanted, Run]]:
    """The runs of a load that is back, or none if it is to be tried again."""
    error = error_of(future)
    if error is None:
        result = future.result()
        runs = runs_of(result, request) if isinstance(result, str) else result
        by_key = {run.key: run for run in runs}
        pairs = [(wanted[i], by_key[wanted[i].key]) for i in load.runs]
        took = [run.seconds for _, run in pairs]
        schedule.done(load, [float("nan") if seconds is None else seconds for seconds in took])
        return pairs
    if not is_loss(error):
        raise SweepError(
            f"The executor gave up: {error!r}. What was finished is stored; run the same again "
            "to go on."
        ) from error
    # Dask has moved the load from worker to worker before it says that it kills them.
    chances = CHANCES if isinstance(error, WorkerLost) else 2
    if len(load.runs) == 1 and load.losses + 1 >= chances:
        w = wanted[load.runs[0]]
        schedule.done(load, [float("nan")])
        why = f"{type(error).__name__}: {error}"
        return [(w, failed_run(w.point.experiment, w.key, why))]
    schedule.lost(load)
    return []


def error_of(future: "Future[Any]") -> BaseException | None:
    """What went wrong with a request that is back."""
    return CancelledError("cancelled") if future.cancelled() else future.exception()


def is_loss(error: BaseException) -> bool:
    """Whether a worker died with its load, so that the same runs may well succeed elsewhere."""
    return isinstance(error, WorkerLost) or type(error).__name__ == "KilledWorker"


def advice(store: Store) -> str:
    """What to do about a sweep that was stopped."""
    is_file = str(store.path) != MEMORY
    return "Run the same again to go on." if is_file else "With store='runs.db' it would be kept."


def _say_versions(sweeps: Iterable[Runs], meter: Progress) -> None:
    """Says how many of the runs were made by another version of this package."""
    ours = json.loads(versions())
    for text, count in Counter(run.versions for runs in sweeps for run in runs).items():
        theirs = json.loads(text or "{}")
        if (theirs.get("elegans"), theirs.get("code")) != (ours["elegans"], ours["code"]):
            name = f"{theirs.get('elegans')} ({theirs.get('code')})"
            meter.note(f"{count} of these runs were stored by another version, elegans {name}.")
