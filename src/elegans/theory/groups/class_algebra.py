r"""Conjugacy classes and characters of a group that is known by its table.

Irreducible characters are the joint eigenvectors of convolution by class functions. A random class
function with $f(g^{-1}) = \overline{f(g)}$ makes that operator Hermitian, with eigenvalues that are
different almost surely. Its eigenvectors, scaled to $\langle \chi, \chi \rangle = 1$ and $\chi(e) >
0$, are the characters. Draws are repeated until no two eigenvalues are much closer than those of
independent draws would be, which leaves errors of about 1e-13.
"""

import functools
from typing import NamedTuple

import numpy as np
from jaxtyping import Inexact, Int

from elegans.tasks.groups import FiniteGroup

TOLERANCE = 1e-9  # far above the error of a character, far below what tells two apart
DRAWS = 24  # at most, of a random class function


class Classes(NamedTuple):
    """Conjugacy classes, numbered by their first element.

    Attributes:
        numbers: The class of each element.
        first: The first element of each class.
        sizes: The number of elements of each class.
    """

    numbers: Int[np.ndarray, " n"]
    first: Int[np.ndarray, " classes"]
    sizes: Int[np.ndarray, " classes"]


@functools.lru_cache(maxsize=64)
def classes(group: FiniteGroup) -> Classes:
    """The classes by their definition: an element $x$ with every $g x g^{-1}$."""
    table, inverses = group.table, group.inverses
    numbers = np.full(group.order, -1)
    first: list[int] = []
    for x in range(group.order):
        if numbers[x] < 0:
            numbers[table[table[:, x], inverses]] = len(first)
            first.append(x)
    return Classes(numbers, np.array(first), np.bincount(numbers))


def characters(group: FiniteGroup) -> Inexact[np.ndarray, "classes classes"]:
    """The irreducible characters as rows, in no particular order."""
    numbers, first, sizes = classes(group)
    rng = np.random.default_rng(0)
    quotients = group.table[first][:, group.inverses]  # x y^-1, x one element per class
    indicator = np.eye(len(sizes))[numbers]
    inverse = numbers[group.inverses[first]]  # the class of the inverses
    scale = np.sqrt(sizes)
    largest, vectors = -1.0, np.empty(0)
    for _ in range(DRAWS):
        f = rng.standard_normal(len(sizes)) + 1j * rng.standard_normal(len(sizes))
        f = f + f[inverse].conj()
        # In the orthonormal basis 1_C / sqrt|C| of class functions.
        operator = (f[numbers][quotients] @ indicator) * scale[:, None] / scale[None, :]
        eigenvalues, candidates = np.linalg.eigh((operator + operator.conj().T) / 2)
        gap = float(np.diff(eigenvalues).min() / np.ptp(eigenvalues))
        if gap > largest:
            largest, vectors = gap, candidates
        if largest > 0.1 / len(sizes) ** 2:  # the closest of k independent numbers are 1/k^2 apart
            break
    values = vectors.T / scale
    return values * (np.sqrt(group.order) * values[:, :1].conj() / np.abs(values[:, :1]))


def integers_made_exact(values: Inexact[np.ndarray, "k k"]) -> Inexact[np.ndarray, "k k"]:
    """The values with real and imaginary parts that are integers up to rounding made so."""
    parts = np.stack([values.real, values.imag])
    nearest = np.rint(parts)
    parts = np.where(np.abs(parts - nearest) < TOLERANCE, nearest + 0.0, parts)
    return parts[0] + 1j * parts[1] if parts[1].any() else parts[0]
