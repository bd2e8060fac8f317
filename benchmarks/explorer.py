"""The explorer on 200,000 runs: of 4,000 experiments, and again of 200,000.

The server is a process of its own, asked over HTTP; pages are opened in the system's Chromium. What
is timed is what a user waits for: the first answer after the start, the first paint, a filter, the
curves of 200 seeds, a step of a network's slider. Beside it Optuna Dashboard, on as many runs as it
has trials, from memory, if it is installed (or at the Python that ELEGANS_OPTUNA names): both until
a chart shows all of them.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.line import Line, at_least, at_most, seconds, table
from elegans.runs import Run
from elegans.store.arrays import pack
from elegans.store.file import File
from elegans.store.record import COLUMNS, _columns, digest, to_values
from elegans.store.store import Store

RUNS, TRIALS = 200_000, 20_000
BARS = {
    "answer": 1.0,  # seconds
    "paint": 1.0,
    "filter": 200,  # milliseconds
    "curves": 300,
    "slider": 50,
    "page": 2.0,  # MB
    "memory": 300,
    "ratio": 5,
}
WAIT = 60.0
OPTUNA = """
import sys, optuna, optuna_dashboard
optuna.logging.set_verbosity(optuna.logging.ERROR)
storage = optuna.storages.InMemoryStorage()
study = optuna.create_study(storage=storage, study_name="many")
space = {n: optuna.distributions.FloatDistribution(0.0, 1.0) for n in "abcde"}
for i in range(int(sys.argv[2])):
    params = {n: (i * k * 0.618033) % 1 for k, n in enumerate("abcde", 1)}
    study.add_trial(optuna.create_trial(params=params, distributions=space, value=params["a"]))
print("ready", flush=True)
optuna_dashboard.run_server(storage, host="127.0.0.1", port=int(sys.argv[1]))
"""
# A plot of theirs with all trials in it: empty ones are drawn before the trials have come.
HAS_ALL_TRIALS = f"""[...document.querySelectorAll(".js-plotly-plot")].some((plot) =>
    (plot.data || []).some((trace) => (trace.x || []).length >= {TRIALS}))"""


def lines() -> list[Line]:
    """The bars of this part, measured."""
    result = []
    with tempfile.TemporaryDirectory() as directory, browser() as driver:
        network = small(Path(directory) / "network.db")
        for experiments in (4_000, RUNS):
            path = large(Path(directory) / f"of{experiments}.db", RUNS, experiments)
            result += measured(driver, path, network, experiments)
            path.unlink()
        result += beside_optuna(driver, Path(directory))
    return result


def measured(driver: Any, path: Path, network: Path, experiments: int) -> list[Line]:
    """All lines of one store."""
    where = f"{RUNS:,} runs of {experiments:,} experiments"
    with served(path, network) as server:
        page = f"/store/{path.stem}"
        server.get(page)
        answer = time.perf_counter() - server.started
        server.wait_for(path.stem)
        complete = time.perf_counter() - server.started
        texts = [f"where=model.width={w}&where=model.depth={d}" for w in (1, 3) for d in (1, 2)]
        filters = [
            timed(server, f"{page}?{text}&z={z}") for text in texts for z in ("success", "steps")
        ]
        filters += [
            timed(server, f"{page}?z=steps"),
            timed(server, f"{page}?where=training.rate>=0.5"),
        ]
        query = "metric=test_error"  # the first 200 runs
        curves = seconds(lambda: server.get(f"/api/v1/{path.stem}/history?{query}"))
        slider = slider_step(server, driver)
        paint, chart, size = painted(driver, server, page)
        memory = server.memory()
    return [
        at_most(f"{where}: start to first answer", answer, BARS["answer"], "s"),
        Line("  all of it read and checked", f"{complete:.3g} s", "", None),
        at_most("  first paint", paint, BARS["paint"], "s"),
        Line("  first chart drawn", f"{chart:.3g} s", "", None),
        at_most("  a filter, the slowest of ten", max(filters) * 1e3, BARS["filter"], "ms"),
        at_most(f"  {server.curves} curves", curves * 1e3, BARS["curves"], "ms"),
        at_most("  a step of the slider", slider * 1e3, BARS["slider"], "ms"),
        at_most("  the page with its scripts", size / 1e6, BARS["page"], "MB"),
        at_most("  memory of the server, at most", memory, BARS["memory"], "MB"),
    ]


class Server:
    """`elegans explore` in a process of its own."""

    def __init__(self, *paths: Path) -> None:
        command = [sys.executable, "-m", "elegans", "explore", *map(str, paths), "--no-browser"]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.base = self.url.partition("/?")[0]
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self.opener.open(self.url, timeout=WAIT).read()
        self.curves = 0

    def get(self, path: str) -> bytes:
        """An answer."""
        url = self.base + urllib.parse.quote(path, safe="/?&=.:%")
        with self.opener.open(url, timeout=WAIT) as answer:
            data = answer.read()
        if "/history?" in path:
            self.curves = json.loads(data)["shown"]
        return data

    def wait_for(self, store: str) -> None:
        """Returns when a store has been read."""
        while not json.loads(self.get(f"/api/v1/{store}/state"))["is_complete"]:
            time.sleep(0.02)

    def memory(self) -> float:
        """The largest resident memory so far, in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmHWM:\s+(\d+) kB", text)[1]) / 1e3  # type: ignore[index]


@contextmanager
def served(*paths: Path) -> Iterator[Server]:
    """A running explorer."""
    server = Server(*paths)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


def timed(server: Server, path: str) -> float:
    """The seconds of one answer, the better of two."""
    return seconds(lambda: server.get(path), repeats=2)


def slider_step(server: Server, driver: Any) -> float:
    """From a key on the slider to the new picture, the median of twenty."""
    run = json.loads(server.get("/api/v1/network/runs?limit=1"))["rows"][0]
    driver.get(server.url)
    driver.get(f"{server.base}/store/network/run/{run['experiment']}/{run['seed']}/network?step=0")
    wait(driver, "return document.body.dataset.step !== undefined")
    script = """
        const done = arguments[arguments.length - 1], slider = document.getElementById("slider");
        const times = [], steps = JSON.parse(document.getElementById("network").dataset.steps);
        (async () => {
          for (let i = 1; i <= 20; i++) {
            const start = performance.now();
            slider.value = i;
            slider.dispatchEvent(new Event("input"));
            while (document.body.dataset.step !== String(steps[i])) {
              await new Promise((r) => setTimeout(r, 1));
            }
            times.push(performance.now() - start);
          }
          done(times);
        })();"""
    return float(np.median(driver.execute_async_script(script))) / 1e3


def painted(driver: Any, server: Server, page: str) -> tuple[float, float, int]:
    """Seconds to the first paint and to the first chart of a page, and its bytes."""
    driver.get(server.url)
    driver.get(server.base + page)
    chart = wait(driver, "return document.querySelector('#main .chart canvas') !== null")
    entries = driver.execute_script(
        "return [performance.getEntriesByName('first-contentful-paint')[0].startTime, "
        "[...performance.getEntriesByType('resource'), "
        "...performance.getEntriesByType('navigation')]"
        ".reduce((sum, e) => sum + e.decodedBodySize, 0)]"
    )
    return entries[0] / 1e3, chart, int(entries[1])


def wait(driver: Any, condition: str) -> float:
    """The seconds since the page was asked for until a condition holds there."""
    deadline = time.monotonic() + WAIT
    while not driver.execute_script(condition):
        if time.monotonic() > deadline:
            raise TimeoutError(condition)
        time.sleep(0.01)
    return float(driver.execute_script("return performance.now()")) / 1e3


def beside_optuna(driver: Any, directory: Path) -> list[Line]:
    """The first chart with all of as many runs, here and there."""
    python = os.environ.get("ELEGANS_OPTUNA", sys.executable)
    name = f"{TRIALS:,} runs: first chart, Optuna Dashboard's time over ours"
    if python == sys.executable and importlib.util.find_spec("optuna_dashboard") is None:
        return [Line(name, "not measured: it is not installed", ">= 5 x", None)]
    path = large(directory / "trials.db", TRIALS, TRIALS)
    with served(path) as server:
        server.wait_for("trials")
        ours = min(painted(driver, server, "/store/trials")[1] for _ in range(3))
    process = subprocess.Popen(
        [python, "-c", OPTUNA, "8797", str(TRIALS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(2)
        times, paints = [], []
        for _ in range(3):
            driver.get("http://127.0.0.1:8797/dashboard/studies/0")
            times.append(wait(driver, f"return {HAS_ALL_TRIALS}"))
            paints.append(
                driver.execute_script(
                    "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
                )
            )
    finally:
        process.terminate()
        process.wait()
    text = f"{TRIALS:,} runs: first chart here; there; first paint there"
    return [
        Line(text, f"{ours:.3g} s; {min(times):.3g} s; {min(paints) / 1e3:.3g} s", "", None),
        at_least(name, min(times) / ours, BARS["ratio"], "x"),
    ]


@contextmanager
def browser() -> Iterator[Any]:
    """The system's Chromium."""
    from tests.browser.chromium import chromium

    driver = chromium()
    try:
        yield driver
    finally:
        driver.quit()


def large(path: Path, runs: int, experiments: int) -> Path:
    """A store of made-up runs, written in bulk; each row with its checksum."""
    seeds = runs // experiments
    noise = np.random.default_rng(0)
    step = np.arange(0, 1000, 20)
    blob = pack(
        {"step": step, "test_error": noise.random(len(step)), "test_loss": noise.random(len(step))}
    )
    with Store(path) as store:
        store.register({})
    file = File(path, readonly=False)
    with file.writing():
        texts = ((i, f"{i:016x}", experiment(i, experiments)) for i in range(1, experiments + 1))
        file.connection.executemany(
            "INSERT INTO experiments (id, hash, json, checksum) VALUES (?, ?, ?, ?)",
            ((*text, digest(*text)) for text in texts),
        )
        rate = noise.random(runs)
        rows = []
        for i in range(runs):
            one = Run(
                source="",
                hash="",
                seed=i % seeds,
                status="done",
                success=bool(rate[i] < 0.6),
                steps=int(rate[i] * 5000),
                test_error=float(rate[i]),
                test_loss=0.5,
                seconds=0.1,
                train_error=0.1,
                train_loss=0.1,
                host="here",
                versions="{}",
                finished=1.7e9 + i,
            )
            total = digest(b"history", digest(i + 1, "history", blob))
            values = to_values(one) | {
                "id": i + 1,
                "experiment": i // seeds + 1,
                "arrays": total,
                "checksum": 0,
            }
            rows.append(
                tuple(v.encode() if isinstance(v := values[c], str) else v for c in COLUMNS)
            )
        sums = _columns(rows)[1].tolist()
        texts_of = [tuple(v.decode() if isinstance(v, bytes) else v for v in row) for row in rows]
        place = COLUMNS.index("checksum")
        file.connection.executemany(
            f"INSERT INTO runs ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})",
            (
                (*row[:place], total, *row[place + 1 :])
                for row, total in zip(texts_of, sums, strict=True)
            ),
        )
        file.connection.executemany(
            "INSERT INTO arrays (run, kind, checksum, data) VALUES (?, 'history', ?, ?)",
            ((i + 1, digest(i + 1, "history", blob), blob) for i in range(runs)),
        )
    file.close()
    return path


def experiment(i: int, experiments: int) -> str:
    """An experiment with forty fields, of which five vary, one of them in every experiment."""
    texts = {f"text{j}": "constant" for j in range(12)}
    numbers = {f"number{j}": j / 7 for j in range(14)}
    return json.dumps(
        {
            "type": "Experiment",
            "task": {"type": "Parity", "n": 30, "k": 2 + i % 4, "support": [0, 1, 2], **texts},
            "model": {"type": "MLP", "width": i // 4 % 20, "depth": 1 + i // 80 % 5},
            "training": {
                "type": "Training",
                "samples": 100 * (1 + i // 400 % 10),
                "rate": i / experiments,
                **numbers,
            },
        }
    )


def small(path: Path) -> Path:
    """A store of one run that kept its weights at 100 steps."""
    steps = np.arange(100) * 10
    weights = np.random.default_rng(0).standard_normal((100, 30, 100)).astype(np.float32)
    text = experiment(1, 1)
    run = Run(
        source=text,
        hash="a" * 16,
        seed=0,
        status="done",
        steps=1000,
        finished=1.7e9,
        arrays={
            "history": {"step": steps, "test_error": np.linspace(1, 0, 100)},
            "probes": {"step": steps, "parameters.layers.0.weight": weights},
        },
    )
    with Store(path) as store:
        store.register({"a" * 16: text})
        store.add([run], {"parameters": "{}"})
    return path


if __name__ == "__main__":
    print(table(lines()))
