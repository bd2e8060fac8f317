"""The compiled programs of the engine: starting lanes of runs, advancing them, looking at them.

Each is a pure function of a task, a model and a recipe, of which it knows only that a task samples
and a model starts and predicts. Configurations are split: fields that are structure, and numbers
that are exactly zero, choose the program; all other numbers are its arguments. A program works on
a fixed number of lanes, which all its arguments carry as their leading axis.

Where steps are short, going back to Python between evaluations would take longer than training. So
one call advances through several looks, and comes back early only if a run may be over.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree, UInt32

from elegans import fields
from elegans.fields import Count, Skeleton, is_off
from elegans.keys import Keys, Seed
from elegans.protocols import Probe, View
from elegans.training import evaluation, updates
from elegans.training import source as data
from elegans.training.evaluation import PackedLook, Stage
from elegans.training.recipe import Training
from elegans.training.step import State, padded_rows, updated

LOOKS = 64  # at most, in one call
ROWS = 250  # evaluated at once: activations of a wide network stay within the cache
FEW_ROWS = 128  # evaluated at once where a look takes no more


class Structure(NamedTuple):
    """What chooses a program: hashable, the key of a compilation.

    Attributes:
        config: Task, model and recipe without their numbers.
        full_rows: Rows of a full batch, padded to a power of two; None if batches are drawn.
        bulk: Steps whose batches are drawn at once, at most; None is as many as fit the cache.
        block: Rows evaluated at once.
        is_one_block: Whether a look sees one block of test rows and nothing else.
    """

    config: Skeleton
    full_rows: int | None
    bulk: int | None
    block: int
    is_one_block: bool


STRUCTURES: set[Structure] = set()  # that this process has compiled


def compile_count() -> int:
    """How many structures this process has compiled."""
    return len(STRUCTURES)


def split(task: Any, model: Any, training: Training) -> tuple[Structure, tuple[Any, ...]]:
    """The structure of an experiment, and its numbers.

    A model whose predictions do not depend on all its fields names what they depend on its `body`,
    so that networks that only start differently share a program.
    """
    training = data.resolved(task, training)
    config, numbers = fields.split((task, getattr(model, "body", model), training), is_off)
    full_rows = padded_rows(int(training.samples or 1)) if training.batch is None else None
    screened, tested = int(training.screen_rows), int(training.test_samples)
    is_small = tested <= min(FEW_ROWS, screened)
    structure = Structure(
        config,
        full_rows,
        bulk=_bulk(training),
        block=FEW_ROWS if min(screened, tested) <= FEW_ROWS else ROWS,
        # without a number of samples rows are drawn, and there is no training set to look at
        is_one_block=is_small and training.samples is None,
    )
    return structure, numbers


def _bulk(training: Training) -> int | None:
    """Steps between looks, where they are so few that drawing more batches at once is a waste."""
    interval = training.interval
    if training.batch is None or training.evaluations_per_decade or interval >= LOOKS:
        return None
    # An interval that follows from the number of steps is rounded, so that steps can be swept.
    return interval if training.evaluate_every is not None else 1 << (interval.bit_length() - 1)


def join(structure: Structure, numbers: tuple[Any, ...]) -> tuple[Any, Any, Training]:
    """The task, model and recipe that `split` took apart."""
    return fields.join(structure.config, numbers)


def in_lanes(function: Callable[..., Any], lanes: int) -> Callable[..., Any]:
    """`function` on arguments with a leading axis of lanes.

    One lane is no `vmap`: XLA compiles a batch of one matrix product to slower code.
    """
    if lanes > 1:
        return jax.vmap(function)

    def single(*arguments: Any) -> Any:
        result = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], result)

    return single


def start(
    structure: Structure,
    model: Any,
    numbers: tuple[Any, ...],
    keys: Keys,
    initial: PyTree | None = None,
) -> State:
    """One run before its first step, with `initial` parameters or those that the model draws."""
    task, _, training = join(structure, numbers)
    params = model.init_params(keys.init, task) if initial is None else initial
    params = jax.tree.map(jnp.asarray, params)
    return State(params, updates.init(training, params), jnp.zeros((), jnp.int32))


def split_model(model: Any) -> tuple[Skeleton, tuple[Any, ...]]:
    """What chooses how a model starts; zeros are traced here, as an init's seed 0 is a number."""
    return fields.split(model, lambda leaf: False)


@partial(jax.jit, static_argnums=(0, 1))
def begin(
    structure: Structure,
    model: Skeleton,
    model_numbers: tuple[Any, ...],
    numbers: tuple[Any, ...],
    seed: UInt32[Array | np.ndarray, " lanes"],
    data_seed: Seed | None,
    initial: PyTree | None,
) -> tuple[State, Keys]:
    """The state and the keys of one lane before its first step, in one call."""

    def one(numbers: tuple[Any, ...], seed: Array) -> tuple[State, Keys]:
        keys = data.keys_with(seed, data_seed)
        network = fields.join(model, model_numbers)
        return start(structure, network, numbers, keys, initial), keys

    return in_lanes(one, 1)(numbers, seed)


def _advanced(
    structure: Structure,
    numbers: tuple[Any, ...],
    state: State,
    keys: Keys,
    count: Int[Array, ""],
    full_batch: PyTree,
    table: PyTree,
) -> State:
    """One run after `count` more steps."""
    task, model, training = join(structure, numbers)
    if training.batch is None:
        full = partial(updated, model, training, keys, batch=full_batch, is_full=True)
        return jax.lax.fori_loop(0, count, lambda _, s: full(state=s), state)
    rows = partial(data.training_rows, task, keys, table)
    update = partial(updated, model, training, keys, is_full=False, rows=rows)
    bulk = data.steps_in_bulk(task, training.batch, table=table)
    bulk = bulk if structure.bulk is None else min(bulk, structure.bulk)

    def block(i: Array, state: State) -> State:
        steps = state.step + jnp.arange(bulk)
        drawn = data.batches(task, training, keys, steps, table)
        return jax.lax.fori_loop(
            0,
            jnp.minimum(bulk, count - i * bulk),
            lambda j, s: update(s, jax.tree.map(lambda leaf: leaf[j], drawn)),
            state,
        )

    return jax.lax.fori_loop(0, -(-count // bulk), block, state)


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=3)
def advance(
    structure: Structure,
    lanes: int,
    numbers: tuple[Any, ...],
    state: State,
    keys: Keys,
    count: Int[Array, " lanes"],
    full_batch: PyTree,
    table: PyTree = (),
) -> State:
    """Each lane after `count` more steps, on rows of its `table` if it has one."""
    one = partial(_advanced, structure)
    return in_lanes(one, lanes)(numbers, state, keys, count, full_batch, table)


class Looks(NamedTuple):
    """What a call is to do in a lane: the steps of the next looks, how many, and on what rows."""

    due: Int[Array | np.ndarray, "..."]
    most: Int[Array | np.ndarray, "..."]
    stage: Stage


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=3)
def advance_and_look(
    structure: Structure,
    lanes: int,
    numbers: tuple[Any, ...],
    state: State,
    keys: Keys,
    looks: Looks,
    full_batch: PyTree,
    table: PyTree = (),
) -> tuple[State, PackedLook, Int[Array, " lanes"]]:
    """Each lane after its next looks, what was seen at each, and how many were made.

    A lane stops at a look on the whole test set: whether it is over is decided outside, in double
    precision.
    """

    Carry = tuple[State, PackedLook, Array, Array]

    def one(
        numbers: Any, state: State, keys: Keys, looks: Looks, full_batch: PyTree, table: PyTree
    ) -> tuple[State, PackedLook, Array]:
        task, model, training = join(structure, numbers)
        run = evaluation.Subject(task, model, training, keys, table, structure.block)
        rows = evaluation.first_test_block(run) if structure.is_one_block else None
        record = PackedLook(jnp.zeros((4, LOOKS)), jnp.zeros((4, LOOKS), jnp.int32))

        def is_under_way(carry: Carry) -> Array:
            _, _, number, is_halted = carry
            return (number < looks.most) & ~is_halted

        def step(carry: Carry) -> Carry:
            state, record, number, _ = carry
            count = looks.due[number] - state.step
            state = _advanced(structure, numbers, state, keys, count, full_batch, table)
            look = evaluation.look(run, state.params, looks.stage, state.step, rows)
            record = jax.tree.map(
                lambda leaf, new: leaf.at[:, number].set(new), record, PackedLook.of(look)
            )
            return state, record, number + 1, jnp.asarray(look.is_whole)

        carry = (state, record, jnp.zeros((), jnp.int32), jnp.zeros((), bool))
        return jax.lax.while_loop(is_under_way, step, carry)[:3]

    return in_lanes(one, lanes)(numbers, state, keys, looks, full_batch, table)


@partial(jax.jit, static_argnums=(0, 1, 2))
def probe(
    structure: Structure,
    lanes: int,
    probes: tuple[tuple[str, Probe], ...],
    numbers: tuple[Any, ...],
    params: PyTree,
    initial: PyTree,
    keys: Keys,
    step: Int[Array, " lanes"],
) -> dict[str, PyTree]:
    """What each probe sees of each lane: a program of its own, so that watching changes no bit."""

    def one(
        numbers: Any, params: PyTree, initial: PyTree, keys: Keys, step: Count
    ) -> dict[str, PyTree]:
        task, model, _ = join(structure, numbers)
        view = View(params, initial, model, task, keys.probe, jnp.asarray(step))
        return {name: look(view) for name, look in probes}

    return in_lanes(one, lanes)(numbers, params, initial, keys, step)


@partial(jax.jit, static_argnums=0)
def whole_training_set(
    structure: Structure, numbers: tuple[Any, ...], keys: Keys, table: PyTree = ()
) -> PyTree:
    """All rows of one run's training set, padded to a power of two, for full-batch training."""
    task, _, _ = join(structure, numbers)
    indices = jnp.arange(structure.full_rows, dtype=jnp.uint32)
    return data.training_rows(task, keys, table, indices)
