r"""Queues of runs, one per compiled structure: which travel together, and which go first.

Runs of one structure share compiled programs. A *load* is some of them, made when a worker is about
to be free: as many runs as should take `LOAD_SECONDS`, so that what a message costs (some 10 ms)
stays below 5%, but no more than a fair share of what is left, so that the workers end together. The
structure whose runs take longest goes first. Its first load compiles it; until that is back other
structures are preferred, and later workers find the program in the cache.

What a run takes is guessed from its arithmetic, then learned: each queue keeps the ratio of seconds
to guess over its finished runs, which also knows how early they tend to stop. `estimate` times
short runs before anything is done.
"""

import math
import time
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax

from elegans.experiments.experiment import Experiment
from elegans.protocols import param_shapes
from elegans.training import program
from elegans.training.loop import Job, train

LOAD_SECONDS = 1.0
FAIR_SHARE = 4  # a load takes at most this part of what is left for each worker
FLOPS_PER_SECOND = 1e10  # as a first guess
STEP_FLOPS = 1e5  # what a step costs however small the network
COMPUTATION_SECONDS = 2.0  # as a first guess, of what is not trained by the engine

TIMED_STRUCTURES = 6  # by `estimate`; the others are scaled by their arithmetic
TIMING_SECONDS = 0.5  # of guessed work that timing a structure may take
START_SECONDS = 2.0  # of a worker


@dataclass(eq=False)
class Queue:
    """Runs of one structure, the longest first, and what is known of their cost in seconds."""

    waiting: deque[int]
    waiting_guess: float
    flying_guess: float = 0.0  # of all that a worker has
    done_guess: float = 0.0
    done_seconds: float = 0.0
    in_flight: int = 0
    is_compiled: bool = False


@dataclass(eq=False)
class Load:
    """Some runs of one queue, by their numbers."""

    queue: Queue
    runs: list[int]
    losses: int = 0  # how often a worker died with it


class Schedule:
    """All queues, and the choice of the next load.

    Args:
        experiments: One per run; computations among them.
        companions: What else runs have to share to travel together (probes, say), one per run.
    """

    def __init__(
        self, experiments: Sequence[Any], companions: Sequence[Hashable] | None = None
    ) -> None:
        self.workers, self.at_least = 1, 1  # set when it is known who works
        self.guess = guesses(experiments)
        self.queues = []
        for runs in by_structure(experiments, companions):
            longest_first = deque(sorted(runs, key=lambda i: -self.guess[i]))
            self.queues.append(Queue(longest_first, sum(self.guess[i] for i in runs)))
        self.returned: deque[Load] = deque()

    def next(self, in_flight: int) -> Load | None:
        """The next load, or None if nothing is waiting or all workers are well supplied."""
        if self.returned:
            return self.returned.popleft()
        waiting = [queue for queue in self.queues if queue.waiting]
        settled = [queue for queue in waiting if queue.is_compiled or not queue.in_flight]
        is_idle = in_flight < self.workers
        if not waiting or not (is_idle or (settled and in_flight < 2 * self.workers)):
            return None
        ratio = self._ratios()
        queue = max(settled or waiting, key=lambda q: ratio[q] * self.guess[q.waiting[0]])
        waiting_seconds = sum(ratio[queue] * queue.waiting_guess for queue in waiting)
        size = min(LOAD_SECONDS, waiting_seconds / (FAIR_SHARE * self.workers))
        runs: list[int] = []
        seconds = 0.0
        while queue.waiting and (seconds < size or len(runs) < self.at_least):
            runs.append(queue.waiting.popleft())
            queue.waiting_guess -= self.guess[runs[-1]]
            queue.flying_guess += self.guess[runs[-1]]
            seconds += ratio[queue] * self.guess[runs[-1]]
        queue.in_flight += 1
        return Load(queue, runs)

    def done(self, load: Load, seconds: Sequence[float]) -> None:
        """Learns from a load that is back, given what its runs took; NaN where they failed."""
        load.queue.in_flight -= 1
        load.queue.is_compiled = True
        for run, took in zip(load.runs, seconds, strict=True):
            load.queue.flying_guess -= self.guess[run]
            if not math.isnan(took):
                load.queue.done_guess += self.guess[run]
                load.queue.done_seconds += took

    def drop(self, load: Load, runs: Sequence[int]) -> None:
        """Takes runs out of a load that another driver has done."""
        load.queue.flying_guess -= sum(self.guess[run] for run in runs)
        load.runs = [run for run in load.runs if run not in runs]
        load.queue.in_flight -= not load.runs

    def lost(self, load: Load) -> None:
        """Takes back a load whose worker died, to be tried again run by run."""
        load.queue.in_flight += len(load.runs) - 1
        self.returned += [Load(load.queue, [run], load.losses + 1) for run in load.runs]

    def seconds_left(self) -> float:
        """Computing time of the runs that are not done, as far as is known."""
        ratio = self._ratios()
        left = [ratio[queue] * (queue.waiting_guess + queue.flying_guess) for queue in self.queues]
        return max(0.0, sum(left))

    def _ratios(self) -> dict[Queue, float]:
        """Seconds per guessed second, by queue; that of all where none is known."""
        guess = sum(queue.done_guess for queue in self.queues)
        overall = sum(queue.done_seconds for queue in self.queues) / guess if guess else 1.0
        return {
            queue: queue.done_seconds / queue.done_guess if queue.done_guess else overall
            for queue in self.queues
        }


def by_structure(
    experiments: Sequence[Any], companions: Sequence[Hashable] | None = None
) -> list[list[int]]:
    """The numbers of the experiments that share compiled programs (and companions)."""
    groups: dict[Any, list[int]] = {}
    known: dict[int, Any] = {}  # of an object that many seeds share
    for i, experiment in enumerate(experiments):
        if id(experiment) not in known:
            known[id(experiment)] = _structure(experiment)
        others = companions[i] if companions is not None else None
        groups.setdefault((known[id(experiment)], others), []).append(i)
    return list(groups.values())


def guesses(experiments: Sequence[Any]) -> list[float]:
    """Seconds that each run may take at most: multiplications, and what a step costs by itself."""
    known: dict[int, float] = {}
    sizes: dict[Any, int] = {}
    for experiment in experiments:
        if id(experiment) not in known:
            known[id(experiment)] = _guess(experiment, sizes)
    return [known[id(experiment)] for experiment in experiments]


def _structure(experiment: Any) -> Any:
    if not isinstance(experiment, Experiment):
        return type(experiment)
    return program.split(experiment.task, experiment.model, experiment.training)[0]


def _guess(experiment: Any, sizes: dict[Any, int]) -> float:
    if not isinstance(experiment, Experiment):
        return COMPUTATION_SECONDS
    task, model, training = experiment.task, experiment.model, experiment.training
    if (task, model) not in sizes:
        shapes = param_shapes(model, task)
        parameters = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes))
        sizes[task, model] = parameters * getattr(task, "length", 1)  # once for each token
    steps, samples = int(training.steps), int(training.samples or 0)
    batch = training.batch or samples
    looked_at = min(int(training.test_samples), int(training.screen_rows))
    looked_at += min(samples, int(training.train_rows))
    evaluations = steps // training.interval + 1
    rows = 6 * steps * batch + 2 * evaluations * looked_at + 2 * int(training.test_samples)
    return (rows * sizes[task, model] + steps * STEP_FLOPS) / FLOPS_PER_SECOND


class Estimate(NamedTuple):
    """Computing time of all runs together, of how many structures, and what one compiles."""

    seconds: float
    structures: int
    compiling: float

    def on(self, workers: int) -> float:
        """Seconds by the clock with so many workers, each of which meets every structure."""
        return self.seconds / max(1, workers) + self.structures * self.compiling + START_SECONDS


def estimate(experiments: Sequence[Experiment]) -> Estimate:
    """The computing time of runs of these experiments, from timing some of them briefly.

    A run costs a little at each step and more at each evaluation, and both repeat, so the first
    evaluations tell what all of them take. Runs that meet their stop rule end earlier: this is what
    remains if none does.
    """
    if not experiments:
        return Estimate(0.0, 0, 0.0)
    guess = guesses(experiments)
    groups = by_structure(experiments)
    groups.sort(key=lambda runs: -sum(guess[i] for i in runs))
    ratios, compiling = [], []
    for runs in groups[:TIMED_STRUCTURES]:
        longest = max(runs, key=lambda i: guess[i])
        began = time.perf_counter()
        seconds, part = _timed(experiments[longest], guess[longest])
        compiling.append(time.perf_counter() - began - part)
        ratios.append(seconds / guess[longest])
    mean = sum(ratios) / len(ratios)
    ratios += [mean] * (len(groups) - len(ratios))
    total = sum(r * sum(guess[i] for i in runs) for r, runs in zip(ratios, groups, strict=True))
    return Estimate(total, len(groups), sum(compiling) / len(compiling))


def _timed(experiment: Experiment, guess: float) -> tuple[float, float]:
    """What a whole run takes, from its first part, and what that part took."""
    training = experiment.training
    steps, interval = int(training.steps), training.interval
    wanted = max(interval, int(steps * min(1.0, TIMING_SECONDS / guess)))
    short = min(steps, -(-wanted // interval) * interval)
    # The interval is that of the whole run, which by default is a part of its steps.
    part = replace(training, steps=short, evaluate_every=interval)
    ((_, run),) = train([Job(0, replace(experiment, training=part), 0)])
    assert run.seconds is not None
    assert run.steps is not None
    return run.seconds * steps / max(1, run.steps), run.seconds
