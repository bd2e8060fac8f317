r"""The transformer of the capacity bounds, on embedded bits.

With tokens $X \in \mathbb{R}^{(T+1) \times d}$, the last of which is the constant [CLS] (see
`bit_embedding`), a head is

$$f_h(X) = \sigma\big(W_V^\top X^\top \operatorname{softmax}(X W_K W_Q^\top x_{[CLS]})\big),$$

the softmax over all $T + 1$ tokens and without $1/\sqrt k$; there are no residuals, no masks and no
biases. Heads have weights of their own and are summed, each through its own $W_C$. The kinds:

* "head": $\sum_h W_C^\top f_h$, a vector; without $W_C$ where the parameters have none;
* "scalar": $w^\top \sum_h W_C^\top f_h$;
* "mlp": $((y^\top W_1)_+ W_2)_+ w$ of that vector $y$, biases by an appended 1 in $W_1$ and $W_2$;
* "block": `layers` of them, $Z \mapsto \Pi(\sum_h \sigma(\Pi(f_h(Z))) W_C)$ for all tokens, then
  $w^\top z_{[CLS]}$. $\Pi$ projects onto the unit ball: the theory's stand-in for LayerNorm, which
  is not a contraction. Tokens are projected as well, since the bounds want norms of at most 1.

[CLS] needs no parameters: through $W_Q$ its fixed axis gives any query. `apply` is JAX on one
example; `evaluate` is the same formula in NumPy on many, in the precision of the parameters, where
weights set by hand are exact.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Num, PRNGKeyArray

from elegans import checks
from elegans.fields import configuration
from elegans.models.transformers.bit_embedding import INPUTS, VECTORS, smallest_dim
from elegans.models.transformers.bounded_forward import (
    AttentionLayer,
    AttentionTrace,
    BoundedParams,
    Feedforward,
    forward,
)

KINDS = ("head", "scalar", "mlp", "block")
# Lipschitz constants; all are 0 at 0, which is why the sigmoid is not among them.
ACTIVATIONS = {"identity": 1.0, "relu": 1.0, "gelu": 1.128904145}


@configuration
class BoundedTransformer:
    """One of the four networks above; widths that are None follow from the input.

    Attributes:
        dim: Width $d$ of the tokens; None is the least in which positions are axes.
        key_width: Width $k$ of a head; None is `dim / heads`, which is then an integer.
        hidden: Widths of the two hidden layers of kind "mlp".
        activation: $\\sigma$: "identity", "relu" or "gelu" (with the error function).
        inputs: The map from bits to tokens: "positions", "trained" or "bag".
        symbols: Number of different inputs; two are bits.
        vectors: Of the positions: "axes", or random "signs" in any number of dimensions.
        seed: Of the signs.
        scale: Weights are normal numbers of variance `scale**2 / fan-in` at first.
    """

    kind: str = "scalar"
    layers: int = 1
    heads: int = 1
    dim: int | None = None
    key_width: int | None = None
    hidden: tuple[int, int] = (32, 16)
    activation: str = "identity"
    inputs: str = "positions"
    symbols: int = 2
    vectors: str = "axes"
    seed: int = 0
    scale: float = 1.0

    def __post_init__(self) -> None:
        checks.choice(self, "kind", self.kind, KINDS)
        checks.choice(self, "activation", self.activation, list(ACTIVATIONS))
        checks.choice(self, "inputs", self.inputs, INPUTS)
        checks.choice(self, "vectors", self.vectors, VECTORS)
        most = None if self.kind == "block" else 1
        checks.whole(self, "layers", self.layers, low=1, high=most, what="counts the layers")
        checks.whole(self, "heads", self.heads, low=1, what="counts the heads of a layer")
        classes = 2 if self.inputs == "bag" else None  # a vector is there or it is not
        checks.whole(
            self, "symbols", self.symbols, low=2, high=classes, what="counts different inputs"
        )
        checks.number(self, "scale", self.scale, low=0.0, what="multiplies the weights")
        if self.dim is not None:
            low = smallest_dim(self.inputs, self.symbols, 1)
            checks.whole(self, "dim", self.dim, low=low, what="counts the numbers of a token")
        if self.key_width is not None:
            checks.whole(self, "key_width", self.key_width, low=1, what="is the width of a head")
        for width in self.hidden:
            checks.whole(self, "hidden", width, low=1, what="counts neurons of two layers")
        if self.dim is not None:
            self.widths(1)

    def check(self, task: Any) -> None:
        """Refuses a task that has no bits, or whose label is not one number."""
        if not hasattr(task, "features"):
            raise ValueError(
                f"{checks.shown(self)}: reads bits, and {checks.shown(task)} has none."
            )
        if getattr(task, "classes", None) is not None:
            raise ValueError(
                f"{checks.shown(self)}: predicts one number, and {checks.shown(task)} has "
                f"{task.classes} classes."
            )
        self.widths(task.features)

    def widths(self, T: int) -> tuple[int, int]:
        """The widths of a token and of a head, on `T` inputs."""
        low = smallest_dim(self.inputs, self.symbols, T if self.vectors == "axes" else 1)
        dim = low if self.dim is None else self.dim
        if dim < low:
            raise ValueError(
                f"{checks.shown(self)}: {T} positions on axes of their own need dim of {low} or "
                f'more; got {dim}. Use vectors="signs".'
            )
        if self.key_width is None and dim % self.heads:
            raise ValueError(
                f"{checks.shown(self)}: without a key_width the heads share the {dim} numbers of a "
                f"token, so heads divides dim; {dim % self.heads} left."
            )
        return dim, self.key_width or dim // self.heads

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant of the activation."""
        return ACTIVATIONS[self.activation]

    def init_params(self, key: PRNGKeyArray, task: Any) -> BoundedParams:
        """Normal weights for inputs of the task's length."""
        self.check(task)
        T = task.features
        dim, width = self.widths(T)
        keys = iter(jr.split(key, 4 + 4 * self.layers))

        def normal(*shape: int) -> Float[Array, "..."]:
            return self.scale / math.sqrt(shape[-2]) * jr.normal(next(keys), shape)

        layers = tuple(
            AttentionLayer(
                query=normal(self.heads, dim, width),
                key=normal(self.heads, dim, width),
                value=normal(self.heads, dim, width),
                output=None if self.kind == "head" else normal(self.heads, width, dim),
            )
            for _ in range(self.layers)
        )
        wide, narrow = self.hidden
        is_mlp = self.kind == "mlp"
        last = narrow if is_mlp else dim
        return BoundedParams(
            positions=normal(T, dim) if self.inputs == "trained" else None,
            layers=layers,
            feedforward=Feedforward(normal(dim + 1, wide), normal(wide + 1, narrow))
            if is_mlp
            else None,
            readout=None if self.kind == "head" else normal(last, 1)[:, 0],
        )

    def apply(
        self, params: BoundedParams, x: Num[Array, " T"], key: PRNGKeyArray | None = None
    ) -> Float[Array, "..."]:
        """The output at one example: a number, or a vector for kind "head"."""
        return self.trace(params, x).output

    def trace(self, params: BoundedParams, x: Num[Array, " T"]) -> AttentionTrace:
        """The output at one example, and the attention of [CLS]: (layers, heads, T + 1)."""
        return forward(self, jnp, jax.tree.map(jnp.asarray, params), x)

    def evaluate(
        self, params: BoundedParams, x: Num[np.ndarray, "rows T"]
    ) -> Float[np.ndarray, "rows ..."]:
        """The outputs at many examples in NumPy, in the precision of the parameters."""
        return forward(self, np, jax.tree.map(np.asarray, params), x).output

    def attention_weights(self, params: BoundedParams) -> tuple[AttentionLayer, ...]:
        """The weights of all heads, such that scores are plain inner products."""
        return params.layers

    def token_norm(self, params: BoundedParams) -> float:
        """The largest norm of a token."""
        if self.inputs == "bag":
            return 1.0
        if params.positions is None:
            norm = math.sqrt(2.0)
        else:
            positions = np.asarray(params.positions, dtype=np.float64)
            symbols = np.eye(positions.shape[1])[1 : 1 + self.symbols]
            norm = float(np.linalg.norm(positions[:, None] + symbols, axis=-1).max())
        return 1.0 if self.kind == "block" else max(1.0, norm)

    def cls_token(self, params: BoundedParams) -> Float[np.ndarray, " dim"]:
        """The constant token whose output is read: the first axis."""
        return np.eye(1, params.layers[0].query.shape[1])[0]

    def readout_norm(self, params: BoundedParams) -> float:
        """The Lipschitz constant of what follows the heads: 1 if they are the output."""
        matrices = [] if params.readout is None else [np.asarray(params.readout)[:, None]]
        if params.feedforward is not None:
            matrices += [np.asarray(weight)[:-1] for weight in params.feedforward]
        return float(np.prod([np.linalg.norm(matrix, 2) for matrix in matrices]))
