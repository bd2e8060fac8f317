r"""Cells: runs with the same values on two axes, counted and summarised by SQL.

An axis of more than 40 numbers is divided into as many bins, of equal length or, on a logarithmic
axis, of equal ratio. Of text there are the 40 most frequent values; how many are left out is said.

Rates have Wilson's interval (`statistics.wilson`, here for all cells at once), other measures the
median between the quartiles.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from elegans.explorer.index import Index
from elegans.explorer.query import (
    MAX_VALUES,
    OUTCOMES,
    RATE,
    View,
    allowed,
    conditions,
    shown_value,
)
from elegans.explorer.settings import Field
from elegans.runs import STATUSES

Z = 1.959963984540054  # the normal quantile of a level of 95%
HIDDEN = -1  # the place of a value that is not shown
JOIN = "runs r JOIN experiments e ON r.experiment = e.id"


class Cell(NamedTuple):
    """Runs at one place: how many, how many succeeded of those with a stop rule, and quartiles."""

    x: int  # places on the axes
    y: int
    runs: int
    judged: int
    succeeded: int
    value: float | None
    low: float | None
    high: float | None
    experiment: str  # the hash, if all runs are of one experiment


@dataclass(frozen=True)
class Axis:
    """An axis: the labels of its places, the filter of each, and what of it is not shown."""

    name: str
    labels: list[str]
    terms: list[list[str]]
    middles: list[float | None]  # of numbers, where a point is drawn
    hidden: int = 0
    is_binned: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    def of(self, places: Collection[int]) -> tuple["Axis", dict[int, int]]:
        """The axis with these places alone, and where each of them is now."""
        kept = sorted(places)
        rest = replace(
            self,
            labels=[self.labels[i] for i in kept],
            terms=[self.terms[i] for i in kept],
            middles=[self.middles[i] for i in kept],
        )
        return rest, {old: new for new, old in enumerate(kept)}


@dataclass(frozen=True)
class Grid:
    """All cells of a view."""

    x: Axis
    y: Axis
    cells: list[Cell]
    shown: int  # runs
    total: int


def grid(index: Index, view: View, max_values: int = MAX_VALUES) -> Grid:
    """The cells of a view, in the order of its axes."""
    with index.lock:
        condition, values = conditions(index, view.where)
        x, by_x = axis(index, view, view.x, "x", max_values)
        y, by_y = axis(index, view, view.y, "y", max_values)
        measure = "NULL" if view.z == RATE else f"quartiles({OUTCOMES[view.z]})"
        rows = index.select(
            f"SELECT {by_x} AS x, {by_y} AS y, count(*), count(r.success), total(r.success), "
            f"{measure}, min(r.experiment), max(r.experiment) FROM {JOIN} "
            f"WHERE {condition} GROUP BY x, y",
            *values,
        )
        total = sum(row[2] for row in rows)
        rows = [row for row in rows if row[0] != HIDDEN and row[1] != HIDDEN]
        names = _hashes(index, {row[6] for row in rows if row[6] == row[7]})
    x, x_places = x.of({row[0] for row in rows})
    y, y_places = y.of({row[1] for row in rows})
    cells = []
    for place_x, place_y, runs, judged, succeeded, text, first, last in rows:
        value, low, high = wilson(succeeded, judged) if view.z == RATE else quartiles(text)
        cells.append(
            Cell(
                x=x_places[place_x],
                y=y_places[place_y],
                runs=runs,
                judged=judged,
                succeeded=int(succeeded),
                value=value,
                low=low,
                high=high,
                experiment=names.get(first, "") if first == last else "",
            )
        )
    cells.sort(key=lambda cell: (cell.x, cell.y))
    return Grid(x, y, cells, sum(cell.runs for cell in cells), total)


def axis(index: Index, view: View, name: str, letter: str, max_values: int) -> tuple[Axis, str]:
    """An axis, and the expression of SQL that is the place of a run on it."""
    if not name:
        return Axis("", [""], [[]], [None]), "0"
    if name == "status":
        terms = [[f"status={status}"] for status in STATUSES]
        return Axis(name, list(STATUSES), terms, [None] * len(STATUSES)), "r.status"
    is_log = letter in view.log
    if name == "seed":
        seeds = [seed for (seed,) in index.select("SELECT DISTINCT seed FROM runs ORDER BY 1")]
        codes = {seed: code for code, seed in enumerate(seeds)}
        field = Field(name, -1, values=seeds)
        places, result = _places(field, list(range(len(seeds))), is_log, max_values)
        index.define(f"place_{letter}", lambda seed: places[codes[seed]])
        return result, f"place_{letter}(r.seed)"
    field = index.settings.fields[name]
    order, hidden = allowed(field, view.where), 0
    if not field.is_numeric and len(order) > max_values:
        condition, values = conditions(index, view.where)
        query = f"SELECT e.{field.column}, count(*) FROM {JOIN} WHERE {condition} GROUP BY 1"
        counts = dict(index.select(query, *values))
        present = [code for code in order if code in counts]
        frequent = set(sorted(present, key=lambda code: -counts[code])[:max_values])
        order, hidden = [code for code in present if code in frequent], len(present) - len(frequent)
    places, result = _places(field, order, is_log, max_values, hidden)
    column = f"e.{field.column}" if field.varies else "0"
    if places == list(range(len(places))):  # values came in their order: a code is a place
        return result, column
    index.define(f"place_{letter}", places.__getitem__)
    return result, f"place_{letter}({column})"


def wilson(succeeded: float | int, runs: int) -> tuple[float | None, float | None, float | None]:
    """The rate and Wilson's interval at 95%; nothing of no runs."""
    if not runs:
        return None, None, None
    rate = succeeded / runs
    middle = (rate + Z**2 / (2 * runs)) / (1 + Z**2 / runs)
    radius = Z / (1 + Z**2 / runs) * math.sqrt(rate * (1 - rate) / runs + Z**2 / (4 * runs**2))
    return rate, max(0.0, min(rate, middle - radius)), min(1.0, max(rate, middle + radius))


def quartiles(text: str | None) -> tuple[float | None, float | None, float | None]:
    """Median, lower and upper quartile of what the aggregate wrote."""
    if text is None:
        return None, None, None
    low, middle, high = map(float, text.split())
    return middle, low, high


def _places(
    field: Field, order: list[int], is_log: bool, max_values: int, hidden: int = 0
) -> tuple[list[int], Axis]:
    """The place of each code on an axis, `HIDDEN` if it is not shown, and the axis."""
    if len(order) > max_values and field.is_numeric:
        return _bins(field, order, is_log, max_values)
    places = [HIDDEN] * len(field.values)
    known = [field.values[code] for code in order]
    for place, code in enumerate(order):
        places[code] = place
    labels = [shown_value(value) for value in known]
    middles = [float(v) if type(v) in (int, float) else None for v in known]
    terms = [[f"{field.name}={label}"] for label in labels]
    return places, Axis(field.name, labels, terms, middles, hidden)


def _bins(field: Field, order: list[int], is_log: bool, count: int) -> tuple[list[int], Axis]:
    codes = np.array(order)
    shown = codes[~np.isnan(field.numbers()[codes])]
    numbers = field.numbers()[shown]
    is_log = is_log and bool(numbers.min() > 0)
    low, high = float(numbers.min()), float(numbers.max())
    edges = np.geomspace(low, high, count + 1) if is_log else np.linspace(low, high, count + 1)
    bins = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, count - 1)
    places = np.full(len(field.values), HIDDEN)
    places[shown] = bins
    limits = [(edges[i], edges[i + 1]) for i in range(count)]
    inside = [numbers[bins == i] for i in range(count)]
    spans = [
        (float(v.min()), float(v.max())) if len(v) else (float(a), float(b))
        for v, (a, b) in zip(inside, limits, strict=True)
    ]
    labels = [f"{a:.4g}" if a == b else f"{a:.4g} to {b:.4g}" for a, b in spans]
    terms = [[f"{field.name}>={a!r}", f"{field.name}<={b!r}"] for a, b in spans]
    middles = [(a * b) ** 0.5 if is_log else (a + b) / 2 for a, b in spans]
    hidden = len(order) - len(shown)
    result = Axis(field.name, labels, terms, list(middles), hidden, is_binned=True)
    return places.tolist(), result


def _hashes(index: Index, ids: set[int]) -> dict[int, str]:
    if not ids:
        return {}
    marks = ", ".join(map(str, map(int, ids)))
    return dict(index.select(f"SELECT id, hash FROM experiments WHERE id IN ({marks})"))
