r"""Phases of learning: uniform, then unigrams, then bigrams (thesis, Figures 8.1, 8.3, E.3, E.6).

Two-layer attention-only transformers and the minimal model learn Markov chains in context. Figure
E.7 is the document's version with two states, so Figure 8.3 has three, probably; both are here.
While it trains each network is also tested on chains that it is not trained on (Figure E.6):
independent tokens, for which unigrams are all there is, and doubly stochastic chains, for which
they are worth nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly, MinimalInduction
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.induction import induction_heads_claims as claims
from elegans.studies.induction.phases import (
    STRATEGIES,
    Levels,
    Recipe,
    curves,
    phases,
    shares,
    watching,
)
from elegans.studies.induction.probes import Losses
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Dirichlet, DoublyStochastic, IidUnigram, MarkovChains

PRIORS = (Dirichlet(), IidUnigram(), DoublyStochastic())
BY = ["model", "states", "seed"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Chains, and how both models are trained on them; steps by the number of states."""

    seeds: int
    transformer: Recipe
    minimal: Recipe
    states: tuple[int, ...] = (2, 3)
    length: int = 100
    dim: int = 16


MINIMAL = Recipe(steps=10_000, rate=2e-3, optimizer="sgd", schedule="constant")
QUICK = Settings(
    seeds=8,
    transformer=Recipe(steps=600, rate=3e-3),
    minimal=replace(MINIMAL, steps=1500, evaluations=75),
)
LAPTOP = Settings(
    seeds=10,
    transformer=Recipe(steps=5000, rate=3e-4, evaluations=100),
    minimal=replace(MINIMAL, evaluations=100),
)
PAPER = Settings(
    seeds=10,
    transformer=Recipe(steps=50_000, rate=3e-5, evaluations=200, schedule="constant"),
    minimal=replace(MINIMAL, evaluations=200),
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Both models at each number of states, and the levels of the strategies."""
    models = {
        "transformer": (AttentionOnly(2, 1, settings.dim, scale=0.5), settings.transformer),
        "minimal": (MinimalInduction(weight=0.0, position=0.01), settings.minimal),
    }
    tasks = {states: MarkovChains(states, settings.length) for states in settings.states}
    points = [
        ({"model": name, "states": states}, Experiment(task, model, recipe.training()))
        for name, (model, recipe) in models.items()
        for states, task in tasks.items()
    ]
    probes = watching(elsewhere=Losses(PRIORS))
    levels = [({"states": states}, Levels(task)) for states, task in tasks.items()]
    return {
        "runs": Sweep.of(points, seeds=settings.seeds, probes=probes),
        "levels": Sweep.of(levels),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Curves, phases, and the losses on the three kinds of chains."""
    table = curves(runs["runs"])
    return {
        "shares": shares(table, ["model", "states"], STRATEGIES),
        "phases": phases(table, BY),
        "curves": table,
        "elsewhere": runs["runs"].rows(elsewhere),
    }


def elsewhere(run: Run) -> pd.DataFrame:
    """One row per evaluation and kind of chains: losses of network and strategies there."""
    parts = []
    step = run.probes["step"]
    for chains in ("dirichlet", "iid", "doubly_stochastic"):
        losses = {name: run.probes[f"elsewhere.{chains}.{name}"] for name in ("model", *STRATEGIES)}
        columns = {"network": losses.pop("model"), **losses}
        parts.append(pd.DataFrame({"step": step, "chains": chains, **columns}))
    return pd.concat(parts, ignore_index=True).sort_values("step", kind="stable")


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes, and how long a phase of unigrams is in the median, in examples."""
    examples = tables["phases"].assign(
        examples=64 * (tables["phases"]["first_bigram"] - tables["phases"]["first_unigram"])
    )
    median = examples.groupby(["model", "states"])["examples"].median().reset_index()
    return {
        "length": settings.length,
        "seeds": settings.seeds,
        "examples_at_unigrams": {
            f"{row['model']}, {row['states']} states": (
                None if np.isnan(row["examples"]) else float(row["examples"])
            )
            for _, row in median.iterrows()
        },
    }


STUDY = Study(
    name="induction-heads",
    title="Transformers learn to predict in stages: first frequencies, then transitions",
    summary=(
        "A network reads a sequence of random symbols and predicts the next one. Each sequence "
        "comes from a Markov chain of its own, so the rule has to be read off the sequence itself. "
        "One can guess (uniform), go by how often each symbol occurred (unigrams), or by what "
        "followed earlier occurrences of the current symbol (bigrams), which is optimal. Trained "
        "networks go through these strategies in this order, with a plateau and a sudden drop "
        "between the last two: an induction head forms. The minimal model, two layers of "
        "attention with almost everything else taken out, does the same."
    ),
    source="Thesis, Figures 8.1, 8.3, E.3 and E.6",
    scales={
        "quick": Scale(QUICK, minutes=2),
        "laptop": Scale(LAPTOP, minutes=40),
        "paper": Scale(PAPER, minutes=300),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        claims.phases_come_in_order,
        claims.transformers_end_at_bigrams,
        claims.minimal_ends_at_bigrams,
        claims.minimal_spends_less_time_at_unigrams,
        claims.plateau_is_unigrams,
        claims.doubly_stochastic_chains_are_learned_last,
    ),
    figures={
        "stages": "elegans.studies.induction.figures:stages",
        "other-chains": "elegans.studies.induction.figures:elsewhere",
    },
    charts="elegans.studies.induction.figures:stages_chart",
    shown=("shares",),
    formats={"shares": ".0%", "shares.states": "d"},
    captions={
        "stages": (
            "A row per model and number of states. Left: the loss of every run against examples "
            "seen, with the losses of the three strategies. Right: how far the predictions of "
            "seed 0 are from each strategy's; the background shows the nearest."
        ),
        "other-chains": (
            "Losses on three kinds of chains during the same training, the median of seeds with "
            "their range: those trained on, independent symbols, and doubly stochastic chains, "
            "whose symbols are all equally frequent."
        ),
        "chart": "The loss of every run; hovering shows its distance from each strategy.",
        "shares": "Share of evaluations at which each strategy is the nearest.",
        "phases": "One row per run: its phases in order.",
        "curves": "One row per evaluation: distance from each strategy, and losses, in nats.",
        "elsewhere": "One row per evaluation and kind of chains.",
        "levels": "Losses of the strategies at the last position, in nats.",
        "runs": "One row per run.",
    },
)
