r"""A network of one hidden layer that reads a pair of elements through two embeddings.

$$f(a, b)[c] = \sum_i \sigma(u_i[a] + v_i[b])\,w_i[c],$$

without biases, $\sigma$ a square or a rectifier. It is homogeneous, $f(s\theta) = s^\nu f(\theta)$,
and a sum over neurons, so that its margin is taken at $\|\theta\|_{2,\nu} = (\sum_i
\|\omega_i\|_2^\nu)^{1/\nu} = 1$, where $\omega_i$ is *all* weights of neuron $i$.

Weights have shape (fan-in, fan-out), so column $i$ of `u` and `v` and row $i$ of `w` are neuron
$i$. Only operators of arrays are used: NumPy parameters in float64 give predictions in float64.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from elegans import checks
from elegans.fields import configuration

Values = Float[Array, "..."] | Float[np.ndarray, "..."] | np.floating
Pair = Int[Array, "2"] | Int[np.ndarray, "2"]
HOMOGENEITY = {"square": 3, "relu": 2}


@runtime_checkable
class PairTask(Protocol):
    """What a network of two embeddings reads: pairs of numbers below `classes`."""

    @property
    def classes(self) -> int:
        """The number of elements."""


class Embeddings(NamedTuple):
    """The parameters of a `TwoEmbedding`."""

    u: Float[Array, "n width"] | Float[np.ndarray, "n width"]
    v: Float[Array, "n width"] | Float[np.ndarray, "n width"]
    w: Float[Array, "width n"] | Float[np.ndarray, "width n"]


@configuration
class UniformEmbeddings:
    r"""Uniform weights: $u, v$ on $\pm s/\sqrt{2n}$ and $w$ on $\pm s/\sqrt{\text{width}}$.

    At `scale` $s = 1$ that is PyTorch's default for linear layers that read two one-hot vectors.
    The thesis does not say how its networks are initialised.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.number(self, "scale", self.scale, low=0, what="multiplies the weights")

    def __call__(self, key: PRNGKeyArray, model: "TwoEmbedding", task: PairTask) -> Embeddings:
        """The parameters at the start."""
        n, m = task.classes, model.width
        values = self.scale * jr.uniform(key, (3, n, m), minval=-1.0, maxval=1.0)
        inner, outer = math.sqrt(1 / (2 * n)), math.sqrt(1 / m)
        return Embeddings(values[0] * inner, values[1] * inner, values[2].T * outer)


@configuration
class TwoEmbedding:
    """Two embeddings, added, an activation ("square" or "relu"), and a linear readout.

    Attributes:
        width: The number of neurons.
        activation: "square", for which maximum margins are known, or "relu".
        init: Called as `init(key, model, task)`.
    """

    width: int
    activation: str = "square"
    init: Callable[..., Embeddings] = UniformEmbeddings()

    def __post_init__(self) -> None:
        checks.whole(self, "width", self.width, low=1, what="counts the neurons")
        checks.choice(self, "activation", self.activation, tuple(HOMOGENEITY))

    @property
    def homogeneity(self) -> int:
        r"""The degree $\nu$ in which predictions grow with the parameters."""
        return HOMOGENEITY[self.activation]

    def check(self, task: object) -> None:
        """Refuses a task that is not of pairs with a class each."""
        if not isinstance(getattr(task, "classes", None), int) or hasattr(task, "features"):
            raise ValueError(
                f"{checks.shown(self)}: reads pairs of elements and predicts one of `classes`, "
                f"as in GroupOperation(Cyclic(71)); got {task}."
            )

    def init_params(self, key: PRNGKeyArray, task: PairTask) -> Embeddings:
        """The parameters at the start."""
        self.check(task)
        return self.init(key, self, task)

    def apply(self, params: Embeddings, x: Pair) -> Values:
        """The logits at one pair of elements."""
        return self._activated(params.u[x[0]] + params.v[x[1]]) @ params.w

    def apply_population(self, params: Embeddings) -> Values:
        """The logits at all pairs, in row-major order, by one broadcast sum and one product."""
        hidden = self._activated(params.u[:, None, :] + params.v[None, :, :])
        return hidden.reshape(-1, hidden.shape[-1]) @ params.w

    def neurons(self, params: Embeddings) -> Values:
        """One row per neuron with all of its weights: u, then v, then w."""
        concatenate = np.concatenate if isinstance(params.w, np.ndarray) else jnp.concatenate
        return concatenate([params.u.T, params.v.T, params.w], axis=1)

    def _activated(self, z: Values) -> Values:
        # A product with the mask and not `maximum`, so that NumPy arrays stay what they are.
        return z * z if self.activation == "square" else z * (z > 0)
