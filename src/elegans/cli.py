"""The command line: which commands there are; each is a module of `elegans.commands`.

Nothing heavy is imported before a command is chosen, so help is instant. Results go to standard
output, progress and complaints to standard error. Exit codes: 0 done, 1 a claim or a run failed,
2 bad input.
"""

import importlib
import os
import sys
from collections.abc import Sequence

from elegans.checks import nearest

COMMANDS = {
    "train": "train one network and watch it learn",
    "reproduce": "do a study: its runs, tables, claims and figures",
    "draw": "draw the figures of a finished study again",
    "explore": "look at studies, stores and networks in the browser",
    "sweep": "do the runs of a grid, described in a file, and keep them",
    "status": "say what a store holds, and what failed in it",
    "export": "write the runs of a store as a table",
    "recover": "save the readable runs of a damaged store",
}
USAGE = """\
usage: elegans COMMAND [options]

A laboratory for the science of deep learning.

commands:
{commands}

"elegans COMMAND --help" explains a command. Exit codes: 0 done, 1 a claim or a run failed,
2 bad input."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line `argv` and returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE.format(commands="\n".join(f"  {n:<10} {h}" for n, h in COMMANDS.items())))
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from elegans import __version__

        print(f"elegans {__version__}")
        return 0
    if arguments[0] not in COMMANDS:
        hint = nearest(arguments[0], COMMANDS)
        known = ", ".join(COMMANDS)
        print(f"elegans: no command {arguments[0]!r}{hint} There are: {known}.", file=sys.stderr)
        return 2
    if os.getcwd() not in sys.path:  # types and studies of the user's own, as with `python -m`
        sys.path.insert(0, os.getcwd())
    return int(importlib.import_module(f"elegans.commands.{arguments[0]}").main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main())
