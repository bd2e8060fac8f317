"""How a command refuses bad input: the message on standard error, exit code 2, no traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def refusing(command: str) -> Iterator[None]:
    """Turns a refusal of the user's input within the block into the end of the program.

    Only what reads and checks input belongs in the block: an error in a computation is a bug, and
    keeps its traceback.
    """
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        print(f"elegans {command}: {text_of(error)}", file=sys.stderr)
        raise SystemExit(2) from error


def text_of(error: Exception) -> str:
    """What an error says; of the operating system's, the file and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return str(error)
