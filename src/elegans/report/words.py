"""Values in words, as pages and tables have them; no pandas, which takes longer than a page."""

from typing import Any

import numpy as np

RESULT = "result.json"  # what makes a directory a bundle
SIGNIFICANT_DIGITS = ",.4g"


def cell(value: Any, spec: str = "") -> str:
    """A value as text: missing as a dash, floats in the given format or to four digits."""
    if is_missing(value):
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format(value, spec or SIGNIFICANT_DIGITS)
    if isinstance(value, int):
        # A seed or a year has no separators; a format for the column may ask for them.
        return format(value, spec) if spec else str(value)
    return str(value)


def duration(seconds: float) -> str:
    """A time as a reader says it."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"


def is_missing(value: Any) -> bool:
    """Whether there is no value: none, not a number, or pandas' own."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # of pandas' own it is not known what it differs from
        return True
