r"""What token frequencies and the current token tell of the next one, for chains of two states.

A layer of attention that weighs all tokens alike sees how many of $t$ tokens are ones, $m$, and by
its residual stream the current token $x_t$. The unigram strategy uses $m$ alone. The pair tells
more: given $m$, a rare current token is likely to be followed by a common one, but less so than the
frequencies say, as chains that seldom leave a state have long stretches of it. So a network of one
layer can get below the unigram level, and by how much is a sum over $m$ and $x_t$:

$$\ell = \mathbb{E}[-\log \Pr(x_{t+1} \mid m, x_t)], \qquad
\Pr(m, x_t, x_{t+1}) = \int_0^1 \int_0^1 \Pr(m, x_t \mid a, b)\, P_{x_t x_{t+1}} \, da \, db,$$

for flat rows, where $a = P_{01}$ and $b = P_{10}$; the inner law is built up a token at a time.
"""

from typing import NamedTuple

import numpy as np

NODES = 64  # of the quadrature in each of a and b; doubling changes the ninth digit


class FrequencyLosses(NamedTuple):
    """Expected losses at the last of so many tokens, in nats."""

    unigram: float
    with_current: float

    @property
    def gain(self) -> float:
        """What the current token is worth to who knows the frequencies."""
        return self.unigram - self.with_current


def frequency_losses(length: int) -> FrequencyLosses:
    """The exact losses of the unigram strategy, and of the best that also sees the current token.

    For stationary chains of two states with rows uniform on the simplex.
    """
    points, weights = np.polynomial.legendre.leggauss(NODES)
    a, b = (grid.ravel() for grid in np.meshgrid((points + 1) / 2, (points + 1) / 2))
    law = count_law(length, a, b) * np.outer(weights, weights).ravel()[:, None, None] / 4
    pairs = law.sum(axis=0)  # of m and the current token
    ones = np.einsum("gms,gs->ms", law, np.stack([a, 1 - b], axis=1))  # and a one comes next
    m = np.arange(length + 1)[:, None]
    return FrequencyLosses(
        _loss(ones, pairs, (m + 1) / (length + 2)),
        _loss(ones, pairs, ones / np.where(pairs > 0, pairs, 1.0)),
    )


def count_law(length: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The law of (number of ones, current token): an array chain by number by token."""
    law = np.zeros((len(a), length + 1, 2))
    law[:, 0, 0], law[:, 1, 1] = b / (a + b), a / (a + b)
    a, b = a[:, None], b[:, None]
    for _ in range(length - 1):
        zero, one = law[:, :, 0], law[:, :, 1]
        to_one = a * zero + (1 - b) * one
        to_zero = (1 - a) * zero + b * one
        shifted = np.concatenate([np.zeros_like(a), to_one[:, :-1]], axis=1)
        law = np.stack([to_zero, shifted], axis=2)
    return law


def _loss(ones: np.ndarray, pairs: np.ndarray, guess: np.ndarray) -> float:
    """The mean of minus the logarithm of a guess of the probability of a one."""
    possible = pairs > 0
    guess = np.broadcast_to(guess, pairs.shape)[possible]
    hits, misses = ones[possible], (pairs - ones)[possible]
    return float(-np.sum(hits * np.log(guess) + misses * np.log1p(-guess)))
