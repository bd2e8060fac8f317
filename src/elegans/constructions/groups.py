r"""Networks of maximum margin, written down: any finite group, modular addition, parities.

All weights are NumPy arrays in float64, and $\|\theta\|_{2,\nu} = 1$ unless said. Each function
returns the model with its parameters; a `width` above what the construction needs adds neurons of
weight zero.

References: thesis, appendices D.4, D.6, D.7 and D.9.
"""

import itertools
import math

import numpy as np
from jaxtyping import Float

import elegans.theory.groups as theory  # a module, since tasks import constructions
from elegans import checks
from elegans.models.power_network import PowerNetwork, Powers
from elegans.models.two_embedding import Embeddings, TwoEmbedding
from elegans.tasks.groups import FiniteGroup

Weights = Float[np.ndarray, "n width"]
EIGHT_PHASES = (  # in quarter turns: of u and v; that of w is their sum (D.6.2)
    (0, 0),
    (0, 2),
    (1, -1),
    (1, 1),
    (-1, 0),
    (-1, 2),
    (0, -1),
    (0, 1),
)


def max_margin(group: FiniteGroup, width: int | None = None) -> tuple[TwoEmbedding, Embeddings]:
    r"""A quadratic network of maximum margin for any finite group.

    For each real irreducible representation $S$ with a share $n_S > 0$ in `maximum_margin`, each
    $i, j, k \le D$ and each sign $e$ the neuron $(s S_{ij},\ e s S_{jk},\ e s S_{ik})$, where
    $s^3 = \frac{n_S}{2D^3} (D / 3|G|)^{3/2}$. A pair of signs leaves $4 s^3 S_{ij}(a) S_{jk}(b)
    S_{ik}(c)$, and the sum over $i, j, k$ is $4 s^3 \chi_S(a b c^{-1})$. Width $2 \sum_S D^3$.

    D.15 prints $\gamma_{(i,j)}$ for $\gamma_{(i,k)}$, neurons that are not of unit norm, and half
    of the pair's output.
    """
    shares = theory.maximum_margin(group).shares
    u, v, w = [], [], []
    for share, representation in zip(shares, theory.irreducibles(group), strict=True):
        if share <= 0:
            continue
        n, d, _ = representation.matrices.shape
        s = (share / (2 * d**3)) ** (1 / 3) * math.sqrt(d / (3 * n))
        entries = s * np.moveaxis(representation.matrices, 0, -1)
        for i, j, k, sign in itertools.product(range(d), range(d), range(d), (1, -1)):
            u.append(entries[i, j])
            v.append(sign * entries[j, k])
            w.append(sign * entries[i, k])
    return _two_embedding(f"max_margin({group})", np.array(u).T, np.array(v).T, np.array(w), width)


def modular_addition(
    p: int, neurons: int = 8, width: int | None = None
) -> tuple[TwoEmbedding, Embeddings]:
    r"""A network of maximum margin for addition modulo an odd `p`, frequency by frequency (D.6.2).

    Neurons $u, v, w = s \cos(\theta + 2 \pi z x / p)$ with $\theta_u + \theta_v = \theta_w$. With
    amplitude 1, eight neurons per frequency compute $4 \sum_z \cos(2 \pi z (a + b - c)/p)$, that
    is $2(p - 1)$ at the right label and $-2$ elsewhere (D.6.2 prints 0).

    Args:
        p: The modulus.
        neurons: Per frequency: the 8 of the thesis, or 6 with phases $(2 \pi j/6, 8 \pi j/6)$,
            which are enough, so that the width $4(p - 1)$ of Theorem 7.7 is not the least.
        width: Of the network; None is as many as are needed.
    """
    owner = f"modular_addition(p={p})"
    checks.whole(owner, "p", p, low=3, what="is the modulus")
    if p % 2 == 0:
        raise ValueError(f"{owner}: p is odd here. For any modulus use max_margin(Cyclic({p})).")
    if neurons not in (6, 8):
        raise ValueError(f"{owner}: a frequency has 6 or 8 neurons; got {neurons}.")
    if neurons == 8:
        phases = np.array(EIGHT_PHASES) * np.pi / 2
    else:
        phases = np.arange(6)[:, None] * np.array([1, 4]) * np.pi / 3
    phases = np.column_stack([phases, phases.sum(axis=1)])
    frequencies = np.arange(1, (p - 1) // 2 + 1)
    angle = 2 * np.pi * (np.outer(np.arange(p), frequencies) % p) / p
    each = np.cos(angle[None, :, :, None] + phases.T[:, None, None, :]).reshape(3, p, -1)
    each *= math.sqrt(2 / (3 * p)) * each.shape[2] ** (-1 / 3)  # unit neurons, then unit network
    return _two_embedding(owner, each[0], each[1], each[2].T, width)


def sparse_parity(
    n: int, k: int, support: tuple[int, ...] | None = None, width: int | None = None
) -> tuple[PowerNetwork, Powers]:
    r"""A network of maximum margin for the parity of `k` of `n` bits, of width $2^{k-1}$ (D.7).

    A neuron per $\sigma \in \{\pm 1\}^k$ with $\sigma_1 = 1$: $u = \lambda \sigma / \sqrt{k+1}$ on
    the support and $w = \lambda \prod \sigma / \sqrt{2(k+1)}\,(1, -1)$, $\lambda^{k+1} =
    2^{1-k}$. One of each antipodal pair is what the proof needs; $\prod \sigma = 1$ gives both of
    a pair if $k$ is even, and no parity.
    """
    owner = f"sparse_parity(n={n}, k={k})"
    checks.whole(owner, "n", n, low=1, what="counts the bits")
    checks.whole(owner, "k", k, low=1, high=min(n, 16), what="counts the relevant bits")
    support = tuple(range(k)) if support is None else support
    checks.support(owner, n, k, support)
    sigma = np.array([(1, *rest) for rest in itertools.product((1, -1), repeat=k - 1)], dtype=float)
    scale = 2 ** (-(k - 1) / (k + 1)) / math.sqrt(k + 1)
    u = np.zeros((n, len(sigma)))
    u[list(support)] = scale * sigma.T
    w = scale / math.sqrt(2) * np.outer(sigma.prod(axis=1), [1.0, -1.0])
    extra = _extra(owner, len(sigma), width)
    params = Powers(np.pad(u, ((0, 0), (0, extra))), np.pad(w, ((0, extra), (0, 0))))
    return PowerNetwork(len(sigma) + extra, degree=k), params


def memorising(
    group: FiniteGroup, *, balanced: bool = True, width: int | None = None
) -> tuple[TwoEmbedding, Embeddings]:
    r"""A network that stores the table, two neurons per pair, of width $2|G|^2$ (D.4).

    The neurons of $(a, b)$ are $u = e_a$, $v = \pm e_b$, $w = \pm e_{ab}/4$, so that $f$ is
    one-hot. As printed the norms of $u, v$ and $w$ differ, which costs margin; `balanced` makes
    them equal, for the same $f$. The network is not normalised: $f$ is 1 at the product. (D.4
    prints the width as $2p^2$.)
    """
    n = group.order
    table = group.table
    a, b, sign = (x.reshape(-1) for x in np.meshgrid(np.arange(n), np.arange(n), [1.0, -1.0]))
    a, b = a.astype(np.int64), b.astype(np.int64)
    inner, outer = (4 ** (-1 / 3),) * 2 if balanced else (1.0, 0.25)
    rows = np.eye(n)
    u, v, w = (
        inner * rows[a],
        inner * sign[:, None] * rows[b],
        outer * sign[:, None] * rows[table[a, b]],
    )
    return _two_embedding(f"memorising({group})", u.T, v.T, w, width)


def _two_embedding(
    owner: str, u: Weights, v: Weights, w: Float[np.ndarray, "width n"], width: int | None
) -> tuple[TwoEmbedding, Embeddings]:
    """The quadratic network with the given neurons, and others of weight zero up to `width`."""
    extra = _extra(owner, u.shape[1], width)
    columns, rows = ((0, 0), (0, extra)), ((0, extra), (0, 0))
    params = Embeddings(np.pad(u, columns), np.pad(v, columns), np.pad(w, rows))
    return TwoEmbedding(u.shape[1] + extra), params


def _extra(owner: str, needed: int, width: int | None) -> int:
    """How many neurons of weight zero fill up the width."""
    if width is None:
        return 0
    checks.whole(owner, "width", width, low=needed, what="holds the neurons of the construction")
    return width - needed
