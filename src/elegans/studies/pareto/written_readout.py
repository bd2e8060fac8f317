r"""Theorem 16 without truncation, at finite sizes: what its readout, written down, ends at.

At $k = 2$ there is one bias, $-\frac38$. After step 0 a good neuron has the weights $\frac14
(g_i + \xi_i) / C$ with the gradient's exact means $g_i$ ($C$ at relevant bits, $\pm c$ at other
bits that it reads) and errors $\xi_i$ that are normal with covariance

$$\frac1m \Pr[\text{neurons } a \text{ and } b \text{ are active}] = \frac{1}{4m} \big(1 +
\mathbb{E}\,\mathrm{Maj}_a \mathrm{Maj}_b\big)$$

between neurons: those that share inputs err alike. The theorem's readout gives all good neurons one
weight $u$ and the output a bias. Here the two are chosen to minimise the hinge loss plus decay, and
the loss that is left is computed, from Gaussian errors instead of examples.

With decay it matters that errors of neurons that share few inputs average out, and that a rectifier
of independent errors is larger in the mean: the examples then grow faster than $s^{k-1}$ unless
$n$ is far above $s$.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import comb

from elegans import checks
from elegans.cube import drawn_signs
from elegans.theory.boolean import majority
from elegans.theory.resources import OFFSET

K = 2
ROWS = 2000
BIAS = (-K + OFFSET) / (2 * K)
OUTPUTS = np.geomspace(8.0, 160.0, 16)  # sums of the weights of one sign; 16 without errors
OUTPUT_BIASES = (-1.2, -1.1, -1.0, -0.9)
HALVINGS = 12  # of the interval of samples, whose ends are a million apart: 0.3%


class Neurons(NamedTuple):
    """Good neurons of one draw: C, their mean gradients, errors at one example, and inputs."""

    relevant: float
    mean: Float[np.ndarray, "n pairs"]
    error: Float[np.ndarray, "n pairs"]
    x: Float[np.ndarray, "rows n"]


def agreement(s: int, shared: int) -> float:
    r"""$\mathbb{E}\,\mathrm{Maj}_a \mathrm{Maj}_b$ of `s` inputs each, of which some are shared."""
    rest = s - shared
    sums = np.arange(-shared, shared + 1, 2)
    others = np.arange(-rest, rest + 1, 2)
    chance = comb(shared, np.arange(shared + 1)) / 2.0**shared
    weight = comb(rest, np.arange(rest + 1)) / 2.0**rest
    conditional = np.sign(sums[:, None] + others[None, :]) @ weight
    return float(chance @ conditional**2)


def drawn(n: int, s: int, pairs: int, seed: int) -> Neurons:
    """Neurons that hold the support, with errors of the exact covariance."""
    generator = np.random.default_rng([seed, n, s, pairs])
    reads = np.zeros((n, pairs))
    reads[:K] = 1.0
    for j in range(pairs):
        reads[K + generator.choice(n - K, s - K, replace=False), j] = 1.0
    relevant = majority.relevant_gradient(s, K)
    mean = majority.irrelevant_gradient(s, K) * reads
    mean[:K] = relevant
    overlap = (reads.T @ reads).astype(int)
    known = {shared: agreement(s, shared) for shared in np.unique(overlap).tolist()}
    covariance = np.vectorize(lambda shared: (1 + known[shared]) / 4)(overlap)
    # a ridge against rounding, as neurons that read the same inputs have the same errors
    factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(pairs))
    error = generator.standard_normal((n, pairs)) @ factor.T
    return Neurons(relevant, mean, error, drawn_signs(generator, ROWS, n))


def written_loss(neurons: Neurons, samples: float, decay: float) -> float:
    """The hinge loss of the readout that is best with its decay."""
    weight = (neurons.mean + neurons.error / math.sqrt(samples)) / (2 * K * neurons.relevant)
    before = neurons.x @ weight
    active = np.maximum(before + BIAS, 0) + np.maximum(BIAS - before, 0)
    feature, y = active.mean(axis=1), neurons.x[:, :K].prod(axis=1)
    pairs = active.shape[1]
    best = math.inf, math.inf
    for total in OUTPUTS:
        for bias in OUTPUT_BIASES:
            loss = float(np.maximum(0, 1 - y * (total * feature + bias)).mean())
            # decay / 2 of 2 pairs times (total / pairs)^2
            best = min(best, (loss + decay * total**2 / pairs, loss))
    return best[1]


@functools.lru_cache
def written_samples(
    n: int, s: int, pairs: int, *, epsilon: float, decay: float, draws: int = 160
) -> float:
    """From how many examples that loss is at most epsilon: the median over draws of neurons."""
    owner = f"written_samples(n={n}, s={s}, pairs={pairs})"
    checks.whole(owner, "s", s, low=K + 1, high=n, what="counts the ones of a neuron, above k")
    checks.whole(owner, "pairs", pairs, low=1, what="counts good neurons and their mirrors")
    thresholds = []
    for seed in range(draws):
        neurons = drawn(n, s, pairs, seed)
        low, high = math.log(100), math.log(1e8)
        if written_loss(neurons, math.exp(high), decay) > epsilon:
            thresholds.append(math.inf)
            continue
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if written_loss(neurons, math.exp(middle), decay) <= epsilon:
                high = middle
            else:
                low = middle
        thresholds.append(math.exp(high))
    return float(np.median(thresholds))
