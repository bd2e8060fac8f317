"""Training networks on a stored table: shuffled epochs, held-out rows, several networks at a time.

The members of an ensemble differ in their init, in the order of their rows and in the rows that
they hold out. They train in the engine's lanes: one at a time on a CPU core, where processes share
them out, and all side by side elsewhere. Shapes are rounded up, so that tables of about the same
size share their compiled programs; the rows and columns that fill up are zero and count nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, Key, Num, PRNGKeyArray, PyTree

from elegans.estimators.table import Rows
from elegans.models.inits import Layer, Layers
from elegans.models.mlp import MLP
from elegans.training import losses, program, updates
from elegans.training.lanes import default_lanes
from elegans.training.loop import stacked
from elegans.training.program import Structure
from elegans.training.recipe import Training
from elegans.training.step import State

BLOCK = 256  # rows predicted at once
SMALLEST_BATCH = 16  # unless a smaller one is asked for
MIN_STEPS_PER_EPOCH = 8  # as long as batches are larger than the smallest
COLUMN_MULTIPLE = 8  # inputs are rounded up to a multiple of this
NOISE = 10**6  # what a member's key for dropout is folded with; inits use small numbers
Watch = Callable[[int], None]  # called with the number of members that have seen an epoch
Network = list[tuple[np.ndarray, np.ndarray]]  # (weight, bias) of each layer, input to output


class Shape(NamedTuple):
    """What an init needs to know of the data."""

    features: int
    classes: int | None


class PaddedRows(NamedTuple):
    """Rows as the compiled programs take them; the last ones fill up and have weight zero."""

    x: Float[Array, "rows n"]
    y: Num[Array, " rows"]
    weight: Float[Array, " rows"]


class Member(NamedTuple):
    """One trained network: its weights, the epochs that they took, and its losses by epoch."""

    layers: Network
    epochs: int
    loss: np.ndarray
    holdout_loss: np.ndarray


@dataclass(frozen=True)
class Fit:
    """All that a fit depends on besides the rows and the seeds."""

    model: MLP
    training: Training
    shape: Shape
    epochs: int
    holdout: float = 0.0
    patience: int = 1
    smoothing: float = 0.0

    def recipe(self, rows: int) -> Training:
        """The recipe for so many training rows: its batch, and the steps of all epochs.

        A small table takes smaller batches, a power of two, so that an epoch has eight steps.
        """
        assert self.training.batch is not None
        batch = min(
            self.training.batch,
            max(SMALLEST_BATCH, 2 ** (rows // MIN_STEPS_PER_EPOCH).bit_length() // 2),
        )
        steps = self.epochs * -(-rows // batch)
        warmup = min(int(self.training.warmup), steps // 10)
        return replace(self.training, batch=batch, steps=steps, warmup=warmup)


def fit(
    description: Fit,
    rows: Rows,
    seeds: list[int],
    initial: list[Network] | None = None,
    watch: Watch | None = None,
) -> list[Member]:
    """A network for each seed, from the initial one if there are any, or else from its init."""
    lanes = 1 if default_lanes() == 1 else len(seeds)
    members: list[Member] = []
    for i in range(0, len(seeds), lanes):
        chosen = slice(i, i + lanes)
        networks = initial[chosen] if initial else None
        members += _Lanes(description, rows, seeds[chosen], networks).run(watch)
    return members


class _Lanes:
    """Members that train side by side, each on its own part of the rows."""

    def __init__(
        self, description: Fit, rows: Rows, seeds: list[int], initial: list[Network] | None
    ) -> None:
        self.fit = description
        self.orders = [np.random.default_rng(seed) for seed in seeds]
        self.parts = [split_rows(rows.y, description, order) for order in self.orders]
        count = len(self.parts[0][0])
        training = description.recipe(count)
        self.batch = training.batch or count
        self.steps = -(-count // self.batch)
        self.structure, self.numbers = program.split((), description.model, training)
        self.rows = padded_rows(rows)
        self.keys = jnp.stack([jr.fold_in(jr.key(seed), NOISE) for seed in seeds])
        states = [
            _initial_state(description, training, seed, initial[i] if initial else None)
            for i, seed in enumerate(seeds)
        ]
        self.state: State = stacked(states)
        self.curves: list[np.ndarray] = []
        self.holdout_curves: list[np.ndarray] = []

    def run(self, watch: Watch | None) -> list[Member]:
        """Trains until every member has seen all epochs or has long stopped improving."""
        best = jax.tree.map(jnp.copy, self.state.params)
        best_loss = np.full(len(self.orders), np.inf)
        best_epoch = np.zeros(len(self.orders), int)
        holds_out = len(self.parts[0][1]) > 0
        for epoch in range(1, self.fit.epochs + 1):
            self._advance()
            if holds_out:
                loss = self._holdout_loss()
                improves = (loss < best_loss) & (epoch - best_epoch <= self.fit.patience)
                best_loss = np.where(improves, loss, best_loss)
            else:
                improves = np.ones(len(self.orders), bool)  # the last epoch is the best known
            best_epoch = np.where(improves, epoch, best_epoch)
            best = _chosen(jnp.asarray(improves), self.state.params, best)
            if watch:
                watch(len(self.orders))
            if not np.any(epoch - best_epoch < self.fit.patience):
                break
        return self._members(jax.device_get(best), best_epoch)

    def _advance(self) -> None:
        """One epoch: every row once, in an order of each member's own."""
        orders = [
            shuffled(order, train, self.batch, len(self.rows.y))
            for order, (train, _) in zip(self.orders, self.parts, strict=True)
        ]
        self.state, loss = advance(
            self.structure,
            len(orders),
            self.fit.smoothing,
            self.numbers,
            self.rows,
            self.state,
            self.keys,
            np.stack(orders),
            np.full(len(orders), self.steps, np.int32),
        )
        self.curves.append(np.asarray(loss, np.float64) / self.steps)

    def _holdout_loss(self) -> np.ndarray:
        """The mean loss of each member on the rows that it holds out."""
        total = np.zeros((2, len(self.parts)))
        places = np.stack([in_whole_blocks(part, len(self.rows.y)) for _, part in self.parts])
        for i in range(0, places.shape[1], BLOCK):
            block = places[:, i : i + BLOCK]
            sums = weighted_loss(
                self.structure,
                len(block),
                self.fit.smoothing,
                self.numbers,
                self.rows,
                self.state.params,
                block,
            )
            total += np.asarray(sums, np.float64)
        self.holdout_curves.append(total[0] / total[1])
        return self.holdout_curves[-1]

    def _members(self, params: PyTree, epochs: np.ndarray) -> list[Member]:
        n = self.fit.shape.features
        curves, holdout_curves = np.array(self.curves).T, np.array(self.holdout_curves).T
        return [
            Member(
                [
                    (np.array(w[i][: n if depth == 0 else None]), np.array(b[i]))
                    for depth, (w, b) in enumerate(params.layers)
                ],
                int(epochs[i]),
                curves[i],
                holdout_curves[i] if len(holdout_curves) else np.empty(0),
            )
            for i in range(len(self.orders))
        ]


@partial(jax.jit, static_argnums=(0, 1, 2), donate_argnums=5)
def advance(
    structure: Structure,
    lanes: int,
    smoothing: float,
    numbers: tuple[Any, ...],
    rows: PaddedRows,
    state: State,
    keys: Key[Array, " lanes"],
    order: Int[Array | np.ndarray, "lanes most batch"],
    count: Int[Array | np.ndarray, " lanes"],
) -> tuple[State, Float[Array, " lanes"]]:
    """Each lane after `count` steps on the rows in `order`, and the sum of its batches' losses.

    Dropout depends on the lane's key and the step.
    """
    _, model, training = program.join(structure, numbers)

    def loss(params: PyTree, batch: PaddedRows, key: PRNGKeyArray) -> Float[Array, ""]:
        outputs = model.apply(params, batch.x, key)
        total = jnp.sum(batch.weight * row_losses(training.loss, smoothing, outputs, batch.y))
        return total / jnp.maximum(1, jnp.sum(batch.weight > 0))

    def one(state: State, key: PRNGKeyArray, order: Array, count: Array) -> tuple[State, Array]:
        def step(j: Array, carry: tuple[State, Array]) -> tuple[State, Array]:
            state, total = carry
            batch = jax.tree.map(lambda leaf: leaf[order[j]], rows)
            noise = jr.fold_in(key, state.step)
            value, grads = jax.value_and_grad(loss)(state.params, batch, noise)
            params, optimizer = updates.update(
                training, grads, state.optimizer, state.params, state.step
            )
            return State(params, optimizer, state.step + 1), total + value

        return jax.lax.fori_loop(0, count, step, (state, jnp.zeros(())))

    return program.in_lanes(one, lanes)(state, keys, order, count)


@partial(jax.jit, static_argnums=(0, 1, 2))
def weighted_loss(
    structure: Structure,
    lanes: int,
    smoothing: float,
    numbers: tuple[Any, ...],
    rows: PaddedRows,
    params: PyTree,
    places: Int[Array | np.ndarray, "lanes block"],
) -> tuple[Float[Array, " lanes"], Float[Array, " lanes"]]:
    """Each lane's loss on some rows, weighted and summed, and the sum of the weights."""
    _, model, training = program.join(structure, numbers)

    def one(params: PyTree, places: Array) -> tuple[Array, Array]:
        block = jax.tree.map(lambda leaf: leaf[places], rows)
        values = row_losses(training.loss, smoothing, model.apply(params, block.x), block.y)
        return jnp.sum(block.weight * values), jnp.sum(block.weight)

    return program.in_lanes(one, lanes)(params, places)


@jax.jit
def _outputs(params: Layers, x: Float[Array, "rows n"]) -> Float[Array, "..."]:
    return MLP(width=1).apply(params, x)  # a network's sizes are those of its parameters


def outputs(layers: Network, x: Float[np.ndarray, "rows n"]) -> Float[np.ndarray, "..."]:
    """The network's output at each row.

    Rows go through in blocks of one size, so that a row's output does not depend on its neighbours.
    """
    params = padded_layers(layers)
    blocks = []
    for i in range(0, len(x), BLOCK):
        part = x[i : i + BLOCK]
        block = np.zeros((BLOCK, params.layers[0].weight.shape[0]), np.float32)
        block[: len(part), : x.shape[1]] = part
        blocks.append(np.asarray(_outputs(params, jnp.asarray(block)))[: len(part)])
    return np.concatenate(blocks)


def row_losses(
    name: str | losses.Loss,
    smoothing: float,
    outputs: Float[Array, "rows ..."],
    y: Num[Array, " rows"],
) -> Float[Array, " rows"]:
    """The loss of each row, `smoothing` of it that of a label drawn at random."""
    values = jax.vmap(losses.loss_of(name))(outputs, y)
    if not smoothing:
        return values
    logits = outputs if outputs.ndim == 2 else jnp.stack([0 * outputs, outputs], axis=1)
    any_label = -jnp.mean(jax.nn.log_softmax(logits), axis=1)
    return (1 - smoothing) * values + smoothing * any_label


def split_rows(
    y: np.ndarray, description: Fit, order: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The places of the training rows and of those held out, a like share of every class."""
    count = round(description.holdout * len(y))
    if count == 0:
        return np.arange(len(y)), np.arange(0)
    places = order.permutation(len(y))
    if description.shape.classes is not None:
        # sorted by class, every (1/share)-th row is held out
        places = places[np.argsort(y[places], kind="stable")]
    chosen = np.zeros(len(y), bool)
    chosen[((np.arange(count) + order.random()) * len(y) / count).astype(int)] = True
    return places[~chosen], places[chosen]


def shuffled(
    order: np.random.Generator, places: np.ndarray, batch: int, rows: int
) -> Int[np.ndarray, "most batch"]:
    """The rows of each batch of an epoch; what is unfilled points at the last, empty row."""
    most = -(-rows // batch)
    numbers = np.full(most * batch, rows - 1, np.int32)
    numbers[: len(places)] = order.permutation(places)
    return numbers.reshape(most, batch)


def in_whole_blocks(places: np.ndarray, rows: int) -> Int[np.ndarray, " blocks"]:
    """`places`, filled up to whole blocks with the last, empty row."""
    result = np.full(-(-len(places) // BLOCK) * BLOCK, rows - 1, np.int32)
    result[: len(places)] = places
    return result


def padded_rows(rows: Rows) -> PaddedRows:
    """The rows in arrays of a rounded size, of which at least the last row is empty."""
    count, n = rows.x.shape
    x = np.zeros((rounded(count + 1), -(-n // COLUMN_MULTIPLE) * COLUMN_MULTIPLE), np.float32)
    x[:count, :n] = rows.x
    y = np.zeros(len(x), rows.y.dtype)
    weight = np.zeros(len(x), np.float32)
    y[:count], weight[:count] = rows.y, rows.weight
    return PaddedRows(jnp.asarray(x), jnp.asarray(y), jnp.asarray(weight))


def rounded(count: int) -> int:
    """The next of 512, 768, 1024, 1536, ...: tables of more rows grow by half at most."""
    power = 512
    while power < count:
        if 3 * power // 2 >= count:
            return 3 * power // 2
        power *= 2
    return power


def padded_layers(layers: Network) -> Layers:
    """Parameters whose first layer also reads the columns that fill up, with weight zero."""
    (weight, bias), *rest = layers
    extra = -weight.shape[0] % COLUMN_MULTIPLE
    first = Layer(jnp.asarray(np.pad(weight, ((0, extra), (0, 0)))), jnp.asarray(bias))
    return Layers((first, *(Layer(jnp.asarray(w), jnp.asarray(b)) for w, b in rest)))


def _initial_state(description: Fit, training: Training, seed: int, network: Any) -> State:
    if network is None:
        layers = _init(description.model, description.shape, jr.key(seed)).layers
        network = [(np.asarray(w), np.asarray(b)) for w, b in layers]
    params = padded_layers(network)
    return State(params, updates.init(training, params), jnp.zeros((), jnp.int32))


@partial(jax.jit, static_argnums=(0, 1))
def _init(model: MLP, shape: Shape, key: Any) -> Layers:
    return model.init_params(key, shape)


@jax.jit
def _chosen(improves: Array, new: PyTree, old: PyTree) -> PyTree:
    return jax.tree.map(
        lambda a, b: jnp.where(improves.reshape(-1, *[1] * (a.ndim - 1)), a, b), new, old
    )
