r"""All products of at most $d$ distinct features, and the kernel whose features they are.

On bits they are the characters of small sets. Their inner product is a polynomial in few matrix
products: with $z_i = x_i x'_i$ it is $\sum_{j \le d} e_j(z)$, and Newton's identities
$j e_j = \sum_{r=1}^{j} (-1)^{r-1} e_{j-r} p_r$ give the elementary symmetric polynomials $e_j$ from
the power sums $p_r = \sum_i x_i^r x'^r_i$.
"""

import itertools
import math

import numpy as np
from jaxtyping import Float


def monomial_count(n: int, d: int) -> int:
    r"""$\sum_{j \le d} \binom{n}{j}$."""
    return sum(math.comb(n, j) for j in range(min(n, d) + 1))


def monomials(n: int, d: int) -> list[tuple[int, ...]]:
    """The sets of at most `d` of `n` features, by size and then in lexicographic order."""
    return [t for j in range(min(n, d) + 1) for t in itertools.combinations(range(n), j)]


class MonomialMap:
    """Writes out the monomials of rows, each from one of a degree less."""

    def __init__(self, n: int, d: int) -> None:
        self.size = monomial_count(n, d)
        self._steps: list[tuple[np.ndarray, np.ndarray]] = []  # of each degree: parents, features
        last = np.array([-1])  # the largest feature of each monomial of the degree before
        for _ in range(min(n, d)):
            children = n - 1 - last  # a monomial goes on with every larger feature
            parents = np.repeat(np.arange(len(last)), children)
            first = np.repeat(np.cumsum(children) - children, children)
            last = last[parents] + 1 + np.arange(len(parents)) - first
            self._steps.append((parents, last))

    def __call__(self, x: Float[np.ndarray, "rows n"]) -> Float[np.ndarray, "rows monomials"]:
        """The monomials of each row, in the order of `monomials`."""
        out = np.empty((len(x), self.size))
        out[:, 0] = 1.0
        start, stop = 0, 1
        for parents, features in self._steps:
            end = stop + len(parents)
            np.multiply(out[:, start + parents], x[:, features], out=out[:, stop:end])
            start, stop = stop, end
        return out


def monomial_kernel(
    x: Float[np.ndarray, "rows n"], z: Float[np.ndarray, "others n"], d: int
) -> Float[np.ndarray, "rows others"]:
    """The inner products of the monomials of rows of `x` and of `z`, which are not written out."""
    powers = [x**r @ (z**r).T for r in range(1, d + 1)]
    symmetric = [np.ones((len(x), len(z)))]
    for j in range(1, min(d, x.shape[1]) + 1):
        terms = ((-1) ** (r - 1) * symmetric[j - r] * powers[r - 1] for r in range(1, j + 1))
        symmetric.append(sum(terms) / j)
    return np.sum(symmetric, axis=0)
