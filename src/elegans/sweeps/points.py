"""The points of a sweep: what is run, and the labels by which its table knows it.

A point is an experiment, or a *computation*: a configuration with `__call__(seed) -> DataFrame`,
for whatever is exact or not trained by SGD. Both are hashed, done by workers and stored alike.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.experiments.plain import hash_of, plain_number
from elegans.keys import SEEDS
from elegans.runs import Key


class Point(NamedTuple):
    """One point of a sweep; `experiment` may be a computation, and `hash` is its name."""

    labels: dict[str, Any]
    experiment: Any
    hash: str

    @classmethod
    def of(cls, labels: Mapping[str, Any], experiment: Any) -> "Point":
        """A point with these labels; what cannot be run is refused."""
        if isinstance(experiment, Experiment):
            return cls(dict(labels), experiment, experiment.name)
        if not is_computation(experiment):
            raise TypeError(
                "Sweep: a point is an Experiment, or a configuration with a method "
                f"__call__(seed) that returns a DataFrame; got {experiment!r}."
            )
        return cls(dict(labels), experiment, hash_of(experiment))

    def key(self, seed: int) -> Key:
        """What the run with a seed is stored under."""
        return self.hash, seed


def is_computation(value: object) -> bool:
    """Whether an object is a configuration that is called with a seed."""
    return checks.is_configuration(value) and not isinstance(value, Experiment) and callable(value)


def grid(experiment: Experiment, over: Mapping[str, Any]) -> list[Point]:
    """Every combination of the values in `over`; a bad one is refused with its place."""
    axes = {path: axis(path, values) for path, values in over.items()}
    points = []
    for combination in itertools.product(*axes.values()):
        labels = {path: label for path, (label, _) in zip(axes, combination, strict=True)}
        changes = {path: value for path, (_, value) in zip(axes, combination, strict=True)}
        try:
            points.append(Point.of(labels, experiment.varied(changes)))
        except (ValueError, TypeError) as error:
            where = ", ".join(f"{path} = {label!r}" for path, label in labels.items())
            raise type(error)(f"Sweep, at {where}: {error}") from error
    return points


def axis(path: str, values: Any) -> list[tuple[Any, Any]]:
    """The labels and values of an axis: a mapping's own, or the values as they would be typed."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(
            f"Sweep: over[{path!r}] is a list of values, or a mapping from labels to values; "
            f"got {values!r}."
        )
    if isinstance(values, Mapping):
        pairs = [(str(label), plain_number(value)) for label, value in values.items()]
    else:
        pairs = [(shown(value), value) for value in map(plain_number, values)]
    if not pairs:
        raise ValueError(f"Sweep: over[{path!r}] has no values.")
    return pairs


def shown(value: Any) -> Any:
    """A value as a cell of a table: configurations as they would be typed."""
    return value if isinstance(value, int | float | str | None) else checks.shown(value)


def seeds_of(seeds: int | Iterable[int]) -> tuple[int, ...]:
    """The seeds that a number of them, or a list, stands for."""
    if isinstance(seeds, bool) or not isinstance(seeds, int | Iterable):
        raise TypeError(f"Sweep: seeds is how many there are, or a list of them; got {seeds!r}.")
    listed: Sequence[Any] = range(seeds) if isinstance(seeds, int) else list(seeds)
    if not listed:
        raise ValueError(f"Sweep: seeds is how many there are, 1 or more, or a list; got {seeds}.")
    for seed in map(plain_number, listed):
        what = "number the runs of a point"
        checks.whole("Sweep", "seeds", seed, low=0, high=SEEDS - 1, what=what)
    if len(set(listed)) < len(listed):
        twice = next(seed for i, seed in enumerate(listed) if seed in listed[:i])
        raise ValueError(f"Sweep: seeds differ, as a run has one record; got {twice} twice.")
    return tuple(int(seed) for seed in listed)
