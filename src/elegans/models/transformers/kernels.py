r"""Causal attention over a residual stream in factored form.

The stream at position $i$ is $z_i = \varphi_i G$: *features* $\varphi_i$, which belong to the
sequence, times a *basis* $G$, which belongs to the parameters. One head with
$q_i = z_i W_Q$, keys $z_j W_K$ and relative positions $p_{i-j}$ (equation 8.5) scores

$$A_{ij} = \varphi_i S \varphi_j^\top + (\varphi_i R)_{i-j}, \qquad
S = \tfrac{1}{\sqrt d} (G W_Q)(G W_K)^\top, \quad R = \tfrac{1}{\sqrt d} (G W_Q) p^\top,$$

and what it passes on is $\sum_j \operatorname{softmax}(A_i)_j \varphi_j$, again features. So a
sequence enters through as many numbers a position as it has features: one-hot tokens at the start,
where queries and keys take only as many values as there are states, and a few more in later layers.
Two kernels use this, and agree wherever both apply:

* `token_attention`, for one-hot features, needs no score of a pair: $e^{A_{ij}}$ is
  $e^{S_{x_i x_j}} e^{R_{x_i, i-j}}$, so a sum over $j$ is a convolution;
* `feature_attention`, for any features, works through the lower triangle in blocks of queries.

Arrays are feature by position. A product with a matrix of pairs takes two to three times as long in
one order of its operands as in another, on a CPU under `vmap`, and the order that JAX derives for a
gradient is often the slow one: `between` and `along` write theirs out. So they have no forward-mode
derivative.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

BLOCK = 32  # queries scored together: shorter wastes calls, longer wastes the upper triangle
MASKED = -1e30  # a score that is zero after exp, with no infinity to become NaN in a gradient


class Mixed(NamedTuple):
    """What a head passes on, and how it attended. What is not used is not computed, under `jit`."""

    features: Float[Array, "rank length"]
    attention: Float[Array, "length length"]


def toeplitz(row: Float[Array, "*batch length"], fill: float) -> Float[Array, "*batch n n"]:
    """The matrices with `row[i - j]` at (i, j) on and below the diagonal, and `fill` above.

    A tiled row, cut one entry short of its period, shifts by one from line to line: slices and
    reshapes alone, whose gradients are sums, where a gather's gradient would be a slow scatter.
    """
    *batch, length = row.shape
    period = 2 * length
    above = jnp.full((*batch, length), fill, row.dtype)
    tile = jnp.concatenate([row[..., :1], above, row[..., :0:-1]], axis=-1)
    tiled = jnp.broadcast_to(tile[..., None, :], (*batch, length, period))
    flat = tiled.reshape(*batch, length * period)[..., : length * (period - 1)]
    return flat.reshape(*batch, length, period - 1)[..., :length]


@jax.custom_vjp
def between(left: Float[Array, "rank m"], right: Float[Array, "rank n"]) -> Float[Array, "m n"]:
    """The product of each column of `left` with each column of `right`."""
    return jnp.einsum("ri,rj->ij", left, right)


def _between_gradient(
    operands: tuple[Array, Array], slope: Float[Array, "m n"]
) -> tuple[Array, Array]:
    left, right = operands
    return jnp.einsum("ij,rj->ir", slope, right).T, jnp.einsum("ri,ij->rj", left, slope)


between.defvjp(lambda left, right: (between(left, right), (left, right)), _between_gradient)


@jax.custom_vjp
def along(weights: Float[Array, "m n"], columns: Float[Array, "rank n"]) -> Float[Array, "rank m"]:
    """The sum of the columns by each row of weights."""
    return jnp.einsum("ij,rj->ir", weights, columns).T


def _along_gradient(
    operands: tuple[Array, Array], slope: Float[Array, "rank m"]
) -> tuple[Array, Array]:
    weights, columns = operands
    return jnp.einsum("ir,rj->ij", slope.T, columns), jnp.einsum("ri,ij->rj", slope, weights)


along.defvjp(
    lambda weights, columns: (along(weights, columns), (weights, columns)), _along_gradient
)


def token_attention(
    tokens: Float[Array, "states length"],
    content: Float[Array, "states states"],
    position: Float[Array, "states length"],
) -> Mixed:
    """Attention where features are one-hot `tokens`.

    Args:
        tokens: One-hot features.
        content: $S$: the score of a key's state for each query's state.
        position: $R$: the score of each distance for each query's state.
    """
    top = jax.lax.stop_gradient(jax.lax.cummax(position, axis=1))
    near = jnp.exp(toeplitz(position, MASKED) - top[:, :, None])
    alike = jnp.exp(content - jax.lax.stop_gradient(jnp.max(content, axis=1, keepdims=True)))
    mass = jnp.einsum("aij,cj->aci", near, tokens)
    mass = jnp.einsum("ai,ac,aci->ci", tokens, alike, mass)
    total = jnp.sum(mass, axis=0)
    pairs = jnp.einsum("ai,aij->ij", tokens, near) * (tokens.T @ alike @ tokens)
    return Mixed(mass / total[None, :], pairs / total[:, None])


def feature_attention(
    features: Float[Array, "rank length"],
    queries: Float[Array, "inner length"],
    keys: Float[Array, "inner length"],
    position: Float[Array, "rank length"] | None,
) -> Mixed:
    """Attention where (i, j) scores `queries[:, i] @ keys[:, j]`, and by distance.

    Args:
        features: What is passed on.
        queries: One column a position.
        keys: One column a position.
        position: $R$: the score of each distance for each of the query's features; None is zero.
    """
    length = features.shape[1]
    near = None if position is None else jnp.swapaxes(toeplitz(position, 0.0), 0, 1)
    above = jnp.where(jnp.tril(jnp.ones((length, length), bool)), 0.0, MASKED)
    counted = jnp.concatenate([features, jnp.ones((1, length))])
    sums, attention = [], []
    for first in range(0, length, BLOCK):
        last = min(first + BLOCK, length)
        rows = slice(first, last)
        scores = between(queries[:, rows], keys[:, :last]) + above[rows, :last]
        if near is not None:
            by_distance = jnp.einsum("ir,irj->ij", features[:, rows].T, near[rows, :, :last])
            # a batch makes it one product a query, in an order that must not spread to the scores
            scores += jax.lax.optimization_barrier(by_distance)
        scores -= jax.lax.stop_gradient(jnp.max(scores, axis=1, keepdims=True))
        weights = jnp.exp(scores)
        sums.append(along(weights, counted[:, :last]))
        full = jnp.pad(weights, ((0, 0), (0, length - last)))
        attention.append(full / sums[-1][-1][:, None])
    mixed = jnp.concatenate(sums, axis=1)
    return Mixed(mixed[:-1] / mixed[-1:], jnp.concatenate(attention))
