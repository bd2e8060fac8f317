"""`elegans reproduce`: a figure of the documents by name, with the claims that it checks."""

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from elegans.commands.refusal import refusing

if TYPE_CHECKING:
    import pandas as pd

    from elegans.studies.study import Result, Study

SCALES = ("quick", "laptop", "paper")
WIDTH = 120  # of what is printed elsewhere than to a terminal


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = argparse.ArgumentParser(prog="elegans reproduce", description=__doc__)
    made.add_argument("study", nargs="?", help="the study's name; see --list")
    made.add_argument("--list", action="store_true", help="show every study and what it costs")
    made.add_argument("--scale", default="quick", choices=SCALES, help="how large (default: quick)")
    made.add_argument("--out", type=Path, default=Path("out"), help="where files go (default: out)")
    made.add_argument("--store", type=Path, help="a database of runs to keep and to go on from")
    made.add_argument("--workers", type=int, help="worker processes (default: one a core)")
    made.add_argument("--data", type=Path, help="a directory of data sets (for: tabular)")
    made.add_argument("--json", action="store_true", help="print the claims as JSON")
    return made


def main(arguments: Sequence[str]) -> int:
    """Runs the command; 1 if a claim does not hold."""
    options = parser().parse_args(arguments)
    from elegans.studies import catalogue

    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    if options.list:
        _list(catalogue.studies(), console)
        return 0
    with refusing("reproduce"):
        if options.study is None:
            raise ValueError('which study? "elegans reproduce --list" shows all.')
        study = catalogue.study(options.study)
        if options.workers is not None and options.workers < 0:
            raise ValueError(
                f"--workers counts processes, so it is 0 or more; got {options.workers}."
            )
        options.out.mkdir(parents=True, exist_ok=True)
        data = study.ready(options.scale, options.data)
    result = study.run(options.scale, store=options.store, workers=options.workers, **data)
    files = write(study, result, options.out)
    if options.json:
        claims = [asdict(claim) for claim in result.claims]
        print(json.dumps({"study": study.name, "scale": result.scale, "claims": claims}, indent=1))
    else:
        _show(result, files, console)
    return 0 if all(claim.holds for claim in result.claims) else 1


def write(study: "Study", result: "Result", out: Path) -> list[Path]:
    """Writes the study's table, figure and page, and returns where."""
    from elegans.report import html, plots

    pictures: Any = importlib.import_module(f"elegans.report.{study.name.replace('-', '_')}")
    out.mkdir(parents=True, exist_ok=True)
    table = out / f"{study.name}.csv"
    result.table.to_csv(table, index=False)
    figure = plots.save(pictures.draw(result), out / f"{study.name}.png")
    page = html.write(study, result, pictures.page(result), figure, out / f"{study.name}.html")
    return [figure, page, table]


def _list(studies: "list[Study]", console: Console) -> None:
    table = Table(title="elegans reproduce NAME --scale SCALE")
    table.add_column("study", no_wrap=True)
    for column in ("reproduces", *SCALES):
        table.add_column(column)
    for study in studies:
        costs = [study.scales[scale].cost if scale in study.scales else "-" for scale in SCALES]
        table.add_row(study.name, study.reproduces, *costs)
    console.print(table)


def _show(result: "Result", files: list[Path], console: Console) -> None:
    for title, frame in result.summary.items():
        console.print(_table(title, frame))
    claims = Table("", "claim", "measured", title="Claims", show_lines=True)
    for claim in result.claims:
        mark = "[green]holds[/]" if claim.holds else "[bold red]FAILS[/]"
        claims.add_row(mark, f"{claim.text}\n[dim]{claim.source}[/]", claim.measured)
    console.print(claims)
    console.print("Written: " + ", ".join(str(file) for file in files))


def _table(title: str, frame: "pd.DataFrame") -> Table:
    """A frame as a table; fractions as coloured percentages, text as it is."""
    table = Table(title=title)
    table.add_column(str(frame.index.name or ""), no_wrap=True)
    for column in frame.columns:
        table.add_column(str(column), justify="right")
    columns = [_cells(frame[column]) for column in frame.columns]
    for name, *row in zip(frame.index, *columns, strict=True):
        table.add_row(str(name), *row)
    return table


def _cells(column: "pd.Series") -> list[str]:
    if column.dtype.kind not in "biuf":
        return [escape(str(value)) for value in column]
    is_rate = column.dropna().between(0, 1).all()
    return [_rate(value) if is_rate else f"{value:,.4g}" for value in column]


def _rate(value: float) -> str:
    colour = "green" if value >= 0.9 else "yellow" if value >= 0.1 else "dim"
    return f"[{colour}]{value:.0%}[/]"
