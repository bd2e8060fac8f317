"""Where a training step's time goes, by width: `python -m benchmarks.breakdown`. One core.

Each part is timed alone, in a compiled loop whose rounds depend on each other: drawing the batches,
the two matrix products (forward, and the gradient of the first layer), and the update of the first
weight matrix. What is left of the whole step are activations, the output layer, the loss, and the
fixed cost of some twenty small operations.
"""

import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import jax.random as jr

from benchmarks.training import BATCH, STEPS, K, M, N, experiment, our_steps
from elegans.keys import keys_of
from elegans.tasks import Parity
from elegans.training import source as data


def per_round(body: Callable[[Any], Any], start: Any, rounds: int) -> float:
    """Microseconds a round of a compiled loop, the fastest of five."""

    @jax.jit
    def loop(carry: Any) -> Any:
        return jax.lax.fori_loop(0, rounds, lambda _, c: body(c), carry)

    jax.block_until_ready(loop(start))
    times = []
    for _ in range(5):
        began = time.perf_counter()
        jax.block_until_ready(loop(start))
        times.append(time.perf_counter() - began)
    return 1e6 * min(times) / rounds


def drawing(width: int) -> float:
    """Microseconds to draw one step's batch, in bulk as the engine does."""
    task, training, keys = Parity(N, K), experiment(width).training, keys_of(0)
    bulk = data.steps_in_bulk(task, BATCH)

    def body(carry: Any) -> Any:
        step, total = carry
        x, y = data.batches(task, training, keys, step + jnp.arange(bulk))
        return step + bulk, total + x.sum() + y.sum()

    return per_round(body, (jnp.int32(0), jnp.float32(0)), 50) / bulk


def products(width: int) -> float:
    """Microseconds of the forward product and the first layer's gradient."""
    x, w = jr.normal(jr.key(0), (BATCH, N)), jr.normal(jr.key(1), (N, width)) * 1e-3

    def body(carry: Any) -> Any:
        x, w = carry
        z = x @ w
        return x * (1 + 1e-9 * z[0, 0]), x.T @ z * 1e-9

    return per_round(body, (x, w), max(20, STEPS[width] // 10))


def updating(width: int) -> float:
    """Microseconds to update the first weight matrix, given its gradient."""
    w = jr.normal(jr.key(1), (N, width))

    def body(carry: Any) -> Any:
        w, g = carry
        return w - 0.1 * (g + 0.01 * w), g

    return per_round(body, (w, 1e-3 * w), max(20, STEPS[width] // 10))


def main() -> None:
    """Prints the table."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("width    step us   drawing   products   update   rest")
    for width in STEPS:
        step = 1e6 / max(our_steps(width) for _ in range(3))
        parts = drawing(width), products(width), updating(width)
        rest = step - sum(parts)
        shares = "".join(f"{100 * part / step:9.0f}%" for part in (*parts, rest))
        print(f"{width:<8,} {step:7.1f} {shares}", flush=True)
    print("\nwidth    steps/s by lanes: 1, 4, 16")
    for width in (10, 100, 1_000):
        rates = [max(our_steps(width, lanes) for _ in range(3)) for lanes in (1, 4, 16)]
        print(f"{width:<8,}" + "".join(f"{rate:10,.0f}" for rate in rates), flush=True)
    print(f"\nm = {M:,}, n = {N}, batch {BATCH}")


if __name__ == "__main__":
    main()
