"""A line of a benchmark's table: what was measured, against what it was to be."""

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

VERDICTS = {True: "yes", False: "NO", None: "-"}


class Line(NamedTuple):
    """A measurement and its bar; `met` says whether it is on the right side, None if unknown."""

    name: str
    measured: str
    bar: str
    met: bool | None


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least wall-clock time of a few calls: the one that others disturbed least."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def at_most(name: str, value: float, bar: float, unit: str) -> Line:
    """A line whose value is to be small."""
    return Line(name, f"{value:.3g} {unit}", f"<= {bar:g} {unit}", value <= bar)


def at_least(name: str, value: float, bar: float, unit: str) -> Line:
    """A line whose value is to be large."""
    return Line(name, f"{value:.3g} {unit}", f">= {bar:g} {unit}", value >= bar)


def table(lines: Iterable[Line]) -> str:
    """The lines under one another, columns aligned."""
    rows = [("name", "measured", "bar", "met")]
    rows += [(line.name, line.measured, line.bar, VERDICTS[line.met]) for line in lines]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
