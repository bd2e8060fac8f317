r"""A network of rectifiers that memorises points and is constant around each of them.

Points $x_1, \dots, x_n \in \mathbb{R}^f$ have pairwise distances of at least $4\delta$ in the
maximum norm, $\delta \le 1$. The first layer has four neurons per point and coordinate,
$(u+2)_+, (u+1)_+, (u-1)_+, (u-2)_+$ with $u = (x_j - x_{ij})/\delta$, which combined with signs
$+, -, -, +$ are a bump: 1 for $|u| \le 1$ and 0 for $|u| \ge 2$. The second layer tests whether all
bumps of point $i$ are 1: $\big(1 + \frac{\Sigma - f}{\delta}\big)_+ -
\big(\frac{\Sigma - f}{\delta}\big)_+$ for their sum $\Sigma$, where $\delta \le 1$ makes a missing
bump cost 1 or more. The output is exactly the value of point $i$ on its whole $\delta$-box.

In print (lemma A.25) neurons 3 and 4 are $(2-u)_+$ and $(1-u)_+$, whose combination is 0 at the
centre and $\pm 1$ far away, and $\delta \le 1$ is missing. The bound $\max(1, B)/\delta$ on the
first weights leaves out the biases, which reach $B/\delta + 2$.
"""

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.models.transformers.bounded_forward import Feedforward

BUMP = np.array([1.0, -1.0, -1.0, 1.0])
SHIFTS = np.array([2.0, 1.0, -1.0, -2.0])
ROUNDING = 1e-9  # relative; points at distance 4 delta exactly are what the theory has


def memoriser(
    points: Float[np.ndarray, "n f"],
    values: Float[np.ndarray, " n"],
    delta: float,
    *,
    dim: int | None = None,
    printed: bool = False,
) -> tuple[Feedforward, Float[np.ndarray, " last"]]:
    """Two layers and a readout that are `values[i]` on the delta-box around `points[i]`.

    Args:
        points: To be told apart.
        values: One per point.
        delta: Half the width of the boxes.
        dim: Width of the input, whose first coordinates are read; None reads all of it.
        printed: With the neurons as printed, which are wrong.
    """
    n, f = points.shape
    owner = f"memoriser of {n} points"
    dim = f if dim is None else dim
    checks.whole(
        owner, "dim", dim, low=f, what=f"is the width of an input that has {f} coordinates"
    )
    check_separation(owner, points, delta)
    # Axes of the first layer: neuron, point, coordinate.
    first = np.zeros((dim + 1, 4, n, f))
    signs = np.array([1.0, 1.0, -1.0, -1.0]) if printed else np.ones(4)
    shifts = np.array([2.0, 1.0, 2.0, 1.0]) if printed else SHIFTS
    for j in range(f):
        first[j, :, :, j] = signs[:, None] / delta
    first[-1] = shifts[:, None, None] - signs[:, None, None] * points / delta
    second = np.zeros((4, n, f, 2, n))
    for i in range(n):
        second[:, i, :, :, i] = BUMP[:, None, None] / delta
    bias = np.stack([np.full(n, 1 - f / delta), np.full(n, -f / delta)]).reshape(1, -1)
    layers = Feedforward(
        first.reshape(dim + 1, -1), np.concatenate([second.reshape(4 * n * f, -1), bias])
    )
    return layers, np.concatenate([values, -values])


def check_separation(owner: str, points: Float[np.ndarray, "n f"], delta: float) -> None:
    """Refuses boxes that are too large for the distances of the points."""
    checks.number(owner, "delta", delta, low=0.0, high=1.0, what="is half the width of a box")
    if delta == 0:
        raise ValueError(f"{owner}: delta is half the width of a box, so it is positive; got 0.")
    for i, point in enumerate(points[1:], start=1):
        closest = float(np.abs(points[:i] - point).max(axis=1).min())
        if closest < 4 * delta * (1 - ROUNDING):
            raise ValueError(
                f"{owner}: points are at least 4 * delta = {4 * delta:g} apart; point {i} has one "
                f"at distance {closest:g}."
            )
