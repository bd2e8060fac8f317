r"""Running: compiled chunks of steps and looks, early stop, lanes that are refilled.

Runs of one structure train side by side in a fixed number of lanes; a lane that finishes takes the
next waiting run. Idle lanes stand still, so a run's record is a function of its experiment and
seed: neither its lane, nor its neighbours, nor the order of runs enters. Nor does how many looks a
call makes, which is a matter of time alone: one where probes look too, as they are compiled apart,
and otherwise as many as take a tenth of a second.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

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
from elegans.training.lanes import CURVES, Lane, Plan, default_lanes
from elegans.training.lanes import Job as Job
from elegans.training.program import LOOKS
from elegans.training.source import Whole, keys_for, table_of
from elegans.training.step import State

CALL_SECONDS = 0.1  # that a call should take, so that progress is seen
Watch = Callable[[int, dict[str, float | int]], None]


def train(
    jobs: Iterable[Job],
    *,
    probes: dict[str, Probe] | None = None,
    lanes: int | None = None,
    watch: Watch | None = None,
    with_params: bool = True,
) -> Iterator[tuple[int, Run]]:
    """Trains jobs of one structure and yields each job's number and record as it finishes.

    Args:
        jobs: Runs whose experiments differ in traced numbers only, with any seeds.
        probes: What to look at besides losses and errors, by name; called with a `View`.
        lanes: Runs side by side; None is what suits the device and the structure.
        watch: Called with a run's number and its newest row of curves at each evaluation.
        with_params: Whether records have the final weights.
    """
    if "step" in (probes or {}):
        raise ValueError("'step' is the name of a column of its own; give the probe another name.")
    waiting = iter(jobs)
    leader = next(waiting, None)
    if leader is None:
        return
    lanes = lanes or default_lanes(lane_bytes(leader) if jax.default_backend() != "cpu" else 0)
    first = [leader, *itertools.islice(waiting, lanes - 1)]
    yield from _Bench(first, waiting, probes or {}, lanes, watch, with_params).run()


def lane_bytes(job: Job) -> int:
    """What a run takes in memory: its state with a gradient, twice, and its batches."""
    plan = Plan.of(job.experiment)
    state, _ = jax.eval_shape(lambda: began(plan, job))
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
    # Activations: as many numbers per row as the widest parameter has columns, and back.
    widest = max((max(leaf.shape, default=1) for leaf in jax.tree.leaves(state.params)), default=1)
    structure = plan.structure
    rows = max(structure.full_rows or 0, job.experiment.training.batch or 0, structure.block)
    return 3 * size + 8 * rows * widest


class LaneArrays(NamedTuple):
    """What all lanes have on the device; every leaf has a leading axis of lanes."""

    state: State
    keys: Keys
    full_batch: PyTree
    table: PyTree
    initial: PyTree


class _Bench:
    """Lanes of runs of one structure, and the queue that refills them."""

    def __init__(
        self,
        first: list[Job],
        waiting: Iterator[Job],
        probes: dict[str, Probe],
        lanes: int,
        watch: Watch | None,
        with_params: bool,
    ) -> None:
        self.plan = Plan.of(first[0].experiment)
        self.structure = self.plan.structure
        program.STRUCTURES.add(self.structure)
        self.waiting, self.lanes, self.watch = waiting, lanes, watch
        self.with_params = with_params
        self.probes = tuple(sorted(probes.items()))
        stop = first[0].experiment.training.stop
        self.stop_probe = None if stop is None else stop.probe
        self.most_looks = 1  # in the next call
        started = [self._start(job) for job in first]
        self.active: list[Lane | None] = [lane for lane, _ in started]
        self.active += [None] * (lanes - len(first))
        self.idle = started[0][0].looks(0)  # what an idle lane does: no look
        padded = started + [started[0]] * (lanes - len(first))
        self.numbers = _joined([lane.plan.numbers for lane, _ in padded])
        self.arrays: LaneArrays = _joined([arrays for _, arrays in padded])

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

    def _start(self, job: Job) -> tuple[Lane, LaneArrays]:
        """A run before its first step, with a leading axis of one lane."""
        if job.experiment is not self.plan.experiment:  # seeds of one experiment follow each other
            self.plan = Plan.of(job.experiment)
            same = self.plan.structure == self.structure
            assert same, f"{job} has another structure than its neighbours"
        state, keys = began(self.plan, job)
        rest: tuple[PyTree, PyTree] = ((), ())
        if not self.plan.is_drawn:
            rest = _joined([jax.tree.map(lambda leaf: leaf[None], _listed(self.plan, job))])
        is_watched = self.probes or self.stop_probe is not None
        initial = _copied(state.params) if is_watched else ()
        return Lane(job, self.plan), LaneArrays(state, keys, *rest, initial)

    def _advance(self, most: int) -> tuple[Look, np.ndarray]:
        """What the next looks of all lanes saw, and how many each lane made."""
        looks = [lane.looks(most) if lane else self.idle for lane in self.active]
        state, record, counts = program.advance_and_look(
            self.structure,
            self.lanes,
            self.numbers,
            self.arrays.state,
            self.arrays.keys,
            _joined(looks),
            self.arrays.full_batch,
            self.arrays.table,
        )
        self.arrays = self.arrays._replace(state=state)
        self.due = [np.asarray(look.due[0]) for look in looks]
        record, counts = jax.device_get((record, counts))
        by_number = jax.tree.map(lambda leaf: np.moveaxis(leaf, 1, 0), record)
        return by_number.unpacked(), counts

    def _probe(self) -> tuple[dict[str, PyTree], np.ndarray | None]:
        """What the probes see of all lanes, and what the stop rule's own does."""
        probes = self.probes
        if self.stop_probe is not None:
            probes = (*probes, ("", self.stop_probe))
        if not probes:
            return {}, None
        state, keys, *_, initial = self.arrays
        arguments = (self.numbers, state.params, initial, keys, state.step)
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

    def _params(self, i: int) -> PyTree | None:
        """The parameters in lane `i`; of one lane alone they need not be cut out first."""
        if not self.with_params:
            return None
        params = self.arrays.state.params
        if self.lanes > 1:
            return jax.device_get(_lane(params, i))
        return jax.tree.map(lambda leaf: leaf[0], jax.device_get(params))

    def _refill(self, i: int) -> None:
        """Puts the next waiting run into lane `i`."""
        job = next(self.waiting, None)
        if job is None:
            self.active[i] = None
            return
        lane, arrays = self._start(job)
        self.active[i] = lane
        if self.lanes == 1:
            self.arrays, self.numbers = arrays, lane.plan.numbers
            return
        self.arrays = _placed(self.arrays, arrays, i)
        self.numbers = _placed(self.numbers, lane.plan.numbers, i)


def began(plan: Plan, job: Job) -> tuple[State, Keys]:
    """A run's state and keys before its first step, with a leading axis of one lane."""
    return program.begin(
        plan.structure,
        plan.model,
        plan.model_numbers,
        plan.numbers,
        np.array([job.seed], np.uint32),
        plan.data_seed,
        job.initial,
    )


def _listed(plan: Plan, job: Job) -> tuple[PyTree, PyTree]:
    """The rows of a full batch, and those of a table, of a run whose rows are listed."""
    experiment = plan.experiment
    keys = keys_for(experiment.task, job.seed)
    table = table_of(experiment.task, experiment.model, experiment.training, keys.data)
    if isinstance(table, Whole):
        return table, table
    if experiment.training.batch is not None:
        return (), table
    numbers = jax.tree.map(lambda leaf: leaf[0], plan.numbers)
    return program.whole_training_set(plan.structure, numbers, keys, table), table


def _joined(lanes: Sequence[PyTree]) -> PyTree:
    """Trees with a leading axis of one lane as one tree with all lanes."""
    return lanes[0] if len(lanes) == 1 else _concatenated(list(lanes))


@jax.jit
def _concatenated(trees: list[PyTree]) -> PyTree:
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *trees)


@partial(jax.jit, donate_argnums=0)
def _placed(lanes: PyTree, fresh: PyTree, i: Count) -> PyTree:
    """`lanes` with the one of `fresh` in place `i`: one call, not one per leaf."""
    return jax.tree.map(lambda old, new: old.at[i].set(new[0]), lanes, fresh)


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
