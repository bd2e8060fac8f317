"""The driver of a sweep: hands units to an executor and stores what comes back.

The driver alone writes. It waits for any unit, takes all that are back into one transaction, and
only then gives out more. So at any moment the store holds every run whose unit has come back, and a
process that dies takes at most the units under way with it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait

from elegans.store.record import Record
from elegans.sweeps.executors import Force
from elegans.sweeps.plan import Plan, Unit
from elegans.sweeps.unit import Key, read, unit
from elegans.sweeps.workers import WorkerLost

CHANCES = 3  # workers that a run may take down with it before it counts as failed


class SweepError(RuntimeError):
    """A sweep that cannot go on; what was finished is stored."""


def drive(
    plan: Plan,
    force: Force,
    keys: Sequence[Key],
    texts: Mapping[str, str],
    already: Callable[[Sequence[Key]], set[Key]],
) -> Iterator[list[Record]]:
    """Does all runs of a plan and yields their records, several at a time.

    Args:
        plan: What is to be done, by numbers of cells.
        force: What does it.
        keys: The experiment hash and seed of each cell.
        texts: Experiments as JSON, by hash.
        already: Which of some runs another driver has stored meanwhile.
    """
    flying: dict[Future[str], Unit] = {}
    plan.at_least = force.at_least
    try:
        while True:
            plan.workers = force.workers()
            while (ready := plan.next(len(flying))) is not None:
                stored = already([keys[cell] for cell in ready.cells])
                plan.drop(ready, [cell for cell in ready.cells if keys[cell] in stored])
                if not ready.cells:
                    continue
                text = unit(texts, [keys[cell] for cell in ready.cells], force.probes)
                future = force.executor.submit(force.call, text)
                flying[future] = ready
                if future.done():  # in this process: store it before going on
                    break
            if not flying:
                return
            back, _ = wait(flying, return_when=FIRST_COMPLETED)
            fine = {future for future in back if error_of(future) is None}
            for group in (fine, back - fine):  # what went well is stored before what may stop us
                units = [(flying.pop(future), future) for future in group]
                records = [r for each, future in units for r in _taken(plan, each, future, keys)]
                if records:
                    yield records
    finally:
        for future in flying:  # if the sweep is stopped, in an executor that goes on
            future.cancel()


def _taken(plan: Plan, unit: Unit, future: "Future[str]", keys: Sequence[Key]) -> list[Record]:
    """The records of a unit that is back, or none if it is to be tried again."""
    error = error_of(future)
    if error is None:
        records = read(future.result())
        by_key = {(record.experiment, record.seed): record for record in records}
        took = [by_key[keys[cell]].seconds for cell in unit.cells]
        plan.done(unit, [float("nan") if seconds is None else seconds for seconds in took])
        return records
    if not is_loss(error):
        raise SweepError(
            f"The executor gave up: {error!r}. What was finished is stored; run the same again "
            "to go on."
        ) from error
    # Dask has moved the unit from worker to worker before it says that it kills them.
    chances = CHANCES if isinstance(error, WorkerLost) else 2
    if len(unit.cells) == 1 and unit.losses + 1 >= chances:
        (cell,) = unit.cells
        plan.done(unit, [float("nan")])
        return [Record.of_failure(*keys[cell], f"{type(error).__name__}: {error}")]
    plan.lost(unit)
    return []


def error_of(future: "Future[str]") -> BaseException | None:
    """What went wrong with a task that is back."""
    return CancelledError("cancelled") if future.cancelled() else future.exception()


def is_loss(error: BaseException) -> bool:
    """Whether a worker died with its unit, so that the same work may well succeed elsewhere."""
    return isinstance(error, WorkerLost) or type(error).__name__ == "KilledWorker"
