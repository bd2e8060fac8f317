"""A pool of local worker processes, behind the interface of `concurrent.futures.Executor`.

Each worker is an interpreter of its own, started afresh, with one computing thread. Unlike the
standard library's pool, a worker that dies costs only the task that it had: that task's future
fails with `WorkerLost`, and a new worker takes over. Nor is the user's script imported again in
each worker, so it needs no `if __name__ == "__main__"`.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from elegans.compilation import use_one_thread
from elegans.sweeps.executors.worker import READY

Task = tuple[Future[str], str]


class WorkerLost(BrokenExecutor):
    """The worker process that had a task died; the pool goes on."""


class Workers(Executor):
    """A pool of `count` processes that call functions from text to text."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.processes: dict[int, subprocess.Popen[str]] = {}
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._is_over = False
        for i in range(count):
            self._start(i)
        self._threads = [
            threading.Thread(target=self._serve, args=(i,), daemon=True) for i in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future result of a module's `function` at one text."""
        (text,) = args
        assert not kwargs, kwargs
        if self._is_over:
            raise RuntimeError("These workers have been dismissed.")
        future: Future[str] = Future()
        request = json.dumps([function.__module__, function.__name__, text])
        self._tasks.put((future, request))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Dismisses the workers; with `cancel_futures`, in the middle of what they do."""
        self._is_over = True
        if cancel_futures:
            while not self._tasks.empty():
                task = self._tasks.get()
                if task:
                    task[0].cancel()
            for process in list(self.processes.values()):
                process.kill()
        for _ in self._threads:
            self._tasks.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self, place: int) -> None:
        """One worker's thread: hands it tasks, and replaces it when it dies."""
        is_ready = False
        while task := self._tasks.get():
            future, request = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                if self.processes[place].poll() is not None and not self._is_over:
                    self._start(place)
                    is_ready = False
                is_ready = is_ready or self._answer(place) == READY
                answer = self._answer(place, request) if is_ready else None
            except OSError as error:  # no process can be started or talked to
                future.set_exception(BrokenExecutor(f"Worker {place}: {error}"))
                continue
            if answer is not None:
                future.set_result(answer)
            else:
                future.set_exception(self._loss(place, is_ready=is_ready))
        self.processes[place].kill()
        self.processes[place].communicate()

    def _start(self, place: int) -> None:
        environment = dict(os.environ)
        use_one_thread(environment)
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        # Not with -m: the module is imported by its package before it would run as a script.
        script = "from elegans.sweeps.executors.worker import main; main()"
        command = [sys.executable, "-c", script]
        pipe = subprocess.PIPE
        self.processes[place] = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8", env=environment
        )

    def _answer(self, place: int, request: str = "") -> str | None:
        """The next line of a worker, after a request if there is one; None if it is dead."""
        process = self.processes[place]
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if request:
                print(request, file=process.stdin, flush=True)
            line = process.stdout.readline()
        except BrokenPipeError:
            return None
        return json.loads(line) if line.endswith("\n") else None

    def _loss(self, place: int, *, is_ready: bool) -> BrokenExecutor:
        process = self.processes[place]
        process.communicate()
        code = process.returncode
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        if is_ready or code < 0:  # a signal comes from outside, at any time
            return WorkerLost(f"Worker process {process.pid} died {how} in the midst of work.")
        return BrokenExecutor(
            f"Worker process {process.pid} died {how} before it could work; its own message "
            "is on standard error. workers=0 does the sweep in this process."
        )
