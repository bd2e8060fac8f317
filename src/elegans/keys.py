"""The randomness of a run: one seed, split into a key for each purpose.

Keys come by `fold_in` from what a run *is*: neither its lane nor its place in a sweep enters. So
two runs of one seed start from the same weights and see the same examples, whatever else differs.
"""

from typing import NamedTuple

import jax
import jax.random as jr
import numpy as np
from jaxtyping import Array, PRNGKeyArray, UInt32

from elegans.fields import Count

SEEDS = 2**32  # JAX makes a key of 32 bits
Seed = Count | np.uint32 | UInt32[Array, ""]


class Keys(NamedTuple):
    """Every source of randomness of a run, by what it is for."""

    init: PRNGKeyArray
    data: PRNGKeyArray
    order: PRNGKeyArray
    test: PRNGKeyArray
    probe: PRNGKeyArray
    noise: PRNGKeyArray


def keys_of(seed: Seed) -> Keys:
    """The keys of a run, from its seed; a traced seed gives the same keys as a plain one."""
    if isinstance(seed, int) and 0 <= seed < 2**32:
        return _keys(np.uint32(seed))  # JAX makes 32-bit keys of all seeds, here in one call
    return _keys(seed)


@jax.jit
def _keys(seed: Array | np.uint32 | int) -> Keys:
    root = jr.key(seed)
    return Keys(*(jr.fold_in(root, i) for i in range(len(Keys._fields))))
