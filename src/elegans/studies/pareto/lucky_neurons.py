r"""Lucky neurons: is width a parallel search for a neuron that starts with a gradient?

A neuron that reads two inputs with weight one has a population gradient at a relevant bit only if
$S$ without that bit is within what it reads. At $k = 3$ that means: both of its inputs are
relevant, and then the gradient at the third bit is $\pm 1/4$. The chance of it is
$p = \binom{3}{2} / \binom{n}{2}$, so that a network of width $r$ holds such a *lucky* neuron with
probability $1 - (1 - p)^r$ (`theory.resources.lucky_chance`). Section 3.2.1 of the Pareto paper
explains width by this search; here networks are counted at their start, those of the runs and many
more, and runs are told apart by it.

For $k \ge 4$ every 2-sparse neuron has population gradient zero (footnote 5 there). "Lucky" then
means here: both inputs relevant, the most that a neuron can know. Whether that helps is a question
which the table answers; no claim is made.

A pilot (seeds 0 to 39 of the quick scale) showed that networks without a lucky neuron learn too,
in three times as many steps: luck buys time. So success is counted twice, by the end and by an
*early* step between the two times, which was chosen in the pilot; the study has other seeds.

As a control the same census is taken of a decoy, a set of $k$ bits that do not matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Bool, Float, UInt32

from elegans.experiments.experiment import Experiment
from elegans.keys import keys_of
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.statistics import wilson
from elegans.studies.pareto import lucky_claims
from elegans.studies.pareto.recipe import COLUMNS, finished, training
from elegans.studies.pareto.scores import success
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources

READS = 2
FIRST_SEED = 100  # those before were the pilot that set `early`
COUNTED, FIRST_COUNTED = 4000, 10_000  # initial networks that are drawn and not trained


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Tasks (n, k), widths, and one number of samples close to the edge."""

    tasks: tuple[tuple[int, int], ...]
    widths: tuple[int, ...]
    samples: int
    seeds: int
    steps: int
    early: int = 1500
    evaluate_every: int = 250


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every task and width from every seed, 2-sparse."""
    recipe = training(settings.samples, settings.steps, settings.evaluate_every)
    points = [
        (
            {"n": n, "k": k, "width": width},
            Experiment(Parity(n, k), MLP(width=width, init=inits.Sparse(READS)), recipe),
        )
        for n, k in settings.tasks
        for width in settings.widths
    ]
    seeds = range(FIRST_SEED, FIRST_SEED + settings.seeds)
    return {"runs": Sweep.of(points, seeds=seeds)}


def insiders(
    weight: Float[np.ndarray, "n neurons"], bits: tuple[int, ...]
) -> Bool[np.ndarray, " neurons"]:
    """Which neurons read nothing but `bits`."""
    reads = weight != 0
    return np.asarray(reads[list(bits)].sum(axis=0) == reads.sum(axis=0))


def census(run: Run) -> dict[str, Any]:
    """How many neurons of a run's initial network are lucky, and how many know the decoy."""
    task = run.experiment.task
    weight = np.asarray(run.initial.layers[0].weight, np.float64)
    rest = [i for i in range(task.n) if i not in task.support]
    return {
        "lucky": int(insiders(weight, tuple(task.support)).sum()),
        "decoy": int(insiders(weight, tuple(rest[: task.k])).sum()),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per run with its census, and one per task, width and whether it is lucky."""
    table = pd.concat(
        [runs["runs"].table, pd.DataFrame([census(run) for run in runs["runs"]])], axis=1
    )
    table["early"] = table["success"] & (table["steps"] <= settings.early)
    table = table[["n", "k", "width", "lucky", "decoy", "early", *COLUMNS]]
    held = {cell: networks_held(*cell) for cell in cells_of(table)}
    return {"chances": chances(table, held), "outcomes": outcomes(table), "census": table}


def cells_of(table: pd.DataFrame) -> list[tuple[int, int, int]]:
    """Every n, k and width of some runs."""
    cells = table[["n", "k", "width"]].drop_duplicates()
    return [(int(n), int(k), int(width)) for n, k, width in cells.to_numpy()]


def networks_held(n: int, k: int, width: int) -> int:
    """How many of `COUNTED` initial networks hold a lucky neuron; none is that of a run.

    The runs are too few to tell: their first layers are nested, so all widths share their luck.
    """
    task, model = Parity(n, k), MLP(width=width, init=inits.Sparse(READS))

    def holds(seed: UInt32[Array, ""]) -> Bool[Array, ""]:
        reads = model.init_params(keys_of(seed).init, task).layers[0].weight != 0
        return (reads[jnp.array(task.support)].sum(axis=0) == reads.sum(axis=0)).any()

    seeds = jnp.arange(FIRST_COUNTED, FIRST_COUNTED + COUNTED, dtype=jnp.uint32)
    return int(jax.lax.map(holds, seeds, batch_size=100).sum())


def chances(table: pd.DataFrame, held: Mapping[tuple[int, int, int], int]) -> pd.DataFrame:
    """Per task and width: networks that hold a lucky neuron, as counted and as predicted."""
    rows = []
    for n, k, width in cells_of(table):
        part = table[(table["n"] == n) & (table["k"] == k) & (table["width"] == width)]
        share = wilson(held[n, k, width], COUNTED)
        ended = finished(part)
        rate = wilson(int(ended["success"].sum()), len(ended)) if len(ended) else None
        rows.append(
            {
                "n": n,
                "k": k,
                "width": width,
                "networks": COUNTED,
                "lucky_rate": share.value,
                "low": share.low,
                "high": share.high,
                "predicted": chance_inside(n, k, width),
                "runs": len(part),
                "lucky_runs": (part["lucky"] > 0).mean(),
                "success_rate": rate.value if rate else np.nan,
                "early_rate": ended["early"].astype(float).mean(),
            }
        )
    return pd.DataFrame(rows)


def chance_inside(n: int, k: int, width: int) -> float:
    """The chance that one of so many neurons reads relevant bits alone.

    At k = 3 that is the chance of a population gradient, `resources.lucky_chance`.
    """
    if k == READS + 1:
        return resources.lucky_chance(n, k, READS, width)
    inside = k * (k - 1) / (n * (n - 1))
    return float(-np.expm1(width * np.log1p(-inside)))


def outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """Per task and width: success of networks with a lucky neuron beside those without."""
    rows = []
    for key, part in finished(table).groupby(["n", "k", "width"], sort=False):
        n, k, width = cast(tuple[Any, ...], key)
        for name, group in {"lucky": part["lucky"] > 0, "not lucky": part["lucky"] == 0}.items():
            labels = {"n": int(n), "k": int(k), "width": int(width), "network": name}
            rows.append({**labels, **success(part[group])})
    return pd.DataFrame(rows)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return {
        "samples": settings.samples,
        "steps": settings.steps,
        "early": settings.early,
        "seeds": settings.seeds,
    }


STUDY = Study(
    name="lucky-neurons",
    title="A wide network learns early if one of its neurons starts out lucky",
    summary=(
        "The label is the product of 3 out of 50 random signs. Each hidden neuron starts by "
        "reading two inputs at random. If both are among the three that matter, its gradient "
        "points at the third from the first step on; all other neurons have no gradient on "
        "average. So a network of width r buys r tickets of a lottery whose odds are known "
        "exactly. Here the initial networks of many runs are examined: how many hold a lucky "
        "neuron, and do these learn earlier than the others, or even alone?"
    ),
    source="Pareto paper, section 3.2.1 and footnote 5",
    scales={
        "quick": Scale(
            Settings(
                tasks=((50, 3), (20, 4)), widths=(30, 100, 300), samples=2000, seeds=60, steps=5000
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                tasks=((50, 3), (30, 4), (20, 5)),
                widths=(10, 30, 100, 300, 1000),
                samples=2000,
                seeds=100,
                steps=20_000,
            ),
            minutes=40,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        lucky_claims.chances_are_as_predicted,
        lucky_claims.luck_saves_time,
        lucky_claims.luck_decides,
        lucky_claims.a_decoy_does_not_help,
        lucky_claims.success_is_calibrated,
    ),
    figures="elegans.studies.pareto.figures_search:lucky_neurons",
    shown=("chances", "outcomes"),
    formats={
        "lucky_rate": ".1%",
        "lucky_runs": ".0%",
        "low": ".1%",
        "high": ".1%",
        "predicted": ".1%",
        "success_rate": ".0%",
        "early_rate": ".0%",
        "rate": ".0%",
        "median_steps": ",.0f",
    },
    captions={
        "figure": (
            "Left: the share of initial networks that hold a neuron which reads relevant inputs "
            "alone, as counted among 4,000 (dots) and as computed (lines). Then, one panel per "
            "task: the share of runs that have learned by each step, of networks with such a "
            "neuron (blue) and without (orange), darker for wider networks; the dotted line is the "
            "early step at which the two are told apart. At k = 3 such a "
            "neuron has a gradient from the start; at k >= 4 no neuron has one, and the panel is a "
            "question rather than a test."
        ),
        "chances": (
            "The share of 4,000 initial networks that hold a lucky neuron, with its 95% Wilson "
            "interval, and as predicted; then of the runs, and how these ended"
        ),
        "outcomes": "Success of networks with and without a lucky neuron, 95% Wilson intervals",
        "census": (
            "One row per run: neurons of its initial network that read relevant bits alone "
            "(lucky), or bits of a decoy set of the same size, whether it had learned by the early "
            "step, and how it ended."
        ),
        "runs": "One row per run.",
    },
)
