"""Units of work as text: runs of one structure, and the records that come of them.

A unit is JSON with experiments, seeds, probes (by name, or as plain data), and the settings of JAX
that numbers depend on. So any process that can import this package can do it, and nothing needs
pickling.
"""

import dataclasses
import importlib
import json
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax

from elegans.experiments.experiment import Experiment
from elegans.experiments.plain import from_plain, to_plain
from elegans.protocols import Probe
from elegans.store.record import Record
from elegans.training.loop import Job, train

SETTINGS = ("jax_enable_x64", "jax_default_matmul_precision", "jax_threefry_partitionable")
Key = tuple[str, int]


def unit(texts: Mapping[str, str], keys: Sequence[Key], probes: Mapping[str, Any]) -> str:
    """The text of a unit: runs by experiment hash and seed, experiments by hash as JSON."""
    return json.dumps(
        {
            "experiments": {name: texts[name] for name, _ in keys},
            "runs": keys,
            "probes": dict(probes),
            "settings": {name: getattr(jax.config, name) for name in SETTINGS},
        }
    )


def results(text: str, local: Mapping[str, Probe] | None = None) -> str:
    """Does the runs of a unit and returns their records as text.

    Args:
        text: What `unit` wrote.
        local: The probes themselves, if this is the process that they were made in.
    """
    plain = json.loads(text)
    for name, value in plain["settings"].items():
        if getattr(jax.config, name) != value:
            jax.config.update(name, value)
    experiments = {k: Experiment.from_json(v) for k, v in plain["experiments"].items()}
    probes = dict(local or {n: imported(where) for n, where in plain["probes"].items()})
    runs = [(name, experiments[name], seed) for name, seed in plain["runs"]]
    return json.dumps([record.to_plain() for record in records(runs, probes)])


def read(text: str) -> list[Record]:
    """The records that `results` wrote."""
    return [Record.from_plain(plain) for plain in json.loads(text)]


def records(
    runs: Sequence[tuple[str, Experiment, int]], probes: dict[str, Probe]
) -> Iterator[Record]:
    """The records of runs of one structure; a run that raises has one too."""
    left = dict(enumerate(runs))
    jobs = [Job(i, e, seed) for i, (_, e, seed) in left.items()]
    try:
        for number, outcome in train(jobs, probes=probes):
            name, _, seed = left.pop(number)
            yield Record.of(name, seed, outcome)
    # The one place where any error is caught: whatever is wrong with one run out of thousands, in
    # a task or a probe that we may not have written, is noted in its row, and the sweep goes on.
    except Exception as error:  # noqa: BLE001
        if len(left) == 1:
            ((name, _, seed),) = left.values()
            yield Record.of_failure(name, seed, traceback_of(error))
            left = {}
    for run in left.values():  # after an error, one by one, so that each has its own outcome
        yield from records([run], probes)


def traceback_of(error: Exception) -> str:
    """The traceback as text, without the note that JAX appends about its own frames."""
    shown = traceback.TracebackException.from_exception(error)
    notes = getattr(shown, "__notes__", None) or []
    shown.__notes__ = [note for note in notes if "JAX_TRACEBACK_FILTERING" not in note]
    return "".join(shown.format())


def reference(probe: Any) -> Any:
    """What another process makes a probe from: "module:name", or a configuration as plain data."""
    if dataclasses.is_dataclass(probe) and not isinstance(probe, type):
        plain = to_plain(probe)
        refuse_unimportable(json.dumps(plain))
        return plain
    module, name = getattr(probe, "__module__", ""), getattr(probe, "__qualname__", "")
    if module in ("", "__main__") or "<" in name or not name:
        raise unimportable(repr(probe))
    return f"{module}:{name}"


def imported(where: Any) -> Any:
    """The probe that `reference` wrote down."""
    if not isinstance(where, str):
        return from_plain(where)
    module, name = where.split(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def refuse_unimportable(text: str) -> None:
    """Refuses configurations, as JSON, that another process cannot rebuild."""
    found = re.search(r'"type": "(__main__:[^"]*|[^"]*<locals>[^"]*)"', text)
    if found:
        raise unimportable(found[1])


def unimportable(what: str) -> ValueError:
    """The refusal of something that lives in this process only."""
    return ValueError(
        f"A worker process cannot import {what}. Define it at the top of a module of its own, or "
        "do the sweep in this process with workers=0."
    )
