r"""Dropout masks from a hash, in the place of a random generator.

A mask needs one random word per number of every example in every step. JAX's generator takes longer
for those than a small transformer takes for its step; a hash of (key, place) takes a tenth of that.
Words are $h(h(i + \text{salt} \cdot c \oplus k_0) \oplus k_1)$ for the place $i$ and the two words
$k_0, k_1$ of a key, which are random themselves; $h$ multiplies twice and folds the upper bits
down (the constants were found by search for an even avalanche: C. Wellons, "Hash function
prospector", 2018). Masks of different keys or salts are as good as independent.
"""

import math

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray, UInt32

from elegans import checks
from elegans.fields import Number, configuration, is_off

STRIDE = 0x9E3779B9  # the golden ratio: salts are far apart on the circle of words


@configuration
class Dropout:
    """Probabilities of zeroing a number in training; the others are divided by what is kept.

    Attributes:
        embedding: Of each number of each token, as the first layer takes it.
        attention: Of each weight of each head.
        output: Of each number that attention or a hidden layer adds to the stream.
    """

    embedding: Number = 0.0
    attention: Number = 0.0
    output: Number = 0.0

    def __post_init__(self) -> None:
        for name in ("embedding", "attention", "output"):
            rate = getattr(self, name)
            checks.number(self, name, rate, low=0.0, high=1.0, what="is a probability")

    @property
    def is_on(self) -> bool:
        """Whether any number is ever dropped."""
        return not all(is_off(rate) for rate in (self.embedding, self.attention, self.output))


def hashed(words: UInt32[Array, "*shape"]) -> UInt32[Array, "*shape"]:
    """A one-to-one map of 32-bit words whose values look random."""
    words = (words ^ (words >> 16)) * jnp.uint32(0x7FEB352D)
    words = (words ^ (words >> 15)) * jnp.uint32(0x846CA68B)
    return words ^ (words >> 16)


def random_words(key: PRNGKeyArray, salt: int, shape: tuple[int, ...]) -> UInt32[Array, "..."]:
    """A word for each place of an array, from a key and a salt."""
    first, second = jr.key_data(key)
    places = jnp.arange(math.prod(shape), dtype=jnp.uint32)
    start = jnp.uint32(salt * STRIDE % 2**32)
    return hashed(hashed((places + start) ^ first) ^ second).reshape(shape)


def dropped(
    values: Float[Array, "*shape"], rate: Number, key: PRNGKeyArray | None, salt: int
) -> Float[Array, "*shape"]:
    """The values with each one zeroed at this rate; all of them without a key."""
    if key is None or is_off(rate):
        return values
    return values * kept(values.shape, rate, key, salt)


def kept(shape: tuple[int, ...], rate: Number, key: PRNGKeyArray, salt: int) -> Float[Array, "..."]:
    """1/(1 - rate) where a number is kept, and zero where it is dropped."""
    # 24 bits are as many as a float32 holds exactly, so that the comparison is exact too.
    uniform = (random_words(key, salt, shape) >> 8).astype(jnp.float32) * 2.0**-24
    return jnp.where(uniform >= rate, 1 / (1 - jnp.asarray(rate, jnp.float32)), 0.0)
