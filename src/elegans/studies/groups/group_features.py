r"""Symmetric groups: each neuron finds one irreducible representation.

Quadratic networks multiply permutations. Theorem 7.9 gives the largest margin, with every neuron in
one representation and all of them present. At a finite penalty the exact optimum is another
(`theory.groups.regularised_optimum`): its margin is smaller, slowly approaching the largest, and
for $S_5$ at the thesis's penalty it has no neurons in the 6-dimensional representation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.groups import group_features_claims, networks
from elegans.studies.groups.weights import weight_table
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import GroupOperation
from elegans.tasks.groups import Symmetric
from elegans.theory import groups as theory

NAMES = {  # of the representations of S5: what they are, and what Table D.1 calls them
    "(5)": ("trivial", "trivial"),
    "(4, 1)": ("standard", "standard x sign"),
    "(3, 2)": ("5d_a", "5d_a"),
    "(3, 1, 1)": ("6d", "6d"),
    "(2, 2, 1)": ("5d_b", "5d_b"),
    "(2, 1, 1, 1)": ("standard x sign", "standard"),
    "(1, 1, 1, 1, 1)": ("sign", "sign"),
}
DOUBLINGS = (*range(200, 2601, 200), 5000, 10_000)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A recipe for each symmetric group, by its number of points."""

    recipes: Mapping[str, networks.Recipe]
    seeds: int


S3 = networks.Recipe(width=30, weight=1e-7, steps=50_000, doublings=DOUBLINGS, precise=True)
S4 = networks.Recipe(width=200, weight=1e-7, steps=50_000, doublings=DOUBLINGS, precise=True)
S5 = networks.Recipe(
    width=2000,
    weight=1e-5,
    steps=75_000,
    doublings=tuple(range(3000, 24_001, 3000)),
    batch=1000,
)
# As in D.2 weak neurons are still on their way at the end. Momentum takes the same steps ten times
# as far, and in S5, where batches are drawn, a rate that falls to zero ends their noise.
S3_MOMENTUM = replace(S3, momentum=0.9)
S4_MOMENTUM = replace(S4, momentum=0.9)
S5_MOMENTUM = replace(
    S5, steps=10_000, doublings=(), learning_rate=12.8, momentum=0.9, schedule="linear"
)
QUICK = Settings(recipes={"3": S3_MOMENTUM, "4": S4_MOMENTUM}, seeds=4)
LAPTOP = Settings(recipes={"5": S5_MOMENTUM}, seeds=1)
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
        "weights": weight_table(every),
        "characters": character_rows(),
    }


def character_rows() -> pd.DataFrame:
    """Table D.1: the characters of $S_5$, by partitions and by the names that the thesis prints.

    Columns are cycle types. `printed` is the name that the thesis has beside the same numbers: it
    exchanges "standard" with its product with the sign.
    """
    table = theory.character_table(Symmetric(5))
    rows = pd.DataFrame(table.values.real.round().astype(int), columns=list(table.classes))
    rows.insert(0, "representation", list(table.labels))
    rows.insert(1, "name", [NAMES[label][0] for label in table.labels])
    rows.insert(2, "printed", [NAMES[label][1] for label in table.labels])
    return rows


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """How often each group was trained."""
    return {"seeds": settings.seeds}


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
        "laptop": Scale(LAPTOP, minutes=9),
        "paper": Scale(PAPER, minutes=90),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        group_features_claims.optimum_is_reached,
        group_features_claims.neurons_have_one_representation,
        group_features_claims.shares_are_predicted,
        group_features_claims.representations_are_those_of_the_optimum,
        group_features_claims.larger_ones_have_more_neurons,
    ),
    figures="elegans.studies.groups.figures:group_features",
    charts="elegans.studies.groups.figures:representation_chart",
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
        "weights": "The neurons of the chart.",
        "characters": (
            "Characters of S5 (Table D.1): rows are representations, columns cycle types. The "
            "thesis exchanges the names of the two rows of dimension 4."
        ),
        "chart": (
            "Click a neuron on the left: its weights u, v and w on the elements of the group are "
            "drawn on the right, and below how their power is spread over representations."
        ),
        "runs": "One row per run.",
    },
)
