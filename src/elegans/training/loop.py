r"""Running: compiled chunks of steps, a look between chunks, early stop.

Runs of one structure train side by side in a fixed number of lanes; a lane that finishes takes the
next waiting run. The number of lanes depends on the device alone and idle lanes stand still, so a
run's record is a function of its experiment and seed: neither its lane, nor its neighbours, nor
the order of runs enters. On a CPU core it is one: more gain a fifth at width 10 and lose at 1,000
(docs/performance.md), and a single run would pay for all of them.

Evaluation is staged. At each one the train error and the test error on a screening part of the test
set are measured; only if that is within five standard errors of the stop rule is the whole test set
computed. A run succeeds on the whole test set alone, and its reported test error is from there.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from elegans.fields import Count, Structure
from elegans.keys import Keys, keys_of
from elegans.protocols import Probe, path_name
from elegans.runs import Run
from elegans.training import program
from elegans.training.program import Observation, Rows, State, Sums
from elegans.training.recipe import Training
from elegans.training.source import is_stored, resolved

TRAIN_ROWS = 10_000  # the train error is measured on so many rows at most
SCREEN_ROWS = 1_000  # of the test set, measured at each evaluation
CURVES = ("step", "train_loss", "train_error", "test_loss", "test_error", "test_rows")
NOTHING = Rows(0, 0)
Watch = Callable[[int, dict[str, float | int]], None]


class Job(NamedTuple):
    """A run to be done.

    Attributes:
        number: The caller's, to know the run by.
        experiment: Anything with a `task`, a `model`, a `training` and a `name`.
        seed: The source of all randomness.
        initial: Parameters to start from; None is those that the model draws.
    """

    number: int
    experiment: Any
    seed: int
    initial: PyTree | None = None


@dataclass
class _Lane:
    """A run under way."""

    job: Job
    training: Training
    keys: Keys
    numbers: tuple[Any, ...]
    initial: PyTree
    step: int = 0
    seconds: float = 0.0
    curves: list[tuple[float, ...]] = field(default_factory=list)
    probes: list[dict[str, PyTree]] = field(default_factory=list)

    @property
    def due(self) -> int:
        """Steps until the next evaluation; none before the first, which sees the start."""
        training = self.training
        if not self.curves:
            return 0
        return min(training.interval, int(training.steps) - self.step)

    @property
    def screening(self) -> Rows:
        """The rows that every evaluation looks at."""
        training = self.training
        train = 0 if training.samples is None else min(int(training.samples), TRAIN_ROWS)
        return Rows(train, min(int(training.test_samples), SCREEN_ROWS))

    @property
    def testing(self) -> Rows:
        """The whole test set."""
        return Rows(0, int(self.training.test_samples))

    def is_at_end(self, seen: Observation, i: int) -> bool:
        """Whether the whole test set is worth computing."""
        training = self.training
        if self.step >= int(training.steps) or not seen.is_finite[i]:
            return True
        if training.stop is None:
            return False
        goal = float(training.stop.test_error)
        error = float(seen.test.error[i]) / int(seen.test.rows[i])
        return error <= goal + 5 * (goal * (1 - goal) / SCREEN_ROWS) ** 0.5

    def record(self, seen: Observation, probes: dict[str, PyTree]) -> None:
        """Appends an evaluation to the curves."""
        curves = (*_mean(seen.train), *_mean(seen.test), int(seen.test.rows))
        self.curves.append((self.step, *curves))
        self.probes.append(probes)

    def is_over(self, *, is_finite: bool) -> bool:
        """Whether the run is finished, after `record`."""
        training = self.training
        return self.step >= int(training.steps) or not is_finite or bool(self.has_succeeded)

    @property
    def has_succeeded(self) -> bool | None:
        """Whether the newest test error is of the whole test set and meets the stop rule."""
        training = self.training
        if training.stop is None:
            return None
        row = dict(zip(CURVES, self.curves[-1], strict=True))
        is_whole = row["test_rows"] == int(training.test_samples)
        return is_whole and row["test_error"] <= float(training.stop.test_error)


def default_lanes() -> int:
    """How many runs to train side by side on this device."""
    return 1 if jax.default_backend() == "cpu" else 64


def train(
    jobs: Iterable[Job],
    *,
    probes: dict[str, Probe] | None = None,
    lanes: int | None = None,
    watch: Watch | None = None,
) -> Iterator[tuple[int, Run]]:
    """Trains jobs of one structure and yields each job's number and record as it finishes.

    Args:
        jobs: Runs whose experiments differ in traced numbers only, with any seeds.
        probes: What to look at besides losses and errors, by name; called with a `View`.
        lanes: Runs side by side; None is what suits the device.
        watch: Called with a run's number and its newest row of curves at each evaluation.
    """
    if "step" in (probes or {}):
        raise ValueError("A probe is not named 'step': the steps of its column have that name.")
    waiting = iter(jobs)
    first = [job for _, job in zip(range(lanes or default_lanes()), waiting, strict=False)]
    if first:
        yield from _Bench(first, waiting, probes or {}, lanes or default_lanes(), watch).run()


class _Bench:
    """Lanes of runs of one structure, and the queue that refills them."""

    def __init__(
        self,
        first: list[Job],
        waiting: Iterator[Job],
        probes: dict[str, Probe],
        lanes: int,
        watch: Watch | None,
    ) -> None:
        self.structure, _ = _split(first[0])
        program.STRUCTURES.add(self.structure)
        self.waiting, self.lanes, self.watch = waiting, lanes, watch
        self.probes = tuple(sorted(probes.items()))
        started = [self._start(job) for job in first]
        self.active: list[_Lane | None] = [lane for lane, _, _ in started]
        self.active += [None] * (lanes - len(first))
        padded = started + [started[0]] * (lanes - len(first))
        self.state: State = stacked([state for _, state, _ in padded])
        self.full_batch: PyTree = stacked([rows for _, _, (rows, _) in padded])
        self.table: PyTree = stacked([table for _, _, (_, table) in padded])
        self.numbers: Any = stacked([lane.numbers for lane, _, _ in padded])
        self.keys: Keys = stacked([lane.keys for lane, _, _ in padded])
        self.initial: PyTree = stacked([lane.initial for lane, _, _ in padded])

    def run(self) -> Iterator[tuple[int, Run]]:
        """Advances all lanes, chunk by chunk, until no run is left."""
        self._advance([0] * self.lanes)  # compiles, and moves nothing
        self._observe([NOTHING] * self.lanes)
        self._probe()
        while any(self.active):
            began = time.perf_counter()
            self._advance([lane.due if lane else 0 for lane in self.active])
            jax.block_until_ready(self.state)
            yield from self._look(time.perf_counter() - began)

    def _start(self, job: Job) -> tuple[_Lane, State, tuple[PyTree, PyTree]]:
        structure, numbers = _split(job)
        assert structure == self.structure, f"{job} has another structure than its neighbours"
        task, model = job.experiment.task, job.experiment.model
        training = resolved(task, job.experiment.training)
        keys = keys_of(job.seed)
        state = program.start(structure, model, numbers, keys, job.initial)
        table: PyTree = task.stored(keys.data) if is_stored(task) else ()
        rows: PyTree = ()
        if training.batch is None:
            assert training.samples is not None
            samples = int(training.samples)
            rows = program.whole_training_set(structure, samples, numbers, keys, table)
        return _Lane(job, training, keys, numbers, _copied(state.params)), state, (rows, table)

    def _advance(self, counts: list[int]) -> None:
        self.state = program.advance(
            self.structure,
            self.lanes,
            self.numbers,
            self.state,
            self.keys,
            np.asarray(counts, np.int32),
            self.full_batch,
            self.table,
        )
        for lane, count in zip(self.active, counts, strict=True):
            if lane:
                lane.step += count

    def _observe(self, rows: list[Rows]) -> Observation:
        return jax.device_get(
            program.observe(
                self.structure,
                self.lanes,
                self.numbers,
                self.state.params,
                self.keys,
                jax.tree.map(lambda *counts: np.asarray(counts, np.int32), *rows),
                self.table,
            )
        )

    def _probe(self) -> dict[str, PyTree]:
        """What the probes see of all lanes; nothing is compiled if there are none."""
        if not self.probes:
            return {}
        steps = np.asarray([lane.step if lane else 0 for lane in self.active], np.int32)
        arguments = (self.numbers, self.state.params, self.initial, self.keys, steps)
        return jax.device_get(program.probe(self.structure, self.lanes, self.probes, *arguments))

    def _look(self, elapsed: float) -> Iterator[tuple[int, Run]]:
        """Records an evaluation of every lane, and yields and refills those that are done."""
        began = time.perf_counter()
        seen = self._observe([lane.screening if lane else NOTHING for lane in self.active])
        is_over = [
            lane is not None and lane.is_at_end(seen, i) for i, lane in enumerate(self.active)
        ]
        if any(is_over):
            full = [
                lane.testing if lane and over else NOTHING
                for lane, over in zip(self.active, is_over, strict=True)
            ]
            seen = _merged(seen, self._observe(full).test, is_over)
        probes = self._probe()
        elapsed += time.perf_counter() - began
        running = max(1, sum(lane is not None for lane in self.active))
        for i, lane in enumerate(self.active):
            if lane is None:
                continue
            lane.seconds += elapsed / running
            lane.record(*jax.tree.map(lambda leaf, i=i: leaf[i], (seen, probes)))
            if self.watch:
                self.watch(lane.job.number, dict(zip(CURVES, lane.curves[-1], strict=True)))
            if lane.is_over(is_finite=bool(seen.is_finite[i])):
                yield lane.job.number, self._finished(lane, i, bool(seen.is_finite[i]))
                self._refill(i)

    def _finished(self, lane: _Lane, i: int, is_finite: bool) -> Run:
        """The record of the run in lane `i`."""
        history = dict(zip(CURVES, np.asarray(lane.curves, np.float64).T, strict=True))
        for name in ("step", "test_rows"):
            history[name] = history[name].astype(np.int64)
        probes: dict[str, np.ndarray] = {}
        if self.probes:
            stacked_probes = jax.tree.map(lambda *values: np.stack(values), *lane.probes)
            probes = {"step": history["step"], **columns(stacked_probes)}
        return Run(
            source=lane.job.experiment,
            hash=lane.job.experiment.name,
            seed=lane.job.seed,
            status="done" if is_finite else "diverged",
            success=lane.has_succeeded,
            steps=lane.step,
            test_error=float(history["test_error"][-1]),
            test_loss=float(history["test_loss"][-1]),
            train_error=float(history["train_error"][-1]),
            train_loss=float(history["train_loss"][-1]),
            seconds=lane.seconds,
            arrays={
                "history": history,
                "probes": probes,
                "params": columns(jax.device_get(_lane(self.state.params, i))),
            },
        )

    def _refill(self, i: int) -> None:
        """Puts the next waiting run into lane `i`."""
        job = next(self.waiting, None)
        if job is None:
            self.active[i] = None
            return
        lane, state, rows = self._start(job)
        self.active[i] = lane
        fresh = (state, *rows, lane.numbers, lane.keys, lane.initial)
        held = (self.state, self.full_batch, self.table, self.numbers, self.keys, self.initial)
        held = _placed(held, fresh, i)
        self.state, self.full_batch, self.table, self.numbers, self.keys, self.initial = held


@partial(jax.jit, donate_argnums=0)
def _placed(held: PyTree, fresh: PyTree, i: Count) -> PyTree:
    """`held` with `fresh` in lane `i`: one call, as a call a leaf took a tenth of a short run."""
    return jax.tree.map(lambda old, new: old.at[i].set(new), held, fresh)


@jax.jit
def _copied(tree: PyTree) -> PyTree:
    return jax.tree.map(jnp.copy, tree)


@jax.jit
def _lane(tree: PyTree, i: Count) -> PyTree:
    return jax.tree.map(lambda leaf: leaf[i], tree)


@jax.jit
def stacked(trees: list[PyTree]) -> PyTree:
    """Trees of one shape as a tree whose leaves have a leading axis of lanes."""
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *trees)


def columns(tree: PyTree) -> dict[str, np.ndarray]:
    """The leaves of a tree by their dotted paths."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {path_name(path): np.asarray(leaf) for path, leaf in leaves}


def _split(job: Job) -> tuple[Structure, tuple[Any, ...]]:
    """The structure and the numbers of a job's experiment, rows of stored tables counted."""
    task, model, training = job.experiment.task, job.experiment.model, job.experiment.training
    return program.split(task, model, resolved(task, training))


def _mean(sums: Sums) -> tuple[float, float]:
    """Loss and error, divided in double precision so that 1,000 of 10,000 is exactly 0.1."""
    if int(sums.rows) == 0:
        return float("nan"), float("nan")
    return float(sums.loss) / int(sums.rows), float(sums.error) / int(sums.rows)


def _merged(seen: Observation, full: Sums, lanes: list[bool]) -> Observation:
    """`seen` with the whole test set's sums in the given lanes."""
    loss, error, rows = (np.where(lanes, *pair) for pair in zip(full, seen.test, strict=True))
    return seen._replace(test=Sums(loss, error, rows))
