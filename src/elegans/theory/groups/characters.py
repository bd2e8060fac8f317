r"""Conjugacy classes and character tables, complex and real.

Symmetric and cyclic groups have closed forms, the table of a product is the tensor product, and
that of any other group comes from its `class_algebra`.

A real irreducible representation $S$ is a complex one that is realisable over the reals ("real",
commutant $\mathbb{R}$, $t = 1$), the sum of one and its conjugate ("complex", $t = 2$), or twice
one that is real-valued but not realisable ("quaternionic", $t = 4$); $t = \langle \chi_S, \chi_S
\rangle$. Over the reals $g$ and $g^{-1}$ have equal characters, so that classes are joined with
their inverses: there are as many as real irreducible representations.
"""

import functools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Inexact, Int

from elegans.tasks.groups import Cyclic, FiniteGroup, Product, Symmetric, check_group
from elegans.theory.groups import class_algebra, symmetric

Labels = tuple[str, ...]
TYPES = {1: "real", 2: "complex", 4: "quaternionic"}
TOLERANCE = class_algebra.TOLERANCE


class ReadOnly:
    """A dataclass whose arrays cannot be written to: results are cached, and so shared."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False


@dataclass(frozen=True, eq=False)
class CharacterTable(ReadOnly):
    """Complex irreducible characters (rows, the trivial one first) on classes (columns, e first).

    Attributes:
        values: Real where all characters are, else complex.
        sizes: The number of elements of each class.
        indicators: Frobenius and Schur's, the mean of $\\chi(g^2)$: 1, 0 or -1.
        labels: A name for each character.
        classes: A name for each class.
    """

    values: Inexact[np.ndarray, "characters classes"]
    sizes: Int[np.ndarray, " classes"]
    indicators: Int[np.ndarray, " characters"]
    labels: Labels
    classes: Labels

    @property
    def dimensions(self) -> Int[np.ndarray, " characters"]:
        """The dimension of each representation, its character at the identity."""
        return np.rint(self.values[:, 0].real).astype(np.int64)


@dataclass(frozen=True, eq=False)
class RealCharacterTable(ReadOnly):
    """Characters of the real irreducible representations on classes joined with their inverses.

    Attributes:
        values: One row per representation, the trivial one first.
        sizes: The number of elements of each joined class, the identity first.
        commutants: The dimension of each commutant, 1, 2 or 4.
        labels: A name for each representation.
        classes: A name for each joined class.
        members: Which of the classes of `character_table` each joined class is made of.
    """

    values: Float[np.ndarray, "reps classes"]
    sizes: Int[np.ndarray, " classes"]
    commutants: Int[np.ndarray, " reps"]
    labels: Labels
    classes: Labels
    members: Bool[np.ndarray, "classes complex_classes"]

    @property
    def dimensions(self) -> Int[np.ndarray, " reps"]:
        """The real dimension of each representation."""
        return np.rint(self.values[:, 0]).astype(np.int64)

    @property
    def types(self) -> Labels:
        """Real, complex or quaternionic."""
        return tuple(TYPES[int(t)] for t in self.commutants)


def conjugacy_classes(group: FiniteGroup) -> Int[np.ndarray, " n"]:
    """The number of the class of each element: a column of `character_table`, 0 for the identity.

    Classes are numbered by their first element; those of a symmetric group by cycle type, from
    (1, ..., 1) to (k); those of a product by the pair.
    """
    check_group("conjugacy_classes", group)
    if isinstance(group, Product):
        left, right = conjugacy_classes(group.left), conjugacy_classes(group.right)
        return (left[:, None] * (right.max() + 1) + right[None, :]).reshape(-1)
    if isinstance(group, Symmetric):
        columns = {cycles: i for i, cycles in enumerate(_cycle_types(group.k))}
        rows = group.permutations().tolist()
        return np.array([columns[symmetric.cycle_type(tuple(row))] for row in rows])
    return class_algebra.classes(group).numbers


def inverse_closed_classes(group: FiniteGroup) -> Int[np.ndarray, " n"]:
    """The number of the class of each element, where a class and its inverse are one."""
    members = real_character_table(group).members
    return np.argmax(members, axis=0)[conjugacy_classes(group)]


def character_table(group: FiniteGroup) -> CharacterTable:
    """The irreducible complex characters of a group."""
    check_group("character_table", group)
    return _character_table(group)


def real_character_table(group: FiniteGroup) -> RealCharacterTable:
    """The characters of the real irreducible representations of a group."""
    check_group("real_character_table", group)
    return _real_character_table(group)


@functools.lru_cache(maxsize=64)
def _character_table(group: FiniteGroup) -> CharacterTable:
    if isinstance(group, Symmetric):
        return _symmetric_table(group.k)
    if isinstance(group, Cyclic):
        return _cyclic_table(group.p)
    if isinstance(group, Product):
        return _tensor_product(character_table(group.left), character_table(group.right))
    return _numerical_table(group)


@functools.lru_cache(maxsize=64)
def _real_character_table(group: FiniteGroup) -> RealCharacterTable:
    table = character_table(group)
    pairs = conjugate_pairs(table.values)
    columns = conjugate_pairs(table.values.T)
    values, commutants, labels = [], [], []
    for first, second in pairs:
        row = table.values[first].real
        if first != second:
            values.append(2 * row)
            commutants.append(2)
        else:
            is_quaternionic = table.indicators[first] == -1
            values.append(2 * row if is_quaternionic else row)
            commutants.append(4 if is_quaternionic else 1)
        labels.append(table.labels[first])
    members = np.zeros((len(columns), len(table.sizes)), dtype=bool)
    for i, column in enumerate(columns):
        members[i, list(column)] = True
    real = np.array(values)[:, [first for first, _ in columns]]
    if not isinstance(group, Symmetric | Cyclic | Product):  # named by dimension: here the real one
        labels = list(_numbered(np.rint(real[:, 0]).astype(np.int64)))
    return RealCharacterTable(
        values=real,
        sizes=members @ table.sizes,
        commutants=np.array(commutants),
        labels=tuple(labels),
        classes=tuple(table.classes[first] for first, _ in columns),
        members=members,
    )


def conjugate_pairs(rows: Inexact[np.ndarray, "k k"]) -> list[tuple[int, int]]:
    """Each row with the one that is its complex conjugate, perhaps itself, in order."""
    pairs: list[tuple[int, int]] = []
    for i, row in enumerate(rows):
        j = int(np.argmin(np.abs(rows - row.conj()).max(axis=1)))
        assert np.allclose(rows[j], row.conj(), atol=TOLERANCE), "characters come with conjugates"
        if i <= j:
            pairs.append((i, j))
    return pairs


def _cycle_types(k: int) -> list[symmetric.Partition]:
    return list(symmetric.partitions(k))[::-1]


def _symmetric_table(k: int) -> CharacterTable:
    shapes, classes = list(symmetric.partitions(k)), _cycle_types(k)
    values = np.array([[symmetric.character(s, c) for c in classes] for s in shapes], dtype=float)
    return CharacterTable(
        values=values,
        sizes=np.array([symmetric.class_size(c) for c in classes]),
        indicators=np.ones(len(shapes), dtype=np.int64),
        labels=tuple(str(s).replace(",)", ")") for s in shapes),
        classes=tuple(str(c).replace(",)", ")") for c in classes),
    )


def _cyclic_table(p: int) -> CharacterTable:
    j = np.arange(p)
    values = class_algebra.integers_made_exact(np.exp(2j * np.pi * (np.outer(j, j) % p) / p))
    return CharacterTable(
        values=values,
        sizes=np.ones(p, dtype=np.int64),
        indicators=np.where(2 * j % p == 0, 1, 0),
        labels=tuple(f"frequency {i}" for i in j),
        classes=tuple(str(i) for i in j),
    )


def _tensor_product(left: CharacterTable, right: CharacterTable) -> CharacterTable:
    return CharacterTable(
        values=np.kron(left.values, right.values),
        sizes=np.kron(left.sizes, right.sizes),
        indicators=np.kron(left.indicators, right.indicators),
        labels=tuple(f"{a} x {b}" for a in left.labels for b in right.labels),
        classes=tuple(f"({a}, {b})" for a in left.classes for b in right.classes),
    )


def _numerical_table(group: FiniteGroup) -> CharacterTable:
    """The table from the class algebra, sorted: trivial first, then by dimension and values."""
    numbers, first, sizes = class_algebra.classes(group)
    values = class_algebra.integers_made_exact(class_algebra.characters(group))
    trivial = np.abs(values - 1).max(axis=1) < TOLERANCE
    rounded = np.round(values, 6)  # noise must not decide the order
    dimensions = np.rint(values[:, 0].real)
    keys = (*(-rounded.imag.T[::-1]), *(-rounded.real.T[::-1]), dimensions, ~trivial)
    values = values[np.lexsort(keys)]
    squares = numbers[group.table[first, first]]
    names = group.elements
    return CharacterTable(
        values=values,
        sizes=sizes,
        indicators=np.rint((values[:, squares] @ sizes / group.order).real).astype(np.int64),
        labels=_numbered(np.rint(values[:, 0].real).astype(np.int64)),
        classes=tuple(names[i] for i in first),
    )


def _numbered(dimensions: Int[np.ndarray, " characters"]) -> Labels:
    """The dimension of each character, with a letter where several have the same: 1a, 1b, 2, 3."""
    counts = np.bincount(dimensions)
    order = [int(np.sum(dimensions[:i] == d)) for i, d in enumerate(dimensions)]
    return tuple(
        f"{d}{_letters(i) if counts[d] > 1 else ''}" for d, i in zip(dimensions, order, strict=True)
    )


def _letters(i: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    return ("" if i < 26 else _letters(i // 26 - 1)) + chr(ord("a") + i % 26)
