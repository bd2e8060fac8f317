"""Runs that raise, probes, and workers that die, in this process and in others."""

import json
import os
import signal
from dataclasses import dataclass

import numpy as np
import pytest

import elegans as el
from elegans.probes import Divergences, SupNormPath
from elegans.sweeps import executors, requests
from elegans.sweeps.executors.local import WorkerLost, Workers
from elegans.sweeps.progress import Silent
from elegans.sweeps.requests import probe_from_plain, probe_to_plain


def test_a_run_that_raises_is_a_failed_row_with_its_traceback(experiment, monkeypatch, tmp_path):
    train = requests.train

    def faulty(jobs, **options):
        if any(job.experiment.model.width == 5 for job in jobs):
            raise RuntimeError("no training today")
        yield from train(jobs, **options)

    monkeypatch.setattr(requests, "train", faulty)
    sweep = el.Sweep(experiment, over={"model.width": [5, 4]}, seeds=range(2))
    table = sweep.run(store=tmp_path / "grid.db", workers=0, progress=False)
    assert list(table["status"]) == ["failed", "failed", "done", "done"]
    assert list(table["success"].isna()) == [True, True, False, False]
    traceback = el.Store(tmp_path / "grid.db").table({"status": "failed"})["traceback"][0]
    assert traceback.startswith("Traceback")
    assert "RuntimeError: no training today" in traceback


def loud(view):
    raise ValueError("a probe that fails")


def test_a_probe_that_raises_fails_the_run_and_not_the_sweep(experiment, tmp_path):
    faulty = el.Sweep(experiment, seeds=[0, 1], probes=[loud])
    table = faulty.run(store=tmp_path / "grid.db", workers=0, progress=False)
    assert list(table["status"]) == ["failed"] * 2


def test_what_probes_see_is_stored_and_the_same_in_a_worker(experiment, tmp_path):
    probed = el.Sweep(experiment, seeds=2, probes=[SupNormPath()])
    here, there = (
        probed.runs(store=tmp_path / f"{workers}.db", workers=workers, progress=False)
        for workers in (0, 1)
    )
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.probes["SupNormPath"], other.probes["SupNormPath"])
        np.testing.assert_array_equal(one.probes["step"], one.history["step"])


def test_a_probe_of_other_settings_is_another_probe_and_records_stay_the_same(tmp_path):
    task, model = el.tasks.MarkovChains(2, 6), el.models.MinimalInduction()
    training = el.Training(loss="cross-entropy", steps=4, batch=2, test_samples=10)
    experiment = el.Experiment(task, model, training)
    store = tmp_path / "runs.db"

    def seen(**settings):
        sweep = el.Sweep(experiment, probes=[Divergences(**settings)])
        return sweep.runs(store=store, workers=0, progress=False)[0]

    one, other, again = seen(sequences=4), seen(sequences=8), seen(sequences=4)
    name = "Divergences.unigram"
    assert not np.array_equal(one.probes[name], other.probes[name])
    np.testing.assert_array_equal(one.probes[name], again.probes[name])
    assert len(el.Store(store)) == 1
    alone = el.run(experiment, probes=[Divergences(sequences=8)])
    np.testing.assert_array_equal(alone.probes[name], other.probes[name])
    np.testing.assert_array_equal(alone.history, other.history)


def test_two_probes_of_one_name_are_refused(experiment):
    with pytest.raises(ValueError, match="Two probes are named 'SupNormPath'"):
        el.Sweep(experiment, probes=[SupNormPath(), SupNormPath()])


def test_a_probe_travels_as_plain_data():
    probe = Divergences(("unigram", "4-gram"), 32)
    for each in (probe, loud):
        assert probe_from_plain(json.loads(json.dumps(probe_to_plain(each)))) == each


def test_what_workers_cannot_import_is_refused_if_workers_are_asked_for(experiment):
    @dataclass(frozen=True)
    class Local:
        size: int = 3

        def __call__(self, view):
            return view.step

    for probe in (Local(), lambda view: 0):
        sweep = el.Sweep(experiment, probes={"local": probe})
        with pytest.raises(ValueError, match=r"cannot import .*locals.*workers=0"):
            sweep.run(workers=1, progress=False)


class Notes(Silent):
    """A meter that keeps what it is told."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.mark.parametrize("seconds, is_said", [(0.0, True), (1e9, False)])
def test_what_lives_in_a_script_alone_is_swept_in_this_process_with_a_note(
    experiment, monkeypatch, seconds, is_said
):
    """The note is for sweeps that would have had workers."""
    monkeypatch.setattr(executors, "SECONDS_WORTH_A_WORKER", seconds)
    sweep = el.Sweep(experiment, seeds=2, probes={"local": lambda view: view.step})
    meter = Notes()
    assert len(sweep.run(progress=meter)) == 2
    assert ["script or notebook" in note for note in meter.notes] == [True] * is_said


def die(text):
    """Ends the process that calls it, unless the file that `text` names is there."""
    if os.path.exists(text):
        return "alive"
    open(text, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_dead_worker_costs_its_task_and_is_replaced(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    monkeypatch.setattr(die, "__module__", "test_requests")
    with Workers(1) as pool:
        lost, kept = (pool.submit(die, str(tmp_path / "once")) for _ in range(2))
        with pytest.raises(WorkerLost, match="SIGKILL in the midst of work"):
            lost.result()
        assert kept.result() == "alive"


def test_a_run_that_kills_its_workers_is_a_failed_row(experiment, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    monkeypatch.setattr(deadly, "__module__", "test_requests")
    faulty = el.Sweep(experiment, probes=[deadly])
    table = faulty.run(store=tmp_path / "grid.db", workers=1, progress=False)
    assert list(table["status"]) == ["failed"]
    text = el.Store(tmp_path / "grid.db").table()["traceback"][0]
    assert "WorkerLost" in text
    assert "SIGKILL" in text


def deadly(view):
    os.kill(os.getpid(), signal.SIGKILL)
