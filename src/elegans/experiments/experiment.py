"""An experiment: a task, a model and a recipe, checked, printable as JSON, named by its hash."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from elegans import protocols
from elegans.checks import is_configuration, nearest, no_field
from elegans.experiments import plain
from elegans.training.recipe import Training

PARTS = ("task", "model", "training")


@dataclass(frozen=True)
class Experiment:
    """What is trained on what, and how. With a seed it is a run."""

    task: Any
    model: Any
    training: Training

    def __post_init__(self) -> None:
        protocols.check_experiment(self.task, self.model, self.training)
        # Runs are stored under this name; what cannot be written down is refused now.
        _ = self.name

    def to_json(self) -> str:
        """Everything, defaults written out."""
        return plain.to_json(self)

    @classmethod
    def from_json(cls, text: str) -> "Experiment":
        """The experiment that `to_json` wrote."""
        experiment = plain.from_json(text)
        if not isinstance(experiment, cls):
            raise ValueError(
                f"Experiment.from_json: this is a {type(experiment).__name__}, not an experiment."
            )
        return experiment

    @classmethod
    def from_plain(cls, parts: dict[str, Any]) -> "Experiment":
        """The experiment with plain `task`, `model` and `training`, as a file holds them."""
        for name in parts:
            if name not in PARTS:
                raise ValueError(
                    f"An experiment has no part {name!r}{nearest(name, PARTS)} "
                    f"It has {', '.join(PARTS)}."
                )
        missing = [name for name in PARTS if name not in parts]
        if missing:
            raise ValueError(
                f"An experiment has {', '.join(PARTS)}; it lacks {', '.join(missing)}."
            )
        return cls(**{name: plain.from_plain(part) for name, part in parts.items()})

    @cached_property
    def name(self) -> str:
        """Sixteen hexadecimal digits that are a function of what the experiment says."""
        return plain.hash_of(self)

    def varied(self, changes: dict[str, Any]) -> "Experiment":
        """This experiment with dotted fields, such as "model.width", set to other values.

        A field may hold a whole part ("model"), and what construction fills in by itself is filled
        in anew: a parity of another k has another support.
        """
        for path in changes:
            if path.split(".")[0] not in PARTS:
                raise ValueError(
                    f"{path!r} is not a field of the experiment: it starts with task, model or "
                    "training, as in 'model.width'."
                )
        varied: Experiment = _rebuilt(self, changes, "")
        return varied


def _rebuilt(config: Any, changes: dict[str, Any], where: str) -> Any:
    """A configuration with some dotted fields changed, all at once, so that they may depend."""
    if not is_configuration(config):
        raise ValueError(f"{where!r} is {config!r}, so no part of it can be varied.")
    fields = plain.explicit(config)
    below: dict[str, dict[str, Any]] = {}
    for path, value in changes.items():
        name, _, rest = path.partition(".")
        known = [field.name for field in dataclasses.fields(config)]
        if name not in known:
            raise ValueError(no_field(type(config).__name__, name, known))
        if rest:
            below.setdefault(name, {})[rest] = value
        else:
            fields[name] = plain.from_plain(value) if isinstance(value, dict) else value
    for name, part in below.items():
        place = f"{where}.{name}".strip(".")
        fields[name] = _rebuilt(fields.get(name, getattr(config, name)), part, place)
    return type(config)(**fields)
