r"""Parities as MLPs of rectifiers, exactly: the smallest and the most sensitive.

A parity of $k$ bits is a function of the sum $s = \sum_{i \in S} x_i$, which has $k + 1$ values, so
$k + 1$ ramps with kinks between them write it: lemma B.4 of the thesis, claim 5, prints $k$ of
them, with which one pattern of the relevant bits is wrong (docs/errata.md).

References: Barak et al. (2022), Hidden progress, lemma B.4.
"""

import numpy as np

from elegans import checks
from elegans.constructions.one_sparse import network
from elegans.cube import signs
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


def sensitive_parity(p: int, k: int = 1) -> Layers:
    r"""$2k \chi(x)$ of `p` bits, with `k` active neurons at each input: as sensitive as they come.

    `k` copies of the $2^p$ patterns as weights, biases $2 - p$ and the parity as outer weights: a
    neuron is 2 at its own pattern and 0 at all others. So $W = \sqrt p$ and $\mathrm{AS} = 4 k^2 p
    = 4 k^2 W^2$, the bound of `theory.sparse_activation.lipschitz_sensitivity` for every `k`; and
    all weight is at degree $p$, so that the bound $4 k^2 W^2 / (d + 1)$ of the tail is attained.
    """
    owner = f"sensitive_parity(p={p}, k={k})"
    checks.whole(owner, "p", p, low=1, high=12, what="counts the bits")
    checks.whole(owner, "k", k, low=1, what="counts active neurons")
    patterns = np.tile(signs(p), (k, 1))
    outer = patterns.prod(axis=1)
    return network(patterns.T, np.full(len(patterns), 2.0 - p), outer)
