r"""The task of multiplying in a finite group: from a pair $(a, b)$ to the product $ab$.

The population is all $|G|^2$ pairs, in row-major order; the label is a class, one of $|G|$. With a
`fraction`, that share of the population is trained on and the rest is the test set.
"""

from typing import NamedTuple

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Int, PRNGKeyArray

from elegans import checks
from elegans.fields import configuration
from elegans.tasks.groups.group import FiniteGroup


class Pairs(NamedTuple):
    """Pairs of elements and their products, which share their leading axis."""

    x: Int[Array, "batch 2"]
    y: Int[Array, " batch"]


@configuration
class GroupOperation:
    """The product of two uniform elements of `group`.

    Attributes:
        group: Such as `Cyclic(71)`, which makes the task modular addition.
        fraction: The share of the population that is trained on; None is all of it.
    """

    group: FiniteGroup
    fraction: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.group, FiniteGroup):
            raise TypeError(
                f"GroupOperation: group is a group such as Cyclic(5); got {self.group!r}."
            )
        what = "is the share of the population that is trained on"
        checks.number(self, "fraction", self.fraction, low=0, high=1, what=what)
        if isinstance(self.fraction, int | float) and self.fraction == 0:
            raise ValueError(f"{checks.shown(self)}: fraction {what}, so it is more than 0.")

    @property
    def classes(self) -> int:
        """The number of elements, each of which is a label."""
        return self.group.order

    @property
    def labels(self) -> str:
        """Labels are numbers of classes."""
        return "class"

    def label(self, x: Int[Array, "*batch 2"]) -> Int[Array, "*batch"]:
        """The product of each pair."""
        return jnp.asarray(self.group.table)[x[..., 0], x[..., 1]]

    def sample(self, key: PRNGKeyArray, size: int) -> Pairs:
        """Draws `size` independent pairs of the whole population, with replacement."""
        x = jr.randint(key, (size, 2), 0, self.group.order, dtype=jnp.int32)
        return Pairs(x, self.label(x))

    def population(self) -> Pairs:
        """Every pair once, in row-major order: row $a|G| + b$ is $(a, b)$."""
        n = self.group.order
        pairs = jnp.arange(n * n, dtype=jnp.int32)
        return Pairs(
            jnp.stack([pairs // n, pairs % n], axis=-1), jnp.asarray(self.group.table).reshape(-1)
        )
