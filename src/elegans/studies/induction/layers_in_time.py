r"""Which layer is first, and what it is to the other (thesis, section 8.3.2, Figure 8.4b).

The minimal model has a second layer, the matrix $W$, and a first, the vector $v$. "The 2nd layer is
learnt first": $W$ turns towards the identity before $v$ turns to $v_2$, the token before.
"Alignment of layers is crucial": with $W$ held at $11^\top$, which compares nothing, $v_2$ never
leads; with $W$ held at $I$ it leads at once. "Passing by unigrams": if $W$ learns slowly it stays
close to where it starts, at $11^\top$, and the model is drawn to unigrams.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MinimalInduction
from elegans.probes import parameters
from elegans.report.result import Claim, Tables
from elegans.runs import Run, Runs
from elegans.statistics import Interval, bootstrap, paired
from elegans.studies.induction.minimal import Aligned
from elegans.studies.induction.phases import (
    MOST,
    STRATEGIES,
    Recipe,
    at_end,
    counted,
    curves,
    share_of_seeds,
    shares,
    watching,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import MarkovChains
from elegans.training.recipe import Group

USUAL, AT_ONES, AT_IDENTITY = "usual", "W held at ones", "W held at identity"
HALF = 0.5
SOON = 0.1  # of the usual time


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the minimal model is trained, and by how much slower its second layer learns."""

    seeds: int
    recipe: Recipe
    ratios: tuple[float, ...] = (1.0, 0.3, 0.1)
    start: float = 0.01  # of all entries of W and of v
    length: int = 100


SGD = Recipe(steps=1500, rate=2e-3, evaluations=100, optimizer="sgd", schedule="constant")
QUICK = Settings(seeds=10, recipe=SGD)
LAPTOP = Settings(seeds=10, recipe=replace(SGD, steps=10_000, evaluations=200))
PAPER = Settings(seeds=30, recipe=replace(SGD, steps=30_000, evaluations=300))


def runs(settings: Settings) -> dict[str, Sweep]:
    """The minimal model as usual, with its second layer held, and with it slowed down."""
    task = MarkovChains(2, settings.length)
    start, rate = settings.start, settings.recipe.rate

    def experiment(init: Aligned, ratio: float) -> Experiment:
        groups = (Group("weight", learning_rate=ratio * rate),)
        return Experiment(
            task, MinimalInduction(init=init), settings.recipe.training(groups=groups)
        )

    ones = Aligned(start, start, start)
    points: list[tuple[dict[str, Any], Experiment]] = [
        (
            {"arm": USUAL if ratio == 1 else f"W {ratio:g} times as fast", "ratio": ratio},
            experiment(ones, ratio),
        )
        for ratio in settings.ratios
    ]
    points += [
        ({"arm": AT_ONES, "ratio": 0.0}, experiment(Aligned(1.0, 1.0, start), 0.0)),
        ({"arm": AT_IDENTITY, "ratio": 0.0}, experiment(Aligned(1.0, 0.0, start), 0.0)),
    ]
    probes = watching(sequences=128, parameters=parameters)
    return {"runs": Sweep.of(points, seeds=settings.seeds, probes=probes)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Both layers in time, when each is learned, and how much of training is at unigrams."""
    layers = runs["runs"].rows(layers_of)
    table = curves(runs["runs"])
    times = layers.groupby(["arm", "ratio", "seed"], sort=False)[list(layers)].apply(times_of)
    return {
        "shares": shares(table, ["arm", "ratio"], STRATEGIES),
        "shares_by_seed": shares(table, ["arm", "ratio", "seed"], STRATEGIES),
        "times": times.reset_index(),
        "layers": layers,
        "curves": table,
    }


def layers_of(run: Run) -> pd.DataFrame:
    """One row per evaluation: W, the first entries of v, alignment, and the lead of v_2.

    The alignment of W is $(d - o)/(|d| + |o|)$ for the means $d$ on its diagonal and $o$ off it: 0
    at ones, 1 at the identity. The lead is $v_2$ minus the largest other entry, in units of
    $|v_2|$ plus its absolute value.
    """
    weight, position = run.probes["parameters.weight"], run.probes["parameters.position"]
    diagonal = (weight[:, 0, 0] + weight[:, 1, 1]) / 2
    rest = (weight[:, 0, 1] + weight[:, 1, 0]) / 2
    second, other = position[:, 1], np.delete(position, 1, axis=1).max(axis=1)
    return pd.DataFrame(
        {
            "step": run.probes["step"],
            **{f"w_{i + 1}{j + 1}": weight[:, i, j] for i, j in np.ndindex(2, 2)},
            **{f"v_{j + 1}": position[:, j] for j in range(min(8, position.shape[1]))},
            "alignment": (diagonal - rest) / (np.abs(diagonal) + np.abs(rest)),
            "lead": (second - other) / (np.abs(second) + np.abs(other)),
        }
    )


def times_of(part: pd.DataFrame) -> pd.Series:
    """When each layer has gone half of its way, when v_2 leads, and whether it ever does."""
    ordered = part.sort_values("step")

    def first(hits: pd.Series) -> float:
        return float(ordered["step"][hits].min()) if hits.any() else np.inf

    def halfway(name: str) -> float:
        start, end = ordered[name].iloc[0], ordered[name].iloc[-1]
        return first(ordered[name] - start >= HALF * (end - start)) if end > start else np.inf

    return pd.Series(
        {
            "second_layer": halfway("alignment"),
            "first_layer": halfway("lead"),
            "leads": first(ordered["lead"] > 0),
            "ever_leads": bool((ordered["lead"] > 0).any()),
            "leads_at_end": bool(ordered["lead"].iloc[-1] > 0),
        }
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes."""
    return {"length": settings.length, "seeds": settings.seeds, "states": 2}


def arm(tables: Tables, table: str, name: str) -> pd.DataFrame:
    """The rows of one arm, by seed."""
    rows = tables[table]
    return rows[rows["arm"] == name].set_index("seed")


def second_layer_is_first(tables: Tables) -> Claim:
    """W has gone half of its way before v_2's lead has, and the model has learned both."""
    times = arm(tables, "times", USUAL)
    learned = times["leads_at_end"].astype(bool) & np.isfinite(times["second_layer"].astype(float))
    hits = (times["second_layer"] < times["first_layer"]) & learned
    interval = share_of_seeds(hits)
    return Claim(
        text="The second layer is learned first",
        source="thesis, section 8.3.2",
        measured=(
            f"W is half aligned before v_2 has half of its final lead in {counted(hits)} "
            f"({interval:.0%}): after {times['second_layer'].median():,.0f} and "
            f"{times['first_layer'].median():,.0f} steps in the median"
        ),
        against="an interval of the share of seeds that reaches down to one half",
        holds=interval.low > MOST,
        interval=interval,
    )


def weight_becomes_diagonal(tables: Tables) -> Claim:
    """At the end W is close to diagonal."""
    end = at_end(arm(tables, "layers", USUAL).reset_index())
    interval = bootstrap(end["alignment"].to_numpy(float))
    return Claim(
        text="The second layer learns to be close to diagonal",
        source="thesis, Figure 8.4b, left",
        measured=f"alignment at the end {interval:.2f}; 0 is all ones, 1 is diagonal",
        against="an interval that reaches below 0.5",
        holds=interval.low > HALF,
        interval=interval,
    )


def alignment_is_crucial(tables: Tables) -> Claim:
    """Held at ones W keeps v_2 from leading; held at the identity it lets it lead at once."""
    ones, identity, usual = (arm(tables, "times", name) for name in (AT_ONES, AT_IDENTITY, USUAL))
    ever = share_of_seeds(ones["ever_leads"].astype(bool))
    ratios = identity["first_layer"].astype(float) / usual["first_layer"].astype(float)
    ratios = ratios.fillna(np.inf)  # neither leads: nothing is gained
    interval = bootstrap(ratios.to_numpy(float))
    control = usual["leads_at_end"].astype(bool)
    return Claim(
        text="Alignment of the layers is crucial: v follows W",
        source="thesis, section 8.3.2",
        measured=(
            f"with W held at ones v_2 ever leads in {counted(ones['ever_leads'].astype(bool))}; "
            f"held at the identity it has half of its final lead after {interval:.2f} times as "
            f"many steps as usual; as usual it leads at the end in {counted(control)}"
        ),
        against=(
            "an interval of the share of seeds that lead at ones that reaches one half, one of "
            f"the ratio that reaches {SOON}, or usual runs that do not lead at the end"
        ),
        holds=ever.high < MOST and interval.high < SOON and share_of_seeds(control).low > MOST,
        interval=interval,
    )


def slow_weights_pass_by_unigrams(tables: Tables) -> Claim:
    """The slower W learns, the more of training is spent nearest to unigrams.

    Of the evaluations at which the model is no longer nearest to uniform: a slow model leaves that
    later, too.
    """
    table = tables["shares_by_seed"]
    table = table[table["ratio"] > 0]
    share = (table["unigram"] / (table["unigram"] + table["bigram"])).fillna(0.0)
    by_seed = table.assign(share=share).set_index(["ratio", "seed"])["share"].unstack("ratio")
    ratios = sorted(by_seed.columns, reverse=True)
    steps = [
        paired(by_seed[fast], by_seed[slow], np.mean).difference
        for fast, slow in itertools.pairwise(ratios)
    ]
    worst: Interval = min(steps, key=lambda each: each.low)
    return Claim(
        text="A second layer that learns slowly makes the model pass by unigrams",
        source="thesis, section 8.3.2",
        measured="once past uniform, share of evaluations nearest to unigrams: "
        + ", ".join(f"{by_seed[r].mean():.0%} at {r:g} times the rate" for r in ratios)
        + f"; least growth from one to the next {worst:+.0%}",
        against="an interval of the growth that reaches down to zero",
        holds=worst.low > 0,
        interval=worst,
    )


STUDY = Study(
    name="layers-in-time",
    title="The second layer is learned first, and the first follows it",
    summary=(
        "In the minimal model of an induction head one layer says where to look (v) and one what "
        "to compare (W). Both are needed, and neither is of use without the other; so which is "
        "learned first? Here both are watched while they train; W is held at a useless or at the "
        "right value, to see what v does then; and W is slowed down, to see whether the model "
        "then dwells on symbol frequencies, a solution that needs no comparison."
    ),
    source="Thesis, section 8.3.2 and Figure 8.4b",
    scales={
        "quick": Scale(QUICK, minutes=2),
        "laptop": Scale(LAPTOP, minutes=15),
        "paper": Scale(PAPER, minutes=120),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        second_layer_is_first,
        weight_becomes_diagonal,
        alignment_is_crucial,
        slow_weights_pass_by_unigrams,
    ),
    figures="elegans.studies.induction.figures:layers",
    charts="elegans.studies.induction.figures:layers_chart",
    shown=("shares",),
    formats={
        "shares": ".0%",
        "shares_by_seed": ".0%",
        "ratio": "g",
        "second_layer": ",.0f",
        "first_layer": ",.0f",
        "leads": ",.0f",
    },
    captions={
        "figure": (
            "Top: W of seed 0 at four times of training (Figure 8.4b, left). Bottom left: how "
            "far W is aligned with the identity and v_2 ahead of the other positions, every seed. "
            "Middle: the lead of v_2 with W as usual and held. Right: the strategy that is nearest "
            "at each evaluation, when W learns more slowly."
        ),
        "chart": "Alignment of W and the lead of v_2 in time, a line per run.",
        "shares": "Share of evaluations at which each strategy is the nearest.",
        "shares_by_seed": "The same by run.",
        "times": "Steps until each layer has gone half of its way, and until v_2 leads.",
        "layers": "One row per evaluation: W, the first entries of v, alignment and lead.",
        "curves": "One row per evaluation: distance from each strategy, and losses, in nats.",
        "runs": "One row per run.",
    },
)
