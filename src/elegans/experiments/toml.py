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

A log-spaced range of a field that holds an integer is rounded to integers.
"""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from elegans.experiments.experiment import Experiment
from elegans.experiments.plain import nearest
from elegans.sweeps.sweep import Sweep

PARTS = ("seeds", "experiment", "over")


def read(path: Path) -> Sweep:
    """The sweep that a file describes; what is wrong with it is said with the file's name."""
    try:
        return from_plain(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}") from error
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from error


def from_plain(plain: dict[str, Any]) -> Sweep:
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
    return Sweep(experiment, over, seeds_of(plain.get("seeds", 1)))


def seeds_of(plain: Any) -> list[int]:
    """The seeds that a number of them, or a list, stands for."""
    if isinstance(plain, int) and not isinstance(plain, bool) and plain >= 1:
        return list(range(plain))
    if isinstance(plain, list) and plain:
        return plain
    raise ValueError(f"seeds is how many there are, 1 or more, or a list of them; got {plain!r}.")


def axis(experiment: Experiment, path: str, plain: Any) -> list[Any]:
    """The values of an axis: a list as it is, or a log-spaced range."""
    if isinstance(plain, list):
        return plain
    if not isinstance(plain, dict) or set(plain) != {"log"}:
        raise ValueError(
            f"over.{path!r} is a list of values or a range as {{log = [10, 1000, 5]}}; "
            f"got {plain!r}."
        )
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
