"""An experiment: a task, a model and a recipe, checked, printable as JSON, named by its hash."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from elegans.experiments.plain import (
    configuration,
    from_plain,
    nearest,
    plain_number,
    to_plain,
    type_name,
)
from elegans.protocols import check_experiment
from elegans.training.recipe import Training


@dataclass(frozen=True)
class Experiment:
    """What is trained on what, and how. With a seed it is a run."""

    task: Any
    model: Any
    training: Training

    def __post_init__(self) -> None:
        check_experiment(self.task, self.model, self.training)

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
