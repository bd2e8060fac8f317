"""How programs are compiled and computed: one thread, and a cache on disk for all processes.

XLA divides its work by the number of its threads, and the division shows in the last bits of a
result; sweeps use processes. Compiled programs are kept on disk, one directory per kind of
processor, because a program that was made for one may not run on another.

This module imports nothing heavy: a process computes with one thread only if it is told so before
JAX starts.
"""

import hashlib
import os
import platform
import sys
from collections.abc import MutableMapping
from functools import cache
from pathlib import Path

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def answer(text: str) -> str:
    """Does the runs of a request in a process of its own: all that a worker calls."""
    if "jax" not in sys.modules:
        use_one_thread(os.environ)
    from elegans.sweeps import requests

    return requests.answer(text)


def use_one_thread(environment: MutableMapping[str, str]) -> None:
    """Asks libraries that start in this environment for one computing thread.

    Workers are as many as the cores, so more threads would only wait for each other; and the last
    bits of a result depend on the number of XLA's threads, which is `NPROC`.
    """
    environment["NPROC"] = "1"
    flags = environment.get("XLA_FLAGS", "")
    if ONE_THREAD not in flags:
        environment["XLA_FLAGS"] = f"{flags} {ONE_THREAD}".strip()
    for name in LIBRARIES:
        environment[name] = "1"


def keep_programs() -> None:
    """Keeps compiled programs on disk for later processes, unless the user has set this up."""
    import jax

    if getattr(jax.config, "jax_compilation_cache_dir", None) is None:
        jax.config.update("jax_compilation_cache_dir", str(cache_directory()))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def cache_directory() -> Path:
    """Where compiled programs are kept: ELEGANS_CACHE, or a directory of the user's cache."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = Path(os.environ.get("ELEGANS_CACHE") or home / "elegans")
    return root / processor()


@cache
def processor() -> str:
    """A name of this kind of processor: its architecture, and a hash of its instruction sets."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = [f"flags: {platform.processor()}"]
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()}-{hashlib.sha256(flags.encode()).hexdigest()[:8]}"
