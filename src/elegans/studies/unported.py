"""What a study is: a measurement at one of three scales, a table, and the claims that it checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from elegans.checks import nearest


@dataclass(frozen=True)
class Claim:
    """A sentence of a document, what was measured, and whether it holds there."""

    text: str
    source: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Result:
    """What a study found.

    Attributes:
        study: Its name.
        scale: At which scale.
        table: The figure's numbers, with a `theory` column where there is a formula.
        summary: A few rows for the terminal, by heading.
        claims: What was checked.
        data: Other tables that the pictures are drawn from.
        facts: Single numbers that the pictures mention.
    """

    study: str
    scale: str
    table: pd.DataFrame
    summary: Mapping[str, pd.DataFrame]
    claims: tuple[Claim, ...]
    data: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scale:
    """The settings of a study at one scale, and what it costs on two cores."""

    settings: Any
    cost: str


@dataclass(frozen=True)
class Study:
    """A figure or table of a document, by name.

    `measure(settings, **options)` does the runs and returns the result; options are those of
    `Sweep.run`. A study of data that are not made here has `prepare(settings, data)`, which refuses
    a directory that lacks them; its `measure` has the option `data`.
    """

    name: str
    reproduces: str
    scales: Mapping[str, Scale]
    measure: Callable[..., Result]
    prepare: Callable[[Any, Any], None] | None = None

    def ready(self, scale: str, data: Any = None) -> dict[str, Any]:
        """The options about data for `run`, refused if what is to be measured is not at hand."""
        if self.prepare is None:
            if data is not None:
                raise ValueError(f"Study {self.name!r} makes its own data; got --data {data}.")
            return {}
        self.prepare(self.scales[scale].settings, data)
        return {"data": data}

    def run(self, scale: str = "quick", **options: Any) -> Result:
        """The study's result at one of its scales."""
        if scale not in self.scales:
            known = ", ".join(self.scales)
            raise ValueError(
                f"Study {self.name!r}: scale is one of {known}; got {scale!r}"
                f"{nearest(scale, self.scales)}"
            )
        return self.measure(self.scales[scale].settings, scale=scale, **options)
