"""Starts the explorer: one address on this machine, a thread that answers, and a way to stop."""

import os
import secrets
import socket
import threading
import time
from typing import Any

from elegans.explorer.sources import Sources, listed

LOOPBACK = "127.0.0.1"
MISSING = "The explorer needs Starlette and uvicorn: pip install 'elegans[explore]'."
SECONDS_TO_START = 10.0


class Explorer:
    """A running explorer: its `url`, which has the token in it, and `close()`."""

    def __init__(self, sources: Sources, server: Any, bound: socket.socket, token: str) -> None:
        self.sources = sources
        self.port = int(bound.getsockname()[1])
        self.url = f"http://{LOOPBACK}:{self.port}/?token={token}"
        self._server = server
        self._socket = bound
        self._threads = [
            threading.Thread(target=server.run, args=([bound],), daemon=True),
            *(
                threading.Thread(target=store.index.refresh, daemon=True)
                for store in sources.stores.values()
            ),
        ]
        for thread in self._threads:
            thread.start()

    def __repr__(self) -> str:
        return f"Explorer({self.url})"

    def __enter__(self) -> "Explorer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def wait(self) -> None:
        """Returns when the explorer has stopped."""
        while self._threads[0].is_alive():
            self._threads[0].join(0.5)

    def close(self) -> None:
        """Stops answering and lets go of all files."""
        self._server.should_exit = True
        for thread in self._threads:
            thread.join(SECONDS_TO_START)
        self._socket.close()
        self.sources.close()


def explore(*paths: str | os.PathLike[str], port: int = 0) -> Explorer:
    """Opens bundles and stores for a browser on this machine.

    Args:
        paths: Bundles, stores, and directories of these.
        port: Where to answer; 0 takes one that is free.

    Returns:
        The running explorer: open its `url`, and `close()` it when done.

    Raises:
        ValueError: Nothing is at a path, or Starlette is not installed.
        OSError: A file is not a store of this version, or the port is in use.
    """
    try:
        import uvicorn

        from elegans.explorer.app import application
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette"):
            raise
        raise ValueError(MISSING) from error
    from elegans.explorer import scripts

    if not paths:
        raise ValueError("explore: name a bundle, a store (.db), or a directory of these.")
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 2**16:
        raise ValueError(f"explore: a port is a number from 0 to 65535; got {port!r}.")
    sources = listed(paths)
    bound = _bound(port, sources)
    token = secrets.token_urlsafe(24)
    number = int(bound.getsockname()[1])
    hosts = frozenset({f"{LOOPBACK}:{number}", f"localhost:{number}"})
    app = application(sources, hosts, token, f"elegans-{number}")
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            server_header=False,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
    )
    explorer = Explorer(sources, server, bound, token)
    scripts.prepare()
    deadline = time.monotonic() + SECONDS_TO_START
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.005)
    return explorer


def _bound(port: int, sources: Sources) -> socket.socket:
    """A socket on the loopback interface; refuses a port that is in use."""
    # The protocol by name: only then does asyncio send an answer's body without waiting for the
    # browser to acknowledge its head, which takes 40 ms.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((LOOPBACK, port))
    except OSError as error:
        bound.close()
        sources.close()
        raise OSError(
            f"Port {port} of {LOOPBACK} cannot be used ({error.strerror or error}). Name another "
            "one with --port, or none to take one that is free."
        ) from error
    return bound
