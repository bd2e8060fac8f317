r"""What every finite group offers: its order, the names of its elements, and its Cayley table.

Elements are the numbers $0, \dots, |G| - 1$, in the order that each family documents; the identity
is element 0. Entry $(a, b)$ of the table is the product $ab$. A table is computed when it is first
asked for, and kept.
"""

import functools

import numpy as np
from jaxtyping import Int

from elegans import checks

MAX_TABLE_ORDER = 2000  # elements; a table of 2000 x 2000 products takes 16 MB

Table = Int[np.ndarray, "n n"]
Elements = Int[np.ndarray, " n"]


class FiniteGroup:
    """A finite group, known by its configuration; `table` is computed only when asked for."""

    @property
    def order(self) -> int:
        """The number of elements."""
        raise TypeError(f"{type(self).__name__} is not a group: it has no order.")

    @property
    def elements(self) -> tuple[str, ...]:
        """The names of the elements, in the order of the table."""
        self.check_order()
        return self.element_names()

    @property
    def table(self) -> Table:
        """The product of every pair of elements; read-only."""
        self.check_order()
        return _table(self)

    @property
    def inverses(self) -> Elements:
        """The inverse of every element."""
        self.check_order()
        return _inverses(self)

    def products(self) -> Table:
        """The table, computed anew."""
        raise TypeError(f"{type(self).__name__} is not a group: it has no products.")

    def element_names(self) -> tuple[str, ...]:
        """A name for every element."""
        return tuple(str(i) for i in range(self.order))

    def check_order(self) -> None:
        """Refuses a group with more elements than are written out."""
        if self.order > MAX_TABLE_ORDER:
            raise ValueError(
                f"{checks.shown(self)}: the group has {self.order} elements, more than the "
                f"{MAX_TABLE_ORDER} that are written out. Characters and margins of symmetric "
                "groups need no table."
            )


def check_group(owner: str, group: object) -> None:
    """Refuses what is not a group, such as a Cayley table that is an array still."""
    if not isinstance(group, FiniteGroup):
        raise TypeError(
            f"{owner}: takes a group such as Cyclic(5), or from_table(...) of a Cayley table; "
            f"got {group!r:.60}."
        )


@functools.lru_cache(maxsize=64)
def _table(group: FiniteGroup) -> Table:
    table = group.products().astype(np.int32)
    table.flags.writeable = False  # shared by every user of the group
    return table


@functools.lru_cache(maxsize=64)
def _inverses(group: FiniteGroup) -> Elements:
    inverses = np.argmin(group.table, axis=1).astype(np.int32)  # where a product is the identity, 0
    inverses.flags.writeable = False
    return inverses
