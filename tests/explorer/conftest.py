"""An explorer without a network: requests go to the application itself."""

import asyncio
import json

import httpx
import numpy as np
import pytest

from elegans.explorer.app import application
from elegans.explorer.sources import listed
from elegans.runs import Run
from elegans.store.store import Store
from tests.report.test_bundle import claim, result

TOKEN, COOKIE, HOST = "right", "elegans-1", "127.0.0.1:1"
WIDTHS, SAMPLES, SEEDS = (10, 30, 100), (100, 300, 1000, 3000), range(4)
STEPS = np.arange(0, 500, 10)
FAILED = "f" * 16


def experiment(width, samples, **rest):
    """The JSON of an experiment on bits, whose types need not exist."""
    return json.dumps(
        {
            "type": "Experiment",
            "task": {"type": "Parity", "n": 6, "k": 2, "support": [0, 1]},
            "model": {"type": "MLP", "width": width, "activation": "relu"},
            "training": {"type": "Training", "samples": samples, "rate": 0.1, **rest},
        }
    )


def name(width, samples):
    """The hash of that experiment, as far as a store is concerned."""
    return f"{width:08x}{samples or 0:08x}"


def run(width, samples, seed):
    """A run whose numbers follow from its settings, with curves, weights and attention."""
    noise = np.random.default_rng([width, samples or 0, seed])
    weights = noise.standard_normal((len(STEPS), 6, 3)).astype(np.float32)
    error = noise.random(len(STEPS))
    error[3] = np.nan
    arrays = {
        "history": {"step": STEPS, "test_error": error, "test_loss": error**2},
        "probes": {
            "step": STEPS,
            "weights.layers.0.weight": weights,
            "weights.layers.0.bias": weights[:, 0],
            "norm": noise.random(len(STEPS)),
            "attended.attention": noise.random((len(STEPS), 2, 1, 4, 4)).astype(np.float32),
        },
    }
    return Run(
        source=experiment(width, samples),
        hash=name(width, samples),
        seed=seed,
        status="diverged" if noise.random() < 0.1 else "done",
        success=None if noise.random() < 0.1 else bool(noise.random() < width / 100),
        steps=int(noise.integers(100, 900)),
        test_error=float(noise.random()),
        test_loss=float("nan"),
        seconds=0.5,
        arrays=arrays,
        host="here",
        versions='{"elegans": "0"}',
        finished=1.7e9,
    )


PROBES = {"weights": "{}", "norm": "{}", "attended": "{}"}


@pytest.fixture(scope="session")
def grid_path(tmp_path_factory):
    """A store of a small grid, a failed run in it."""
    path = tmp_path_factory.mktemp("stores") / "grid.db"
    with Store(path) as store:
        keys = [(w, s) for w in WIDTHS for s in SAMPLES]
        store.register({name(*key): experiment(*key) for key in keys})
        store.add([run(*key, seed) for key in keys for seed in SEEDS], PROBES)
        store.register({FAILED: experiment(30, None)})
        text = "Traceback ...\nValueError: <script>alert(1)</script>"
        store.add([Run(source="", hash=FAILED, seed=0, status="failed", traceback=text)])
    return path


@pytest.fixture(scope="session")
def bundle_path(tmp_path_factory):
    """A bundle with a failing claim, a table, a figure and a chart."""
    claims = [claim("it holds"), claim("it <fails>", holds=False)]
    return result(claims=claims).write(tmp_path_factory.mktemp("out") / "small")


class Client:
    """Asks an explorer of these paths, with its cookie if `cookies`, following no redirection."""

    def __init__(self, *paths, cookies=True):
        self.sources = listed(paths)
        self.app = application(self.sources, frozenset({HOST}), TOKEN, COOKIE)
        self.cookies = httpx.Cookies({COOKIE: TOKEN} if cookies else {})

    def get(self, url, **options):
        return self.request("GET", url, **options)

    def request(self, method, url, **options):
        async def ask():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url=f"http://{HOST}", cookies=self.cookies
            ) as client:
                answer = await client.request(method, url, **options)
                self.cookies = client.cookies
                return answer

        return asyncio.run(ask())


@pytest.fixture(scope="session")
def client(grid_path, bundle_path):
    """A client of an explorer of the grid and the bundle."""
    client = Client(grid_path, bundle_path)
    for store in client.sources.stores.values():
        store.index.refresh()
    yield client
    client.sources.close()


@pytest.fixture
def explored():
    """Makes clients whose files are closed at the end."""
    clients = []

    def make(*paths, **options):
        clients.append(Client(*paths, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.sources.close()
