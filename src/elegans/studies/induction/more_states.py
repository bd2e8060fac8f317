"""More states: the same phases with more symbols, if sequences are long (thesis, Figure E.4).

The caption says that this "required a sequence length greater than 100 for the difference between
unigrams and bigrams to be large enough for the unigram phase to be visible". Both halves are
looked at: the difference between the strategies, which needs no training, and the phase.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap, paired
from elegans.studies.induction.phases import (
    MOST,
    STRATEGIES,
    Levels,
    Recipe,
    at_end,
    counted,
    curves,
    phases,
    share_of_seeds,
    shares,
    visits_in_order,
    watching,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import MarkovChains

BY = ["model", "states", "length", "seed"]
HALFWAY = 0.5


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Numbers of states, and how long their sequences are."""

    seeds: int
    recipe: Recipe
    states: tuple[int, ...]
    lengths: tuple[int, int] = (100, 200)
    dim: int = 16


QUICK = Settings(seeds=4, recipe=Recipe(steps=800, rate=5e-3, evaluations=40), states=(5,))
LAPTOP = Settings(seeds=5, recipe=Recipe(steps=6000, rate=1e-3, evaluations=100), states=(3, 5, 8))
PAPER = Settings(
    seeds=10,
    recipe=Recipe(steps=100_000, rate=3e-5, evaluations=200, schedule="constant"),
    states=(3, 5, 8),
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Two layers at each number of states and length, and the levels of the strategies."""
    tasks = {
        (states, length): MarkovChains(states, length)
        for states in settings.states
        for length in settings.lengths
    }
    labels = {
        place: {
            "model": f"{place[0]} states, {place[1]} tokens",
            "states": place[0],
            "length": place[1],
        }
        for place in tasks
    }
    model = AttentionOnly(2, 1, settings.dim, scale=0.5)
    points = [
        (labels[place], Experiment(task, model, settings.recipe.training()))
        for place, task in tasks.items()
    ]
    levels = [(labels[place], Levels(task)) for place, task in tasks.items()]
    return {
        "runs": Sweep.of(points, seeds=settings.seeds, probes=watching()),
        "levels": Sweep.of(levels),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Curves, phases, and how much of training is spent in each."""
    table = curves(runs["runs"])
    return {
        "shares": shares(table, ["model"], STRATEGIES),
        "shares_by_seed": shares(table, BY, STRATEGIES),
        "phases": phases(table, BY),
        "curves": table,
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes."""
    return {"lengths": settings.lengths, "seeds": settings.seeds}


def phases_extend(tables: Tables) -> Claim:
    """With long sequences training goes by way of unigrams to bigrams, and most of the way."""
    length = tables["phases"]["length"].max()
    rates, ways = {}, {}
    table = tables["phases"]
    for name, part in table[table["length"] == length].groupby("model"):
        hits = part["phases"].map(lambda phase: visits_in_order(phase, STRATEGIES[1:]))
        rates[name] = (share_of_seeds(hits), counted(hits))
    ends = at_end(tables["curves"], BY)
    for name, part in ends[ends["length"] == length].groupby("model"):
        gap = part["above_bigram"] - part["above_unigram"]
        ways[name] = bootstrap((-part["above_unigram"] / gap).to_numpy(float))
    interval: Interval = min((rate for rate, _ in rates.values()), key=lambda each: each.low)
    return Claim(
        text="Results extend to more symbols: by way of unigrams to bigrams",
        source="thesis, Figure E.4",
        measured="; ".join(
            f"{rates[name][1]} with {name}, at the end {ways[name]:.0%} of the way from unigrams "
            "to bigrams"
            for name in rates
        ),
        against=(
            "an interval of the share of seeds that reaches down to one half, or one of the way "
            "that does"
        ),
        holds=interval.low > MOST and all(way.low > HALFWAY for way in ways.values()),
        interval=interval,
    )


def difference_grows(tables: Tables) -> Claim:
    """The bigram strategy's advantage over the unigram strategy grows with the length."""
    levels = tables["levels"].pivot(
        index=["states", "length"],
        columns="strategy",
        values=["divergence", "divergence_low", "divergence_high"],
    )
    gap = (levels["divergence"]["unigram"] - levels["divergence"]["bigram"]).unstack("length")
    # The two strategies see the same sequences; their errors are added, which is too cautious.
    half = (levels["divergence_high"] - levels["divergence_low"]) / 2
    error = (half["unigram"] + half["bigram"]).unstack("length")
    short, long = gap.columns.min(), gap.columns.max()
    growth = gap[long] - gap[short]
    radius = np.hypot(error[long], error[short])
    worst = (growth - radius).idxmin()
    interval = Interval(
        float(growth[worst]),
        float(growth[worst] - radius[worst]),
        float(growth[worst] + radius[worst]),
    )
    return Claim(
        text="Longer sequences make the difference between unigrams and bigrams larger",
        source="thesis, Figure E.4, caption",
        measured="; ".join(
            f"{states} states: {row[short]:.3f} nats at {short} tokens, {row[long]:.3f} at {long}"
            for states, row in gap.iterrows()
        )
        + f"; growth at worst {interval:.3f}",
        against="an interval of the growth that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )


def unigram_phase_is_longer(tables: Tables) -> Claim:
    """At the larger length more evaluations are nearest to unigrams, seed by seed."""
    table = tables["shares_by_seed"]
    by_seed = table.set_index(["states", "seed", "length"])["unigram"].unstack("length")
    short, long = by_seed.columns.min(), by_seed.columns.max()
    comparison = paired(by_seed[short], by_seed[long])
    return Claim(
        text="Longer sequences make the phase of unigrams more visible",
        source="thesis, Figure E.4, caption",
        measured=(
            f"unigrams are nearest in {by_seed[short].median():.0%} of evaluations at {short} "
            f"tokens and {by_seed[long].median():.0%} at {long}; difference "
            f"{comparison.difference:+.0%} over {comparison.pairs} pairs of runs"
        ),
        against="an interval of the difference that reaches down to zero",
        holds=comparison.difference.low > 0,
        interval=comparison.difference,
    )


STUDY = Study(
    name="more-states",
    title="With more symbols the same phases, in longer sequences",
    summary=(
        "Networks that learn to continue Markov chains go by the frequencies of symbols first "
        "and by transitions later. With more symbols there are many more transitions to count, so "
        "that a short sequence tells little more by them than by frequencies. The study trains "
        "networks on several symbols in shorter and in longer sequences."
    ),
    source="Thesis, Figure E.4",
    scales={
        "quick": Scale(QUICK, minutes=2),
        "laptop": Scale(LAPTOP, minutes=120),
        "paper": Scale(PAPER, minutes=3000),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(phases_extend, difference_grows, unigram_phase_is_longer),
    figures="elegans.studies.induction.figures:stages",
    charts="elegans.studies.induction.figures:stages_chart",
    shown=("shares",),
    formats={"shares": ".0%", "shares_by_seed": ".0%"},
    captions={
        "figure": (
            "A row per number of symbols and length. Left: the loss of every run against examples "
            "seen, with the losses of the strategies. Right: how far the predictions of seed 0 are "
            "from each strategy's; the background shows the nearest."
        ),
        "chart": "The loss of every run; hovering shows its distance from each strategy.",
        "shares": "Share of evaluations at which each strategy is the nearest.",
        "shares_by_seed": "The same by run.",
        "phases": "One row per run: its phases in order.",
        "curves": "One row per evaluation: distance from each strategy, and losses, in nats.",
        "levels": "Losses of the strategies at the last position, in nats.",
        "runs": "One row per run.",
    },
)
