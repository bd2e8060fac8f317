r"""The order of work: which runs travel together, and which go first.

Runs of one structure share compiled programs, and a *unit* is some of them. A unit is made when a
worker is about to be free: as many runs as should take `UNIT_SECONDS`, so that what a task costs
beside its runs (some 10 ms) stays below 5%, but no more than a fair share of what is left, so that
the workers end together. The kind whose runs take longest goes first. The first unit of a kind
compiles it; until that is back other kinds are preferred, and later workers find the program in the
cache.

What a run takes is guessed from its arithmetic, then learned: each kind keeps the ratio of seconds
to guess over its finished runs, which also knows how early they tend to stop.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.random as jr

from elegans.experiments.experiment import Experiment
from elegans.training import program

UNIT_SECONDS = 1.0
SHARE = 4  # of what is left, a unit takes at most this part of a worker's
FLOPS = 1e10  # arithmetic operations a second, as a first guess
STEP_FLOPS = 1e5  # what a step costs however small the network


@dataclass(eq=False)
class Kind:
    """Runs of one structure, the longest first, and what is known of their cost."""

    waiting: deque[int]
    waiting_guess: float  # seconds of all that wait
    flying_guess: float = 0.0  # and of all that a worker has
    done_guess: float = 0.0
    done_seconds: float = 0.0
    in_flight: int = 0
    is_compiled: bool = False


@dataclass(eq=False)
class Unit:
    """Some runs of one kind, by the numbers of their cells."""

    kind: Kind
    cells: list[int]
    losses: int = 0  # how often a worker died with it


class Plan:
    """What is left to do, and who is next."""

    def __init__(self, experiments: Sequence[Experiment]) -> None:
        self.workers, self.at_least = 1, 1  # set when it is known who works
        self.guess = guesses(experiments)
        self.kinds = []
        for cells in by_structure(experiments):
            longest_first = deque(sorted(cells, key=lambda i: -self.guess[i]))
            self.kinds.append(Kind(longest_first, sum(self.guess[i] for i in cells)))
        self.returned: deque[Unit] = deque()

    def next(self, in_flight: int) -> Unit | None:
        """The next unit, or None if nothing is waiting or all workers are well supplied."""
        if self.returned:
            return self.returned.popleft()
        waiting = [kind for kind in self.kinds if kind.waiting]
        settled = [kind for kind in waiting if kind.is_compiled or not kind.in_flight]
        is_idle = in_flight < self.workers
        if not waiting or not (is_idle or (settled and in_flight < 2 * self.workers)):
            return None
        ratio = self._ratios()
        kind = max(settled or waiting, key=lambda k: ratio[k] * self.guess[k.waiting[0]])
        waiting_seconds = sum(ratio[kind] * kind.waiting_guess for kind in waiting)
        size = min(UNIT_SECONDS, waiting_seconds / (SHARE * self.workers))
        cells: list[int] = []
        seconds = 0.0
        while kind.waiting and (seconds < size or len(cells) < self.at_least):
            cells.append(kind.waiting.popleft())
            kind.waiting_guess -= self.guess[cells[-1]]
            kind.flying_guess += self.guess[cells[-1]]
            seconds += ratio[kind] * self.guess[cells[-1]]
        kind.in_flight += 1
        return Unit(kind, cells)

    def done(self, unit: Unit, seconds: Sequence[float]) -> None:
        """Learns from a unit that is back, given what its runs took; NaN where they failed."""
        unit.kind.in_flight -= 1
        unit.kind.is_compiled = True
        for cell, took in zip(unit.cells, seconds, strict=True):
            unit.kind.flying_guess -= self.guess[cell]
            if not math.isnan(took):
                unit.kind.done_guess += self.guess[cell]
                unit.kind.done_seconds += took

    def drop(self, unit: Unit, cells: Sequence[int]) -> None:
        """Takes runs out of a unit that another driver has done."""
        unit.kind.flying_guess -= sum(self.guess[cell] for cell in cells)
        unit.cells = [cell for cell in unit.cells if cell not in cells]
        unit.kind.in_flight -= not unit.cells

    def lost(self, unit: Unit) -> None:
        """Takes back a unit whose worker died, to be tried again a run at a time."""
        unit.kind.in_flight += len(unit.cells) - 1
        self.returned += [Unit(unit.kind, [cell], unit.losses + 1) for cell in unit.cells]

    def seconds_left(self) -> float:
        """Computing time of the runs that are not done, as far as is known."""
        ratio = self._ratios()
        left = [ratio[kind] * (kind.waiting_guess + kind.flying_guess) for kind in self.kinds]
        return max(0.0, sum(left))

    def _ratios(self) -> dict[Kind, float]:
        """Seconds for each second that was guessed, by kind; that of all where none is known."""
        guess = sum(kind.done_guess for kind in self.kinds)
        overall = sum(kind.done_seconds for kind in self.kinds) / guess if guess else 1.0
        return {
            kind: kind.done_seconds / kind.done_guess if kind.done_guess else overall
            for kind in self.kinds
        }


def by_structure(experiments: Sequence[Experiment]) -> list[list[int]]:
    """The numbers of the experiments that share compiled programs."""
    groups: dict[Any, list[int]] = {}
    known: dict[int, Any] = {}  # of an object that many seeds share
    for i, e in enumerate(experiments):
        if id(e) not in known:
            known[id(e)] = program.split(e.task, e.model, e.training)[0]
        groups.setdefault(known[id(e)], []).append(i)
    return list(groups.values())


def guesses(experiments: Sequence[Experiment]) -> list[float]:
    """Seconds that each run may take at most: multiplications, and what a step costs by itself."""
    known: dict[int, float] = {}
    sizes: dict[Any, int] = {}
    for e in experiments:
        if id(e) not in known:
            known[id(e)] = _guess(e, sizes)
    return [known[id(e)] for e in experiments]


def _guess(experiment: Experiment, sizes: dict[Any, int]) -> float:
    task, model, training = experiment.task, experiment.model, experiment.training
    if (task, model) not in sizes:
        shapes = jax.eval_shape(lambda key: model.init_params(key, task), jr.key(0))
        parameters = sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(shapes))
        sizes[task, model] = parameters * getattr(task, "length", 1)  # once for each token
    steps, samples = int(training.steps), training.samples
    batch = training.batch or int(samples or 0)
    seen = min(int(training.test_samples), int(training.screen_rows)) + min(
        int(samples or 0), int(training.train_rows)
    )
    evaluations = steps // training.interval + 1
    rows = 6 * steps * batch + 2 * evaluations * seen + 2 * int(training.test_samples)
    return (rows * sizes[task, model] + steps * STEP_FLOPS) / FLOPS
