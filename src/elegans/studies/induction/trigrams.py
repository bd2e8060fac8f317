"""Trigrams: four phases with three heads, and no fourth with one (thesis, Figure 8.5).

The negative half ("single attention headed models could not achieve better performance than
bigrams") has two controls: networks with one head must get as far as bigrams, and networks with
three heads, trained by the same recipe, further.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap
from elegans.studies.induction.phases import (
    MOST,
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
from elegans.tasks import NGrams

STRATEGIES = ("uniform", "unigram", "bigram", "trigram")
NEAR = 0.02  # nats above a strategy that count as reaching it
MANY, ONE = 3, 1  # heads


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sequences of trigrams, and how networks are trained on them."""

    seeds: int
    recipe: Recipe
    length: int
    states: int = 2
    dim: int = 24
    sequences: int = 256  # that probes look at


QUICK = Settings(seeds=5, recipe=Recipe(steps=800, rate=1e-2, evaluations=40), length=100)
LAPTOP = Settings(seeds=5, recipe=Recipe(steps=4000, rate=3e-3, evaluations=100), length=200)
PAPER = Settings(
    seeds=10,
    recipe=Recipe(steps=20_000, rate=3e-2, evaluations=200, schedule="constant"),
    length=200,
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Two layers with three heads and with one, and the levels of the strategies."""
    task = NGrams(3, settings.states, settings.length)
    points = [
        (
            {"model": f"{heads} head{'s' if heads > 1 else ''}", "heads": heads},
            Experiment(
                task,
                AttentionOnly(2, heads, settings.dim, scale=0.5),
                settings.recipe.training(),
            ),
        )
        for heads in (MANY, ONE)
    ]
    return {
        "runs": Sweep.of(
            points, seeds=settings.seeds, probes=watching(STRATEGIES, settings.sequences)
        ),
        "levels": Sweep.of([({}, Levels(task, STRATEGIES, 2048))]),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Curves and phases."""
    table = curves(runs["runs"], STRATEGIES)
    by = ["model", "heads", "seed"]
    return {
        "shares": shares(table, ["model"], STRATEGIES),
        "phases": phases(table, by),
        "ends": at_end(table, by)[[*by, "loss", "above_bigram", "above_trigram"]],
        "curves": table,
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes."""
    return {"states": settings.states, "length": settings.length, "seeds": settings.seeds}


def phases_come_in_order(tables: Tables) -> Claim:
    """Three heads visit unigrams, bigrams and trigrams in this order, and end at the last."""
    table = tables["phases"]
    table = table[table["heads"] == MANY]
    hits = table["phases"].map(lambda phase: visits_in_order(phase, STRATEGIES[1:]))
    interval = share_of_seeds(hits)
    return Claim(
        text="With three heads there are four stages: uniform, unigrams, bigrams, trigrams",
        source="thesis, section 8.3.3 and Figure 8.5",
        measured=f"first visits in this order and trigrams at the end in {counted(hits)}; "
        f"{interval:.0%}; seed 0: {table['phases'].iloc[0]}",
        against="an interval of the share of seeds that reaches down to one half",
        holds=interval.low > MOST,
        interval=interval,
    )


def above(tables: Tables, heads: int, strategy: str) -> Interval:
    """How far the loss at the end is above a strategy's, in the median over seeds."""
    table = tables["ends"]
    values = table[table["heads"] == heads][f"above_{strategy}"]
    return bootstrap(values.to_numpy(float))


def three_heads_converge(tables: Tables) -> Claim:
    """The final loss of three heads is close to the trigram strategy's."""
    interval = above(tables, MANY, "trigram")
    return Claim(
        text="With three heads the loss converges close to the optimum, the trigram strategy's",
        source="thesis, section 8.3.3 and Figure 8.5, left",
        measured=f"above it by {interval:.4f} nats at the last position, median over seeds",
        against=f"an interval that reaches above {NEAR} nats",
        holds=interval.high <= NEAR,
        interval=interval,
    )


def one_head_stays_at_bigrams(tables: Tables) -> Claim:
    """One head gets to bigrams and stays there, where three heads get below."""
    one, many = above(tables, ONE, "bigram"), above(tables, MANY, "bigram")
    return Claim(
        text=f"With one head the loss gets to the bigram strategy's and stays there (to {NEAR})",
        source="thesis, section 8.3.3",
        measured=(
            f"at the end above bigrams by {one:+.4f} nats with one head, by {many:+.4f} with "
            "three (the control), medians over seeds"
        ),
        against=(
            f"an interval for one head that is not within {NEAR} nats of bigrams on either side, "
            f"or one for three heads that is not below bigrams by {NEAR} nats"
        ),
        holds=max(-one.low, one.high) <= NEAR and many.high < -NEAR,
        interval=one,
    )


STUDY = Study(
    name="trigrams",
    title="Three heads find trigrams, one stays at bigrams",
    summary=(
        "In these sequences a symbol depends on the two before it, by a rule that is drawn anew "
        "for each sequence. A network may go by frequencies (unigrams), by what followed the "
        "current symbol (bigrams), or by what followed the last two (trigrams), which is "
        "optimal. A transformer with three heads per layer goes through all of them, one after "
        "the other. One with a single head stops at bigrams."
    ),
    source="Thesis, Figure 8.5",
    scales={
        "quick": Scale(QUICK, minutes=2),
        "laptop": Scale(LAPTOP, minutes=120),
        "paper": Scale(PAPER, minutes=1400),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(phases_come_in_order, three_heads_converge, one_head_stays_at_bigrams),
    figures="elegans.studies.induction.figures:stages",
    charts="elegans.studies.induction.figures:stages_chart",
    shown=("shares",),
    formats={"shares": ".0%"},
    captions={
        "figure": (
            "A row per number of heads. Left: the loss of every run against examples seen, with "
            "the losses of the strategies. Right: how far the predictions of seed 0 are from each "
            "strategy's; the background shows the nearest."
        ),
        "chart": "The loss of every run; hovering shows its distance from each strategy.",
        "shares": "Share of evaluations at which each strategy is the nearest.",
        "phases": "One row per run: its phases in order.",
        "ends": "Losses at the end, in nats, and how far they are above the strategies'.",
        "curves": "One row per evaluation: distance from each strategy, and losses, in nats.",
        "levels": "Losses of the strategies at the last position, in nats.",
        "runs": "One row per run.",
    },
)
