"""Runs that raise, probes, and workers that die, in this process and in others."""

import json
import os
import signal
from dataclasses import dataclass

import numpy as np
import pytest

import elegans as el
from elegans.experiments import plain
from elegans.probes import Divergences, SupNormPath
from elegans.sweeps.unit import imported, reference
from elegans.sweeps.workers import WorkerLost, Workers


def test_a_run_that_raises_is_a_failed_row_with_its_traceback(experiment, monkeypatch, tmp_path):
    label = el.tasks.Parity.label

    def faulty(self, x):
        if self.k == 3:
            raise RuntimeError("no labels today")
        return label(self, x)

    monkeypatch.setattr(el.tasks.Parity, "label", faulty)
    sweep = el.Sweep(experiment, over={"task.k": [3, 2], "training.samples": [50]}, seeds=range(2))
    table = sweep.run(store=tmp_path / "grid.db", workers=0, progress=False)
    assert list(table["status"]) == ["failed", "failed", "done", "done"]
    assert list(table["success"].isna()) == [True, True, False, False]
    traceback = el.Store(tmp_path / "grid.db").table({"status": "failed"})["traceback"][0]
    assert traceback.startswith("Traceback")
    assert "RuntimeError: no labels today" in traceback


def loud(view):
    raise ValueError("a probe that fails")


def test_a_probe_that_raises_fails_the_run_and_not_the_sweep(sweep, tmp_path):
    faulty = el.Sweep(sweep.experiment, over=sweep.over, seeds=[0], probes=[loud])
    table = faulty.run(store=tmp_path / "grid.db", workers=0, progress=False)
    assert list(table["status"]) == ["failed"] * 2


def test_what_probes_see_is_stored_and_the_same_in_a_worker(sweep, tmp_path):
    probed = el.Sweep(sweep.experiment, over={}, seeds=range(2), probes=[SupNormPath()])
    seen = []
    for workers in (0, 1):
        store = el.Store(tmp_path / f"{workers}.db")
        probed.run(store=store, workers=workers, progress=False)
        seen.append(store.probes(1)["SupNormPath"])
        assert len(seen[-1]) == len(store.history(1))
    np.testing.assert_array_equal(*seen)
    plainly = el.Sweep(sweep.experiment, over={}, seeds=range(3))
    with pytest.raises(ValueError, match="with the probes 'SupNormPath', and now they are"):
        plainly.run(store=tmp_path / "0.db", workers=0, progress=False)


def test_a_function_that_workers_cannot_import_is_refused():
    assert imported(reference(plain.build)) is plain.build
    with pytest.raises(ValueError, match=r"cannot import.*workers=0"):
        reference(lambda view: 0)


def test_a_probe_with_fields_travels_as_plain_data():
    probe = Divergences(("unigram", "4-gram"), 32)
    assert imported(json.loads(json.dumps(reference(probe)))) == probe

    @dataclass(frozen=True)
    class Local:
        size: int = 3

    with pytest.raises(ValueError, match=r"cannot import .*Local.*workers=0"):
        reference(Local())


def die(text):
    """Ends the process that calls it, unless the file that `text` names is there."""
    if os.path.exists(text):
        return "alive"
    open(text, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_dead_worker_costs_its_task_and_is_replaced(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    monkeypatch.setattr(die, "__module__", "test_unit")
    with Workers(1) as pool:
        lost, kept = (pool.submit(die, str(tmp_path / "once")) for _ in range(2))
        with pytest.raises(WorkerLost, match="SIGKILL in the midst of work"):
            lost.result()
        assert kept.result() == "alive"


def test_a_run_that_kills_its_workers_is_a_failed_row(sweep, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    monkeypatch.setattr(deadly, "__module__", "test_unit")
    faulty = el.Sweep(sweep.experiment, over={}, probes=[deadly])
    table = faulty.run(store=tmp_path / "grid.db", workers=1, progress=False)
    assert list(table["status"]) == ["failed"]
    text = el.Store(tmp_path / "grid.db").table()["traceback"][0]
    assert "WorkerLost" in text
    assert "SIGKILL" in text


def deadly(view):
    os.kill(os.getpid(), signal.SIGKILL)
