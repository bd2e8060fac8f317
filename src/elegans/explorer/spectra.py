r"""What a neuron's weights are made of, by NumPy alone: characters of cubes and of groups.

*Boolean inputs.* A neuron is a function $f(x) = \sigma(w \cdot x + b)$ on $\{-1, +1\}^n$; its
Fourier coefficients $\hat f(S) = \mathbb{E}[f(x) \prod_{i \in S} x_i]$ come from a fast
Walsh-Hadamard transform over the bits with the largest weights; the other bits are averaged over
fixed random signs, and the page says so.

*Groups.* A vector of weights has a number per element; its power in a representation is the share
of its squared norm there. For the integers modulo $p$ these are the frequencies $\pm z$.
"""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

MAX_BITS = 10  # that are transformed; 2**10 inputs
SAMPLES = 64  # of the other bits
MAX_ORDER = 720  # of a group whose representations are computed


class Spectrum(NamedTuple):
    """Named parts of a neuron, with the share of each; `note` says what was left out."""

    kind: str
    names: list[str]
    values: np.ndarray
    note: str = ""


ACTIVATIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "sin": np.sin,
    "sign": np.sign,
    "square": np.square,
    "linear": lambda z: z,
    "gelu": lambda z: 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))),
}


def activation(name: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """The function of that name, powers "z^k" among them; None if it is not one of these."""
    text = str(name)
    if text.startswith("z^") and text[2:].isdigit():
        degree = int(text[2:])
        return lambda z: z**degree
    return ACTIVATIONS.get(text)


def walsh(values: np.ndarray) -> np.ndarray:
    """The coefficients of a function on the cube, given in the order of its inputs' numbers."""
    result = np.array(values, float)
    size = 1
    while size < len(result):
        blocks = result.reshape(-1, 2, size)
        result = np.stack([blocks[:, 0] + blocks[:, 1], blocks[:, 0] - blocks[:, 1]], 1).ravel()
        size *= 2
    return result / len(result)


def boolean(weights: np.ndarray, bias: float, name: Any) -> Spectrum | None:
    """The largest Fourier coefficients of a neuron; None if its activation is not known here."""
    function = activation(name)
    if function is None or not np.isfinite(weights).all():
        return None
    bits = np.sort(np.argsort(-np.abs(weights), kind="stable")[:MAX_BITS])
    rest = np.delete(weights, bits)
    codes = np.arange(2 ** len(bits))[:, None] >> np.arange(len(bits)) & 1
    z = (1 - 2 * codes) @ weights[bits] + bias
    note = ""
    if rest.any():
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (SAMPLES, len(rest)))
        z = z[:, None] + signs @ rest
        note = (
            f"Over the {len(bits)} bits with the largest weights; the other {len(rest)} are "
            f"averaged over {SAMPLES} random signs."
        )
        f = function(z).mean(axis=1)
    else:
        f = function(z)
    coefficients = walsh(f)
    order = np.argsort(-np.abs(coefficients), kind="stable")[:24]
    names = [
        "{" + ", ".join(str(bits[i]) for i in range(len(bits)) if s >> i & 1) + "}"
        for s in order.tolist()
    ]
    return Spectrum("Fourier coefficients of the neuron", names, coefficients[order], note)


def power(weights: np.ndarray, group: Mapping[str, Any]) -> Spectrum | None:
    """The share of a vector's squared norm in each representation of a group, given as JSON."""
    kind = group.get("type")
    total = float(np.sum(np.asarray(weights, float) ** 2)) or 1.0
    if kind == "Cyclic":
        squares = np.abs(np.fft.fft(weights)) ** 2 / len(weights) / total
        half = len(weights) // 2
        shares = squares[: half + 1].copy()
        mirrored = squares[1:][::-1][: len(weights) - half - 1]
        shares[1 : 1 + len(mirrored)] += mirrored
        names = ["constant", *(f"±{z}" for z in range(1, half + 1))]
        return Spectrum("share of the squared norm per frequency", names, shares)
    table = multiplication(group)
    if table is None or len(table) != len(weights):
        return None
    parts = isotypic(table)
    shares = np.array([np.sum((basis.T @ weights) ** 2) for basis in parts]) / total
    names = [f"{number}: dimension {basis.shape[1]}" for number, basis in enumerate(parts)]
    return Spectrum("share of the squared norm per representation", names, shares)


def multiplication(group: Mapping[str, Any]) -> np.ndarray | None:
    """The Cayley table of a group that is written out, or of a symmetric group; else None."""
    if group.get("type") == "CayleyTable":
        table = np.asarray(group.get("rows"))
        is_table = table.ndim == 2 and table.shape[0] == table.shape[1] and table.dtype.kind == "i"
        is_small = is_table and 0 < len(table) <= MAX_ORDER
        in_range = is_small and bool((table >= 0).all() and (table < len(table)).all())
        return table if in_range else None
    k = group.get("k")
    if group.get("type") == "Symmetric" and isinstance(k, int) and 1 <= k <= 5:
        elements = list(itertools.permutations(range(k)))
        place = {element: i for i, element in enumerate(elements)}
        return np.array([[place[tuple(a[i] for i in b)] for b in elements] for a in elements])
    return None


def isotypic(table: np.ndarray) -> list[np.ndarray]:
    """Orthonormal bases of the parts of real functions on a group, the constant ones first.

    A random symmetric element of the centre of the group algebra acts on functions by a symmetric
    matrix, which is a number on each part and, almost surely, another number on each.
    """
    order = len(table)
    inverse = np.argmax(table == table[0, 0], axis=1)
    weights = np.full(order, np.nan)
    noise = np.random.default_rng(0)
    for a in range(order):
        if np.isnan(weights[a]):
            conjugates = {int(table[table[g, a], inverse[g]]) for g in range(order)}
            conjugates |= {int(inverse[c]) for c in conjugates}
            weights[list(conjugates)] = noise.standard_normal()
    matrix = weights[table[:, inverse]]  # entry g, h is the weight of g h^-1
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    cuts = np.flatnonzero(np.diff(values) > 1e-8 * max(1.0, np.abs(values).max())) + 1
    parts = np.split(vectors, cuts, axis=1)
    return sorted(parts, key=lambda p: (p.shape[1], -abs(float(p.sum(axis=0)[0]))))
