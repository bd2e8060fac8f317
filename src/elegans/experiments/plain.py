"""Configurations as plain data: nested dictionaries that JSON, TOML and a store can hold.

A configuration becomes `{"type": "Parity", "n": 50, ...}`; one that is not of this package names
its module and carries a fingerprint of its source, `{"type": "mytasks:Threshold", "fingerprint":
"1f0c..."}`, and whoever rebuilds it compares. The *minimal* form leaves out every field that
construction fills in by itself, so that adding a field with a default, or writing out a default,
changes nothing; hashes are made from it.
"""

import dataclasses
import hashlib
import importlib
import json
import numbers
from functools import cache
from typing import Any

from elegans.checks import is_configuration, nearest, no_field
from elegans.fingerprint import fingerprint, is_of_package

ROOMS = (
    "tasks",
    "tasks.groups",
    "models",
    "models.inits",
    "training",
    "training.losses",
    "training.optimizers",
    "training.schedules",
    "training.regularisers",
    "probes",
    "experiments.experiment",
)
MARK = "fingerprint"


def to_plain(config: Any, *, minimal: bool = False) -> Any:
    """A configuration, number, string, tuple or None, as plain data."""
    if isinstance(config, numbers.Number | str) or config is None:
        return plain_number(config)
    if isinstance(config, list | tuple):
        return [to_plain(item, minimal=minimal) for item in config]
    if not is_configuration(config):
        raise TypeError(
            f"An experiment holds numbers, strings, tuples and configurations; got {config!r}."
        )
    values = explicit(config) if minimal else fields_of(config)
    plain = {name: to_plain(value, minimal=minimal) for name, value in values.items()}
    cls = type(config)
    mark = {} if is_of_package(cls) else {MARK: fingerprint(cls)}
    return {"type": type_name(cls), **mark, **plain}


def from_plain(plain: Any) -> Any:
    """The configuration that `to_plain` wrote."""
    if isinstance(plain, list | tuple):
        return tuple(from_plain(item) for item in plain)
    if not isinstance(plain, dict):
        return plain_number(plain)
    if "type" not in plain:
        raise ValueError(
            f'A configuration names its "type", as in {{"type": "Parity"}}; got {plain}.'
        )
    cls = configuration(plain["type"])
    if MARK in plain and plain[MARK] != fingerprint(cls):
        raise ValueError(
            f"{plain['type']} has changed: its source has the fingerprint {fingerprint(cls)}, and "
            f"this was made with {plain[MARK]}. Its numbers would not be those of the same code."
        )
    fields = {k: from_plain(v) for k, v in plain.items() if k not in ("type", MARK)}
    return build(plain["type"], **fields)


def to_json(config: Any) -> str:
    """A configuration as JSON, defaults written out."""
    return json.dumps(to_plain(config))


def from_json(text: str) -> Any:
    """The configuration that `to_json` wrote."""
    return from_plain(json.loads(text))


def hash_of(config: Any) -> str:
    """Sixteen hexadecimal digits that are a function of what a configuration says."""
    text = json.dumps(_numbers_as_floats(to_plain(config, minimal=True)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def build(name: str, /, *args: Any, **fields: Any) -> Any:
    """The configuration class called `name`, with the given fields."""
    cls = configuration(name)
    known = [field.name for field in dataclasses.fields(cls) if field.init]
    for field in fields:
        if field not in known:
            raise ValueError(no_field(name, field, known))
    try:
        return cls(*args, **fields)
    except TypeError as error:
        if "required positional" in str(error) or "positional arguments" in str(error):
            raise ValueError(f"{name}: {error}; its fields are {', '.join(known)}.") from error
        raise


def type_name(cls: type) -> str:
    """How a configuration class is called in plain data: a class of yours by "module:name"."""
    if configurations().get(cls.__name__) is cls:
        return cls.__name__
    return f"{cls.__module__}:{cls.__qualname__}"


def configuration(name: str) -> Any:
    """The class that `type_name` names."""
    if ":" not in name:
        if name not in configurations():
            raise ValueError(f"No configuration is named {name!r}{nearest(name, configurations())}")
        return configurations()[name]
    cls = imported(name)
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise ValueError(f"{name!r} is not a configuration, which is a frozen dataclass.")
    return cls


def imported(name: str) -> Any:
    """What "module:name" names."""
    module, _, path = name.partition(":")
    try:
        thing: Any = importlib.import_module(module)
        for part in path.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name!r} cannot be imported: {error}.") from error
    return thing


@cache
def configurations() -> dict[str, type]:
    """Every configuration class of the package, by name."""
    modules = [importlib.import_module(f"elegans.{room}") for room in ROOMS]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and dataclasses.is_dataclass(value) and not name.startswith("_")
    }


def fields_of(config: Any) -> dict[str, Any]:
    """The fields of a configuration."""
    return {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}


def explicit(config: Any) -> dict[str, Any]:
    """The fields of a configuration without those that construction fills in by itself."""
    return {name: v for name, v in fields_of(config).items() if not _is_implied(config, name)}


def plain_number(value: Any) -> Any:
    """A Python number for a NumPy one; anything else as it is."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value


def _is_implied(config: Any, name: str) -> bool:
    """Whether construction without this field gives the same configuration."""
    others = {n: v for n, v in fields_of(config).items() if n != name}
    field = next(f for f in dataclasses.fields(config) if f.name == name)
    if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
        return False
    try:
        return bool(type(config)(**others) == config)
    except (ValueError, TypeError):  # without it, the others do not fit together
        return False


def _numbers_as_floats(plain: Any) -> Any:
    """1 and 1.0 are the same number to an experiment, so they hash alike."""
    if isinstance(plain, dict):
        return {key: _numbers_as_floats(value) for key, value in plain.items()}
    if isinstance(plain, list):
        return [_numbers_as_floats(value) for value in plain]
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        return plain
    return float(plain).hex()
