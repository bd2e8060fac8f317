"""Where the time of a short run goes: `python -m benchmarks.short_runs`. One core.

Runs of width 10 on the online (20, 3)-parity that look every 10 steps at 128 examples and stop at
zero error. A sweep of them is timed as a whole; then training alone; then, within it, the calls of
the compiled program that advances and looks. All in CPU time, so that others on the machine
disturb little.
"""

import os
import time
from typing import Any

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax

import elegans as el
from benchmarks.sweeps import looking
from elegans.training import program
from elegans.training.loop import Job, train

RUNS, ROUNDS = 400, 3


def sweep_seconds() -> float:
    """CPU seconds of a sweep in this process, store and driver included."""
    began = time.process_time()
    el.Sweep(looking(), seeds=RUNS).run(workers=0, progress=False)
    return time.process_time() - began


def training_seconds() -> tuple[float, float]:
    """CPU seconds of training alone, and of the compiled program within it."""
    experiment, original, inside = looking(), program.advance_and_look, 0.0

    def timed(*arguments: Any) -> Any:
        nonlocal inside
        began = time.process_time()
        result = jax.block_until_ready(original(*arguments))
        inside += time.process_time() - began
        return result

    program.advance_and_look = timed  # type: ignore[assignment]
    began = time.process_time()
    for _ in train([Job(i, experiment, i) for i in range(RUNS)], with_params=False):
        pass
    seconds = time.process_time() - began
    program.advance_and_look = original
    return seconds, inside


def main() -> None:
    """Prints the milliseconds of a run, and what they are spent on; the least of some rounds."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sweep_seconds()  # compiles
    whole = min(sweep_seconds() for _ in range(ROUNDS))
    training, inside = min(training_seconds() for _ in range(ROUNDS))
    parts = {
        "whole run": whole,
        "compiled program": inside,
        "rest of training": training - inside,
        "store and driver": whole - training,
    }
    for name, seconds in parts.items():
        print(f"{name:<18} {1e3 * seconds / RUNS:.2f} ms")


if __name__ == "__main__":
    main()
