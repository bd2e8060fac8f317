"""Charts as Vega-Lite specifications: plain data for the browser, where no text is evaluated.

Colours and fonts are the page's (`static/charts.js`); here is what is drawn. Every chart of the
explorer stands beside a table of the same numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from elegans.explorer.cells import Axis, Cell, Grid
from elegans.explorer.curves import Band, Curve, downsampled, plain, points_per_curve
from elegans.explorer.query import RATE, View

Spec = dict[str, Any]
MAX_CELLS_WITH_TEXT = 150
# Each label on its own: the same format for the whole axis would write 500 as 0.5k beside 1k.
STEPS = {"labelExpr": "format(datum.value, '~s')"}
NUMBERS = {
    "labelExpr": "format(datum.value, abs(datum.value) >= 1000 ? '~s' : '.3~g')"
}  # no "1m" for a thousandth


def measure_name(z: str) -> str:
    """A measure in words."""
    return "success rate" if z == RATE else f"median {z.replace('_', ' ')}"


def store_chart(grid: Grid, view: View, links: Sequence[str]) -> Spec:
    """A heat map of two axes, or points with intervals along one."""
    rows = [
        {
            "x": _place(grid.x, cell.x),
            "y": _place(grid.y, cell.y),
            "value": cell.value,
            "low": cell.low,
            "high": cell.high,
            "runs": cell.runs,
            "interval": interval_text(cell, view.z),
            "url": link,
            "i": cell.x,
            "j": cell.y,
        }
        for cell, link in zip(grid.cells, links, strict=True)
    ]
    tooltip = [
        {"field": "x", "title": grid.x.name or "all runs"},
        *([{"field": "y", "title": grid.y.name}] if grid.y.name else []),
        {"field": "interval", "title": measure_name(view.z)},
        {"field": "runs", "title": "runs"},
    ]
    spec = _heat_map(grid, view, tooltip) if grid.y.name else _points(grid, view, tooltip)
    return {"data": {"values": rows}, **spec}


def interval_text(cell: Cell, z: str) -> str:
    """A cell's number and the limits of its interval, as text."""
    if cell.value is None or cell.low is None or cell.high is None:
        return "–"
    if z == RATE:
        return f"{cell.value:.0%} [{cell.low:.0%}, {cell.high:.0%}]"
    value, low, high = (in_words(number) for number in (cell.value, cell.low, cell.high))
    return f"{value} [{low}, {high}]"


def in_words(number: float) -> str:
    """A number as a reader likes it: four digits, and whole ones in full."""
    return f"{number:,.0f}" if 1000 <= abs(number) < 1e7 else f"{number:.4g}"


def _heat_map(grid: Grid, view: View, tooltip: list[Spec]) -> Spec:
    scale: Spec = {"scheme": "yellowgreenblue", "domain": [0, 1.15]}
    legend: Spec = {
        "title": measure_name(view.z),
        "format": ".0%",
        "values": [0, 0.25, 0.5, 0.75, 1],
    }
    if view.z != RATE:
        known = [cell.value for cell in grid.cells if cell.value]
        is_log = "z" in view.log and bool(known) and min(known) > 0
        scale = {"scheme": "viridis", **({"type": "log"} if is_log else {})}
        legend = {"title": measure_name(view.z), **NUMBERS}
    encoding = {
        "x": _ordinal("x", "i", grid.x),
        "y": {**_ordinal("y", "j", grid.y), "sort": {"field": "j", "order": "descending"}},
        "tooltip": tooltip,
    }
    colour = {"field": "value", "type": "quantitative", "scale": scale, "legend": legend}
    layers: list[Spec] = [
        {
            "mark": {"type": "rect", "cursor": "pointer", "cornerRadius": 2},
            "encoding": {"color": colour, "href": {"field": "url"}},
        }
    ]
    if len(grid.cells) <= MAX_CELLS_WITH_TEXT and view.z == RATE:
        ink = {"condition": {"test": "datum.value > 0.6", "value": "white"}, "value": "#1f2328"}
        text = {"field": "value", "type": "quantitative", "format": ".0%"}
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.value)"}],
                "mark": {"type": "text", "fontSize": 11, "cursor": "pointer"},
                "encoding": {"text": text, "color": ink, "href": {"field": "url"}},
            }
        )
    height = len(grid.y) * max(14, min(40, 420 // max(1, len(grid.y))))
    return {"encoding": encoding, "layer": layers, "width": "container", "height": height}


def _points(grid: Grid, view: View, tooltip: list[Spec]) -> Spec:
    is_number = all(middle is not None for middle in grid.x.middles) and bool(grid.x.name)
    x: Spec = _ordinal("x", "i", grid.x)
    if is_number:
        is_log = "x" in view.log and min(m for m in grid.x.middles if m is not None) > 0
        kind = {"type": "log"} if is_log else {"zero": False}
        x = {"field": "x", "type": "quantitative", "scale": kind, "title": grid.x.name}
    is_rate = view.z == RATE
    scale: Spec = {"domain": [0, 1]} if is_rate else {"zero": False}
    if "z" in view.log and not is_rate:
        scale = {"type": "log"}
    title = {"title": measure_name(view.z), "axis": {"format": ".0%"} if is_rate else NUMBERS}
    y = {"field": "value", "type": "quantitative", "scale": scale, **title}
    return {
        "encoding": {"x": x, "tooltip": tooltip},
        "layer": [
            {
                "mark": {"type": "rule", "opacity": 0.6},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50, "cursor": "pointer"},
                "encoding": {"y": y, "href": {"field": "url"}},
            },
        ],
        "width": "container",
        "height": 300,
    }


def marginal(grid: Grid, z: str) -> Spec:
    """A small chart of one axis."""
    spec = _points(grid, View(z=z, x=grid.x.name), [])
    rows = [
        {
            "x": _place(grid.x, cell.x),
            "i": cell.x,
            "value": cell.value,
            "low": cell.low,
            "high": cell.high,
            "url": "",
        }
        for cell in grid.cells
    ]
    spec["encoding"]["x"] = {
        **_ordinal("x", "i", grid.x),
        "axis": {"labelAngle": -40, "labelLimit": 70, "labelOverlap": True, "title": None},
    }
    del spec["layer"][1]["encoding"]["href"]
    for layer in spec["layer"]:
        layer["encoding"]["y"]["title"] = None
    return {"data": {"values": rows}, **spec, "height": 110}


def curves_chart(
    curves: Mapping[str, Curve],
    name: str,
    *,
    log: Sequence[str] = (),
    summary: Band | None = None,
    is_faint: bool = False,
    title: str = "",
) -> Spec:
    """Curves over training by name; many are faint, with their median and quartiles on top."""
    points = points_per_curve(len(curves))
    rows = []
    for label, curve in curves.items():
        few = downsampled(curve, points)
        for step, value in zip(plain(few.step), plain(few.value), strict=True):
            rows.append({"step": step, "value": value, "run": label})
    x_log, y_log = "x" in log, "y" in log
    rows = [row for row in rows if is_drawn(row, x_log, y_log)]
    x = {
        "field": "step",
        "type": "quantitative",
        "title": "step",
        "scale": {"type": "log"} if x_log else {"zero": False, "nice": False},
        "axis": {**STEPS, "tickCount": 8},
    }
    scale: Spec = {"type": "log"} if y_log else {}
    y = {"field": "value", "type": "quantitative", "title": title or name, "scale": scale}
    line: Spec = {"type": "line", "clip": True, "strokeWidth": 1 if is_faint else 1.8}
    encoding: Spec = {"x": x, "y": y, "detail": {"field": "run"}}
    if is_faint:
        line["opacity"] = max(0.12, min(0.5, 6 / max(1, len(curves))))
    else:
        legend = {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 600}
        encoding["color"] = {"field": "run", "sort": None, "legend": legend}
    layers: list[Spec] = [{"data": {"values": rows}, "mark": line, "encoding": encoding}]
    if summary is not None:
        layers += _summary(summary, x, y, x_log, y_log)
    return {"width": "container", "height": 340, "layer": layers}


def _summary(summary: Band, x: Spec, y: Spec, x_log: bool, y_log: bool) -> list[Spec]:
    names = ("step", "low", "value", "high")
    columns = [plain(part) for part in summary]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    rows = [row for row in rows if is_drawn(row, x_log, y_log) and (not y_log or row["low"] > 0)]
    area = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    return [
        {
            "data": {"values": rows},
            "mark": {"type": "area", "opacity": 0.22, "clip": True},
            "encoding": area,
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "strokeWidth": 2.6, "clip": True},
            "encoding": {"x": x, "y": y},
        },
    ]


def is_drawn(row: Mapping[str, Any], x_log: bool, y_log: bool) -> bool:
    """Whether a point has a place: a logarithm has none for zero."""
    value, step = row["value"], row["step"]
    return value is not None and (not x_log or step > 0) and (not y_log or value > 0)


def small_charts(curves: Mapping[str, Curve], cursor: int | None = None) -> Spec:
    """Small charts of measures side by side, perhaps with one cursor through all of them."""
    parts = []
    for name, curve in curves.items():
        few = downsampled(curve, 200)
        values = np.asarray(few.value, float)
        rows = [
            {"step": s, "value": v}
            for s, v in zip(plain(few.step), plain(values), strict=True)
            if v is not None
        ]
        x = {
            "field": "step",
            "type": "quantitative",
            "title": None,
            "axis": {**STEPS, "tickCount": 4},
        }
        y = {"field": "value", "type": "quantitative", "title": None, "axis": {"tickCount": 3}}
        line: Spec = {
            "data": {"values": rows},
            "mark": {"type": "line", "strokeWidth": 1.6},
            "encoding": {"x": x, "y": y},
        }
        rule: Spec = {
            "data": {"values": [{}]},
            "transform": [{"calculate": "cursor", "as": "step"}],
            "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#d1495b"},
            "encoding": {"x": x},
        }
        parts.append(
            {
                "title": {"text": name, "anchor": "start", "fontSize": 11},
                "width": 250,
                "height": 90,
                "layer": [line] if cursor is None else [line, rule],
            }
        )
    parameters = [] if cursor is None else [{"name": "cursor", "value": cursor}]
    return {"params": parameters, "columns": 3, "concat": parts}


def _ordinal(name: str, order: str, axis: Axis) -> Spec:
    return {
        "field": name,
        "type": "ordinal",
        "title": axis.name or None,
        "sort": {"field": order},
        "axis": {"labelAngle": -40 if name == "x" else 0, "labelOverlap": True, "labelLimit": 160},
    }


def _place(axis: Axis, place: int) -> Any:
    middle = axis.middles[place]
    if axis.is_binned and middle is not None:
        return float(f"{middle:.3g}")
    return axis.shown[place] if middle is None else middle
