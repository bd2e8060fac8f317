"""Learners that are not SGD, at the sizes that a study needs. One core."""

import resource
import subprocess
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.line import Line, at_most, seconds, table
from elegans.learners import GaussianElimination, LowDegreeRegressor, ParitySearch


def parity(n: int, k: int, rows: int, flip: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Examples of the parity of the last `k` of `n` bits, the last support to be tried."""
    generator = np.random.default_rng(0)
    x = 1 - 2 * generator.integers(0, 2, (rows, n))
    y = x[:, n - k :].prod(axis=1)
    return x, np.where(generator.random(rows) < flip, -y, y)


def search(n: int, k: int, bar: float) -> Line:
    """Exhaustive search with 1,000 noisy examples."""
    x, y = parity(n, k, 1000, flip=0.2)
    found = ParitySearch(k=k).fit(x, y).support_
    if found != tuple(range(n - k, n)):
        raise AssertionError(f"ParitySearch(k={k}) found {found} among {n} bits.")
    time = seconds(lambda: ParitySearch(k=k).fit(x, y))
    return at_most(f"ParitySearch, n = {n}, k = {k}, m = 1,000", time, bar, "s")


def elimination() -> Line:
    """A parity of a thousand of 2,000 bits."""
    x, y = parity(2000, 1000, 2200)
    found = GaussianElimination().fit(x, y)
    if found.support_ != tuple(range(1000, 2000)):
        raise AssertionError("GaussianElimination found another support.")
    time = seconds(lambda: GaussianElimination().fit(x, y))
    return at_most("GaussianElimination, n = 2,000, m = 2,200", time, 1.0, "s")


def low_degree() -> Line:
    """Peak memory of a process that fits 36,051 monomials to 20,000 examples."""
    command = [sys.executable, "-m", "benchmarks.learners", "low-degree"]
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return at_most("LowDegreeRegressor, n = 60, d = 3, m = 20,000: peak", peak, 12, "GB")


def fit_low_degree() -> float:
    """Fits, checks the largest coefficient, and returns this process's peak memory in GB."""
    x, y = parity(60, 3, 20_000)
    model = LowDegreeRegressor(degree=3).fit(x, y)
    if model.monomials_[int(np.abs(model.coef_).argmax())] != (57, 58, 59):
        raise AssertionError("LowDegreeRegressor does not see the parity.")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def lines() -> list[Line]:
    """All lines of this table."""
    with threadpool_limits(1):
        return [search(100, 4, 3.0), search(300, 3, 4.0), elimination(), low_degree()]


if __name__ == "__main__":
    if sys.argv[1:] == ["low-degree"]:
        with threadpool_limits(1):
            print(fit_low_degree())
    else:
        print(table(lines()))
