"""Two-player matrix games by linear programs: optimal mixtures, and how far they are free.

The row player maximises, the column player minimises. Mixtures are returned as distributions, so
that the worth of either is a true bound of the value, whatever the solver's tolerance.
"""

import itertools

import numpy as np
import scipy  # its `optimize` loads at first use, which takes 0.3 s
from jaxtyping import Float

SHARE_TOLERANCE = 1e-7  # shares below it on the whole optimal face count as zero
SOLVER = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def equilibrium(
    game: Float[np.ndarray, "rows columns"],
) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " columns"]]:
    """Optimal mixtures of the rows (maximising) and columns (minimising) of a matrix game.

    One linear program: the largest v with a mixture of rows worth at least v in every column. Its
    dual variables are the mixture of columns.
    """
    rows, columns = game.shape
    solution = scipy.optimize.linprog(
        c=np.append(np.zeros(rows), -1.0),
        A_ub=np.column_stack([-game.T, np.ones(columns)]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[*[(0, None)] * rows, (None, None)],
        method="highs",
        options=SOLVER,
    )
    assert solution.success, solution.message  # every matrix game has a solution
    mixture = np.clip(solution.x[:rows], 0, None)
    weights = np.clip(-solution.ineqlin.marginals, 0, None)
    return _polished(game, mixture / mixture.sum(), weights / weights.sum())


def _polished(
    game: Float[np.ndarray, "rows columns"],
    mixture: Float[np.ndarray, " rows"],
    weights: Float[np.ndarray, " columns"],
) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " columns"]]:
    """The same mixtures, solved again on their supports where that narrows the gap to zero."""
    rows, columns = mixture > SHARE_TOLERANCE, weights > SHARE_TOLERANCE
    candidates = [(mixture, weights)]
    if rows.sum() == columns.sum():
        kernel = game[np.ix_(rows, columns)]
        if np.linalg.cond(kernel) < 1e8:
            exact_rows, exact_columns = np.zeros_like(mixture), np.zeros_like(weights)
            exact_rows[rows] = np.linalg.solve(kernel.T, np.ones(int(rows.sum())))
            exact_columns[columns] = np.linalg.solve(kernel, np.ones(int(rows.sum())))
            if exact_rows.min() >= 0 and exact_columns.min() >= 0:
                exact = exact_rows / exact_rows.sum(), exact_columns / exact_columns.sum()
                candidates.append(exact)
    gaps = [float((game @ y).max() - (x @ game).min()) for x, y in candidates]
    return candidates[int(np.argmin(gaps))]


def optimal_range(
    game: Float[np.ndarray, "rows columns"],
    mixture: Float[np.ndarray, " rows"],
    weights: Float[np.ndarray, " columns"],
) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
    """The smallest and largest share of each row over all optimal mixtures.

    By complementary slackness optimal mixtures live on the rows that are best replies to the
    weights, and are worth exactly the value in every column that has weight. If those equations
    have one solution there is nothing to search; otherwise two linear programs per row.
    """
    value = float((mixture @ game).min())
    best = game @ weights > value - SHARE_TOLERANCE
    weighted = weights > SHARE_TOLERANCE
    low, high = mixture.copy(), mixture.copy()
    if np.linalg.matrix_rank(game[np.ix_(best, weighted)], tol=1e-8) == best.sum():
        return low, high
    count = int(best.sum())
    equations = np.vstack([game[np.ix_(best, weighted)].T, np.ones(count)])
    for i, sign in itertools.product(range(count), (1.0, -1.0)):
        solution = scipy.optimize.linprog(
            c=sign * np.eye(count)[i],
            A_ub=-game[np.ix_(best, ~weighted)].T,
            b_ub=np.full(int((~weighted).sum()), -value + 1e-10),
            A_eq=equations,
            b_eq=np.append(np.full(int(weighted.sum()), value), 1.0),
            method="highs",
            options={**SOLVER, "primal_feasibility_tolerance": 1e-9},
        )
        assert solution.success, solution.message  # `mixture` is feasible
        (low if sign > 0 else high)[np.flatnonzero(best)[i]] = sign * solution.fun
    return low, high
