"""One layer is not enough: single-layer transformers stay at unigrams (thesis, Figure E.8)."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.models import AttentionOnly
from elegans.studies.induction_runs import Recipe, excesses, levels, shares, watched
from elegans.studies.study import Claim, Result, Scale, Study
from elegans.sweeps.experiment import Experiment
from elegans.tasks import MarkovChains

STRATEGIES = ("uniform", "unigram", "bigram")


@dataclass(frozen=True)
class Settings:
    """The recipe has 8 times the steps in which two layers learn."""

    seeds: int
    recipe: Recipe
    variants: tuple[tuple[str, bool], ...] = (("relative", False),)
    length: int = 100
    dim: int = 16


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Trains every variant of position and hidden layer; options are those of `Sweep.run`."""
    task = MarkovChains(2, settings.length)
    tables, ends = [], []
    for position, mlp in settings.variants:
        name = f"{position}{', hidden layer' if mlp else ''}"
        model = AttentionOnly(1, 1, settings.dim, position=position, mlp=mlp, scale=0.5)
        experiment = Experiment(task, model, settings.recipe.training())
        runs, table = watched(experiment, range(settings.seeds), STRATEGIES, **options)
        tables.append(table.assign(model=name))
        above = pd.DataFrame(excesses(runs, "unigram"))
        ends.append(above.assign(model=name, seed=[run.seed for run in runs]))
    found = levels(task, STRATEGIES)
    end = pd.concat(ends, ignore_index=True)
    table = pd.concat(tables, ignore_index=True).assign(theory=found["loss"]["unigram"])
    return Result(
        study="one-layer-fails",
        scale=scale,
        table=table,
        summary={"Share of evaluations nearest to each strategy": shares(table, STRATEGIES)},
        claims=check(end, settings.recipe.steps),
        data={"levels": found.reset_index(), "end": end},
        facts={"states": 2, "length": settings.length, "seeds": settings.seeds},
    )


def check(end: pd.DataFrame, steps: int) -> tuple[Claim, ...]:
    """No variant beats unigrams, over all positions (the training loss) and at the last one."""
    places = {"mean": "averaged over positions", "at_end": "at the last position"}
    return tuple(
        Claim(
            f"One layer stays above the unigram level minus 0.01, {where} ({name})",
            "thesis, Figure E.8",
            f"after {steps:,} steps, 8 times those of two layers: unigram level "
            f"{part[place].min():+.4f} to {part[place].max():+.4f} nats",
            bool((part[place] > -0.01).all()),
        )
        for name, part in end.groupby("model", sort=False)
        for place, where in places.items()
    )


EVERY = tuple((position, mlp) for position in ("relative", "absolute") for mlp in (False, True))
STUDY = Study(
    name="one-layer-fails",
    reproduces="Thesis, Figure E.8: a single layer does not get beyond unigrams",
    scales={
        "quick": Scale(Settings(3, Recipe(4800, 3e-3)), "1 minute"),
        "laptop": Scale(Settings(3, Recipe(40_000, 3e-4, 100), EVERY), "1 hour"),
        "paper": Scale(
            Settings(10, Recipe(400_000, 3e-5, 200, schedule="constant"), EVERY), "a day"
        ),
    },
    measure=measure,
)
