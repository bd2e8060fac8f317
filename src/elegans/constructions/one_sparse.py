r"""Networks that are sparsely activated on every input, with weights set by hand.

Each function returns the parameters of an ordinary `MLP` of depth one with rectifiers, of width $s$
= the number of hidden neurons, $h(x) = \sum_j u_j (\langle w_j, x \rangle + b_j)_+$ (the paper
subtracts its $b_j$). On each input at most $k$ neurons are active, which `theory.sparse_activation`
measures.

References: Awasthi et al. (2024), Learning neural networks with sparse activations, introduction,
section 4 and appendix A.
"""

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.cube import signs
from elegans.models.inits import Layer, Layers


def network(
    weight: Float[np.ndarray, "n s"], bias: Float[np.ndarray, " s"], outer: Float[np.ndarray, " s"]
) -> Layers:
    """The parameters of an MLP of one hidden layer with the given neurons and no outer bias."""
    hidden = Layer(jnp.asarray(weight, jnp.float32), jnp.asarray(bias, jnp.float32))
    return Layers((hidden, Layer(jnp.asarray(outer, jnp.float32)[:, None], jnp.zeros(1))))


def junta(n: int, table: Sequence[int | float], support: tuple[int, ...] | None = None) -> Layers:
    r"""Any function of $p$ bits, given by its $2^p$ values, as a 1-sparse network (theorem 13).

    Neuron $j$ is on where the relevant bits are pattern $j$, and nowhere else: $u_j$ is entry $j$
    of the table, $w_j$ the pattern, $b_j = 1 - p$. So $W = \sqrt p \max |u|$ and
    $B = (p - 1) \max |u|$. The order of the table is that of `tasks.Junta`.
    """
    size = len(table)
    p = size.bit_length() - 1
    if size < 2 or size != 2**p:
        raise ValueError(f"junta(n={n}): a table has 2**p values for p >= 1 bits; got {size}.")
    support = tuple(range(p)) if support is None else support
    checks.support(f"junta(n={n})", n, p, support)
    weight = np.zeros((n, size))
    weight[list(support)] = signs(p).T
    return network(weight, np.full(size, 1.0 - p), np.asarray(table, dtype=float))


def indexing(b: int) -> Layers:
    r"""$\mathrm{Index}_b(x, y)$, bit number $x$ of $y \in \{-1, 1\}^{2^b}$ as 0 or 1, 1-sparse.

    Inputs are $b$ bits of an address and then $2^b$ bits of memory. The address is read as all
    numbers of the library are: bit $i$ is 1 where $x_i = -1$. The result is $\frac12 + \frac12
    y_x$, as in the paper.
    """
    checks.whole(f"indexing(b={b})", "b", b, low=1, high=12, what="counts the bits of an address")
    size = 2**b
    weight = np.concatenate([signs(b).T, np.eye(size) / 2])
    return network(weight, np.full(size, 0.5 - b), np.ones(size))


def lifted_parity(m: int, support: tuple[int, ...], *, indicator: bool = False) -> Layers:
    r"""$\chi_S(y)$ as a 1-sparse network on the $m^2$ products `lift(y)`.

    A neuron for each value $a$ of $\sigma = \sum_{i \in S} y_i$, with $u_a = 2 (-1)^{(|S|-a)/2}$:
    $\sum_a u_a (\frac12 - (\sigma - a)^2)_+$, whose squares are linear in the products. At most
    $m + 1$ neurons, $W = O(m^{1.5})$, $B = O(m^2)$. With `indicator` the result is
    $[\chi_S = 1]$, as in the paper.

    The paper takes even $a$, and $\chi_S = 1$ if and only if $\sigma$ is even; but $\sigma$ has the
    parity of $|S|$ at every input, so that its network is constant. It also sets weights outside
    of $S$. It is $\sigma \equiv |S| \pmod 4$ that decides.
    """
    checks.support(f"lifted_parity(m={m})", m, len(support), support)
    chosen = np.zeros(m)
    chosen[list(support)] = 1.0
    sums = np.arange(-len(support), len(support) + 1, 2)
    character = 1.0 - 2.0 * ((len(support) - sums) // 2 % 2)
    if indicator:
        sums, character = sums[character > 0], character[character > 0]
    return bumps(chosen, 0.0, sums.astype(float), 2 * character)


def learning_with_rounding(secret: Sequence[int], q: int, values: Sequence[int | float]) -> Layers:
    r"""$\lambda(\langle w, y \rangle \bmod q)$ for $y \in \mathbb{Z}_q^m$, 1-sparse on lifted bits.

    Inputs are `lift(z)`, $z$ the $m \lceil \log_2 q \rceil$ binary digits of $y$ (least first, a
    digit 1 is $-1$); `values` is the table of $\lambda$ on $0, \dots, q - 1$. A neuron for each
    possible value of $\langle w, y \rangle = c + \langle v, z \rangle$ where $\lambda \ne 0$. The
    paper leaves out the constant $c$, without which no linear form in signs is $\langle w, y
    \rangle$, and puts the square outside of the rectifier.
    """
    checks.whole("learning_with_rounding", "q", q, low=2, what="is the modulus")
    if len(values) != q:
        raise ValueError(
            f"learning_with_rounding(q={q}): values has one entry a residue, {q}; "
            f"got {len(values)}."
        )
    digits = (q - 1).bit_length()
    half = np.array([w * 2**i / 2 for w in secret for i in range(digits)])
    largest = sum(secret) * (q - 1)
    totals = np.array([t for t in range(largest + 1) if values[t % q] != 0], dtype=float)
    outer = np.array([2.0 * values[int(t) % q] for t in totals])
    return bumps(-half, float(half.sum()), totals, outer)


def gated(directions: Float[np.ndarray, "s q"], gamma: float | str = "everywhere") -> Layers:
    r"""Appendix A: $\sum_\alpha (\langle w_\alpha, y \rangle + \Gamma(\langle x, \alpha \rangle -
    b))_+$, which is $\langle w_x, y \rangle_+$ as long as one neuron is active.

    Inputs are $b = \log_2 s$ address bits $x$, then $q$ bits $y$; row $\alpha$ of `directions` is
    read at address $\alpha$. A neuron of another address loses at least $2\Gamma$.

    Args:
        directions: The vectors $w_\alpha$, dense or not.
        gamma: "everywhere" is $\sqrt q \max \|w_\alpha\|_2$ (1-sparse at every input, even at half
            of it), "probable" is $\sqrt{\log s} \max \|w_\alpha\|_2$ (1-sparse except with
            probability $1/s$ under fair bits, by Hoeffding's inequality), or any number.
    """
    size, q = directions.shape
    b = size.bit_length() - 1
    if size < 2 or size != 2**b:
        raise ValueError(f"gated: there is a direction for each of 2**b addresses; got {size}.")
    scale = float(np.linalg.norm(directions, axis=1).max())
    if isinstance(gamma, str):
        checks.choice("gated", "gamma", gamma, ["everywhere", "probable"])
        gamma = scale * math.sqrt(q if gamma == "everywhere" else math.log(size))
    weight = np.concatenate([gamma * signs(b).T, directions.T])
    return network(weight, np.full(size, -gamma * b), np.ones(size))


def bumps(
    v: Float[np.ndarray, " m"],
    constant: float,
    centres: Float[np.ndarray, " s"],
    outer: Float[np.ndarray, " s"],
) -> Layers:
    r"""$\sum_a u_a (\frac12 - (c + \langle v, z \rangle - a)^2)_+$ as a network on `lift(z)`."""
    m = len(v)
    shift = constant - centres
    weight = np.repeat(-np.outer(v, v)[:, :, None], len(centres), axis=2)
    weight[np.arange(m), np.arange(m)] = -2 * np.outer(v, shift)
    bias = 0.5 - np.sum(v**2) - shift**2
    return network(weight.reshape(m * m, -1), bias, outer)


def lift(z: Float[np.ndarray, "*batch m"]) -> Float[np.ndarray, "*batch square"]:
    """The products of all pairs of entries, with the entries themselves on the diagonal."""
    m = z.shape[-1]
    products = z[..., :, None] * z[..., None, :]
    products[..., np.arange(m), np.arange(m)] = z
    return products.reshape(*z.shape[:-1], m * m)
