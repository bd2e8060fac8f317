r"""Fast transforms of a table of $2^n$ values, one 2 by 2 matrix for each bit.

Entry $x$ of a table is the value at the input whose bit $i$ is 1 where $x_i = -1$. The transform by
$M$ is the product with $M \otimes \dots \otimes M$, in $n 2^n$ steps: with $M = \begin{pmatrix} 1 &
1 \\ 1 & -1 \end{pmatrix}$ it is Walsh's and Hadamard's, whose row $T$ is the character $\chi_T$.
Four bits at a time are one product with a 16 by 16 matrix, which stays in the cache and is faster
than adding and subtracting bit by bit (benchmarks/theory.py).
"""

import numpy as np
from jaxtyping import Float, Num

from elegans import checks

BITS_PER_PASS = 4  # measured: 3 is 3x slower and 6 is 1.6x slower at 2**24


def tensor_transform(
    values: Num[np.ndarray, "*batch size"], matrix: Float[np.ndarray, "2 2"]
) -> Float[np.ndarray, "*batch size"]:
    """The product of the last axis with the tensor power of `matrix`, in float64."""
    size = values.shape[-1]
    n = table_bits("tensor_transform", size)
    table = np.ascontiguousarray(values, dtype=np.float64)
    if n == 0:
        return table.copy()
    for low in range(0, n, BITS_PER_PASS):
        block = matrix
        for _ in range(min(BITS_PER_PASS, n - low) - 1):
            block = np.kron(block, matrix)
        if low == 0:
            table = table.reshape(-1, len(block)) @ block.T
        else:
            table = block @ table.reshape(-1, len(block), 2**low)
    return table.reshape(values.shape)


def walsh_hadamard(values: Num[np.ndarray, "*batch size"]) -> Float[np.ndarray, "*batch size"]:
    r"""$\sum_x f(x) \chi_T(x)$ at every $T$, along the last axis, unnormalised.

    Twice the transform is $2^n$ times the identity. Sums of integers are exact below $2^{53}$.
    """
    return tensor_transform(values, np.array([[1.0, 1.0], [1.0, -1.0]]))


def table_bits(owner: str, size: int, n: int | None = None) -> int:
    """The bits of a table, refused if its size is not a power of two, or not that of `n`."""
    bits = size.bit_length() - 1
    if size < 1 or size != 2**bits:
        raise ValueError(f"{owner}: a table has 2**n values; got {size}.")
    if n is not None:
        checks.whole(owner, "n", n, low=0, what="counts the bits")
        if bits != n:
            raise ValueError(f"{owner}: the table has 2**{bits} values, and n is {n}.")
    return bits
