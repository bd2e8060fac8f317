"""A large store: 200,000 runs of 4,000 experiments, with curves of 100 rows.

The runs are made up. What is timed is what a user waits for: the table of everything, opening
included, and the look of a resumed sweep for what is left to do, which reads and checks every
curve; and what a sweep pays per run, in transactions of as many runs as come back at once.
"""

import json
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.line import Line, at_most, seconds, table
from elegans.runs import Run
from elegans.store.record import decode
from elegans.store.store import Store

ROWS, POINTS = 200_000, 4_000
BATCH = 8  # runs of 0.12 s in a unit of a second, which is what a driver stores at once
BARS = {"table": 1.0, "checksums": 0.3, "lacking": 10.0, "append": 2.0}
CURVE = {name: np.random.default_rng(0).random(100) for name in "abcdef"}
LIBRARIES = ("jax", "jaxlib", "numpy", "optax", "python", "elegans")
VERSIONS = json.dumps({"code": "0123456789ab", **dict.fromkeys(LIBRARIES, "0.10.0")})


def lines() -> list[Line]:
    """The bars of this part, measured."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "large.db"
        with Store(path) as store:
            fill(store)
        opened = seconds(lambda: Store(path).table())
        store = Store(path)
        with store._file.reading():
            blocks = [block.rows for block in store._file.blocks()]
        checked = seconds(lambda: [decode(rows) for rows in blocks])
        keys = store.keys()
        assert len(keys) == ROWS
        resumed = seconds(lambda: store.lacking(keys), repeats=1)
        more = [run(name(0), 10**6 + i) for i in range(50 * BATCH)]
        began = time.perf_counter()
        for i in range(0, len(more), BATCH):
            store.add(more[i : i + BATCH])
        append = (time.perf_counter() - began) / len(more) * 1e3
        store.close()
    runs = f"{ROWS:,} runs"
    return [
        at_most(f"open and table a store of {runs}", opened, BARS["table"], "s"),
        at_most(f"of which checksums of {runs}", checked, BARS["checksums"], "s"),
        at_most(f"what is lacking of {runs}", resumed, BARS["lacking"], "s"),
        at_most(
            f"append to it, {BATCH} runs per transaction", append, BARS["append"], "ms per run"
        ),
    ]


def fill(store: Store) -> None:
    """Puts the made-up runs into a store."""
    store.register({name(i): experiment(i) for i in range(POINTS)})
    for i in range(0, POINTS, 100):
        seeds = range(ROWS // POINTS)
        store.add([run(name(j), seed) for j in range(i, i + 100) for seed in seeds])


def name(i: int) -> str:
    """The hash of an experiment."""
    return f"{i:016x}"


def experiment(i: int) -> str:
    """An experiment with forty fields, as most have."""
    numbers = {f"number{j}": j / 7 for j in range(12)}
    texts = {f"text{j}": "constant" for j in range(8)}
    parts = {"task": {"type": "Parity", "n": 30, "k": 3, **texts}, "model": {"type": "MLP"}}
    return json.dumps({**parts, "training": {"samples": i + 1, "stop": None, **numbers, **texts}})


def run(name: str, seed: int) -> Run:
    """A run of made-up numbers with a curve of 100 rows."""
    numbers = {"test_error": seed / 50, "test_loss": 0.2, "train_error": 0.01, "train_loss": 0.1}
    return Run(
        source="",
        hash=name,
        seed=seed,
        status="done",
        success=True,
        steps=3_000,
        seconds=0.125,
        arrays={"history": CURVE},
        host="machine",
        versions=VERSIONS,
        finished=1.7e9,
        **numbers,
    )


if __name__ == "__main__":
    print(table(lines()))
