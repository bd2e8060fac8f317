"""What a study found: claims, tables and facts, with all that is needed to make them again.

A claim is a test that can fail: it says what was measured, with an interval, and what would have
counted against it. A failure that is known is declared with its reason, so that the surprises are
two: a claim that fails, and a known failure that no longer does.
"""

import dataclasses
import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elegans.report.tables import Tables as Tables


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of a document, what was measured, and whether it holds there.

    Attributes:
        text: The sentence.
        source: Where it is said.
        measured: What came out, in words and numbers.
        against: What would have counted against it.
        holds: Whether it does.
        interval: The number that decides, and the limits of its confidence interval.
        known_failure: Why it is known to fail at this scale; empty if it is not.
    """

    text: str
    source: str
    measured: str
    against: str
    holds: bool | np.bool_
    interval: tuple[float, float, float] | None = None
    known_failure: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # NumPy's are not JSON
        if self.interval is not None:
            value, low, high = map(float, self.interval)
            object.__setattr__(self, "interval", (value, low, high))

    @property
    def is_surprise(self) -> bool:
        """Whether it fails unexpectedly, or holds although it is declared to fail."""
        return bool(self.holds) == bool(self.known_failure)

    @property
    def outcome(self) -> str:
        """In a word or two: holds, FAILS, known failure, HOLDS unexpectedly."""
        if self.known_failure:
            return "HOLDS unexpectedly" if self.holds else "known failure"
        return "holds" if self.holds else "FAILS"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result:
    """What a study found, and how; `write` and `read` move it to disk and back.

    Attributes:
        study: Its name, with a `title` and a `summary` for a reader who knows nothing of it.
        source: The figure or theorem that it is about.
        scale: At which scale, with these `settings`.
        tables: All tables, the runs among them; claims and figures are functions of them.
        claims: What was checked.
        facts: Single numbers that belong to the tables.
        seconds: How long it took, with which `versions` of what, by which `command`.
        structures: How many different programs its runs were compiled to.
        notes: What a reader should know of this very execution, such as runs that failed.
        figures: Functions of the tables, each as "module:function", by name; `charts` likewise.
        captions: A sentence for a stranger, by the name of a table, figure or chart.
        formats: How numbers are shown, as Python formats (".0%"): those of a "table.column", of
            a column in any table, or all floats of a table.
        shown: The tables that a terminal prints.
    """

    study: str
    title: str
    summary: str
    source: str
    scale: str
    settings: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    claims: Sequence[Claim]
    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    structures: int = 0
    notes: Sequence[str] = ()
    figures: Mapping[str, str] = field(default_factory=dict)
    charts: Mapping[str, str] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    shown: Sequence[str] = ()

    def __post_init__(self) -> None:
        facts = plain(self.facts, f"the facts of {self.study}")
        object.__setattr__(self, "facts", facts)
        object.__setattr__(self, "tables", Tables(self.tables, facts))
        object.__setattr__(self, "claims", tuple(self.claims))

    @property
    def surprises(self) -> list[Claim]:
        """Claims that fail although nobody said so, and known failures that hold."""
        return [claim for claim in self.claims if claim.is_surprise]

    def ordered_claims(self) -> list[Claim]:
        """The claims, surprises first, then known failures, then the others."""
        return sorted(self.claims, key=lambda claim: (not claim.is_surprise, claim.holds))

    def write(self, directory: str | os.PathLike[str]) -> Path:
        """Writes the bundle: data first, then figures and page from the data as read back."""
        from elegans.report import bundle

        return bundle.write(self, Path(directory))

    @classmethod
    def read(cls, directory: str | os.PathLike[str]) -> "Result":
        """The result of a bundle; nothing is imported or computed."""
        from elegans.report import bundle

        return bundle.read(Path(directory))

    def __repr__(self) -> str:
        return f"Result({self.study} at scale {self.scale}: {self.verdict()}; {self.tables!r})"

    def verdict(self) -> str:
        """How many claims hold, in a phrase."""
        holding = sum(claim.holds for claim in self.claims)
        known = sum(bool(claim.known_failure) and not claim.holds for claim in self.claims)
        text = f"{holding} of {len(self.claims)} claims hold"
        return text + (f", {known} known to fail" if known else "")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(c.outcome)}</td><td>{html.escape(c.text)}</td>"
            f"<td>{html.escape(c.measured)}</td></tr>"
            for c in self.ordered_claims()
        )
        return (
            f"<p><b>{html.escape(self.title)}</b> ({html.escape(self.study)}, scale "
            f"{html.escape(self.scale)})</p><p>{html.escape(self.summary)}</p>"
            f"<table><tr><th></th><th>claim</th><th>measured</th></tr>{rows}</table>"
            f"<p>{html.escape(repr(self.tables))}</p>"
        )


def plain(value: Any, owner: str) -> Any:
    """A value as JSON holds it: numbers, text, None, lists, and mappings with text as keys."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        values = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return plain(values, owner)
    if isinstance(value, Mapping):
        return {str(name): plain(item, owner) for name, item in value.items()}
    if isinstance(value, list | tuple | range | np.ndarray):
        return [plain(item, owner) for item in value]
    raise TypeError(
        f"{owner}: values are numbers, text, None, lists, mappings and dataclasses of these; "
        f"got {value!r}."
    )
