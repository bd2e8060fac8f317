"""Who does the runs: this process, local worker processes, a cluster, or an executor of yours.

All of them answer the same requests, so the numbers of a sweep do not depend on the choice.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import NamedTuple

import jax

from elegans.compilation import answer
from elegans.sweeps.executors.dask import cluster_threads
from elegans.sweeps.executors.in_process import InProcess
from elegans.sweeps.executors.local import Workers
from elegans.training.lanes import default_lanes

SECONDS_WORTH_A_WORKER = 5.0  # of work in all, below which starting processes does not pay
LANES_PER_LOAD = 4  # a load fills the lanes of an accelerator so many times


class Choice(NamedTuple):
    """What a caller said about who does the runs."""

    executor: Executor | None = None
    workers: int | None = None
    cluster: str | None = None

    def check(self) -> None:
        """Refuses what does not fit together."""
        if self.executor is not None and self.cluster is not None:
            raise ValueError(
                f"Give an executor or a cluster, not both; got {self.executor!r}, {self.cluster!r}."
            )
        if self.workers is not None and (isinstance(self.workers, bool) or self.workers < 0):
            raise ValueError(
                f"workers counts processes, 0 for none but this one; got {self.workers!r}."
            )

    @property
    def is_open(self) -> bool:
        """Whether it is left to us."""
        return self.executor is None and self.workers is None and self.cluster is None


class Pool(NamedTuple):
    """An executor, how many requests it answers at once by now, and what it calls."""

    executor: Executor
    workers: Callable[[], int]
    call: Callable[[str], str]
    at_least: int = 1  # runs per load

    @property
    def is_this_process(self) -> bool:
        """Whether objects can be used as they are."""
        return isinstance(self.executor, InProcess)


@contextmanager
def pool(choice: Choice, *, runs: int, seconds: float) -> Iterator[Pool]:
    """What does runs that may take so many seconds in all; gone, in mid-work if need be, after."""
    workers = default_workers(seconds) if choice.workers is None else choice.workers
    if choice.cluster is not None:
        with cluster_threads(choice.cluster) as (executor, threads):
            yield Pool(executor, threads, answer)
    elif choice.executor is not None:
        known = getattr(choice.executor, "_max_workers", None) or usable_cores()
        yield Pool(choice.executor, lambda: choice.workers or known, answer)
    elif min(runs, workers) == 0:
        lanes = default_lanes()
        at_least = 1 if lanes == 1 else LANES_PER_LOAD * lanes
        yield Pool(InProcess(), lambda: 1, answer, at_least)
    else:
        count = min(runs, workers)
        processes = Workers(count)
        try:
            yield Pool(processes, lambda: count, answer)
        finally:
            processes.shutdown(cancel_futures=True)


def default_workers(seconds: float) -> int:
    """One process per core; none for little work, or where an accelerator trains runs in lanes."""
    if seconds < SECONDS_WORTH_A_WORKER or jax.default_backend() != "cpu":
        return 0
    return usable_cores()


def usable_cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
