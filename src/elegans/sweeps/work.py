"""What a worker does: a unit of runs that comes as text goes back as text.

This module imports nothing heavy, because a process computes with one thread only if it is told so
before JAX starts. It is all that another process or machine needs to know of a sweep.
"""

import os
import sys
from collections.abc import MutableMapping
from pathlib import Path

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def work(text: str) -> str:
    """Does the runs of a unit in a process of its own, and returns their records."""
    if "jax" not in sys.modules:
        use_one_thread(os.environ)
    keep_compilations()
    from elegans.sweeps.unit import results

    return results(text)


def use_one_thread(environment: MutableMapping[str, str]) -> None:
    """Asks libraries that start in this environment for one computing thread.

    Workers are as many as the cores, so more threads would only wait for each other. The results
    do not depend on it.
    """
    flags = environment.get("XLA_FLAGS", "")
    if ONE_THREAD not in flags:
        environment["XLA_FLAGS"] = f"{flags} {ONE_THREAD}".strip()
    for name in LIBRARIES:
        environment[name] = "1"


def keep_compilations() -> None:
    """Keeps compiled programs on disk for later workers, unless the user has set this up."""
    import jax

    if getattr(jax.config, "jax_compilation_cache_dir", None) is None:
        jax.config.update("jax_compilation_cache_dir", str(cache_directory()))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def cache_directory() -> Path:
    """Where compiled programs are kept: ELEGANS_CACHE, or a directory of the user's cache."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("ELEGANS_CACHE") or home / "elegans")
