r"""Gated networks recovered exactly, from noiseless examples on fair bits.

A gated network (`constructions.gated`) is $\langle w_a, y \rangle_+$, where $b$ of its inputs are
the address $a$ and the others the data $y$. Its Fourier coefficients at pairs of an address bit and
a data bit are averages of $\pm \frac12 w_{aj}$; at two data bits they are products of weights, and
much smaller. So the sum over $j$ of the squared coefficients at $\{i, j\}$ tells address bits from
data bits. At one address the network is linear where it is positive: least squares on these rows
give $w_a$ exactly, as soon as they are as many as the data bits.

It is the cells that make it easy: each neuron is seen alone. A parity hidden behind the addresses
(`tasks.LiftedParity`) has no such cells.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans import checks


class GatedNetwork(NamedTuple):
    """A network of gates: the columns of the address, and a direction per address and column.

    Address bits are those of all numbers of the library: bit i is 1 where the input is -1. Entries
    of `directions` at address columns are zero; those of an address with too few positive rows are
    NaN, and `is_determined` is false there.
    """

    address: tuple[int, ...]
    directions: Float[np.ndarray, "cells n"]
    is_determined: np.ndarray

    def predict(self, x: Float[np.ndarray, "rows n"]) -> Float[np.ndarray, " rows"]:
        """The value at each row."""
        cells = cell_numbers(x, self.address)
        return np.maximum(np.einsum("ij,ij->i", x, self.directions[cells]), 0)


def recover_gates(
    x: Float[np.ndarray, "rows n"], y: Float[np.ndarray, " rows"], b: int
) -> GatedNetwork:
    """The gated network with `b` address bits that labelled fair bits `x` by `y`, without noise."""
    n = x.shape[1]
    checks.whole(f"recover_gates(b={b})", "b", b, low=1, high=n - 1, what="counts address bits")
    if not (np.abs(x) == 1).all():
        raise ValueError(f"recover_gates(b={b}): x holds signs, -1 or 1.")
    scores = pair_scores(x, y)
    address = tuple(sorted(int(i) for i in np.argsort(-scores, kind="stable")[:b]))
    data = np.setdiff1d(np.arange(n), address)
    cells = cell_numbers(x, address)
    directions = np.zeros((2**b, n))
    is_determined = np.zeros(2**b, dtype=bool)
    for cell in range(2**b):
        chosen = (cells == cell) & (y > 0)
        is_determined[cell] = chosen.sum() >= len(data)
        directions[cell, data] = np.nan
        if is_determined[cell]:
            part = x[np.ix_(np.flatnonzero(chosen), data)]
            directions[cell, data] = np.linalg.lstsq(part, y[chosen], rcond=None)[0]
    return GatedNetwork(address, directions, is_determined)


def pair_scores(
    x: Float[np.ndarray, "rows n"], y: Float[np.ndarray, " rows"]
) -> Float[np.ndarray, " n"]:
    """Of each bit, the sum of the squared coefficients at the pairs that it is in."""
    pairs = (x * (y - y.mean())[:, None]).T @ x / len(x)
    np.fill_diagonal(pairs, 0.0)
    return (pairs**2).sum(axis=1)


def cell_numbers(x: Float[np.ndarray, "rows n"], address: tuple[int, ...]) -> np.ndarray:
    """The number of each row's address."""
    return (x[:, list(address)] < 0) @ 2 ** np.arange(len(address))
