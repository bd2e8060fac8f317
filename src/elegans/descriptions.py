r"""What is known of a task's examples: declared, read off shapes, or off 64 rows at last.

Attributes that a task declares count first (`features`, `states`, `length`, `classes`, `labels`).
Shapes and types come from abstract evaluation, which draws nothing. What values alone can tell
(signs or real numbers, labels of 0 and 1 that were meant as signs, a `sample` that ignores its key)
comes from 64 rows, once for each structure of a task, before any training.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from elegans import checks
from elegans.fields import Skeleton, is_off, split

LABELS = ("sign", "class", "real")
ROWS_EXAMINED = 64  # enough to tell signs from numbers, and a key that is used from one that is not
ROWS_ABSTRACT = 2  # two, so that an axis of length one is not taken for that of the rows


class Description(NamedTuple):
    """What the engine and the models know of a task's examples.

    Attributes:
        shape: Of one input.
        kind: "real" numbers, or "token" for integers.
        label_shape: Of one label: () for a number or a class, (length,) for one per position.
        labels: "sign" for -1 and +1, "class" for 0 to `classes` - 1, "real" for any number.
        classes: How many, where labels are classes.
        states: How many values a token has.
        length: Of a sequence of tokens.
        population: How many examples there are in all, where the task can list them.
        is_zero_one: Whether real labels are 0 and 1, which were probably meant as signs.
    """

    shape: tuple[int, ...]
    kind: str
    label_shape: tuple[int, ...]
    labels: str
    classes: int | None
    states: int | None
    length: int | None
    population: int | None
    is_zero_one: bool = False


class Shapes(NamedTuple):
    """Shape and type of one input and one label, by abstract evaluation."""

    x: jax.ShapeDtypeStruct
    y: jax.ShapeDtypeStruct


_shapes: dict[Skeleton, Shapes] = {}
_descriptions: dict[Skeleton, Description] = {}


def shapes_of(task: Any) -> Shapes:
    """Shape and type of one example of a task; nothing is drawn. Kept for each structure."""
    structure, _ = split(task, is_off)
    if structure not in _shapes:
        drawn: Any = jax.eval_shape(lambda key: task.sample(key, ROWS_ABSTRACT), jr.key(0))
        if not isinstance(drawn, tuple) or len(drawn) < 2:
            raise TypeError(
                f"{checks.shown(task)}: sample(key, size) returns inputs and labels, (x, y); "
                f"got {type(drawn).__name__}."
            )
        for name, part in zip("xy", drawn[:2], strict=True):
            shape = getattr(part, "shape", None)
            if not shape or shape[0] != ROWS_ABSTRACT:
                raise ValueError(
                    f"{checks.shown(task)}: sample(key, {ROWS_ABSTRACT}) returns {name} with "
                    f"{ROWS_ABSTRACT} rows; got shape {shape}."
                )
        _shapes[structure] = Shapes(
            *(jax.ShapeDtypeStruct(part.shape[1:], part.dtype) for part in drawn[:2])
        )
    return _shapes[structure]


def describe(task: Any) -> Description:
    """What is known of a task's examples: declared, read off shapes, or off 64 rows at last.

    Kept for each structure of a task. Rows are drawn only for what values alone can tell.
    """
    structure, _ = split(task, is_off)
    if structure not in _descriptions:
        _descriptions[structure] = _described(task)
    return _descriptions[structure]


def _described(task: Any) -> Description:
    x, y = shapes_of(task)
    is_zero_one = False
    labels, classes = getattr(task, "labels", None), getattr(task, "classes", None)
    if labels is None and classes is not None:
        labels = "class"
    # The package's own tasks are tested instead, which spares each first run a compilation.
    if labels is None or not type(task).__module__.startswith("elegans."):
        labels, is_zero_one = _examined(task, labels)
    checks.choice(task, "labels", labels, LABELS)
    if labels == "class" and classes is None:
        raise ValueError(
            f"{checks.shown(task)}: its labels are integers, so it declares how many classes there "
            "are (an attribute or field classes, with labels 0 to classes - 1), or returns signs, "
            "-1.0 and +1.0."
        )
    is_token = jnp.issubdtype(x.dtype, jnp.integer)
    return Description(
        shape=x.shape,
        kind="token" if is_token else "real",
        label_shape=y.shape,
        labels=labels,
        classes=classes if labels == "class" else None,
        states=getattr(task, "states", None),
        length=getattr(task, "length", x.shape[0] if is_token and x.shape else None),
        population=population_size(task),
        is_zero_one=is_zero_one,
    )


def _examined(task: Any, labels: str | None) -> tuple[str, bool]:
    """The kind of a task's labels by 64 rows, and whether they are 0 and 1.

    The rows must depend on the key, and fit what the task declares.
    """
    draw = jax.jit(lambda key: tuple(task.sample(key, ROWS_EXAMINED)[:2]))
    (x, y), others = (jax.device_get(draw(jr.key(seed))) for seed in (1, 2))
    if (
        not hasattr(task, "stored")
        and np.array_equal(x, others[0])
        and np.array_equal(y, others[1])
    ):
        raise ValueError(
            f"{checks.shown(task)}: sample draws the same {ROWS_EXAMINED} examples from two keys. "
            "Random numbers come from the key, as in jax.random.normal(key, (size, n))."
        )
    for name, part in (("inputs", x), ("labels", y)):
        if not np.isfinite(part).all():
            raise ValueError(f"{checks.shown(task)}: its {name} hold NaN or infinity.")
    values = np.unique(y)
    is_integer = bool(np.issubdtype(y.dtype, np.integer))
    is_sign, is_zero_one = (set(values.tolist()) <= kind for kind in ({-1, 1}, {0, 1}))
    shown = ", ".join(f"{value:g}" for value in values[:5]) + (", ..." if len(values) > 5 else "")
    if labels == "sign" and not is_sign:
        raise ValueError(
            f"{checks.shown(task)}: its labels are signs, -1 or +1; sample returns {shown}."
            + (" Return 2 * y - 1." if is_zero_one else "")
        )
    if labels == "class" and not is_integer:
        raise TypeError(
            f"{checks.shown(task)}: its labels are classes, so they are integers; sample returns "
            f"{y.dtype}. Return y.astype(int)."
        )
    classes = getattr(task, "classes", None)
    if labels == "class" and classes is not None and (values.min() < 0 or values.max() >= classes):
        raise ValueError(
            f"{checks.shown(task)}: its labels are classes 0 to {classes - 1}; sample returns "
            f"{shown}."
        )
    if labels is None:
        labels = "sign" if is_sign else "class" if is_integer else "real"
    return labels, labels == "real" and is_zero_one


def population_size(task: Any) -> int | None:
    """How many examples a task can list; None if it lists none, or too many to write out."""
    if not callable(getattr(task, "population", None)):
        return None
    try:
        return int(jax.eval_shape(lambda: tuple(task.population()[:2]))[1].shape[0])
    except ValueError:  # the task's own refusal: its population is too large
        return None


def is_split(task: Any) -> bool:
    """Whether a task's population is split into a training set and a test set."""
    is_listed = callable(getattr(task, "population", None)) and not hasattr(task, "stored")
    return is_listed and getattr(task, "fraction", None) is not None


def row_counts(task: Any, *, is_whole: bool) -> tuple[int, int] | None:
    """How many rows a task has for training and for testing; None if rows are drawn.

    Args:
        task: A task with stored rows, or with a population.
        is_whole: Whether a population that is not split is trained on as a whole.
    """
    if hasattr(task, "stored"):
        train, test = task.sizes
        return int(train), int(test)
    if not is_split(task) and not is_whole:
        return None
    rows = describe(task).population
    if rows is None:
        raise ValueError(
            f"{checks.shown(task)}: samples=None with batch=None trains on all of its population, "
            "and it lists no population, so samples is a number."
        )
    if not is_split(task):
        return rows, rows
    train = round(float(task.fraction) * rows)
    if not 0 < train < rows:
        raise ValueError(
            f"{checks.shown(task)}: fraction leaves {train} of {rows} rows to train on and "
            f"{rows - train} to test on; both need at least one."
        )
    return train, rows - train


def input_size(model: Any, task: Any) -> int:
    """The length of a task's input vectors; a task of another kind is refused."""
    declared = getattr(task, "features", None)
    if declared is not None:
        return int(declared)
    x = shapes_of(task).x
    if len(x.shape) != 1 or not jnp.issubdtype(x.dtype, jnp.floating):
        raise ValueError(
            f"{checks.shown(model)}: it reads vectors of real numbers, and an input of "
            f"{checks.shown(task)} has shape {x.shape} and type {x.dtype}."
        )
    return int(x.shape[0])


def output_size(task: Any) -> int:
    """How many numbers predict a label: one per class, or one for a sign or a real number."""
    classes = getattr(task, "classes", None)
    return 1 if classes is None else int(classes)


def token_sizes(model: Any, task: Any) -> tuple[int, int]:
    """How many states a task's tokens have and how long its sequences are; others are refused."""
    states, length = getattr(task, "states", None), getattr(task, "length", None)
    if length is None:
        length = (*shapes_of(task).x.shape, 0)[0]
    if states is None:
        x = shapes_of(task).x
        is_token = len(x.shape) == 1 and jnp.issubdtype(x.dtype, jnp.integer)
        raise ValueError(
            f"{checks.shown(model)}: it reads sequences of tokens, and {checks.shown(task)} "
            + (
                "does not say how many states a token has: declare states."
                if is_token
                else "has none. Use tasks.MarkovChains or tasks.NGrams."
            )
        )
    return int(states), int(length)
