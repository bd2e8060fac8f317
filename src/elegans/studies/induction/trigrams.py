"""Trigrams: four phases with three heads, and no fourth with one (thesis, Figure 8.5)."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.studies.induction.runs import Recipe, excesses, levels, phases, shares, watched
from elegans.studies.unported import Claim, Result, Scale, Study
from elegans.tasks import NGrams

STRATEGIES = ("uniform", "unigram", "bigram", "trigram")


@dataclass(frozen=True)
class Settings:
    """Sequences of trigrams, and how networks are trained on them."""

    seeds: int
    recipe: Recipe
    length: int
    states: int = 2
    dim: int = 24
    heads: tuple[int, ...] = (3, 1)


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Trains two layers with each number of heads; options are those of `Sweep.run`."""
    task = NGrams(3, settings.states, settings.length)
    tables, ends = [], []
    for heads in settings.heads:
        model = AttentionOnly(2, heads, settings.dim, scale=0.5)
        experiment = Experiment(task, model, settings.recipe.training())
        runs, table = watched(experiment, range(settings.seeds), STRATEGIES, **options)
        name = f"{heads} head{'s' if heads > 1 else ''}"
        tables.append(table.assign(model=name, heads=heads))
        gaps = {s: [found.at_end for found in excesses(runs, s, 2048)] for s in STRATEGIES[2:]}
        seeds = [run.seed for run in runs]
        ends.append(pd.DataFrame({"model": name, "heads": heads, "seed": seeds, **gaps}))
    found, end = levels(task, STRATEGIES, 2048), pd.concat(ends, ignore_index=True)
    table = pd.concat(tables, ignore_index=True).assign(theory=found["loss"]["trigram"])
    return Result(
        study="trigrams",
        scale=scale,
        table=table,
        summary={"Share of evaluations nearest to each strategy": shares(table, STRATEGIES)},
        claims=check(table, end),
        data={"levels": found.reset_index(), "end": end},
        facts={"states": settings.states, "length": settings.length, "seeds": settings.seeds},
    )


def check(table: pd.DataFrame, end: pd.DataFrame) -> tuple[Claim, ...]:
    """Three heads pass through all phases, and one head does not beat bigrams."""
    many = table["heads"].max()
    found = phases(table[table["heads"] == many])
    right = sum(_in_order(phase) for phase in found.values())
    example = ", ".join(next(iter(found.values())))
    one = end[end["heads"] == 1]["bigram"]
    return (
        Claim(
            f"With {many} heads phases are unigram, bigram, trigram, in this order",
            "thesis, section 8.3.3 and Figure 8.5",
            f"{right} of {len(found)} seeds; seed 0: {example}",
            right >= 0.5 * len(found),
        ),
        Claim(
            "With one head the loss is never below the bigram strategy's",
            "thesis, section 8.3.3",
            f"bigram level {one.min():+.4f} to {one.max():+.4f} nats at the end",
            bool((one > -0.01).all()),
        ),
    )


def _in_order(phase: tuple[str, ...]) -> bool:
    """Whether the first visits of the three strategies are in their order, the last at the end."""
    names = STRATEGIES[1:]
    if any(name not in phase for name in names) or phase[-1] != names[-1]:
        return False
    first = [phase.index(name) for name in names]
    return first == sorted(first)


STUDY = Study(
    name="trigrams",
    reproduces="Thesis, Figure 8.5: in-context trigrams with three heads and with one",
    scales={
        "quick": Scale(Settings(2, Recipe(400, 1e-2, 40), 100), "2 minutes"),
        "laptop": Scale(Settings(3, Recipe(4000, 3e-3, 100), 200), "2 hours"),
        "paper": Scale(Settings(10, Recipe(20_000, 3e-2, 200, schedule="constant"), 200), "a day"),
    },
    measure=measure,
)
