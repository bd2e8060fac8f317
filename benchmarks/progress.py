"""Small networks on parities beside an eager PyTorch loop, and short runs with many looks.

Single neurons and PolyNets train online on the (50, 3)-parity with batches of 32: one core, steps
per second without evaluation, both sides drawing fresh examples. Short runs are those of the
studies on times: width 10 on the online (20, 3)-parity, a look at 128 examples every 10 steps, and
stop at the first without an error; their rate is compared with that of the engine without looks,
in one process and in a pool of two, with as many steps. Compilation is left out in one process; a
pool's time is that of the whole call, less that of a pool with next to nothing to do.
"""

import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np
import torch
from threadpoolctl import threadpool_limits

import elegans as el
from benchmarks.line import Line, at_least, table

N, K, BATCH = 50, 3, 32
BAR_NETWORKS = 40.0
BAR_LOOKS = 0.5  # of the rate without looks
STEPS, TORCH_STEPS = 200_000, 3_000
SHORT_RUNS = 1_000
REPEATS = 3
NETWORKS: dict[str, Any] = {
    "sinusoid": el.models.MLP(width=1, activation=f"sinusoid:{K}", output_layer=False),
    "PolyNet": el.models.PolyNet(degree=K),
}


def our_rate(model: Any, steps: int = STEPS) -> float:
    """Steps a second of one run that is looked at only at its start and its end."""
    training = el.Training(
        learning_rate=1e-3, batch=BATCH, steps=steps, evaluate_every=steps, test_samples=128
    )
    run = el.run(el.Experiment(el.tasks.Parity(N, K), model, training))
    assert run.steps is not None
    assert run.seconds is not None
    return run.steps / run.seconds


def torch_rate(name: str, steps: int = TORCH_STEPS) -> float:
    """Steps a second of the loop that a researcher writes."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(N, 1 if name == "sinusoid" else K)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1e-3)

    def predict(x: torch.Tensor) -> torch.Tensor:
        z = layer(x)
        return torch.cos(np.pi / 2 * (z - K)).squeeze(-1) if name == "sinusoid" else z.prod(-1)

    def step() -> None:
        x = (torch.randint(0, 2, (BATCH, N)) * 2 - 1).float()
        y = x[:, :K].prod(1)
        loss = torch.relu(1 - y * predict(x)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(50):
        step()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    return steps / (time.perf_counter() - began)


def short_sweep(runs: int, *, looks: bool, steps: int = 20_000) -> el.Sweep:
    """Runs of width 10 on the online (20, 3)-parity, with looks or without."""
    options: dict[str, Any] = {"evaluate_every": steps, "stop": None}
    if looks:
        options = {"evaluate_every": 10, "stop": el.Stop(test_error=0.0)}
    training = el.Training(
        loss="hinge", learning_rate=1.0, batch=BATCH, steps=steps, test_samples=128, **options
    )
    experiment = el.Experiment(el.tasks.Parity(20, 3), el.models.MLP(width=10), training)
    return el.Sweep(experiment, seeds=runs)


def rates_in_one_process(runs: int = SHORT_RUNS) -> tuple[float, float]:
    """Steps a second with looks and without, in one process; both make about as many steps."""
    looking = short_sweep(runs, looks=True).run(workers=0, progress=False)
    steps = int(looking["steps"].median())
    plain = short_sweep(runs, looks=False, steps=steps).run(workers=0, progress=False)
    with_looks, without = (t["steps"].sum() / t["seconds"].sum() for t in (looking, plain))
    return float(with_looks), float(without)


def rates_in_a_pool(runs: int = SHORT_RUNS) -> tuple[float, float]:
    """The same for a pool of two processes, by the clock."""

    def timed(call: Callable[[], Any]) -> tuple[Any, float]:
        began = time.perf_counter()
        return call(), time.perf_counter() - began

    rates = []
    for looks in (True, False):
        few = short_sweep(2, looks=looks, steps=370)
        _, idle = timed(lambda few=few: few.run(workers=2, progress=False))
        many = short_sweep(runs, looks=looks, steps=20_000 if looks else 370)
        done, busy = timed(lambda many=many: many.run(workers=2, progress=False))
        rates.append(float(done["steps"].sum() / max(busy - idle, 1e-3)))
    return rates[0], rates[1]


def lines() -> list[Line]:
    """All lines of this table, sides alternating so that a slow minute hits both."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    torch.set_num_threads(1)
    table_lines = []
    with threadpool_limits(1):
        for name, model in NETWORKS.items():
            rounds = [(our_rate(model), torch_rate(name)) for _ in range(REPEATS)]
            ours, theirs = np.median(rounds, axis=0)
            text = f"{name} (50, 3): steps/s / PyTorch's ({ours:,.0f} / {theirs:,.0f})"
            table_lines.append(at_least(text, ours / theirs, BAR_NETWORKS, "x"))
        looking, plain = rates_in_one_process()
        text = (
            f"short runs, one process: steps/s with looks / without ({looking:,.0f} / {plain:,.0f})"
        )
        table_lines.append(at_least(text, looking / plain, BAR_LOOKS, "x"))
    os.sched_setaffinity(0, cores)
    looking, plain = rates_in_a_pool()
    text = f"short runs, pool of two: steps/s with looks / without ({looking:,.0f} / {plain:,.0f})"
    table_lines.append(at_least(text, looking / plain, BAR_LOOKS, "x"))
    return table_lines


if __name__ == "__main__":
    print(table(lines()))
