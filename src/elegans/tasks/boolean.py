r"""Tasks on the Boolean cube whose labels depend on a few of the bits.

Bits are $\pm 1$ throughout: a product is an exclusive or, and $-1$ is "true". A task hides a
*support*, the $k$ relevant coordinates out of $n$; a learner that treats its inputs alike finds all
supports of one size equally hard, so it is the first $k$ unless given. Inputs are uniform, or each
bit is true with probability $p$. With `flip`, each label is negated with that probability.

An example is a function of its key alone: `sample(key, 1)` under `fold_in(data_key, i)` is row $i$
of a training set that is stored nowhere.
"""

from typing import NamedTuple

import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks, cube
from elegans.cube import biased_bits, relevant_bits, uniform_bits
from elegans.fields import Number, configuration, is_off

POPULATION_MAX = 20  # bits; 2**20 inputs of 20 floats take 80 MB


class Batch(NamedTuple):
    """Inputs and labels that share their leading axis."""

    x: Float[Array, "batch n"]
    y: Float[Array, " batch"]


class BooleanTask:
    """What the tasks of this file share: drawing inputs, flipping labels, the whole population."""

    n: int
    k: int
    flip: Number
    support: tuple[int, ...] | None
    p: Number | None = None  # fair bits

    @property
    def features(self) -> int:
        """The length of an input."""
        return self.n

    @property
    def labels(self) -> str:
        """Signs, predicted by one real number."""
        return "sign"

    @property
    def relevant(self) -> tuple[int, ...]:
        """The support, which construction has filled in."""
        assert self.support is not None
        return self.support

    def label(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """The noiseless label of each row of `x`."""
        raise TypeError(f"{type(self).__name__} is not a task: it has no labels.")

    def sample(self, key: PRNGKeyArray, size: int) -> Batch:
        """Draws `size` independent examples."""
        if self.p is None:
            x = uniform_bits(key, size, self.n)
        else:
            x = biased_bits(key, size, self.n, self.p)
        y = self.label(x)
        if not is_off(self.flip):
            y = jnp.where(jr.bernoulli(jr.fold_in(key, 1), self.flip, (size,)), -y, y)
        return Batch(x, y)

    def population(self) -> Batch:
        """Every input once, without noise: bit $i$ of the row's number is 1 where $x_i = -1$."""
        if self.n > POPULATION_MAX:
            raise ValueError(
                f"{checks.shown(self)}: "
                f"the population is 2**{self.n} inputs, more than the 2**{POPULATION_MAX} "
                "that are written out. Use sample(key, size)."
            )
        x = cube.population(self.n)
        return Batch(x, self.label(x))

    def _first_support(self) -> tuple[int, ...]:
        return tuple(range(self.k))

    def _check(self) -> None:
        """Checks the shared fields and fills in the support."""
        checks.whole(self, "n", self.n, low=1, what="counts the bits")
        checks.whole(self, "k", self.k, low=1, high=self.n, what="counts relevant bits")
        if self.support is None:
            object.__setattr__(self, "support", self._first_support())
        else:
            checks.support(self, self.n, self.k, self.support)
            object.__setattr__(self, "support", tuple(int(i) for i in self.support))
        checks.number(self, "flip", self.flip, low=0, high=1, what="is a probability")
        checks.number(self, "p", self.p, low=0, high=1, what="is the probability of a true bit")


@configuration
class SparseTask(BooleanTask):
    """Fields of the tasks that are named by `n` and `k` alone."""

    n: int
    k: int
    flip: Number = 0.0
    support: tuple[int, ...] | None = None
    p: Number | None = None

    def __post_init__(self) -> None:
        self._check()


@configuration
class Parity(SparseTask):
    r"""The parity $\chi_S(x) = \prod_{i \in S} x_i$ of `k` of `n` bits.

    Under fair bits characters are orthonormal, so no smaller set of bits tells anything of $S$.

    Attributes:
        n: Bits of an input, each -1 or +1.
        k: Relevant bits.
        flip: The probability that a label has the other sign; the whole population has no noise.
        support: Which bits are relevant; None is the first `k`.
        p: The probability that a bit is true, which is -1; None is fair bits.
    """

    def label(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        r"""The character $\chi_S$ at each row of `x`."""
        return jnp.prod(relevant_bits(x, self.relevant), axis=-1)


@configuration
class DisjointParity(Parity):
    """A parity with one relevant bit in each of `k` equal blocks of the `n` inputs.

    Fields are those of `Parity`; `support=None` is the first bit of each block.
    """

    def __post_init__(self) -> None:
        self._check()
        block = self.n // self.k
        hit = sorted(i // block for i in self.relevant)
        if hit != list(range(self.k)):
            raise ValueError(
                f"{checks.shown(self)}: "
                f"support holds one bit of each block of {block}; it hits blocks {hit}."
            )

    def _first_support(self) -> tuple[int, ...]:
        if self.n % self.k:
            raise ValueError(
                f"{checks.shown(self)}: "
                f"the blocks are equal, so k divides n; {self.n % self.k} left."
            )
        return tuple(range(0, self.n, self.n // self.k))


@configuration
class Conjunction(SparseTask):
    """True (that is, -1) exactly if all `k` relevant bits are true; fields as in `Parity`."""

    def label(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """The largest relevant bit of each row of `x`."""
        return jnp.max(relevant_bits(x, self.relevant), axis=-1)


@configuration
class Disjunction(SparseTask):
    """True (-1) exactly if at least one of the `k` relevant bits is true; fields as in `Parity`."""

    def label(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """The smallest relevant bit of each row of `x`."""
        return jnp.min(relevant_bits(x, self.relevant), axis=-1)


@configuration
class SparseMajority(SparseTask):
    """The sign of the sum of `k` relevant bits, `k` odd; fields as in `Parity`."""

    def __post_init__(self) -> None:
        self._check()
        if self.k % 2 == 0:
            raise ValueError(
                f"{checks.shown(self)}: a majority has no ties, so k is odd; got {self.k}."
            )

    def label(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """The sign of the sum of the relevant bits of each row of `x`."""
        return jnp.sign(jnp.sum(relevant_bits(x, self.relevant), axis=-1))


@configuration
class Junta(BooleanTask):
    r"""Any function of $k$ hidden bits, given by its `table` of $2^k$ signs.

    Entry $j$ is the label where bit $i$ of $j$ is 1 exactly if the $i$-th relevant bit is $-1$, so
    `(1, -1)` is the dictator and `(1, -1, -1, 1)` the parity of two bits. Other fields are those of
    `Parity`.
    """

    n: int
    table: tuple[int, ...]
    flip: Number = 0.0
    support: tuple[int, ...] | None = None
    p: Number | None = None

    def __post_init__(self) -> None:
        size = len(self.table)
        if size < 2 or size & (size - 1):
            raise ValueError(
                f"Junta(n={self.n}): table has 2**k entries for k >= 1 relevant bits; got {size}."
            )
        if any(value not in (-1, 1) for value in self.table):
            raise ValueError(f"Junta(n={self.n}): table holds signs, -1 or +1; got {self.table}.")
        object.__setattr__(self, "table", tuple(int(value) for value in self.table))
        self._check()

    @property
    def k(self) -> int:  # type: ignore[override]
        """The number of relevant bits, from the length of the table."""
        return len(self.table).bit_length() - 1

    def label(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """The table's entry at the relevant bits of each row of `x`."""
        true = (relevant_bits(x, self.relevant) < 0).astype(jnp.int32)
        row = jnp.sum(true * 2 ** jnp.arange(self.k), axis=-1)
        return jnp.asarray(self.table, jnp.float32)[row]
