"""One computing thread a process, no deadlines, and the same examples every time."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import pytest
from hypothesis import settings

settings.register_profile("elegans", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("elegans")


@pytest.fixture(scope="module")
def cheap_compilation():
    """For modules that compile large programs and run them briefly: a third of the time."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
