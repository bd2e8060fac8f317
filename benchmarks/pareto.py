"""Runs of the success frontier: what evaluation costs, and how much memory a wide network takes.

The share of evaluation is that of a run with 10,000 samples and width 100 in the frontier's recipe
(a look every 500 steps, at 1,000 training rows and 1,000 test rows), against the same run with a
single look at its end. The peak is of a process of its own that trains width 100,000 at n = 300,
the widest network of the paper's grid.
"""

import subprocess
import sys
import time
from dataclasses import replace

import elegans as el
from benchmarks.line import Line, at_most
from elegans.models import MLP, inits
from elegans.studies.pareto import recipe
from elegans.tasks import Parity

STEPS = 60_000
SEEDS = 5
WIDE = """
import resource, sys
import elegans as el
from elegans.models import MLP, inits
from elegans.studies.pareto import recipe
from elegans.tasks import Parity
training = recipe.training(10_000, 20, 10)
run = el.run(el.Experiment(Parity(300, 3), MLP(width=100_000, init=inits.Sparse(2)), training))
assert run.status == "done" and run.steps == 20, run
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)  # in kB
"""


def run_seconds(training: el.Training) -> float:
    """The least processor time of a few runs of width 100, without compilation."""
    experiment = el.Experiment(Parity(50, 4), MLP(width=100, init=inits.Uniform()), training)
    el.run(experiment, seed=SEEDS)  # compiles
    times = []
    for seed in range(SEEDS):
        began = time.process_time()
        el.run(experiment, seed=seed)
        times.append(time.process_time() - began)
    return min(times)


def evaluation_share() -> float:
    """The share of a run's time that its evaluations take, in percent."""
    training = replace(recipe.training(10_000, STEPS), stop=None)
    whole = run_seconds(training)
    bare = run_seconds(replace(training, evaluate_every=STEPS))
    return 100 * (1 - bare / whole)


def peak_memory() -> float:
    """The most memory that a run of width 100,000 at n = 300 holds, in GB."""
    output = subprocess.run(
        [sys.executable, "-c", WIDE], check=True, capture_output=True, text=True
    ).stdout
    return int(output.split()[-1]) / 1e6


def lines() -> list[Line]:
    """Both measurements."""
    return [
        at_most("evaluation in a run, m = 10,000, width 100", evaluation_share(), 10, "%"),
        at_most("peak memory, width 100,000, n = 300", peak_memory(), 2, "GB"),
    ]
