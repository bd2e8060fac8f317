r"""Sparsely activated networks: who belongs to the class, and how sensitive they can be.

$\mathcal{H}_{n,s,k}^{W,B}$ holds $h(x) = \sum_{j \le s} u_j (\langle w_j, x \rangle - b_j)_+$ with
at most $k$ active neurons at each input, $\|u\|_\infty \max_j \|w_j\|_2 \le W$ and
$\|u\|_\infty \max_j |b_j| \le B$. Logarithms are natural. The paper's bounds are orders of
magnitude: each has a visible `constant`, and 1 means "as printed".

There is a sharper bound than the paper's. Flipping bit $i$ changes an active neuron by at most
$2|w_{ji}|$, and at most $2k$ neurons are active before or after, so by Cauchy and Schwarz

$$\mathrm{AS}(h) \le \frac14 \mathbb{E} \sum_i 2k \sum_{j \in R_x \cup R_{x^{\oplus i}}} 4 u_j^2
w_{ji}^2 \le 4 k^2 W^2,$$

whatever $n$, $s$ and $B$ are (attained by `constructions.sensitive_parity`); hence
$\mathrm{NS}_\rho \le 2k^2W^2(1-\rho)$, and degree $4k^2W^2/\epsilon$ is enough for the low-degree
algorithm.

References: Awasthi et al. (2024), Learning neural networks with sparse activations.
"""

import math
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Num

from elegans import checks
from elegans.cube import drawn_signs, signs

Real = float | int
ENUMERATED_MAX = 22
LEMMA_6 = math.sqrt(0.5)  # proved in halfspace_sensitivity
CHUNK = 2**14


@runtime_checkable
class TwoLayers(Protocol):
    """The parameters of a network of one hidden layer: `layers` of weights and biases."""

    @property
    def layers(self) -> tuple[tuple[object, object], ...]:
        """Pairs of a weight (fan-in, fan-out) and a bias, from input to output."""
        ...


class Membership(NamedTuple):
    r"""The smallest $k$, $W$, $B$ for which a network is in the class.

    If not `exact`, `k` is the most that was seen, and with probability `confidence` at most a
    fraction `exceeding` of all inputs has more active neurons.
    """

    n: int
    s: int
    k: int
    W: float
    B: float
    exact: bool
    exceeding: float
    confidence: float


def membership(
    params: TwoLayers,
    *,
    samples: int = 100_000,
    confidence: float = 0.99,
    x: Num[np.ndarray, "rows n"] | None = None,
    seed: int = 0,
) -> Membership:
    """The class that a network belongs to: on the inputs `x` if given, else on the cube.

    Args:
        params: Of an MLP of one hidden layer and one output.
        samples: Fair inputs to look at where n is above 22.
        confidence: Of the statement about the inputs that were not looked at.
        x: The support of another distribution, all of it.
        seed: Of the samples.
    """
    weight, bias, outer = neurons(params)
    n, s = weight.shape
    exact = x is not None or n <= ENUMERATED_MAX
    generator = np.random.default_rng(seed)
    most, total = 0, 2**n if exact else samples
    if x is not None:
        total = len(x)
    for start in range(0, total, CHUNK):
        stop = min(start + CHUNK, total)
        if x is not None:
            rows: np.ndarray = x[start:stop].astype(np.float64)
        elif exact:
            rows = signs(n, start, stop)
        else:
            rows = drawn_signs(generator, stop - start, n)
        most = max(most, int(active(weight, bias, rows).max()))
    scale = float(np.abs(outer).max())
    return Membership(
        n,
        s,
        most,
        scale * float(np.linalg.norm(weight, axis=0).max()),
        scale * float(np.abs(bias).max()),
        exact,
        0.0 if exact else -math.log(1 - confidence) / samples,
        1.0 if exact else confidence,
    )


def neurons(params: TwoLayers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The hidden weights, hidden biases and outer weights of a network of one hidden layer."""
    if len(params.layers) != 2:
        raise ValueError(
            f"The class has one hidden layer; the network has {len(params.layers) - 1}."
        )
    (weight, bias), (outer, last) = (
        (np.asarray(w, dtype=np.float64), np.asarray(b, dtype=np.float64)) for w, b in params.layers
    )
    if outer.shape[1] != 1 or last[0] != 0:
        raise ValueError(
            f"The class has one output without a bias; the network has {outer.shape[1]} outputs, "
            f"the first with bias {last[0]:g}."
        )
    return weight, bias, outer[:, 0]


def active(
    weight: Float[np.ndarray, "n s"], bias: Float[np.ndarray, " s"], x: Float[np.ndarray, "rows n"]
) -> np.ndarray:
    """How many neurons are active at each row."""
    return is_active(weight, bias, x).sum(axis=1)


def is_active(
    weight: Float[np.ndarray, "n s"], bias: Float[np.ndarray, " s"], x: Float[np.ndarray, "rows n"]
) -> Bool[np.ndarray, "rows s"]:
    """Which neurons are active at each row, not counting what float32 weights cannot tell."""
    slack = 1e-6 * (np.abs(weight).sum(axis=0) + np.abs(bias))
    return x @ weight + bias > slack


def halfspace_sensitivity(n: int, p: Real, constant: Real = LEMMA_6) -> float:
    r"""Lemma 6: $\mathrm{AS}(g) \le c\, p \sqrt{n \log(1/p)}$ for halfspaces with values 0 and 1.

    $p = \mathbb{E} g$. With positive weights $\mathrm{AS}(g) = \frac12 |\mathbb{E}\,g(x) \sum_i
    x_i|$ (the paper prints 1/4), and a sum of signs has mean at most $\sqrt{2n \log(1/p)}$ on an
    event of probability $p$. So $c = 1/\sqrt2$ is proved.
    """
    checks.number("halfspace_sensitivity", "p", p, low=0.0, high=1.0, what="is a probability")
    return constant * p * math.sqrt(n * -math.log(p)) if p > 0 else 0.0


def sensitivity_bound(n: int, s: int, k: int, W: Real, B: Real, *, constant: Real = 1.0) -> float:
    r"""Lemma 9: $\mathrm{AS}(h) \le c\,(k^4 W^2 \sqrt n \log(ns) + k^3 B^2 \sqrt{\log s})$.

    The proof gives $\log^{1.5}$ in the first term and another $\sqrt n$ in the second, and 4 times
    its term (U). By `lipschitz_sensitivity` the lemma holds all the same, but for $n = s = 1$.
    """
    first = k**4 * W**2 * math.sqrt(n) * math.log(n * s)
    return constant * (first + k**3 * B**2 * math.sqrt(math.log(s)))


def noise_bound(
    n: int, s: int, k: int, W: Real, B: Real, rho: Real, *, constant: Real = 1.0
) -> float:
    r"""Lemma 10: $\mathrm{NS}_\rho(h) \le c \sqrt{1-\rho}\,(k^4 W^2 \log^2 \frac{ns}{1-\rho} +
    k^3 B^2 \sqrt{\log s})$."""
    checks.number("noise_bound", "rho", rho, low=-1.0, high=1.0 - 1e-15, what="is a correlation")
    first = k**4 * W**2 * math.log(n * s / (1 - rho)) ** 2
    return constant * math.sqrt(1 - rho) * (first + k**3 * B**2 * math.sqrt(math.log(s)))


def degree_bound(
    n: int, s: int, k: int, W: Real, B: Real, epsilon: Real, *, constant: Real = 1.0
) -> float:
    r"""Theorem 8: the degree $c\,(k^8 W^4 \log^4(ns) + k^6 B^4 \log s) / \epsilon^2$ is enough.

    The proof loses a factor 2 of claim 2.1 and bounds $1 - \rho^d$ from the wrong side; with
    $d \ge \log 3 / (1 - \rho)$ both are mended at the cost of a constant.
    """
    first = k**8 * W**4 * math.log(n * s) ** 4
    return constant * (first + k**6 * B**4 * math.log(s)) / epsilon**2


def log_low_degree_samples(
    n: int, d: Real, k: int, W: Real, B: Real, *, epsilon: Real, delta: Real, constant: Real = 1.0
) -> float:
    r"""$\log_{10}$ of theorem 8: $c\,n^d k^2 (W \sqrt n + B)^2 \log(1/\delta)/\epsilon$ samples."""
    scale = constant * (k * (W * math.sqrt(n) + B)) ** 2 * math.log(1 / delta) / epsilon
    return d * math.log10(n) + math.log10(scale)


def lipschitz_sensitivity(k: int, W: Real) -> float:
    r"""$\mathrm{AS}(h) \le 4k^2W^2$, proved above."""
    return 4.0 * k**2 * W**2


def lipschitz_noise(k: int, W: Real, rho: Real) -> float:
    r"""$\mathrm{NS}_\rho(h) \le \frac{1-\rho}{2} \mathrm{AS}(h) \le 2 k^2 W^2 (1 - \rho)$, for
    $\rho \ge 0$, as $1 - \rho^t \le t (1 - \rho)$."""
    checks.number("lipschitz_noise", "rho", rho, low=0.0, high=1.0, what="is a correlation")
    return (1 - rho) / 2 * lipschitz_sensitivity(k, W)


def lipschitz_degree(k: int, W: Real, epsilon: Real) -> int:
    r"""A degree above which the weight is at most $\epsilon$: as $(d + 1) \sum_{|T| > d} \hat
    h(T)^2 \le \mathrm{AS}(h)$, it is $4 k^2 W^2 / \epsilon$."""
    return max(0, math.ceil(lipschitz_sensitivity(k, W) / epsilon) - 1)
