r"""What `low-degree` computes besides its fits: sample curves, parities, prescriptions.

* Lemma 7 with noise: least squares over the $p$ monomials of degree at most $d$, from $m$ rows with
  noise of variance $\sigma^2$, have expected error $\tau + (\tau + \sigma^2)\,p/(m - p)$ on clean
  labels, $\tau$ the Fourier weight above $d$: what the polynomial cannot express is noise to it.
* Theorem 13: a parity of $p$ bits is a 1-sparse network of $s = 2^p$ neurons, and no polynomial of
  a lower degree knows anything of it. So its price is the number of monomials,
  $n^{\Omega(\log s)}$.
* Theorem 8 prescribes a degree; `Prescription` sets it beside the degree that is enough.
"""

import numpy as np
import pandas as pd

from elegans import constructions, cube
from elegans.fields import configuration
from elegans.learners import LowDegreeRegressor
from elegans.learners.monomials import monomial_count
from elegans.models import MLP
from elegans.models.inits import Layers
from elegans.tasks import SparseNetwork
from elegans.theory import sparse_activation
from elegans.theory.boolean import fourier

LEARNED = 0.1  # of the variance
MULTIPLES = (0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)  # of the monomials, to find m*
RIDGE = 1e-6  # normal equations are solved in place of a singular value decomposition
CONFIDENCE = 0.05  # the failure probability in theorem 8


@configuration
class SampleCurve:
    """A gated teacher with noise, fitted at one degree from `ratio` times as many rows as p."""

    n: int
    b: int
    degree: int
    ratio: float
    noise: float

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row; the error is that on all clean inputs, exactly."""
        x = cube.signs(self.n)
        values = np.asarray(SparseNetwork(n=self.n, b=self.b, seed=seed).population().y, float)
        weights = fourier.degree_weights(values, self.n)
        tail, variance = weights[self.degree + 1 :].sum(), weights[1:].sum()
        count = monomial_count(self.n, self.degree)
        m = round(float(self.ratio) * count)
        generator = np.random.default_rng([seed, m, 5])
        rows = generator.integers(0, 2**self.n, m)
        labels = values[rows] + float(self.noise) * generator.standard_normal(m)
        model = LowDegreeRegressor(degree=self.degree).fit(x[rows], labels)
        error = float(np.mean((model.predict(x) - values) ** 2))
        unexplained = tail + float(self.noise) ** 2
        row = {
            "m": m,
            "monomials": count,
            "tail": tail / variance,
            "error": error / variance,
            "theory": (tail + unexplained * count / (m - count)) / variance,
            "ratio_to_theory": (error - tail + unexplained) / (unexplained * m / (m - count)),
        }
        return pd.DataFrame([row])


@configuration
class SparseParity:
    """A random parity of `p` of `n` bits as a 1-sparse network, learned by polynomials."""

    n: int
    p: int
    fresh: int = 500

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: the least degree that learns it, and the least samples at that degree."""
        generator = np.random.default_rng([seed, self.n, self.p])
        support = tuple(int(i) for i in generator.choice(self.n, self.p, replace=False))
        params = constructions.junta(self.n, cube.signs(self.p).prod(axis=1).tolist(), support)
        count = monomial_count(self.n, self.p)
        x = cube.drawn_signs(generator, 2 * count + self.fresh, self.n)
        y = network_values(params, x)
        train, test = slice(2 * count), slice(2 * count, None)

        def error(degree: int, rows: int) -> float:
            model = LowDegreeRegressor(degree=degree, alpha=RIDGE)
            model.fit(x[train][:rows], y[train][:rows])
            return float(np.mean((model.predict(x[test]) - y[test]) ** 2) / y[test].var())

        learned = [d for d in range(self.p + 1) if error(d, 2 * count) < LEARNED]
        sizes = [round(multiple * count) for multiple in MULTIPLES]
        enough = (m for m in sizes if error(self.p, m) < LEARNED)
        row = {
            "s": 2**self.p,
            "monomials": count,
            "least_degree": min(learned, default=self.n + 1),
            "m_star": float(next(enough, np.inf)),
        }
        return pd.DataFrame([row])


@configuration
class Prescription:
    """Degrees for an error of `epsilon` times the variance: theorem 8, sharper ones, and enough."""

    n: int
    b: int
    epsilon: float

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row."""
        task = SparseNetwork(n=self.n, b=self.b, seed=seed)
        params = task.teacher()
        weights = fourier.degree_weights(np.asarray(task.population().y, float), self.n)
        epsilon = float(self.epsilon) * weights[1:].sum()
        member = sparse_activation.membership(params)
        shape = (member.n, member.s, member.k, member.W, member.B)
        printed = sparse_activation.degree_bound(*shape, epsilon)
        tails = weights.sum() - np.cumsum(weights)
        row = {
            "theory": printed,
            "theory_log10_samples": sparse_activation.log_low_degree_samples(
                member.n, printed, member.k, member.W, member.B, epsilon=epsilon, delta=CONFIDENCE
            ),
            "theory_lipschitz": sparse_activation.lipschitz_degree(member.k, member.W, epsilon),
            "theory_activity": sparse_activation.activity_degree(
                MLP(width=member.s), params, epsilon
            ),
            "enough": int(np.argmax(tails <= epsilon)),
        }
        return pd.DataFrame([row])


def network_values(params: Layers, x: np.ndarray) -> np.ndarray:
    """The network of one hidden layer of rectifiers at each row."""
    weight, bias, outer = sparse_activation.neurons(params)
    return np.maximum(x @ weight + bias, 0) @ outer
