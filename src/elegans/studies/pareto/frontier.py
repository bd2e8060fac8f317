r"""The success frontier: for which data sizes and widths does SGD learn a sparse parity?

Every cell of the grid (start, width $r$, samples $m$) is trained from several seeds in the settings
of the Pareto paper, appendix C.1: batch 32, learning rate 0.1, weight decay 0.01, hinge loss. A run
succeeds if its error on 10,000 fresh examples falls to 10% within $T$ steps.

Beside the measurement stand two limits: $\log_2 \binom{n}{k}$ samples, without which no learner
can know the support, and Proposition 3, the samples that gradient descent with so many
parameters and steps needs at least. The second is far below the first on every grid that can be
trained: the proposition becomes sharp only where $rT \ll \binom{n}{k}$.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.experiments.run import run
from elegans.models import MLP, inits
from elegans.statistics import wilson
from elegans.studies.pareto import frontier_claims
from elegans.studies.study import Result, Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources
from elegans.training.recipe import Stop, Training

STARTS = {"dense": inits.Uniform(), "2-sparse": inits.Sparse(2)}
CURVES_PER_CELL = 5
PAPER_SAMPLES = (*(a * 10**b for b in range(2, 6) for a in (1, 2, 3, 6)), 10**6)


@dataclass(frozen=True)
class Settings:
    """A grid; `samples` may hold None, which is online training."""

    tasks: tuple[tuple[int, int], ...]
    widths: tuple[int, ...]
    samples: tuple[int | None, ...]
    seeds: int
    steps: int
    evaluate_every: int = 500

    def experiment(self, n: int, k: int) -> Experiment:
        """What all runs on one task share."""
        training = Training(
            loss="hinge",
            learning_rate=0.1,
            weight_decay=0.01,
            batch=32,
            samples=1000,
            steps=self.steps,
            evaluate_every=self.evaluate_every,
            stop=Stop(test_error=0.1),
        )
        return Experiment(Parity(n, k), MLP(width=self.widths[0]), training)

    def sweep(self, n: int, k: int) -> Sweep:
        """All runs on one task."""
        over = {
            "model.init": list(STARTS.values()),
            "model.width": self.widths,
            "training.samples": self.samples,
        }
        return Sweep(self.experiment(n, k), over=over, seeds=range(self.seeds))


QUICK = Settings(
    tasks=((50, 3),),
    widths=(10, 30, 100, 300),
    samples=(600, 800, 1000, 1400, 2000, 4000),
    seeds=10,
    steps=20_000,
)
LAPTOP = Settings(
    tasks=((50, 3),),
    widths=(10, 30, 100, 300, 1000, 3000),
    samples=(100, 200, 300, 600, 1000, 2000, 3000, 6000, 10_000),
    seeds=20,
    steps=100_000,
)
PAPER = Settings(
    tasks=tuple((n, k) for k in (3, 4) for n in (50, 100, 150, 200, 250, 300)),
    widths=(10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000),
    samples=(*PAPER_SAMPLES, None),
    seeds=50,
    steps=100_000,
)


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Trains the grid, and checks the claims of section 4.1.

    Args:
        settings: The grid.
        scale: Its name.
        **options: Those of `Sweep.run`: store, workers, executor, progress.
    """
    runs = pd.concat(
        [settings.sweep(n, k).run(**options).assign(n=n, k=k) for n, k in settings.tasks],
        ignore_index=True,
    )
    runs = named(runs)
    table = cells(runs, settings)
    return Result(
        study="frontier",
        scale=scale,
        table=table,
        summary=summary(table),
        claims=frontier_claims.check(runs, table),
        data={"runs": runs, "curves": curves(settings, table)},
        facts={"steps": settings.steps, "seeds": settings.seeds},
    )


def named(runs: pd.DataFrame) -> pd.DataFrame:
    """The sweep's table with the names of the figure: start, width, samples."""
    starts = {f"{type(init).__name__}": name for name, init in STARTS.items()}
    return runs.assign(
        start=[starts[str(init).split("(")[0]] for init in runs["model.init"]],
        width=runs["model.width"],
        samples=runs["training.samples"].astype("Float64").astype("Int64"),
        success=runs["success"].astype(bool),
    )[["n", "k", "start", "width", "samples", "seed", "status", "success", "steps", "test_error",
       "train_error", "seconds"]]  # fmt: skip


def cells(runs: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """One row a cell: success rate with its interval, median steps, and the two limits."""
    rows = []
    by = ["n", "k", "start", "width", "samples"]
    for key, cell in runs.groupby(by, sort=False, dropna=False):
        n, k, start, width, samples = cast(tuple[Any, ...], key)
        n, k, width = int(n), int(k), int(width)  # older pandas gives NumPy's integers
        interval = wilson(int(cell["success"].sum()), len(cell))
        steps = cell.loc[cell["success"], "steps"]
        parameters = width * (n + 2) + 1
        rows.append(
            {
                **dict(zip(by, (n, k, start, width, samples), strict=True)),
                "runs": len(cell),
                "successes": int(cell["success"].sum()),
                "rate": interval.value,
                "low": interval.low,
                "high": interval.high,
                "median_steps": steps.median(),
                "theory": resources.statistical_limit(n, k),
                "theory_proposition_3": resources.multi_resource_bound(
                    n, k, width=parameters, steps=settings.steps, luck=0.5
                ),
            }
        )
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The success rates of each task and start, widths downwards and samples across."""
    found = {}
    for (n, k, start), part in table.groupby(["n", "k", "start"], sort=False):
        grid = part.pivot(index="width", columns="samples", values="rate").sort_index(
            ascending=False
        )
        grid.columns = [f"m = {m}" if m is not pd.NA else "online" for m in grid.columns]
        found[f"({n}, {k})-parity, {start} start: success rate by width and samples"] = grid
    return found


def examples(table: pd.DataFrame) -> Iterable[tuple[str, int, int]]:
    """For each start, the widest network at the edge, and the narrowest at the same samples."""
    first = table[(table["n"] == table["n"].iloc[0]) & (table["k"] == table["k"].iloc[0])]
    for start, part in first.dropna(subset="samples").groupby("start", sort=False):
        widest = part[(part["width"] == part["width"].max()) & (part["rate"] >= 0.5)]
        edge = int(widest["samples"].min() if len(widest) else part["samples"].max())
        for width in (part["width"].max(), part["width"].min()):
            yield str(start), int(width), edge


def curves(settings: Settings, table: pd.DataFrame) -> pd.DataFrame:
    """Training curves of a few runs of each example cell."""
    experiment = settings.experiment(*settings.tasks[0])
    parts = []
    for start, width, samples in examples(table):
        cell = experiment.varied(
            {
                "model.init": STARTS[start],
                "model.width": width,
                "training.samples": samples,
            }
        )
        for seed in range(min(CURVES_PER_CELL, settings.seeds)):
            history = run(cell, seed=seed).history
            parts.append(history.assign(start=start, width=width, samples=samples, seed=seed))
    return pd.concat(parts, ignore_index=True)


STUDY = Study(
    name="frontier",
    reproduces="Pareto paper, Figures 1, 2 and 4: which data sizes and widths learn a parity",
    scales={
        "quick": Scale(QUICK, "2 minutes"),
        "laptop": Scale(LAPTOP, "2 hours (estimate)"),
        "paper": Scale(PAPER, "years; use a cluster"),
    },
    measure=measure,
)
