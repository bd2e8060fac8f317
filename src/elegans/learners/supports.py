r"""Errors of one function on every support of its size.

A function $f$ of $s$ bits is a table of its $2^s$ values. Written as bits, it is
$f(a, x) = f(a, 0) \oplus [f(a, 0) \oplus f(a, 1)]\, x$ in its last bit, so that for given first
$s - 1$ bits the errors of all last ones are a few operations on words of 64 examples. The first
bits are filled in one by one, each halving the table.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, UInt64

from elegans import checks
from elegans.learners.bits import pack_columns

FUNCTIONS = ("and", "or", "parity", "majority")
ALL_ONES = np.uint64(2**64 - 1)


def truth_table(owner: object, function: object, s: int) -> Bool[np.ndarray, " rows"]:
    """Which of the 2**s patterns are true, in the order of `tasks.Junta`: bit i of the row's number
    is 1 where the i-th relevant bit is true."""
    if isinstance(function, str):
        checks.choice(owner, "function", function, FUNCTIONS)
        if function == "majority" and s % 2 == 0:
            raise ValueError(f"{owner}: a majority has no ties, so s is odd; got {s}.")
        ones = np.bitwise_count(np.arange(2**s))
        named = {
            "and": ones == s,
            "or": ones > 0,
            "parity": ones % 2 == 1,
            "majority": 2 * ones > s,
        }
        return named[function]
    table = np.asarray(function)  # what is neither a name nor such a table is refused below
    if table.shape != (2**s,) or not np.isin(table, (-1, 1)).all():
        raise ValueError(
            f"{owner}: function is one of {', '.join(FUNCTIONS)}, or a table of 2**{s} signs, -1 "
            f"for true; got {function!r}."
        )
    return table < 0


def distinct_orders(table: Bool[np.ndarray, " rows"]) -> list[tuple[int, ...]]:
    """Orders of the bits that give different functions: one for a symmetric table."""
    s = len(table).bit_length() - 1
    orders: dict[bytes, tuple[int, ...]] = {}
    for order in itertools.permutations(range(s)):
        orders.setdefault(reorder(table, order).tobytes(), order)
    return list(orders.values())


def reorder(table: Bool[np.ndarray, " rows"], order: tuple[int, ...]) -> Bool[np.ndarray, " rows"]:
    """The table of the function whose i-th bit is bit `order[i]` of its argument."""
    rows = np.arange(len(table))
    return table[sum((rows >> place & 1) << i for i, place in enumerate(order))]


def error_blocks(
    columns: UInt64[np.ndarray, "n words"],
    target: UInt64[np.ndarray, " words"],
    table: Bool[np.ndarray, " patterns"],
    rows: int,
) -> Iterator[tuple[tuple[int, ...], int, np.ndarray]]:
    """The errors of all increasing supports in lexicographic order, block by block.

    Each block has all bits but the last, the smallest last bit, and the errors from there on.
    """
    n, words = columns.shape
    mask = pack_columns(np.ones((rows, 1), dtype=bool))[0]  # padding counts for no error
    by_word = columns.T.copy()  # words in rows: sums run along them
    constants = np.where(table[:, None], ALL_ONES, np.uint64(0)) * np.ones(words, dtype=np.uint64)

    def descend(prefix: tuple[int, ...], restricted: np.ndarray) -> Iterator:
        # `restricted[j]`, a word per 64 examples: the function with the bits of the prefix filled
        # in and the others as in pattern j.
        start = prefix[-1] + 1 if prefix else 0
        if len(restricted) == 2:
            wrong = (restricted[0] ^ target) & mask
            flips = (restricted[0] ^ restricted[1]) & mask
            values = (flips[:, None] & by_word[:, start:]) ^ wrong[:, None]
            yield prefix, start, np.bitwise_count(values).sum(axis=0, dtype=np.int64)
            return
        remaining = len(restricted).bit_length() - 2  # after the next bit
        for bit in range(start, n - remaining):
            low, high = restricted[0::2], restricted[1::2]
            yield from descend((*prefix, bit), low ^ ((low ^ high) & columns[bit]))

    yield from descend((), constants)
