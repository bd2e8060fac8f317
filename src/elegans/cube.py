r"""The Boolean cube: all its signs, random ones, characters, and how they are numbered.

Bits are $\pm 1$ throughout: a product is an exclusive or, and $-1$ is "true". Number $j$ stands for
the input whose coordinate $i$ is $-1$ where bit $i$ of $j$ is 1, and for the set of those
coordinates: entry $j$ of a table of values is the value at that input, entry $j$ of a spectrum
the coefficient of that set. The character of a set $T$ is $\chi_T(x) = \prod_{i \in T} x_i$.
"""

from typing import TypeVar

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from elegans.fields import Number

Signs = TypeVar("Signs", Float[np.ndarray, "..."], Float[Array, "..."])


def signs(n: int, start: int = 0, stop: int | None = None) -> Float[np.ndarray, "rows n"]:
    r"""Rows `start` to `stop` of all $2^n$ inputs, in the order of their numbers."""
    rows = np.arange(start, 2**n if stop is None else stop)
    return 1.0 - 2.0 * (rows[:, None] >> np.arange(n) & 1)


def population(n: int) -> Float[Array, "rows n"]:
    r"""All $2^n$ inputs as a JAX array, computed where it is used: no constant in a program."""
    bits = jnp.arange(2**n)[:, None] >> jnp.arange(n)[None, :] & 1
    return (1 - 2 * bits).astype(jnp.float32)


def uniform_bits(key: PRNGKeyArray, size: int, n: int) -> Float[Array, "size n"]:
    """Independent fair bits, unpacked from 32-bit words: one random bit per coordinate."""
    words = jr.bits(key, (size, -(-n // 32)), jnp.uint32)
    bits = (words[:, :, None] >> jnp.arange(32, dtype=jnp.uint32)) & 1
    return 1.0 - 2.0 * bits.reshape(size, -1)[:, :n].astype(jnp.float32)


def biased_bits(key: PRNGKeyArray, size: int, n: int, p: Number) -> Float[Array, "size n"]:
    """Independent bits, each true (that is, -1) with probability `p`."""
    return jnp.where(jr.bernoulli(key, p, (size, n)), -1.0, 1.0).astype(jnp.float32)


def drawn_signs(generator: np.random.Generator, size: int, n: int) -> Float[np.ndarray, "size n"]:
    """Independent fair bits from a NumPy generator, for theory in float64."""
    return 1.0 - 2.0 * generator.integers(0, 2, (size, n))


def relevant_bits(
    x: Float[Array, "*batch n"], support: tuple[int, ...]
) -> Float[Array, "*batch k"]:
    """The columns of `x` in `support`, as static slices: a gather is slow on a CPU."""
    return jnp.stack([x[..., i] for i in support], axis=-1)


def character(x: Signs, support: tuple[int, ...]) -> Signs:
    r"""$\chi_S$ at each row of `x`, a NumPy or a JAX array; one if $S$ is empty."""
    product = x[..., 0] ** 0
    for i in support:
        product = product * x[..., i]
    return product


def subset_sizes(n: int) -> Int[np.ndarray, " size"]:
    """The number of ones of each number below 2**n, which is the degree of its character."""
    sizes = np.zeros(1, dtype=np.int64)
    for _ in range(n):
        sizes = np.concatenate([sizes, sizes + 1])
    return sizes


def mask_of(subset: tuple[int, ...]) -> int:
    """The number of a set of coordinates."""
    return sum(1 << i for i in set(subset))


def subset_of(mask: int) -> tuple[int, ...]:
    """The set of coordinates of a number, in increasing order."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)
