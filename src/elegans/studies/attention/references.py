r"""What other learners of a conjunction need: elimination, exhaustive search, information.

* Elimination (Valiant, 1984) looks at each bit alone; its success probability is a closed form.
* Exhaustive search knows the answer as soon as a single conjunction fits. Sets of examples are
  nested, so the number of examples at which that happens is found for each set by bisection.
* No learner can do with fewer than about $\log_2 \binom Ts$ labels.
"""

import math

import numpy as np
import pandas as pd

from elegans.fields import configuration
from elegans.learners import elimination_probability
from elegans.tasks.unique_conjunction import fit_count

LARGEST = 1 << 10


def elimination_threshold(T: int, s: int, p: float, target: float = 0.8) -> int:
    """The least number of examples with which elimination succeeds with this probability."""
    m = 1
    while elimination_probability(T, s, m, p) < target:
        m += 1
    return m


def bits_needed(T: int, s: int) -> float:
    r"""$\log_2 \binom Ts$."""
    return math.log2(math.comb(T, s))


@configuration
class UniqueFrom:
    """From how many examples on a single conjunction fits, in each of many random sequences."""

    T: int
    s: int
    p: float
    sets: int = 50

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per sequence of examples."""
        return pd.DataFrame(
            {"m": [self.first_unique(np.random.default_rng([seed, i])) for i in range(self.sets)]}
        )

    def first_unique(self, generator: np.random.Generator) -> int:
        """The least m at which the first m examples determine the conjunction."""
        x = np.asarray(generator.random((LARGEST, self.T)) < self.p)
        y = np.asarray(x[:, : self.s].all(axis=1))
        low, high = 0, 1
        while fit_count(x[:high], y[:high], self.s, most=2) > 1:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if fit_count(x[:middle], y[:middle], self.s, most=2) > 1:
                low = middle
            else:
                high = middle
        return high
