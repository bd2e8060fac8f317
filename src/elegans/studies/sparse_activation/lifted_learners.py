r"""Learners of lifted parities, learning with rounding and gated networks that are not trained.

Linear algebra over two elements, statistical queries, polynomials and addresses: each
is a computation of `lifted-parities`.
"""

import functools

import jax.random as jr
import numpy as np
import pandas as pd

from elegans import constructions, cube
from elegans.fields import configuration
from elegans.learners import GaussianElimination, LowDegreeRegressor, query_search, recover_gates
from elegans.tasks import LearningWithRounding, LiftedParity, SparseNetwork
from elegans.theory import resources
from elegans.theory.boolean import fourier

FRESH_ROWS = 2000  # on which learners without gradients are tested
EXTRA_ROWS = 10  # beyond the unknowns: a random system then has full rank but for 1 in 1,000
TOLERANCE = 0.45  # of a query: below one half, so that one parity can be told from all others


def half_parity(m: int) -> LiftedParity:
    """The parity of every other hidden bit."""
    return LiftedParity(m=m, k=m // 2, support=tuple(range(0, 2 * (m // 2), 2)))


@configuration
class WithoutGradients:
    """A lifted parity: the error of the network set by hand, and of linear algebra by rows."""

    m: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per number of examples that linear algebra has."""
        task = half_parity(self.m)
        hidden = cube.drawn_signs(np.random.default_rng([seed, 9]), FRESH_ROWS, self.m)
        y = cube.character(hidden, task.relevant)
        by_hand = set_by_hand(task, constructions.lift(hidden))
        rows = []
        for count in (self.m // 2, self.m + EXTRA_ROWS):
            bits = cube.drawn_signs(np.random.default_rng([seed, count]), count, self.m)
            learner = GaussianElimination().fit(bits, cube.character(bits, task.relevant))
            error = float(np.mean(learner.predict(hidden) != y))
            rows.append({"rows": count, "elimination": error, "by_hand": np.mean(by_hand * y <= 0)})
        return pd.DataFrame(rows)


def set_by_hand(task: LiftedParity, x: np.ndarray) -> np.ndarray:
    """What the 1-sparse network of the construction says at each row."""
    (weight, bias), (outer, _) = constructions.lifted_parity(task.m, task.relevant).layers
    hidden = np.maximum(x @ np.asarray(weight, float) + np.asarray(bias, float), 0)
    return hidden @ np.asarray(outer, float)[:, 0]


@configuration
class QuerySearches:
    """Searches among all parities of the hidden bits, by statistical queries on lifted inputs."""

    m: int
    answers: str
    searches: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per search: queries until the parity was found."""
        task = half_parity(self.m)
        oracle = resources.StatisticalQueryOracle(task, TOLERANCE, answers=self.answers)
        diagonal = [i * (self.m + 1) for i in range(self.m)]
        right = tuple(diagonal[i] for i in task.relevant)
        rows = []
        for i in range(self.searches):
            number = self.searches * seed + i
            search = query_search(oracle, None, 2**self.m, seed=number, bits=diagonal)
            is_right = search.group == (right,)
            rows.append({"search": number, "queries": search.queries, "success": is_right})
        return pd.DataFrame(rows).assign(theory=resources.parity_queries(self.m, TOLERANCE))


@configuration
class LinearRounding:
    """Linear algebra over two elements on learning with rounding, with either rule."""

    m: int
    q: int
    rule: str

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: the error of the parity that solves independent equations, and the least of any.

        The secret has an odd entry, so that the label is not constant under either rule.
        """
        task = LearningWithRounding(
            self.m, self.q, seed=odd_secret(self.m, self.q, seed), rule=self.rule, lifted=False
        )
        x, y = (np.asarray(part, float) for part in task.population())
        signs = 1 - 2 * y
        generator = np.random.default_rng([seed, 11])
        order = generator.permutation(len(x))
        learner = GaussianElimination(signed=True)
        error = 1.0
        count = x.shape[1] + 1 + EXTRA_ROWS
        while True:
            try:
                learner.fit(x[order[:count]], signs[order[:count]])
                error = float(np.mean(learner.predict(x) != signs))
                break
            except ValueError:  # no parity fits so many equations: fewer, then
                count -= 1
        bits = x.shape[1]
        index = (x < 0) @ 2 ** np.arange(bits)
        table = np.zeros(2**bits)
        table[index] = signs
        best = float(np.abs(fourier.coefficients(table, bits)).max())
        row = {"error": error, "equations": count, "least": (1 - best) / 2}
        return pd.DataFrame([row])


@functools.lru_cache(maxsize=64)
def odd_secret(m: int, q: int, seed: int) -> int:
    """A seed from `seed` times a thousand on whose secret has an odd entry."""
    start = 1000 * seed
    while all(w % 2 == 0 for w in LearningWithRounding(m, q, seed=start).secret):
        start += 1
    return start


@configuration
class GateRecovery:
    """A gated network on fair bits, learned by its addresses and by polynomials of degree 3."""

    n: int
    b: int
    rows: int
    fresh: int = 2000

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: errors on fresh inputs as shares of the variance."""
        task = SparseNetwork(n=self.n, b=self.b, seed=seed)
        x, y = (np.asarray(part, float) for part in task.sample(jr.key(seed), self.rows))
        fresh = task.sample(jr.key(seed + 2**20), self.fresh)
        test, labels = (np.asarray(part, float) for part in fresh)
        learner = recover_gates(x, y, self.b)
        degrees = {
            f"degree_{d}": LowDegreeRegressor(degree=d).fit(x, y).predict(test) for d in (1, 2, 3)
        }
        values = {"addresses": learner.predict(test), **degrees}
        errors = {
            name: float(np.mean((value - labels) ** 2) / labels.var())
            for name, value in values.items()
        }
        return pd.DataFrame([{**errors, "right": learner.address == tuple(range(self.b))}])
