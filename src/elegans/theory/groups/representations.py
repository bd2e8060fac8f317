r"""Real irreducible representations as orthogonal matrices; projection and power of vectors.

Symmetric groups have Young's orthogonal form and cyclic groups rotations. For any other group the
projection $P_S[x, y] = \frac{D}{t|G|} \chi_S(x y^{-1})$ gives the part of $\mathbb{R}^G$ in which
$S$ lives, $D / t$ copies of it. A random symmetric matrix that commutes with left multiplication,
$A = \sum_g r_g\,(\text{right multiplication by } g)$ with $r_g = r_{g^{-1}}$, has the copies as
its eigenspaces there; in an orthonormal basis $B$ of one, $S(g) = B^\top L(g) B$.

The power of a vector $u$ in $S$ is $\|P_S u\|^2$. For type "real" the $D^2$ functions
$\sqrt{D/|G|}\,S_{ij}$ are an orthonormal basis of the block; for the other types they span only
$D^2/t$ dimensions, and are a tight frame of it: powers are the same sums of squares.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from elegans.tasks.groups import Cyclic, FiniteGroup, Symmetric, check_group
from elegans.theory.groups import symmetric
from elegans.theory.groups.characters import (
    TYPES,
    ReadOnly,
    inverse_closed_classes,
    real_character_table,
)

DRAWS = 8  # at most, of a random symmetric matrix
MIN_GAP = 1e-6  # between eigenvalues, relative to their range; eigenspaces are exact to eps / gap


@dataclass(frozen=True, eq=False)
class Representation(ReadOnly):
    """A real irreducible representation.

    Attributes:
        matrices: One orthogonal matrix per element, in the order of the group's table.
        commutant: The dimension of the commutant: 1, 2 or 4.
        label: A partition for symmetric groups, a frequency for cyclic ones, else the dimension.
    """

    matrices: Float[np.ndarray, "n d d"]
    commutant: int
    label: str

    @property
    def character(self) -> Float[np.ndarray, " n"]:
        """The trace of each matrix."""
        return np.trace(self.matrices, axis1=1, axis2=2)

    @property
    def dimension(self) -> int:
        """The number of rows of a matrix."""
        return int(self.matrices.shape[1])

    @property
    def type(self) -> str:
        """Whether the commutant is real, complex or quaternionic."""
        return TYPES[self.commutant]

    @property
    def frame(self) -> Float[np.ndarray, "n entries"]:
        """Matrix entries as columns, scaled so that a vector's power is a sum of squares."""
        n, d, _ = self.matrices.shape
        return self.matrices.reshape(n, d * d) * math.sqrt(d / (self.commutant * n))

    def projection(self, vectors: Float[np.ndarray, "n *batch"]) -> Float[np.ndarray, "n *batch"]:
        """The part of each vector (axis 0 is the group) that the representation spans."""
        frame = self.frame
        return np.tensordot(frame, np.tensordot(frame.T, vectors, axes=1), axes=1)

    def power(self, vectors: Float[np.ndarray, "n *batch"]) -> Float[np.ndarray, "*batch"]:
        """The squared norm of the projection of each vector (axis 0 is the group)."""
        return np.asarray(np.sum(np.tensordot(self.frame.T, vectors, axes=1) ** 2, axis=0))


def irreducibles(group: FiniteGroup) -> list[Representation]:
    """The real irreducible representations, the trivial one first, as in `real_character_table`."""
    check_group("irreducibles", group)
    return list(_irreducibles(group))


def powers(
    group: FiniteGroup, vectors: Float[np.ndarray, "n *batch"]
) -> Float[np.ndarray, "reps *batch"]:
    """The power of each vector (axis 0 is the group) in each real irreducible representation.

    For a cyclic group these are the powers of frequencies with $+z$ and $-z$ taken together: over
    the whole complex transform, as in Figure 7.4, a real vector of one frequency would have 1/2.
    """
    if vectors.shape[0] != group.order:
        raise ValueError(
            f"powers: axis 0 is the {group.order} elements of {group}; got {vectors.shape}."
        )
    return np.stack([representation.power(vectors) for representation in _irreducibles(group)])


def maximal_power(
    group: FiniteGroup, vectors: Float[np.ndarray, "n *batch"]
) -> Float[np.ndarray, "*batch"]:
    """The share of each vector's power that is in its strongest representation; 0 for a zero."""
    each = powers(group, vectors)
    total = each.sum(axis=0)
    return np.asarray(each.max(axis=0) / np.where(total > 0, total, 1.0))


@functools.lru_cache(maxsize=16)
def _irreducibles(group: FiniteGroup) -> tuple[Representation, ...]:
    group.check_order()
    table = real_character_table(group)
    if isinstance(group, Symmetric):
        permutations = group.permutations()
        shapes = symmetric.partitions(group.k)
        matrices = [symmetric.orthogonal_form(shape, permutations) for shape in shapes]
    elif isinstance(group, Cyclic):
        matrices = [rotations(group.p, z) for z in range(len(table.labels))]
    else:
        matrices = [_matrices(group, i) for i in range(len(table.labels))]
    return tuple(
        Representation(each, int(t), label)
        for each, t, label in zip(matrices, table.commutants, table.labels, strict=True)
    )


def rotations(p: int, z: int) -> Float[np.ndarray, "p d d"]:
    r"""The rotations by $2 \pi z x / p$; the signs $\cos(2 \pi z x / p)$ if $2z$ is 0 modulo p."""
    angle = 2 * np.pi * (z * np.arange(p) % p) / p
    cos, sin = np.cos(angle), np.sin(angle)
    if 2 * z % p == 0:
        return np.rint(cos)[:, None, None]
    return np.stack([np.stack([cos, -sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=-2)


def _matrices(group: FiniteGroup, i: int) -> Float[np.ndarray, "n d d"]:
    """The matrices of one representation, from its character."""
    table = real_character_table(group)
    n, d, t = group.order, int(table.dimensions[i]), int(table.commutants[i])
    if d == 1:
        return table.values[i][inverse_closed_classes(group)].reshape(n, 1, 1)
    quotients = group.table[:, group.inverses]  # x y^-1
    projection = d / (t * n) * table.values[i][inverse_closed_classes(group)][quotients]
    size = d * d // t
    block = np.linalg.eigh(projection)[1][:, n - size :]
    basis = block if size == d else block @ _copy(group, block, d)
    # (L(g) B)[x] = B[g^-1 x], so that B^T L(g) B has the entries sum_x B[g x, i] B[x, j].
    return np.einsum("gxi,xj->gij", basis[group.table], basis, optimize=True)


def _copy(
    group: FiniteGroup, block: Float[np.ndarray, "n size"], d: int
) -> Float[np.ndarray, "size d"]:
    """An orthonormal basis of one copy of a representation, in coordinates of its block."""
    rng = np.random.default_rng(0)
    best, basis = -1.0, np.empty((0, 0))
    for _ in range(DRAWS):
        weight = rng.standard_normal(group.order)
        weight = weight + weight[group.inverses]
        # A[x, y] = r(x^-1 y) is the sum of right multiplications, and symmetric.
        matrix = block.T @ weight[group.table[group.inverses]] @ block
        eigenvalues, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        gaps = np.diff(eigenvalues.reshape(-1, d).mean(axis=1), prepend=-np.inf, append=np.inf)
        separation = np.minimum(gaps[:-1], gaps[1:]) / np.ptp(eigenvalues)
        copy = int(np.argmax(separation))
        if separation[copy] > best:
            best, basis = float(separation[copy]), vectors[:, copy * d : (copy + 1) * d]
        if best > 0.1 / len(separation):
            break
    assert best > MIN_GAP, f"{group}: eigenvalues of random matrices coincide"
    return basis
