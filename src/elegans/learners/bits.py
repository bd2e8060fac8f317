r"""Bits as learners see them: true or false, packed into words.

Inputs are $\pm 1$ or 0/1, with 1 for $-1$ ("true"), as everywhere in the library; which of the two
is told from the training data, where a single 0 decides. Two labels that are not $\pm 1$ are read
as 0/1 in their sorted order.
"""

import numpy as np
from jaxtyping import Bool, Float, UInt64

EXAMPLES = 3  # of wrong values, shown in a refusal


def is_zero_one(x: Float[np.ndarray, "rows n"]) -> bool:
    """Whether bits are written as 0 and 1 rather than as signs."""
    return bool((x == 0).any())


def true_bits(
    owner: str, x: Float[np.ndarray, "rows n"], zero_one: bool
) -> Bool[np.ndarray, "rows n"]:
    """Which bits of `x` are true; anything that is not a bit is refused."""
    false, true = (0, 1) if zero_one else (1, -1)
    is_true = x == true
    is_wrong = ~(is_true | (x == false))
    if is_wrong.any():
        wrong = x[is_wrong]
        shown = ", ".join(f"{value:g}" for value in np.unique(wrong)[:EXAMPLES])
        raise ValueError(
            f"{owner} reads bits, all -1 or 1 or all 0 or 1; X holds {wrong.size} other values, "
            f"such as {shown}. Threshold the features first, or use LowDegreeClassifier."
        )
    return is_true


def label_bits(owner: str, y: np.ndarray) -> tuple[np.ndarray, Bool[np.ndarray, " rows"]]:
    """The classes, false before true, and which labels are true."""
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported: {owner} learns a parity, which has two "
            f"classes; y has {len(classes)} classes."
        )
    if set(classes.tolist()) <= {-1, 1}:
        return np.array([1, -1], dtype=classes.dtype), y < 0
    return np.resize(classes, 2), y != classes[0]


def pack_columns(bits: Bool[np.ndarray, "rows n"]) -> UInt64[np.ndarray, "n words"]:
    """Each column in 64-bit words; the last word is filled with zeros."""
    rows, n = bits.shape
    padded = np.zeros((n, -(-rows // 64) * 64), dtype=bool)
    padded[:, :rows] = bits.T
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
