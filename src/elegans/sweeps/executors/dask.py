"""The workers of a Dask cluster, each thread of which answers one request at a time."""

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

SECONDS_BETWEEN_COUNTS = 5.0  # of the cluster's threads: a batch system grants them in time


@contextmanager
def cluster_threads(address: str) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """An executor on the scheduler at `address`, and a function that counts its threads."""
    client_at = dask_client()
    with client_at(address, set_as_default=False) as client:
        # Pure calls of equal arguments would share one result, and a retry is an equal call.
        executor = client.get_executor(pure=False)
        try:
            yield executor, Threads(client)
        finally:
            executor.shutdown(wait=False)


class Threads:
    """How many threads a cluster has, asked now and then."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.asked, self.count = -math.inf, 1

    def __call__(self) -> int:
        """The number of threads, which is 1 or more."""
        if time.monotonic() - self.asked > SECONDS_BETWEEN_COUNTS:
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
