"""Finite groups that tests share, some of them from tables written by other means."""

import itertools

import numpy as np

from elegans.tasks.groups import (
    Alternating,
    Cyclic,
    Dicyclic,
    Dihedral,
    Product,
    Quaternion,
    Symmetric,
    from_table,
)


def from_products(elements, product):
    """A group from a list of hashable elements, identity first, and a function of two of them."""
    number = {element: i for i, element in enumerate(elements)}
    return from_table([[number[product(a, b)] for b in elements] for a in elements])


def special_linear(q):
    """The matrices (a b; c d) of determinant one modulo a prime q."""
    matrices = [
        m for m in itertools.product(range(q), repeat=4) if (m[0] * m[3] - m[1] * m[2]) % q == 1
    ]
    matrices.sort(key=lambda m: m != (1, 0, 0, 1))

    def product(x, y):
        z = np.array(x).reshape(2, 2) @ np.array(y).reshape(2, 2) % q
        return tuple(z.reshape(-1).tolist())

    return from_products(matrices, product)


def affine(p, slopes):
    """The maps x -> ax + b modulo p, with a in a group of slopes."""
    maps = [(1, 0), *((a, b) for a in slopes for b in range(p) if (a, b) != (1, 0))]
    return from_products(maps, lambda f, g: (f[0] * g[0] % p, (f[0] * g[1] + f[1]) % p))


def extraspecial_27():
    """The Heisenberg group modulo 3: 27 elements of order 3."""
    triples = list(itertools.product(range(3), repeat=3))
    return from_products(
        triples,
        lambda x, y: tuple((x[i] + y[i] + (x[0] * y[1] if i == 2 else 0)) % 3 for i in range(3)),
    )


CUBE = Product(Cyclic(2), Product(Cyclic(2), Cyclic(2)))

SMALL = {  # of order at most 24
    **{f"Z{p}": Cyclic(p) for p in range(2, 25)},
    **{f"D{k}": Dihedral(k) for k in range(2, 13)},
    **{f"Dic{k}": Dicyclic(k) for k in range(2, 7)},
    **{f"S{k}": Symmetric(k) for k in (2, 3, 4)},
    "A3": Alternating(3),
    "A4": Alternating(4),
    "Q8": Quaternion(),
    "V4": Product(Cyclic(2), Cyclic(2)),
    "Z2^3": CUBE,
    "Z2^4": Product(CUBE, Cyclic(2)),
    "Z3xZ3": Product(Cyclic(3), Cyclic(3)),
    "Z4xZ4": Product(Cyclic(4), Cyclic(4)),
    "Z2xD4": Product(Cyclic(2), Dihedral(4)),
    "Z2xQ8": Product(Cyclic(2), Quaternion()),
    "Z3xS3": Product(Cyclic(3), Symmetric(3)),
    "Z4xS3": Product(Cyclic(4), Symmetric(3)),
    "Z2xA4": Product(Cyclic(2), Alternating(4)),
    "Q8xZ3": Product(Quaternion(), Cyclic(3)),
    "Z2xDic3": Product(Cyclic(2), Dicyclic(3)),
    "SL(2,3)": special_linear(3),
    "F20": affine(5, (1, 2, 3, 4)),
    "F21": affine(7, (1, 2, 4)),
    "Hol(Z3)": affine(3, (1, 2)),
}

LARGE = {
    "3^{1+2}": extraspecial_27(),
    "S3xS3": Product(Symmetric(3), Symmetric(3)),
    "D4xS3": Product(Dihedral(4), Symmetric(3)),
    "A5": Alternating(5),
    "Q8xQ8": Product(Quaternion(), Quaternion()),
    "Z8xZ8": Product(Cyclic(8), Cyclic(8)),
    "Z71": Cyclic(71),
    "S5": Symmetric(5),
    "S5 from its table": from_table(Symmetric(5).table),
    "SL(2,5)": special_linear(5),
    "Z120 from its table": from_table(Cyclic(120).table),
    "D60": Dihedral(60),
    "Dic30": Dicyclic(30),
    "A4xD5": Product(Alternating(4), Dihedral(5)),
}
