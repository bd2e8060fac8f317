r"""The minimal model of statistical induction heads (thesis, equation 8.8).

$$f(E) = \operatorname{mask}\left(E W_k (M E)^\top\right) E, \qquad M_{ts} = v_{t-s+1}
\text{ for } s \le t,$$

for the one-hot sequence $E$: $v$ stands for the first layer's positions, $W_k$ for the second
layer's attention. The logit of state $i$ at position $p$ is

$$f_{p,i} = \sum_{t \le p} [x_t = i] \; W_k[x_p, :] \cdot (ME)_t,$$

a running sum over $t$ of $k \times k$ products, so no pair of positions is ever formed. (Indices of
`position` start at zero: `position[j]` is $v_{j+1}$, the weight of the token $j$ back.)
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from elegans import checks
from elegans.descriptions import token_sizes
from elegans.fields import Number, configuration
from elegans.models.transformers.kernels import toeplitz
from elegans.protocols import Init, check_init


class Induction(NamedTuple):
    """Parameters of the minimal model: $W_k$ and $v$."""

    weight: Float[Array, "states states"]
    position: Float[Array, " length"]


class InductionTrace(NamedTuple):
    """A forward pass: logits, and the (unnormalised) attention of the two layers."""

    logits: Float[Array, "length states"]
    first: Float[Array, "length length"]
    second: Float[Array, "length length"]


@configuration
class MinimalInduction:
    r"""Equation 8.8, started at constants: $W_k = w 11^\top$ and $v = c 1$.

    The proofs start with both at a small $c$ (Lemma 8.4); the experiments of Figure 8.3 with
    `weight` at zero and a constant `position`. Another `init` takes the place of both.
    """

    weight: Number = 0.0
    position: Number = 0.01
    init: Init | None = None

    def __post_init__(self) -> None:
        checks.number(self, "weight", self.weight, what="is where the entries of W start")
        checks.number(self, "position", self.position, what="is where the entries of v start")

    def check(self, task: Any) -> None:
        """Refuses a task that has no sequences of tokens."""
        token_sizes(self, task)
        check_init(self, task)

    @property
    def body(self) -> "MinimalInduction":
        """What predictions depend on: the model however it starts."""
        return MinimalInduction()

    def init_params(self, key: PRNGKeyArray, task: Any) -> Induction:
        """Constants, which need no `key`, or what `init` draws."""
        if self.init is not None:
            return self.init(key, self, task)
        states, length = token_sizes(self, task)
        return Induction(
            jnp.full((states, states), self.weight, jnp.float32),
            jnp.full(length, self.position, jnp.float32),
        )

    def apply(self, params: Induction, x: Int[Array, " length"]) -> Float[Array, "length states"]:
        """The logits of the next token at each position."""
        return self.trace(params, x).logits

    def trace(self, params: Induction, x: Int[Array, " length"]) -> InductionTrace:
        """The forward pass at one sequence, attention included."""
        tokens = jax.nn.one_hot(x, params.weight.shape[0], axis=0)
        first = toeplitz(params.position, 0.0)
        attended = jnp.einsum("ts,ms->mt", first, tokens)
        pairs = jnp.cumsum(tokens[:, None, :] * attended[None, :, :], axis=2)
        asked = params.weight.T @ tokens
        logits = jnp.sum(pairs * asked[None, :, :], axis=1)
        return InductionTrace(logits.T, first, jnp.tril(asked.T @ attended))
