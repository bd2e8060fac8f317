r"""What a task, a model, an initialisation and a probe offer: all that the engine knows of them.

Classes of yours need not inherit from anything here. A task has `sample`; a model has `init_params`
and `apply`; an init and a probe are called. Everything else is optional, and counts if it is there:

* a task may declare `features` (the length of an input vector), `states` and `length` (of
  sequences of tokens), `classes` (of integer labels) and `labels` ("sign", "class" or "real"); what
  it does not declare is read off its examples (`descriptions`). It may offer `label(x)`, without
  noise; `population()`, every example once, with a `fraction` of it to train on; `stored(key)` with
  `sizes` where its examples are rows of a table, and `accepts(table)` to have one redrawn; a
  `data_seed`, so that runs of all seeds share a training set (`training.source`);
* a model may offer `check(task)`, which refuses what it cannot learn; `body`, what its predictions
  depend on, so that networks that differ in their init alone share a compiled program;
  `is_stochastic`, if `apply` takes a `key` only sometimes; `trace(params, x)`, the inside of a
  forward pass (`.attention`, `.hidden`); `outgoing(params)`, the length of the outgoing weights of
  each hidden neuron, and `activation`, its name; `neurons(params)`, a matrix with a row per neuron,
  or one per layer, and `keep(params, neurons)`, for norms and pruning; `apply_population(params)`,
  all predictions at once, in the order of `population()`; `rows_at_once(features)`, how many
  examples training differentiates together, or None;
* an init may offer `check(model, task)`.
"""

import dataclasses
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.random as jr
from jaxtyping import Array, Int, PRNGKeyArray, PyTree

from elegans import checks
from elegans.descriptions import Description as Description
from elegans.descriptions import describe as describe
from elegans.descriptions import shapes_of
from elegans.fields import Skeleton, is_number, is_off, split

_checked: set[tuple[Skeleton, Skeleton]] = set()  # tasks and models whose shapes agree


@runtime_checkable
class Task(Protocol):
    """A distribution of examples with a known answer."""

    def sample(self, key: PRNGKeyArray, size: int) -> tuple[Array, Array]:
        """Draws `size` independent examples: inputs and labels that share their leading axis."""


@runtime_checkable
class Model(Protocol):
    """A family of functions, and parameters to start from."""

    def init_params(self, key: PRNGKeyArray, task: Any) -> PyTree:
        """The parameters before the first step."""

    def apply(self, params: PyTree, x: Array) -> Array:
        """The prediction at one example; a stochastic model takes a `key` as third argument."""


@runtime_checkable
class Init(Protocol):
    """How the parameters of a model start."""

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> PyTree:
        """The parameters of `model` on `task` before the first step."""


class View(NamedTuple):
    """What a probe sees of a run at an evaluation.

    Attributes:
        params: The parameters now, and at the start (`initial`).
        model: What predictions depend on: the model's `body` if it has one.
        task: The task, its numbers traced.
        key: For what a probe draws; the same at every evaluation of a run, so that a curve over
            time compares like with like.
        step: Updates made so far.
    """

    params: PyTree
    initial: PyTree
    model: Any
    task: Any
    key: PRNGKeyArray
    step: Int[Array, ""]


@runtime_checkable
class Probe(Protocol):
    """A look inside: called with a view at each evaluation, under `jit`."""

    def __call__(self, view: View) -> PyTree:
        """Scalars or small arrays."""


def check_experiment(task: Any, model: Any, training: Any) -> None:
    """Refuses a task, a model and a recipe that do not fit together."""
    for name, part, methods in (
        ("task", task, ("sample",)),
        ("model", model, ("init_params", "apply")),
        ("training", training, ("check",)),
    ):
        for method in methods:
            if isinstance(part, type) or not callable(getattr(part, method, None)):
                what = "is a Training" if name == "training" else f"has a method {method}"
                raise TypeError(f"Experiment: {name} {what}; got {part!r}.")
        _check_leaves(name, part)
    if hasattr(model, "check"):
        model.check(task)
    training.check(task, model)
    _check_predictions(task, model)


def _check_predictions(task: Any, model: Any) -> None:
    """Refuses labels of another shape than the model's predictions; once for each structure."""
    key = split(task, is_off)[0], split(getattr(model, "body", model), is_off)[0]
    if key in _checked:
        return
    known = describe(task)
    x, y = shapes_of(task)
    prediction = jax.eval_shape(lambda p, x: model.apply(p, x), param_shapes(model, task), x)
    expected = y.shape if known.classes is None else (*y.shape, known.classes)
    if prediction.shape != expected:
        way_out = ""
        if y.shape == (*prediction.shape, 1):
            way_out = " Return labels of shape (size,), as y[:, 0]."
        raise ValueError(
            f"{checks.shown(model)} predicts an array of shape {prediction.shape} for one example, "
            f"and a label of {checks.shown(task)} has shape {y.shape}, for which a prediction has "
            f"shape {expected}.{way_out}"
        )
    _checked.add(key)


def _check_leaves(name: str, part: Any) -> None:
    """Refuses arrays where numbers are meant, and objects that cannot choose a program."""
    for leaf in jax.tree.leaves(part):
        if isinstance(leaf, int | float):
            continue
        if is_number(leaf):
            raise TypeError(
                f"Experiment: {name} {checks.shown(part)} holds the array {leaf!r}; a "
                "configuration holds plain numbers, text, tuples and other configurations."
            )
        try:
            hash(leaf)
        except TypeError as error:
            raise TypeError(
                f"Experiment: {name} {leaf!r} cannot be hashed, so it cannot name a compiled "
                f"program. Write @elegans.configuration above class {type(leaf).__name__}."
            ) from error
        if not dataclasses.is_dataclass(leaf):
            raise TypeError(
                f"Experiment: {name} {leaf!r} is not a dataclass, so it cannot be written down. "
                f"Write @elegans.configuration above class {type(leaf).__name__}."
            )


def check_init(model: Any, task: Any) -> None:
    """Refuses a task on which a model's init cannot start it, if the init says so."""
    check = getattr(model.init, "check", None)
    if check is not None:
        check(model, task)


def param_shapes(model: Any, task: Any) -> PyTree:
    """The shapes of a model's parameters on a task, without computing any.

    An init that cannot be called yet, because it waits for another run's end, says them itself.
    """
    shapes = getattr(getattr(model, "init", None), "shapes", None)
    if shapes is not None:
        return shapes(model, task)
    return jax.eval_shape(lambda key: model.init_params(key, task), jr.key(0))


def path_name(path: Any) -> str:
    """A parameter's path as a user writes it: "layers.0.weight"."""
    kinds = ("name", "idx", "key")  # of a field, of a place in a tuple, of an entry in a dict
    parts = ([getattr(part, kind) for kind in kinds if hasattr(part, kind)] for part in path)
    return ".".join(str(*part[:1]) for part in parts)


def matches(prefix: str, name: str) -> bool:
    """Whether `prefix` is `name` or a whole part of its start."""
    return name == prefix or name.startswith(prefix + ".")
