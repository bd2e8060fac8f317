"""The same quantities in plain NumPy, with no code shared with the library."""

import numpy as np


def walsh(n: int) -> np.ndarray:
    """The characters of all subsets at all inputs, row T and column x, both as bit masks."""
    masks = np.arange(2**n)
    common = np.bitwise_count(masks[:, None] & masks[None, :]).astype(int)
    return (1 - 2 * (common % 2)).astype(float)


def mlp(params, x: np.ndarray) -> np.ndarray:
    """The predictions of a ReLU network with one output, in double precision."""
    h = np.asarray(x, float)
    for weight, bias in params[:-1]:
        h = np.maximum(h @ weight + bias, 0)
    weight, bias = params[-1]
    return (h @ weight + bias)[:, 0]


def hinge_gradient(params, x: np.ndarray, y: np.ndarray):
    """The gradient of the mean hinge loss of a network with one hidden layer, by hand."""
    (w, b), (u, c) = params
    z = x @ w + b
    h = np.maximum(z, 0)
    f = h @ u[:, 0] + c[0]
    g = np.where(y * f < 1, -y, 0.0) / len(y)
    d = (z > 0) * np.outer(g, u[:, 0])
    return [(x.T @ d, d.sum(0)), ((h.T @ g)[:, None], np.array([g.sum()]))]
