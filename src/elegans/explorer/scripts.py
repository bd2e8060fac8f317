"""Vega, Vega-Lite and their interpreter as one script, from the copy that vl-convert ships.

Making it starts a JavaScript engine, which takes two seconds and 130 MB, so a process of its own
does it, once per version: the script is kept in the user's cache.
"""

import os
import subprocess
import sys
import threading
from functools import cache
from importlib.metadata import version
from pathlib import Path

MAKE = (
    "import sys; from elegans.report.page import vega_scripts; "
    "sys.stdout.buffer.write(vega_scripts().encode())"
)
_making = threading.Lock()


def vega() -> bytes:
    """The script, which the first call for a version makes."""
    with _making:
        return _vega()


def prepare() -> None:
    """Makes the script in the background, so that the first chart does not wait."""
    threading.Thread(target=vega, daemon=True, name="elegans-vega").start()


def kept_at() -> Path:
    """Where the script of the installed versions is kept."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    names = (f"{name}-{version(name)}" for name in ("altair", "vl-convert-python"))
    return home / "elegans" / f"vega-{'-'.join(names)}.js"


@cache
def _vega() -> bytes:
    path = kept_at()
    if path.is_file():
        return path.read_bytes()
    done = subprocess.run([sys.executable, "-c", MAKE], capture_output=True, check=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        part.write_bytes(done.stdout)
        part.replace(path)
    except OSError:  # a home that cannot be written to: the next start makes it again
        return done.stdout
    return done.stdout
