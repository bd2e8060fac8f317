"""What a URL asks of a store: filters, axes and measures, each checked against what is there.

A filter is `where=model.width=100`; several of one field are alternatives, those of different
fields all hold. `>=` and `<=` compare numbers. Names are looked up in a list of what there is, and
values become codes or numbers: no text of a URL is evaluated or becomes part of a statement.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np

from elegans import checks
from elegans.explorer.index import Index
from elegans.explorer.settings import Field
from elegans.runs import METRICS, STATUSES

TERM = re.compile(r"([^<>=]+)(>=|<=|=)(.*)", re.DOTALL)
RATE = "success"
MEASURES = (RATE, *(name for name in METRICS if name != RATE))
OUTCOMES = ("seed", "status", *METRICS)
MISSING = "null"
MAX_VALUES = 40  # of an axis; a longer one is divided into bins
MAX_DIGITS = 18  # of a whole number in a URL, which SQLite then holds in 64 bits
COMPARISONS = {"=": np.equal, ">=": np.greater_equal, "<=": np.less_equal}


class UnknownName(ValueError):
    """A name in a URL that a store does not have."""


@dataclass(frozen=True)
class View:
    """What a page of a store shows: the same words as in its URL."""

    where: tuple[str, ...] = ()
    x: str = ""
    y: str = ""
    z: str = RATE
    log: tuple[str, ...] = ()

    def url(self, **changes: Any) -> str:
        """The part of the URL after the question mark, with changes."""
        values = {**vars(self), **changes}
        return urlencode([(n, v) for n in values for v in _several(values[n]) if v], safe="/,:=")


def view_of(parameters: Any, index: Index) -> View:
    """The view that a URL names; axes that it does not name are those that vary, fewest first.

    Args:
        parameters: As Starlette has them: `get` and `getlist`.
        index: The store.

    Raises:
        UnknownName: An axis, a measure or a field that is not there.
    """
    where = [term for term in parameters.getlist("where") if term]
    for key, value in parameters.multi_items():  # of forms with a box for each limit
        side, _, name = key.partition(":")
        if side in ("min", "max") and value.strip():
            where.append(f"{name}{'>=' if side == 'min' else '<='}{value.strip()}")
    candidates = axes_of(index)
    x, y = parameters.get("x"), parameters.get("y")
    if x is None or y is None:
        x, y = _proposed_axes(index, x, y, filtered_fields(where))
    for what, name in (("x", x), ("y", y)):
        if name and name not in candidates:
            refuse(what, name, candidates)
    z = parameters.get("z") or default_measure(index)
    if z not in MEASURES:
        refuse("z", z, MEASURES)
    log = tuple(name for name in parameters.getlist("log") if name)
    for name in log:
        if name not in ("x", "y", "z"):
            refuse("log", name, ("x", "y", "z"))
    view = View(tuple(dict.fromkeys(where)), x, "" if y == x else y, z, log)
    matching(index, view.where)  # refuses what it does not know
    return view


def axes_of(index: Index) -> list[str]:
    """What may be an axis: the fields that vary, and seed and status."""
    return [*(f.name for f in index.settings.varying()), "seed", "status"]


def default_measure(index: Index) -> str:
    """The rate of success, or the test error where no run had a stop rule."""
    has_rule = not np.isnan(index.column(RATE)).all()
    return RATE if has_rule else "test_error"


def matching(index: Index, where: Iterable[str]) -> np.ndarray:
    """The runs for which filters hold: their rows in the columns of the index.

    A run that is damaged has no settings, and is in no picture.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    known = [*index.settings.fields, *OUTCOMES]
    for term in where:
        match = TERM.fullmatch(term)
        if match is None:
            raise ValueError(
                f"where={term}: a filter is field=value, field>=value or field<=value."
            )
        name, sign, value = match.groups()
        if name not in known:
            refuse("where", name, known)
        groups.setdefault(f"{name}{sign if sign != '=' else ''}", []).append((sign, value))
    with index.lock:
        place = index.column("place")
        holds = place >= 0
        for group, terms in groups.items():
            name = group.rstrip("<>=")
            if name in index.settings.fields:
                field = index.settings.fields[name]
                flags = _flags(field, terms)
                if not flags.all():
                    holds &= flags[index.codes(field)][place]
            else:
                holds &= _on_outcome(index, name, terms)
        return np.flatnonzero(holds)


def refuse(what: str, name: str, known: Sequence[str]) -> None:
    """Refuses a name, with the nearest and with all that there are."""
    there = ", ".join(known[:40]) + (f" and {len(known) - 40} more" if len(known) > 40 else "")
    raise UnknownName(
        f"{what}={name}: there is no such column{checks.nearest(name, known)} There are: {there}."
    )


def shown_value(value: Any) -> str:
    """A setting as a URL and a page have it."""
    return value if isinstance(value, str) else json.dumps(value)


def allowed(field: Field, where: Iterable[str]) -> np.ndarray:
    """The codes of a field that its own filters leave, in the order of their values."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for match in map(TERM.fullmatch, where):
        if match is not None and match[1] == field.name:
            groups.setdefault(match[2], []).append((match[2], match[3]))
    kept = np.ones(len(field.values), bool)
    for terms in groups.values():
        kept &= _flags(field, terms)
    order = field.order()
    return order[kept[order]]


def _on_outcome(index: Index, name: str, terms: list[tuple[str, str]]) -> np.ndarray:
    """The runs for which one of several terms on what came out holds, as flags."""
    column = index.column(name)
    holds = np.zeros(len(column), bool)
    for sign, text in terms:
        if text == MISSING and name != "status":
            holds |= np.isnan(column) & (sign == "=")
            continue
        if name == "status":
            if text not in STATUSES or sign != "=":
                raise ValueError(f"where=status{sign}{text}: a status is {', '.join(STATUSES)}.")
            value: float = STATUSES.index(text)
        else:
            truth = {"true": 1.0, "false": 0.0}
            value = truth[text] if text in truth else _number(name, text)
        holds |= COMPARISONS[sign](column, value)
    return holds


def _flags(field: Field, terms: list[tuple[str, str]]) -> np.ndarray:
    """Which values of a field one of several terms holds for."""
    flags = np.zeros(len(field.values), bool)
    for sign, text in terms:
        if sign != "=":
            limit = _number(sign, text)
            flags |= field.numbers() >= limit if sign == ">=" else field.numbers() <= limit
            continue
        if _is_number(text):
            flags |= field.numbers() == float(text)
        words = {"true": (True, True), "false": (True, False), MISSING: (False, None)}
        for key in {words.get(text, (False, text)), (False, text)}:
            if key in field.codes and type(field.values[field.codes[key]]) in (
                bool,
                str,
                type(None),
            ):
                flags[field.codes[key]] = True
    return flags


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(name: str, text: str) -> float:
    if not _is_number(text):
        raise ValueError(f"where: {name} is compared with a number; got {text!r}.")
    return float(text)


def _proposed_axes(
    index: Index, x: str | None, y: str | None, filtered: set[str]
) -> tuple[str, str]:
    """Axes that make a picture: two settings of several values that do not move together."""
    fields = [f for f in index.settings.varying() if f.is_an_axis and f.name not in filtered]
    fields = fields or [f for f in index.settings.varying() if f.name not in filtered]
    fields.sort(key=_promise, reverse=True)
    if x is None:
        x = next((f.name for f in fields if f.name != y), "")
    first = index.settings.fields.get(x)
    if y is None:
        others = [f for f in fields if f.name != x]
        free = (f for f in others if first is None or not _move_together(index, first, f))
        y = next((f.name for f in free), "")
    return x, y


def _promise(field: Field) -> tuple[bool, bool, int]:
    """How good an axis a field is: numbers first, then the more values the better, up to 40."""
    count = len(field.values)
    return field.is_numeric, count <= MAX_VALUES, count if count <= MAX_VALUES else -count


def _move_together(index: Index, one: Field, two: Field) -> bool:
    """Whether one setting follows from the other in all experiments."""
    most = max(len(one.values), len(two.values))
    if most > MAX_VALUES or not (one.varies and two.varies):
        return False
    pairs = index.codes(one).astype(np.int64) * len(two.values) + index.codes(two)
    return len(np.unique(pairs)) <= most


def _several(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def filtered_fields(where: Iterable[str]) -> set[str]:
    """The names that filters are on."""
    return {term.partition("=")[0].rstrip("<>") for term in where}


def filters_by_field(where: Iterable[str]) -> Mapping[str, set[str]]:
    """The values that filters ask for, by field, for the boxes of a form."""
    chosen: dict[str, set[str]] = {}
    for term in where:
        match = TERM.fullmatch(term)
        if match is not None and match[2] == "=":
            chosen.setdefault(match[1], set()).add(match[3])
    return chosen
