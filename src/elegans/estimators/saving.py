"""A fitted estimator as one `npz` file: arrays and a JSON header, no pickle.

Reading such a file runs no code of its writer's. It is written beside its place and then moved
there, so that a file under the name is always whole.
"""

import contextlib
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 1


def write(path: str | Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Writes the file at `path`, whole or not at all."""
    text = json.dumps({"format": FORMAT, **header}, default=plain)
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, header=np.array(text), **arrays)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a file that `write` wrote."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"load: there is no file {str(path)!r}.")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
    except (ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"load: {str(path)!r} is not a file that save() of an estimator wrote ({error})."
        ) from None
    if header["format"] > FORMAT:
        raise ValueError(
            f"load: {str(path)!r} has format {header['format']}; this version reads up to {FORMAT}."
        )
    return header, arrays


def plain(value: object) -> Any:
    """A NumPy number as JSON has it; a generator of random numbers is not kept."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.RandomState):
        return None
    raise TypeError(f"save: a parameter is {value!r}, which is neither number, string nor None.")


def serialised(parameters: dict[str, Any]) -> list[list[Any]]:
    """Parameters as pairs; a dictionary among them as pairs too, as JSON has only string keys."""
    return [
        [name, {"pairs": [[k, v] for k, v in value.items()]} if isinstance(value, dict) else value]
        for name, value in parameters.items()
    ]


def deserialised(pairs: list[list[Any]]) -> dict[str, Any]:
    """The parameters that `serialised` wrote."""
    return {
        name: dict(value["pairs"]) if isinstance(value, dict) else value for name, value in pairs
    }


def without_objects(name: str, array: np.ndarray) -> np.ndarray:
    """An array of strings held as objects, as an array of strings; others as they are."""
    if not array.dtype.hasobject:
        return array
    if not all(isinstance(value, str) for value in array):
        raise TypeError(
            f"save: {name} holds Python objects, such as {array[0]!r}, which only a pickle could "
            "keep; numbers and strings are saved."
        )
    return array.astype(str)
