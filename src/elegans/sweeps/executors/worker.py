"""A worker process: reads a line of JSON, calls the function that it names, writes a line back.

It dies with the process that started it: a thread waits for the end of standard input, which comes
however that process ends, so nothing is left computing for nobody.
"""

import importlib
import json
import os
import queue
import signal
import sys
import threading
from typing import IO

READY = "ready"


def main() -> None:
    """Serves until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver, which ends us
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not get between the answers
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(sys.stdin, requests), daemon=True).start()
    importlib.import_module("elegans.sweeps.requests")
    print(json.dumps(READY), file=answers, flush=True)
    while True:
        module, name, text = json.loads(requests.get())
        answer = getattr(importlib.import_module(module), name)(text)
        print(json.dumps(answer), file=answers, flush=True)


def listen(lines: IO[str], requests: "queue.SimpleQueue[str]") -> None:
    """Queues the lines; at their end the process ends, whatever it is doing."""
    for line in lines:
        requests.put(line)
    os._exit(0)
