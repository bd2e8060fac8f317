"""Training in shuffled epochs, as a PyTorch loader has it: every row once before any comes twice.

The engine draws batches with replacement from a training set that is not stored. Here the same
set (row i of the run's data key), the same initial weights and the same update are used, on batches
that are cut from permutations; what is left of an epoch that fills no batch is dropped.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Float, Int

from elegans import checks
from elegans.fields import configuration
from elegans.keys import Keys, keys_of
from elegans.training import source, step, updates
from elegans.training.recipe import Training


@configuration
class ShuffledEpochs:
    """A run in shuffled epochs: a computation that returns its success and steps."""

    task: Any
    model: Any
    training: Training

    def __post_init__(self) -> None:
        checks.whole(self, "samples", self.training.samples, low=1, what="counts the rows")
        low = self.training.batch or 1
        what = "is at least one batch"
        checks.whole(self, "samples", self.training.samples, low=low, what=what)

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row, in the words of a run's table."""
        training, keys = self.training, keys_of(seed)
        train = data_rows(self.task, keys.data, int(training.samples or 0))
        test = data_rows(self.task, keys.test, int(training.test_samples))
        params = self.model.init_params(keys.init, self.task)
        state = step.State(params, updates.init(training, params), jnp.zeros((), jnp.int32))
        batches = epochs(seed, len(train[1]), int(training.batch or 0))
        rule = None if training.stop is None else training.stop.test_error
        limit = -1.0 if rule is None else float(rule)
        error, every = 1.0, training.interval
        while int(state.step) < int(training.steps) and not error <= limit:
            chunk = np.stack([next(batches) for _ in range(every)])
            state = advanced(self.model, training, keys, state, train, jnp.asarray(chunk))
            error = float(error_of(self.model, state.params, test))
        numbers = {"status": "done", "success": error <= limit, "steps": int(state.step)}
        return pd.DataFrame([numbers | {"test_error": error}])


def epochs(seed: int, rows: int, batch: int) -> Iterator[Int[np.ndarray, " batch"]]:
    """Batches of row numbers, epoch by epoch, each a new permutation cut into pieces."""
    generator = np.random.default_rng([seed, rows])
    while True:
        order = generator.permutation(rows)
        yield from order[: rows // batch * batch].reshape(-1, batch)


@partial(jax.jit, static_argnums=2)
def data_rows(task: Any, key: Array, size: int) -> tuple[Array, Array]:
    """The first rows of the data set under a key."""
    x, y = source.rows(task, key, jnp.arange(size, dtype=jnp.uint32))[:2]
    return x, y


@jax.jit
def advanced(
    model: Any,
    training: Training,
    keys: Keys,
    state: step.State,
    train: tuple[Array, Array],
    chunk: Int[Array, "steps batch"],
) -> step.State:
    """The state after one update per batch of the chunk."""

    def one(state: step.State, indices: Int[Array, " batch"]) -> tuple[step.State, None]:
        batch = (train[0][indices], train[1][indices])
        return step.updated(model, training, keys, state, batch, is_full=False), None

    return jax.lax.scan(one, state, chunk)[0]


@jax.jit
def error_of(model: Any, params: Any, rows: tuple[Array, Array]) -> Float[Array, ""]:
    """The share of rows whose sign is not predicted; an output of zero or NaN is an error."""
    x, y = rows
    predictions = jax.vmap(partial(model.apply, params))(x)
    return jnp.mean(~(predictions * y > 0))
