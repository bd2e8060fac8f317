r"""The low-degree algorithm: least squares over all monomials of degree at most $d$.

On fair bits its error is the Fourier weight above degree $d$ once there are more samples than the
$\sum_{j \le d} \binom{n}{j}$ monomials (lemma 7 of the sparse activations paper); any real features
will do. With fewer monomials than samples the normal equations are solved, with more their dual,
whose matrix comes from `monomial_kernel`.
"""

import numpy as np
from jaxtyping import Float
from scipy import linalg
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.validation import check_is_fitted, validate_data

from elegans import checks
from elegans.learners.classes import SignClassifier
from elegans.learners.monomials import (
    MonomialMap,
    monomial_count,
    monomial_kernel,
    monomials,
)

BLOCK = 2**24  # numbers written out at a time: 128 MB
SINGULAR = 1e-10  # of the largest: what counts as zero in a matrix of sums of products
DIRECT = 2e9  # operations up to which least squares are solved without squaring the matrix


class LowDegree(BaseEstimator):
    """What the regressor and the classifier share."""

    @checks.stores_anything
    def __init__(
        self,
        degree: int | str = 2,
        *,
        alpha: float = 0.0,
        max_degree: int = 3,
        cv: int = 5,
        memory: float = 12e9,
    ) -> None:
        self.degree = degree
        self.alpha = alpha
        self.max_degree = max_degree
        self.cv = cv
        self.memory = memory

    def _fit(self, x: Float[np.ndarray, "rows n"], targets: Float[np.ndarray, "rows k"]) -> None:
        rows, n = x.shape
        checks.number(self, "alpha", self.alpha, low=0.0, what="is a penalty")
        checks.whole(self, "degree", self.degree_, low=0, what='is a degree (or "auto")')
        self._check_memory(rows, n, self.degree_)
        self.coef_ = solve(x, targets, self.degree_, float(self.alpha))
        self.monomials_ = monomials(n, self.degree_)

    def _check_memory(self, rows: int, n: int, d: int) -> None:
        """Refuses a number of monomials whose equations do not fit."""
        count = monomial_count(n, d)
        side = min(rows, count)
        needed = 8 * (2 * side**2 + 2 * count + 4 * BLOCK)  # matrix, its update, blocks
        if needed > self.memory:
            raise ValueError(
                f"{type(self).__name__}(degree={d}): {n} features have {count:,} monomials; with "
                f"{rows:,} samples their equations take {needed / 1e9:,.1f} GB, and memory is "
                f"{self.memory / 1e9:g} GB. Lower degree, or raise memory."
            )

    def _choose_degree(self, x: Float[np.ndarray, "rows n"], y: np.ndarray) -> None:
        """Sets `degree_`, by cross-validation if it is "auto"."""
        if not isinstance(self.degree, str):
            self.degree_ = self.degree
            return
        checks.choice(self, "degree", self.degree, ["auto"])
        checks.whole(self, "max_degree", self.max_degree, low=0, what="is the largest degree")
        if len(x) < 2:
            raise ValueError(
                f"{self}: cross-validation needs two samples; got n_samples = {len(x)}."
            )
        folds = KFold(min(self.cv, len(x)), shuffle=True, random_state=0)
        self.cv_scores_ = np.array(
            [
                cross_val_score(clone(self).set_params(degree=d), x, y, cv=folds).mean()
                for d in range(min(self.max_degree, x.shape[1]) + 1)
            ]
        )
        self.degree_ = int(np.argmax(self.cv_scores_))

    def _values(self, X: object) -> Float[np.ndarray, "rows *k"]:
        """The fitted polynomials at each row."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        features = MonomialMap(x.shape[1], self.degree_)
        step = max(1, BLOCK // features.size)
        blocks = [features(x[i : i + step]) @ self.coef_ for i in range(0, len(x), step)]
        return np.concatenate(blocks)


class LowDegreeRegressor(RegressorMixin, LowDegree):
    r"""Polynomial regression over all monomials of degree at most `degree`.

    Time: $m p \min(m, p)$ for $p = \sum_{j \le d} \binom{n}{j}$ monomials. Samples: a few times
    $p$. Noise: any of mean zero; the error is the Fourier tail above `degree`, the noise, and
    about $p/m$ times their sum.

    Parameters
    ----------
    degree : int or "auto"
        Largest number of features in a product; "auto" is the best by cross-validation.
    alpha : float
        Ridge penalty on all coefficients; zero is least squares, of least norm where data are few.
    max_degree : int
        The largest degree that "auto" tries.
    cv : int
        Folds of the cross-validation.
    memory : float
        Bytes that may be used; what needs more is refused with the number.

    Attributes
    ----------
    coef_ : array
        A coefficient for each monomial: on bits, the estimated Fourier coefficients.
    monomials_ : list of tuple of int
        The sets of features, in the order of `coef_`.
    degree_ : int
        The degree used.
    """

    def fit(self, X: object, y: object) -> "LowDegreeRegressor":
        """Fits the polynomial."""
        x, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._choose_degree(x, targets)
        self._fit(x, np.asarray(targets, np.float64)[:, None])
        self.coef_ = self.coef_[:, 0]
        return self

    def predict(self, X: object) -> Float[np.ndarray, " rows"]:
        """The polynomial at each row of `X`."""
        check_is_fitted(self)
        return self._values(X)


class LowDegreeClassifier(SignClassifier, LowDegree):
    """The class whose sign is best fitted by a polynomial of degree at most `degree`.

    One regression per class (one in all for two classes) of the signs, as in `LowDegreeRegressor`,
    whose parameters, time and samples are the same. Noise: any rate below one half, if the degree
    is that of the target.
    """

    def fit(self, X: object, y: object) -> "LowDegreeClassifier":
        """Fits the polynomials."""
        x, labels = validate_data(self, X, y, dtype=np.float64)
        targets = self._targets(labels)
        self._choose_degree(x, labels)
        self._fit(x, targets)
        return self


def solve(
    x: Float[np.ndarray, "rows n"], targets: Float[np.ndarray, "rows k"], d: int, alpha: float
) -> Float[np.ndarray, "monomials k"]:
    """The coefficients of least squares, with penalty `alpha` or else of least norm."""
    features = MonomialMap(x.shape[1], d)
    rows, count = len(x), features.size
    if alpha == 0 and rows * count * min(rows, count) <= DIRECT:
        return np.linalg.lstsq(features(x), targets, rcond=None)[0]
    step = max(1, BLOCK // count)
    blocks = range(0, rows, step)
    if count <= rows:
        gram = np.zeros((count, count))
        moment = np.zeros((count, targets.shape[1]))
        for i in blocks:
            block = features(x[i : i + step])
            gram += block.T @ block
            moment += block.T @ targets[i : i + step]
        return solve_positive(gram, moment, alpha)
    gram = np.empty((rows, rows))
    part = max(1, BLOCK // rows)
    for i in range(0, rows, part):
        gram[i : i + part] = monomial_kernel(x[i : i + part], x, d)
    weights = solve_positive(gram, targets, alpha)
    products = np.zeros((count, targets.shape[1]))
    for i in blocks:
        products += features(x[i : i + step]).T @ weights[i : i + step]
    return products


def solve_positive(
    gram: Float[np.ndarray, "side side"], right: Float[np.ndarray, "side k"], alpha: float
) -> Float[np.ndarray, "side k"]:
    """Solves with a semidefinite matrix, which is overwritten; of least norm if singular."""
    gram[np.diag_indices_from(gram)] += alpha
    diagonal = gram.diagonal().copy()
    # The factor takes the place of the upper triangle; the lower one stays for a second attempt.
    try:
        factor = linalg.cho_factor(gram.T, lower=True, overwrite_a=True, check_finite=False)
        if (factor[0].diagonal() ** 2).min() > SINGULAR * diagonal.max():
            return linalg.cho_solve(factor, right, check_finite=False)
    except linalg.LinAlgError:
        pass  # singular up to rounding: the pseudo-inverse below is the limit of small penalties
    gram[np.diag_indices_from(gram)] = diagonal
    values, vectors = linalg.eigh(gram, lower=True, overwrite_a=True, check_finite=False)
    large = values > SINGULAR * values[-1]
    return vectors[:, large] @ ((vectors[:, large].T @ right) / values[large, None])
