r"""Conjunctions whose training set only one conjunction fits.

A training set of few examples may fit several conjunctions of $k$ of the $n$ bits, and then no
learner can know which one is meant. The thesis (appendix A.3) rejects such sets and draws again.
So the rows of this task are stored: `rows` for training and `test_rows` for testing, drawn under
the run's data key, again and again until exactly one conjunction fits the first `samples` of them.
Runs of one seed share their examples, however their weights start.

Every bit of a conjunction that fits is true in all positive examples. Few bits are, so that only
sets of those have to be tried.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Bool, Int, PRNGKeyArray

from elegans import checks
from elegans.fields import Count, configuration
from elegans.tasks.boolean import Batch, Conjunction

REDRAWS = 1000  # sets that are tried before none is taken to exist


class Sizes(NamedTuple):
    """How many rows are for training and for testing."""

    train: int
    test: int


@configuration
class UniqueConjunction(Conjunction):
    """A conjunction that its first `samples` training examples determine.

    Attributes:
        samples: Size of the training set; a traced number, so that a sweep over it draws from
            tables of one shape.
        rows: How many training examples are drawn.
        test_rows: How many test examples are drawn.
    """

    samples: Count = 100
    rows: int = 256
    test_rows: int = 10_000

    def __post_init__(self) -> None:
        self._check()
        checks.whole(self, "rows", self.rows, low=1, what="counts training examples")
        checks.whole(self, "test_rows", self.test_rows, low=1, what="counts test examples")
        if isinstance(self.samples, int):
            checks.whole(
                self, "samples", self.samples, low=1, high=self.rows, what="counts rows in use"
            )

    @property
    def sizes(self) -> Sizes:
        """How many rows a run trains and tests on."""
        return Sizes(int(self.samples), self.test_rows)

    def stored(self, key: PRNGKeyArray) -> Batch:
        """Training rows and, last, test rows: the first draw whose training set is unambiguous."""
        count = int(self.samples)
        for attempt in range(REDRAWS):
            train = self.sample(jr.fold_in(key, attempt), self.rows)
            x, y = np.asarray(train.x[:count]), np.asarray(train.y[:count])
            if fit_count(x < 0, y < 0, self.k, most=2) == 1:
                test = self.sample(jr.fold_in(key, REDRAWS), self.test_rows)
                return Batch(*(jnp.concatenate(parts) for parts in zip(train, test, strict=True)))
        raise ValueError(
            f"{checks.shown(self)}: each of {REDRAWS:,} training sets fits several conjunctions; "
            f"about {math.log2(math.comb(self.n, self.k)):.0f} samples are the least that could do."
        )


def fit_count(
    x: Bool[np.ndarray, "rows n"], y: Bool[np.ndarray, " rows"], k: int, most: int
) -> int:
    """How many conjunctions of `k` bits fit all labels; counting stops at `most`."""
    candidates = np.flatnonzero(x[y].all(axis=0))
    negatives = x[~y][:, candidates]
    count = 0
    for sets in combination_blocks(len(candidates), k):
        is_true = negatives[:, sets].all(axis=2)  # (negatives, conjunctions)
        count += int((~is_true.any(axis=0)).sum())
        if count >= most:
            return most
    return count


def combination_blocks(n: int, k: int, size: int = 4096) -> Iterator[Int[np.ndarray, "sets k"]]:
    """All sets of `k` of `n` numbers as rows of arrays, a few thousand at a time."""
    sets = itertools.combinations(range(n), k)
    while block := list(itertools.islice(sets, size)):
        yield np.array(block)
