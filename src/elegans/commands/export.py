"""`elegans export DB OUT`: the runs of a store as a table, in a .parquet or a .csv file."""

import argparse
from pathlib import Path

from elegans.commands.refusal import refusing


def main(arguments: list[str]) -> int:
    """Runs the command; 2 for bad input."""
    parser = argparse.ArgumentParser("elegans export", description=__doc__.partition(": ")[2])
    parser.add_argument("store", type=Path, metavar="DB", help="a store")
    parser.add_argument("out", type=Path, metavar="OUT", help="a .parquet or .csv file")
    options = parser.parse_args(arguments)
    from elegans.store.store import Store

    with refusing("export"):
        store = Store(options.store)
        store.export(options.out)
    print(f"{options.out}: {len(store)} runs")
    return 0
