r"""Paths on disjoint PolyNets that are computed rather than trained: what `polynet-flow` compares.

The plateau of gradient flow by its exact solution, descent with small steps on the population
gradient, and theorem 5.8 as an algorithm, each a computation that a sweep can run.
"""

import jax.random as jr
import numpy as np
import pandas as pd

from elegans.fields import configuration
from elegans.theory.boolean import polynet

GAMMA = 0.01  # the plateau is an error above one half minus this
NEAR_CHANCE = 0.5 - GAMMA
NOISE = 0.03  # of an error on 1,000 test examples, two standard errors
EPSILON, DELTA = 0.1, 0.01  # of theorem 5.8


@configuration
class Plateaus:
    """The plateau of gradient flow from one Gaussian start, for blocks of several lengths."""

    k: int
    blocks: tuple[int, ...]

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per length: the share of the time until zero error at an error above 49%."""
        rng = np.random.default_rng([seed, self.k])
        v = np.abs(rng.standard_normal(self.k))  # any signs of positive product are alike
        rows = []
        for block in self.blocks:
            u = np.random.default_rng([seed, self.k, 1]).standard_normal((self.k, block))[:, 1:]
            share = polynet.plateau_share(v, u, GAMMA, normal=True)
            rows.append({"block": block, "share": share, "rest": 1 - share})
        return pd.DataFrame(rows)


@configuration
class Descent:
    """Descent on the population gradient with small steps, from a Gaussian start."""

    n: int
    k: int
    rate: float

    def __call__(self, seed: int) -> pd.DataFrame:
        """Time and error while the relevant weights grow, beside the time of the flow."""
        v, u = drawn(self.n, self.k, seed)
        start, end = v.copy(), float((np.abs(u).sum(axis=1) ** 2 - v**2).max())
        marks = np.geomspace(1e-3, 1, 60) * end
        steps, rows = 0, []
        for mark in marks:
            while (v**2 - start**2).min() < mark:
                product = np.prod(v)
                v = v + self.rate * product / v
                steps += 1
            grown = float((v**2 - start**2).mean())
            rows.append(
                {
                    "grown": grown,
                    "time": steps * self.rate,
                    "theory": polynet.flow_time(start, grown),
                    "error": polynet.error(v, u, normal=True),
                }
            )
        return pd.DataFrame(rows)


@configuration
class Prescribed:
    """Theorem 5.8 as an algorithm: sign starts, batches of one, its rates and its steps."""

    n: int
    k: int
    constant: float
    starts: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """How each start ends: its error, the sign of its product, and its largest weight."""
        steps = polynet.sgd_steps(self.n, self.k, EPSILON, DELTA, constant=self.constant)
        shape = (self.starts, self.k, self.n // self.k)
        rng = np.random.default_rng([seed, self.n, self.k])
        w = 2.0 * rng.integers(0, 2, shape) - 1
        positive = np.prod(w[:, :, 0], axis=1) > 0
        largest = np.ones(self.starts)
        # As `polynet.sgd_rate`, for all starts at once.
        scale = 2 * np.sqrt(2 * steps * np.log(2 * self.n * steps / DELTA))
        for _ in range(steps):
            x = 2.0 * rng.integers(0, 2, shape) - 1
            sums, norms = (w * x).sum(axis=2), np.abs(w).sum(axis=2)
            rate = norms / norms.prod(axis=1, keepdims=True) / scale
            y = x[:, :, 0].prod(axis=1)
            pull = rate * y[:, None] * products_of_others(sums)
            w = w + pull[:, :, None] * x
            largest = np.maximum(largest, np.abs(w[:, :, 1:]).max(axis=(1, 2)))
        return pd.DataFrame(
            {
                "steps": steps,
                "start": np.arange(self.starts),
                "positive_start": positive,
                "error": [polynet.error(each[:, 0], each[:, 1:]) for each in w],
                "largest_irrelevant": largest,
            }
        )


def products_of_others(sums: np.ndarray) -> np.ndarray:
    """For each column the product of all other columns; zeros do no harm."""
    columns = range(sums.shape[1])
    return np.stack([np.delete(sums, i, axis=1).prod(axis=1) for i in columns], axis=1)


def drawn(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Relevant and irrelevant weights of a Gaussian start of positive product."""
    weights = np.asarray(jr.normal(jr.key(seed), (k, n // k)), float)
    return np.abs(weights[:, 0]), weights[:, 1:]
