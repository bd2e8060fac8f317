"""One layer is not enough: single-layer transformers stay close to unigrams (thesis, Figure E.8).

Close, not at them: the unigram strategy leaves out the current token and the tokens near it, which
one layer can see. How much that is worth is measured by fitting the class of a single layer to the
last position alone (`single_layer`): that is the bar, beside the document's own sentence. Two
layers, trained by the same recipe for an eighth of the time, are the control.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval
from elegans.studies.induction.phases import (
    STRATEGIES,
    Levels,
    Recipe,
    at_end,
    curves,
    shares,
    watching,
)
from elegans.studies.induction.single_layer import BestSingleLayer
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import MarkovChains

TIMES_LONGER = 8  # than two layers are trained, as in the document
VARIANTS = tuple((position, mlp) for position in ("relative", "absolute") for mlp in (False, True))
CONTROL = "two layers"
NEAR = 0.02  # nats above unigrams that count as reaching them
MOST_OF_THE_WAY, LITTLE_OF_THE_WAY = 0.8, 0.5  # from unigrams to bigrams
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`recipe` is that of two layers; one layer has eight times the steps."""

    seeds: int
    recipe: Recipe
    fit_steps: int
    length: int = 100
    dim: int = 16
    sequences: int = 1024  # that probes look at; losses are on twice as many


QUICK = Settings(seeds=1, recipe=Recipe(steps=600, rate=3e-3, evaluations=20), fit_steps=600)
LAPTOP = Settings(seeds=3, recipe=Recipe(steps=5000, rate=3e-4, evaluations=100), fit_steps=6000)
PAPER = Settings(
    seeds=10,
    recipe=Recipe(steps=50_000, rate=3e-5, evaluations=200, schedule="constant"),
    fit_steps=20_000,
)


def name_of(position: str, mlp: bool) -> str:
    """How a variant is called."""
    return f"one layer, {position} positions{', hidden layer' if mlp else ''}"


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every variant of one layer, two layers as a control, and the best fit of each variant."""
    task = MarkovChains(2, settings.length)
    long = replace(settings.recipe, steps=TIMES_LONGER * settings.recipe.steps)
    points = [
        (
            {"model": name_of(position, mlp), "layers": 1},
            Experiment(
                task,
                AttentionOnly(1, 1, settings.dim, position=position, mlp=mlp, scale=0.5),
                long.training(),
            ),
        )
        for position, mlp in VARIANTS
    ]
    two = AttentionOnly(2, 1, settings.dim, scale=0.5)
    points.append(
        ({"model": CONTROL, "layers": 2}, Experiment(task, two, settings.recipe.training()))
    )
    fits = [
        (
            {"model": name_of(position, mlp)},
            BestSingleLayer(settings.length, position, mlp, steps=settings.fit_steps),
        )
        for position, mlp in VARIANTS
    ]
    probes = watching(sequences=settings.sequences)
    return {
        "runs": Sweep.of(points, seeds=settings.seeds, probes=probes),
        "best": Sweep.of(fits),
        "levels": Sweep.of([({}, Levels(task))]),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Curves, and where every network ends beside unigrams, bigrams and its class's best."""
    table = curves(runs["runs"])
    end = at_end(table, ["model", "seed"])
    gap = end["above_bigram"] - end["above_unigram"]
    best = runs["best"].table.set_index("model")["gain"]
    ends = pd.DataFrame(
        {
            "model": end["model"],
            "layers": end["layers"],
            "seed": end["seed"],
            "steps": end["step"],
            "gain": -end["above_unigram"],
            "error": end["above_unigram_error"],
            "gain_mean": -end["above_unigram_mean"],
            "way": -end["above_unigram"] / gap,
            "best": end["model"].map(best),
        }
    )
    return {"ends": ends, "shares": shares(table, ["model"], STRATEGIES), "curves": table}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes."""
    return {"states": 2, "length": settings.length, "seeds": settings.seeds}


def extreme(table: pd.DataFrame, sign: int) -> tuple[str, Interval]:
    """The run with the largest (or, with sign -1, least) gain over unigrams, and its interval.

    The interval is over test sequences, at a level for all runs at once (Bonferroni).
    """
    z = float(special.ndtri(1 - (1 - LEVEL) / (2 * len(table))))
    row = table.iloc[int(np.argmax(sign * table["gain"]))]
    gain, error = float(row["gain"]), float(row["error"])
    return str(row["model"]), Interval(gain, gain - z * error, gain + z * error)


def one_layer_stays_at_unigrams(tables: Tables) -> Claim:
    """Each variant gets to unigrams and goes little further; two layers go on to bigrams."""
    ends = tables["ends"]
    one, two = ends[ends["layers"] == 1], ends[ends["layers"] == 2]
    name, most = extreme(one, 1)
    _, least = extreme(one, -1)
    gap = float((one["gain"] / one["way"]).median())
    steps = int(one["steps"].max()), int(two["steps"].max())
    return Claim(
        text="One layer gets to unigrams and not much further, even if it is trained longer",
        source="thesis, Figure E.8",
        measured=(
            f"after {steps[0]:,} steps the loss is below the unigram strategy's by {least:.4f} "
            f"to {most:.4f} nats ({name}), at most {one['way'].max():.0%} of the way to bigrams; "
            f"two layers after {steps[1]:,} steps: {two['way'].min():.0%}"
        ),
        against=(
            f"a variant that stays more than {NEAR} nats above unigrams, or one whose interval "
            f"reaches {LITTLE_OF_THE_WAY:.0%} of the way to bigrams, or two layers that do not "
            f"do {MOST_OF_THE_WAY:.0%} of it with the same recipe"
        ),
        holds=bool(
            least.low > -NEAR
            and most.high < LITTLE_OF_THE_WAY * gap
            and two["way"].min() > MOST_OF_THE_WAY
        ),
        interval=most,
    )


def gain_is_that_of_the_class(tables: Tables) -> Claim:
    """No variant gains more over unigrams than the best fit of its class."""
    ends = tables["ends"]
    one = ends[ends["layers"] == 1]
    z = float(special.ndtri(1 - (1 - LEVEL) / (2 * len(one))))
    best = tables["best"].set_index("model")
    error = (best["high"] - best["low"]) / (2 * float(special.ndtri((1 + LEVEL) / 2)))
    spread = (z * (one["error"] ** 2 + one["model"].map(error) ** 2) ** 0.5).to_numpy(float)
    excess = (one["gain"] - one["best"]).to_numpy(float)
    i = int(np.argmax(excess - spread))
    interval = Interval(excess[i], excess[i] - spread[i], excess[i] + spread[i])
    return Claim(
        text="At the last position one layer gains no more than the best fit of its class",
        source="thesis, Figure E.8; studies.induction.single_layer",
        measured="; ".join(
            f"{row['model'].removeprefix('one layer, ')}: gains {row['gain']:.4f} of "
            f"{row['best']:.4f} nats"
            for _, row in one.iterrows()
        )
        + f"; most in excess: {interval:+.4f}",
        against=(
            "an interval of the gain in excess of the best fit that lies above zero: the fit "
            "would not be the best, or the network not of its class"
        ),
        holds=interval.low <= 0 and bool((one["gain"] > -NEAR).all()),
        interval=interval,
    )


STUDY = Study(
    name="one-layer-fails",
    title="One layer of attention does not find transitions",
    summary=(
        "Two layers of attention learn to predict a Markov chain by what followed the current "
        "symbol earlier. One layer cannot compare a symbol's predecessor with the current "
        "symbol, and stays close to predicting by frequencies, with relative or absolute "
        "positions, with a hidden layer or without. It gains a little by the current symbol and "
        "those just before it: how much is possible is found by fitting the best such layer "
        "directly."
    ),
    source="Thesis, Figure E.8",
    scales={
        "quick": Scale(QUICK, minutes=2),
        "laptop": Scale(LAPTOP, minutes=60),
        "paper": Scale(PAPER, minutes=1400),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(one_layer_stays_at_unigrams, gain_is_that_of_the_class),
    figures="elegans.studies.induction.figures:stages",
    charts="elegans.studies.induction.figures:stages_chart",
    shown=("ends",),
    formats={
        "gain": ".4f",
        "gain_mean": ".4f",
        "error": ".4f",
        "best": ".4f",
        "way": ".0%",
        "steps": ",",
        "shares": ".0%",
    },
    captions={
        "figure": (
            "A row per network. Left: its loss against examples seen, with the losses of the "
            "strategies. Right: how far its predictions are from each strategy's; the background "
            "shows the nearest."
        ),
        "chart": "The loss of every run; hovering shows its distance from each strategy.",
        "ends": (
            "At the end, in nats: the gain over the unigram strategy at the last position with "
            "its standard error, the same averaged over positions, the share of the way to "
            "bigrams, and the best gain of a single layer of this kind."
        ),
        "best": "The best single layer at the last position: gain over unigrams with its interval.",
        "shares": "Share of evaluations at which each strategy is the nearest.",
        "curves": "One row per evaluation: distance from each strategy, and losses, in nats.",
        "levels": "Losses of the strategies at the last position, in nats.",
        "runs": "One row per run.",
    },
)
