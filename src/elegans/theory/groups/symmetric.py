r"""Symmetric groups: Murnaghan-Nakayama characters, and Young's orthogonal form.

Irreducible representations and conjugacy classes of $S_k$ are both labelled by partitions of $k$.
All are real. Characters need no group table, so those of $S_8$ take milliseconds; matrices are
products of those of the adjacent transpositions $(i, i+1)$, which act on standard tableaux by

$$S_i\,t = \tfrac{1}{r}\,t + \sqrt{1 - \tfrac{1}{r^2}}\;t', \qquad
r = c_t(i+1) - c_t(i),$$

$t'$ being $t$ with $i$ and $i+1$ exchanged and $c_t(x)$ the content, column minus row, of $x$.

References: Sagan (2001), The symmetric group, chapters 2 and 4.
"""

import functools
import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

Partition = tuple[int, ...]
Tableau = tuple[int, ...]  # the row of each of the numbers 1, ..., k


def partitions(k: int, largest: int | None = None) -> Iterator[Partition]:
    """The partitions of `k` into parts of at most `largest`, from (k) down to (1, ..., 1)."""
    if k == 0:
        yield ()
        return
    for first in range(min(k, largest or k), 0, -1):
        for rest in partitions(k - first, first):
            yield (first, *rest)


def class_size(cycles: Partition) -> int:
    """The number of permutations with the given cycle lengths."""
    centraliser = math.prod(
        length**count * math.factorial(count) for length, count in Counter(cycles).items()
    )
    return math.factorial(sum(cycles)) // centraliser


@functools.cache
def character(shape: Partition, cycles: Partition) -> int:
    """The character of the representation `shape` at permutations with the given cycle lengths.

    By the rule of Murnaghan and Nakayama: a cycle of length $r$ removes a rim hook of $r$ boxes in
    every possible way, with the sign of its height. On the set of first-column hook lengths that
    is one number made smaller by $r$, and the height counts the numbers that it jumps over.
    """
    if not cycles:
        return 1
    hooks = [part + len(shape) - 1 - i for i, part in enumerate(shape)]
    total = 0
    for hook in hooks:
        shorter = hook - cycles[0]
        if shorter < 0 or shorter in hooks:
            continue
        height = sum(shorter < other < hook for other in hooks)
        left = sorted({*hooks, shorter} - {hook}, reverse=True)
        rest = tuple(value - (len(left) - 1 - i) for i, value in enumerate(left))
        total += (-1) ** height * character(tuple(p for p in rest if p), cycles[1:])
    return total


def standard_tableaux(shape: Partition) -> list[Tableau]:
    """The standard Young tableaux of a shape, each as the rows in which 1, ..., k stand."""
    if sum(shape) == 0:
        return [()]
    tableaux = []
    for row, length in enumerate(shape):
        below = shape[row + 1] if row + 1 < len(shape) else 0
        if length > below:  # a corner, where the largest number may stand
            smaller = (*shape[:row], length - 1, *shape[row + 1 :])
            tableaux += [(*tableau, row) for tableau in standard_tableaux(smaller)]
    return tableaux


def adjacent_transpositions(shape: Partition) -> Float[np.ndarray, "generators d d"]:
    """The orthogonal matrices of the transpositions of neighbours, (0 1), (1 2), ..."""
    tableaux = standard_tableaux(shape)
    number = {tableau: i for i, tableau in enumerate(tableaux)}
    k = sum(shape)
    matrices = np.zeros((k - 1, len(tableaux), len(tableaux)))
    for tableau, t in number.items():
        contents = [tableau[:i].count(row) - row for i, row in enumerate(tableau)]
        for i in range(k - 1):
            distance = contents[i + 1] - contents[i]
            matrices[i, t, t] = 1 / distance
            swapped = (*tableau[:i], tableau[i + 1], tableau[i], *tableau[i + 2 :])
            if abs(distance) > 1:  # otherwise i and i + 1 are neighbours in a row or a column
                matrices[i, number[swapped], t] = math.sqrt(1 - 1 / distance**2)
    return matrices


def orthogonal_form(shape: Partition, permutations: np.ndarray) -> Float[np.ndarray, "n d d"]:
    """The matrix of each row of `permutations`, all of $S_k$, in Young's orthogonal form."""
    generators = adjacent_transpositions(shape)
    number = {tuple(row): i for i, row in enumerate(permutations.tolist())}
    d = generators.shape[1]
    matrices = np.empty((len(permutations), d, d))
    identity = tuple(range(permutations.shape[1]))
    matrices[number[identity]] = np.eye(d)
    reached, frontier = {identity}, [identity]
    while frontier:
        following = []
        for p in frontier:
            for i, generator in enumerate(generators):
                # p (i i+1) exchanges the values of p at i and i + 1.
                q = (*p[:i], p[i + 1], p[i], *p[i + 2 :])
                if q not in reached:
                    reached.add(q)
                    following.append(q)
                    matrices[number[q]] = matrices[number[p]] @ generator
        frontier = following
    return matrices


def cycle_type(permutation: tuple[int, ...]) -> Partition:
    """The lengths of the cycles of a permutation, longest first."""
    left, lengths = set(range(len(permutation))), []
    while left:
        point, length = left.pop(), 1
        while (point := permutation[point]) in left:
            left.remove(point)
            length += 1
        lengths.append(length)
    return tuple(sorted(lengths, reverse=True))
