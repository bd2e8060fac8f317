r"""Cells: runs with the same values on two axes, counted and summarised where they are.

An axis of more than 40 numbers is divided into as many bins, of equal length or, on a logarithmic
axis, of equal ratio. Of text there are the 40 most frequent values; how many are left out is said.

Rates have Wilson's interval, other measures the median between the quartiles. The interval is that
of `statistics.wilson`, written again because that room loads pandas and SciPy, and a server that
starts in a second loads neither.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from elegans.explorer.index import Index
from elegans.explorer.query import MAX_VALUES, MISSING, RATE, View, allowed, matching, shown_value
from elegans.explorer.settings import Field
from elegans.runs import STATUSES

Z = 1.959963984540054  # the normal quantile of a level of 95%
HIDDEN = -1  # the place of a value that is not shown


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

    @property
    def shown(self) -> list[str]:
        """The labels as a picture has them."""
        return ["not set" if label == MISSING else label for label in self.labels]

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
        rows = matching(index, view.where)
        total = len(rows)
        x, by_x = axis(index, view, view.x, "x", rows, max_values)
        y, by_y = axis(index, view, view.y, "y", rows, max_values)
        is_shown = (by_x != HIDDEN) & (by_y != HIDDEN)
        groups = _groups(index, view.z, rows[is_shown], (by_x * len(y) + by_y)[is_shown])
        names = ["" if one == HIDDEN else index.hashes[one] for one in groups.experiment]
    places = [divmod(place, len(y)) for place in groups.place.tolist()]
    x, x_places = x.of({place_x for place_x, _ in places})
    y, y_places = y.of({place_y for _, place_y in places})
    cells = []
    for i, (place_x, place_y) in enumerate(places):
        judged, succeeded = int(groups.judged[i]), int(groups.succeeded[i])
        low, value, high = (known(part[i]) for part in groups.quartiles)
        if view.z == RATE:
            value, low, high = wilson(succeeded, judged)
        cells.append(
            Cell(
                x=x_places[place_x],
                y=y_places[place_y],
                runs=int(groups.runs[i]),
                judged=judged,
                succeeded=succeeded,
                value=value,
                low=low,
                high=high,
                experiment=names[i],
            )
        )
    return Grid(x, y, cells, int(groups.runs.sum()), total)


def axis(
    index: Index, view: View, name: str, letter: str, rows: np.ndarray, max_values: int
) -> tuple[Axis, np.ndarray]:
    """An axis, and the place of each of some runs on it."""
    if not name:
        return Axis("", [""], [[]], [None]), np.zeros(len(rows), np.intp)
    if name == "status":
        terms = [[f"status={status}"] for status in STATUSES]
        status = Axis(name, list(STATUSES), terms, [None] * len(STATUSES))
        return status, index.column("status")[rows].astype(np.intp)
    is_log = letter in view.log
    if name == "seed":
        seeds, codes = np.unique(index.column("seed"), return_inverse=True)
        field = Field(name, -1, values=seeds.tolist())
        result, places = _places(field, np.arange(len(seeds)), is_log, max_values)
        return result, places[codes[rows]]
    field = index.settings.fields[name]
    codes = index.codes(field)[index.column("place")[rows]]
    order, hidden = allowed(field, view.where), 0
    if not field.is_numeric and len(order) > max_values:
        counts = np.bincount(codes, minlength=len(field.values))
        present = order[counts[order] > 0]
        frequent = present[np.argsort(-counts[present], kind="stable")[:max_values]]
        order, hidden = present[np.isin(present, frequent)], len(present) - len(frequent)
    result, places = _places(field, order, is_log, max_values, hidden)
    return result, places[codes]


class Groups(NamedTuple):
    """Runs by place, in its order: what a `Cell` says of each, one array per number."""

    place: np.ndarray
    runs: np.ndarray
    judged: np.ndarray
    succeeded: np.ndarray
    experiment: np.ndarray  # the place of the only one, or `HIDDEN`
    quartiles: np.ndarray  # a row for each of the three


def _groups(index: Index, z: str, rows: np.ndarray, place: np.ndarray) -> Groups:
    """Counts and quartiles of runs by place, which are sorted once by value and once by place."""
    values = index.column(z)[rows]
    by_value = np.argsort(values)  # what is not a number comes last
    places = place[by_value].astype(np.int16)  # 40 * 40 at most; NumPy sorts 16 bits by radix
    order = by_value[np.argsort(places, kind="stable")]
    rows, place, values = rows[order], place[order], values[order]
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    success = index.column(RATE)[rows]
    experiment = index.column("place")[rows]
    if not len(rows):
        empty = np.zeros(0, np.intp)
        return Groups(empty, empty, empty, empty, empty, np.zeros((3, 0)))
    first, last = (part.reduceat(experiment, starts) for part in (np.minimum, np.maximum))
    numbers = np.add.reduceat(~np.isnan(values), starts, dtype=np.intp)
    return Groups(
        place=place[starts],
        runs=np.diff(starts, append=len(rows)),
        judged=np.add.reduceat(~np.isnan(success), starts, dtype=np.intp),
        succeeded=np.add.reduceat(success == 1, starts, dtype=np.intp),
        experiment=np.where(first == last, first, HIDDEN),
        quartiles=np.stack(
            [_quantile(values, starts, numbers, share) for share in (0.25, 0.5, 0.75)]
        ),
    )


def _quantile(
    values: np.ndarray, starts: np.ndarray, numbers: np.ndarray, share: float
) -> np.ndarray:
    """A quantile of each group of sorted values, interpolated as pandas does."""
    place = share * np.maximum(numbers - 1, 0)
    below = place.astype(np.intp)
    low = values[starts + below]
    high = values[starts + np.minimum(below + 1, np.maximum(numbers - 1, 0))]
    with np.errstate(invalid="ignore"):  # beside an infinite value
        step = np.where((place == below) | (low == high), 0, (place - below) * (high - low))
        between = low + step
    return np.where(numbers > 0, between, np.nan)


def known(value: float) -> float | None:
    """A number that has a place in a picture; nothing if it is infinite or not a number."""
    return float(value) if math.isfinite(value) else None


def wilson(succeeded: float | int, runs: int) -> tuple[float | None, float | None, float | None]:
    """The rate and Wilson's interval at 95%; nothing of no runs."""
    if not runs:
        return None, None, None
    rate = succeeded / runs
    middle = (rate + Z**2 / (2 * runs)) / (1 + Z**2 / runs)
    radius = Z / (1 + Z**2 / runs) * math.sqrt(rate * (1 - rate) / runs + Z**2 / (4 * runs**2))
    return rate, max(0.0, min(rate, middle - radius)), min(1.0, max(rate, middle + radius))


def _places(
    field: Field, order: np.ndarray, is_log: bool, max_values: int, hidden: int = 0
) -> tuple[Axis, np.ndarray]:
    """An axis, and the place of each code on it, `HIDDEN` if it is not shown."""
    if len(order) > max_values and field.is_numeric:
        return _bins(field, order, is_log, max_values)
    places = np.full(len(field.values), HIDDEN)
    places[order] = np.arange(len(order))
    values = [field.values[code] for code in order]
    labels = [shown_value(value) for value in values]
    middles = [float(v) if type(v) in (int, float) else None for v in values]
    terms = [[f"{field.name}={label}"] for label in labels]
    return Axis(field.name, labels, terms, middles, hidden), places


def _bins(field: Field, order: np.ndarray, is_log: bool, count: int) -> tuple[Axis, np.ndarray]:
    shown = order[np.isfinite(field.numbers()[order])]
    numbers = field.numbers()[shown]
    is_log = is_log and bool(numbers.min() > 0)
    low, high = float(numbers.min()), float(numbers.max())
    edges = np.geomspace(low, high, count + 1) if is_log else np.linspace(low, high, count + 1)
    bins = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, count - 1)
    places = np.full(len(field.values), HIDDEN)
    places[shown] = bins
    limits = [(edges[i], edges[i + 1]) for i in range(count)]
    inside = np.split(numbers, np.searchsorted(bins, np.arange(1, count)))
    spans = [
        (float(v.min()), float(v.max())) if len(v) else (float(a), float(b))
        for v, (a, b) in zip(inside, limits, strict=True)
    ]
    labels = [f"{a:.4g}" if a == b else f"{a:.4g} to {b:.4g}" for a, b in spans]
    terms = [[f"{field.name}>={a!r}", f"{field.name}<={b!r}"] for a, b in spans]
    middles = [(a * b) ** 0.5 if is_log else (a + b) / 2 for a, b in spans]
    hidden = len(order) - len(shown)
    return Axis(field.name, labels, terms, list(middles), hidden, is_binned=True), places
