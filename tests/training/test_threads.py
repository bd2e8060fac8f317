"""A record does not depend on the number of cores that the process may use."""

import os
import subprocess
import sys

SCRIPT = """
import hashlib, os, sys
os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: int(sys.argv[1])]))
import jax, numpy as np
import elegans as el

training = el.Training(samples=300, steps=20, batch=256, test_samples=100)
run = el.run(el.Experiment(el.tasks.Parity(50, 3), el.models.MLP(width=600, depth=2), training))
leaves = [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(run.params)]
print(hashlib.sha256(b"".join(leaves)).hexdigest())
"""


def test_a_record_does_not_depend_on_the_cores_of_the_process():
    environment = {k: v for k, v in os.environ.items() if k not in ("NPROC", "XLA_FLAGS")}
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(cores)],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        ).stdout
        for cores in (1, 2)
    }
    assert len(digests) == 1
