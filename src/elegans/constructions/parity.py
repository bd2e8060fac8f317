r"""A parity of `k` bits as an MLP of $k + 1$ rectifiers, exactly.

A parity is a function of the sum $s = \sum_{i \in S} x_i$, which has $k + 1$ values, so $k + 1$
ramps with kinks between them write it: lemma B.4 of the thesis, claim 5, prints $k$ of them, with
which one pattern of the relevant bits is wrong (docs/errata.md).

References: Barak et al. (2022), Hidden progress, lemma B.4.
"""

import numpy as np

from elegans import checks
from elegans.constructions.one_sparse import network
from elegans.models.inits import Layers


def parity_mlp(n: int, support: tuple[int, ...]) -> Layers:
    r"""$2 \chi_S(x)$ at every input, $\sum_{i=0}^{k} u_i (\frac{s}{2k} + b_i)_+$.

    $b_i = -\frac12 + \frac{i+1}{k}$ and $u_i = (-1)^i c_i k$ with $c_i = 8$ but for the last two,
    6 and 2. The margin is 2, so the hinge loss is zero; there is no output bias.
    """
    owner = f"parity_mlp(n={n})"
    k = len(support)
    checks.whole(owner, "k", k, low=1, high=n, what="counts relevant bits")
    checks.support(owner, n, k, support)
    weight = np.zeros((n, k + 1))
    weight[list(support)] = 1 / (2 * k)
    bias, outer = readout(k)
    return network(weight, bias, outer)


def readout(k: int) -> tuple[np.ndarray, np.ndarray]:
    r"""The biases $b_i$ and the outer weights $u_i$."""
    i = np.arange(k + 1)
    bias = -0.5 + (i + 1) / k
    size = np.append(np.full(k - 1, 8.0), [6.0, 2.0])
    return bias, k * size * (-1.0) ** i
