"""Who does the work: this process, local worker processes, a cluster, or an executor of yours.

All of them take the same text and give the same text back (`work`), so the numbers of a sweep do
not depend on the choice.
"""

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import jax

from elegans.protocols import Probe
from elegans.sweeps import unit
from elegans.sweeps.work import work
from elegans.sweeps.workers import Workers
from elegans.training.lanes import default_lanes

SMALL = 5.0  # seconds of work below which starting processes does not pay


class InProcess(Executor):
    """Calls at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The result of the call, as a future that is done."""
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


class Force(NamedTuple):
    """An executor, how many tasks it does at once by now, and what it calls."""

    executor: Executor
    workers: Callable[[], int]
    call: Callable[[str], str]
    probes: Mapping[str, Any]  # what the callee makes them from
    at_least: int = 1  # runs of a unit


@contextmanager
def force(
    executor: Executor | None,
    workers: int | None,
    cluster: str | None,
    probes: Mapping[str, Probe],
    *,
    runs: int,
    seconds: float,
) -> Iterator[Force]:
    """What does runs that may take so many seconds in all; gone, in mid-work if need be, after."""
    if executor is not None and cluster is not None:
        raise ValueError(f"Give an executor or a cluster, not both; got {executor!r}, {cluster!r}.")
    if workers is not None and (isinstance(workers, bool) or workers < 0):
        raise ValueError(f"workers counts processes, 0 for none but this one; got {workers!r}.")
    count = min(runs, default_workers(seconds) if workers is None else workers)
    if count == 0 and executor is None and cluster is None:
        lanes = default_lanes()
        call = partial(unit.results, local=probes)
        yield Force(InProcess(), lambda: 1, call, {}, at_least=1 if lanes == 1 else 4 * lanes)
        return
    found = {name: unit.reference(probe) for name, probe in probes.items()}
    if cluster is not None:
        yield from _cluster(cluster, found)
        return
    if executor is not None:
        known = getattr(executor, "_max_workers", None) or usable_cores()
        yield Force(executor, lambda: workers or known, work, found)
        return
    pool = Workers(count)
    try:
        yield Force(pool, lambda: count, work, found)
    finally:
        pool.shutdown(cancel_futures=True)


def default_workers(seconds: float) -> int:
    """A process a core; none for little work, or where an accelerator trains runs side by side."""
    if seconds < SMALL or jax.default_backend() != "cpu":
        return 0
    return usable_cores()


def usable_cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cluster(address: str, probes: Mapping[str, Any]) -> Iterator[Force]:
    """The workers of a Dask cluster, each thread of which does a task at a time."""
    client_at = dask_client()
    with client_at(address, set_as_default=False) as client:
        # Pure calls of equal arguments would share one result, and a retry is an equal call.
        executor = client.get_executor(pure=False)
        try:
            yield Force(executor, Threads(client), work, probes)
        finally:
            executor.shutdown(wait=False)


class Threads:
    """How many threads a cluster has, asked now and then: a batch system grants them in time."""

    def __init__(self, client: Any, every: float = 5.0) -> None:
        self.client, self.every = client, every
        self.asked, self.count = -math.inf, 1

    def __call__(self) -> int:
        """The number of threads, which is 1 or more."""
        if time.monotonic() - self.asked > self.every:
            self.asked = time.monotonic()
            self.count = max(1, sum(self.client.nthreads().values()))
        return self.count


def dask_client() -> Any:
    """Dask's class of clients, if Dask is there."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError("A cluster needs Dask: pip install 'elegans[cluster]'.") from error
    return Client
