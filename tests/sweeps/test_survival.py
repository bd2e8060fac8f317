"""What a sweep must outlive: killed drivers and workers, a full disk, a second driver."""

import os
import signal
import sqlite3
import time

import pandas as pd
import pytest

import elegans as el
from elegans.store.schema import StoreError

DRIVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if started in the background
import elegans as el
experiment = el.Experiment(
    el.tasks.Parity(n=6, k=2), el.models.MLP(width=4),
    el.Training(samples=50, steps=10_000, batch=8, evaluate_every=1_000, test_samples=200,
                weight_decay=0.01, stop=el.Stop(test_error=0.0)))
sweep = el.Sweep(experiment, over={"training.learning_rate": [1e-4, 2e-4]}, seeds=range(10))
table = sweep.run(store=sys.argv[1], workers=int(sys.argv[2]), progress=True)
print((table.status == "done").sum())
"""  # no `if __name__ == "__main__"`, as users write scripts


def wait_for(condition, process=None):
    """Polls until the condition holds or the process has ended."""
    while not condition() and (process is None or process.poll() is None):
        time.sleep(0.01)


def stored(path):
    """How many runs another process has stored so far."""
    return len(el.Store(path)) if path.exists() and path.stat().st_size else 0


def contents(path):
    """All that a store says of its runs, but for when, where and how fast."""
    with el.Store(path) as store:
        table = store.table()
        curves = pd.concat([store.history(run) for run in table["run"]])
    return table.drop(columns=["run", "seconds", "finished", "host"]), curves


def assert_same(path, other):
    for a, b in zip(contents(path), contents(other), strict=True):
        pd.testing.assert_frame_equal(a, b, check_exact=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The store of the same sweep, uninterrupted, in one process."""
    path = tmp_path_factory.mktemp("whole") / "whole.db"
    names = {"sys": None}
    script = DRIVER.replace("sys.argv[1]", "path").replace("int(sys.argv[2])", "0")
    script = script.replace("progress=True", "progress=False")
    exec(compile(script, "driver", "exec"), {**names, "path": path})
    return path


def test_a_killed_driver_loses_no_finished_run_and_the_same_command_goes_on(
    python, tmp_path, whole
):
    path = tmp_path / "grid.db"
    driver = python(DRIVER, path, 2)
    wait_for(lambda: stored(path) >= 1, driver)
    workers = children(driver.pid)
    assert len(workers) == 2
    os.kill(driver.pid, signal.SIGKILL)
    driver.communicate()
    wait_for(lambda: not any(is_running(worker) for worker in workers))  # they die with it
    kept = el.Store(path).keys()
    assert 1 <= len(kept) < 20
    again = python(DRIVER, path, 0)
    out, err = again.communicate()
    assert (again.returncode, out.strip()) == (0, "20"), err
    assert el.Store(path).keys() >= kept
    assert_same(path, whole)


def test_a_killed_worker_costs_nothing_but_its_unit(python, tmp_path, whole):
    path = tmp_path / "grid.db"
    driver = python(DRIVER, path, 1)
    wait_for(lambda: stored(path) >= 1, driver)
    os.kill(children(driver.pid)[0], signal.SIGKILL)
    out, err = driver.communicate()
    assert (driver.returncode, out.strip()) == (0, "20"), err
    assert_same(path, whole)


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(python, tmp_path):
    path = tmp_path / "grid.db"
    driver = python(DRIVER, path, 1)
    wait_for(lambda: stored(path) >= 2, driver)
    os.kill(driver.pid, signal.SIGINT)
    _, err = driver.communicate()
    assert driver.returncode != 0
    assert f"has {len(el.Store(path))} of 20 runs. Run the same again to go on." in " ".join(
        err.split()
    )


def test_two_drivers_on_one_store_do_not_store_a_run_twice(python, tmp_path, whole):
    path = tmp_path / "grid.db"
    drivers = [python(DRIVER, path, 0) for _ in range(2)]
    for driver in drivers:
        out, err = driver.communicate()
        assert (driver.returncode, out.strip()) == (0, "20"), err
    assert_same(path, whole)


def test_a_full_disk_loses_nothing_that_was_stored(python, tmp_path, whole):
    path = tmp_path / "grid.db"
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (130_000, -1))\n"
    driver = python(limit + DRIVER, path, 0)
    _, err = driver.communicate()
    assert "StoreError" in err
    assert "make room and run again" in err
    kept = el.Store(path).keys()
    assert 0 < len(kept) < 20
    again = python(DRIVER, path, 0)
    out, err = again.communicate()
    assert (again.returncode, out.strip()) == (0, "20"), err
    assert el.Store(path).keys() >= kept
    assert_same(path, whole)


def test_a_write_that_fails_leaves_no_half_row(sweep, tmp_path, whole):
    path = tmp_path / "grid.db"
    sweep.run(store=path, workers=0, progress=False)
    with el.Store(path) as store, el.Store(whole) as source:
        before = contents(path)
        store.register({})  # opens the connection that writes
        connection = store._file._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match=r"full.*make room and run again"):
            store.merge(source)
        assert len(store) == 8
    for a, b in zip(before, contents(path), strict=True):
        pd.testing.assert_frame_equal(a, b)
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert check.execute("SELECT count(*) FROM arrays").fetchone() == (8,)
    check.close()


def children(pid):
    """The processes that a process has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def is_running(pid):
    """Whether a process is there and no zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
