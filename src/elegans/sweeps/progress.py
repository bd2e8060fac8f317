"""Progress of a sweep: a meter is an object passed in, and no meter is an object too."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, runtime_checkable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress


@runtime_checkable
class Progress(Protocol):
    """Told how many runs there are, and of each that is done."""

    def of(self, total: int, stored: int = 0) -> AbstractContextManager[None]:
        """A context in which all of `total` runs are done, of which some were stored before."""

    def done(self, row: dict[str, Any]) -> None:
        """One more run is done, with this row of the table."""

    def note(self, text: str) -> None:
        """Something to be said, once."""


class Silent:
    """Shows nothing."""

    @contextmanager
    def of(self, total: int, stored: int = 0) -> Iterator[None]:
        """A context in which nothing is shown."""
        yield

    def done(self, row: dict[str, Any]) -> None:
        """Ignores the row."""

    def note(self, text: str) -> None:
        """Says nothing."""


class Bar:
    """A bar on standard error, or a plain line a minute where that is no terminal."""

    def __init__(self, every: float = 60.0) -> None:
        self.console = Console(stderr=True)
        self.every, self.total, self.count, self.successes = every, 0, 0, 0
        self.began = self.told = 0.0

    @contextmanager
    def of(self, total: int, stored: int = 0) -> Iterator[None]:
        """A context in which the bar is shown."""
        self.total, self.count, self.successes = total, 0, 0
        self.began = self.told = time.monotonic()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        with RichProgress(*columns, console=self.console, transient=True) as self.bar:
            self.item = self.bar.add_task("runs", total=total, rate="")
            yield

    def note(self, text: str) -> None:
        """Says it on standard error."""
        self.console.print(text, highlight=False)

    def done(self, row: dict[str, Any]) -> None:
        """Counts the run, and a success."""
        self.count += 1
        self.successes += bool(row["success"])
        rate = self.count / max(1e-9, time.monotonic() - self.began)
        text = f"{rate:.1f} runs/s, {self.successes} succeeded"
        self.bar.update(self.item, advance=1, rate=text)
        if not self.console.is_terminal and time.monotonic() - self.told > self.every:
            self.told = time.monotonic()
            left = (self.total - self.count) / rate
            self.console.print(f"{self.count} of {self.total} runs, {text}, {left:.0f} s left")


def progress_for(progress: bool | Progress) -> Progress:
    """The meter that `True`, `False` or a meter stands for."""
    if isinstance(progress, bool):
        return Bar() if progress else Silent()
    return progress
