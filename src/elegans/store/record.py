r"""A run as a message, which workers send, and as a row of a store, with its checksum.

Both are plain data: numbers, text and packed arrays. The checksum of a row is a sum over columns,

$$\sum_c \mathrm{mix}(\mathrm{bits}(x_c) \oplus \mathrm{salt}_c) \mod 2^{64},$$

where `mix` is a bijection, so that a change of one column always shows, and one of several does
but for a chance of $2^{-64}$. It is computed a column at a time, for all rows at once. A missing
value adds nothing, so that a store can be given a further column. Not a number is the text "nan"
in the database, which would otherwise make it a missing value.
"""

import base64
import dataclasses
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from elegans.runs import METRIC_TYPES, METRICS, Run
from elegans.store.arrays import Packed, pack

INTEGERS = ("id", "experiment", "seed", "arrays", "checksum")
REALS = (*METRICS, "finished")
TEXTS = ("status", "traceback", "host", "versions")
VALUES = ("seed", *REALS, *TEXTS)  # what is the run's own
COLUMNS = (*INTEGERS, *REALS, *TEXTS)
Row = tuple[Any, ...]  # the values of COLUMNS, text as bytes
TO_PYTHON: dict[str, Callable[[Any], Any]] = {
    "seed": int,
    **{name: {"bool": bool, "int": int}.get(kind, float) for name, kind in METRIC_TYPES.items()},
    "finished": float,
    **dict.fromkeys(TEXTS, bytes.decode),
}


def to_message(run: Run) -> dict[str, Any]:
    """A run as JSON can hold it, without its experiment."""
    fields = [field.name for field in dataclasses.fields(run)]
    plain = {
        name: _plain(getattr(run, name)) for name in fields if name not in ("source", "arrays")
    }
    arrays = {
        kind: base64.b64encode(pack(columns)).decode("ascii")
        for kind, columns in run.arrays.items()
        if columns
    }
    return {**plain, "arrays": arrays}


def from_message(plain: dict[str, Any], source: Any) -> Run:
    """The run that `to_message` wrote, of the experiment (or its JSON) `source`.

    Its arrays stay packed, as a store keeps them, so that a driver need not do that again.
    """
    blobs = {kind: base64.b64decode(text) for kind, text in plain["arrays"].items()}
    return Run(**{**plain, "source": source, "arrays": Packed(blobs)})


def digest(*parts: object) -> int:
    """A checksum of texts, numbers and bytes, in this order, as SQLite's signed integer."""
    total = blake2b(digest_size=8)
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        total.update(b"%d:" % len(data))
        total.update(data)
    return int.from_bytes(total.digest(), "little", signed=True)


def to_values(run: Run) -> dict[str, Any]:
    """The columns of a run that are its own, as SQLite takes them."""
    values = {name: _plain(getattr(run, name)) for name in VALUES}
    if run.traceback is not None:  # may quote text that is not Unicode
        values["traceback"] = run.traceback.encode(errors="replace").decode()
    return {name: "nan" if value != value else value for name, value in values.items()}


def from_row(row: Row, **rest: Any) -> Run:
    """The run of a row that fits its checksum; `rest` is what the row does not have."""
    values: dict[str, Any] = {
        name: None if value is None else TO_PYTHON[name](value)
        for name, value in zip(COLUMNS, row, strict=True)
        if name in VALUES
    }
    return Run(**values, **rest)


def decode(rows: Sequence[Row]) -> dict[str, np.ndarray]:
    """Rows of `runs` as columns, and "sound": which rows fit their checksums.

    The others have the status "damaged" and no numbers: none of theirs can be trusted.
    """
    columns, totals, is_valid = _columns(rows)
    columns["sound"] = is_valid & (totals == columns["checksum"])
    for name in (*REALS, *TEXTS):
        columns[name][~columns["sound"]] = (
            "damaged" if name == "status" else None if name in TEXTS else np.nan
        )
    return columns


def checksums(rows: Sequence[Row]) -> list[int]:
    """The checksums that fit the other columns of rows."""
    return _columns(rows)[1].tolist()


def _columns(rows: Sequence[Row]) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Rows as columns, the checksum of each row, and whether its values are of the right types."""
    values = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    first, last = len(INTEGERS), len(INTEGERS) + len(REALS)
    readings = (
        _numbers(values[:first], np.int64),
        _numbers(values[first:last], np.float64),
        _texts(values[last:]),
    )
    columns = dict(zip(COLUMNS, (row for each in readings for row in each.values), strict=True))
    bits, is_missing, is_valid = (
        np.concatenate([reading[i] for reading in readings]) for i in (1, 2, 3)
    )
    is_missing[COLUMNS.index("checksum")] = True  # it does not enter itself
    terms = np.where(is_missing, np.uint64(0), _mixed(bits ^ _salts()[:, None]))
    totals = terms.sum(axis=0, dtype=np.uint64).view(np.int64)
    return columns, totals, np.all(is_valid, axis=0)


class _Reading(NamedTuple):
    """Columns: their values, 64 bits of each, and which are missing, and as they may be."""

    values: np.ndarray
    bits: np.ndarray
    is_missing: np.ndarray
    is_valid: np.ndarray


def _numbers(columns: Sequence[Row], dtype: Any) -> _Reading:
    try:
        data = np.array(columns, dtype)
        is_valid = np.ones(data.shape, bool)
    except (TypeError, ValueError, OverflowError):  # a damaged row has something else there
        is_valid = np.array([[_is_number(v, dtype) for v in column] for column in columns], bool)
        pairs = [zip(*pair, strict=True) for pair in zip(columns, is_valid, strict=True)]
        data = np.array([[v if ok else 0 for v, ok in pair] for pair in pairs], dtype)
    is_missing, is_nan = np.zeros(data.shape, bool), np.isnan(data)
    if is_nan.any():
        data[is_nan] = np.nan  # one of its many bit patterns
        for i in np.flatnonzero(is_nan.any(axis=1)).tolist():
            is_missing[i] = [value is None for value in columns[i]]
    data = data + dtype(0)  # a negative zero, which the database does not know, becomes zero
    return _Reading(data, data.view(np.uint64), is_missing, is_valid)


def _is_number(value: Any, dtype: Any) -> bool:
    try:
        np.array(value, dtype)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _texts(columns: Sequence[Row]) -> _Reading:
    places: dict[Any, int] = {}  # most values are the same in all rows, so few are looked at
    for value in set().union(*columns):
        places[value] = len(places)
    parts = np.array([_text(value) for value in places], object).reshape(len(places), 4)
    index = np.array([[*map(places.__getitem__, column)] for column in columns], np.intp)
    types = (object, np.uint64, bool, bool)
    return _Reading(*(parts[:, i].astype(types[i])[index] for i in range(4)))


def _text(value: Any) -> tuple[str | None, int, bool, bool]:
    """A text, 64 bits of it, whether it is missing, and whether it may stand there."""
    try:
        text = None if value is None else value.decode()
    except (AttributeError, UnicodeDecodeError):
        return None, 0, False, False
    return text, digest(value or b"") % 2**64, value is None, True


def _mixed(bits: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit numbers that changes half of the bits wherever one bit differs.

    References: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators.
    """
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@cache
def _salts() -> np.ndarray:
    return np.array([digest(name) for name in COLUMNS], np.int64).view(np.uint64)


def _plain(value: Any) -> Any:
    """A Python number for a NumPy one; anything else as it is."""
    return value.item() if hasattr(value, "item") else value
