"""`elegans explore PATH...`: looks at bundles and stores in the browser, on this machine alone.

A path is a bundle, a store, or a directory of these. Sweeps that are running are followed. It
prints one line with the address, and answers until it is stopped with Ctrl-C.
"""

import argparse
import webbrowser
from pathlib import Path

from elegans.commands.refusal import refusing


def main(arguments: list[str]) -> int:
    """Runs the command; 2 for bad input."""
    parser = argparse.ArgumentParser("elegans explore", description=__doc__.partition(": ")[2])
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="what to look at")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="default: one is chosen")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    options = parser.parse_args(arguments)
    from elegans.explorer.server import explore

    with refusing("explore"):
        explorer = explore(*options.paths, port=options.port)
    print(explorer.url, flush=True)
    if not options.no_browser:
        webbrowser.open(explorer.url)
    try:
        explorer.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        explorer.close()
    return 0
