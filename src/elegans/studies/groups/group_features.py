r"""Symmetric groups: each neuron finds one irreducible representation.

Quadratic networks multiply permutations. Theorem 7.9 gives the largest margin, with every neuron in
one representation and all of them present. At a finite penalty the exact optimum is another
(`theory.groups.regularised_optimum`): its margin is smaller, slowly approaching the largest, and
for $S_5$ at the thesis's penalty it has no neurons in the 6-dimensional representation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap
from elegans.studies.groups import networks
from elegans.studies.study import Scale, Study, known_failure
from elegans.sweeps.sweep import Sweep
from elegans.tasks import GroupOperation
from elegans.tasks.groups import Symmetric

NEAR_OPTIMUM = 0.99
PURE = 0.99
NEAR_SHARE = 0.10  # relative, of the share of a representation that the optimum uses
GONE = 0.01
DOUBLINGS = (*range(200, 2601, 200), 5000, 10_000)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A recipe for each symmetric group, by its number of points."""

    recipes: Mapping[str, networks.Recipe]
    seeds: int


S3 = networks.Recipe(width=30, weight=1e-7, steps=50_000, doublings=DOUBLINGS)
S4 = networks.Recipe(width=200, weight=1e-7, steps=50_000, doublings=DOUBLINGS)
S5 = networks.Recipe(
    width=2000,
    weight=1e-5,
    steps=75_000,
    doublings=tuple(range(3000, 24_001, 3000)),
    batch=1000,
)
QUICK = Settings(recipes={"3": S3}, seeds=5)
LAPTOP = Settings(recipes={"3": S3, "4": S4}, seeds=3)
PAPER = Settings(recipes={"3": S3, "4": S4, "5": S5}, seeds=1)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every group with every seed."""
    points = [
        ({"group": f"S{k}"}, networks.experiment(GroupOperation(Symmetric(int(k))), recipe))
        for k, recipe in settings.recipes.items()
    ]
    return {"runs": networks.sweep(points, settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Ends, curves, neurons and representations."""
    every = runs["runs"]
    return {
        "ends": networks.end_table(every),
        "curves": networks.curves(every),
        "neurons": networks.neuron_table(every),
        "representations": networks.share_table(every),
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """How often each group was trained."""
    return {"seeds": settings.seeds}


def worst_group(table: pd.DataFrame, column: str, *, is_low: bool) -> tuple[str, Interval]:
    """The group whose mean over seeds is worst, with its interval over seeds."""
    means = {
        str(name): bootstrap(part.groupby("seed")[column].mean().to_numpy(float), np.mean)
        for name, part in table.groupby("group", sort=False)
    }
    name = (min if is_low else max)(means, key=lambda group: means[group].value)
    return name, means[name]


def optimum_is_reached(tables: Tables) -> Claim:
    """Training reaches 0.99 of the margin of the exact optimum at its penalty."""
    ends = tables["ends"]
    name, interval = worst_group(
        ends.assign(part=ends["ratio"] / ends["theory_ratio"]), "part", is_low=True
    )
    means = ends.groupby("group", sort=False)[["ratio", "theory_ratio"]].mean()
    listed = "; ".join(
        f"{group} has {row['ratio']:.4f} of the largest margin, its optimum "
        f"{row['theory_ratio']:.4f}"
        for group, row in means.iterrows()
    )
    return Claim(
        text="Training reaches the margin of the exact optimum at its penalty",
        source="this study; thesis, Figures 7.6 (a), D.2, D.3: margins approach the largest",
        measured=f"margin / optimum's margin {interval:.4f} ({name}); {listed}",
        against=f"an interval of any group that goes below {NEAR_OPTIMUM}",
        holds=interval.low >= NEAR_OPTIMUM,
        interval=interval,
    )


@known_failure(
    reason=(
        "Weak neurons move slowly: after 50,000 steps a few with 1% to 5% of the largest norm, "
        "a millionth of the norm cubed, are still on their way."
    ),
    scales=("quick", "laptop"),
)
def neurons_have_one_representation(tables: Tables) -> Claim:
    """In every live neuron u, v and w are of one representation, the same one."""
    neurons = tables["neurons"]
    powers = neurons[["power_u", "power_v", "power_w"]].min(axis=1)
    pure = (powers > PURE) & neurons["is_same"]
    end = (neurons["when"] == "end") & neurons["is_live"]
    name, interval = worst_group(neurons.assign(pure=pure)[end], "pure", is_low=True)
    start = pure[neurons["when"] == "start"].mean()
    others = neurons[end & ~pure].groupby(["group", "seed"])["share"].sum()
    impure = float(others.max()) if len(others) else 0.0
    return Claim(
        text="Every neuron is of one representation, the same in u, v and w",
        source="thesis, Figures 7.6 (d), D.2, D.3, Theorem 7.9",
        measured=(
            f"{interval:.1%} of live neurons ({name}); least power {powers[end].min():.4f}; the "
            f"others have {impure:.0e} of the norm cubed; at the start {start:.1%} of neurons are"
        ),
        against=f"one live neuron with {PURE} or less of its power in one, or most at the start",
        holds=interval.low == 1 and start < 0.5,
        interval=interval,
    )


def shares_are_predicted(tables: Tables) -> Claim:
    """The norm shares are those of the exact optimum, where it is not zero."""
    table = tables["representations"]
    used = table[table["theory"] > GONE]
    off = (used["share_end"] / used["theory"] - 1).abs()
    largest = used.assign(off=off).groupby(["group", "seed"], sort=False)["off"].max()
    name, interval = worst_group(largest.reset_index(), "off", is_low=False)
    start = (used["share_start"] / used["theory"] - 1).abs().max()
    return Claim(
        text="Each representation has the norm share of the exact optimum",
        source="this study; thesis, Figure 7.6 (b) counts neurons",
        measured=(
            f"largest relative difference {interval:.2%} ({name}); at the start up to {start:.0%}"
        ),
        against=f"an interval that reaches {NEAR_SHARE:.0%}, or a start that does not",
        holds=interval.high <= NEAR_SHARE < start,
        interval=interval,
    )


def representations_are_those_of_the_optimum(tables: Tables) -> Claim:
    """All representations that the optimum uses are present; the others are gone."""
    table = tables["representations"]
    used, unused = table[table["theory"] > 1e-9], table[table["theory"] <= 1e-9]
    least = int(used["neurons_end"].min())
    most = float(unused["share_end"].max()) if len(unused) else 0.0
    names = ", ".join(sorted(set(unused["group"] + " " + unused["representation"]))) or "none"
    return Claim(
        text="The representations present are those that the exact optimum uses",
        source="thesis, Theorem 7.9; this study for finite penalties",
        measured=(
            f"least neurons of one that it uses: {least}; left out by it: {names}, largest share "
            f"{most:.2%}"
        ),
        against=f"a run without one that it uses, or with {GONE:.0%} in one that it leaves out",
        holds=least >= 1 and most < GONE,
    )


def larger_ones_have_more_neurons(tables: Tables) -> Claim:
    """Representations of higher dimension have more neurons."""
    means = tables["representations"].groupby(["group", "seed", "dimension"])["neurons_end"].mean()
    slopes = [
        float(np.polyfit(part.index.get_level_values("dimension"), part, 1)[0])
        for _, part in means.groupby(["group", "seed"])
        if len(part) > 1
    ]
    interval = bootstrap(slopes, np.mean)
    return Claim(
        text="Representations of higher dimension have more neurons",
        source="thesis, Figure 7.6 (b)",
        measured=f"neurons per dimension, slope over representations {interval:.1f}",
        against="an interval of the slope that reaches zero",
        holds=interval.low > 0,
        interval=interval,
    )


STUDY = Study(
    name="group-features",
    title="Networks that multiply permutations turn neurons into irreducible representations",
    summary=(
        "A network with one hidden layer reads two permutations and predicts their product. The "
        "irreducible representations of the group of permutations play the part of the "
        "frequencies in modular addition: after training every neuron belongs to one of them. How "
        "much of the norm each of them has can be computed exactly, at the penalty that is used "
        "in training and in the limit of none; so can the margin that training should reach."
    ),
    source="Thesis, Figures 7.6, D.2 and D.3, Theorem 7.9",
    scales={
        "quick": Scale(QUICK, minutes=0.7),
        "laptop": Scale(LAPTOP, minutes=10),
        "paper": Scale(PAPER, minutes=90),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        optimum_is_reached,
        neurons_have_one_representation,
        shares_are_predicted,
        representations_are_those_of_the_optimum,
        larger_ones_have_more_neurons,
    ),
    figures="elegans.studies.groups.figures:group_features",
    shown=("ends", "representations"),
    formats={"ratio": ".4f", "theory_ratio": ".4f", "loss": ".3g", "theory_loss": ".3g"},
    captions={
        "figure": (
            "A row per group. First: the margin through training, with the largest possible one "
            "and that of the exact optimum at this penalty. Second: how much of a neuron's power "
            "is in its strongest representation, at the start and at the end. Third: neurons per "
            "representation. Fourth: their share of the norm beside that of the exact optimum."
        ),
        "ends": "One row per run: margin, norm and loss at the end, beside the exact optimum.",
        "curves": "Margin, norm and loss at each evaluation.",
        "neurons": "One row per neuron at the start and the end.",
        "representations": "Neurons and norm share per representation, beside the theory's.",
        "runs": "One row per run.",
    },
)
