r"""Parities by linear algebra over the field with two elements.

Written with bits 0/1, a noiseless parity is a linear equation $\langle s, x \rangle = y$ for each
example. Rows are packed 64 bits to a word and reduced eight columns at a time.
"""

import numpy as np
from jaxtyping import UInt64

from elegans import checks
from elegans.learners.bits import pack_columns
from elegans.learners.search import ParityClassifier


class GaussianElimination(ParityClassifier):
    r"""The parity, of any number of bits, that fits all training labels.

    Time: $n^2 m / 512$ word operations. Samples: about $n + 10$, as a random system of that size
    has full rank with probability $1 - 2^{-10}$. Noise: none, one wrong label in $n + 1$ ruins the
    solution; use `ParitySearch` for noisy labels.

    Parameters
    ----------
    signed : bool
        Whether the negation of a parity may be learned as well.

    Attributes
    ----------
    support_ : tuple of int
        The relevant bits found; bits that the data leave free are left out.
    rank_ : int
        Of the training data: below the number of bits, other supports fit as well.
    unique_ : bool
        Whether `support_` is the only one that fits.
    """

    @checks.stores_anything
    def __init__(self, *, signed: bool = False) -> None:
        self.signed = signed

    def fit(self, X: object, y: object) -> "GaussianElimination":
        """Solves the system; raises ValueError if no parity fits."""
        x, labels = self._bits(X, y)
        rows, n = x.shape
        unknowns = n + self.signed
        negation = np.ones((rows, int(self.signed)), dtype=bool)  # a bit that is always true
        system = pack_columns(np.hstack([x, negation, labels[:, None]]).T)
        pivots = reduce_rows(system, unknowns)
        self.rank_ = len(pivots)
        word, bit = divmod(unknowns, 64)
        value = (system[:, word] >> np.uint64(bit)) & np.uint64(1)
        contradictions = int(value[self.rank_ :].sum())
        if contradictions:
            raise ValueError(
                f"GaussianElimination: no parity fits all {rows} labels; after {self.rank_} bits "
                f"are solved for, {contradictions} equations contradict the others. Labels with "
                "noise need ParitySearch."
            )
        chosen = [pivot for pivot, one in zip(pivots, value, strict=False) if one]
        self.negated_ = n in chosen
        self.support_ = tuple(int(i) for i in chosen if i < n)
        self.unique_ = self.rank_ == unknowns
        return self


def reduce_rows(system: UInt64[np.ndarray, "rows words"], columns: int) -> list[int]:
    """Brings the first `columns` of a packed system to reduced form in place; returns the pivots.

    Row i of the result has its leading one in column `pivots[i]`, the only one there. Eight columns
    are reduced on their byte alone, while each row notes which pivot rows were added to it; the
    rest of all rows then follows in one step, from a table of the sums of the pivot rows (the
    method of four Russians).
    """
    pivots: list[int] = []
    for start in range(0, columns, 8):
        top = len(pivots)
        word, shift = divmod(start, 64)
        byte = (system[:, word] >> np.uint64(shift)).astype(np.uint8)
        added = np.zeros(len(system), dtype=np.uint8)  # bit j: pivot row top + j
        for column in range(start, min(start + 8, columns)):
            place = len(pivots)
            ones = byte >> (column - start) & 1
            if not ones[place:].any():
                continue
            swap = [place, place + int(ones[place:].argmax())]
            for array in (system, byte, added, ones):
                array[swap] = array[swap[::-1]]
            earlier = [top + j for j in range(place - top) if added[place] >> j & 1]
            system[place] ^= np.bitwise_xor.reduce(system[earlier], axis=0)
            added[place] = 0
            ones[place] = 0
            byte ^= ones * byte[place]
            added ^= ones << (place - top)
            pivots.append(column)
        sums = np.zeros((1, system.shape[1] - word), dtype=np.uint64)
        for row in system[top : len(pivots), word:]:
            sums = np.concatenate([sums, sums ^ row])
        system[:, word:] ^= sums[added]  # earlier words of the pivot rows are zero
    return pivots
