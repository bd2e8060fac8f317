r"""Kernel ridge regression with the neural tangent kernel of a two-layer ReLU network.

An infinitely wide network $\frac{1}{\sqrt r} \sum_i u_i (\langle w_i, \tilde x \rangle)_+$ of
Gaussian weights that is trained a little is linear in fixed features, whose kernel is

$$K(x, x') = \|\tilde x\| \|\tilde x'\| \big(\rho\,\kappa_0(\rho) + \kappa_1(\rho)\big), \quad
\kappa_0 = \tfrac{\pi - \arccos\rho}{\pi}, \quad
\kappa_1 = \tfrac{1}{\pi} \big(\sqrt{1 - \rho^2} + \rho (\pi - \arccos\rho)\big),$$

with $\rho$ the cosine between $\tilde x$ and $\tilde x'$, and $\tilde x = (x/\sqrt n, \beta)$ for
a bias $\beta$. On signs it is a function of $\langle x, x' \rangle$, so that parities are its
eigenfunctions and the eigenvalue depends on their degree. Without a bias the kernel is $\rho$ plus
an even function: odd degrees from three on have eigenvalue zero, and such parities cannot be
learned at all.

References: Jacot, Gabriel and Hongler (2018), Neural tangent kernel; Cho and Saul (2009), Kernel
methods for deep learning.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from elegans import checks
from elegans.learners.classes import SignClassifier
from elegans.learners.low_degree import solve_positive

BLOCK = 2**22  # entries of the kernel that are computed at a time


def tangent_kernel(
    x: Float[np.ndarray, "rows n"], z: Float[np.ndarray, "others n"], bias: float = 1.0
) -> Float[np.ndarray, "rows others"]:
    """The kernel between all rows of `x` and of `z`."""
    n = x.shape[1]
    sizes = [np.sqrt((a**2).sum(axis=1) / n + bias**2) for a in (x, z)]
    product = sizes[0][:, None] * sizes[1][None, :]
    inner = x @ z.T / n + bias**2
    cosine = np.divide(inner, product, out=np.zeros_like(inner), where=product > 0)
    cosine = np.clip(cosine, -1.0, 1.0)
    share = 1 - np.arccos(cosine) / np.pi
    return product * (2 * cosine * share + np.sqrt(1 - cosine**2) / np.pi)


def degree_eigenvalues(n: int, bias: float = 1.0) -> Float[np.ndarray, " degrees"]:
    r"""The eigenvalues on $n$ fair signs, by degree: $\mathbb{E}\,K(1, x) \chi_S(x)$.

    By the Krawtchouk polynomials: of $x$ with $j$ entries $-1$, those of $S$ flip the sign.
    """
    checks.whole("degree_eigenvalues", "n", n, low=1, high=60, what="counts the bits")
    minus = np.arange(n + 1)
    x = np.where(np.arange(n) < minus[:, None], -1.0, 1.0)
    values = tangent_kernel(np.ones((1, n)), x, bias)[0]
    eigenvalues = np.empty(n + 1)
    for degree in range(n + 1):
        polynomial = np.array([1.0])  # coefficients of (1 - t)^d (1 + t)^(n - d)
        for i in range(n):
            sign = -1.0 if i < degree else 1.0
            polynomial = np.convolve(polynomial, [1.0, sign])
        eigenvalues[degree] = polynomial @ values / 2.0**n
    return eigenvalues


class NeuralTangent(BaseEstimator):
    """What the regressor and the classifier share."""

    @checks.stores_anything
    def __init__(self, alpha: float = 1e-6, *, bias: float = 1.0, memory: float = 4e9) -> None:
        self.alpha = alpha
        self.bias = bias
        self.memory = memory

    def _fit(self, x: Float[np.ndarray, "rows n"], targets: Float[np.ndarray, "rows k"]) -> None:
        checks.number(self, "alpha", self.alpha, low=0.0, what="is a penalty")
        checks.number(self, "bias", self.bias, low=0.0, what="is the size of the constant input")
        checks.number(self, "memory", self.memory, low=0.0, what="counts bytes")
        rows = len(x)
        needed = 8 * (rows**2 + 5 * min(rows**2, BLOCK + rows) + 2 * x.size)
        if needed > self.memory:
            raise ValueError(
                f"{type(self).__name__}: the kernel of {rows:,} samples takes {needed:,} bytes, "
                f"and memory is {self.memory:,.0f}. Fit fewer samples, or raise memory."
            )
        self.X_fit_ = x
        gram = np.empty((rows, rows))
        for part, block in self._blocks(x):
            gram[part] = block
        self.dual_coef_ = solve_positive(gram, targets, float(self.alpha))
        # The squared norm is a'Ka, and (K + alpha) a = y on all that a has: K need not be kept.
        residual = targets - float(self.alpha) * self.dual_coef_
        self.norms_ = np.sqrt(np.maximum(0.0, (self.dual_coef_ * residual).sum(0)))

    def _blocks(
        self, x: Float[np.ndarray, "rows n"]
    ) -> Iterator[tuple[slice, Float[np.ndarray, "some samples"]]]:
        """The kernel between new rows and those that were fitted, some rows at a time."""
        step = max(1, BLOCK // len(self.X_fit_))
        for i in range(0, len(x), step):
            part = slice(i, i + step)
            yield part, tangent_kernel(x[part], self.X_fit_, float(self.bias))

    def _values(self, X: object) -> Float[np.ndarray, "rows k"]:
        """The fitted functions at each row."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        return np.concatenate([block @ self.dual_coef_ for _, block in self._blocks(x)])


class NeuralTangentRegressor(RegressorMixin, NeuralTangent):
    r"""Kernel ridge regression with the tangent kernel of a wide two-layer ReLU network.

    Time: $m^2 n + m^3/3$. Memory: $8 m^2$ bytes, and three times as many if the
    kernel is singular. Samples: for a parity of $k$ bits of the
    order of $\binom{n}{k}$, as for every kernel.

    Parameters
    ----------
    alpha : float
        Ridge penalty; zero interpolates, with least norm where the kernel is singular.
    bias : float
        The constant input $\beta$; zero is a network without biases, which cannot learn odd
        functions of degree three or more.
    memory : float
        Bytes that may be used; what needs more is refused with the number.

    Attributes
    ----------
    dual_coef_ : array
        The coefficients of the kernel's sections at the samples.
    norms_ : array
        The norm of each fitted function in the kernel's Hilbert space.
    X_fit_ : array
        The samples.
    """

    def fit(self, X: object, y: object) -> "NeuralTangentRegressor":
        """Solves for the coefficients."""
        x, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._fit(x, np.asarray(targets, np.float64)[:, None])
        return self

    def predict(self, X: object) -> Float[np.ndarray, " rows"]:
        """The fitted function at each row of `X`."""
        check_is_fitted(self)
        return self._values(X)[:, 0]


class NeuralTangentClassifier(SignClassifier, NeuralTangent):
    """One regression on plus and minus one per class (one in all for two); the largest value wins.

    Parameters, attributes, time and memory are those of `NeuralTangentRegressor`.
    """

    def fit(self, X: object, y: object) -> "NeuralTangentClassifier":
        """Solves for the coefficients."""
        x, labels = validate_data(self, X, y, dtype=np.float64)
        self._fit(x, self._targets(labels))
        return self
