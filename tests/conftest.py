"""One computing thread per process, no deadlines, and the same examples every time."""

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


@pytest.fixture
def experiment():
    """A run of some 10 ms; `training.steps` can be varied without compiling."""
    import elegans as el

    return el.Experiment(
        el.tasks.Parity(n=6, k=2),
        el.models.MLP(width=4),
        el.Training(
            samples=50,
            steps=300,
            batch=8,
            evaluate_every=100,
            test_samples=200,
            weight_decay=0.01,
            stop=el.Stop(test_error=0.0),
        ),
    )
