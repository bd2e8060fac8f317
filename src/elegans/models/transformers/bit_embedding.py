r"""Bits as vectors: the input maps under which the theory of attention is stated.

A string of $T$ symbols becomes $T$ tokens in $\mathbb{R}^d$, and the constant token $v_{[CLS]}$
comes after them. With unit vectors $v_t$ for positions and $E_j$ for symbols, token $t$ is

* "positions": $v_t + E_{b_t}$ with fixed $v_t$,
* "trained": $P_t + E_{b_t}$, where $P$ is a parameter,
* "bag": $b_t v_t$, two symbols only: a token that is not there is zero, and the order of the rows
  does not matter (the matrix is $\operatorname{diag}(b) V$; printed are $V \operatorname{diag}(b)$
  and $V + \operatorname{diag}(b)$, which have the wrong shape).

$v_{[CLS]}$ is the first axis and the $E_j$ are the next ones: the (2,1) norms of the capacity
bounds depend on the basis, and are smallest where the query is an axis. The $v_t$ are axes as well,
or random "signs" under a fixed seed, with inner products of up to about $2 \sqrt{\ln T / d}$: fewer
than $T$ dimensions are enough for them, though at small $T$ they need more.

Bits are $\pm 1$ with $-1$ for the symbol 1 ("true"); of more than two symbols, inputs are the
numbers $0, \dots, M - 1$.
"""

from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float

INPUTS = ("positions", "trained", "bag")
VECTORS = ("axes", "signs")


def first_position_axis(inputs: str, symbols: int) -> int:
    """The axis after those of [CLS] and of the symbols."""
    return 1 if inputs == "bag" else 1 + symbols


def smallest_dim(inputs: str, symbols: int, T: int) -> int:
    """The width at which positions are axes; trained positions need one axis only."""
    return first_position_axis(inputs, symbols) + (1 if inputs == "trained" else T)


@lru_cache(maxsize=8)
def position_vectors(
    inputs: str, symbols: int, dim: int, T: int, vectors: str, seed: int
) -> Float[np.ndarray, "T dim"]:
    """The fixed vectors $v_t$ of norm one: axes, or random signs."""
    first = first_position_axis(inputs, symbols)
    rows = np.zeros((T, dim))
    if vectors == "axes":
        rows[np.arange(T), first + np.arange(T)] = 1.0
    else:
        generator = np.random.default_rng([seed, T, dim])
        signs = generator.integers(0, 2, (T, dim - first)) * 2.0 - 1.0
        rows[:, first:] = signs / np.sqrt(dim - first)
    rows.flags.writeable = False  # shared by all callers
    return rows


def symbols_of(xp: ModuleType, x: Any, symbols: int) -> Any:
    """The symbols' numbers: of two symbols, 1 where a bit is -1."""
    return xp.where(x < 0, 1, 0) if symbols == 2 else x


def tokens_through(
    xp: ModuleType,
    x: Any,
    weight: Any,
    *,
    inputs: str,
    symbols: int,
    vectors: str,
    seed: int,
    positions: Any,
) -> Any:
    """All tokens times a weight of shape (heads, dim, columns): (..., heads, T + 1, columns).

    The tokens are not written out: at T positions on T axes the product with the positions is a
    slice of the weight. `xp` is NumPy or `jax.numpy`.
    """
    T, dim = x.shape[-1], weight.shape[-2]
    first = first_position_axis(inputs, symbols)
    if inputs == "trained":
        places = positions @ weight
    elif vectors == "axes":
        places = weight[:, first : first + T]
    else:
        places = xp.asarray(position_vectors(inputs, symbols, dim, T, vectors, seed)) @ weight
    numbers = symbols_of(xp, x, symbols)[..., None, :, None]
    if inputs == "bag":
        tokens = numbers * places
    else:
        is_symbol = xp.where(numbers == xp.arange(symbols), 1.0, 0.0)
        tokens = places + is_symbol @ weight[:, 1 : 1 + symbols]
    cls = xp.broadcast_to(weight[:, :1], (*tokens.shape[:-2], 1, tokens.shape[-1]))
    return xp.concatenate([tokens, cls], axis=-2)
