"""`elegans sweep FILE`: does the runs of a grid and keeps them in a store.

The same command goes on where it was stopped. With --dry-run it says what there is to do.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from elegans.commands.refusal import refusing
from elegans.compilation import use_one_thread

if TYPE_CHECKING:
    from elegans.store.store import Store
    from elegans.sweeps.sweep import Sweep


def main(arguments: list[str]) -> int:
    """Runs the command; 1 if a run failed, 2 for bad input, 130 after Ctrl-C."""
    options = parser().parse_args(arguments)
    if options.workers != 0 and "jax" not in sys.modules:
        # as the workers do, whose speed and programs --dry-run foretells
        use_one_thread(os.environ)
    from elegans.experiments.toml import read
    from elegans.store.store import Store
    from elegans.sweeps.driver import SweepError
    from elegans.sweeps.executors.dask import dask_client
    from elegans.sweeps.sweep import Sweep

    with refusing("sweep"):
        if options.workers is not None and options.workers < 0:
            raise ValueError(f"--workers counts processes, 0 or more; got {options.workers}.")
        if options.cluster:
            dask_client()
        sweep = Sweep(*read(options.file))
        store = Store(options.store or options.file.with_suffix(".db"))
    if options.dry_run:
        print(plan_of(sweep, store, options.workers))
        return 0
    if options.retry_failed and store.path.exists():
        store.forget_failed()
    try:
        table = sweep.run(store, None, options.workers, options.cluster, progress=not options.quiet)
    except KeyboardInterrupt:
        return 130
    except (SweepError, OSError) as error:  # a store or a cluster that cannot be reached
        print(f"elegans sweep: {error}", file=sys.stderr)
        return 1
    counts = table["status"].value_counts()
    print(f"{store.path}: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
    failed = int(counts.get("failed", 0))
    if failed:
        print(
            f'{failed} of {len(table)} runs failed. "elegans status {store.path}" says why; '
            "--retry-failed does them again.",
            file=sys.stderr,
        )
    return 1 if failed else 0


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    parser = argparse.ArgumentParser("elegans sweep", description=__doc__.partition(": ")[2])
    parser.add_argument("file", type=Path, help="the sweep, as TOML (docs/sweeps.md)")
    parser.add_argument("--store", type=Path, metavar="DB", help="default: FILE with .db")
    parser.add_argument("--workers", type=int, metavar="N", help="processes; 0: only this one")
    parser.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler")
    parser.add_argument("--dry-run", action="store_true", help="say what there is to do")
    parser.add_argument("--retry-failed", action="store_true", help="do failed runs again")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def plan_of(sweep: "Sweep", store: "Store", workers: int | None) -> str:
    """How many runs there are, of how many structures, how many are stored, and the time."""
    from elegans.sweeps.executors import default_workers
    from elegans.sweeps.progress import clock
    from elegans.sweeps.schedule import by_structure, estimate

    experiments = {point.key(seed): point.experiment for point, seed in sweep.pairs}
    lacking = store.lacking(experiments)
    left = [experiments[key] for key in experiments if key in lacking]
    lines = [
        f"runs        {len(experiments)}: {len(sweep.points)} points, {len(sweep.seeds)} seeds",
        f"structures  {len(by_structure(list(experiments.values())))}, each compiled once",
        f"stored      {len(experiments) - len(left)} in {store.path}",
        f"left        {len(left)}",
    ]
    if left:
        cost = estimate(left)
        count = default_workers(cost.seconds) if workers is None else workers
        crew = f"{count} workers" if count else "this process alone"
        lines += [f"time        at most {clock(cost.on(count))} with {crew}, if no run stops early"]
    return "\n".join(lines)
