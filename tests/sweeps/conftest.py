"""Small sweeps of one structure, so that the tests of this directory compile little."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def _programs(tmp_path_factory):
    """Compiled programs are kept for the processes that these tests start, and for them alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELEGANS_CACHE", str(tmp_path_factory.mktemp("programs")))
        patch.setenv("JAX_COMPILATION_CACHE_DIR", os.environ["ELEGANS_CACHE"])
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
        yield


@pytest.fixture
def sweep(experiment):
    """Eight such runs, at two learning rates."""
    import elegans as el

    return el.Sweep(experiment, over={"training.learning_rate": [0.05, 0.2]}, seeds=range(4))


@pytest.fixture
def python(tmp_path):
    """Starts Python on a script, with this package importable and output captured."""
    import elegans as el

    started = []

    def start(script, *arguments, **options):
        file = tmp_path / f"script{len(started)}.py"
        file.write_text(script)
        environment = os.environ | {"PYTHONPATH": str(Path(el.__file__).parents[1])}
        process = subprocess.Popen(
            [sys.executable, str(file), *map(str, arguments)],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
