"""`elegans status DB`: what a store holds, and what failed in it.

It may be asked while a sweep writes to the store.
"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elegans.commands.refusal import refusing
from elegans.durations import duration
from elegans.runs import METRICS, STATUSES

if TYPE_CHECKING:
    import pandas as pd

MAX_POINTS = 20  # of a sweep are listed
NOT_AXES = (
    "run",
    "experiment",
    "seed",
    "status",
    *METRICS,
    "traceback",
    "host",
    "versions",
    "finished",
)


def main(arguments: list[str]) -> int:
    """Runs the command; 1 if a stored run failed or is damaged, 2 for bad input."""
    parser = argparse.ArgumentParser("elegans status", description=__doc__.partition(": ")[2])
    parser.add_argument("store", type=Path, metavar="DB", help="a store")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(arguments)
    from elegans.store.store import Store

    with refusing("status"), Store(options.store, readonly=True) as store:
        table = store.table()
        summary = {"path": str(store.path), "bytes": store.path.stat().st_size, **numbers(table)}
    print(json.dumps(summary) if options.json else page(summary, table))
    return int(table["status"].isin(["failed", "damaged"]).any())


def numbers(table: "pd.DataFrame") -> dict[str, Any]:
    """The numbers of a store; `succeeded` is None if no run had a stop rule."""
    known = table["success"].dropna()
    sound = table[table["status"] != "damaged"]
    return {
        "runs": len(table),
        **{status: int((table["status"] == status).sum()) for status in STATUSES},
        "succeeded": int(known.sum()) if len(known) else None,
        "experiments": int(table["experiment"].nunique()),
        "seconds": float(table["seconds"].sum()),
        "hosts": sorted(set(sound["host"])),
        "versions": {text: int(n) for text, n in sound["versions"].value_counts().items()},
    }


def page(summary: dict[str, Any], table: "pd.DataFrame") -> str:
    """The same for a reader, with what came out at each point of a sweep."""

    counts = [f"{summary[status]} {status}" for status in STATUSES]
    if not summary["damaged"]:
        counts.remove("0 damaged")
    succeeded = summary["succeeded"]
    lines = [
        f"{summary['path']}: {summary['runs']} runs of {summary['experiments']} experiments, "
        f"{summary['bytes'] / 1e6:.1f} MB",
        ", ".join(counts) + ("" if succeeded is None else f"; {succeeded} succeeded"),
        f"{duration(summary['seconds'])} of computing on "
        f"{', '.join(summary['hosts']) or 'no host'}",
        *(f"{count} made by {version(text)}" for text, count in summary["versions"].items()),
        *points(table),
        *failures(table),
    ]
    if summary["damaged"]:
        lines += ["", "Damaged runs do not fit their checksums; a sweep does them again."]
    return "\n".join(lines)


def version(text: str) -> str:
    """What made a run, in words."""
    try:
        names = json.loads(text)
        return f"elegans {names['elegans']}" + (
            f", code {names['code']}" if "code" in names else ""
        )
    except (ValueError, TypeError, KeyError):
        return f"an unknown version, {text!r}"


def points(table: "pd.DataFrame") -> list[str]:
    """Runs, steps and, if there was a stop rule, successes at each point of a sweep."""
    axes = [
        name for name in table if name not in NOT_AXES and table[name].nunique(dropna=False) > 1
    ]
    if not axes:
        return []
    columns = {
        "runs": ("seed", "size"),
        "success": ("success", "mean"),
        "steps": ("steps", "median"),
    }
    if table["success"].isna().all():
        del columns["success"]
    sound = table[table["status"] != "damaged"]
    rates = sound.groupby(axes, dropna=False, sort=False).agg(**columns).reset_index()
    lines = ["", rates.tail(MAX_POINTS).to_string(index=False)]
    if len(rates) > MAX_POINTS:
        lines.append(f"(the last {MAX_POINTS} of {len(rates)} points)")
    return lines


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
