"""Refusals: what a configuration may hold, checked before anything is computed.

A message names the object with the values that it was given, the field, and what would be right.
Numbers may be tracers, because JAX rebuilds configurations inside `jit`; those were checked when
the configuration was first built, so anything that is not a plain number passes here.
"""

import dataclasses
import difflib
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeGuard, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Constructor = TypeVar("Constructor", bound=Callable[..., None])


def shown(owner: object) -> str:
    """An object as it would be typed: a dataclass without the fields that are at their default."""
    return typed(owner) if is_configuration(owner) else str(owner)


def typed(value: object) -> str:
    """The `repr` of a value; configurations, within one another too, without their defaults."""
    if not is_configuration(value):
        return repr(value)
    fields = [
        f"{field.name}={typed(getattr(value, field.name))}"
        for field in dataclasses.fields(value)
        if field.default is dataclasses.MISSING or getattr(value, field.name) != field.default
    ]
    return f"{type(value).__name__}({', '.join(fields)})"


def is_configuration(value: object) -> "TypeGuard[DataclassInstance]":
    """Whether a value is an object of a dataclass, as every configuration is."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def whole(
    owner: object, field: str, value: object, *, low: int, high: int | None = None, what: str
) -> None:
    """Refuses a static count that is not an integer in `low..high`."""
    limit = f"in {low}..{high}" if high is not None else f"{low} or more"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(
            f"{shown(owner)}: {field} {what}, so it is an integer, {limit}; got {value!r}."
        )
    if int(value) < low or (high is not None and int(value) > high):
        raise ValueError(f"{shown(owner)}: {field} {what}, so it is {limit}; got {value!r}.")


def count(owner: object, field: str, value: object, *, low: int, what: str) -> None:
    """Refuses a traced count below `low`; `None` and tracers pass."""
    if isinstance(value, numbers.Number | str):
        whole(owner, field, value, low=low, what=what)


def number(
    owner: object,
    field: str,
    value: object,
    *,
    low: float | int = -math.inf,
    high: float | int = math.inf,
    what: str,
) -> None:
    """Refuses a traced number that is NaN, infinite, or outside `[low, high]`."""
    if isinstance(value, str | bool):
        raise TypeError(f"{shown(owner)}: {field} {what}, so it is a number; got {value!r}.")
    if not isinstance(value, numbers.Real):
        return
    if not (math.isfinite(value) and low <= float(value) <= high):
        limits = {
            (True, True): "finite",
            (False, True): f"finite and at least {low:g}",
            (True, False): f"finite and at most {high:g}",
            (False, False): f"in [{low:g}, {high:g}]",
        }
        limit = limits[math.isinf(low), math.isinf(high)]
        raise ValueError(f"{shown(owner)}: {field} {what}, so it is {limit}; got {value!r}.")


def choice(owner: object, field: str, value: object, options: Collection[str | None]) -> None:
    """Refuses a name that is not among `options`."""
    if value not in options:
        known = ", ".join(repr(option) for option in options)
        raise ValueError(f"{shown(owner)}: {field} is one of {known}; got {value!r}.")


def choice_or_own(owner: object, field: str, value: object, options: Collection[str]) -> None:
    """Refuses what is neither a name among `options` nor an object that is called."""
    if isinstance(value, type) or (not isinstance(value, str) and not callable(value)):
        known = ", ".join(repr(option) for option in options)
        raise TypeError(
            f"{shown(owner)}: {field} is one of {known}, or a configuration with a method "
            f"__call__; got {value!r}."
        )
    if isinstance(value, str):
        choice(owner, field, value, options)


def nearest(name: object, known: Iterable[object]) -> str:
    """The end of a sentence: what the user may have meant, or a full stop."""
    close = difflib.get_close_matches(str(name), [str(other) for other in known], n=1)
    return f"; did you mean {close[0]!r}?" if close else "."


def no_field(owner: str, name: str, known: Collection[str]) -> str:
    """What to say of a field that there is not."""
    return f"{owner} has no field {name!r}{nearest(name, known)} It has {', '.join(known)}."


def support(owner: object, n: int, k: int, value: Sequence[int]) -> None:
    """Refuses a support that is not `k` distinct coordinates below `n`."""
    for i in value:
        whole(owner, "support", i, low=0, high=n - 1, what="holds coordinates of the input")
    if len(value) != k or len(set(value)) != k:
        raise ValueError(
            f"{shown(owner)}: support holds {k} distinct coordinates, one per relevant bit; "
            f"got {tuple(value)!r}."
        )


def stores_anything(constructor: Constructor) -> Constructor:
    """Exempts an estimator's constructor from checks: by scikit-learn's rules, `fit` refuses."""
    constructor.__no_type_check__ = True  # type: ignore[attr-defined]
    return constructor
