"""Refusals: what a configuration may hold, checked before anything is computed.

A message names the object with its values, the field, and what would be right. Numbers may be
tracers, because JAX rebuilds configurations inside `jit`; those were checked when the
configuration was first built, so anything that is no plain number passes here.
"""

import math
import numbers
from collections.abc import Collection, Sequence


def whole(
    owner: object, field: str, value: object, *, low: int, high: int | None = None, what: str
) -> None:
    """Refuses a static count that is no integer in `low..high`."""
    limit = f"{low}..{high}" if high is not None else f"{low} or more"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{owner}: {field} {what}, so it is an integer, {limit}; got {value!r}.")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{owner}: {field} {what}, so it lies in {limit}; got {value!r}.")


def count(owner: object, field: str, value: object, *, low: int, what: str) -> None:
    """Refuses a traced count below `low`; `None` and tracers pass."""
    if isinstance(value, numbers.Number | str):
        whole(owner, field, value, low=low, what=what)


def number(
    owner: object,
    field: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    what: str,
) -> None:
    """Refuses a traced number that is NaN, infinite, or outside `[low, high]`."""
    if isinstance(value, str | bool):
        raise TypeError(f"{owner}: {field} {what}, so it is a number; got {value!r}.")
    if not isinstance(value, numbers.Real):
        return
    if not (math.isfinite(value) and low <= value <= high):
        limit = "finite" if math.isinf(low) and math.isinf(high) else f"in [{low:g}, {high:g}]"
        raise ValueError(f"{owner}: {field} {what}, so it is {limit}; got {value!r}.")


def choice(owner: object, field: str, value: object, options: Collection[str]) -> None:
    """Refuses a name that is not among `options`."""
    if value not in options:
        known = ", ".join(repr(option) for option in options)
        raise ValueError(f"{owner}: {field} is one of {known}; got {value!r}.")


def support(owner: object, n: int, k: int, value: Sequence[int]) -> None:
    """Refuses a support that is not `k` distinct coordinates below `n`."""
    for i in value:
        whole(owner, "support", i, low=0, high=n - 1, what="holds coordinates of the input")
    if len(value) != k or len(set(value)) != k:
        raise ValueError(
            f"{owner}: support holds {k} distinct coordinates, one a relevant bit; "
            f"got {tuple(value)!r}."
        )
