r"""Running: compiled chunks of steps and looks, early stop, lanes that are refilled.

Runs of one structure train side by side in a fixed number of lanes; a lane that finishes takes the
next waiting run. Idle lanes stand still, so a run's record is a function of its experiment and
seed: neither its lane, nor its neighbours, nor the order of runs enters. Nor does how many looks a
call makes, which is a matter of time alone: one where probes look too, as they are compiled apart,
and otherwise as many as take a tenth of a second.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from elegans.fields import Count
from elegans.keys import Keys
from elegans.protocols import Probe
from elegans.runs import Run
from elegans.training import program
from elegans.training.evaluation import Look
from elegans.training.lanes import CURVES, Lane, default_lanes
from elegans.training.lanes import Job as Job
from elegans.training.program import LOOKS, Structure
from elegans.training.source import Whole, keys_for, resolved, table_of
from elegans.training.step import State

CALL_SECONDS = 0.1  # that a call should take, so that progress is seen
Watch = Callable[[int, dict[str, float | int]], None]


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
        lanes: Runs side by side; None is what suits the device and the structure.
        watch: Called with a run's number and its newest row of curves at each evaluation.
    """
    if "step" in (probes or {}):
        raise ValueError("'step' is the name of a column of its own; give the probe another name.")
    waiting = iter(jobs)
    leader = next(waiting, None)
    if leader is None:
        return
    lanes = lanes or default_lanes(lane_bytes(leader) if jax.default_backend() != "cpu" else 0)
    first = [leader, *itertools.islice(waiting, lanes - 1)]
    yield from _Bench(first, waiting, probes or {}, lanes, watch).run()


def lane_bytes(job: Job) -> int:
    """What a run takes in memory: its state with a gradient, twice, and its batches."""
    structure, numbers = _split(job)
    state = jax.eval_shape(
        lambda keys: program.start(structure, job.experiment.model, numbers, keys, job.initial),
        keys_for(job.experiment.task, 0),
    )
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
    # Activations: as many numbers a row as the widest parameter has columns, and back.
    widest = max((max(leaf.shape, default=1) for leaf in jax.tree.leaves(state.params)), default=1)
    rows = max(structure.full_rows or 0, job.experiment.training.batch or 0, structure.block)
    return 3 * size + 8 * rows * widest


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
        stop = first[0].experiment.training.stop
        self.stop_probe = None if stop is None else stop.probe
        self.most_looks = 1  # in the next call
        started = [self._start(job) for job in first]
        self.active: list[Lane | None] = [lane for lane, _, _ in started]
        self.active += [None] * (lanes - len(first))
        padded = started + [started[0]] * (lanes - len(first))
        trees = [(state, *rows, lane.keys, lane.initial) for lane, state, rows in padded]
        self.state: State
        self.keys: Keys
        # all at once: one small program to compile, not five
        self.state, self.full_batch, self.table, self.keys, self.initial = stacked(trees)
        self.numbers = host_stacked([lane.numbers for lane, _, _ in padded])
        self.idle = started[0][0].looks(0)  # what an idle lane does: no look

    def run(self) -> Iterator[tuple[int, Run]]:
        """Advances all lanes, call by call, until no run is left."""
        self._advance(0)  # compiles, and moves nothing
        self._probe()
        while any(self.active):
            began = time.perf_counter()
            looks, counts = self._advance(self.most_looks)
            probes, values = self._probe()
            elapsed = time.perf_counter() - began
            if not (self.probes or self.stop_probe) and elapsed < CALL_SECONDS / 2:
                self.most_looks = min(LOOKS, 2 * self.most_looks)
            elif elapsed > CALL_SECONDS:
                self.most_looks = max(1, self.most_looks // 2)
            yield from self._record(looks, counts, probes, values, elapsed)

    def _start(self, job: Job) -> tuple[Lane, State, tuple[PyTree, PyTree]]:
        structure, numbers = _split(job)
        assert structure == self.structure, f"{job} has another structure than its neighbours"
        task, model, training = job.experiment.task, job.experiment.model, job.experiment.training
        keys = keys_for(task, job.seed)
        state = program.start(structure, model, numbers, keys, job.initial)
        table = table_of(task, model, training, keys.data)
        rows: PyTree = ()
        if isinstance(table, Whole):
            rows = table
        elif training.batch is None:
            rows = program.whole_training_set(structure, numbers, keys, table)
        is_watched = self.probes or self.stop_probe is not None
        initial = _copied(state.params) if is_watched else ()
        lane = Lane(job, resolved(task, training), keys, numbers, initial)
        return lane, state, (rows, table)

    def _advance(self, most: int) -> tuple[Look, np.ndarray]:
        """What the next looks of all lanes saw, and how many each lane made."""
        looks = [lane.looks(most) if lane else self.idle for lane in self.active]
        self.state, record, counts = program.advance_and_look(
            self.structure,
            self.lanes,
            self.numbers,
            self.state,
            self.keys,
            jax.tree.map(lambda *leaves: np.stack(leaves), *looks),
            self.full_batch,
            self.table,
        )
        self.due = [np.asarray(look.due) for look in looks]
        return jax.device_get((record, counts))

    def _probe(self) -> tuple[dict[str, PyTree], np.ndarray | None]:
        """What the probes see of all lanes, and what the stop rule's own does."""
        probes = self.probes
        if self.stop_probe is not None:
            probes = (*probes, ("", self.stop_probe))
        if not probes:
            return {}, None
        arguments = (self.numbers, self.state.params, self.initial, self.keys, self.state.step)
        values = jax.device_get(program.probe(self.structure, self.lanes, probes, *arguments))
        return values, values.pop("", None)

    def _record(
        self,
        looks: Look,
        counts: np.ndarray,
        probes: dict[str, PyTree],
        values: np.ndarray | None,
        elapsed: float,
    ) -> Iterator[tuple[int, Run]]:
        """Records the looks of every lane, and yields and refills those that are done."""
        running = max(1, sum(lane is not None for lane in self.active))
        for i, lane in enumerate(self.active):
            if lane is None:
                continue
            lane.seconds += elapsed / running
            count = int(counts[i])
            newest: Look = jax.tree.map(lambda leaf, at=(i, slice(count)): leaf[at], looks)
            lane.record(newest, self.due[i][:count])
            if self.watch:
                for row in lane.curves[-count:]:
                    self.watch(lane.job.number, dict(zip(CURVES, row, strict=True)))
            if self.probes:
                lane.probes.append(jax.tree.map(lambda leaf, i=i: leaf[i], probes))
            is_finite = bool(newest.is_finite[-1])
            if lane.is_over(is_finite, None if values is None else float(values[i])):
                yield lane.job.number, lane.finished(is_finite, self._params(i))
                self._refill(i)

    def _params(self, i: int) -> PyTree:
        """The parameters in lane `i`; of one lane alone they need not be cut out first."""
        params = self.state.params if self.lanes == 1 else _lane(self.state.params, i)
        params = jax.device_get(params)
        return jax.tree.map(lambda leaf: leaf[0], params) if self.lanes == 1 else params

    def _refill(self, i: int) -> None:
        """Puts the next waiting run into lane `i`."""
        job = next(self.waiting, None)
        if job is None:
            self.active[i] = None
            return
        lane, state, rows = self._start(job)
        self.active[i] = lane
        self.numbers = tuple(
            np.concatenate([old[:i], new, old[i + 1 :]])
            for old, new in zip(self.numbers, host_stacked([lane.numbers]), strict=True)
        )
        fresh = (state, *rows, lane.keys, lane.initial)
        lanes = (self.state, self.full_batch, self.table, self.keys, self.initial)
        lanes = _placed(lanes, fresh, i)
        self.state, self.full_batch, self.table, self.keys, self.initial = lanes


@partial(jax.jit, donate_argnums=0)
def _placed(lanes: PyTree, fresh: PyTree, i: Count) -> PyTree:
    """`lanes` with `fresh` in lane `i`: one call, as one per leaf took a tenth of a short run."""
    return jax.tree.map(lambda old, new: old.at[i].set(new), lanes, fresh)


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


def host_stacked(numbers: list[tuple[Any, ...]]) -> tuple[np.ndarray, ...]:
    """The numbers of all lanes as NumPy arrays: they are many, and each is cheap to hand over."""
    columns = (np.asarray(column) for column in zip(*numbers, strict=True))
    return tuple(column.astype(jax.dtypes.canonicalize_dtype(column.dtype)) for column in columns)


def _split(job: Job) -> tuple[Structure, tuple[Any, ...]]:
    """The structure and the numbers of a job's experiment."""
    experiment = job.experiment
    return program.split(experiment.task, experiment.model, experiment.training)
