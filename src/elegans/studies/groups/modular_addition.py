r"""Modular addition: each neuron finds one frequency, and all frequencies share the norm evenly.

Networks $f(a, b)[c] = \sum_i \sigma(u_i[a] + v_i[b]) w_i[c]$ are trained on all $p^2$ pairs. With
$\sigma(z) = z^2$ Theorem 7.7 knows the largest margin, and for odd $p$ the exact optimum at any
penalty below $\gamma^* (p-1)/p$ has it too, with norm and loss in closed form: what training should
reach. For the rectifier no theory is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.constructions.groups import memorising
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.groups import modular_addition_claims, networks
from elegans.studies.groups.weights import weight_table
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import GroupOperation
from elegans.tasks.groups import Cyclic
from elegans.theory import groups as theory


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A modulus, and the recipe of both activations."""

    p: int
    recipe: networks.Recipe
    seeds: int


QUICK = Settings(
    p=31,
    recipe=networks.Recipe(
        width=400, weight=1e-4, steps=4000, doublings=tuple(range(100, 901, 100)), momentum=0.9
    ),
    seeds=3,
)
LAPTOP = Settings(
    p=71,
    recipe=networks.Recipe(
        width=1000, weight=1e-4, steps=20_000, doublings=tuple(range(500, 5001, 500))
    ),
    seeds=1,
)
PAPER = Settings(
    p=71,
    recipe=networks.Recipe(
        width=500, weight=1e-4, steps=40_000, doublings=tuple(range(1000, 10_001, 1000))
    ),
    seeds=1,
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Both activations with every seed."""
    task = GroupOperation(Cyclic(settings.p))
    points = [
        ({"activation": name}, networks.experiment(task, settings.recipe, name))
        for name in ("square", "relu")
    ]
    return {"runs": networks.sweep(points, settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Ends, curves, neurons, frequencies, and the weights of a few neurons."""
    every = runs["runs"]
    return {
        "ends": networks.end_table(every),
        "curves": networks.curves(every),
        "neurons": networks.neuron_table(every),
        "frequencies": networks.share_table(every),
        "weights": weight_table(every),
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The modulus, the largest margin, and what a network that memorises would have."""
    group = Cyclic(settings.p)
    best = theory.maximum_margin(group).value
    model, params = memorising(group)
    memory = theory.normalised_margin(model, params, GroupOperation(group))
    return {
        "p": settings.p,
        "width": settings.recipe.width,
        "best": best,
        "memorising": memory / best,
    }


STUDY = Study(
    name="modular-addition",
    title="Networks that add modulo p turn every neuron into a wave of one frequency",
    summary=(
        "A network with one hidden layer reads two numbers and predicts their sum modulo p. Each "
        "neuron has a weight for every number. After training with a penalty on the norm, these "
        "weights are a cosine wave, one frequency per neuron, and every frequency occurs. Theory "
        "says why: this is how the right answer wins by the largest possible margin, and for "
        "neurons that square their input it predicts margin, norm and loss exactly. Neurons that "
        "rectify, for which there is no theory, come near."
    ),
    source="Thesis, Figures 7.1, 7.4 and D.1, Theorem 7.7",
    scales={
        "quick": Scale(QUICK, minutes=0.6),
        "laptop": Scale(LAPTOP, minutes=10),
        "paper": Scale(PAPER, minutes=60),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        modular_addition_claims.margin_is_reached,
        modular_addition_claims.norm_and_loss_are_predicted,
        modular_addition_claims.frequencies_share_evenly,
        modular_addition_claims.every_frequency_is_present,
        modular_addition_claims.neurons_have_one_frequency,
        modular_addition_claims.phases_add_up,
        modular_addition_claims.rectifiers_come_near,
    ),
    figures="elegans.studies.groups.figures:modular_addition",
    charts="elegans.studies.groups.figures:frequency_chart",
    shown=("ends",),
    formats={
        "ratio": ".5f",
        "theory_ratio": ".5f",
        "margin": ".4g",
        "share_end": ".4f",
        "theory": ".4f",
    },
    captions={
        "figure": (
            "Top: the weights u of three arbitrary neurons per activation (dots), the wave through "
            "them, and how their power is spread over frequencies. Bottom left: the margin, as a "
            "part of the largest possible one, with the regularised optimum and the margin of a "
            "network that only memorises. Middle: how much of a neuron's power is in its strongest "
            "frequency, at the start and at the end. Right: how much of the norm each frequency "
            "has; theory gives every one the same (dashed)."
        ),
        "ends": "One row per run: margin, norm and loss at the end, beside the exact optimum.",
        "curves": "Margin, norm and loss at each evaluation.",
        "neurons": "One row per neuron at the start and the end.",
        "frequencies": "Neurons and norm share per frequency, beside the theory's.",
        "chart": (
            "Click a neuron on the left: its weights u, v and w are drawn on the right, as dots "
            "with the trigonometric interpolant through them, and their spectrum below."
        ),
        "weights": "The neurons of the chart, some of which the figure draws.",
        "runs": "One row per run.",
    },
)
