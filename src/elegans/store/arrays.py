"""Arrays as bytes: named columns of numbers, booleans and text, compressed, never a pickle.

A blob is zlib's compression of a line of JSON, `[[name, dtype, shape, has_missing], ...]`, and of
the bytes of the arrays in that order. Shapes are free, so that curves, weights and tables are
written alike, and reading one back runs nothing: only the dtypes in `DTYPES` are built. Text is of
fixed width (`"<U5"`); where some of it is missing, one byte per value follows that says which.
"""

import json
import math
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

DTYPES = "biufcU"  # booleans, integers, real and complex numbers, text
LEVEL = 6  # level 9 takes three times as long for one percent
MAX_BYTES = 2**30  # of a blob once decompressed: a gigabyte


def pack(columns: Mapping[str, np.ndarray]) -> bytes:
    """The columns as one blob; text may be an array of objects, and missing (None or NaN) there."""
    header, parts = [], []
    for name, column in columns.items():
        array, missing = np.asarray(column), None
        if array.dtype == object:  # as pandas hands text over
            array, missing = _text(name, array)
        if array.dtype.kind not in DTYPES:
            raise ValueError(
                f"Column {name!r} has dtype {array.dtype}; numbers, booleans and text are stored."
            )
        header.append([name, array.dtype.str, array.shape, missing is not None])
        parts += [array.tobytes()] + ([] if missing is None else [missing.tobytes()])
    body = b"".join([json.dumps(header).encode(), b"\n", *parts])
    if len(body) > MAX_BYTES:
        raise ValueError(f"Columns of {len(body):,} bytes; a blob has {MAX_BYTES:,} at most.")
    return zlib.compress(body, LEVEL)


def unpack(blob: bytes, limit: int | None = None) -> dict[str, np.ndarray]:
    """The columns that `pack` wrote; text with missing values as objects, None where missing.

    Raises:
        ValueError: The bytes are not of that form, or decompress to more than `limit` bytes, of
            which the default is `MAX_BYTES`.
    """
    inflater, limit = zlib.decompressobj(), MAX_BYTES if limit is None else limit
    try:
        body = inflater.decompress(blob, limit)
        if inflater.unconsumed_tail:
            raise ValueError(f"The blob decompresses to more than {limit:,} bytes.")
        if not inflater.eof:
            raise ValueError("The blob is cut short.")
        end = body.find(b"\n") + 1
        columns = {}
        for name, dtype, shape, has_missing in json.loads(body[:end]):
            columns[name], end = _read(body, end, np.dtype(dtype), tuple(shape))
            if has_missing:
                missing, end = _read(body, end, np.dtype(bool), tuple(shape))
                columns[name] = columns[name].astype(object)
                columns[name][missing] = None
    except (zlib.error, json.JSONDecodeError, UnicodeError, TypeError, RecursionError) as error:
        raise ValueError(f"The blob is not one of columns: {error}.") from error
    return columns


class Lazy(Mapping[Any, Any]):
    """Columns by kind, each kind read when it is first asked for.

    Args:
        kinds: Says which kinds there are.
        read: The columns of a kind; a `KeyError` if there are none.
    """

    def __init__(
        self, kinds: Callable[[], Collection[str]], read: Callable[[str], dict[str, np.ndarray]]
    ) -> None:
        self._kinds, self._read = kinds, read
        self._columns: dict[str, dict[str, np.ndarray]] = {}

    def __getitem__(self, kind: str) -> dict[str, np.ndarray]:
        if kind not in self._columns:
            self._columns[kind] = self._read(kind)
        return self._columns[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self._kinds()  # without reading it

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds())

    def __len__(self) -> int:
        return len(self._kinds())


class Packed(Lazy):
    """Columns by kind as the blobs that `pack` wrote, each unpacked when it is first asked for."""

    def __init__(self, blobs: Mapping[str, bytes]) -> None:
        super().__init__(lambda: blobs, lambda kind: unpack(blobs[kind]))
        self.blobs = blobs


def blob_of(arrays: Mapping[Any, Any], kind: str) -> bytes:
    """The columns of a kind as one blob: the one that they travelled as, if they did."""
    return arrays.blobs[kind] if isinstance(arrays, Packed) else pack(arrays[kind])


def same(one: Mapping[str, np.ndarray], two: Mapping[str, np.ndarray]) -> bool:
    """Whether columns are equal bit for bit, names, dtypes and shapes included."""
    return pack(one) == pack(two)


def _text(name: str, array: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """An array of text objects as one of fixed width, and where it is missing."""
    import pandas as pd  # here: what has no text is read and written without it

    missing = pd.isna(array)
    values = np.where(missing, "", array)
    if not all(isinstance(value, str) for value in values.flat):
        raise ValueError(f"Column {name!r} holds objects; numbers, booleans and text are stored.")
    return values.astype(str), missing if missing.any() else None


def _read(body: bytes, start: int, dtype: np.dtype, shape: tuple[int, ...]) -> tuple:
    """An array out of `body`, and where the next one starts."""
    if dtype.kind not in DTYPES or dtype.itemsize == 0 or any(size < 0 for size in shape):
        raise ValueError(f"A blob names an array of dtype {dtype} and shape {shape}.")
    end = start + math.prod(shape) * dtype.itemsize
    if end > len(body):
        raise ValueError(f"A blob of {len(body)} bytes names an array that ends at {end}.")
    return np.frombuffer(body[start:end], dtype).reshape(shape).copy(), end
