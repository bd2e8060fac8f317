"""The estimators for tables beside scikit-learn's network and an eager PyTorch loop.

All train the same architecture with Adam on the same float64 table, with the same batches and
epochs and nothing held out: one network, on one core. Ours is timed from the user's array to the
fitted estimator; a first fit, which compiles, is timed apart. The last line is about two cores.
"""

import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

import elegans as el
from benchmarks.line import Line, at_least, at_most

ROWS, FEATURES, BATCH = 4_000, 20, 200
REPEATS = 5


def table(rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """A table as users pass it: float64, and labels that depend on a few columns."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, FEATURES))
    return x, (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(int)


def ours(width: int, epochs: int, **parameters: Any) -> Callable[[], object]:
    """A fit of the estimator as the others do it: without held-out rows, dropout and smoothing."""
    model = el.SparseMLPClassifier(
        width=width,
        depth=2,
        epochs=epochs,
        batch_size=BATCH,
        early_stopping=False,
        dropout=0.0,
        label_smoothing=0.0,
        random_state=0,
        **{"ensemble": 1, **parameters},
    )
    x, y = table()
    return lambda: model.fit(x, y)


def scikit_learn(width: int, epochs: int) -> Callable[[], object]:
    """The same by scikit-learn."""
    model = MLPClassifier(
        (width, width), batch_size=BATCH, max_iter=epochs, tol=0, n_iter_no_change=epochs + 1
    )
    x, y = table()

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is not meant to converge
            model.fit(x, y)

    return fit


def pytorch(width: int, epochs: int) -> Callable[[], object]:
    """The same by the loop that a practitioner writes."""
    x, y = table()

    def fit() -> None:
        torch.manual_seed(0)
        inputs = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32)
        labels = torch.tensor(y, dtype=torch.float32)
        model = torch.nn.Sequential(
            torch.nn.Linear(FEATURES, width),
            torch.nn.ReLU(),
            torch.nn.Linear(width, width),
            torch.nn.ReLU(),
            torch.nn.Linear(width, 1),
        )
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        loss_of = torch.nn.BCEWithLogitsLoss()
        for _ in range(epochs):
            for batch in torch.randperm(len(inputs)).split(BATCH):
                loss = loss_of(model(inputs[batch]).squeeze(-1), labels[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    return fit


def in_turns(works: list[Callable[[], object]]) -> list[float]:
    """The least time of each of several works, which take turns: a slow minute hits all."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(REPEATS):
        for work, taken in zip(works, times, strict=True):
            began = time.perf_counter()
            work()
            taken.append(time.perf_counter() - began)
    return [min(taken) for taken in times]


def on_one_core() -> list[Line]:
    """Single networks beside the same by others."""
    lines = []
    for width, epochs in ((1_000, 5), (100, 40)):
        fit = ours(width, epochs)
        began = time.perf_counter()
        fit()
        first = time.perf_counter() - began
        we, they, loop = in_turns([fit, scikit_learn(width, epochs), pytorch(width, epochs)])
        shape = f"{width:,} x {width:,}, {epochs} epochs"
        if width == 1_000:
            name = f"{shape}: scikit-learn ({they:.1f} s) / ours ({we:.1f} s, first {first:.1f} s)"
            lines.append(at_least(name, they / we, 2.5, "x"))
        name = f"{shape}: PyTorch ({loop:.2f} s) / ours ({we:.2f} s)"
        lines.append(at_least(name, loop / we, 1 if width == 1_000 else 2, "x"))
    return lines


def lines() -> list[Line]:
    """All lines."""
    everything = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(everything)})
        torch.set_num_threads(1)
        with threadpool_limits(1):
            result = on_one_core()
    finally:
        os.sched_setaffinity(0, everything)
    one, eight = ours(256, 30), ours(256, 30, ensemble=8, n_jobs=2)
    one()
    eight()  # starts the processes, and compiles
    single, ensemble = in_turns([one, eight])
    name = f"8 networks of width 256 on 2 cores ({ensemble:.1f} s) / one ({single:.1f} s)"
    return [*result, at_most(name, ensemble / single, 4.5, "x")]
