r"""Uniform doubly stochastic matrices: points of the Birkhoff polytope $B_k$.

The upper left $(k-1) \times (k-1)$ block $T$ determines the matrix linearly, so "uniform" is
uniform in $T$: over the blocks with row sums and column sums at most 1 and total at least $k - 2$.

* $k = 2$: $T$ is one number in $[0, 1]$, drawn directly.
* $3 \le k \le 5$: rejection. The rows of $T$ are drawn uniformly from
  $\{r \ge 0, \sum_j r_j \le 1\}$, that is, as the first $k - 1$ of $k$ coordinates of a uniform
  point of the simplex, and kept if the other constraints hold. What is kept is exactly uniform, as
  it always is when a uniform law is conditioned. The chance to be kept is
  $\mathrm{vol}(B_k)\,(k-1)!^{\,k-1}$ = 1/2, 0.21 and 0.075 for $k = 3, 4, 5$.
* $k \ge 6$: that chance is below 0.024, so a Gibbs sampler instead. A move picks two rows and two
  columns and adds $\pm t$ to the four entries where they meet, which keeps all sums; $t$ is uniform
  on the interval that keeps the entries non-negative. This is coordinate hit-and-run: the uniform
  law is stationary for each move, and the moves span the polytope's directions, so it is the only
  stationary one. `SWEEPS` $\cdot k^2$ moves start at a random permutation matrix mixed evenly with
  the centre; the law is uniform up to mixing.
"""

from functools import partial

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, PRNGKeyArray

REJECTION_MAX = 5  # states
SWEEPS = 16


@partial(jax.jit, static_argnames=("size", "states"))
def doubly_stochastic(
    key: PRNGKeyArray, size: int, states: int
) -> Float[Array, "size states states"]:
    """Draws `size` independent uniform doubly stochastic matrices."""
    if states == 2:
        return completed(jr.uniform(key, (size, 1, 1)))
    if states <= REJECTION_MAX:
        return by_rejection(key, size, states)
    return jax.vmap(lambda k: by_gibbs(k, states))(jr.split(key, size))


def completed(block: Float[Array, "*batch n n"]) -> Float[Array, "*batch n+1 n+1"]:
    """The matrix with unit row and column sums whose upper left block is given."""
    wide = jnp.concatenate([block, 1 - jnp.sum(block, axis=-1, keepdims=True)], axis=-1)
    return jnp.concatenate([wide, 1 - jnp.sum(wide, axis=-2, keepdims=True)], axis=-2)


def by_rejection(key: PRNGKeyArray, size: int, states: int) -> Float[Array, "size states states"]:
    """Draws blocks with uniform rows until every one of `size` fits into a matrix."""
    State = tuple[PRNGKeyArray, Bool[Array, " size"], Float[Array, "size states states"]]

    def propose(state: State) -> State:
        key, is_done, matrices = state
        key, draw = jr.split(key)
        rows = jr.exponential(draw, (size, states - 1, states))
        rows = rows / jnp.sum(rows, axis=-1, keepdims=True)
        fresh = completed(rows[..., :-1])
        fits = jnp.all(fresh[:, -1] >= 0, axis=-1)
        return (
            key,
            is_done | fits,
            jnp.where((fits & ~is_done)[:, None, None], fresh, matrices),
        )

    start = (key, jnp.zeros(size, bool), jnp.zeros((size, states, states)))
    return jax.lax.while_loop(lambda state: ~jnp.all(state[1]), propose, start)[2]


def by_gibbs(key: PRNGKeyArray, states: int) -> Float[Array, "states states"]:
    """One matrix after `SWEEPS * states**2` coordinate moves."""
    first, moves = jr.split(key)
    corner = jnp.eye(states)[jr.permutation(first, states)]
    centre = jnp.full((states, states), 1 / states)

    def move(matrix: Array, key: PRNGKeyArray) -> tuple[Array, None]:
        rows_key, columns_key, step_key = jr.split(key, 3)
        i = jr.choice(rows_key, states, (2,), replace=False)
        j = jr.choice(columns_key, states, (2,), replace=False)
        up = jnp.minimum(matrix[i[0], j[1]], matrix[i[1], j[0]])
        down = jnp.minimum(matrix[i[0], j[0]], matrix[i[1], j[1]])
        t = jr.uniform(step_key, minval=-down, maxval=up)
        signs = jnp.array([[1.0, -1.0], [-1.0, 1.0]])
        return jnp.maximum(matrix.at[i[:, None], j[None, :]].add(t * signs), 0.0), None

    keys = jr.split(moves, SWEEPS * states**2)
    return jax.lax.scan(move, (corner + centre) / 2, keys)[0]
