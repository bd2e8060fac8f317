"""The same quantities in plain NumPy, with no code shared with the library."""

import numpy as np


def walsh(n: int) -> np.ndarray:
    """The characters of all subsets at all inputs, row T and column x, both as bit masks."""
    masks = np.arange(2**n)
    common = np.bitwise_count(masks[:, None] & masks[None, :])
    return (1 - 2 * (common % 2)).astype(float)
