"""What travels to a worker and back: runs of one structure, and the runs when they are finished.

As text a request is JSON with experiments, seeds, probes, weights to start from, and the settings
of JAX that numbers depend on. So any process that can import this package can do it, and nothing is
pickled. In this process the objects themselves are used.
"""

import base64
import dataclasses
import json
import time
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from elegans.checks import is_configuration
from elegans.experiments import plain
from elegans.experiments.experiment import Experiment
from elegans.experiments.run import initial_weights, stamped
from elegans.fingerprint import fingerprint, is_importable, is_of_package
from elegans.protocols import Probe
from elegans.runs import Key, Run
from elegans.store.arrays import pack, unpack
from elegans.store.record import from_message, to_message
from elegans.training.loop import Job, train

SETTINGS = ("jax_enable_x64", "jax_default_matmul_precision", "jax_threefry_partitionable")
Columns = Mapping[str, np.ndarray]


class Request(NamedTuple):
    """Some runs of one structure, by hash and seed, and all that it takes to do them."""

    experiments: Mapping[str, Any]
    runs: Sequence[Key]
    probes: Mapping[str, Probe]
    weights: Mapping[Key, Columns]  # of finished runs from which some of these start
    keep: Collection[str]

    def to_text(self) -> str:
        """The request as JSON."""
        return json.dumps(
            {
                "experiments": {name: plain.to_json(e) for name, e in self.experiments.items()},
                "runs": list(self.runs),
                "probes": {name: probe_to_plain(probe) for name, probe in self.probes.items()},
                "weights": [
                    [*key, base64.b64encode(pack(columns)).decode()]
                    for key, columns in self.weights.items()
                ],
                "keep": list(self.keep),
                "settings": {name: getattr(jax.config, name) for name in SETTINGS},
            }
        )


def answer(text: str) -> str:
    """Does the runs of a request that `Request.to_text` wrote, and returns them as text."""
    message = json.loads(text)
    for name, value in message["settings"].items():
        if getattr(jax.config, name) != value:
            jax.config.update(name, value)
    request = Request(
        experiments={name: plain.from_json(e) for name, e in message["experiments"].items()},
        runs=[(name, seed) for name, seed in message["runs"]],
        probes={name: probe_from_plain(probe) for name, probe in message["probes"].items()},
        weights={(name, seed): unpack(base64.b64decode(t)) for name, seed, t in message["weights"]},
        keep=message["keep"],
    )
    return json.dumps([to_message(run) for run in perform(request)])


def runs_of(text: str, request: Request) -> list[Run]:
    """The runs that `answer` wrote."""
    return [
        from_message(message, source=request.experiments[message["hash"]])
        for message in json.loads(text)
    ]


def perform(request: Request) -> Iterator[Run]:
    """The finished runs of a request, in any order; a run that raises is one too."""
    left = list(request.runs)
    computations = [k for k in left if not isinstance(request.experiments[k[0]], Experiment)]
    for key in computations:
        yield _computed(request.experiments[key[0]], key)
    yield from _trained(request, [key for key in left if key not in computations])


def _trained(request: Request, keys: Sequence[Key]) -> Iterator[Run]:
    """Runs of the engine. After an error, one by one, so that each has its own outcome."""
    left = dict(enumerate(keys))
    try:
        jobs = [_job(request, i, key) for i, key in left.items()]
        with_params = "params" in request.keep
        for number, run in train(jobs, probes=dict(request.probes), with_params=with_params):
            del left[number]
            yield stamped(run)
    # Whatever is wrong with one run out of thousands, in a task or a probe that we may not have
    # written, is noted in its record, and the sweep goes on.
    except Exception as error:  # noqa: BLE001
        if len(left) == 1:
            ((name, seed),) = left.values()
            yield failed_run(request.experiments[name], (name, seed), traceback_of(error))
            return
    for key in left.values():
        yield from _trained(request, [key])


def _job(request: Request, number: int, key: Key) -> Job:
    experiment = request.experiments[key[0]]
    return Job(number, experiment, key[1], initial_weights(experiment, request.weights.get))


def _computed(computation: Any, key: Key) -> Run:
    """The run of a computation: its table, or why there is none."""
    began = time.perf_counter()
    try:
        table = computation(key[1])
        if not isinstance(table, pd.DataFrame):
            raise TypeError(f"A computation returns a DataFrame; {computation!r} gave {table!r}.")
    except Exception as error:  # noqa: BLE001  (as above: one of many)
        return failed_run(computation, key, traceback_of(error))
    columns = {str(name): table[name].to_numpy() for name in table}
    seconds = time.perf_counter() - began
    done = {"source": computation, "hash": key[0], "seed": key[1], "status": "done"}
    return stamped(Run(**done, arrays={"table": columns}, seconds=seconds))


def failed_run(experiment: Any, key: Key, why: str) -> Run:
    """The record of a run that raised, or whose workers died."""
    what = {"source": experiment, "hash": key[0], "seed": key[1], "status": "failed"}
    return stamped(Run(**what, traceback=why))


def traceback_of(error: Exception) -> str:
    """The traceback as text, without the note that JAX appends about its own frames."""
    shown = traceback.TracebackException.from_exception(error)
    notes = getattr(shown, "__notes__", None) or []
    shown.__notes__ = [note for note in notes if "JAX_TRACEBACK_FILTERING" not in note]
    return "".join(shown.format())


def probe_to_plain(probe: Probe, *, minimal: bool = False) -> Any:
    """A probe as plain data: a configuration, or a function by "module:name"."""
    if dataclasses.is_dataclass(probe):
        return plain.to_plain(probe, minimal=minimal)
    name = f"{getattr(probe, '__module__', '')}:{getattr(probe, '__qualname__', '')}"
    mark = {} if is_of_package(probe) else {plain.MARK: fingerprint(probe)}
    return {"function": name, **mark}


def probe_from_plain(message: Any) -> Probe:
    """The probe that `probe_to_plain` wrote; an edited function is refused."""
    if "function" not in message:
        return plain.from_plain(message)
    probe: Probe = plain.imported(message["function"])
    if plain.MARK in message and message[plain.MARK] != fingerprint(probe):
        raise ValueError(f"The probe {message['function']} has changed since the sweep began.")
    return probe


def probe_settings(probe: Probe) -> str:
    """What tells one probe from another of the same name: its type and settings, as JSON."""
    return json.dumps(probe_to_plain(probe, minimal=True), sort_keys=True)


def unimportable(request: Request) -> str | None:
    """What another process could not import, as it would be named; None if there is nothing."""
    for config in (*request.experiments.values(), *request.probes.values()):
        for thing in _types(config):
            if not is_importable(thing):
                return f"{thing.__module__}:{thing.__qualname__}"
    return None


def _types(config: Any) -> Iterator[Any]:
    """The types (or the function) that a configuration is made of."""
    if is_configuration(config):
        yield type(config)
        for value in plain.fields_of(config).values():
            yield from _types(value)
    elif isinstance(config, tuple | list):
        for item in config:
            yield from _types(item)
    elif callable(config):
        yield config
