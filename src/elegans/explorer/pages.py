"""The pages of a store: a picture of any two settings, its marginals, and CSV of what is shown."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from elegans.explorer import charts
from elegans.explorer.cells import Cell, Grid, grid
from elegans.explorer.index import Index
from elegans.explorer.query import (
    MAX_DIGITS,
    MEASURES,
    RATE,
    View,
    axes_of,
    filtered_fields,
    filters_by_field,
    matching,
    shown_value,
    view_of,
)
from elegans.explorer.records import NotThere, Records
from elegans.explorer.settings import Field
from elegans.explorer.sources import Sources
from elegans.explorer.studies import Answer, ascii_name, summary, there
from elegans.runs import METRICS, STATUSES

SECONDS_FOR_A_PAGE = 0.5
ROWS_ON_A_PAGE = 50
MAX_PAGE = 1_000
MAX_CHOICES = 12  # of a filter with a box per value; with more there are limits
MAX_MARGINALS = 12
CELLS_ON_A_PAGE = 60


def store(sources: Sources, request: Request) -> Answer:
    """What a sweep found, along two settings."""
    records = store_of(sources, request)
    index = records.index
    index.refresh(SECONDS_FOR_A_PAGE)
    view = view_of(request.query_params, index)
    picture = grid(index, view)
    links = [cell_link(records, view, picture, cell) for cell in picture.cells]
    values = {
        "title": records.name,
        "summary": summary(records),
        "view": view,
        "grid": picture,
        "picture": charts.store_chart(picture, view, links),
        "cells": list(zip(picture.cells, links, strict=True)),
        "cells_on_a_page": CELLS_ON_A_PAGE,
        "axes": axes_of(index),
        "logs": log_choices(picture, view),
        "measures": [(name, charts.measure_name(name)) for name in MEASURES],
        "interval": lambda cell: charts.interval_text(cell, view.z),
        "filters": filter_boxes(records, view),
        "table": run_rows(records, view.where, after(request), ROWS_ON_A_PAGE),
        "constants": constants(records),
        "version": index.version,
        "has_rate": view.z == RATE,
    }
    return "store.html.j2", values


def log_choices(picture: Grid, view: View) -> list[str]:
    """The axes that a logarithm would change: numbers along a line or in bins, and colours."""
    is_line = not view.y and all(middle is not None for middle in picture.x.middles)
    changes = {"x": is_line or picture.x.is_binned, "y": picture.y.is_binned, "z": view.z != RATE}
    return [letter for letter, does in changes.items() if does or letter in view.log]


def marginals(sources: Sources, request: Request) -> Answer:
    """Each setting that varies, on its own, over the runs that the filters leave."""
    records = store_of(sources, request)
    view = view_of(request.query_params, records.index)
    fields = [field for field in records.index.settings.varying() if field.is_an_axis]
    parts = []
    for field in fields[:MAX_MARGINALS]:
        part = grid(records.index, View(view.where, field.name, "", view.z))
        links = [cell_link(records, view, part, cell) for cell in part.cells]
        spec = charts.marginal(part, view.z)
        parts.append({"name": field.name, "grid": part, "chart": spec, "links": links})
    values = {
        "title": f"{records.name}: marginals",
        "store": records,
        "view": view,
        "parts": parts,
        "total": len(fields),
        "measure": charts.measure_name(view.z),
        "interval": lambda cell: charts.interval_text(cell, view.z),
        "is_fragment": request.query_params.get("part") == "1",
    }
    return "marginals.html.j2", values


def cell_link(records: Records, view: View, picture: Grid, cell: Cell) -> str:
    """Where a cell leads: to its experiment, or to the same store with the cell as a filter."""
    if cell.experiment:
        return f"/store/{records.name}/cell/{cell.experiment}"
    terms = [*picture.x.terms[cell.x], *picture.y.terms[cell.y]]
    where = tuple(dict.fromkeys([*view.where, *terms]))
    return f"/store/{records.name}?{view.url(where=where, x=None, y=None)}"


def filter_boxes(records: Records, view: View) -> list[dict[str, Any]]:
    """The filters of the form: a box per value where there are few, limits where there are many."""
    chosen, filtered = filters_by_field(view.where), filtered_fields(view.where)
    boxes = []
    for field in records.index.settings.varying():
        is_named = field.name in filtered
        texts = [shown_value(field.values[code]) for code in field.order()[: MAX_CHOICES + 1]]
        is_short = len(field.values) <= MAX_CHOICES
        values = texts if is_short else sorted(chosen.get(field.name, set()))
        boxes.append(
            {
                "name": field.name,
                "choices": [(text, text in chosen.get(field.name, set())) for text in values],
                "has_limits": field.is_numeric and not is_short,
                "limits": {sign: limit(view, field.name, sign) for sign in (">=", "<=")},
                "count": len(field.values),
                "is_open": is_named or (field.is_an_axis and len(field.values) <= 8),
                "is_rare": not field.is_an_axis and not is_named,
            }
        )
    statuses = [(status, status in chosen.get("status", set())) for status in STATUSES]
    boxes.append(
        {
            "name": "status",
            "choices": statuses,
            "has_limits": False,
            "count": len(STATUSES),
            "limits": {},
            "is_open": "status" in chosen,
            "is_rare": False,
        }
    )
    return boxes


def limit(view: View, name: str, sign: str) -> str:
    """The limit that a filter has, as text."""
    start = name + sign
    return next((term[len(start) :] for term in view.where if term.startswith(start)), "")


def constants(records: Records) -> list[tuple[str, str]]:
    """The settings that all experiments share."""
    fields = records.index.settings.fields.values()
    return [(f.name, shown_value(f.values[0])) for f in fields if not f.varies and f.values]


def run_rows(records: Records, where: tuple[str, ...], start: int, count: int) -> dict[str, Any]:
    """A page of runs after the number `start`, as they were stored."""
    index = records.index
    with index.lock:
        fields = index.settings.varying()
        rows = matching(index, where)
        first = int(np.searchsorted(index.column("id")[rows], start, side="right"))
        chosen = rows[first : first + count].tolist()
        entries = [run_entry(index, row, fields) for row in chosen]
    return {
        "rows": entries,
        "fields": [field.name for field in fields],
        "shown": len(entries),
        "total": len(rows),
        "next": entries[-1]["run"] if first + count < len(rows) else None,
    }


def run_entry(index: Index, row: int, fields: list[Field]) -> dict[str, Any]:
    """A run of a list: its number, name, settings that vary and metrics."""
    place = int(index.column("place")[row])
    return {
        "run": int(index.column("id")[row]),
        "experiment": index.hashes[place],
        "seed": int(index.column("seed")[row]),
        "status": STATUSES[index.column("status")[row]],
        "metrics": index.metrics(row),
        "settings": {field.name: field.values[index.codes(field)[place]] for field in fields},
    }


def after(request: Request) -> int:
    """The number of the run after which a page starts."""
    text = request.query_params.get("after") or "0"
    if not text.isdecimal() or len(text) > MAX_DIGITS:
        raise ValueError(f"after={text}: it is the number of a run, as `next` of an answer.")
    return int(text)


def cells_csv(sources: Sources, request: Request) -> Response:
    """The cells of a view as CSV."""
    records = store_of(sources, request)
    view = view_of(request.query_params, records.index)
    picture = grid(records.index, view)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    kind = "rate" if view.z == RATE else f"median_{view.z}"
    low, high = ("low", "high") if view.z == RATE else ("lower_quartile", "upper_quartile")
    names = [name for name in (view.x, view.y) if name]
    writer.writerow([*map(safe, names), "runs", "judged", "succeeded", kind, low, high])
    for cell in picture.cells:
        places = [picture.x.labels[cell.x]] if view.x else []
        places += [picture.y.labels[cell.y]] if view.y else []
        numbers = [cell.runs, cell.judged, cell.succeeded, cell.value, cell.low, cell.high]
        writer.writerow([*map(safe, places), *("" if n is None else n for n in numbers)])
    return csv_answer(f"{records.name}-cells.csv", iter([text.getvalue()]))


def runs_csv(sources: Sources, request: Request) -> Response:
    """All runs that the filters leave as CSV, sent page by page."""
    records = store_of(sources, request)
    view = view_of(request.query_params, records.index)

    def lines() -> Iterator[str]:
        place: int | None = 0
        fields: list[str] | None = None
        while place is not None:
            part = run_rows(records, view.where, place, MAX_PAGE)
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            if fields is None:
                fields = part["fields"]
                writer.writerow(["experiment", *map(safe, fields), "seed", "status", *METRICS])
            for row in part["rows"]:
                settings = [safe(shown_value(row["settings"].get(name))) for name in fields]
                numbers = ["" if v is None else v for v in row["metrics"].values()]
                writer.writerow(
                    [row["experiment"], *settings, row["seed"], row["status"], *numbers]
                )
            yield text.getvalue()
            place = part["next"]

    return csv_answer(f"{records.name}-runs.csv", lines())


def safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    is_number = text.replace(".", "", 1).lstrip("-").replace("e-", "", 1).isdigit()
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not is_number else text


def csv_answer(name: str, parts: Iterator[str]) -> Response:
    """A file to keep."""
    headers = {"content-disposition": f'attachment; filename="{ascii_name(name)}"'}
    return StreamingResponse(parts, media_type="text/csv", headers=headers)


def store_of(sources: Sources, request: Request) -> Records:
    """The store that a URL names."""
    name = request.path_params["store"]
    if name not in sources.stores:
        raise NotThere(f"There is no store {name!r}. {there('Stores', sources.stores)}")
    return sources.stores[name]
