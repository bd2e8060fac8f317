"""A group from any Cayley table, checked against the axioms, with the elements that break them."""

from collections.abc import Sequence, Sized

import numpy as np

from elegans.fields import configuration
from elegans.tasks.groups.group import MAX_TABLE_ORDER, FiniteGroup, Table


@configuration
class CayleyTable(FiniteGroup):
    """The group whose products are written out in `rows`: entry b of row a is the product ab."""

    rows: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        table = square(self.rows)
        check_closure(table)
        check_identity(table)
        check_inverses(table)
        check_associativity(table)
        object.__setattr__(self, "rows", tuple(tuple(map(int, row)) for row in table))

    def __repr__(self) -> str:
        """The order alone: a message with the whole table would be unreadable."""
        return f"CayleyTable(<{self.order} x {self.order}>)"

    @property
    def order(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def products(self) -> Table:
        """The rows as an array."""
        return np.array(self.rows)


def from_table(cayley: np.ndarray | Sequence[Sequence[int]]) -> CayleyTable:
    """The group with the given Cayley table: a square of the numbers 0, ..., n - 1.

    Raises:
        ValueError: The table is not that of a group; the message names the elements.
    """
    if isinstance(cayley, np.ndarray) and cayley.ndim != 2:
        raise ValueError(f"CayleyTable: a table has two axes; got an array {cayley.shape}.")
    rows = cayley.tolist() if isinstance(cayley, np.ndarray) else cayley
    return CayleyTable(tuple(tuple(row) for row in square(rows).tolist()))


def square(rows: Sequence[Sequence[object]]) -> Table:
    """The rows as a square array of integers."""
    if not isinstance(rows, Sized):
        raise TypeError(f"CayleyTable: a table is a list of rows or an array; got {rows!r}.")
    n = len(rows)
    if not 2 <= n <= MAX_TABLE_ORDER:
        raise ValueError(f"CayleyTable: a group here has 2..{MAX_TABLE_ORDER} elements; got {n}.")
    for a, row in enumerate(rows):
        if not isinstance(row, Sized):
            raise TypeError(f"CayleyTable: row {a} is {row!r}, not a list of products.")
        if len(row) != n:
            raise ValueError(
                f"CayleyTable: row {a} has {len(row)} products; there are {n} rows, so it has {n}."
            )
        for b, value in enumerate(row):
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise TypeError(
                    f"CayleyTable: the product of {a} and {b} is {value!r}, not an integer."
                )
    return np.array(rows, dtype=np.int64)


def check_closure(table: Table) -> None:
    """Refuses a product that is not an element."""
    n = len(table)
    for a, b in np.argwhere((table < 0) | (table >= n))[:1]:
        raise ValueError(
            f"CayleyTable: the product of {a} and {b} is {table[a, b]}, "
            f"which is not an element: elements are 0..{n - 1}."
        )


def check_identity(table: Table) -> None:
    """Refuses a table whose element 0 changes another element."""
    numbers = np.arange(len(table))
    neutral = np.all(table == numbers, axis=1) & np.all(table == numbers[:, None], axis=0)
    if neutral[0]:
        return
    if neutral.any():
        e = int(np.argmax(neutral))
        raise ValueError(
            f"CayleyTable: the identity comes first, and here it is element {e}. "
            f"Exchange the numbers 0 and {e}."
        )
    left = np.flatnonzero(table[0] != numbers)
    a = int(left[0] if left.size else np.flatnonzero(table[:, 0] != numbers)[0])
    raise ValueError(
        f"CayleyTable: no element is the identity. Element 0 is not: 0 * {a} = {table[0, a]} and "
        f"{a} * 0 = {table[a, 0]}, where both are {a}."
    )


def check_inverses(table: Table) -> None:
    """Refuses an element without a two-sided inverse."""
    for a, row in enumerate(table):
        candidates = np.flatnonzero(row == 0)
        if not np.any(table[candidates, a] == 0):
            raise ValueError(f"CayleyTable: element {a} has no inverse: no b has ab = ba = 0.")


def check_associativity(table: Table) -> None:
    """Refuses the first triple whose product depends on the brackets."""
    for a, row in enumerate(table):
        left, right = table[row], row[table]  # (ab)c and a(bc), for all b and c
        for b, c in np.argwhere(left != right)[:1]:
            raise ValueError(
                f"CayleyTable: products are not associative: ({a} * {b}) * {c} = {left[b, c]}, "
                f"and {a} * ({b} * {c}) = {right[b, c]}."
            )
