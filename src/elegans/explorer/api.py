"""The data behind the pages, as JSON: `/api/v1/STORE/{axes,cells,runs,history,probe,state}`.

Every answer says how much there is (`total`) and how much of it is here (`shown`). Lists come in
pages of at most 1,000: `next` is the `after` of the next one. Curves are at most 200, each with
its extremes; arrays are float32; what is not a number is null.
"""

import base64
from typing import Any

import numpy as np
from starlette.requests import Request

from elegans.explorer import charts
from elegans.explorer.cells import grid
from elegans.explorer.curves import MAX_CURVES, downsampled, plain, points_per_curve, scalars
from elegans.explorer.network import MAX_ENTRIES, layer_of, layers, pictures
from elegans.explorer.networks import parts, whole
from elegans.explorer.pages import MAX_PAGE, SECONDS_FOR_A_PAGE, after, run_rows, store_of
from elegans.explorer.query import MAX_DIGITS, MEASURES, axes_of, refuse, view_of
from elegans.explorer.runs import seeds
from elegans.explorer.sources import Sources
from elegans.explorer.studies import summary

MAX_VALUES_LISTED = 1_000


def state(sources: Sources, request: Request) -> dict[str, Any]:
    """How far a store has been read, and whether it grows: what a page asks again and again."""
    records = store_of(sources, request)
    state = summary(records)
    return {
        "version": records.index.version,
        "shown": state["read"],
        "total": state["runs"],
        "experiments": state["experiments"],
        "statuses": state["statuses"],
        "is_growing": state["is_growing"],
        "is_complete": state["is_complete"],
        "last": state["last"],
        "error": state["error"],
    }


def axes(sources: Sources, request: Request) -> dict[str, Any]:
    """The settings that vary, with their values, and the measures."""
    records = store_of(sources, request)
    records.index.refresh(SECONDS_FOR_A_PAGE)
    fields = records.index.settings.fields
    varying = records.index.settings.varying()
    return {
        "axes": [
            {
                "name": field.name,
                "values": plain_values([field.values[c] for c in field.order()])[
                    :MAX_VALUES_LISTED
                ],
                "shown": min(len(field.values), MAX_VALUES_LISTED),
                "total": len(field.values),
            }
            for field in varying
        ],
        "names": axes_of(records.index),
        "measures": list(MEASURES),
        "constants": {f.name: plain_values(f.values)[0] for f in fields.values() if not f.varies},
        "shown": len(varying),
        "total": len(fields),
    }


def cells(sources: Sources, request: Request) -> dict[str, Any]:
    """The cells of a view: runs, successes, and the rate or median with its interval."""
    records = store_of(sources, request)
    records.index.refresh(SECONDS_FOR_A_PAGE)
    view = view_of(request.query_params, records.index)
    picture = grid(records.index, view)
    start, count = after(request), page_size(request)
    chosen = picture.cells[start : start + count]
    return {
        "x": view.x,
        "y": view.y,
        "z": view.z,
        "cells": [
            {
                "x": picture.x.labels[cell.x],
                "y": picture.y.labels[cell.y],
                "runs": cell.runs,
                "judged": cell.judged,
                "succeeded": cell.succeeded,
                "value": cell.value,
                "low": cell.low,
                "high": cell.high,
                "interval": charts.interval_text(cell, view.z),
                "experiment": cell.experiment or None,
            }
            for cell in chosen
        ],
        "hidden": {"x": picture.x.hidden, "y": picture.y.hidden},
        "runs": {"shown": picture.shown, "total": picture.total},
        "shown": len(chosen),
        "total": len(picture.cells),
        "next": start + count if start + count < len(picture.cells) else None,
    }


def runs(sources: Sources, request: Request) -> dict[str, Any]:
    """Runs in the order in which they were stored."""
    records = store_of(sources, request)
    records.index.refresh(SECONDS_FOR_A_PAGE)
    view = view_of(request.query_params, records.index)
    page = run_rows(records, view.where, after(request), page_size(request))
    for row in page["rows"]:
        for part in ("settings", "metrics"):
            row[part] = dict(zip(row[part], plain_values(list(row[part].values())), strict=True))
    return {**page, "version": records.index.version}


def history(sources: Sources, request: Request) -> dict[str, Any]:
    """Curves of one measure: of an experiment's seeds, or of what filters leave."""
    records = store_of(sources, request)
    metric = request.query_params.get("metric") or "test_error"
    name = request.query_params.get("experiment")
    if name:
        records.experiment(name)  # refuses one that is not there
        entries = seeds(records.index, name)
        total = len(entries)
    else:
        view = view_of(request.query_params, records.index)
        page = run_rows(records, view.where, after(request), MAX_CURVES)
        entries, total = page["rows"], page["total"]
    entries = entries[:MAX_CURVES]
    points = points_per_curve(len(entries))
    curves: list[dict[str, Any]] = []
    known: set[str] = set()
    with records.reading():
        histories = [scalars(records.arrays(entry["run"], "history")) for entry in entries]
    for entry, columns in zip(entries, histories, strict=True):
        known |= columns.keys()
        if metric in columns:
            few = downsampled(columns[metric], points)
            curves.append(
                {
                    "experiment": entry["experiment"],
                    "seed": entry["seed"],
                    "step": plain(few.step),
                    "value": plain(few.value),
                    "shown": len(few.step),
                    "total": len(columns[metric].step),
                }
            )
    if known and metric not in known:
        refuse("metric", metric, sorted(known))
    return {"metric": metric, "curves": curves, "shown": len(curves), "total": total}


def probe(sources: Sources, request: Request) -> dict[str, Any]:
    """An array of a run at a step, as matrices; with `neuron`, that neuron and its spectrum."""
    records = store_of(sources, request)
    run = request.query_params.get("run", "")
    experiment, _, seed = run.rpartition("/")
    if not experiment or not seed.isdecimal() or len(seed) > MAX_DIGITS:
        raise ValueError(f"run={run}: a run is named EXPERIMENT/SEED.")
    with records.reading():
        record = records.record(experiment, int(seed))
        available = layers(records, record)
    layer = layer_of(available, request.query_params.get("layer", ""))
    step = whole(request, "step", layer.steps[-1] if layer.steps else 0)
    matrices, names = pictures(layer, step)
    size = matrices.shape[1] * matrices.shape[2]
    count = max(1, MAX_ENTRIES // size)
    shown = (
        matrices[:count]
        if size <= MAX_ENTRIES
        else matrices[:1, : MAX_ENTRIES // matrices.shape[2]]
    )
    answer: dict[str, Any] = {
        "layer": layer.name,
        "layers": list(available),
        "step": layer.steps[layer.place(step)] if layer.steps else None,
        "steps": len(layer.steps),
        "names": names[: len(shown)],
        "shape": list(shown.shape),
        "shown": int(shown.size),
        "total": int(matrices.size),
    }
    if request.query_params.get("encoding") == "base64":
        data = np.ascontiguousarray(shown, "<f4").tobytes()
        answer["float32"] = base64.b64encode(data).decode("ascii")
        finite = shown[np.isfinite(shown)]
        answer["largest"] = float(np.abs(finite).max()) if finite.size else 0.0
    else:
        answer["values"] = plain(shown)
    if request.query_params.get("neuron") and layer.is_matrix:
        one = parts(available, layer, step, whole(request, "neuron", 0), record)
        one["weights"] = plain(one["weights"])
        if one["spectrum"] is not None:
            one["spectrum"]["values"] = plain(one["spectrum"]["values"])
        answer["neuron"] = one
    return answer


def page_size(request: Request) -> int:
    """How many rows a page has: 1,000 at most."""
    size = whole(request, "limit", MAX_PAGE)
    if not 1 <= size <= MAX_PAGE:
        raise ValueError(f"limit={size}: a page has 1 to {MAX_PAGE:,} rows.")
    return size


def plain_values(values: list[Any]) -> list[Any]:
    """Settings as JSON has them: what is not a finite number is null."""
    return [None if isinstance(v, float) and not np.isfinite(v) else v for v in values]


ANSWERS = {
    "state": state,
    "axes": axes,
    "cells": cells,
    "runs": runs,
    "history": history,
    "probe": probe,
}
