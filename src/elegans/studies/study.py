"""A study: declared stages, from settings to runs, tables, claims, figures, and a saved result.

    settings -> runs -> tables -> facts and claims -> figures and charts

A study says what is to be run; the framework does the runs in one queue, saves the tables, checks
the claims and draws from the tables as they were saved. Stages are plain functions:

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
import importlib.metadata
import inspect
import json
import os
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from elegans import checks
from elegans.report import bundle
from elegans.report.result import Claim, Result, Tables, plain
from elegans.runs import Runs

Sweeps = Mapping[str, Any]  # from names to sweeps
Check = Callable[[Tables], Claim]
CheckType = TypeVar("CheckType", bound=Check)
Names = Mapping[str, str]
LIBRARIES = ("jax", "numpy", "pandas", "scipy")


class Scale(NamedTuple):
    """The settings of a study at one scale, and about how many minutes it takes on two cores."""

    settings: Any
    minutes: float | int


class KnownFailure(NamedTuple):
    """Why a claim fails, and at which scales; None is all."""

    reason: str
    scales: tuple[str, ...] | None


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
        formats: How numbers are shown, by column, table or "table.column", such as ".0%".
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

    def plan(self, scale: str = "quick", data: str | os.PathLike[str] | None = None) -> "Plan":
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
        if inspect.isgenerator(stage):
            return Plan(self, scale, settings, next(stage, {}), stage)
        assert isinstance(stage, Mapping), f"runs of study {self.name!r} returned {stage!r}"
        return Plan(self, scale, settings, stage, None)

    def run(
        self,
        scale: str = "quick",
        out: str | os.PathLike[str] | None = None,
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


@dataclass(frozen=True)
class Plan:
    """A study at a scale, ready to run: its first sweeps, and the generator of later ones."""

    study: Study
    scale: str
    settings: Any
    first: Sweeps
    later: Generator[Sweeps, dict[str, Runs], None] | None

    def run(
        self,
        out: str | os.PathLike[str] | None = None,
        store: str | os.PathLike[str] | None = None,
        command: str | None = None,
        **options: Any,
    ) -> Result:
        """Does the runs, computes the tables, checks the claims, and writes the bundle if asked."""
        from elegans.sweeps.driver import complete

        began = time.perf_counter()
        study = self.study
        directory = None if out is None else Path(out) / study.name
        with opened(store, directory) as (place, notes):
            runs, structures = self._complete(
                lambda sweeps: complete(sweeps, store=place, **options)
            )
            notes += failures(runs)
            tables = {name: each.table for name, each in runs.items() if len(each)}
            tables |= study.tables(self.settings, runs)
        facts = study.facts(self.settings, Tables(tables)) if study.facts else {}
        typed = Tables(tables, plain(facts, f"the facts of {study.name}"))
        result = Result(
            study=study.name,
            title=study.title,
            summary=study.summary,
            source=study.source,
            scale=self.scale,
            settings=plain(self.settings, f"the settings of {study.name}"),
            tables=typed,
            claims=[self._checked(claim, typed) for claim in study.claims],
            facts=typed.facts,
            seconds=time.perf_counter() - began,
            versions=versions(),
            command=command or f"elegans reproduce {study.name} --scale {self.scale}",
            structures=structures,
            notes=notes,
            **{name: getattr(study, name) for name in PRESENTATION},
        )
        if directory is not None:
            result.write(directory)
        return result

    def _complete(
        self, complete: Callable[[Sweeps], dict[str, Runs]]
    ) -> tuple[dict[str, Runs], int]:
        """All runs, mapping by mapping, and how many structures they were compiled to."""
        runs: dict[str, Runs] = {}
        structures: set[Any] = set()
        sweeps: Sweeps | None = self.first
        while sweeps is not None:
            for name in sweeps:
                if name in runs:
                    raise ValueError(f"Study {self.study.name!r} has two sweeps named {name!r}.")
            finished = complete(sweeps)
            structures |= structures_of(sweeps)
            runs |= finished
            try:
                sweeps = None if self.later is None else self.later.send(finished)
            except StopIteration:
                sweeps = None
        return runs, len(structures)

    def _checked(self, claim: Check, tables: Tables) -> Claim:
        """The claim on these tables, marked if it is known to fail at this scale."""
        outcome = claim(tables)
        failure: KnownFailure | None = getattr(claim, "known_failure", None)
        if failure is None or (failure.scales is not None and self.scale not in failure.scales):
            return outcome
        return dataclasses.replace(outcome, known_failure=failure.reason)


PRESENTATION = ("figures", "charts", "captions", "formats", "shown")


@contextmanager
def opened(
    path: str | os.PathLike[str] | None, directory: Path | None
) -> Iterator[tuple[Any, list[str]]]:
    """The store of a study, and what is to be said about its runs.

    Runs that failed are tried again. The bundle's own store is no archive: its runs of other code
    are removed. In a store that the user names they stay, and the sweep says that they are there.
    """
    from elegans.experiments.run import code_version
    from elegans.store.store import Store

    if path is None and directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / "runs.db"
    notes: list[str] = []
    with Store(":memory:" if path is None else path) as store:
        store.forget_failed()
        if directory is not None and path == directory / "runs.db":
            count = store.forget_other_code(code_version())
            if count:
                notes.append(f"{count} stored runs were made by other code, and are done again.")
        yield store, notes


def failures(runs: Mapping[str, Runs]) -> list[str]:
    """A sentence about runs that failed; a computation that failed has no table, so it raises."""
    failed = [run for each in runs.values() for run in each if run.status == "failed"]
    if not failed:
        return []
    reason = (failed[0].traceback or "").strip().splitlines()[-1:]
    sentence = (
        f"{len(failed)} of {sum(map(len, runs.values()))} runs failed; the first with: "
        f"{' '.join(reason)}"
    )
    if not all(hasattr(run.experiment, "training") for run in failed):
        raise RuntimeError(f"{sentence}\n{failed[0].traceback}")
    return [sentence]


def structures_of(sweeps: Sweeps) -> set[Any]:
    """The different programs that the experiments of some sweeps are compiled to."""
    from elegans.training.program import split

    experiments = [point.experiment for sweep in sweeps.values() for point in sweep.points]
    return {
        split(each.task, each.model, each.training)[0]
        for each in experiments
        if hasattr(each, "training")
    }


def versions() -> dict[str, str]:
    """The versions that a result may depend on."""
    from elegans.experiments.run import versions as versions_of_runs

    ours: dict[str, str] = json.loads(versions_of_runs())
    return ours | {name: importlib.metadata.version(name) for name in LIBRARIES}
