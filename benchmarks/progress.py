"""The smallest networks on parities beside an eager PyTorch loop: one process, one core.

A sinusoidal neuron and a PolyNet train online on the (50, 3)-parity with batches of 32; steps per
second without evaluation or compilation, both sides drawing fresh examples. Short runs with many
looks, of which the studies on times consist, are in `benchmarks/sweeps.py`, wider networks in
`benchmarks/training.py`.
"""

import os
import time
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
STEPS, TORCH_STEPS = 200_000, 3_000
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


def lines() -> list[Line]:
    """All lines of this table, sides alternating so that a slow minute hits both."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    table_lines = []
    with threadpool_limits(1):
        for name, model in NETWORKS.items():
            rounds = [(our_rate(model), torch_rate(name)) for _ in range(REPEATS)]
            ours, theirs = np.median(rounds, axis=0)
            text = f"{name} (50, 3): steps/s / PyTorch's ({ours:,.0f} / {theirs:,.0f})"
            table_lines.append(at_least(text, ours / theirs, BAR_NETWORKS, "x"))
    return table_lines


if __name__ == "__main__":
    print(table(lines()))
