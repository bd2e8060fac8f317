"""A limit on what reading a store may cost: two seconds of computing per look at its file.

What counts is the time that this thread computes, not the time that passes: on a busy machine a
page comes late, but it comes, while a statement that would never end (a store may have a view in
the place of a table) ends after two seconds of work. SQLite asks every 10,000 steps of its machine.
The clock of the thread is a call of the system, so it is asked once that much time has passed.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from elegans.store.file import File
from elegans.store.schema import StoreError

SECONDS_OF_COMPUTING = 2.0
STEPS_BETWEEN_CHECKS = 10_000  # of SQLite's machine


class Timeout(StoreError):
    """A look at a file that took more computing than it may."""


@contextmanager
def limited(file: File) -> Iterator[None]:
    """A block that reads one moment of a file, and ends after two seconds of computing."""
    with file.reading() as is_there:
        if not is_there:
            raise StoreError(f"There is no store at {file.path} any more.")
        file.connection.set_progress_handler(_Deadline(), STEPS_BETWEEN_CHECKS)
        try:
            yield
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            raise Timeout(
                f"{file.path.name}: reading was stopped after {SECONDS_OF_COMPUTING:g} s of "
                "computing. A store of elegans answers sooner, so the file may not be one."
            ) from error
        finally:
            file.connection.set_progress_handler(None, 0)


class _Deadline:
    """Whether this thread has computed for too long since this was made."""

    def __init__(self) -> None:
        self._end = time.thread_time() + SECONDS_OF_COMPUTING
        self._next_look = time.monotonic() + SECONDS_OF_COMPUTING

    def __call__(self) -> bool:
        if time.monotonic() < self._next_look:  # it cannot have computed for longer than that
            return False
        left = self._end - time.thread_time()
        self._next_look = time.monotonic() + left
        return left <= 0
