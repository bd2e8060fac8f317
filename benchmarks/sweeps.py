"""Sweeps: what workers and the store cost beside the training itself.

The sweep is 400 runs on (30, 3)-parities, widths 30 and 100, 3,000 steps each, with one worker and
with two, from the call to the table: starting processes, importing and loading programs included.
Programs are compiled and kept by a small sweep before. The store has 200,000 synthetic runs of
4,000 experiments with curves of 100 rows. The driver is given 20,000 runs that cost nothing, so
that its own work is all there is: planning, texts both ways, and the store.
"""

import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import elegans as el
from benchmarks.line import Line, at_least, at_most, table
from elegans.store.arrays import pack
from elegans.store.record import Record, here_and_now
from elegans.sweeps.driver import drive
from elegans.sweeps.executors import Force, InProcess
from elegans.sweeps.plan import Plan

RUNS, STEPS, WIDTHS = 400, 3_000, (30, 100)
REPEATS = 2
ROWS, POINTS = 200_000, 4_000
BATCH = 8  # runs of 0.12 s in a unit of a second, which is what the driver stores at once
DRIVEN, DRIVEN_POINTS = 20_000, 400
BARS = {"ratio": 0.58, "overhead": 1.15, "table": 5.0, "append": 2.0, "driver": 500.0, "plan": 10.0}


def lines() -> list[Line]:
    """The bars of this part, measured."""
    return [*worker_lines(), *store_lines(), *driver_lines()]


def sweep(seeds: int) -> el.Sweep:
    """The sweep that is timed, with fewer or more seeds."""
    experiment = el.Experiment(
        el.tasks.Parity(n=30, k=3),
        el.models.MLP(width=30),
        el.Training(steps=STEPS, samples=1_000, weight_decay=0.01),
    )
    return el.Sweep(experiment, over={"model.width": WIDTHS}, seeds=range(seeds))


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


def store_lines() -> list[Line]:
    """Opening and tabling a large store, and appending to it."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "large.db"
        with el.Store(path) as store:
            fill(store)
        began = time.perf_counter()
        store = el.Store(path)
        rows = store.table()
        opened = time.perf_counter() - began
        assert len(rows) == ROWS
        more = [record("0" * 16, 10**6 + i) for i in range(50 * BATCH)]
        began = time.perf_counter()
        for i in range(0, len(more), BATCH):
            store.add(more[i : i + BATCH])
        append = (time.perf_counter() - began) / len(more) * 1e3
        store.close()
    return [
        at_most(f"open and table a store of {ROWS:,} runs", opened, BARS["table"], "s"),
        at_most(f"append to it, {BATCH} runs a transaction", append, BARS["append"], "ms a run"),
    ]


def driver_lines() -> list[Line]:
    """What the driver can take in a second, and what a point of the grid costs before the first."""
    grid = el.Sweep(
        sweep(1).experiment,
        over={"training.samples": range(1, DRIVEN_POINTS + 1)},
        seeds=range(DRIVEN // DRIVEN_POINTS),
    )
    began = time.perf_counter()
    cells = grid.cells()
    plan = Plan([cell.experiment for cell in cells])
    planned = (time.perf_counter() - began) / DRIVEN_POINTS * 1e3
    keys = [cell.key for cell in cells]
    texts = {cell.name: cell.experiment.to_json() for cell in cells}
    with tempfile.TemporaryDirectory() as directory:
        store = el.Store(Path(directory) / "driven.db")
        store.register(texts)
        hands = Force(InProcess(), lambda: 1, free, {})
        began = time.perf_counter()
        for records in drive(plan, hands, keys, texts, store.holds):
            store.add(records)
        rate = DRIVEN / (time.perf_counter() - began)
        assert len(store) == DRIVEN
        store.close()
    return [
        at_least("the driver alone, units of a second", rate, BARS["driver"], "runs a second"),
        at_most("checking and planning", planned, BARS["plan"], "ms a grid point"),
    ]


def free(text: str) -> str:
    """The results of a unit whose runs cost nothing and say that they took 0.12 s."""
    runs = json.loads(text)["runs"]
    return json.dumps([record(name, seed).to_plain() for name, seed in runs])


def fill(store: el.Store) -> None:
    """Puts the synthetic runs into a store."""
    base = sweep(1).experiment.to_json()
    names = [f"{i:016d}" for i in range(POINTS)]
    texts = [base.replace('"samples": 1000', f'"samples": {i + 1}') for i in range(POINTS)]
    store.register(dict(zip(names, texts, strict=True)))
    seeds = range(ROWS // POINTS)
    for i in range(0, POINTS, 100):
        store.add([record(name, seed) for name in names[i : i + 100] for seed in seeds])


def record(name: str, seed: int) -> Record:
    """A run of made-up numbers with a curve of 100 rows."""
    return Record(name, seed, "done", True, STEPS, 0.05, 0.2, 0.01, 0.1, 0.125,
                  history=CURVE, **HERE)  # fmt: skip


CURVE = pack({name: np.random.default_rng(0).random(100) for name in "abcdef"})
HERE = here_and_now()


if __name__ == "__main__":
    print(table(lines()))
