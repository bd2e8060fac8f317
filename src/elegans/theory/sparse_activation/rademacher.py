r"""Rademacher complexity of sparsely activated networks: bounds, a conjecture, a lower estimate.

$\mathcal{R}(S) = \mathbb{E}_\zeta \max_h \frac1m \sum_i \zeta_i h(x_i)$ over signs $\zeta$. The
upper bounds are the paper's, each with a visible `constant`. From below, any network of the class
that correlates with the signs is a witness. `correlated_network` tries three kinds: neurons that
are active everywhere, so linear, the best of the three where $B \ge WR$ and $s$ is small; neurons
that are active at one input each; and gated neurons found by ascent, one for each value of a few
bits.
"""

import math

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.cube import signs as cube_signs
from elegans.statistics import Interval, normal_mean

Real = float | int
Part = tuple[np.ndarray, np.ndarray, np.ndarray]  # weights, biases, outer weights
ASCENT = 20  # steps; each is the maximum over directions for the neurons' present active sets
STARTS = 4


def sparse_rademacher(
    m: int, n: int, s: int, k: int, W: Real, B: Real, R: Real, *, constant: Real = 1.0
) -> float:
    r"""Bounds (1) and (15): $c\,(WR + B) \sqrt{snk \log(km(R + B)) / m}$, $\|x\|_2 \le R$."""
    return constant * (W * R + B) * math.sqrt(s * n * k * math.log(k * m * (R + B)) / m)


def conjectured_rademacher(
    m: int, s: int, k: int, W: Real, B: Real, R: Real, *, constant: Real = 1.0
) -> float:
    r"""Conjecture (16): $c\,(WR + B) \sqrt{sk / m}$, free of the dimension."""
    return constant * (W * R + B) * math.sqrt(s * k / m)


def dense_rademacher(m: int, s: int, W: Real, B: Real, R: Real, *, constant: Real = 1.0) -> float:
    r"""Without any sparsity: $c\,(WR + B)\,s / \sqrt m$."""
    return constant * (W * R + B) * s / math.sqrt(m)


def sample_size(
    n: int,
    s: int,
    k: int,
    W: Real,
    B: Real,
    R: Real,
    *,
    epsilon: Real,
    delta: Real,
    constant: Real = 1.0,
    printed: bool = False,
) -> int:
    r"""Theorem 17: samples for error $\epsilon$ with probability $1 - \delta$.

    By lemma 18 the least $m$ with $c\,(C \mathcal{R} + \sqrt{\log(1/\delta)/m}) \le \epsilon$,
    where $C = k(WR + B)$ bounds the values and $\mathcal{R}$ is bound (15). The theorem as printed
    has lost the factor $C^2$: $c\,((WR + B)^2 ksn \log(k(R + B)/\epsilon) + \log(1/\delta)) /
    \epsilon^2$.
    """
    if printed:
        log = math.log(k * (R + B) / epsilon)
        return math.ceil(
            constant * ((W * R + B) ** 2 * k * s * n * log + math.log(1 / delta)) / epsilon**2
        )
    value = k * (W * R + B)

    def error(m: int) -> float:
        bound = value * sparse_rademacher(m, n, s, k, W, B, R)
        return constant * (bound + math.sqrt(math.log(1 / delta) / m))

    high = 4
    while error(high) > epsilon:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= epsilon else (middle, high)
    return high


def rademacher_lower(
    x: Float[np.ndarray, "m n"],
    s: int,
    k: int,
    W: Real,
    B: Real,
    *,
    draws: int = 20,
    confidence: float = 0.99,
    seed: int = 0,
) -> Interval:
    """A lower estimate of the complexity on the inputs `x`, over `draws` of the signs.

    The mean over all signs of what `correlated_network` reaches is a lower bound; the interval is
    that of the normal limit over the draws.
    """
    generator = np.random.default_rng(seed)
    values = []
    for _ in range(draws):
        signs = generator.choice([-1.0, 1.0], len(x))
        weight, bias, outer = correlated_network(
            x, signs, s, k, W, B, seed=int(generator.integers(2**31))
        )
        values.append(float(signs @ (np.maximum(x @ weight + bias, 0) @ outer)) / len(x))
    return normal_mean(np.array(values), confidence)


def correlated_network(
    x: Float[np.ndarray, "m n"],
    signs: Float[np.ndarray, " m"],
    s: int,
    k: int,
    W: Real,
    B: Real,
    *,
    seed: int = 0,
) -> tuple[Float[np.ndarray, "n s"], Float[np.ndarray, " s"], Float[np.ndarray, " s"]]:
    r"""Weights, biases and outer weights of a network of the class that correlates with `signs`.

    It is $k$ times one 1-sparse network, the best of three kinds: `linear_part`,
    `prototype_part`, and `gated_part` with $2^b \le s/k$ neurons for each $b$. At most $k$ neurons
    are active on each row of `x`, whose entries are signs.
    """
    owner = f"correlated_network(s={s}, k={k})"
    checks.whole(owner, "k", k, low=1, high=s, what="counts active neurons")
    generator = np.random.default_rng(seed)
    n = x.shape[1]
    parts = [linear_part(x, signs, float(W), float(B), shrunk) for shrunk in (False, True)]
    parts.append(prototype_part(x, signs, s // k, float(W), float(B)))
    for b in range(min((s // k).bit_length() - 1, n - 1) + 1):
        parts.append(gated_part(x, signs, b, float(W), float(B), generator))
    reached = [float(signs @ (np.maximum(x @ w + b, 0) @ u)) for w, b, u in parts]
    weight, bias, outer = parts[int(np.argmax(reached))]
    padding = s - k * len(bias)
    return (
        np.hstack([np.tile(weight, (1, k)), np.zeros((n, padding))]),
        np.concatenate([np.tile(bias, k), np.zeros(padding)]),
        np.concatenate([np.tile(outer, k), np.zeros(padding)]),
    )


def linear_part(
    x: Float[np.ndarray, "m n"], signs: Float[np.ndarray, " m"], W: float, B: float, shrunk: bool
) -> Part:
    r"""One neuron with bias $B$, which is linear where it is active: $W \|\sum \zeta_i x_i\| + B
    |\sum \zeta_i|$ if that is everywhere, as it is for $B \ge WR$; `shrunk` weights see to it.
    """
    outer = 1.0 if signs.sum() >= 0 else -1.0
    direction = outer * signs @ x
    size = float(np.linalg.norm(direction))
    weight = direction * (W / size) if size else direction
    reach = float((-(x @ weight)).max(initial=0.0))
    if shrunk and reach > B:
        weight = weight * (B / reach)
    return weight[:, None], np.array([B]), np.array([outer])


def prototype_part(
    x: Float[np.ndarray, "m n"], signs: Float[np.ndarray, " m"], count: int, W: float, B: float
) -> Part:
    r"""At most `count` neurons $\alpha (\langle x_i, x \rangle - n + 2)_+$: $2\alpha$ at one input,
    0 at all others. Inputs that occur often with one sign come first.
    """
    n = x.shape[1]
    points, inverse = np.unique(x, axis=0, return_inverse=True)
    totals = np.bincount(inverse.reshape(-1), signs)
    first = np.argsort(-np.abs(totals), kind="stable")[:count]
    alpha = W / math.sqrt(n) if n == 2 else min(W / math.sqrt(n), B / abs(n - 2))
    bias = np.full(len(first), alpha * (2.0 - n))
    return alpha * points[first].T, bias, np.where(totals[first] < 0, -1.0, 1.0)


def gated_part(
    x: Float[np.ndarray, "m n"],
    signs: Float[np.ndarray, " m"],
    b: int,
    W: float,
    B: float,
    generator: np.random.Generator,
) -> Part:
    """A 1-sparse network of 2**b neurons, each on the inputs with its own first `b` bits."""
    n = x.shape[1]
    address = (x[:, :b] < 0) @ 2 ** np.arange(b)
    weight, bias, outer = np.zeros((n, 2**b)), np.zeros(2**b), np.ones(2**b)
    for j in range(2**b):
        rows = address == j
        v, outer[j] = best_direction(x[rows, b:], signs[rows], generator)
        reach = float((x[~rows, b:] @ v).max(initial=0.0))
        gamma = reach / 2 * (1 + 1e-9)  # silent on all other addresses
        pattern = cube_signs(b, j, j + 1)[0]
        scale = W / math.sqrt(float(v @ v) + gamma**2 * b) if v.any() else 0.0
        if gamma * b * scale > B:
            scale = B / (gamma * b)
        weight[:b, j], weight[b:, j] = scale * gamma * pattern, scale * v
        bias[j] = -scale * gamma * b
    return weight, bias, outer


def best_direction(
    y: Float[np.ndarray, "rows q"],
    signs: Float[np.ndarray, " rows"],
    generator: np.random.Generator,
) -> tuple[Float[np.ndarray, " q"], float]:
    r"""A unit vector $v$ and a sign $u$ with large $u \sum_i \zeta_i \langle v, y_i \rangle_+$.

    All starts of both signs climb side by side, as columns.
    """
    q = y.shape[1]
    outer = np.repeat([1.0, -1.0], STARTS)
    targets = signs[:, None] * outer
    v = np.concatenate([y.T @ targets[:, :1], generator.standard_normal((q, STARTS - 1))], axis=1)
    v = np.concatenate([v, -v[:, :1], generator.standard_normal((q, STARTS - 1))], axis=1)
    best, kept, kept_sign = 0.0, np.zeros(q), 1.0
    for _ in range(ASCENT):
        sizes = np.linalg.norm(v, axis=0)
        v = v / np.where(sizes > 0, sizes, 1.0)
        z = y @ v
        values = np.sum(targets * np.maximum(z, 0), axis=0)
        top = int(np.argmax(values))
        if values[top] > best:
            best, kept, kept_sign = float(values[top]), v[:, top], float(outer[top])
        v = y.T @ (targets * (z > 0))
    return kept, kept_sign
