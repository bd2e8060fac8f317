r"""A network of one hidden layer of powers, with two outputs, of the theorem on parities.

$$f(x) = \sum_i (u_i \cdot x)^k\,w_i, \qquad w_i \in \mathbb{R}^2,$$

without biases. It is homogeneous of degree $k + 1$, and its margin is taken at
$\|\theta\|_{2,k+1} = 1$, over all weights $(u_i, w_i)$ of each neuron. Weights have shape (fan-in,
fan-out). Only operators of arrays are used: NumPy parameters in float64 give float64 predictions.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks
from elegans.fields import configuration

Values = Float[Array, "..."] | Float[np.ndarray, "..."] | np.floating
Vector = Float[Array, " n"] | Float[np.ndarray, " n"]


@runtime_checkable
class VectorTask(Protocol):
    """What a network of powers reads: vectors of length `features`."""

    @property
    def features(self) -> int:
        """The length of an input."""


class Powers(NamedTuple):
    """The parameters of a `PowerNetwork`."""

    u: Float[Array, "n width"] | Float[np.ndarray, "n width"]
    w: Float[Array, "width 2"] | Float[np.ndarray, "width 2"]


@configuration
class UniformPowers:
    r"""Uniform weights: $u$ on $\pm s/\sqrt n$ and $w$ on $\pm s/\sqrt{\text{width}}$."""

    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.number(self, "scale", self.scale, low=0, what="multiplies the weights")

    def __call__(self, key: PRNGKeyArray, model: "PowerNetwork", task: VectorTask) -> Powers:
        """The parameters at the start."""
        n, m = task.features, model.width
        values = self.scale * jr.uniform(key, (n + 2, m), minval=-1.0, maxval=1.0)
        return Powers(values[:n] * math.sqrt(1 / n), values[n:].T * math.sqrt(1 / m))


@configuration
class PowerNetwork:
    r"""Two outputs that are sums of $k$-th powers of linear forms, $k$ the `degree`.

    Labels are signs, the first output being that of $+1$. The prediction is the difference of the
    two, the log odds: the logistic loss of it is the cross-entropy of the two outputs. Both columns
    of `w` are kept because the norm counts both.

    Attributes:
        width: The number of neurons.
        degree: The power $k$.
        init: Called as `init(key, model, task)`.
    """

    width: int
    degree: int
    init: Callable[..., Powers] = UniformPowers()

    def __post_init__(self) -> None:
        checks.whole(self, "width", self.width, low=1, what="counts the neurons")
        checks.whole(self, "degree", self.degree, low=1, what="is the power of a linear form")

    @property
    def homogeneity(self) -> int:
        r"""The degree $\nu = k + 1$ in which predictions grow with the parameters."""
        return self.degree + 1

    def check(self, task: object) -> None:
        """Refuses a task that is not of vectors with signs as labels."""
        if not hasattr(task, "features") or getattr(task, "classes", None) is not None:
            raise ValueError(
                f"{checks.shown(self)}: reads vectors and predicts signs, as in Parity(n=10, k=4); "
                f"got {task}."
            )

    def init_params(self, key: PRNGKeyArray, task: VectorTask) -> Powers:
        """The parameters at the start."""
        self.check(task)
        return self.init(key, self, task)

    def outputs(self, params: Powers, x: Vector) -> Values:
        """The two outputs at one vector."""
        return (x @ params.u) ** self.degree @ params.w

    def apply(self, params: Powers, x: Vector) -> Values:
        """The log odds of the label +1 at one vector."""
        return (x @ params.u) ** self.degree @ (params.w[:, 0] - params.w[:, 1])

    def neurons(self, params: Powers) -> Values:
        """One row per neuron with all of its weights: u, then w."""
        concatenate = np.concatenate if isinstance(params.w, np.ndarray) else jnp.concatenate
        return concatenate([params.u.T, params.w], axis=1)
