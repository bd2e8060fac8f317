r"""Families of finite groups: cyclic, symmetric, alternating, dihedral, dicyclic; products.

Permutations multiply as functions, $(\sigma\tau)(x) = \sigma(\tau(x))$, and are listed in
lexicographic order of $(\sigma(0), \dots, \sigma(k-1))$, so that the identity comes first.
"""

import itertools
import math

import numpy as np

from elegans import checks
from elegans.fields import configuration
from elegans.tasks.groups.group import FiniteGroup, Table


@configuration
class Cyclic(FiniteGroup):
    r"""The integers modulo `p` under addition, in order; `p` need not be a prime."""

    p: int

    def __post_init__(self) -> None:
        checks.whole(self, "p", self.p, low=2, what="is the modulus")

    @property
    def order(self) -> int:
        """The modulus."""
        return self.p

    def products(self) -> Table:
        """Sums modulo p."""
        i = np.arange(self.p)
        return (i[:, None] + i[None, :]) % self.p


class PermutationGroup(FiniteGroup):
    """What groups of permutations share: products and names from the values of each element."""

    def permutations(self) -> np.ndarray:
        """Every element as the row of its values."""
        raise TypeError(f"{type(self).__name__} has no permutations.")

    def products(self) -> Table:
        """Compositions of functions."""
        rows = self.permutations()
        k = rows.shape[1]
        digits = k ** np.arange(k)[::-1]  # a permutation as a number in base k keeps the order
        codes = rows @ digits
        return np.stack([np.searchsorted(codes, row[rows] @ digits) for row in rows])

    def element_names(self) -> tuple[str, ...]:
        """The values of each permutation, as in "1 2 0"."""
        return tuple(" ".join(map(str, row)) for row in self.permutations())


@configuration
class Symmetric(PermutationGroup):
    """All permutations of `k` points, in lexicographic order."""

    k: int

    def __post_init__(self) -> None:
        checks.whole(self, "k", self.k, low=2, what="counts the points that are permuted")

    @property
    def order(self) -> int:
        """The factorial of k."""
        return math.factorial(self.k)

    def permutations(self) -> np.ndarray:
        """Every element as the row of its values."""
        self.check_order()
        return np.array(list(itertools.permutations(range(self.k))), dtype=np.int64)


@configuration
class Alternating(PermutationGroup):
    """The even permutations of `k` points, in lexicographic order."""

    k: int

    def __post_init__(self) -> None:
        checks.whole(self, "k", self.k, low=3, what="counts the points that are permuted")

    @property
    def order(self) -> int:
        """Half the factorial of k."""
        return math.factorial(self.k) // 2

    def permutations(self) -> np.ndarray:
        """Every element as the row of its values."""
        self.check_order()
        rows = np.array(list(itertools.permutations(range(self.k))), dtype=np.int64)
        pairs = itertools.combinations(range(self.k), 2)
        inversions = np.sum([rows[:, i] > rows[:, j] for i, j in pairs], axis=0)
        return rows[inversions % 2 == 0]


@configuration
class Dihedral(FiniteGroup):
    r"""The $2k$ symmetries of a regular polygon with `k` corners.

    The rotations $1, r, \dots, r^{k-1}$ come first, then the reflections $s, rs, \dots, r^{k-1}s$,
    with $s r s = r^{-1}$. `Dihedral(2)` is Klein's group of four elements.
    """

    k: int

    def __post_init__(self) -> None:
        checks.whole(self, "k", self.k, low=2, what="counts the corners of the polygon")

    @property
    def order(self) -> int:
        """Twice the number of corners."""
        return 2 * self.k

    def products(self) -> Table:
        """$r^i s^e r^j s^f = r^{i \\pm j} s^{e + f}$, minus if e = 1."""
        return twisted(self.k, offset=0)

    def element_names(self) -> tuple[str, ...]:
        """Words in r and s."""
        return tuple(f"r^{i}{'s' * e}" for e in (0, 1) for i in range(self.k))


@configuration
class Dicyclic(FiniteGroup):
    r"""The $4k$ elements $a^i x^e$ with $a^{2k} = 1$, $x^2 = a^k$, $x a x^{-1} = a^{-1}$.

    The powers $1, a, \dots, a^{2k-1}$ come first, then $x, ax, \dots, a^{2k-1}x$. `Dicyclic(2)` is
    the quaternion group in another order.
    """

    k: int

    def __post_init__(self) -> None:
        checks.whole(self, "k", self.k, low=2, what="is half the order of the generator a")

    @property
    def order(self) -> int:
        """Four times k."""
        return 4 * self.k

    def products(self) -> Table:
        """As for the dihedral group of 2k corners, but two factors x give $a^k$."""
        return twisted(2 * self.k, offset=self.k)

    def element_names(self) -> tuple[str, ...]:
        """Words in a and x."""
        return tuple(f"a^{i}{'x' * e}" for e in (0, 1) for i in range(2 * self.k))


@configuration
class Quaternion(FiniteGroup):
    """The eight unit quaternions 1, -1, i, -i, j, -j, k, -k, in this order."""

    @property
    def order(self) -> int:
        """Eight."""
        return 8

    def products(self) -> Table:
        """Products of quaternions: element $2 u + e$ is the unit $u$ of 1, i, j, k times $(-1)^e$.

        Units multiply as bit patterns (1, i, j, k are 0, 1, 2, 3 under exclusive or) up to a sign.
        """
        sign = np.array([[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]])
        u, e = np.divmod(np.arange(8), 2)
        unit = u[:, None] ^ u[None, :]
        return 2 * unit + (e[:, None] + e[None, :] + sign[u[:, None], u[None, :]]) % 2

    def element_names(self) -> tuple[str, ...]:
        """The units and their negatives."""
        return ("1", "-1", "i", "-i", "j", "-j", "k", "-k")


@configuration
class Product(FiniteGroup):
    r"""The direct product of two groups; element $(a, b)$ has the number $a |B| + b$."""

    left: FiniteGroup
    right: FiniteGroup

    def __post_init__(self) -> None:
        for field in ("left", "right"):
            if not isinstance(getattr(self, field), FiniteGroup):
                raise TypeError(
                    f"Product: {field} is a group such as Cyclic(5); got {getattr(self, field)!r}."
                )

    @property
    def order(self) -> int:
        """The product of the orders."""
        return self.left.order * self.right.order

    def products(self) -> Table:
        """Products factor by factor."""
        size = self.right.order
        return (
            self.left.table[:, None, :, None] * size + self.right.table[None, :, None, :]
        ).reshape(self.order, self.order)

    def element_names(self) -> tuple[str, ...]:
        """Pairs of names."""
        return tuple(f"({a}, {b})" for a in self.left.elements for b in self.right.elements)


def twisted(k: int, offset: int) -> Table:
    """Products of $r^i s^e$, numbered $i + ke$, where $s r s^{-1} = r^{-1}$, $s^2 = r^{offset}$."""
    e, i = np.divmod(np.arange(2 * k), k)
    sign = 1 - 2 * e
    power = i[:, None] + sign[:, None] * i[None, :] + offset * (e[:, None] & e[None, :])
    return power % k + k * (e[:, None] ^ e[None, :])
