r"""Tables of real data as tasks, split as in the Pareto paper, appendix C.3.

A tenth of the rows, drawn by the run's seed, is the test set; a fraction of the others, drawn by
the same, is the training set. Every column is standardised to mean 0 and standard deviation 1 by
the statistics of all rows of the table, as the paper does it ("we standardize the dataset"): inputs
of the test set enter these, labels do not. A constant column becomes zero. Labels are $\pm 1$.

The split is an order of the rows. Training sets of one seed are nested: that of a smaller fraction
is the beginning of that of a larger one, and the test set is the same.
"""

from functools import lru_cache
from os import PathLike, fspath
from typing import NamedTuple

import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from elegans import checks
from elegans.fields import Number, configuration
from elegans.tasks.boolean import Batch
from elegans.tasks.tables import openml
from elegans.tasks.tables.openml import Entry

TEST_FRACTION = 0.1  # of the rows


class Sizes(NamedTuple):
    """How many rows are for training and for testing."""

    train: int
    test: int


class Examples(NamedTuple):
    """Inputs and labels +-1, in memory."""

    x: Float[np.ndarray, "batch n"]
    y: Float[np.ndarray, " batch"]


class Split(NamedTuple):
    """What one seed trains and tests on."""

    train: Examples
    test: Examples


@configuration
class Tabular:
    """A table of the benchmark, of which a `fraction` of the training rows is used.

    Attributes:
        name: One of `suite()`; upper and lower case are the same.
        fraction: Of the nine tenths of the rows that are not for testing.
        directory: Where NAME.npz is; None is ELEGANS_DATA or, if that is not set, OpenML.
        rows: How many rows the table has, refused if it has others. `load` writes it down, so that
            a record of a part of a table is never taken for one of the whole.
    """

    name: str
    fraction: Number = 1.0
    directory: str | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name.lower() not in openml.SUITE:
            known = ", ".join(openml.SUITE)
            raise ValueError(f"Tabular: name is one of {known}; got {self.name!r}.")
        object.__setattr__(self, "name", self.name.lower())
        checks.number(self, "fraction", self.fraction, low=0, high=1, what="is a part of the rows")
        if isinstance(self.fraction, int | float) and self.fraction == 0:
            raise ValueError(f"{checks.shown(self)}: fraction is more than 0.")
        if self.directory is not None:
            object.__setattr__(self, "directory", fspath(self.directory))
        if self.rows is not None:
            checks.whole(self, "rows", self.rows, low=2, what="counts the rows of the table")

    @property
    def entry(self) -> Entry:
        """The table's row in Table 1 of the paper."""
        return openml.SUITE[self.name]

    @property
    def table(self) -> openml.Table:
        """The rows as they are stored, labels 0 and 1."""
        return self._rows[0]

    @property
    def _rows(self) -> tuple[openml.Table, Examples]:
        table, examples = rows_of(self.name, openml.directory_of(self.directory))
        if self.rows is not None and len(table.x) != self.rows:
            raise ValueError(f"{checks.shown(self)}: the table here has {len(table.x)} rows.")
        return table, examples

    @property
    def is_exact(self) -> bool:
        """Whether the table has as many rows and columns as in the paper: no part of it."""
        return self.table.x.shape == (self.entry.rows, self.entry.features)

    @property
    def features(self) -> int:
        """The length of an input."""
        return int(self.table.x.shape[1])

    @property
    def n(self) -> int:
        """The length of an input."""
        return self.features

    @property
    def labels(self) -> str:
        """Signs, predicted by one real number."""
        return "sign"

    @property
    def sizes(self) -> Sizes:
        """How many rows a run trains and tests on."""
        return sizes_of(len(self.table.x), float(self.fraction))

    def standardised(self) -> Examples:
        """All rows, columns of mean 0 and standard deviation 1, labels +-1."""
        return self._rows[1]

    def order(self, key: PRNGKeyArray) -> np.ndarray:
        """The rows of the table in the order of a key: training rows first, test rows last."""
        seed = np.asarray(jr.key_data(key)).tolist()
        return np.random.default_rng(seed).permutation(len(self.table.x))

    def stored(self, key: PRNGKeyArray) -> Batch:
        """All rows in the order of a key, for the engine."""
        x, y = self.standardised()
        order = self.order(key)
        return Batch(jnp.asarray(x[order]), jnp.asarray(y[order]))

    def split(self, key: PRNGKeyArray) -> Split:
        """The training set and the test set of a key, for learners outside of the engine."""
        x, y = self.standardised()
        order, (train, test) = self.order(key), self.sizes
        first, last = order[:train], order[::-1][:test]
        return Split(Examples(x[first], y[first]), Examples(x[last], y[last]))

    def sample(self, key: PRNGKeyArray, size: int) -> Batch:
        """Draws `size` rows of the whole table, with replacement."""
        x, y = self.standardised()
        chosen = jr.randint(key, (size,), 0, len(x))
        return Batch(jnp.asarray(x)[chosen], jnp.asarray(y)[chosen])

    def population(self) -> Batch:
        """Every row once."""
        x, y = self.standardised()
        return Batch(jnp.asarray(x), jnp.asarray(y))


def sizes_of(rows: int, fraction: float) -> Sizes:
    """How many of a table's rows are for training, at a fraction, and for testing."""
    test = max(1, round(TEST_FRACTION * rows))
    return Sizes(max(1, round(fraction * (rows - test))), test)


@lru_cache(maxsize=len(openml.SUITE))
def rows_of(name: str, directory: str | None) -> tuple[openml.Table, Examples]:
    """The rows of a table, as they are stored and as they are learned from."""
    table = openml.table(name, directory)
    x = table.x.astype(np.float64)
    is_constant = x.min(axis=0) == x.max(axis=0)
    x = (x - x.mean(axis=0)) / np.where(is_constant, 1.0, x.std(axis=0))
    x = np.where(is_constant, 0.0, x).astype(np.float32)
    return table, Examples(x, 2 * table.y - 1)


def load(
    name: str, directory: str | PathLike[str] | None = None, fraction: float | int = 1.0
) -> Tabular:
    """The task of one of the 16 tables, with its rows read or fetched now.

    Args:
        name: One of `suite()`.
        directory: Where NAME.npz is; None is ELEGANS_DATA or, if that is not set, OpenML.
        fraction: Of the training rows.

    Raises:
        MissingData: The table is not there, and OpenML cannot be reached.
    """
    where = None if directory is None else fspath(directory)
    task = Tabular(name, fraction, where)
    return Tabular(name, fraction, where, rows=len(task.table.x))


def suite() -> dict[str, Entry]:
    """The 16 tables by name, with Table 1 of the Pareto paper: OpenML's number, columns, rows."""
    return dict(openml.SUITE)
