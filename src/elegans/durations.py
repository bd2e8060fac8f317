"""Times as a reader says them, the same in a terminal, on a page and in the explorer."""

UNITS = ((365 * 86_400, "years"), (86_400, "days"), (3_600, "h"))


def duration(seconds: float | int) -> str:
    """A time with two digits or three: 40 s, 5 min, 3.2 h, 2.1 days, 3 years."""
    for size, unit in UNITS:
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
