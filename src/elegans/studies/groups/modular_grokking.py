r"""Modular addition from part of the table: delayed generalisation, and Fourier power before it.

Chapter 7 trains on the whole table and has no such experiment; the settings here are ours. A
quadratic network sees a fraction of all $p^2$ sums and is tested on the rest. Its initial weights
are larger than usual and its weight decay is small, so that it first fits its training set by large
weights that say nothing about the rest; the decay then takes as long as $1/(\eta\lambda)$ steps to
remove them. Meanwhile the share of each neuron's power in one frequency (averaged by norm cubed)
grows: a hidden measure of progress, as training and test errors stand still. Without weight decay
the network stays with what it memorised.

With usual weights (`scale` 1) and weight decays of 1 to 2 there is no long delay: the rest of the
table is learned three times as late as the training set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import TwoEmbedding
from elegans.models.two_embedding import UniformEmbeddings
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import bootstrap, paired
from elegans.studies.groups import networks
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import GroupOperation
from elegans.tasks.groups import Cyclic
from elegans.training.recipe import Training

LEARNED = 0.05  # error at which a set counts as learned
DELAY = 10.0  # times the steps to fit the training set
HIDDEN = 0.9  # test error above which progress is hidden
PROGRESS = 0.05  # of power, gained meanwhile beyond what the control gains
POOR = 0.5  # test error of a network that has only memorised, at least


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A modulus, the fraction of the table that is seen, AdamW's numbers and the first weights.

    `scale` multiplies the initial weights; 1 is PyTorch's default.
    """

    p: int
    fraction: float
    width: int
    steps: int
    seeds: int
    weight_decay: float = 0.1
    learning_rate: float = 0.01
    scale: float = 8.0
    evaluations_per_decade: int = 16

    def experiment(self, weight_decay: float) -> Experiment:
        """The network with this much weight decay."""
        training = Training(
            loss="cross-entropy",
            optimizer="adamw",
            learning_rate=self.learning_rate,
            weight_decay=weight_decay,
            samples=None,
            batch=None,
            steps=self.steps,
            evaluations_per_decade=self.evaluations_per_decade,
        )
        task = GroupOperation(Cyclic(self.p), fraction=self.fraction)
        model = TwoEmbedding(width=self.width, init=UniformEmbeddings(self.scale))
        return Experiment(task, model, training)


QUICK = Settings(p=53, fraction=0.6, width=128, steps=6000, seeds=4)
LAPTOP = Settings(p=71, fraction=0.5, width=256, steps=20_000, seeds=4)


def runs(settings: Settings) -> dict[str, Sweep]:
    """With weight decay and without, from the same initial weights and the same split."""
    points = [
        ({"decay": "decay"}, settings.experiment(settings.weight_decay)),
        ({"decay": "none"}, settings.experiment(0.0)),
    ]
    return {"runs": networks.sweep(points, settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Errors and power at each evaluation, and when each run learned what."""
    power = networks.curves(runs["runs"])[["decay", "seed", "step", "power"]]
    errors = runs["runs"].history[["decay", "seed", "step", "train_error", "test_error"]]
    curves = errors.merge(power, on=["decay", "seed", "step"])
    return {"curves": curves, "times": times(curves)}


def times(curves: pd.DataFrame) -> pd.DataFrame:
    """One row per run: when it first learned each set, and its power then and at the end.

    `hidden_step` is the last evaluation, once the training set is learned, before the test error
    first falls below 90%.
    """
    rows = []
    for (decay, seed), line in curves.groupby(["decay", "seed"], sort=False):
        line = line.sort_values("step").reset_index(drop=True)
        last = len(line) - 1
        first = {name: _first(line[f"{name}_error"] <= LEARNED) for name in ("train", "test")} | {
            "seen": _first(line["test_error"] < HIDDEN)
        }
        hidden = max(min(first["seen"] - 1, last), min(first["train"], last))
        row: dict[str, Any] = {"decay": decay, "seed": seed, "power_start": line["power"][0]}
        for name in ("train", "test"):
            is_learned = first[name] <= last
            row[f"{name}_step"] = float(line["step"][first[name]]) if is_learned else np.inf
            row[f"power_{name}"] = float(line["power"][min(first[name], last)])
        row["memorised_error"] = float(line["test_error"][min(first["train"], last)])
        row |= {"hidden_step": float(line["step"][hidden]), "power_hidden": line["power"][hidden]}
        row |= {"power_end": line["power"][last], "test_error": line["test_error"][last]}
        rows.append(row)
    return pd.DataFrame(rows)


def _first(is_true: pd.Series) -> int:
    """The number of the first row at which something holds; one past the end if at none."""
    places = np.flatnonzero(is_true)
    return int(places[0]) if len(places) else len(is_true)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The task."""
    return {"p": settings.p, "fraction": settings.fraction}


def of(tables: Tables, decay: str) -> pd.DataFrame:
    """The runs with weight decay, or those without, by seed."""
    table = tables["times"]
    return table[table["decay"] == decay].set_index("seed")


def generalisation_is_delayed(tables: Tables) -> Claim:
    """The rest of the table is learned long after the training set, which was learned by heart."""
    rows = of(tables, "decay")
    # Infinite if the rest is not learned, be the training set learned or not.
    delays = (rows["test_step"] / rows["train_step"].clip(lower=1)).fillna(np.inf)
    interval = bootstrap(delays.to_numpy(float), np.median)
    memorised = rows["memorised_error"]
    return Claim(
        text="The rest of the table is learned long after the training set is known by heart",
        source="this study; Power et al. (2022), Grokking",
        measured=(
            f"median of steps to a test error of {LEARNED:.0%} over those to as low a training "
            f"error {interval:.1f}; when the training set is learned the test error is "
            f"{memorised.mean():.1%}"
        ),
        against=(
            f"an interval that goes below {DELAY:g}, an infinite median, or a test error below "
            f"{POOR:.0%} when the training set is learned"
        ),
        holds=interval.low >= DELAY and np.isfinite(interval.value) and memorised.min() >= POOR,
        interval=interval,
    )


def power_grows_unseen(tables: Tables) -> Claim:
    """While errors stand still the Fourier power grows, and more than in the control."""
    rows = of(tables, "decay")
    gain = rows["power_hidden"] - rows["power_train"]
    curves = tables["curves"]
    control = curves[curves["decay"] == "none"]
    gains = {
        seed: np.interp([row["train_step"], row["hidden_step"]], line["step"], line["power"])
        for (seed, row), (_, line) in zip(rows.iterrows(), control.groupby("seed"), strict=True)
    }
    difference = gain - pd.Series({seed: ends[1] - ends[0] for seed, ends in gains.items()})
    interval = bootstrap(difference.to_numpy(float), np.mean)
    return Claim(
        text="While both errors stand still, power gathers in single frequencies",
        source="this study; Nanda et al. (2023), Progress measures for grokking",
        measured=(
            f"from step {rows['train_step'].median():,.0f} to {rows['hidden_step'].median():,.0f}, "
            f"with a test error of {HIDDEN:.0%} or more, power grows from "
            f"{rows['power_train'].mean():.3f} to {rows['power_hidden'].mean():.3f}, by "
            f"{interval:.3f} more than without weight decay"
        ),
        against=f"an interval of that difference that goes below {PROGRESS}",
        holds=interval.low >= PROGRESS,
        interval=interval,
    )


def decay_is_needed(tables: Tables) -> Claim:
    """Without weight decay the same network does not generalise in this time."""
    with_decay, without = (of(tables, name)["test_error"] for name in ("decay", "none"))
    gain = paired(with_decay, without, np.mean)
    return Claim(
        text="Without weight decay the network stays with what it memorised",
        source="this study: a control",
        measured=(
            f"test error {without.mean():.0%} without and {with_decay.mean():.1%} with it; "
            f"difference by seed {gain.difference:.2f}"
        ),
        against=f"a test error below {POOR:.0%} without it, or an interval that reaches zero",
        holds=without.min() >= POOR and gain.difference.low > 0,
        interval=gain.difference,
    )


STUDY = Study(
    name="modular-grokking",
    title="Learning to add from part of the table: first by heart, then in general",
    summary=(
        "A network sees a part of the addition table modulo p and is tested on the rest. It soon "
        "knows its own part by heart, and is still wrong elsewhere. With weight decay it becomes "
        "right on the rest as well, but tens of times later than on its own part. What happens in "
        "between can be seen inside, while no error moves: neurons slowly become waves of one "
        "frequency. Without weight decay it does not happen."
    ),
    source="An addition: chapter 7 trains on the whole table",
    scales={
        "quick": Scale(QUICK, minutes=0.6),
        "laptop": Scale(LAPTOP, minutes=20),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(generalisation_is_delayed, power_grows_unseen, decay_is_needed),
    figures="elegans.studies.groups.figures:modular_grokking",
    shown=("times",),
    formats={
        "test_error": ".1%",
        "memorised_error": ".1%",
        "train_step": ",.0f",
        "test_step": ",.0f",
        "hidden_step": ",.0f",
    },
    captions={
        "figure": (
            "Errors on the training set (grey) and on the rest of the table (blue), and how much "
            "of the neurons' power is in their strongest frequency (red), a line per seed."
        ),
        "times": f"When each run first had at most {LEARNED:.0%} errors, and its power then.",
        "curves": "Errors and power at each evaluation.",
        "runs": "One row per run.",
    },
)
