"""The kinds of arrays that a store keeps of a run, and what a second record must agree with.

A run has "history", "params" and "probes"; a computation has a "table". What each probe saw is an
array of its own, whose kind names the probe and the SHA-256 of its settings, so that the same probe
with other settings never returns old numbers, and further probes can be added to a stored run.
"""

from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np

from elegans.runs import METRICS, Run
from elegans.store.arrays import blob_of, pack, same
from elegans.store.record import to_values
from elegans.store.schema import StoreError

PROBE = "probes."  # before the name of a probe
MUST_AGREE = ("status", *(name for name in METRICS if name != "seconds"))


def probe_kind(name: str, settings: str) -> str:
    """The kind under which the arrays of a probe with these settings are stored."""
    return f"{PROBE}{name}.{sha256(settings.encode()).hexdigest()}"


def packed(run: Run, probes: Mapping[str, str], keep: Collection[str]) -> dict[str, bytes]:
    """What is stored of a run's arrays, by kind."""
    kinds = ["history", "table", *({"params"} & set(keep))]
    blobs = {kind: blob_of(run.arrays, kind) for kind in kinds if kind in run.arrays}
    if run.status == "failed" or "table" in blobs:
        return blobs
    if "params" in keep and "params" not in blobs:
        raise ValueError(f"{run} has no weights to keep.")
    columns = dict(run.arrays.get("probes", {}))
    steps = {name: columns.pop(name) for name in ("step",) if name in columns}
    parts: dict[str, dict[str, np.ndarray]] = {name: dict(steps) for name in probes}
    for column, values in columns.items():
        owners = [name for name in probes if f"{column}.".startswith(f"{name}.")]
        if not owners:
            raise ValueError(f"{run}: no probe is named for the column {column!r}.")
        parts[max(owners, key=len)][column] = values
    return blobs | {probe_kind(name, probes[name]): pack(parts[name]) for name in probes}


def refuse_difference(path: Path, old: Run, new: Run) -> None:
    """Refuses a second record of a run that says something else than the first."""
    one, two = to_values(old), to_values(new)
    texts = [
        f"{name} is {two[name]}, was {one[name]}" for name in MUST_AGREE if one[name] != two[name]
    ]
    for kind in ("history", "table"):
        if not same(old.arrays.get(kind, {}), new.arrays.get(kind, {})):
            texts.append(f"{kind} has other numbers")
    if texts:
        raise StoreError(
            f"{path}: experiment {new.hash} with seed {new.seed} differs from its stored record: "
            f"{'; '.join(texts)}. Stored by {old.host}, {old.versions}; now {new.host}, "
            f"{new.versions}. Results of other versions or processors belong in another store."
        )
