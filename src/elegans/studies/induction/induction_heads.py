r"""Phases of learning: uniform, then unigrams, then bigrams (thesis, Figures 8.1, 8.3 and E.3).

Two-layer attention-only transformers and the minimal model learn in-context Markov chains of two
states. At each evaluation the model's predictions at the last position are compared with each
strategy's by $\mathrm{KL}(\text{model} \,\|\, \text{strategy})$; a phase is a stretch of training
with one nearest strategy.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly, MinimalInduction
from elegans.studies.induction.runs import Recipe, at_end, excesses, levels, phases, shares, watched
from elegans.studies.unported import Claim, Result, Scale, Study
from elegans.tasks import MarkovChains

STRATEGIES = ("uniform", "unigram", "bigram")


@dataclass(frozen=True)
class Settings:
    """Chains, and how both models are trained on them."""

    seeds: int
    transformer: Recipe
    minimal: Recipe
    states: int = 2
    length: int = 100
    dim: int = 16


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Trains both models from every seed; options are those of `Sweep.run`."""
    task = MarkovChains(settings.states, settings.length)
    models = {
        "transformer": (AttentionOnly(2, 1, settings.dim, scale=0.5), settings.transformer),
        "minimal": (MinimalInduction(weight=0.0, position=0.01), settings.minimal),
    }
    tables, ends = [], []
    for name, (model, recipe) in models.items():
        experiment = Experiment(task, model, recipe.training())
        runs, table = watched(experiment, range(settings.seeds), STRATEGIES, **options)
        tables.append(table.assign(model=name))
        gaps = [found.at_end for found in excesses(runs, "bigram")]
        ends.append(at_end(table).assign(model=name, excess=gaps))
    found = levels(task, STRATEGIES)
    table = pd.concat(tables, ignore_index=True).assign(theory=found["loss"]["bigram"])
    end = pd.concat(ends, ignore_index=True)
    return Result(
        study="induction-heads",
        scale=scale,
        table=table,
        summary={"Share of evaluations nearest to each strategy": shares(table, STRATEGIES)},
        claims=check(table, end, settings.seeds),
        data={"levels": found.reset_index(), "end": end},
        facts={"states": settings.states, "length": settings.length, "seeds": settings.seeds},
    )


def check(table: pd.DataFrame, end: pd.DataFrame, seeds: int) -> tuple[Claim, ...]:
    """The order of the phases, and where training ends."""
    found = phases(table[table["model"] == "transformer"])
    ordered = sum(phase == STRATEGIES for phase in found.values())
    final = end[end["model"] == "transformer"]["excess"]
    minimal = end[end["model"] == "minimal"]
    near = int((minimal["nearest"] == "bigram").sum())
    return (
        Claim(
            "The nearest strategy goes uniform, unigram, bigram (two-layer transformer)",
            "thesis, section 8.3.1 and Figure 8.1",
            f"{ordered} of {seeds} seeds in exactly this order; needed 9 of 10",
            ordered >= 0.9 * seeds,
        ),
        Claim(
            "The final loss is within 0.01 nats of the bigram posterior's, at the last position",
            "thesis, section 8.3.1 and Figure 8.3",
            f"above it by {final.median():.4f} in the median, {final.min():.4f} to "
            f"{final.max():.4f}",
            bool(final.median() <= 0.01),
        ),
        Claim(
            "The minimal model too ends nearest to bigrams",
            "thesis, section 8.3.2 and Figure 8.3",
            f"{near} of {seeds} seeds; loss above the bigram posterior's by "
            f"{minimal['excess'].median():.3f} nats in the median",
            near >= 0.9 * seeds,
        ),
    )


STUDY = Study(
    name="induction-heads",
    reproduces="Thesis, Figures 8.1, 8.3 and E.3: phases of in-context learning of Markov chains",
    scales={
        "quick": Scale(
            Settings(
                10,
                Recipe(600, 3e-3),
                Recipe(1500, 2e-3, optimizer="sgd", schedule="constant"),
            ),
            "2 minutes",
        ),
        "laptop": Scale(
            Settings(
                10, Recipe(5000, 3e-4, 100), Recipe(10_000, 2e-3, 100, "sgd", schedule="constant")
            ),
            "15 minutes",
        ),
        "paper": Scale(
            Settings(
                10,
                Recipe(50_000, 3e-5, 200, schedule="constant"),
                Recipe(10_000, 2e-3, 200, "sgd", schedule="constant"),
            ),
            "2 hours",
        ),
    },
    measure=measure,
)
