"""More states: the same phases with more symbols and longer sequences (thesis, Figure E.4)."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.studies.induction.runs import Recipe, excesses, levels, phases, shares, watched
from elegans.studies.unported import Claim, Result, Scale, Study
from elegans.tasks import MarkovChains

STRATEGIES = ("uniform", "unigram", "bigram")


@dataclass(frozen=True)
class Settings:
    """Numbers of states, and how long their sequences are."""

    seeds: int
    recipe: Recipe
    states: tuple[int, ...]
    length: int
    dim: int = 16


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Trains two layers for each number of states; options are those of `Sweep.run`."""
    tables, found, claims = [], [], []
    for states in settings.states:
        task = MarkovChains(states, settings.length)
        model = AttentionOnly(2, 1, settings.dim, scale=0.5)
        experiment = Experiment(task, model, settings.recipe.training())
        runs, table = watched(experiment, range(settings.seeds), STRATEGIES, **options)
        level = levels(task, STRATEGIES, 2048)
        gaps = pd.Series([found.at_end for found in excesses(runs, "bigram", 2048)])
        claims.append(check(states, table, gaps, level))
        name = f"{states} states"
        tables.append(table.assign(model=name, states=states, theory=level["loss"]["bigram"]))
        found.append(level.reset_index().assign(model=name))
    table = pd.concat(tables, ignore_index=True)
    return Result(
        study="more-states",
        scale=scale,
        table=table,
        summary={"Share of evaluations nearest to each strategy": shares(table, STRATEGIES)},
        claims=tuple(claims),
        data={"levels": pd.concat(found, ignore_index=True)},
        facts={"length": settings.length, "seeds": settings.seeds},
    )


def check(states: int, table: pd.DataFrame, gaps: pd.Series, level: pd.DataFrame) -> Claim:
    """Training ends at bigrams, having left the uniform strategy by way of unigrams."""
    found = phases(table)
    right = sum(phase[-1] == "bigram" and "unigram" in phase for phase in found.values())
    way = level["loss"]["unigram"] - level["loss"]["bigram"]
    return Claim(
        f"Results extend to {states} states: by way of unigrams to bigrams",
        "thesis, Figure E.4",
        f"{right} of {len(found)} seeds; at the end {gaps.median():.3f} nats above bigrams, which "
        f"are {way:.3f} below unigrams",
        right >= 0.9 * len(found) and bool(gaps.median() < way / 2),
    )


STUDY = Study(
    name="more-states",
    reproduces="Thesis, Figure E.4: phases with more than two states",
    scales={
        "quick": Scale(Settings(2, Recipe(1000, 5e-3), (4,), 100), "1 minute"),
        "laptop": Scale(Settings(3, Recipe(6000, 1e-3, 100), (3, 5, 8), 200), "1 hour"),
        "paper": Scale(
            Settings(10, Recipe(100_000, 3e-5, 200, schedule="constant"), (3, 5, 8), 200),
            "2 days",
        ),
    },
    measure=measure,
)
