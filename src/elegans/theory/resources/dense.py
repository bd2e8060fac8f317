r"""What theorem 5.5 of the thesis prescribes for dense sign vectors, with its proof repaired.

From $w \in \{\pm 1\}^n$, mirrored, with biases on the grid $-1 + \frac1k, -1 + \frac2k, \dots, 1 -
\frac1k$, one step on a batch of $B$ examples with $\eta = 1 / (k |\xi_{k-1}|)$ and $\lambda = 1$
replaces the hidden weights by gradients; then SGD trains the second layer, from zero. $k$ is even,
$n$ odd and $\xi_j$ the coefficients of majority.

A neuron whose weights agree on $S$ ends at $\pm\frac{1}{2k}$ there, and so does its mirror with the
other sign. With gradients within $\tau$, its pre-activation differs from $\pm\frac{s}{2k} + b$, $s
= \sum_{i \in S} x_i$, by at most

$$\frac{(k+1) \tau}{k |\xi_{k-1}|} + D \sqrt{2 n \log\tfrac{2(k+1)}{\epsilon'}}, \qquad
D = \frac{|\xi_{k+1}| + 2\tau}{2k |\xi_{k-1}|},$$

except with probability $\epsilon' / (k+1)$ over $x$. At $\frac{1}{8k^2}$ the readout of
`constructions.parity_mlp`, of norm below $8 k^{3/2}$, still has margin 1. It has $k + 1$ neurons;
the document has $k$, which cannot work. At $k = 2$ its last bias is off the grid, and mirrored
ramps at biases 0 and $\frac12$ do instead.

Repaired besides: Hoeffding's inequality for terms in $[-D, D]$ has $2D^2$, not $D^2/2$; a bias has
probability $1/(2k-1)$, a good pair $2^{1-k}/(2k-1)$; $2/\tau^2$ has $|\xi_{k-1}|^{-2}$; the rate
of the second layer gives $2^{12}$ steps where $2^9$ are printed; and $u$ moves in the first step
for even $k$ unless its rate is 0 there and its decay 1.
"""

import math

from elegans import checks
from elegans.theory.boolean import majority
from elegans.theory.resources.prescriptions import Prescription


def dense_sign(n: int, k: int, epsilon: float, delta: float | None = None) -> Prescription:
    r"""Theorem 5.5: resources for an expected hinge loss of `epsilon`, smallest over the steps.

    The proof is about very long inputs: even with exact gradients it needs
    $n - k > 4k(k-1)\sqrt{2 n \log(2(k+1)/\epsilon')}$, about 2,300 bits at $k = 2$. The
    algorithm itself works far below (docs/errata.md).

    Args:
        n: Bits, odd.
        k: Relevant bits, even.
        epsilon: The loss to reach.
        delta: The failure probability of the start, and that of the first batch; an eighth of
            `epsilon` unless given, as in the theorem.

    Returns:
        The prescription; its `samples` are the batch of the first step.

    Raises:
        ValueError: If `n` is too small for the proof; the message has the least one that is not.
    """
    owner = f"dense_sign(n={n}, k={k}, epsilon={epsilon})"
    checks.whole(owner, "k", k, low=2, high=n - 1, what="counts relevant bits")
    if k % 2 or n % 2 == 0:
        raise ValueError(f"{owner}: the theorem is for even k and odd n.")
    checks.number(owner, "epsilon", epsilon, low=1e-300, high=0.5, what="is a loss")
    failure = epsilon / 8 if delta is None else delta
    checks.number(owner, "delta", failure, low=1e-300, high=0.5, what="is a probability")
    room = tolerated_share(n, k, epsilon)
    if room <= 0:
        raise ValueError(f"{owner}: the proof needs n of {least_bits(k, epsilon)} or more.")
    relevant = abs(majority.coefficient(n, k - 1))
    tolerance = room * relevant
    chance = good_pair_probability(k)
    width = 2 * math.ceil(math.log((k + 1) / failure) / chance)
    steps = 1 + math.ceil(2**12 * k**3 * width * n**2 / epsilon**2)
    return Prescription(
        s=n,
        width=width,
        samples=math.ceil(2 * math.log(4 * n * width / failure) / tolerance**2),
        steps=steps,
        tolerance=tolerance,
        learning_rate=1 / (k * relevant),
        good_probability=chance,
        readout_norm=8 * k**1.5,
        second_rate=4 * k**1.5 / (n * math.sqrt(width * (steps - 1))),
    )


def good_pair_probability(k: int) -> float:
    r"""$2^{1-k} / (2k - 1)$: a neuron's signs agree on $S$, and its bias is a given one.

    The document prints $1/(k 2^{k-1})$: a grid of $2k$ biases, and the two signs counted twice.
    """
    return 2.0 ** (1 - k) / (2 * k - 1)


def tolerated_share(n: int, k: int, epsilon: float) -> float:
    r"""The largest $\tau / |\xi_{k-1}|$ that the margin allows; zero or below if there is none."""
    log = math.log(2 * (k + 1) * 64 * k**2 * n / epsilon)  # epsilon' is epsilon / (64 k^2 n)
    spread = math.sqrt(2 * n * log)
    left = 1 / (8 * k**2) - (k - 1) / (n - k) * spread / (2 * k)
    return left / ((k + 1 + spread) / k)


def least_bits(k: int, epsilon: float) -> int:
    """The least odd number of bits at which the proof allows any error of the gradient."""
    owner = f"least_bits(k={k}, epsilon={epsilon})"
    checks.whole(owner, "k", k, low=2, what="counts relevant bits")
    if k % 2:
        raise ValueError(f"{owner}: the theorem is for even k.")
    checks.number(owner, "epsilon", epsilon, low=1e-300, high=0.5, what="is a loss")
    low, high = k + 1, k + 3
    while tolerated_share(high, k, epsilon) <= 0:
        low, high = high, 2 * high + 1
    while high - low > 2:
        middle = (low + high) // 2 | 1
        low, high = (low, middle) if tolerated_share(middle, k, epsilon) > 0 else (middle, high)
    return high
