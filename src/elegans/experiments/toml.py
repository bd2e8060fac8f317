"""Sweeps from a TOML file: a whole experiment, the axes, the seeds.

    seeds = 20                             # or a list

    [experiment.task]
    type = "Parity"
    n = 50
    k = 3

    [experiment.model]
    type = "MLP"
    width = 1000
    init = {type = "Sparse", s = 2}

    [experiment.training]                  # its type goes without saying
    steps = 100_000
    stop = {type = "Stop", test_error = 0.1}

    [over]
    "model.width" = [10, 100, 1000]
    "training.samples" = {log = [10, 1000, 5]}     # 5 values from 10 to 1000, in equal ratios
    "training.learning_rate" = {log = [0.01, 1, 3]}
    "model.init" = {dense = {type = "Uniform"}, sparse = {type = "Sparse", s = 2}}     # labelled

A log-spaced range of a field that holds an integer is rounded to integers.
"""

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elegans.checks import nearest
from elegans.experiments.experiment import Experiment
from elegans.experiments.plain import from_plain as config_from_plain

PARTS = ("seeds", "experiment", "over")


class Grid(NamedTuple):
    """What a file says: the arguments of a `Sweep`."""

    experiment: Experiment
    over: dict[str, Any]
    seeds: int | list[int]


def read(path: Path) -> Grid:
    """The sweep that a file describes; what is wrong with it is said with the file's name."""
    try:
        return from_plain(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from error
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from error


def from_plain(plain: dict[str, Any]) -> Grid:
    """The sweep with plain `experiment`, `over` and `seeds`."""
    for name in plain:
        if name not in PARTS:
            raise ValueError(f"a sweep has no part {name!r}{nearest(name, PARTS)} {_parts()}")
    if "experiment" not in plain:
        raise ValueError(f"the experiment is missing. {_parts()}")
    parts = dict(plain["experiment"])
    if isinstance(parts.get("training"), dict):
        parts["training"] = {"type": "Training", **parts["training"]}
    experiment = Experiment.from_plain(parts)
    over = {path: axis(experiment, path, values) for path, values in plain.get("over", {}).items()}
    return Grid(experiment, over, plain.get("seeds", 1))


def axis(experiment: Experiment, path: str, plain: Any) -> Any:
    """The values of an axis: a list or labelled values as they are, or a log-spaced range."""
    if isinstance(plain, list):
        return [value_of(value) for value in plain]
    if not isinstance(plain, dict) or not plain:
        raise ValueError(
            f"over.{path!r} is a list of values, labelled values, or a range as "
            f"{{log = [10, 1000, 5]}}; got {plain!r}."
        )
    if set(plain) != {"log"}:
        return {label: value_of(value) for label, value in plain.items()}
    log = plain["log"]
    is_range = isinstance(log, list) and len(log) == 3 and isinstance(log[2], int)
    if not is_range or not (log[0] > 0 and log[1] > 0 and log[2] >= 1):
        raise ValueError(
            f"over.{path!r}: log is [first, last, how many], with first and last above 0 and a "
            f"whole number of them; got {log!r}."
        )
    values = np.geomspace(*log).tolist()
    if not is_whole(experiment, path):
        return values
    return list(dict.fromkeys(round(value) for value in values))


def value_of(plain: Any) -> Any:
    """A value of an axis; a configuration if it names its type."""
    return config_from_plain(plain) if isinstance(plain, dict) else plain


def is_whole(experiment: Experiment, path: str) -> bool:
    """Whether a field takes integers: whether it refuses one and a half."""
    try:
        experiment.varied({path: 1.5})
    except TypeError:
        return True
    except ValueError:  # a number, but not this one
        return False
    return False


def _parts() -> str:
    return f"It has {', '.join(PARTS)}, as in docs/sweeps.md."
