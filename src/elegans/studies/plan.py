"""A study at a scale, ready to run: the framework behind the stages that a study declares.

The runs of all sweeps share one schedule. They are kept in the bundle (or where the user says),
so that a study that was stopped goes on; claims are checked on the same tables that are saved, and
what was drawn before is drawn again from what was saved.
"""

import dataclasses
import importlib.metadata
import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from elegans.report.result import Claim, Result, Tables, plain
from elegans.runs import Runs

Sweeps = Mapping[str, Any]  # from names to sweeps
Check = Callable[[Tables], Claim]
LIBRARIES = ("jax", "numpy", "pandas", "scipy")
PRESENTATION = ("figures", "charts", "captions", "formats", "shown")


class KnownFailure(NamedTuple):
    """Why a claim fails, and at which scales; None is all."""

    reason: str
    scales: tuple[str, ...] | None


@dataclass(frozen=True)
class Plan:
    """A study at a scale, ready to run: its first sweeps, and the generator of later ones."""

    study: Any  # a `Study`, whose module imports this one
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
            tables = dict(study.tables(self.settings, runs))
            # The runs are saved too, unless the study has a table of that name.
            tables |= {n: each.table for n, each in runs.items() if n not in tables and len(each)}
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
            finished = complete(sweeps) if sweeps else {}
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
