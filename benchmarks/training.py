"""Training beside an eager PyTorch loop of the same algorithm: one process, one core.

Both train a ReLU network on 1,000 examples of a (50, 3)-parity with batches of 32, hinge loss,
learning rate 0.1 and weight decay 0.01, and measure train and test error (10,000 rows) every 1,000
steps. "Whole runs" counts all of that, "steps alone" the updates; compilation is left out. Ours is
a sweep in one process; the loop stores its data, ours draws it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np
import torch
from threadpoolctl import threadpool_limits

import elegans as el
from benchmarks.line import Line, at_least, at_most, table
from elegans.keys import keys_of
from elegans.training import loop, program

N, K, M, BATCH = 50, 3, 1_000, 32
BARS = {10: 35, 100: 20, 1_000: 7, 10_000: 2.2}
STEPS = {10: 40_000, 100: 20_000, 1_000: 6_000, 10_000: 3_000}
REPEATS = 3


def experiment(width: int) -> el.Experiment:
    """The network and recipe of both sides."""
    training = el.Training(
        samples=M,
        batch=BATCH,
        learning_rate=0.1,
        weight_decay=0.01,
        loss="hinge",
        steps=STEPS[width],
        evaluate_every=1_000,
    )
    return el.Experiment(el.tasks.Parity(N, K), el.models.MLP(width=width), training)


def our_runs(width: int) -> float:
    """Steps a second of a sweep over seeds, evaluation included."""
    sweep = el.Sweep(experiment(width), over={"model.width": [width]}, seeds=range(REPEATS))
    runs = sweep.run(workers=0, progress=False)
    return float(runs["steps"].sum() / runs["seconds"].sum())


def our_steps(width: int, lanes: int = 1) -> float:
    """Steps a second of the compiled update alone, summed over runs side by side."""
    e = experiment(width)
    structure, numbers = program.split(e.task, e.model, e.training)
    seeds = [keys_of(seed) for seed in range(lanes)]
    starts = [program.start(structure, e.model, numbers, keys) for keys in seeds]
    state, keys = loop.stacked(starts), loop.stacked(seeds)
    numbers = loop.stacked([numbers] * lanes)

    def advance(state: Any, count: int) -> Any:
        counts = jnp.full(lanes, count, jnp.int32)
        full_batch = ()
        return jax.block_until_ready(
            program.advance(structure, lanes, numbers, state, keys, counts, full_batch)
        )

    state = advance(state, 0)
    steps = STEPS[width] // lanes
    began = time.perf_counter()
    advance(state, steps)
    return lanes * steps / (time.perf_counter() - began)


def torch_rate(width: int, *, evaluate: bool) -> float:
    """Steps a second of the loop that a researcher writes."""
    torch.manual_seed(0)
    x = (torch.randint(0, 2, (M + 10_000, N)) * 2 - 1).float()
    y = x[:, :K].prod(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(N, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.01)

    def step() -> None:
        i = torch.randint(0, M, (BATCH,))
        loss = torch.relu(1 - y[i] * model(x[i]).squeeze(-1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def errors() -> list[float]:
        with torch.no_grad():
            wrong = (model(x).squeeze(-1) * y <= 0).float()
        return [wrong[:M].mean().item(), wrong[M:].mean().item()]

    steps = min(STEPS[width], 2_000)
    for _ in range(50):
        step()
    began = time.perf_counter()
    for t in range(steps):
        if evaluate and t % 1_000 == 0:
            errors()
        step()
    return steps / (time.perf_counter() - began)


def matmul_rate() -> float:
    """Floating point operations a second of a large float32 product: the best of two libraries."""
    size = 1024
    a = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32)
    b = jnp.asarray(a)
    product = jax.jit(jnp.matmul)
    return max(
        2 * size**3 / fastest(lambda: np.matmul(a, a)),
        2 * size**3 / fastest(lambda: product(b, b).block_until_ready()),
    )


def fastest(call: Callable[[], Any], repeats: int = 10) -> float:
    """Seconds of the fastest of several calls, after one to warm up."""
    call()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def peak_memory() -> float:
    """Gigabytes that a run with a million examples of 300 bits takes at most, by itself."""
    script = (
        "import elegans as el\n"
        "t = el.Training(samples=1_000_000, steps=2000, evaluate_every=1000, weight_decay=0.01)\n"
        "el.run(el.Experiment(el.tasks.Parity(300, 3), el.models.MLP(width=100), t))\n"
        "status = open('/proc/self/status').read()\n"
        "print(status.split('VmHWM:')[1].split()[0])\n"
    )
    command = [sys.executable, "-c", script]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 1e6


def lines() -> list[Line]:
    """All lines of this table, sides alternating so that a slow minute hits both."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    found = []
    with threadpool_limits(1):
        for width, bar in BARS.items():
            rounds = [
                (
                    our_runs(width),
                    our_steps(width),
                    torch_rate(width, evaluate=True),
                    torch_rate(width, evaluate=False),
                )
                for _ in range(REPEATS)
            ]
            runs, steps, torch_runs, torch_steps = np.median(rounds, axis=0)
            name = f"width {width:,}: steps/s of whole runs / PyTorch's"
            found.append(
                at_least(f"{name} ({runs:,.0f} / {torch_runs:,.0f})", runs / torch_runs, bar, "x")
            )
            name = f"width {width:,}: steps/s alone / PyTorch's"
            found.append(
                at_least(
                    f"{name} ({steps:,.0f} / {torch_steps:,.0f})", steps / torch_steps, bar, "x"
                )
            )
            if width == 1_000:
                used = steps * 4 * BATCH * N * width
                share = used / matmul_rate()
                name = f"width 1,000: share of the matrix product rate ({used / 1e9:.0f} Gflop/s)"
                found.append(at_least(name, 100 * share, 60, "%"))
    name = "peak memory at m = 10**6, n = 300, width 100"
    found.append(at_most(name, peak_memory(), 1.0, " GB"))
    return found


if __name__ == "__main__":
    print(table(lines()))
