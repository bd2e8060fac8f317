"""A sweep on a Dask cluster: the numbers of one process, also when a worker dies in mid-run."""

import os
import signal
import subprocess

import pandas as pd
import pytest
from distributed import Client

import elegans as el
from elegans.sweeps.progress import Silent

CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None,
                      host="127.0.0.1") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def cluster(python):
    """The address of a cluster with one worker, in processes of their own."""
    process = python(CLUSTER, stdin=subprocess.PIPE)
    yield process.stdout.readline().strip()
    process.communicate("")


class Killer(Silent):
    """A meter that kills a process when the second unit of runs is back, and the third runs."""

    def __init__(self, pid):
        self.pid, self.times = pid, set()

    def done(self, row, left=None):
        self.times.add(left)  # which all runs of a unit share
        if len(self.times) == 2 and self.pid:
            os.kill(self.pid, signal.SIGKILL)
            self.pid = None


def test_a_worker_killed_in_mid_run_changes_nothing(experiment, cluster, tmp_path):
    long = experiment.varied({"training.steps": 10_000, "training.learning_rate": 1e-4})
    sweep = el.Sweep(long, over={"training.samples": [40, 50]}, seeds=range(8))
    expected = sweep.run(store=tmp_path / "here.db", workers=0, progress=False)
    with Client(cluster, set_as_default=False) as client:
        (first,) = client.run(os.getpid).values()
        table = sweep.run(store=tmp_path / "there.db", cluster=cluster, progress=Killer(first))
        (second,) = client.run(os.getpid).values()
    assert first != second
    pd.testing.assert_frame_equal(
        expected.drop(columns="seconds"), table.drop(columns="seconds"), check_exact=True
    )
    assert el.Store(tmp_path / "there.db").keys() == el.Store(tmp_path / "here.db").keys()
