r"""All large Fourier coefficients of a function that can be queried.

The weight of the sets that agree with $S$ on the first $j$ bits is an average over pairs of queries
that share their last bits (Goldreich and Levin; Kushilevitz and Mansour),

$$\sum_{T \cap [j] = S} \hat f(T)^2
= \mathbb{E}_{x, x', z}\, f(x, z) f(x', z) \chi_S(x) \chi_S(x'),$$

so a tree over the bits, cut where the weight is small, has few leaves: by Parseval at most
$\theta^{-2}$ sets weigh $\theta^2$ or more. The queries of a level serve all its nodes.
"""

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from elegans import checks
from elegans.cube import drawn_signs
from elegans.learners.bits import true_bits
from elegans.learners.low_degree import LowDegreeClassifier
from elegans.learners.search import ParityClassifier

Rows = Callable[[Float[np.ndarray, "rows n"]], np.ndarray]
CHUNK = 2**14


def pair_samples(n: int, threshold: float, failure: float) -> int:
    r"""Pairs of queries a level at which all weights are within $\theta^2/4$.

    Hoeffding's inequality for products in $[-1, 1]$, for the at most $8/\theta^2$ children at each
    of $n$ levels: $32 \theta^{-4} \log(16 n / (\theta^2 \delta))$.
    """
    return math.ceil(32 * threshold**-4 * math.log(16 * n / (threshold**2 * failure)))


def large_coefficients(
    f: Rows,
    n: int,
    threshold: float,
    *,
    failure: float = 0.01,
    samples: int | None = None,
    seed: int = 0,
) -> dict[tuple[int, ...], float]:
    r"""Sets with $|\hat f(T)| \ge$ `threshold` $\theta$, and their coefficients, largest first.

    With probability $1 -$ `failure` all of them are found, and none below $\theta/2$. Queries:
    $2n$ times `pair_samples`, unless `samples` says otherwise.

    Args:
        f: The function, on rows of signs, with values in [-1, 1].
        n: Its bits.
        threshold: The least coefficient of interest.
        failure: The chance to miss one or to report a small one.
        samples: Pairs of queries a level.
        seed: Of the queries.
    """
    checks.number(
        "large_coefficients", "threshold", threshold, low=1e-6, high=1.0, what="is a size"
    )
    generator = np.random.default_rng(seed)
    size = pair_samples(n, threshold, failure) if samples is None else samples
    live = np.zeros((1, 0), dtype=bool)  # of each node, which of the bits so far are in its sets
    for j in range(1, n + 1):
        children = np.concatenate(
            [np.column_stack([live, np.full(len(live), new)]) for new in (False, True)]
        )
        weights = np.zeros(len(children))
        for start in range(0, size, CHUNK):
            rows = min(CHUNK, size - start)
            x = drawn_signs(generator, rows, n)
            other = x.copy()
            other[:, :j] = drawn_signs(generator, rows, j)
            product = query(f, x) * query(f, other)
            differ = (x[:, :j] != other[:, :j]).astype(np.float64)
            odd = (differ @ children.T.astype(np.float64)) % 2
            weights += product @ (1.0 - 2.0 * odd)
        live = children[weights / size >= threshold**2 / 2]
    coefficients = coefficients_of(f, n, live, size, generator)
    kept = [(i, c) for i, c in enumerate(coefficients) if abs(c) >= 0.75 * threshold]
    kept.sort(key=lambda item: -abs(item[1]))
    return {tuple(np.flatnonzero(live[i]).tolist()): float(c) for i, c in kept}


def coefficients_of(
    f: Rows, n: int, sets: np.ndarray, size: int, generator: np.random.Generator
) -> Float[np.ndarray, " sets"]:
    """The coefficients of the given sets, from `size` fresh queries."""
    total = np.zeros(len(sets))
    for start in range(0, size, CHUNK):
        x = drawn_signs(generator, min(CHUNK, size - start), n)
        odd = ((x < 0).astype(np.float64) @ sets.T.astype(np.float64)) % 2
        total += query(f, x) @ (1.0 - 2.0 * odd)
    return total / size


def query(f: Rows, x: Float[np.ndarray, "rows n"]) -> Float[np.ndarray, " rows"]:
    """The values of `f`, refused outside [-1, 1], where the sample sizes do not hold."""
    values = np.asarray(f(x), dtype=np.float64)
    if values.shape != (len(x),) or not np.abs(values).max(initial=0.0) <= 1 + 1e-9:
        raise ValueError(
            f"large_coefficients queries functions with one value in [-1, 1] a row; {len(x)} rows "
            f"gave shape {values.shape}, up to {np.abs(values).max(initial=0.0):g}. Rescale f."
        )
    return values


class KushilevitzMansour(ParityClassifier):
    r"""The parity that a weak learner is correlated with, read off its predictions.

    The weak learner is fitted to the data; its predictions at fresh inputs are then queries. If it
    agrees with the target's parity on a fraction $\frac12 + \frac\theta2$ of all inputs, that
    parity has a coefficient of $\theta$ and is found.

    Time and queries: $64 n \theta^{-4} \log(16 n/(\theta^2 \delta))$ predictions. Samples and
    noise: those of the weak learner; none beyond.

    Parameters
    ----------
    estimator : classifier or None
        The weak learner, of two classes; None is `LowDegreeClassifier(degree=2)`.
    threshold : float
        The least coefficient of interest, $\theta$.
    failure : float
        The chance to miss one.
    samples : int or None
        Pairs of queries a bit; None takes what the guarantee needs.
    random_state : int, RandomState or None
        Of the queries.

    Attributes
    ----------
    coefficients_ : dict
        The large coefficients by their sets, largest first.
    support_ : tuple of int
        The set of the largest one; empty if none is large.
    estimator_ : classifier
        The fitted weak learner.
    """

    @checks.stores_anything
    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        threshold: float = 0.5,
        failure: float = 0.01,
        samples: int | None = None,
        random_state: object = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.failure = failure
        self.samples = samples
        self.random_state = random_state

    def fit(self, X: object, y: object) -> "KushilevitzMansour":
        """Fits the weak learner and finds its large coefficients."""
        bits, labels = self._bits(X, y)
        weak = LowDegreeClassifier(degree=2) if self.estimator is None else clone(self.estimator)
        self.estimator_ = weak.fit(1.0 - 2.0 * bits, np.where(labels, -1, 1))
        self.coefficients_ = large_coefficients(
            lambda x: np.asarray(self.estimator_.predict(x), dtype=np.float64),
            bits.shape[1],
            self.threshold,
            failure=self.failure,
            samples=self.samples,
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
        )
        self.support_ = next(iter(self.coefficients_), ())
        self.negated_ = self.coefficients_.get(self.support_, 1.0) < 0
        return self

    def predict_weak(self, X: object) -> np.ndarray:
        """The weak learner's own class of each row, for comparison."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        bits = true_bits(type(self).__name__, x, self.zero_one_)
        weak = self.estimator_.predict(1.0 - 2.0 * bits)
        return self.false_true_[(np.asarray(weak) < 0).astype(int)]
