"""What every configuration shares: one decorator, and numbers that may be traced.

A configuration is a frozen dataclass that JAX knows as a pytree. Its fields are of three kinds:

* numbers, annotated `float`, `Number` or `Count` (or one of them or None): leaves of the tree, so
  that a sweep over them compiles nothing;
* configurations, and tuples of them: subtrees;
* everything else (widths, names, supports, truth tables): structure, which chooses the program.

    @el.configuration
    class Threshold:
        n: int                # structure
        flip: float = 0.0     # traced

Inside `jit` the numbers are tracers. A `__post_init__` checks them through `elegans.checks`, which
lets tracers pass: they were checked when the configuration was first built.
"""

import dataclasses
import functools
import inspect
import numbers
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, dataclass_transform

import jax
from jaxtyping import Array, Float, Int

from elegans.checks import no_field
from elegans.compilation import keep_programs
from elegans.fingerprint import fingerprint, is_of_package

keep_programs()  # here, because whatever of this package computes with JAX imports this module

Number = float | int | Float[Array, "..."]  # traced under `jit`, stacked under `vmap`
Count = int | Int[Array, "..."]
Class = TypeVar("Class")

_MARK = "__elegans_configuration__"


@dataclass_transform(frozen_default=True)
def configuration(plain: type[Class]) -> type[Class]:
    """The class as a configuration: a frozen dataclass, registered with JAX."""
    cls: Any = dataclasses.dataclass(frozen=True)(plain)
    cls.__init__ = _refusing_other_fields(cls)
    numbers = {f.name for f in dataclasses.fields(cls) if _is_number(_resolved(cls, f.type))}
    setattr(cls, _MARK, frozenset(numbers))
    if not is_of_package(cls):
        fingerprint(cls)  # of the source as it is now, and remembered

    def flatten(config: Any) -> tuple[list[tuple[Any, Any]], Any]:
        leaves, structure, names = [], [], []
        for field in dataclasses.fields(config):
            value = getattr(config, field.name)
            if field.name in numbers or is_subtree(value):
                leaves.append((jax.tree_util.GetAttrKey(field.name), value))
                names.append(field.name)
            else:
                structure.append((field.name, value))
        return leaves, (tuple(names), tuple(structure))

    def unflatten(structure: Any, leaves: Any) -> Any:
        names, rest = structure
        # Not through the constructor: a leaf may be any object while JAX looks at the tree alone,
        # and what the constructor fills in (a support, say) is already there.
        config = object.__new__(cls)
        for name, value in (*zip(names, leaves, strict=True), *rest):
            object.__setattr__(config, name, value)
        return config

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


def _refusing_other_fields(cls: Any) -> Callable[..., None]:
    """A dataclass's constructor, which says what fields there are when it meets others."""
    construct = cls.__init__
    known = inspect.signature(construct).parameters

    @functools.wraps(construct)
    def checked(self: Any, *args: Any, **fields: Any) -> None:
        for name in fields:
            if name not in known:
                raise TypeError(no_field(cls.__name__, name, list(known)[1:]))
        construct(self, *args, **fields)

    return checked


def is_subtree(value: object) -> bool:
    """Whether a field's value is a configuration, or a tuple of them."""
    if isinstance(value, tuple):
        return bool(value) and all(hasattr(type(item), _MARK) for item in value)
    return hasattr(type(value), _MARK)


def is_off(value: object) -> bool:
    """Whether a number is exactly zero at compile time, so that its mechanism is left out."""
    return isinstance(value, int | float) and value == 0


class Skeleton(NamedTuple):
    """The part of a configuration that chooses a program: hashable, the key of a compilation."""

    tree: Any
    constants: tuple[Any, ...]


def split(config: Any, is_constant: Callable[[Any], bool]) -> tuple[Skeleton, tuple[Any, ...]]:
    """The structure of a configuration and its numbers, without those that are constant.

    A leaf that is not a number belongs to the structure: an object of an unregistered class is
    structure as a whole.
    """
    leaves, tree = jax.tree.flatten(config)
    is_traced = [is_number(leaf) and not is_constant(leaf) for leaf in leaves]
    pairs = list(zip(leaves, is_traced, strict=True))
    constants = tuple(None if traced else leaf for leaf, traced in pairs)
    return Skeleton(tree, constants), tuple(leaf for leaf, traced in pairs if traced)


def join(structure: Skeleton, traced: tuple[Any, ...]) -> Any:
    """The configuration that `split` took apart."""
    rest = iter(traced)
    # None is never a leaf of a pytree, so it marks the places of the numbers.
    leaves = [next(rest) if constant is None else constant for constant in structure.constants]
    return jax.tree.unflatten(structure.tree, leaves)


def is_number(leaf: Any) -> bool:
    """Whether a leaf is a number, perhaps traced."""
    return isinstance(leaf, numbers.Number) or hasattr(leaf, "dtype")


def _resolved(cls: type, hint: Any) -> Any:
    """An annotation as an object; text that names nothing in its module stays text."""
    if not isinstance(hint, str):
        return hint
    try:
        return eval(hint, vars(sys.modules[cls.__module__]))
    except NameError:
        return hint


def _is_number(hint: Any) -> bool:
    """Whether an annotation is `float`, `Number` or `Count`, perhaps with None."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kinds = set(typing.get_args(hint)) - {types.NoneType}
        numbers = set(typing.get_args(Number)) | set(typing.get_args(Count))
        return kinds == {float} or (kinds <= numbers and any(kind is not int for kind in kinds))
    return hint is float
