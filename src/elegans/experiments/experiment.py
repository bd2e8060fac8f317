"""An experiment: a task, a model and a recipe, checked, printable as JSON, named by its hash."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any

import jax
import jax.random as jr

from elegans import checks
from elegans.experiments.plain import (
    configuration,
    from_plain,
    nearest,
    plain_number,
    to_plain,
    type_name,
)
from elegans.training.losses import SIGN_LOSSES
from elegans.training.optimizers import matches, path_name
from elegans.training.recipe import Training
from elegans.training.source import is_stored


@dataclass(frozen=True)
class Experiment:
    """What is trained on what, and how. With a seed it is a run."""

    task: Any
    model: Any
    training: Training

    def __post_init__(self) -> None:
        for name, method in {"task": "sample", "model": "apply"}.items():
            part = getattr(self, name)
            if isinstance(part, type) or not callable(getattr(part, method, None)):
                raise TypeError(f"Experiment: {name} has a method {method}; got {part!r}.")
        if not isinstance(self.training, Training):
            raise TypeError(f"Experiment: training is a Training; got {self.training!r}.")
        for part in (self.task, self.training):
            if not all(isinstance(leaf, int | float) for leaf in jax.tree.leaves(part)):
                raise TypeError(f"Experiment: {part} holds arrays where numbers are meant.")
        if self.training.loss in SIGN_LOSSES and getattr(self.task, "classes", None) is not None:
            raise ValueError(
                f"Experiment: the {self.training.loss} loss is for labels of +-1, and "
                f"{checks.shown(self.task)} has {self.task.classes} classes. Use 'cross-entropy'."
            )
        if self.training.loss == "margin" and getattr(self.task, "classes", None) is None:
            raise ValueError(
                f"Experiment: the margin loss is for classes, and {checks.shown(self.task)} has "
                "labels of +-1. Use 'hinge'."
            )
        if hasattr(self.model, "check"):
            self.model.check(self.task)
        self._check_samples()
        self._check_groups()

    def _check_samples(self) -> None:
        """Refuses a training set that is larger than what a task has stored."""
        samples = self.training.samples
        if is_stored(self.task) and samples is not None and int(samples) > self.task.sizes[0]:
            raise ValueError(
                f"Experiment: {checks.shown(self.task)} has {self.task.sizes[0]} rows to train on, "
                f"so samples is at most that, or None for all of them; got {samples}."
            )

    def _check_groups(self) -> None:
        """Refuses a group of rates that matches no parameter."""
        if not self.training.groups:
            return
        shapes = jax.eval_shape(lambda key: self.model.init(key, self.task), jr.key(0))
        paths = [path_name(path) for path, _ in jax.tree_util.tree_flatten_with_path(shapes)[0]]
        for group in self.training.groups:
            if not any(matches(group.match, path) for path in paths):
                raise ValueError(
                    f"{checks.shown(group)}: match is the start of a parameter's path; "
                    f"{checks.shown(self.model)} has {', '.join(paths)}."
                )

    def to_json(self) -> str:
        """Everything, defaults written out."""
        return json.dumps(
            {f.name: to_plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        )

    @classmethod
    def from_json(cls, text: str) -> "Experiment":
        """The experiment that `to_json` wrote."""
        return cls.from_plain(json.loads(text))

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Experiment":
        """The experiment with plain `task`, `model` and `training`."""
        known = [field.name for field in dataclasses.fields(cls)]
        for name in plain:
            if name not in known:
                raise ValueError(
                    f"An experiment has no part {name!r}{nearest(name, known)} "
                    f"It has {', '.join(known)}."
                )
        missing = [name for name in known if name not in plain]
        if missing:
            raise ValueError(f"An experiment has {', '.join(known)}; {', '.join(missing)} missing.")
        return cls(**{name: from_plain(part) for name, part in plain.items()})

    def minimal(self) -> dict[str, Any]:
        """Plain data without what construction fills in by itself."""
        parts = dataclasses.fields(self)
        return {part.name: to_plain(getattr(self, part.name), minimal=True) for part in parts}

    @property
    def name(self) -> str:
        """Sixteen hexadecimal digits that are a function of what the experiment says."""
        text = json.dumps(_numbers_as_floats(self.minimal()), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def varied(self, changes: dict[str, Any]) -> "Experiment":
        """This experiment with dotted fields, such as "model.width", set to other values."""
        plain = self.minimal()
        for path, value in changes.items():
            _set(plain, path, value)
        return type(self).from_plain(plain)

    def value(self, path: str) -> Any:
        """The value of a dotted field."""
        part: Any = self
        for step in path.split("."):
            part = getattr(part, step)
        return part


def _set(plain: dict[str, Any], path: str, value: Any) -> None:
    """Sets the dotted field `path` of nested plain data."""
    *parents, last = path.split(".")
    node: Any = plain
    for i, parent in enumerate(parents):
        if i and not isinstance(node.get(parent), dict):
            node[parent] = {"type": _default_type(node["type"], parent, path)}
        if not isinstance(node, dict) or parent not in node:
            raise ValueError(
                f"{path!r} is no field of the experiment: it starts with task, model or training."
            )
        node = node[parent]
    if not parents:
        raise ValueError(f"{path!r} is no dotted field; write for instance 'model.width'.")
    node[last] = to_plain(plain_number(value), minimal=True)


def _default_type(owner: str, field: str, path: str) -> str:
    """The configuration that fills `field` of `owner` when nothing is given."""
    default = configuration(owner).__dataclass_fields__.get(field)
    factory = getattr(default, "default_factory", dataclasses.MISSING)
    if default is None or factory is dataclasses.MISSING:
        raise ValueError(f"{path!r}: {owner}.{field} is not set, so no part of it can be varied.")
    return type_name(type(factory()))


def _numbers_as_floats(plain: Any) -> Any:
    """1 and 1.0 are the same number to an experiment, so they hash alike."""
    if isinstance(plain, dict):
        return {key: _numbers_as_floats(value) for key, value in plain.items()}
    if isinstance(plain, list):
        return [_numbers_as_floats(value) for value in plain]
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return plain
    return float(plain).hex()
