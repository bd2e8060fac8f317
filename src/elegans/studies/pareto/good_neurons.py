r"""Good neurons of theorem 21: their step, the readout on them, and two searches over n.

A neuron is good if the $s$ bits that it reads are relevant. `SampleSearch` takes one good neuron
per bias through one truncated step on nested samples, `NormalSearch` does so with gradients from
their limit law, without examples; `WidthSearch` draws neurons until every bias
has a good one. All are computations that a sweep runs and stores.
"""

import math

import numpy as np
import pandas as pd
from jaxtyping import Float

from elegans import checks
from elegans.cube import character, drawn_signs
from elegans.fields import configuration
from elegans.theory import resources
from elegans.theory.boolean import majority

TEST_ROWS = 4000
ROWS_AT_ONCE = 2**14


def small_weight(n: int, s: int) -> float:
    r"""The $\epsilon$ of the init, half of the largest that is allowed; 1 for neurons of signs."""
    return 0.5 / (n - s) if s else 1.0


def readout(k: int) -> Float[np.ndarray, " features"]:
    r"""Weights of 1 and of $(\frac{\sigma}{2k} + b)_+$ for the $k$ biases that write the parity."""
    sums = np.arange(-k, k + 1, 2)
    ramps = np.maximum(sums[:, None] / (2 * k) + np.arange(1 - k, k, 2) / (2 * k), 0)
    return np.linalg.solve(np.hstack([np.ones((k + 1, 1)), ramps]), (-1.0) ** ((k - sums) // 2))


def correlation(weight: Float[np.ndarray, "n k"], k: int, epsilon: float, seed: int) -> float:
    """How the subnetwork of one neuron per bias, in their order, correlates with the parity."""
    x = drawn_signs(np.random.default_rng([seed, 11]), TEST_ROWS, len(weight))
    bias = epsilon * np.arange(1 - k, k, 2) / (2 * k)
    nu = readout(k)
    h = nu[0] + np.maximum(x @ weight + bias, 0) @ nu[1:] / epsilon
    size = math.sqrt(float(np.mean(h**2)))
    return float(np.mean(h * character(x, tuple(range(k))))) / size if size > 0 else 0.0


@configuration
class SampleSearch:
    """The least samples from which the good neurons of a seed pass, on a grid of nested sets."""

    n: int
    k: int
    s: int

    def __post_init__(self) -> None:
        checks.whole(self, "s", self.s, low=0, high=self.k - 2, what="counts ones, fewer than k")

    def grid(self) -> list[int]:
        """Samples up to 70% of those that surely tell the gradients apart, from 1/180 on."""
        relevant, irrelevant = resources.partial_gradients(self.n, self.k, self.s)
        tolerance = (relevant - irrelevant) / 2
        enough = 2 * math.log(4 * self.n * self.k / 0.01) / tolerance**2
        return [round(enough * 2 ** (-j / 4)) for j in range(30, 1, -1)]

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per number of samples."""
        n, k, s = self.n, self.k, self.s
        generator = np.random.default_rng([seed, n, k, s])
        epsilon = small_weight(n, s)
        weight = np.full((n, k), epsilon)
        for j in range(k):
            weight[generator.choice(k, s, replace=False), j] = 1.0
        bias = epsilon * np.arange(1 - k, k, 2) / (2 * k) * (1 if s else 0.5)
        total, count, rows = np.zeros((n, k)), 0, []
        for samples in self.grid():
            while count < samples:
                x = drawn_signs(generator, min(ROWS_AT_ONCE, samples - count), n)
                y = character(x, tuple(range(k)))
                total += x.T @ (y[:, None] * (x @ weight + bias > 0))
                count += len(x)
            after = self.stepped(weight, total / count, epsilon)
            rows.append({"samples": samples, "correlation": correlation(after, k, epsilon, seed)})
        return pd.DataFrame(rows)

    def stepped(
        self, weight: Float[np.ndarray, "n k"], gradient: Float[np.ndarray, "n k"], epsilon: float
    ) -> Float[np.ndarray, "n k"]:
        """The neurons after one truncated step, those of the mirrored pair whose sign is right."""
        relevant, irrelevant = resources.partial_gradients(self.n, self.k, self.s)
        large = np.where(np.abs(gradient) <= (relevant + irrelevant) / 2, 0.0, gradient)
        sign = np.sign(majority.half(self.s, self.s) * rest_coefficient(self.n, self.k, self.s))
        kept = epsilon / (2 * self.k) if self.s else 0.0
        return kept * weight + epsilon / (2 * self.k * relevant) * sign * large


@configuration
class NormalSearch:
    r"""`SampleSearch` of neurons of signs, with gradients drawn from their normal limit.

    Such neurons have one gradient in common. The noise of the entries that truncation leaves moves
    all of them alike, so that the subnetwork fails although it has the right bits: this is in here,
    and not in `theory.resources.recovery`, which counts the entries that are left.
    """

    n: int
    k: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per number of samples."""
        n, k = self.n, self.k
        search = SampleSearch(n, k, 0)
        generator = np.random.default_rng([seed, n, k, 7])
        of_relevant, of_others = (majority.coefficient(n, k + j) / 2 for j in (-1, 1))
        mean = np.where(np.arange(n) < k, of_relevant, of_others)
        total, count, rows = np.zeros(n), 0, []
        for samples in search.grid():
            deviation = np.sqrt((samples - count) * (0.5 - mean**2))
            total += deviation * generator.normal(size=n)
            count = samples
            gradient = np.tile((mean + total / samples)[:, None], (1, k))
            after = search.stepped(np.ones((n, k)), gradient, 1.0)
            rows.append({"samples": samples, "correlation": correlation(after, k, 1.0, seed)})
        return pd.DataFrame(rows)


def rest_coefficient(n: int, k: int, s: int) -> float:
    """Majority's coefficient among the small weights, whose sign the right neuron has."""
    return majority.coefficient(n - s, k - s - 1)


@configuration
class WidthSearch:
    """The least width at which a random network holds a good neuron of each bias."""

    n: int
    k: int
    s: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row."""
        generator = np.random.default_rng([seed, self.n, self.k, self.s, 5])
        first: dict[int, int] = {}
        drawn = 0
        while len(first) < self.k:
            order = generator.random((4096, self.n)).argpartition(self.s, axis=1)[:, : self.s]
            bias = generator.integers(0, self.k, len(order))
            for i in np.flatnonzero((order < self.k).all(axis=1)):
                first.setdefault(int(bias[i]), drawn + int(i) + 1)
            drawn += len(order)
        return pd.DataFrame([{"width": 2 * max(first.values())}])
