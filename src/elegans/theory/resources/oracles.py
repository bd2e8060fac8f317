r"""A statistical query oracle: averages over a task's distribution, up to a tolerance.

A query is a function $\phi(x, y) \in [-1, 1]$ of an example; the oracle answers with some $v$ such
that $|v - \mathbb{E}\,\phi(x, y)| \le \tau$. How it errs is a choice: not at all, at random, or as
an adversary who stays as close as the tolerance lets him to the answer for labels that are coins,
which depends on no target.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.statistics import hoeffding_samples

Query = Callable[[Float[np.ndarray, "rows n"], Float[np.ndarray, " rows"]], np.ndarray]
ANSWERS = ("honest", "random", "adversarial")


@runtime_checkable
class Population(Protocol):
    """What the oracle needs of a task: all its inputs with noiseless labels, or a sample."""

    def population(self) -> tuple[Float[Any, "rows n"], Float[Any, " rows"]]:
        """Every input once, with its label."""
        ...

    def sample(self, key: Any, size: int) -> tuple[Float[Any, "size n"], Float[Any, " size"]]:
        """Random examples, labels with their noise."""
        ...


class StatisticalQueryOracle:
    """Answers queries about `task` within `tolerance`, and counts them.

    The task's own noise counts: labels are negated with probability `task.flip`, and bits are true
    with probability `task.p` where it has one. A task that is too large to enumerate is sampled
    once, with `samples` examples; "honest" answers are then averages over these, which are within
    the tolerance except with probability 1e-9 a query, and no other answers are given.
    """

    def __init__(
        self,
        task: Population,
        tolerance: float,
        *,
        answers: str = "honest",
        samples: int | None = None,
        seed: int = 0,
    ) -> None:
        checks.number("StatisticalQueryOracle", "tolerance", tolerance, low=0.0, what="is an error")
        if not tolerance > 0:
            raise ValueError(
                "StatisticalQueryOracle: tolerance is positive, as an average over examples has an "
                f"error; got {tolerance!r}."
            )
        checks.choice("StatisticalQueryOracle", "answers", answers, ANSWERS)
        self.task = task
        self.tolerance = tolerance
        self.answers = answers
        self.queries = 0
        self._generator = np.random.default_rng(seed)
        if samples is not None:
            self._draw(samples, seed)
            return
        x, y = task.population()
        self._x, self._y = np.asarray(x, float), np.asarray(y, float)
        self._flip = float(getattr(task, "flip", 0.0))
        p = getattr(task, "p", None)
        chance = 0.5 if p is None else float(p)
        weight = np.where(self._x < 0, chance, 1 - chance).prod(axis=1)
        self._weight = weight / weight.sum()  # tasks whose inputs are no cube are uniform

    def __call__(self, query: Query) -> float:
        """The answer to one query, a function of rows `x` and labels `y` with values in [-1, 1]."""
        self.queries += 1
        plain, negated = self._mean(query, self._y), self._mean(query, -self._y)
        truth = (1 - self._flip) * plain + self._flip * negated
        if self.answers == "honest":
            return truth
        if self.answers == "random":
            return truth + float(self._generator.uniform(-self.tolerance, self.tolerance))
        blind = (plain + negated) / 2
        return float(np.clip(blind, truth - self.tolerance, truth + self.tolerance))

    def _draw(self, samples: int, seed: int) -> None:
        """Takes a sample for the population."""
        import jax

        needed = hoeffding_samples(self.tolerance, 2.0, 1e-9)
        if samples < needed or self.answers != "honest":
            raise ValueError(
                f"StatisticalQueryOracle(tolerance={self.tolerance}): a sampled oracle is honest "
                f"and has at least {needed:,} samples; got {samples:,} and {self.answers!r}."
            )
        x, y = self.task.sample(jax.random.key(seed), samples)
        self._x, self._y = np.asarray(x, float), np.asarray(y, float)
        self._flip = 0.0  # the labels have their noise already
        self._weight = np.full(samples, 1 / samples)

    def _mean(self, query: Query, y: Float[np.ndarray, " rows"]) -> float:
        values = np.asarray(query(self._x, y), float)
        largest = np.abs(values).max()
        if values.shape != y.shape or not largest <= 1 + 1e-9:
            raise ValueError(
                f"A query returns one number in [-1, 1] an example, {y.shape[0]} here; "
                f"got shape {values.shape} and largest absolute value {largest:g}."
            )
        return float(self._weight @ values)
