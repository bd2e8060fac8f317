"""How long a sweep will take, from short runs of its own experiments.

A run costs a little at each step and more at each evaluation, and both repeat, so the first
evaluations of a run tell what all of them take. Runs that meet their stop rule end earlier: the
estimate is of what remains if none does, and so an upper one.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from elegans.experiments.experiment import Experiment
from elegans.sweeps.plan import by_structure, guesses
from elegans.training.loop import Job, train

KINDS = 6  # structures that are timed; the others are scaled by their arithmetic
SECONDS = 0.5  # of guessed work that timing a structure may take
START = 2.0  # seconds to start a worker


class Estimate(NamedTuple):
    """Computing time of all runs together, of how many shapes they are, and what one compiles."""

    seconds: float
    shapes: int
    compiling: float

    def on(self, workers: int) -> float:
        """Seconds by the clock with so many workers, each of which meets every shape."""
        return self.seconds / max(1, workers) + self.shapes * self.compiling + START


def estimate(experiments: Sequence[Experiment]) -> Estimate:
    """The computing time of runs of these experiments, from timing some of them briefly."""
    if not experiments:
        return Estimate(0.0, 0, 0.0)
    guess = guesses(experiments)
    kinds = by_structure(experiments)
    kinds.sort(key=lambda cells: -sum(guess[i] for i in cells))
    ratios, compiling = [], []
    for cells in kinds[:KINDS]:
        longest = max(cells, key=lambda i: guess[i])
        began = time.perf_counter()
        seconds, part = timed(experiments[longest], guess[longest])
        compiling.append(time.perf_counter() - began - part)
        ratios.append(seconds / guess[longest])
    mean = sum(ratios) / len(ratios)
    ratios += [mean] * (len(kinds) - len(ratios))
    total = sum(r * sum(guess[i] for i in cells) for r, cells in zip(ratios, kinds, strict=True))
    return Estimate(total, len(kinds), sum(compiling) / len(compiling))


def timed(experiment: Experiment, guess: float) -> tuple[float, float]:
    """What a whole run takes, from its first part, and what that part took."""
    training = experiment.training
    steps, interval = int(training.steps), training.interval
    wanted = max(interval, int(steps * min(1.0, SECONDS / guess)))
    short = min(steps, -(-wanted // interval) * interval)
    # The interval is that of the whole run, which by default is a part of its steps.
    part = replace(training, steps=short, evaluate_every=interval)
    ((_, outcome),) = train([Job(0, replace(experiment, training=part), 0)])
    seconds = outcome.seconds or 0.0
    return seconds * steps / max(1, outcome.steps or 0), seconds
