"""`elegans recover DB OUT`: saves the readable runs of a damaged store in a new one.

The damaged file stays as it is. A sweep that is run on the new store does what was lost again.
"""

import argparse
from pathlib import Path

from elegans.commands.refusal import refusing


def main(arguments: list[str]) -> int:
    """Runs the command; 2 for bad input."""
    parser = argparse.ArgumentParser("elegans recover", description=__doc__.partition(": ")[2])
    parser.add_argument("store", type=Path, metavar="DB", help="a damaged store")
    parser.add_argument("out", type=Path, metavar="OUT", help="the new store")
    options = parser.parse_args(arguments)
    from elegans.store.recovery import recover

    with refusing("recover"):
        rescue = recover(options.store, options.out)
    print(f"{options.out}: {rescue.saved} runs saved, {rescue.lost} more seen but not readable.")
    return 0
