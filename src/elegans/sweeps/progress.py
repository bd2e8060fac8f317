"""Progress of a sweep: a meter is an object passed in, and no meter is an object too."""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, runtime_checkable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from elegans.durations import duration
from elegans.runs import METRICS

POINTS_SHOWN = 6  # with their success rates, the newest last
SECONDS_BETWEEN_LINES = 60.0  # where there is no terminal
SECONDS_BETWEEN_LINES_IN_A_NOTEBOOK = 5.0
RESULTS = ("seed", "status", *METRICS)
Row = Mapping[str, Any]


@runtime_checkable
class Progress(Protocol):
    """Told how many runs there are, and of each that is done."""

    def of(self, total: int, stored: int = 0) -> AbstractContextManager[None]:
        """A context in which all of `total` runs are done, of which some were stored before."""

    def done(self, row: Row, left: float | None = None) -> None:
        """One more run is done, with this row of the table; seconds left, if known."""

    def note(self, text: str) -> None:
        """Something to be said, once."""


class Silent:
    """Shows nothing."""

    @contextmanager
    def of(self, total: int, stored: int = 0) -> Iterator[None]:
        """A context in which nothing is shown."""
        yield

    def done(self, row: Row, left: float | None = None) -> None:
        """Ignores the row."""

    def note(self, text: str) -> None:
        """Says nothing."""


class Tally:
    """What is known of a sweep under way."""

    def __init__(self, total: int, stored: int) -> None:
        self.total, self.stored = total, stored
        self.count = self.failed = 0
        self.left: float | None = None
        self.began = time.monotonic()
        # successes (None where there is no stop rule) and runs of each point, the newest last
        self.points: dict[str, tuple[int | None, int]] = {}

    def add(self, row: Row, left: float | None) -> None:
        """Counts a run, and its success at its point."""
        self.count += 1
        self.failed += row["status"] == "failed"
        self.left = left
        labels = {name: value for name, value in row.items() if name not in RESULTS}
        point = ", ".join(f"{name.rpartition('.')[2]} {value}" for name, value in labels.items())
        successes, runs = self.points.pop(point, (None, 0))
        if row.get("success") is not None:
            successes = (successes or 0) + bool(row["success"])
        self.points[point] = successes, runs + 1

    def line(self) -> str:
        """Runs done, failed and left, runs per second, time left."""
        rate = self.count / max(1e-9, time.monotonic() - self.began)
        waiting = self.total - self.stored - self.count
        left = waiting / rate if self.left is None and rate else self.left
        return (
            f"{self.stored + self.count} of {self.total} runs done"
            + (f" ({self.stored} before)" if self.stored else "")
            + f", {self.failed} failed, {waiting} left, {rate:.1f} runs/s"
            + (f", {duration(left)} to go" if left is not None and self.count else "")
        )

    def recent(self) -> list[tuple[str, str]]:
        """How many runs the points that were worked on last have, and how many succeeded."""
        last = list(self.points.items())[-POINTS_SHOWN:]
        return [
            (point or "all", f"{runs} done" if won is None else f"{won} of {runs} succeeded")
            for point, (won, runs) in last
        ]


class Bar:
    """A live display on standard error, or a plain line now and then where there is no terminal."""

    def __init__(self, every: float | None = None, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        in_notebook = self.console.is_jupyter
        default = SECONDS_BETWEEN_LINES_IN_A_NOTEBOOK if in_notebook else SECONDS_BETWEEN_LINES
        self.every = default if every is None else every
        self.tally = Tally(0, 0)
        self.last_line = time.monotonic()

    @contextmanager
    def of(self, total: int, stored: int = 0) -> Iterator[None]:
        """A context in which the display is up; its last line stays."""
        self.tally = Tally(total, stored)
        self.last_line = time.monotonic()
        if not self.console.is_terminal:
            yield
            return
        with Live(get_renderable=self._picture, console=self.console, refresh_per_second=4):
            yield

    def done(self, row: Row, left: float | None = None) -> None:
        """Counts the run; where there is no display, says so now and then."""
        self.tally.add(row, left)
        is_due = time.monotonic() - self.last_line >= self.every
        if is_due and not self.console.is_terminal:
            self.last_line = time.monotonic()
            last = "; ".join(f"{point}: {rate}" for point, rate in self.tally.recent()[-1:])
            self.note(f"{self.tally.line()}; {last}")

    def note(self, text: str) -> None:
        """Says it on standard error."""
        self.console.print(text, highlight=False, soft_wrap=True)

    def _picture(self) -> RenderableType:
        cells = Table.grid(padding=(0, 2))
        for point, rate in self.tally.recent():
            cells.add_row(Text(point, style="dim"), rate)
        done = self.tally.stored + self.tally.count
        bar = Table.grid()  # which ends the line; a bar alone does not
        bar.add_row(ProgressBar(total=max(1, self.tally.total), completed=done, width=60))
        return Group(bar, Text(self.tally.line()), cells)


def progress_for(progress: bool | Progress) -> Progress:
    """The meter that `True`, `False` or a meter stands for."""
    if isinstance(progress, bool):
        return Bar() if progress else Silent()
    return progress
