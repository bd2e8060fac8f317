"""Sweeps: what workers and the driver cost beside the training itself, and short runs.

The sweep is 1,200 runs on (30, 3)-parities, widths 30 and 100, 3,000 steps each, with one worker
and with two, from the call to the table: starting processes, importing and loading programs
included. Programs are compiled and kept by a small sweep before. The driver is given 20,000 runs
that cost nothing, so that its own work is all there is: planning, messages both ways, and the
store.

Short runs are of width 10 on the online (20, 3)-parity: they look every 10 steps at 128 examples
and stop at zero error, after some 370 steps. Their rate is compared with that of runs as long that
never look, and of one process with two.
"""

import json
import tempfile
import time
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import elegans as el
from benchmarks.line import Line, at_least, at_most, table
from elegans.experiments.run import stamped
from elegans.runs import Run
from elegans.store.record import to_message
from elegans.sweeps.driver import Wanted, drive
from elegans.sweeps.executors import Pool
from elegans.sweeps.executors.in_process import InProcess
from elegans.sweeps.schedule import Schedule

RUNS, STEPS, WIDTHS = 1_200, 3_000, (30, 100)
REPEATS = 2
DRIVEN, DRIVEN_POINTS = 20_000, 400
SHORT_RUNS, POOLED_RUNS = 1_000, 10_000
BARS = {"ratio": 0.58, "overhead": 1.15, "driver": 500.0, "plan": 10.0, "looks": 0.5, "two": 1.8}


def lines() -> list[Line]:
    """The bars of this part, measured."""
    return [*worker_lines(), *driver_lines(), *short_lines()]


def sweep(seeds: int) -> el.Sweep:
    """The sweep that is timed, with fewer or more seeds."""
    experiment = el.Experiment(
        el.tasks.Parity(n=30, k=3),
        el.models.MLP(width=30),
        el.Training(steps=STEPS, samples=1_000, weight_decay=0.01),
    )
    return el.Sweep(experiment, over={"model.width": WIDTHS}, seeds=seeds)


def timed(grid: el.Sweep, workers: int, store: Path) -> tuple[float, pd.DataFrame]:
    """Seconds of a whole sweep, and its table."""
    began = time.perf_counter()
    rows = grid.run(store=store, workers=workers, progress=False)
    return time.perf_counter() - began, rows


def worker_lines() -> list[Line]:
    """One worker against two, and two against the training alone; the least disturbed of each."""
    ones, twos, overheads = [], [], []
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        timed(sweep(1), 1, place / "first.db")
        grid = sweep(RUNS // len(WIDTHS))
        for i in range(REPEATS):
            ones.append(timed(grid, 1, place / f"one{i}.db")[0])
            seconds, rows = timed(grid, 2, place / f"two{i}.db")
            twos.append(seconds)
            overheads.append(seconds / (rows["seconds"].sum() / 2))
    one, two = min(ones), min(twos)
    name = f"{RUNS} runs, 2 workers ({two:.0f} s)"
    return [
        at_most(f"{name} / 1 worker ({one:.0f} s)", two / one, BARS["ratio"], "x"),
        at_most(f"{name} / (own training / 2)", min(overheads), BARS["overhead"], "x"),
    ]


def driver_lines() -> list[Line]:
    """What the driver can take in a second, and what a point of the grid costs before the first."""
    samples = range(1, DRIVEN_POINTS + 1)
    began = time.perf_counter()
    experiment = sweep(1).points[0].experiment
    grid = el.Sweep(experiment, {"training.samples": samples}, DRIVEN // DRIVEN_POINTS)
    wanted = [Wanted(point, seed, (), ()) for point in grid.points for seed in grid.seeds]
    schedule = Schedule([w.point.experiment for w in wanted])
    planned = (time.perf_counter() - began) / DRIVEN_POINTS * 1e3
    with tempfile.TemporaryDirectory() as directory:
        store = el.Store(Path(directory) / "driven.db")
        store.register({w.point.hash: w.point.experiment.to_json() for w in wanted})
        began = time.perf_counter()
        for finished in drive(schedule, Pool(Elsewhere(), lambda: 1, free), wanted, store):
            store.add([run for _, run in finished])
        rate = DRIVEN / (time.perf_counter() - began)
        assert len(store) == DRIVEN
        store.close()
    return [
        at_least("the driver alone, loads of a second", rate, BARS["driver"], "runs per second"),
        at_most("checking and planning", planned, BARS["plan"], "ms per point"),
    ]


class Elsewhere(Executor):
    """An executor that is given text, as if it were another process, and answers at once."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """The result of the call, as a future that is done."""
        return InProcess().submit(function, *args, **kwargs)


def free(text: str) -> str:
    """The answer to a request whose runs cost nothing and say that they took 0.12 s."""
    runs = json.loads(text)["runs"]
    return json.dumps([to_message(made_up(name, seed)) for name, seed in runs])


def made_up(name: str, seed: int) -> Run:
    """A run of made-up numbers with a curve of 100 rows."""
    numbers = {"success": True, "steps": STEPS, "test_error": 0.05, "seconds": 0.125}
    run = Run(source="", hash=name, seed=seed, status="done", arrays={"history": CURVE}, **numbers)
    return stamped(run)


CURVE = {name: np.random.default_rng(0).random(100) for name in "abcdef"}


def looking() -> el.Experiment:
    """Short runs, which look every 10 steps and stop at zero error."""
    return el.Experiment(
        el.tasks.Parity(n=20, k=3),
        el.models.MLP(width=10),
        el.Training(
            batch=32,
            learning_rate=0.5,
            steps=20_000,
            evaluate_every=10,
            test_samples=128,
            screen_rows=128,
            stop=el.Stop(test_error=0.0),
        ),
    )


def short_lines() -> list[Line]:
    """Short runs with looks against short runs without, and two workers against one."""
    short = looking()
    with_looks, steps = rate(short, 0)
    blind = replace(short.training, steps=steps, evaluate_every=steps, stop=None)
    without, _ = rate(replace(short, training=blind), 0)
    long = replace(blind, steps=50_000, evaluate_every=50_000)
    endless, _ = rate(replace(short, training=long), 0, runs=10)
    one, _ = rate(short, 1, POOLED_RUNS)
    two, _ = rate(short, 2, POOLED_RUNS)
    return [
        at_least(
            f"{SHORT_RUNS} runs of {steps} steps with looks ({with_looks:,.0f} steps/s) / without",
            with_looks / without,
            BARS["looks"],
            "x",
        ),
        at_least(
            f"the same / runs of 50,000 steps without looks ({endless:,.0f} steps/s)",
            with_looks / endless,
            BARS["looks"],
            "x",
        ),
        at_least(
            f"{POOLED_RUNS:,} of them, two workers / one, start-up excluded",
            two / one,
            BARS["two"],
            "x",
        ),
    ]


def rate(experiment: el.Experiment, workers: int, runs: int = SHORT_RUNS) -> tuple[float, int]:
    """Steps per second of a sweep of seeds, and the mean steps of a run.

    What starting workers costs is measured with a few runs, and taken off.
    """
    el.Sweep(experiment, seeds=2).run(workers=workers, progress=False)  # compiles
    began = time.perf_counter()
    el.Sweep(experiment, seeds=max(2, workers)).run(workers=workers, progress=False)
    start = time.perf_counter() - began if workers else 0.0
    began = time.perf_counter()
    rows = el.Sweep(experiment, seeds=runs).run(workers=workers, progress=False)
    seconds = time.perf_counter() - began - start
    return float(rows["steps"].sum() / seconds), int(rows["steps"].mean())


if __name__ == "__main__":
    print(table(lines()))
