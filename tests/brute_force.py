"""The Boolean cube written out, with no code shared with the library."""

import itertools

import numpy as np


def cube(n: int) -> np.ndarray:
    """Every input once: bit i of the row's number is 1 where x_i = -1."""
    rows = [bits[::-1] for bits in itertools.product([1, -1], repeat=n)]
    return np.array(rows, dtype=float).reshape(2**n, n)


def character(x: np.ndarray, subset) -> np.ndarray:
    """The product of the bits of each row in `subset`."""
    return np.prod(x[:, list(subset)], axis=1)


def characters(n: int) -> np.ndarray:
    """The characters of all subsets at all inputs: row T and column x, both as bit masks."""
    x = cube(n)
    subsets = [[i for i in range(n) if mask >> i & 1] for mask in range(2**n)]
    return np.array([character(x, subset) for subset in subsets])
