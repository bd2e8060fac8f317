"""A study: declared stages, from settings to runs, tables, claims, figures, and a saved result.

    settings -> runs -> tables -> facts and claims -> figures and charts

A study says what is to be run; the framework does all runs in one schedule, saves the tables,
checks the claims and draws from the tables as they were saved. Stages are plain functions:

* `runs(settings)` returns sweeps by name, or is a generator that yields such mappings and is sent
  the runs of each before the next, for runs that depend on earlier ones;
* `tables(settings, runs)` returns DataFrames by name, and trains nothing;
* `facts(settings, tables)` returns single values; each of `claims` takes the tables, facts
  among them, and returns a `Claim`;
* `figures` and `charts` name functions of the tables as "module:function". Worker processes
  import a study's module for the types in it, but need no pictures; so those live in another module
  and are imported when the study is loaded by name, or run: before anything is computed.
"""

import dataclasses
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from elegans import checks
from elegans.report import bundle
from elegans.report.result import Result, Tables
from elegans.runs import Runs
from elegans.studies.plan import Check, KnownFailure, Plan, Sweeps

CheckType = TypeVar("CheckType", bound=Check)
Names = Mapping[str, str]


class Scale(NamedTuple):
    """The settings of a study at one scale, and about how many minutes it takes on two cores."""

    settings: Any
    minutes: float | int


def known_failure(
    reason: str, scales: Sequence[str] | None = None
) -> Callable[[CheckType], CheckType]:
    """A decorator: the claim is known to fail at these scales, for this reason."""
    if not reason.strip():
        raise ValueError("known_failure: the reason says why the claim fails; got an empty one.")

    def declared(claim: CheckType) -> CheckType:
        failure = KnownFailure(reason, None if scales is None else tuple(scales))
        claim.known_failure = failure  # type: ignore[attr-defined]
        return claim

    return declared


@dataclass(frozen=True, kw_only=True)
class Study:
    """A figure, table or theorem of a document, reproduced in declared stages.

    Attributes:
        name: By which it is asked for: lower case and hyphens.
        title: What it shows, as a stranger would put it.
        summary: A paragraph for that stranger.
        source: Where in the documents it is.
        scales: Settings by the name of the scale.
        runs: The stage of runs; likewise `tables`, `claims` and `facts`: see the module.
        figures: "module:function", or such by name; likewise `charts`.
        captions: A sentence by the name of a table, a figure ("figure", if there is one) or a chart
            ("chart").
        formats: How numbers are shown, such as ".0%", by "table.column", by column, or by table
            for all its floats.
        shown: The tables that a terminal prints.
    """

    name: str
    title: str
    summary: str
    source: str
    scales: Mapping[str, Scale]
    runs: Callable[[Any], Sweeps | Generator[Sweeps, dict[str, Runs], None]]
    tables: Callable[[Any, Mapping[str, Runs]], Mapping[str, pd.DataFrame]]
    claims: Sequence[Check]
    figures: str | Names
    charts: str | Names | None = None
    facts: Callable[[Any, Tables], Mapping[str, Any]] | None = None
    captions: Names = field(default_factory=dict)
    formats: Names = field(default_factory=dict)
    shown: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise ValueError(f"Study {self.name!r}: a name is lower case letters and hyphens.")
        if not self.scales:
            raise ValueError(f"Study {self.name!r}: scales has one scale or more; got none.")
        if isinstance(self.figures, str):
            object.__setattr__(self, "figures", {"figure": self.figures})
        if not isinstance(self.charts, Mapping):
            charts = {} if self.charts is None else {"chart": self.charts}
            object.__setattr__(self, "charts", charts)

    def resolve(self) -> "Study":
        """The study itself, once the functions that draw it are known to exist."""
        for names in (self.figures, self.charts):
            assert isinstance(names, Mapping)  # since `__post_init__`
            for target in names.values():
                bundle.function(target)
        return self

    def plan(self, scale: str = "quick", data: str | os.PathLike[str] | None = None) -> Plan:
        """What is to be run at a scale; everything that can be refused is refused here."""
        self.resolve()
        if scale not in self.scales:
            checks.choice(f"Study {self.name!r}", "scale", scale, self.scales)
        settings = self.scales[scale].settings
        has_data = any(f.name == "data" for f in dataclasses.fields(settings))
        if data is not None and not has_data:
            raise ValueError(f"Study {self.name!r} makes its own data; got data {os.fspath(data)}.")
        if data is not None:
            settings = dataclasses.replace(settings, data=Path(data))
        stage = self.runs(settings)
        if isinstance(stage, Mapping):
            return Plan(self, scale, settings, stage, None)
        return Plan(self, scale, settings, next(stage, {}), stage)

    def run(
        self,
        scale: str = "quick",
        out: str | os.PathLike[str] | None = None,
        *,
        store: str | os.PathLike[str] | None = None,
        workers: int | None = None,
        cluster: str | None = None,
        executor: Executor | None = None,
        progress: Any = True,
        data: str | os.PathLike[str] | None = None,
        command: str | None = None,
    ) -> Result:
        """The study's result at one of its scales.

        Args:
            scale: Its name.
            out: Where the bundle goes, as a directory with the study's name; None writes nothing.
            store: Where runs are kept; None is runs.db of the bundle, or memory if there is none.
            workers: Processes, as in `Sweep.run`; likewise `cluster`, `executor`, `progress`.
            data: A directory of data sets, for studies whose settings have a field `data`.
            command: What a reader would type to make this again.
        """
        options = {"workers": workers, "cluster": cluster, "executor": executor}
        return self.plan(scale, data).run(out, store, command, progress=progress, **options)
