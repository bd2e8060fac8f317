"""Inside one network: the arrays that a run kept, by what they are and not by who made them.

An array with an entry per evaluation can be followed over training; the final weights
(`keep="params"`) are one more moment. A matrix has a neuron per column, or per row if only its
rows fit the task's inputs. If the inputs are bits or elements of a group, a neuron has a spectrum.
Three axes and more are several matrices, such as the attention of each layer and head.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from elegans.explorer.records import NotThere, Record, Records
from elegans.explorer.spectra import Spectrum, boolean, power

FINAL = "final weights."  # before the names of weights that were kept at the end
MAX_ENTRIES = 2**18  # of a matrix that is sent


class Layer(NamedTuple):
    """An array of a run: its name, its steps (none if it is of the end alone), and its shape."""

    name: str
    steps: tuple[int, ...]
    shape: tuple[int, ...]  # without the axis of steps
    values: np.ndarray

    @property
    def is_matrix(self) -> bool:
        """Whether it has neurons to choose from."""
        return len(self.shape) == 2

    def at(self, step: int) -> np.ndarray:
        """The array at the last evaluation that is not after `step`."""
        return self.values if not self.steps else self.values[self.place(step)]

    def place(self, step: int) -> int:
        """Which evaluation that is."""
        return max(0, int(np.searchsorted(self.steps, step, side="right")) - 1)


def layers(records: Records, record: Record) -> dict[str, Layer]:
    """All arrays of a run that are more than one number per step, by name."""
    result = {}
    columns = records.probes(record)
    steps = tuple(int(step) for step in columns.get("step", ()))
    for name, values in columns.items():
        is_array = values.dtype.kind in "biuf" and values.ndim >= 2 and len(values) == len(steps)
        if name != "step" and is_array and math.prod(values.shape[1:]) > 1:
            result[name] = Layer(name, steps, values.shape[1:], values)
    for name, values in records.arrays(record.number, "params").items():
        if values.dtype.kind in "biuf" and values.ndim >= 1 and values.size > 1:
            result[FINAL + name] = Layer(FINAL + name, (), values.shape, values)
    order = sorted(result.values(), key=_interest, reverse=True)
    return {layer.name: layer for layer in order}


def layer_of(available: Mapping[str, Layer], name: str) -> Layer:
    """The layer of that name, or the first."""
    if not available:
        raise NotThere(
            "This run kept neither weights nor arrays of probes. Run it again with "
            'probes={"parameters": el.probes.parameters}, or keep="params" for the end alone.'
        )
    if name and name not in available:
        raise NotThere(f"layer={name}: there is none. There are: {', '.join(available)}.")
    return available[name or next(iter(available))]


def inputs_of(settings: Mapping[str, Any]) -> int | None:
    """How many inputs a neuron has: the task's bits, or the elements of its group."""
    task = settings.get("task")
    if not isinstance(task, Mapping):
        return None
    group, n = task.get("group"), task.get("n")
    if isinstance(group, Mapping):
        p, k, rows = group.get("p"), group.get("k"), group.get("rows")
        if group.get("type") == "Cyclic" and isinstance(p, int):
            return p
        if group.get("type") == "Symmetric" and isinstance(k, int) and 0 < k < 8:
            return math.factorial(k)
        return len(rows) if isinstance(rows, list) else None
    return n if isinstance(n, int) else None


def neuron_axis(layer: Layer, inputs: int | None) -> int:
    """Which axis of a matrix counts neurons: the columns, unless only the rows can."""
    rows, columns = layer.shape
    return 0 if columns == inputs and rows != inputs else 1


def neurons(layer: Layer, inputs: int | None) -> int:
    """How many neurons a matrix has; other arrays have none to choose."""
    return layer.shape[neuron_axis(layer, inputs)] if layer.is_matrix else 0


def neuron(layer: Layer, step: int, number: int, inputs: int | None) -> np.ndarray:
    """The weights of a neuron."""
    count = neurons(layer, inputs)
    if not 0 <= number < count:
        raise NotThere(f"neuron={number}: {layer.name} has neurons 0 to {count - 1}.")
    return np.take(layer.at(step), number, axis=neuron_axis(layer, inputs)).astype(float)


def strongest(layer: Layer, inputs: int | None) -> int:
    """The neuron with the largest weights at the end: one worth looking at first."""
    if not layer.is_matrix:
        return 0
    last = np.nan_to_num(layer.at(layer.steps[-1] if layer.steps else 0).astype(float))
    return int(np.argmax(np.linalg.norm(last, axis=1 - neuron_axis(layer, inputs))))


def spectrum(
    weights: np.ndarray, settings: Mapping[str, Any], bias: float = 0.0
) -> Spectrum | None:
    """What the weights of a neuron are made of, if its inputs are bits or elements of a group."""
    task, model = settings.get("task"), settings.get("model")
    if not isinstance(task, Mapping) or len(weights) != inputs_of(settings):
        return None
    if isinstance(task.get("group"), Mapping):
        return power(weights, task["group"])
    if "support" not in task or not isinstance(model, Mapping):
        return None
    degree = model.get("degree")
    name = f"z^{degree}" if isinstance(degree, int) else model.get("activation")
    return boolean(weights, bias, name)


def bias_of(available: Mapping[str, Layer], layer: Layer, step: int, number: int) -> float:
    """The bias beside a neuron's weights, zero if none was kept."""
    stem, _, last = layer.name.rpartition(".")
    other = available.get(f"{stem}.bias")
    if last != "weight" or other is None or len(other.shape) != 1 or number >= other.shape[0]:
        return 0.0
    return float(other.at(step)[number])


def pictures(layer: Layer, step: int) -> tuple[np.ndarray, list[str]]:
    """The array as matrices of equal shape, with the name of each."""
    values = np.asarray(layer.at(step), np.float32)
    if values.ndim < 2:
        return values.reshape(1, 1, -1), [""]
    matrices = values.reshape(-1, *values.shape[-2:])
    leading = list(np.ndindex(*values.shape[:-2]))
    words = {1: ("part",), 2: ("layer", "head")}.get(values.ndim - 2, ())
    names = [
        ", ".join(f"{word} {i}" for word, i in zip(words, place, strict=False)) or str(place)
        for place in leading
    ]
    return matrices, names if values.ndim > 2 else [""]


def _interest(layer: Layer) -> tuple[bool, bool, int]:
    """First what is followed over training, matrices before vectors, weights before the rest."""
    has_weights = "weight" in layer.name or layer.name.startswith(FINAL)
    return bool(layer.steps) and len(layer.shape) >= 2, has_weights, len(layer.shape)
