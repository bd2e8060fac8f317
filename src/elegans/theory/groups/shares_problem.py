r"""The convex problem behind `regularised_optimum`, solved to rounding.

$$\min_{x \ge 0}\ \log\Big(1 + \sum_C s_C e^{-(xM)_C}\Big) + \mu \sum_S x_S$$

A barrier method finds which variables are zero, and Newton's method on the others ends at the
precision of the numbers: studies divide margins that differ by parts in a thousand, and weights
$\mu$ go down to 1e-20. Everything is divided by $\mu$, so that it is of order one at every weight.
"""

import numpy as np
import scipy
from jaxtyping import Float, Int

from elegans.theory.groups.matrix_game import equilibrium

MAX_NEWTON_STEPS = 200
BARRIER_SMALL = 1e-5  # relative to the sum of all variables: below it, exact solutions are tried
BARRIER_END = 1e-14
TOLERANCE = 1e-10  # of the gradient, whose parts are of order one

Shares = Float[np.ndarray, " reps"]
Sizes = Int[np.ndarray, " classes"]


class SharesProblem:
    """The problem for one matrix $M$ (`game`) and class sizes $s$; `solution` takes the weight."""

    def __init__(self, game: Float[np.ndarray, "rows classes"], sizes: Sizes) -> None:
        self.game = game
        self.sizes = sizes
        self.largest = float((game @ sizes).max()) / (1 + float(sizes.sum()))  # zero is best above
        self._log_sizes = np.log(sizes)
        # Close to what small weights lead to, and positive.
        self._mixture = 0.9 * equilibrium(game)[0] + 0.1 / len(game)

    def loss(self, x: Shares) -> float:
        """The cross-entropy."""
        return float(np.logaddexp.reduce(self._log_sizes - x @ self.game, initial=0.0))

    def probabilities(self, x: Shares) -> Shares:
        """The probability of each class of wrong labels."""
        return np.exp(self._log_sizes - x @ self.game - self.loss(x))

    def solution(self, mu: float) -> Shares:
        """The minimiser: a barrier method, then Newton's on the variables that are not zero."""
        if mu >= self.largest:
            return np.zeros(len(self.game))
        x = self._start(mu)
        total = barrier = float(x.sum())
        while barrier > BARRIER_END * total:
            barrier *= 0.1
            x = self._centred(x, mu, barrier / len(x))
            if barrier < BARRIER_SMALL * total:
                exact = self._exact(x, mu)
                if exact is not None:
                    return exact
        return x

    def _start(self, mu: float) -> Shares:
        """The best multiple of a positive mixture that is close to the game's."""
        mixture = self._mixture
        worth = mixture @ self.game

        def slope(scale: float) -> float:
            return mu - float(worth @ self.probabilities(scale * mixture))

        high = 1.0
        while slope(high) < 0:
            high *= 2
        if slope(0.0) > 0:  # the mixture alone is worth nothing; one row is
            return mixture * 1e-3
        return max(float(scipy.optimize.brentq(slope, 0.0, high)), 1e-3) * mixture

    def _derivatives(self, x: Shares, mu: float) -> tuple[Shares, Float[np.ndarray, "r r"]]:
        """Gradient and Hessian of the objective divided by mu, which keeps both of order one."""
        p = self.probabilities(x)
        scaled = self.game * (p / mu)
        gradient = 1 - scaled.sum(axis=1)
        return gradient, scaled @ self.game.T - mu * np.outer(1 - gradient, 1 - gradient)

    def _centred(self, x: Shares, mu: float, barrier: float) -> Shares:
        """The minimiser with a logarithmic barrier, by damped Newton steps in units of x."""

        def merit(x: Shares) -> float:
            return self.loss(x) / mu + float(x.sum() - barrier * np.log(x).sum())

        for _ in range(MAX_NEWTON_STEPS):
            gradient, hessian = self._derivatives(x, mu)
            residual = x * gradient - barrier
            matrix = hessian * np.outer(x, x) + barrier * np.eye(len(x))
            step = -np.linalg.solve(matrix, residual)  # relative to x
            decrement = -float(residual @ step)
            if decrement <= 1e-3 * barrier:
                break
            size = min(1.0, 0.95 / max(float(-step.min()), 1e-300))
            now = merit(x)
            while size > 1e-8 and merit(x * (1 + size * step)) > now - 1e-4 * size * decrement:
                size /= 2
            x = x * (1 + size * step)
            if size <= 1e-8:  # rounding in the merit: as central as it can be
                break
        return x

    def _exact(self, x: Shares, mu: float) -> Shares | None:
        """The solution to rounding, if the variables that are not zero can be told by now."""
        gradient, _ = self._derivatives(x, mu)
        support = x > np.maximum(gradient, 0)  # their product is the barrier: one is far smaller
        exact = np.where(support, x, 0.0)
        for _ in range(20):
            gradient, hessian = self._derivatives(exact, mu)
            inside = hessian[np.ix_(support, support)]
            if not support.any() or np.linalg.matrix_rank(inside, hermitian=True) < len(inside):
                return None
            step = np.linalg.solve(inside, -gradient[support])
            exact[support] += step
            if exact.min() < 0:
                return None
            if np.abs(step).max() < 1e-13 * exact.max():
                break
        gradient, _ = self._derivatives(exact, mu)
        is_optimal = np.abs(gradient[support]).max() < TOLERANCE and gradient.min() > -TOLERANCE
        return exact if is_optimal else None
