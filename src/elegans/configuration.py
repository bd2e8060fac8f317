"""What every configuration shares: numbers that may be traced, and those that are switched off.

A configuration is a frozen dataclass, registered with JAX. Its static fields are structure: they
choose the compiled program. The others are numbers that a sweep varies without compiling anew.
"""

from dataclasses import field
from typing import Any

from jaxtyping import Array, Float, Int

Number = float | int | Float[Array, "..."]  # traced under `jit`, stacked under `vmap`
Count = int | Int[Array, "..."]


def static(**options: Any) -> Any:
    """A dataclass field that is part of the compiled program's structure."""
    return field(metadata={"static": True}, **options)


def is_off(value: object) -> bool:
    """Whether a number is exactly zero at compile time, so that its mechanism is left out."""
    return isinstance(value, int | float) and value == 0
