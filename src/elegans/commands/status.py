"""`elegans status DB`: what a store holds, and what failed in it.

It may be asked while a sweep writes to the store.
"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elegans.commands.refusal import refusing

if TYPE_CHECKING:
    import pandas as pd

    from elegans.store.store import Store

POINTS = 20  # of the grid are listed at most
OUTCOMES = ("status", "success", "steps", "test_error", "test_loss", "train_error", "train_loss")
NO_AXES = ("run", "experiment", "seed", *OUTCOMES, "seconds", "probed", "traceback", "host",
           "versions", "finished")  # fmt: skip


def main(arguments: list[str]) -> int:
    """Runs the command; 1 if a stored run failed, 2 for bad input."""
    parser = argparse.ArgumentParser("elegans status", description=__doc__.partition(": ")[2])
    parser.add_argument("store", type=Path, metavar="DB", help="a store")
    parser.add_argument("--json", action="store_true", help="for programs")
    given = parser.parse_args(arguments)
    from elegans.store.store import Store

    with refusing("status"):
        store = Store(given.store)
        table = store.table()
    print(json.dumps(summary(store, table)) if given.json else told(store, table))
    return int((table["status"] == "failed").any())


def summary(store: "Store", table: "pd.DataFrame") -> dict[str, Any]:
    """The numbers of a store."""
    return {
        "path": str(store.path),
        "bytes": store.path.stat().st_size,
        "runs": len(table),
        **{name: int((table["status"] == name).sum()) for name in ("done", "diverged", "failed")},
        "succeeded": int(table["success"].fillna(False).sum()),
        "experiments": int(table["experiment"].nunique()),
        "seconds": float(table["seconds"].sum()),
        "hosts": sorted(table["host"].unique()),
    }


def told(store: "Store", table: "pd.DataFrame") -> str:
    """The same for a reader, with the success rate at each point of the grid."""
    from elegans.sweeps.progress import clock

    found = summary(store, table)
    lines = [
        f"{found['path']}: {found['runs']} runs of {found['experiments']} experiments, "
        f"{found['bytes'] / 1e6:.1f} MB",
        f"{found['done']} done, {found['diverged']} diverged, {found['failed']} failed; "
        f"{found['succeeded']} succeeded",
        f"{clock(found['seconds'])} of computing on {', '.join(found['hosts']) or 'no host'}",
    ]
    axes = [name for name in table if name not in NO_AXES and table[name].nunique(dropna=False) > 1]
    if axes:
        points = table.groupby(axes, dropna=False, sort=False)
        rates = points.agg(
            runs=("seed", "size"), success=("success", "mean"), steps=("steps", "median")
        ).reset_index()
        lines += ["", rates.tail(POINTS).to_string(index=False)]
        if len(rates) > POINTS:
            lines += [f"(the last {POINTS} of {len(rates)} points)"]
    return "\n".join(lines + failures(table))


def failures(table: "pd.DataFrame") -> list[str]:
    """Why runs failed: the last line of each traceback and how often, and one in full."""
    failed = table[table["status"] == "failed"]
    if failed.empty:
        return []
    last = failed["traceback"].map(lambda text: text.strip().splitlines()[-1])
    counts = [f"{n} x {line}" for line, n in last.value_counts().items()]
    first = failed.iloc[0]
    where = f"The first, experiment {first['experiment']}, seed {first['seed']}:"
    return ["", "failed:", *counts, "", where, first["traceback"].rstrip()]
