"""`elegans draw DIRECTORY`: draws the figures and the page of a bundle again, computing nothing.

The tables are read back from the bundle, which is refused if it is not whole; the functions that
draw them are those that the bundle names.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from elegans.commands.refusal import refusing


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="elegans draw", description=__doc__.partition(": ")[2])
    options.add_argument("directories", nargs="+", type=Path, metavar="DIRECTORY", help="a bundle")
    return options


def main(arguments: Sequence[str]) -> int:
    """Runs the command; 2 if a directory is not a bundle."""
    options = parser().parse_args(arguments)
    from elegans.report import bundle

    for directory in options.directories:
        with refusing("draw"):
            result = bundle.read(directory)
            for target in (*result.figures.values(), *result.charts.values()):
                bundle.function(target)
        for path in bundle.draw(directory):
            print(path)
    return 0
