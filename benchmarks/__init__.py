"""Speed beside a peer, in one process, as a ratio: `python -m benchmarks.theory` and others."""
