"""`elegans reproduce NAME`: does a study of the documents, or your own ("module:STUDY").

It writes a bundle, OUT/NAME/: result.json, tables/*.csv, figure.png, figure.svg, page.html, and
runs.db, from which the same command goes on if it was stopped. Exit code 1 is a surprise: a claim
that fails, or one that holds although it is declared to fail.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elegans.commands.refusal import refusing
from elegans.durations import duration
from elegans.studies import catalogue

if TYPE_CHECKING:
    from elegans.report.result import Result

WIDTH = 120  # of what is printed elsewhere than to a terminal


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    summary, _, rest = __doc__.partition("\n\n")
    options = argparse.ArgumentParser(
        prog="elegans reproduce", description=summary.partition(": ")[2], epilog=rest
    )
    options.add_argument("study", nargs="?", help="its name (see --list), or module:STUDY")
    options.add_argument("--list", action="store_true", help="show every study and its minutes")
    options.add_argument("--scale", default="quick", help="how large (default: quick)")
    options.add_argument(
        "--out", type=Path, default=Path("out"), help="where bundles go (default: out)"
    )
    options.add_argument("--store", type=Path, metavar="DB", help="runs (default: in the bundle)")
    options.add_argument("--workers", type=int, metavar="N", help="processes; 0: only this one")
    options.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler")
    options.add_argument("--data", type=Path, metavar="DIR", help="data sets, if a study needs any")
    options.add_argument("--json", action="store_true", help="print JSON: claims, or the list")
    return options


def main(arguments: Sequence[str]) -> int:
    """Runs the command; 1 for a surprise among the claims, 2 for bad input, 130 after Ctrl-C."""
    options = parser().parse_args(arguments)
    if options.list:
        show_list(options.json)
        return 0
    with refusing("reproduce"):
        if options.study is None:
            raise ValueError('which study? "elegans reproduce --list" shows all.')
        if options.workers is not None and options.workers < 0:
            raise ValueError(f"--workers counts processes, 0 or more; got {options.workers}.")
        plan = catalogue.study(options.study).plan(options.scale, options.data)
        options.out.mkdir(parents=True, exist_ok=True)
    from elegans.store.schema import StoreError
    from elegans.sweeps.driver import SweepError

    try:
        result = plan.run(
            options.out,
            options.store,
            command_of(options),
            workers=options.workers,
            cluster=options.cluster,
        )
    except KeyboardInterrupt:
        return 130
    except (SweepError, StoreError, OSError) as error:  # a store or a cluster out of reach
        print(f"elegans reproduce: {error}", file=sys.stderr)
        return 1
    directory = options.out / result.study
    if options.json:
        print(summary_json(result, directory))
    else:
        show(result, directory)
    return 1 if result.surprises else 0


def command_of(options: argparse.Namespace) -> str:
    """What a reader types to make the same result."""
    data = "" if options.data is None else f" --data {options.data}"
    return f"elegans reproduce {options.study} --scale {options.scale}{data}"


def show_list(as_json: bool) -> None:
    """Prints every study with its title, source and the minutes of each scale."""
    entries = catalogue.entries()
    if as_json:
        plain = [
            {"name": e.name, "title": e.title, "source": e.source, "scales": e.minutes}
            for e in entries
        ]
        print(json.dumps(plain, indent=1, ensure_ascii=False))
        return
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        scales = ", ".join(f"{name} {duration(60 * m)}" for name, m in entry.minutes.items())
        print(f"{entry.name:<{width}}  {entry.title}")
        print(f"{'':<{width}}  {entry.source}; {scales}")
    print('\n"elegans reproduce NAME --scale SCALE" does one; times are for two cores.')


def summary_json(result: "Result", directory: Path) -> str:
    """The claims and where everything is, for programs."""
    from dataclasses import asdict

    from elegans.report.bundle import to_json

    return to_json(
        {
            "study": result.study,
            "scale": result.scale,
            "directory": str(directory),
            "surprises": len(result.surprises),
            "structures": result.structures,
            "seconds": result.seconds,
            "notes": list(result.notes),
            "claims": [asdict(claim) for claim in result.claims],
        }
    ).rstrip()


def show(result: "Result", directory: Path) -> None:
    """Prints the tables that are to be shown, the claims, and what was written."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from elegans.report import page

    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for name in result.shown:
        frame = result.tables[name]
        table = Table(title=escape(result.captions.get(name, name)))
        for column in frame:
            is_number = frame[column].dtype.kind in "iuf"
            table.add_column(escape(str(column)), justify="right" if is_number else "left")
        for row in page.cells(result, name, frame):
            table.add_row(*map(escape, row))
        console.print(table)
    claims = Table("", "claim", "measured", title="Claims", show_lines=True)
    for claim in result.ordered_claims():
        colour = "bold red" if claim.is_surprise else "green" if claim.holds else "yellow"
        reason = f"\n[dim]known: {escape(claim.known_failure)}[/]" if claim.known_failure else ""
        claims.add_row(
            f"[{colour}]{claim.outcome}[/]",
            f"{escape(claim.text)}\n[dim]{escape(claim.source)}[/]{reason}",
            escape(claim.measured),
        )
    console.print(claims)
    for note in result.notes:
        console.print(escape(note), style="yellow", highlight=False)
    print(
        f"{result.verdict()}; {result.structures} structures compiled, {duration(result.seconds)}"
    )
    names = ", ".join(sorted(path.name for path in directory.iterdir()))
    print(f"{directory}: {names}")
