r"""A certificate for any network of one hidden layer of rectifiers, from how active it is.

Let $a_i(x) = \sum_{j\,\text{active at}\,x} |u_j w_{ji}|$. Flipping bit $i$ moves a pre-activation
by $2 |w_{ji}|$, which matters only if neuron $j$ is active before or after, so

$$|h(x) - h(x^{\oplus i})| \le 2 a_i(x) + 2 a_i(x^{\oplus i});$$

by $(a + b)^2 \le 2a^2 + 2b^2$ and because $x$ and $x^{\oplus i}$ have the same law under fair bits,

$$\mathrm{AS}(h) = \tfrac14 \mathbb{E} \sum_i \big(h(x) - h(x^{\oplus i})\big)^2
\le 4\,\mathbb{E} \sum_i a_i(x)^2
\le 4\,\mathbb{E} \Big( \sum_{j\,\text{active}} |u_j| \|w_j\|_2 \Big)^2
\le 4 W^2\,\mathbb{E}\,r(x)^2,$$

the second step by Minkowski's inequality, with $r(x)$ the number of active neurons. It is the
second moment of the activity that counts, not its maximum: a network that is sparse on most inputs
is covered, which the class $\mathcal{H}_{n,s,k}$ is not about. The constant 4 is attained
(`constructions.sensitive_parity`).
"""

import math

import numpy as np
from jaxtyping import Float, Num

from elegans import checks
from elegans.cube import drawn_signs, signs
from elegans.statistics import bernstein_mean
from elegans.theory.sparse_activation.networks import CHUNK, ENUMERATED_MAX, TwoLayers, is_active

SAMPLES = 2**16
CONFIDENCE = 1 - 1e-6


def activity_bound(
    model: object, params: TwoLayers, x: Num[np.ndarray, "rows n"] | None = None
) -> float:
    r"""A bound of the average sensitivity: $4\,\mathbb{E} \sum_i a_i(x)^2$, proved above.

    The scale is that of `fourier.average_sensitivity`. The expectation is exact up to 22 bits;
    beyond, it is the upper limit of a rigorous interval from 65,536 fair inputs, which fails with a
    probability of one in a million.

    Args:
        model: An MLP of one hidden layer of rectifiers and one output.
        params: Its parameters; an output bias does not matter.
        x: Fair inputs to average over instead, all of the same weight.
    """
    weight, bias, outer = rectifiers(model, params)
    n = len(weight)
    sizes = np.abs(weight * outer)
    if x is not None:
        return float(4 * squares(weight, bias, sizes, checked_inputs(x, n)).mean())
    if n <= ENUMERATED_MAX:
        total = sum(
            squares(weight, bias, sizes, signs(n, start, min(start + CHUNK, 2**n))).sum()
            for start in range(0, 2**n, CHUNK)
        )
        return float(4 * total / 2**n)
    generator = np.random.default_rng(0)
    parts = [
        squares(weight, bias, sizes, drawn_signs(generator, CHUNK, n))
        for _ in range(SAMPLES // CHUNK)
    ]
    most = float((sizes.sum(axis=1) ** 2).sum())  # every neuron active
    return 4 * min(most, bernstein_mean(np.concatenate(parts), most, CONFIDENCE).high)


def checked_inputs(x: Num[np.ndarray, "..."], n: int) -> Float[np.ndarray, "rows n"]:
    """The inputs to average over; refuses what is not rows of signs, as long as the network's."""
    rows = np.asarray(x, np.float64)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(
            f"activity_bound: x has one row per input, at least one; its shape is {rows.shape}."
        )
    if rows.shape[1] != n:
        raise ValueError(
            f"activity_bound: the network reads {n} bits; the rows of x have {rows.shape[1]}."
        )
    if not (np.abs(rows) == 1).all():
        worst = rows[np.abs(rows) != 1][0]
        raise ValueError(f"activity_bound: the entries of x are bits, +1 or -1; one is {worst:g}.")
    return rows


def activity_degree(
    model: object,
    params: TwoLayers,
    epsilon: float,
    x: Num[np.ndarray, "rows n"] | None = None,
) -> int:
    r"""A degree beyond which the squares of all Fourier coefficients sum to at most `epsilon`.

    $(d + 1) \sum_{|T| > d} \hat h(T)^2 \le \mathrm{AS}(h)$, so a degree of the bound over
    $\epsilon$, less one, is enough; never more than $n$.
    """
    checks.number("activity_degree", "epsilon", epsilon, low=1e-300, what="is a square error")
    bound = activity_bound(model, params, x)
    n = len(np.asarray(params.layers[0][0]))
    return min(n, max(0, math.ceil(bound / epsilon) - 1))


def squares(
    weight: Float[np.ndarray, "n s"],
    bias: Float[np.ndarray, " s"],
    sizes: Float[np.ndarray, "n s"],
    x: Float[np.ndarray, "rows n"],
) -> Float[np.ndarray, " rows"]:
    r"""$\sum_i a_i(x)^2$ at each row."""
    return ((is_active(weight, bias, x) @ sizes.T) ** 2).sum(axis=1)


def rectifiers(model: object, params: TwoLayers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hidden weights, hidden biases and outer weights; refuses what the proof is not about."""
    name = checks.shown(model)
    activation = getattr(model, "activation", None)
    if activation != "relu":
        raise ValueError(
            f"activity_bound: the network has a hidden layer of rectifiers; {name} has "
            f"activation {activation!r}."
        )
    if len(params.layers) != 2:
        raise ValueError(
            f"activity_bound: the network has one hidden layer; {name} has "
            f"{len(params.layers) - 1}."
        )
    if any(len(layer) != 2 for layer in params.layers):
        raise ValueError(
            f"activity_bound: each layer is a weight and a bias, as of an MLP; {name} has others."
        )
    (weight, bias), (outer, _) = params.layers
    outer = np.asarray(outer, np.float64)
    if outer.ndim != 2 or outer.shape[1] != 1:
        raise ValueError(f"activity_bound: the network has one output; its shape is {outer.shape}.")
    hidden = np.asarray(weight, np.float64)
    shift = np.zeros(hidden.shape[1]) if bias is None else np.asarray(bias, np.float64)
    return hidden, shift, outer[:, 0]
