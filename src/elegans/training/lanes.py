"""A run under way in a lane: what is due next, what was seen, and whether it is over.

How many runs train side by side depends on the device and on how many bytes a run takes, so that
wide networks do not exhaust an accelerator; never on which runs there are. On a CPU core it is one:
more gain a fifth at width 10 and lose at 1,000 (docs/performance.md), and a single run would pay
for all of them.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from elegans.fields import Skeleton
from elegans.protocols import path_name
from elegans.runs import Run
from elegans.training import program, source
from elegans.training.evaluation import Look, Stage, Sums
from elegans.training.program import LOOKS, Looks, Structure
from elegans.training.recipe import Training

CURVES = ("step", "train_loss", "train_error", "test_loss", "test_error", "test_rows")
MOST_LANES = 64
LANE_BYTES = 2**30  # that all lanes may take together
# From the stop rule; nearer than that the whole test set is computed.
STANDARD_ERRORS_NEAR_STOP = 5


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


class Plan(NamedTuple):
    """What all runs of one experiment share, worked out once.

    Attributes:
        training: The recipe, with the numbers of rows that there are.
        structure: What chooses the compiled programs, and `numbers` what they are given besides.
        model: What chooses how the network starts, and `model_numbers` likewise.
        stage: How many rows are looked at, and when the whole test set is.
        data_seed: That of the training set, if the task has one.
        is_drawn: Whether rows are drawn when they are needed, and not listed before.
    """

    experiment: Any
    training: Training
    structure: Structure
    numbers: tuple[Any, ...]
    model: Skeleton
    model_numbers: tuple[Any, ...]
    stage: Stage
    data_seed: np.uint32 | None
    is_drawn: bool

    @classmethod
    def of(cls, experiment: Any) -> "Plan":
        """The plan of an experiment; numbers have a leading axis of one lane."""
        task, model, training = experiment.task, experiment.model, experiment.training
        structure, numbers = program.split(task, model, training)
        resolved = source.resolved(task, training)
        return cls(
            experiment,
            resolved,
            structure,
            jax.device_put(stacked([numbers])),  # once, and not at every call
            *program.split_model(model),
            jax.device_put(stacked([stage_of(resolved)])),
            source.data_seed_of(task),
            source.is_drawn(task, training),
        )


@dataclass
class Lane:
    """A run under way."""

    job: Job
    plan: Plan
    step: int = 0
    seconds: float = 0.0
    streak: int = 0  # looks in a row that met the stop rule
    curves: list[tuple[float, ...]] = field(default_factory=list)
    probes: list[dict[str, PyTree]] = field(default_factory=list)

    @property
    def training(self) -> Training:
        """The recipe, with the numbers of rows that there are."""
        return self.plan.training

    def due(self) -> Iterator[int]:
        """The steps of the evaluations to come, the first of which sees the start."""
        step, last = self.step, int(self.training.steps)
        if not self.curves:
            yield step
        while step < last:
            step = min(self.training.next_look(step), last)
            yield step

    def looks(self, most: int) -> Looks:
        """What to do next, at most so many looks, with a leading axis of one lane."""
        due = list(itertools.islice(self.due(), min(most, LOOKS)))
        padded = np.zeros((1, LOOKS), np.int32)
        padded[0, : len(due)] = due
        return Looks(padded, np.array([len(due)], np.int32), self.plan.stage)

    def record(self, looks: Look, steps: np.ndarray) -> None:
        """Appends evaluations to the curves."""
        means = (*_means(looks.train), *_means(looks.test))
        self.curves += zip(steps.tolist(), *means, looks.test.rows.tolist(), strict=True)
        self.step = int(steps[-1])
        if len(steps) > 1:
            self.streak = 0  # a call goes on only after looks that do not meet the stop rule

    def is_over(self, is_finite: bool, value: float | None) -> bool:
        """Whether the run is over after its newest look, at which a stop probe saw `value`."""
        stop = self.training.stop
        if stop is not None:
            row = dict(zip(CURVES, self.curves[-1], strict=True))
            is_whole = row["test_rows"] == int(self.training.test_samples)
            self.streak = self.streak + 1 if is_whole and stop.is_met(row, value) else 0
        return self.step >= int(self.training.steps) or not is_finite or bool(self.has_succeeded)

    @property
    def has_succeeded(self) -> bool | None:
        """Whether the newest looks meet the stop rule; None if there is none."""
        stop = self.training.stop
        return None if stop is None else self.streak >= int(stop.looks)

    def finished(self, is_finite: bool, params: PyTree | None) -> Run:
        """The record of the run, with its final `params` if they are wanted."""
        history = dict(zip(CURVES, np.asarray(self.curves, np.float64).T, strict=True))
        for name in ("step", "test_rows"):
            history[name] = history[name].astype(np.int64)
        probes: dict[str, np.ndarray] = {}
        if self.probes:
            stacked = jax.tree.map(lambda *values: np.stack(values), *self.probes)
            probes = {"step": history["step"], **columns(stacked)}
        arrays = {"history": history, "probes": probes}
        return Run(
            source=self.job.experiment,
            hash=self.job.experiment.name,
            seed=self.job.seed,
            status="done" if is_finite else "diverged",
            success=self.has_succeeded,
            steps=self.step,
            test_error=float(history["test_error"][-1]),
            test_loss=float(history["test_loss"][-1]),
            train_error=float(history["train_error"][-1]),
            train_loss=float(history["train_loss"][-1]),
            seconds=self.seconds,
            arrays=arrays if params is None else arrays | {"params": columns(params)},
        )


def stage_of(training: Training) -> Stage:
    """How many rows a recipe looks at, and when at the whole test set."""
    samples = 0 if training.samples is None else int(training.samples)
    test = int(training.test_samples)
    train, screen = min(samples, int(training.train_rows)), min(test, int(training.screen_rows))
    return Stage(
        np.asarray(train, np.int32),
        np.asarray(screen, np.int32),
        np.asarray(test, np.int32),
        np.asarray(limits_of(training, train, screen), np.float32),
        np.asarray(training.steps, np.int32),
    )


def limits_of(training: Training, train: int, screen: int) -> list[float]:
    """Sums of train loss, train error, test loss and test error that are near the stop rule."""
    stop = training.stop
    if stop is None:
        return [-math.inf] * 4
    limits = [math.inf] * 4
    for i, goal in enumerate((stop.train_loss, stop.train_error)):
        if goal is not None:  # the rows are those that are reported, but for rounding
            limits[i] = train * (float(goal) + 1e-6 * abs(float(goal)))
    if stop.test_loss is not None:  # a loss has no known standard error, and may be negative
        limits[2] = screen * (float(stop.test_loss) + abs(float(stop.test_loss)))
    if stop.test_error is not None:
        goal = float(stop.test_error)
        spread = (goal * (1 - goal) / int(training.screen_rows)) ** 0.5
        limits[3] = screen * (goal + STANDARD_ERRORS_NEAR_STOP * spread)
    return limits


def stacked(trees: Sequence[PyTree]) -> PyTree:
    """Trees of numbers as one of NumPy arrays with a leading axis of lanes."""

    def column(*values: Any) -> np.ndarray:
        array = np.asarray(values)
        return array.astype(jax.dtypes.canonicalize_dtype(array.dtype))

    return jax.tree.map(column, *trees)


def default_lanes(lane_bytes: int = 0) -> int:
    """How many runs of so many bytes to train side by side on this device."""
    if jax.default_backend() == "cpu":
        return 1
    fitting = LANE_BYTES // max(1, lane_bytes)
    # a power of two, so that neighbouring sizes share their programs
    return max(1, min(MOST_LANES, 1 << (max(1, fitting).bit_length() - 1)))


def columns(tree: PyTree) -> dict[str, np.ndarray]:
    """The leaves of a tree by their dotted paths."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {path_name(path): np.asarray(leaf) for path, leaf in leaves}


def _means(sums: Sums) -> tuple[list[float], list[float]]:
    """Losses and errors, divided in double precision so that 1,000 of 10,000 is exactly 0.1."""
    rows = np.where(sums.rows == 0, np.nan, sums.rows)
    loss, error = (np.asarray(part, np.float64) / rows for part in (sums.loss, sums.error))
    return loss.tolist(), error.tolist()
