"""One layer is not enough: single-layer transformers stay at unigrams (thesis, Figure E.8).

Not exactly at them: the current token, which the unigram strategy leaves out, is worth something to
who knows the frequencies, and `theory.frequencies` says how much. At the last position, where the
document measures, that is the bar.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.studies.induction.runs import Recipe, excesses, levels, shares, watched
from elegans.studies.unported import Claim, Result, Scale, Study
from elegans.tasks import MarkovChains
from elegans.theory.markov.frequencies import frequency_losses

STRATEGIES = ("uniform", "unigram", "bigram")
NEEDED = 0.01  # nats


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
        claims=check(end, settings.recipe.steps, settings.length),
        data={"levels": found.reset_index(), "end": end},
        facts={"states": 2, "length": settings.length, "seeds": settings.seeds},
    )


def check(end: pd.DataFrame, steps: int, length: int) -> tuple[Claim, ...]:
    """No variant beats unigrams in the loss that it minimises, nor its theory at the last token."""
    floor = frequency_losses(length).gain
    claims = []
    for name, part in end.groupby("model", sort=False):
        after = f"after {steps:,} steps, 8 times those of two layers: unigram level"
        spread = {place: f"{part[place].min():+.4f} to {part[place].max():+.4f} nats"
                  for place in ("mean", "at_end")}  # fmt: skip
        claims += [
            Claim(
                f"One layer stays above the unigram level minus {NEEDED}, in the loss that it "
                f"minimises, averaged over positions ({name})",
                "thesis, equation 8.6 and Figure E.8",
                f"{after} {spread['mean']}",
                bool((part["mean"] > -NEEDED).all()),
            ),
            Claim(
                "At the last position it gains no more than the current token is worth beside "
                f"frequencies ({name})",
                "thesis, Figure E.8; theory.frequencies",
                f"{after} {spread['at_end']}; exactly {-floor:+.4f} for the best use of both",
                bool((part["at_end"] > -floor).all()),
            ),
        ]
    return tuple(claims)


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
