"""Where attention goes: to the token before, then to successors (thesis, Figures 8.2 and E.5)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.probes import Attended, AttentionMasses
from elegans.studies.induction.runs import (
    Recipe,
    Watched,
    at_end,
    curves,
    runs_of,
)
from elegans.studies.unported import Claim, Result, Scale, Study
from elegans.tasks import MarkovChains

NEEDED = 0.8


@dataclass(frozen=True)
class Settings:
    """Chains, and how networks are trained on them."""

    seeds: int
    recipe: Recipe
    states: int = 3
    length: int = 100
    dim: int = 16
    shown: int = 24  # tokens of the heat maps


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Trains networks and looks at their attention on the way; options are those of `Sweep.run`."""
    task = MarkovChains(settings.states, settings.length)
    model = AttentionOnly(2, 1, settings.dim, scale=0.5)
    probes = {"masses": AttentionMasses(), "attended": Attended()}
    experiment = Experiment(task, model, settings.recipe.training())
    runs = runs_of(experiment, range(settings.seeds), probes, **options)
    table = curves(runs, "masses").assign(theory=1.0)
    end = at_end(table)
    summary = end.set_index("seed")[["previous", "successors"]]
    return Result(
        study="attention-patterns",
        scale=scale,
        table=table,
        summary={"Attention mass at the end, by seed": summary},
        claims=check(end),
        data={"heat": heat(runs[0], settings.shown)},
        facts={"states": settings.states, "length": settings.length, "seeds": settings.seeds},
    )


def heat(run: Watched, shown: int) -> pd.DataFrame:
    """Attention of both layers on the first tokens of one sequence, at four times."""
    seen = run.probes["attended.attention"][:, :, 0, :shown, :shown]
    tokens = run.probes["attended.tokens"][0, :shown]
    chosen = np.unique(np.linspace(0, len(seen) - 1, 4).astype(int))
    parts = []
    for i in chosen:
        for layer in range(seen.shape[1]):
            query, key = np.indices((shown, shown)).reshape(2, -1)
            parts.append(
                pd.DataFrame(
                    {
                        "step": int(run.history["step"].iloc[i]),
                        "layer": layer + 1,
                        "query": query,
                        "key": key,
                        "token": tokens[key],
                        "attention": seen[i, layer].ravel(),
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def check(end: pd.DataFrame) -> tuple[Claim, ...]:
    """Both layers attend as in the construction, on average over seeds."""
    texts = {
        "previous": "At the end the first layer attends to the previous token",
        "successors": "At the end the second layer attends to successors of earlier occurrences",
    }
    return tuple(
        Claim(
            f"{text} (mass above {NEEDED})",
            "thesis, section 8.3.1 and Figure 8.2",
            f"{end[name].mean():.3f} on average, {end[name].min():.3f} to {end[name].max():.3f}",
            bool(end[name].mean() > NEEDED),
        )
        for name, text in texts.items()
    )


STUDY = Study(
    name="attention-patterns",
    reproduces="Thesis, Figures 8.2 and E.5: what each layer attends to, in time",
    scales={
        "quick": Scale(Settings(3, Recipe(1200, 3e-3)), "1 minute"),
        "laptop": Scale(Settings(10, Recipe(8000, 1e-3, 100)), "30 minutes"),
        "paper": Scale(Settings(10, Recipe(50_000, 3e-5, 200, schedule="constant")), "3 hours"),
    },
    measure=measure,
)
