r"""Grokking sparse parities: training sets of several sizes, with and without weight decay.

Networks of width 100 are trained on $m$ examples for a long time. With many examples train and test
error fall together; with few the training set is learned by heart and nothing else; in between the
test error falls long after the train error: grokking. Weight decay moves the border to fewer
examples, and stops training where it is too strong. No learner at all can know the support from
fewer than $\log_2 \binom{n}{k}$ examples.

Decay is "coupled", $\theta \leftarrow \theta - \eta(g + \lambda \theta)$, which the document
leaves open (docs/errata.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP
from elegans.report.result import Claim, Tables
from elegans.runs import Run, Runs
from elegans.statistics import Interval, wilson
from elegans.studies.progress.times import groups, share_of
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources
from elegans.training.recipe import Stop, Training

SOURCE = "thesis, section 5.6, Figures 5.4 (right) and B.11"
GENERALISED = 0.01  # test error
DELAYED = 2.0  # as late as this many times the memorisation is grokking


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, sizes of training sets, and strengths of weight decay, weakest first."""

    n: int
    k: int
    samples: tuple[int, ...]
    decays: tuple[float, ...]
    seeds: int
    steps: int
    evaluate_every: int = 100
    width: int = 100


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every size with every decay."""
    points = [
        (
            {"samples": m, "decay": decay},
            Experiment(
                Parity(settings.n, settings.k),
                MLP(width=settings.width),
                Training(
                    loss="hinge",
                    batch=32,
                    learning_rate=0.1,
                    weight_decay=decay,
                    samples=m,
                    steps=settings.steps,
                    evaluate_every=settings.evaluate_every,
                    test_samples=2000,
                    stop=Stop(test_error=GENERALISED),
                ),
            ),
        )
        for m in settings.samples
        for decay in settings.decays
    ]
    return {"runs": Sweep.of(points, seeds=settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """When each run memorised and generalised, what it is called, and the curves of seed 0."""
    rows = runs["runs"].rows(moments)
    rows["samples"] = rows["samples"].astype(int)
    rows["delay"] = rows["generalised"] / rows["memorised"].clip(upper=rows["generalised"])
    rows["outcome"] = outcome(rows)
    curves = runs["runs"].history
    curves = curves[curves["seed"] == 0]
    columns = ["samples", "decay", "seed", "step", "train_error", "test_error"]
    grid = rows.groupby(["samples", "decay"], sort=False)["outcome"].value_counts().unstack()
    return {
        "outcomes": grid.fillna(0).astype(int).reset_index(),
        "runs": rows,
        "curves": curves[columns],
    }


def moments(run: Run) -> pd.DataFrame:
    """First steps without train error and with a test error of 1%; infinite if there is none."""
    history = run.history
    if run.status == "failed":
        return pd.DataFrame()

    def first(is_there: pd.Series) -> float:
        steps = history["step"][is_there]
        return float(steps.iloc[0]) if len(steps) else np.inf

    whole = history["test_error"] <= GENERALISED
    return pd.DataFrame(
        {
            "memorised": [first(history["train_error"] == 0)],
            "generalised": [first(whole) if run.success else np.inf],
            "train_error": [float(history["train_error"].iloc[-1])],
            "test_error": [float(history["test_error"].iloc[-1])],
        }
    )


def outcome(rows: pd.DataFrame) -> np.ndarray:
    """Each run in a word: learned, grokked, memorised or neither."""
    generalised = np.isfinite(rows["generalised"])
    kinds = [generalised & (rows["delay"] >= DELAYED), generalised, np.isfinite(rows["memorised"])]
    return np.select(kinds, ["grokked", "learned", "memorised"], "neither")


def counted(rows: pd.DataFrame, kind: str) -> Interval:
    """The share of runs with an outcome."""
    return share_of(rows["outcome"] == kind)


def large_sets_have_no_gap(tables: Tables) -> Claim:
    """With the most examples, and no decay that is too strong, nothing is delayed."""
    rows = tables["runs"]
    most = rows[(rows["samples"] == rows["samples"].max()) & (rows["decay"] < rows["decay"].max())]
    share = counted(most, "learned")
    return Claim(
        text="With enough examples train and test error fall together",
        source=SOURCE,
        measured=(
            f"m = {rows['samples'].max():,}: {share:.0%} of {len(most)} runs generalise before "
            f"twice the time at which the training set is learned"
        ),
        against="an interval of the share that reaches one half",
        holds=share.low > 0.5,
        interval=share,
    )


def small_sets_are_memorised(tables: Tables) -> Claim:
    """With the fewest examples the training set is learned by heart, and nothing else."""
    rows = tables["runs"]
    few = rows[(rows["samples"] == rows["samples"].min()) & (rows["decay"] < rows["decay"].max())]
    share = counted(few, "memorised")
    return Claim(
        text="With too few examples the training set is learned by heart and nothing generalises",
        source=SOURCE,
        measured=f"m = {rows['samples'].min():,}: {share:.0%} of {len(few)} runs memorise only",
        against="an interval of the share that reaches one half",
        holds=share.low > 0.5,
        interval=share,
    )


def grokking_in_between(tables: Tables) -> Claim:
    """Between, there is a size at which the test error falls long after the train error."""
    rows = tables["runs"]
    sizes = sorted(rows["samples"].unique())[1:-1]
    between = rows[rows["samples"].isin(sizes)]
    shares = {
        (m, decay): counted(part, "grokked")
        for (m, decay), part in groups(between, ["samples", "decay"])
    }
    best = max(shares, key=lambda cell: shares[cell].low)
    part = between[(between["samples"] == best[0]) & (between["decay"] == best[1])]
    delay = part["delay"][part["outcome"] == "grokked"].median()
    return Claim(
        text="Between the two there is grokking: test error falls long after train error",
        source=SOURCE,
        measured=(
            f"m = {best[0]:,}, decay {best[1]:g}: {shares[best]:.0%} of {len(part)} runs "
            f"generalise at least {DELAYED:g} times as late as they memorise, by {delay:.1f} times "
            "in the median"
        ),
        against="no cell between the two sizes in which the interval of that share is above 1/4",
        holds=shares[best].low > 0.25,
        interval=shares[best],
    )


def decay_widens_the_range(tables: Tables) -> Claim:
    """With moderate decay a seed generalises from fewer examples than without."""
    rows = tables["runs"]
    decays = sorted(rows["decay"].unique())
    least = {}
    for decay in decays[:2]:
        part = rows[rows["decay"] == decay]
        size = part["samples"].astype(float).where(np.isfinite(part["generalised"]), np.inf)
        least[decay] = part.assign(size=size).groupby("seed")["size"].min()
    weak, strong = least[decays[0]], least[decays[1]]
    fewer, differ = int((strong < weak).sum()), int((strong != weak).sum())
    share = wilson(fewer, differ) if differ else Interval(0.0, 0.0, 1.0)
    return Claim(
        text="Weight decay enlarges the range of sizes that generalise",
        source=SOURCE,
        measured=(
            f"the least m from which a seed generalises is smaller with decay {decays[1]:g} than "
            f"with {decays[0]:g} in {fewer} of the {differ} seeds that differ (of {len(weak)}): "
            f"{share:.0%}"
        ),
        against="an interval of that share that reaches one half",
        holds=share.low > 0.5,
        interval=share,
    )


def too_much_decay_stops_training(tables: Tables) -> Claim:
    """With the strongest decay neither the rule nor the training set is learned, at any size."""
    rows = tables["runs"]
    strong = rows[rows["decay"] == rows["decay"].max()]
    fixed = strong.groupby("seed")["outcome"].agg(lambda part: (part == "neither").all())
    share = share_of(fixed)
    error = float(strong["test_error"].median())
    return Claim(
        text="Too much weight decay stops training",
        source=SOURCE,
        measured=(
            f"decay {rows['decay'].max():g}: {share:.0%} of the seeds learn neither the rule nor "
            f"the training set, at any size; their median test error is {error:.2f}"
        ),
        against="an interval of that share that reaches one half",
        holds=share.low > 0.5,
        interval=share,
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The task, and the examples without which no learner can know the support."""
    return {
        "n": settings.n,
        "k": settings.k,
        "steps": settings.steps,
        "statistical_limit": resources.statistical_limit(settings.n, settings.k),
    }


STUDY = Study(
    name="parity-grokking",
    title="Grokking: between too few and enough examples, generalisation comes late",
    summary=(
        "A network is trained on the same examples of a sparse parity over and over. With many "
        "examples it learns the rule; with few it learns the examples by heart. In between it "
        "does both, one after the other: long after every training example is right, the error "
        "on new ones suddenly falls. Weight decay makes that happen with fewer examples, and "
        "too much of it prevents any learning."
    ),
    source="Thesis, Figures 5.4 (right) and B.11",
    scales={
        "quick": Scale(
            Settings(
                n=30,
                k=3,
                samples=(4000, 1000, 700, 500, 250),
                decays=(0.0, 0.01, 0.1),
                seeds=6,
                steps=30_000,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                n=30,
                k=3,
                samples=(3000, 2000, 1400, 1000, 700, 500, 350, 250),
                decays=(0.0, 0.003, 0.01, 0.03, 0.1),
                seeds=20,
                steps=100_000,
            ),
            minutes=45,
        ),
        "paper": Scale(
            Settings(
                n=50,
                k=3,
                samples=(10_000, 5000, 3000, 2000, 1400, 1000, 700, 500, 300),
                decays=(0.0, 0.003, 0.01, 0.03, 0.1),
                seeds=25,
                steps=1_000_000,
                evaluate_every=1000,
            ),
            minutes=900,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        large_sets_have_no_gap,
        small_sets_are_memorised,
        grokking_in_between,
        decay_widens_the_range,
        too_much_decay_stops_training,
    ),
    figures="elegans.studies.progress.figures_curves:grokking",
    shown=("outcomes",),
    formats={"samples": ",", "delay": ".1f", "generalised": ",.0f", "memorised": ",.0f"},
    captions={
        "figure": (
            "Errors of one run (seed 0) in each cell, on the training set in grey and on new "
            "examples in colour: fewer examples to the right, more weight decay downwards. The "
            "words say what became of all seeds of the cell."
        ),
        "outcomes": (
            "How many seeds learned (train and test error fell together), grokked (the test error "
            "fell at least twice as late), memorised the training set only, or did neither."
        ),
        "runs": "One row per run: first steps without train error and with 1% test error.",
        "curves": "Errors of the runs with seed 0.",
    },
)
