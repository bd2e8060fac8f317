r"""Capacity from below: shattered inputs, and functions that are far apart.

* Proposition 4.8: with unbounded norms the pseudo-dimension of a head is at least
  $\lfloor \log_2 T \rfloor$ at width 3. Input $i$ of $p = \lfloor \log_2 T \rfloor$ has tokens
  $(\cos\frac{2\pi t}T, \sin\frac{2\pi t}T, \operatorname{bin}(t)_i)$ for $t = 0, \dots, T - 1$;
  head $s$ scores them with $R\,(\cos\frac{2\pi s}T, \sin\frac{2\pi s}T, 0)$, $R = T^2$, and returns
  the third coordinate. It attends to token $s$, so that it is above 1/2 on input $i$ if and only if
  bit $i$ of $s$ is 1, and the heads realise all $2^p$ patterns. (The threshold 1/2 is common to all
  inputs: the document's pseudo-dimension asks for that, the usual one does not.)
* Functions that are pairwise more than $2\epsilon$ apart need as many members in any cover of
  radius $\epsilon$: a greedy choice from a family is a lower bound on
  $\mathcal{N}_\infty(\epsilon)$.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans import checks

Real = float | int


class CircleHeads(NamedTuple):
    """Weights of heads of width 3: a score vector each, and one value vector for all."""

    query_key: Float[np.ndarray, "heads 3"]
    value: Float[np.ndarray, " 3"]


def shattering(
    T: int, *, R: Real | None = None
) -> tuple[Float[np.ndarray, "inputs T 3"], CircleHeads]:
    """Inputs that are shattered at threshold 1/2, and the heads that do it; `R` is T**2 if None."""
    owner = f"shattering(T={T})"
    checks.whole(owner, "T", T, low=2, what="counts the tokens")
    scale = float(T**2 if R is None else R)
    checks.number(owner, "R", scale, low=0, what="is the norm of the scores")
    t = np.arange(T)
    angles = 2 * np.pi * t / T
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    bits = t >> np.arange(T.bit_length() - 1)[:, None] & 1
    inputs = np.concatenate(
        [np.broadcast_to(circle, (len(bits), T, 2)), bits[:, :, None].astype(float)], axis=2
    )
    query_key = np.concatenate([scale * circle, np.zeros((T, 1))], axis=1)
    return inputs, CircleHeads(query_key, np.array([0.0, 0.0, 1.0]))


def circle_values(
    inputs: Float[np.ndarray, "inputs T 3"], weights: CircleHeads
) -> Float[np.ndarray, "heads inputs"]:
    """What each head returns at each input."""
    scores = np.einsum("itd,hd->hit", inputs, weights.query_key)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    values = (exponentials * (inputs @ weights.value)).sum(axis=-1)
    return values / exponentials.sum(axis=-1)


def packing(values: Float[np.ndarray, "functions points"], eps: Real) -> list[int]:
    """Functions of a family that are pairwise more than 2 eps apart at some point, chosen greedily.

    Their number is a lower bound on the covering number of any class that holds the family.
    """
    owner = f"packing(eps={eps})"
    checks.number(owner, "eps", eps, low=0, what="is the radius of a cover")
    rows = np.empty_like(values)  # of the members, in one block
    members: list[int] = []
    for i, row in enumerate(values):
        distances = np.abs(rows[: len(members)] - row).max(axis=1)
        if not members or distances.min() > 2 * eps:
            rows[len(members)] = row
            members.append(i)
    return members


def circle_packing(T: int, R: Real, eps: Real) -> int:
    r"""How many of the T heads of norm `R` are more than 2 eps apart on the shattered inputs.

    With $T$ it grows until neighbouring heads attend to the same tokens, at some multiple of
    $\sqrt R$: bounded norms stop the growth. All heads are rotations of one, so their values are
    one circular correlation with the bits.
    """
    inputs, _ = shattering(T, R=R)
    kernel = np.exp(float(R) * (inputs[0, :, 0] - 1))
    spectrum = np.conj(np.fft.rfft(kernel / kernel.sum())) * np.fft.rfft(inputs[:, :, 2])
    return len(packing(np.fft.irfft(spectrum, n=T).T, eps))


def sign_correlations(
    values: Float[np.ndarray, "functions m"], *, draws: int = 100, seed: int = 0
) -> Float[np.ndarray, " draws"]:
    r"""$\max_f \frac1m \sum_i \sigma_i f(x_i)$ over a family, for each of many random signs.

    Their mean estimates the empirical Rademacher complexity of the family from data, which is a
    lower bound on that of any class that holds it.
    """
    checks.whole("sign_correlations", "draws", draws, low=1, what="counts the draws of signs")
    m = values.shape[1]
    signs = np.random.default_rng(seed).integers(0, 2, (m, draws)) * 2.0 - 1.0
    return (values @ signs).max(axis=0) / m
