"""A finished run, from the engine to the table: one type, whoever made it and wherever it is.

`el.run`, a sweep and a store all hand back a `Run`. Its numbers are declared once, in `Metrics`:
a new one is a line there, and tables, stores and messages follow. Its curves, what probes saw and
its weights are arrays, which a run from a store reads when they are asked for. This module imports
no JAX: a store is read without it. It imports pandas when a table is asked for: the explorer starts
without it.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    import pandas

Key = tuple[str, int]  # what a run is stored under: the hash of its experiment, and its seed
# Columns by kind: "history", "probes", "params", "table". Not `Mapping[str, Mapping[...]]`: a check
# of types at run time would look inside, and so read the arrays of a stored run.
Arrays = Mapping[Any, Any]
STATUSES = ("done", "diverged", "failed", "damaged")


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """What is measured of every run; None where a run failed or has no such number.

    Attributes:
        success: Whether the stop rule was met; None if there was none.
        steps: Updates made.
        test_error: On the whole test set, at the last step; likewise the other three.
        seconds: Training and evaluation, without compilation.
    """

    success: bool | None = None
    steps: int | None = None
    test_error: float | None = None
    test_loss: float | None = None
    train_error: float | None = None
    train_loss: float | None = None
    seconds: float | None = None


METRIC_TYPES = {
    metric.name: str(metric.type).split(" ")[0] for metric in dataclasses.fields(Metrics)
}
METRICS = tuple(METRIC_TYPES)  # each is a "bool", an "int" or a "float"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Run(Metrics):
    """The record of a finished run, a function of its experiment and its seed alone.

    Attributes:
        source: The experiment (or computation) itself, or its JSON.
        hash: The experiment's name.
        status: "done", "diverged" if a parameter became infinite or not a number, "failed" if it
            raised, "damaged" if its stored record no longer fits its checksum.
        arrays: Columns by kind; see `history`, `probes`, `params` and `table`.
        traceback: Why a run failed.
        host: Where it was made, with which `versions` (JSON), and when it `finished` (seconds
            since 1970).
    """

    source: Any
    hash: str
    seed: int
    status: str
    arrays: Arrays = field(default_factory=dict)
    traceback: str | None = None
    host: str = ""
    versions: str = ""
    finished: float = 0.0

    def __repr__(self) -> str:
        error = "" if self.test_error is None else f", test_error={self.test_error:.4g}"
        steps = "" if self.steps is None else f", steps={self.steps}"
        success = "" if self.success is None else f", success={self.success}"
        return f"Run({self.hash}, seed={self.seed}, {self.status}{success}{steps}{error})"

    def _repr_html_(self) -> str:
        import pandas as pd

        numbers = pd.DataFrame([self.row()]).to_html(index=False)
        return f"<p>Run of experiment {self.hash}</p>{numbers}"

    @property
    def key(self) -> Key:
        """What the run is stored under."""
        return self.hash, self.seed

    @cached_property
    def experiment(self) -> Any:
        """The experiment or computation; one from a store is rebuilt from its JSON."""
        if not isinstance(self.source, str):
            return self.source
        from elegans.experiments import plain

        return plain.from_json(self.source)

    @cached_property
    def history(self) -> "pandas.DataFrame":
        """One row per evaluation: step, losses, errors, and on how many test rows."""
        return _frame(self.arrays.get("history", {}))

    @cached_property
    def probes(self) -> dict[str, np.ndarray]:
        """What each probe saw, stacked over evaluations, by dotted name; "step" says when."""
        return dict(self.arrays.get("probes", {}))

    @cached_property
    def table(self) -> "pandas.DataFrame":
        """What a computation returned."""
        return _frame(self.arrays.get("table", {}))

    @cached_property
    def params(self) -> Any:
        """The network at the end."""
        columns = self.arrays.get("params", {})
        if not columns:
            raise ValueError(
                f"{self} was stored without its weights. A sweep keeps them with keep='params'."
            )
        from elegans.experiments import run

        return run.params_of(self.experiment, columns)

    @cached_property
    def initial(self) -> Any:
        """The network at the start, drawn again."""
        from elegans.experiments import run

        return run.initial_of(self.experiment, self.seed)

    def row(self) -> dict[str, Any]:
        """Seed, status and metrics, as a row of a table."""
        numbers = {name: getattr(self, name) for name in METRICS}
        return {"seed": self.seed, "status": self.status, **numbers}


class Runs(Sequence[Run]):
    """The runs of a sweep, in the order of its points and seeds, with the labels of each."""

    def __init__(self, labels: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> None:
        self.labels = [dict(label) for label in labels]
        self._runs = list(runs)

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, i: int) -> Run: ...
    @overload
    def __getitem__(self, i: slice) -> "Runs": ...
    def __getitem__(self, i: int | slice) -> "Run | Runs":
        if isinstance(i, slice):
            return Runs(self.labels[i], self._runs[i])
        return self._runs[i]

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(name for label in self.labels for name in label))
        return f"Runs({len(self)} runs{' over ' + names if names else ''})"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.table.head(10).to_html(index=False)}"

    def where(self, **labels: Any) -> "Runs":
        """The runs whose labels have these values; a dotted label is given as `**{"a.b": 1}`."""
        chosen = [
            i
            for i, label in enumerate(self.labels)
            if all(label.get(name) == value for name, value in labels.items())
        ]
        return Runs([self.labels[i] for i in chosen], [self._runs[i] for i in chosen])

    @cached_property
    def table(self) -> "pandas.DataFrame":
        """One row per run: its labels, seed, status and metrics; of computations, their rows."""
        if self._runs and all("table" in run.arrays for run in self._runs):
            return self.rows(lambda run: run.table)
        import pandas as pd

        pairs = zip(self.labels, self._runs, strict=True)
        return typed(pd.DataFrame([{**label, **run.row()} for label, run in pairs]))

    @cached_property
    def history(self) -> "pandas.DataFrame":
        """One row per evaluation of every run, with its labels and seed."""
        return self.rows(lambda run: run.history)

    def rows(self, table: Callable[[Run], Any]) -> "pandas.DataFrame":
        """A table of each run, one below the other, with the run's labels and seed in front."""
        import pandas as pd

        parts = []
        for label, run in zip(self.labels, self._runs, strict=True):
            part = table(run)
            front = {**{n: v for n, v in label.items() if n not in part}, "seed": run.seed}
            constants = pd.DataFrame({n: [v] * len(part) for n, v in front.items()})
            parts.append(pd.concat([constants, part.reset_index(drop=True)], axis=1))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def typed(rows: "pandas.DataFrame") -> "pandas.DataFrame":
    """Metrics in columns of their own types, also where a run failed and has none.

    A run without a stop rule, or that failed, has neither succeeded nor not: that is missing. NaN
    and missing are the same to a database, and so they are here.
    """
    columns = {}
    for name, kind in METRIC_TYPES.items():
        if name in rows:
            values: Any = rows[name]
            column = values.astype("boolean" if kind == "bool" else float)
            is_whole = kind != "float" and not column.isna().any()
            columns[name] = column.astype(kind) if is_whole else column
    return rows.assign(**columns)


def _frame(columns: Mapping[str, np.ndarray]) -> "pandas.DataFrame":
    import pandas as pd

    return pd.DataFrame(dict(columns))
