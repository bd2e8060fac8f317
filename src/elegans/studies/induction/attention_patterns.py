"""Where attention goes: to the token before, then to successors (thesis, Figures 8.2 and E.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.probes import AttentionMasses
from elegans.report.result import Claim, Tables
from elegans.runs import Run, Runs
from elegans.statistics import Interval, bootstrap
from elegans.studies.induction.phases import Recipe, at_end, at_start
from elegans.studies.induction.probes import Scores, Unevenness
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import MarkovChains

NEEDED = 0.8  # of the attention; even attention has a twentieth and a third where it is looked at
EVEN = 0.1  # a total variation distance from even attention that counts as none
TIMES = 4  # at which maps are drawn


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Chains, and how networks are trained on them."""

    seeds: int
    recipe: Recipe
    states: int = 3
    length: int = 100
    dim: int = 16


QUICK = Settings(seeds=5, recipe=Recipe(steps=1200, rate=3e-3))
LAPTOP = Settings(seeds=10, recipe=Recipe(steps=8000, rate=1e-3, evaluations=100))
PAPER = Settings(
    seeds=10, recipe=Recipe(steps=50_000, rate=3e-5, evaluations=200, schedule="constant")
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Two layers from every seed, attention watched."""
    experiment = Experiment(
        MarkovChains(settings.states, settings.length),
        AttentionOnly(2, 1, settings.dim, scale=0.5),
        settings.recipe.training(),
    )
    probes: dict[str, Any] = {
        "masses": AttentionMasses(),
        "unevenness": Unevenness(),
        "scores": Scores(),
    }
    return {"runs": Sweep(experiment, seeds=settings.seeds, probes=probes)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Where the mass goes in time, and attention and scores on one sequence at four times."""
    table = runs["runs"].rows(masses)
    ends = at_end(table)[["seed", "previous", "successors"]]
    return {"ends": ends, "masses": table, "maps": maps(runs["runs"][0])}


def masses(run: Run) -> pd.DataFrame:
    """One row per evaluation: attention where an induction head puts it, and unevenness."""
    uneven = run.probes["unevenness"]
    return pd.DataFrame(
        {
            "step": run.probes["step"],
            "previous": run.probes["masses.previous"],
            "successors": run.probes["masses.successors"],
            **{f"uneven_{layer + 1}": uneven[:, layer] for layer in range(uneven.shape[1])},
        }
    )


def maps(run: Run) -> pd.DataFrame:
    """Attention and scores of both layers on the first tokens of one sequence, in time."""
    attention, scores = run.probes["scores.attention"], run.probes["scores.scores"]
    tokens, steps = run.probes["scores.tokens"][0], run.probes["step"]
    query, key = np.tril_indices(len(tokens))
    parts = [
        pd.DataFrame(
            {
                "step": int(steps[i]),
                "layer": layer + 1,
                "query": query,
                "key": key,
                "token": tokens[key],
                "attention": attention[i, layer, query, key],
                "score": scores[i, layer, query, key],
            }
        )
        for i in np.unique(np.linspace(0, len(steps) - 1, TIMES).astype(int))
        for layer in range(attention.shape[1])
    ]
    return pd.concat(parts, ignore_index=True)


def mass_claim(tables: Tables, name: str, text: str) -> Claim:
    """At the end the mean over seeds of a share of the attention is above what is needed."""
    table = tables["masses"]
    start, end = at_start(table)[name], at_end(table)[name]
    interval = bootstrap(end.to_numpy(float), np.mean)
    return Claim(
        text=text,
        source="thesis, section 8.3.1 and Figure 8.2",
        measured=(
            f"{interval:.1%} of the attention in the mean of {len(end)} seeds, {end.min():.1%} at "
            f"least; before training {start.mean():.1%}"
        ),
        against=f"an interval of the mean that reaches below {NEEDED:.0%}",
        holds=interval.low > NEEDED,
        interval=interval,
    )


def first_layer_looks_back(tables: Tables) -> Claim:
    """The first layer attends to the previous token."""
    return mass_claim(tables, "previous", "At the end the first layer attends to the token before")


def second_layer_matches(tables: Tables) -> Claim:
    """The second layer attends to what followed the current token earlier."""
    text = "At the end the second layer attends to tokens that followed the current one earlier"
    return mass_claim(tables, "successors", text)


def starts_even(tables: Tables) -> Claim:
    """Before training both layers attend to all tokens alike, and after it they do not."""
    table = tables["masses"]
    layers = ("uneven_1", "uneven_2")
    start, end = at_start(table), at_end(table)
    at_first = {name: bootstrap(start[name].to_numpy(float), np.mean) for name in layers}
    at_last = {name: bootstrap(end[name].to_numpy(float), np.mean) for name in layers}
    interval: Interval = max(at_first.values(), key=lambda each: each.high)
    return Claim(
        text="Attention starts off uniform in both layers, and does not stay so",
        source="thesis, Figure 8.2, caption",
        measured="total variation distance from even attention, layers 1 and 2: "
        + ", ".join(f"{at_first[name]:.3f}" for name in layers)
        + " before training, "
        + ", ".join(f"{at_last[name]:.3f}" for name in layers)
        + " after",
        against=f"an interval above {EVEN} before training, or one that reaches below it after",
        holds=interval.high < EVEN and all(each.low > EVEN for each in at_last.values()),
        interval=interval,
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes."""
    return {"states": settings.states, "length": settings.length, "seeds": settings.seeds}


STUDY = Study(
    name="attention-patterns",
    title="An induction head forms: what each layer of a transformer looks at",
    summary=(
        "A transformer with two layers learns to continue Markov chains that it has never seen. "
        "Its attention shows how. At first every token looks at all tokens before it alike. After "
        "training the first layer looks one token back, and the second looks at those tokens "
        "whose predecessor is the current token: what came next the last times. That is an "
        "induction head, found by gradient descent."
    ),
    source="Thesis, Figures 8.2 and E.5",
    scales={
        "quick": Scale(QUICK, minutes=1),
        "laptop": Scale(LAPTOP, minutes=30),
        "paper": Scale(PAPER, minutes=180),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(first_layer_looks_back, second_layer_matches, starts_even),
    figures={
        "attention": "elegans.studies.induction.figures:attention",
        "scores": "elegans.studies.induction.figures:scores",
    },
    charts="elegans.studies.induction.figures:masses_chart",
    shown=("ends",),
    formats={"ends.previous": ".1%", "ends.successors": ".1%"},
    captions={
        "attention": (
            "Attention of one network on the first tokens of a sequence, from each (down) to "
            "itself and earlier ones (across), at four times of training; a row per layer."
        ),
        "scores": (
            "The scores behind it, before the softmax (Figure E.5); each panel has colours of its "
            "own, as only differences within a row matter."
        ),
        "chart": "Share of the attention that is where an induction head puts it, a line per seed.",
        "ends": "At the end: attention to the token before (layer 1) and to successors (layer 2).",
        "masses": "One row per evaluation: shares of attention, and distance from even attention.",
        "maps": "Attention and scores of seed 0 on one sequence.",
        "runs": "One row per run.",
    },
)
