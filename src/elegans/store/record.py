"""The record of a run as plain data: what a worker sends back and what a store keeps.

A record is numbers, text and two blobs, so it crosses to another process or machine as JSON and
goes into a database column by column. A run that raised has a record too: its status is "failed",
its metrics are missing, and the traceback says why.
"""

import base64
import importlib.metadata
import json
import platform
import time
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from elegans.runs import Run
from elegans.store.arrays import pack
from elegans.training.optimizers import path_name

LIBRARIES = ("elegans", "jax", "jaxlib", "numpy", "optax")
BLOBS = ("history", "probes")


class Record(NamedTuple):
    """One finished run; `experiment` is the hash of its experiment.

    Attributes:
        status: "done", "diverged" or "failed".
        success: Whether the stop rule was met; None if there was none, or the run failed.
        history: The curves, as `blobs.pack` writes them; None if the run failed.
        probes: What the probes saw, likewise; None if there were none.
        probed: The names of the probes, in alphabetical order, with commas between them.
        traceback: Why a run failed, as text.
        finished: When, in seconds since 1970.
    """

    experiment: str
    seed: int
    status: str
    success: bool | None = None
    steps: int | None = None
    test_error: float | None = None
    test_loss: float | None = None
    train_error: float | None = None
    train_loss: float | None = None
    seconds: float | None = None
    history: bytes | None = None
    probes: bytes | None = None
    probed: str = ""
    traceback: str | None = None
    host: str = ""
    versions: str = ""
    finished: float = 0.0

    @classmethod
    def of(cls, experiment: str, seed: int, outcome: Run) -> "Record":
        """The record of an outcome of the engine, made here and now."""
        same = ("status", "success", "steps", "test_error", "test_loss", "train_error",
                "train_loss", "seconds")  # fmt: skip
        seen = {name: part for name, part in outcome.probes.items() if name != "step"}
        return cls(
            experiment,
            seed,
            **{name: getattr(outcome, name) for name in same},
            history=pack(dict(outcome.arrays["history"])),
            probes=pack(seen) if seen else None,
            probed=",".join(sorted({name.split(".")[0] for name in seen})),
            **here_and_now(),
        )

    @classmethod
    def of_failure(cls, experiment: str, seed: int, traceback: str) -> "Record":
        """The record of a run that raised."""
        return cls(experiment, seed, "failed", traceback=traceback, **here_and_now())

    def to_plain(self) -> dict[str, Any]:
        """The record as JSON can hold it."""
        fields = self._asdict()
        for name in BLOBS:
            if fields[name] is not None:
                fields[name] = base64.b64encode(fields[name]).decode("ascii")
        return fields

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Record":
        """The record that `to_plain` wrote."""
        blobs = {name: base64.b64decode(plain[name]) for name in BLOBS if plain[name] is not None}
        return cls(**{**plain, **blobs})


def here_and_now() -> dict[str, Any]:
    """Where, when and with what a run is being recorded."""
    return {"host": platform.node(), "versions": versions(), "finished": time.time()}


@cache
def versions() -> str:
    """The versions that a result may depend on, as JSON."""
    from elegans import __version__

    found = {name: importlib.metadata.version(name) for name in LIBRARIES if name != "elegans"}
    return json.dumps({"elegans": __version__, "python": platform.python_version(), **found})


def leaves(tree: PyTree) -> dict[str, np.ndarray]:
    """The arrays of a tree by their dotted paths."""
    found, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {path_of(path): np.asarray(leaf) for path, leaf in found}


def path_of(path: Any) -> str:
    """A dotted path: as `path_name`, with the keys of dictionaries bare."""
    return ".".join(str(part.key) if hasattr(part, "key") else path_name((part,)) for part in path)
