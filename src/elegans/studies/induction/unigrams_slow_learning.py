r"""Unigrams slow learning down: chains without them are learned sooner (thesis, Figure 8.4a).

Networks are trained on doubly stochastic chains, whose token frequencies tell nothing, alone or
mixed with independent tokens, for which they tell everything. All are tested on the full
distribution (rows from a flat Dirichlet law), and time is counted in doubly stochastic sequences
alone. The document does not say how it mixes, so both ways are measured: unigram sequences are
*added* to batches of as many doubly stochastic ones as before ("additional samples for free"), or
take the place of half of them in batches of one size, and then each doubly stochastic sequence
comes with twice as many steps.

Networks that have seen doubly stochastic chains alone stay above the bigram level on the full
distribution, where some states are rare, so the goal is a third of the way from unigrams to it.
"""

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly
from elegans.studies.induction.runs import Recipe, curves, levels, runs_of
from elegans.studies.unported import Claim, Result, Scale, Study
from elegans.tasks import DoublyStochastic, MarkovChains, Mixture
from elegans.tasks.markov.priors import Prior
from elegans.theory.markov import true_laws

STRATEGIES = ("uniform", "unigram", "bigram")
ALONE, ADDED, INSTEAD = "alone", "with unigrams added", "with unigrams instead"


@dataclass(frozen=True)
class Elsewhere:
    """A probe: KL(truth || model) at the last position on chains with Dirichlet rows."""

    model: Any
    sequences: int = 512

    def __call__(
        self, params: PyTree, initial: PyTree, task: Any, key: PRNGKeyArray
    ) -> dict[str, Float[Array, ""]]:
        full = MarkovChains(task.states, task.length)
        known = full.sample_with_truth(key, self.sequences)
        logits = jax.vmap(self.model.apply, in_axes=(None, 0))(params, known.x)[:, -1]
        truth = true_laws(known.x, known.transitions)[:, -1]
        excess = jax.scipy.special.xlogy(truth, truth) - truth * jax.nn.log_softmax(logits)
        return {"divergence": jnp.mean(jnp.sum(excess, axis=-1))}


@dataclass(frozen=True)
class Settings:
    """Chains, and the share of doubly stochastic ones in the mixture."""

    seeds: int
    recipe: Recipe
    states: int
    length: int
    share: float = 0.5
    dim: int = 16

    def ways(self) -> dict[str, tuple[Prior, Recipe, float]]:
        """What to train on and how, and the share of doubly stochastic sequences in it."""
        mixture = Mixture((self.share, 1 - self.share))
        larger = replace(self.recipe, batch=round(self.recipe.batch / self.share))
        return {
            ALONE: (DoublyStochastic(), self.recipe, 1.0),
            ADDED: (mixture, larger, self.share),
            INSTEAD: (mixture, self.recipe, self.share),
        }


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Trains on all distributions from every seed; options are those of `Sweep.run`."""
    model = AttentionOnly(2, 1, settings.dim, scale=0.5)
    tables = []
    for name, (prior, recipe, share) in settings.ways().items():
        task = MarkovChains(settings.states, settings.length, prior)
        experiment = Experiment(task, model, recipe.training())
        probes = {"elsewhere": Elsewhere(model)}
        runs = runs_of(experiment, range(settings.seeds), probes, **options)
        table = curves(runs, "elsewhere").assign(model=name)
        tables.append(table.assign(seen=share * table["examples"]))
    found = levels(MarkovChains(settings.states, settings.length), STRATEGIES)
    level = found["divergence"]
    goal = (2 * level["unigram"] + level["bigram"]) / 3
    table = pd.concat(tables, ignore_index=True).assign(theory=level["bigram"])
    times = arrivals(table, goal)
    return Result(
        study="unigrams-slow-learning",
        scale=scale,
        table=table,
        summary={"Share of seeds that get a third of the way from unigrams to bigrams": (
            times["seen"].notna().groupby("model", sort=False).mean().to_frame("arrived"))},
        claims=check(times, goal),
        data={"levels": found.reset_index(), "times": times.reset_index()},
        facts={"states": settings.states, "length": settings.length, "seeds": settings.seeds,
               "goal": goal},
    )  # fmt: skip


def arrivals(table: pd.DataFrame, goal: float) -> pd.DataFrame:
    """Doubly stochastic sequences, and steps, until the divergence is at the goal; or NaN."""
    clocks = ["seen", "step"]
    below = table[table["divergence"] <= goal].groupby(["model", "seed"])[clocks].min()
    return below.reindex(pd.MultiIndex.from_frame(table[["model", "seed"]].drop_duplicates()))


def check(times: pd.DataFrame, goal: float) -> tuple[Claim, ...]:
    """Medians over seeds; a run that does not arrive counts as later than any."""
    late = times.fillna(np.inf).groupby("model").median()
    texts = {
        ADDED: "fewer doubly stochastic sequences than with unigram ones added for free",
        INSTEAD: "fewer doubly stochastic sequences than with unigram ones in place of some",
    }
    alone = late.loc[ALONE]
    until = f"median until KL(truth || model) is {goal:.3f}, a third of the way to bigrams"
    return tuple(
        Claim(
            f"Without unigrams it takes {text}",
            "thesis, section 8.3.2 and Figure 8.4a",
            f"{until}: {alone['seen']:,.0f} sequences ({alone['step']:,.0f} steps) alone, "
            f"{late['seen'][name]:,.0f} ({late['step'][name]:,.0f} steps) {name}",
            bool(alone["seen"] < late["seen"][name]),
        )
        for name, text in texts.items()
    )


STUDY = Study(
    name="unigrams-slow-learning",
    reproduces="Thesis, Figure 8.4a: doubly stochastic chains alone and mixed with unigrams",
    scales={
        "quick": Scale(
            Settings(10, Recipe(420, 3e-3, 28, schedule="constant"), 3, 50), "2 minutes"
        ),
        "laptop": Scale(
            Settings(10, Recipe(6000, 1e-3, 100, schedule="constant"), 4, 100), "2 hours"
        ),
        "paper": Scale(
            Settings(10, Recipe(50_000, 3e-5, 200, schedule="constant"), 4, 100), "a day"
        ),
    },
    measure=measure,
)
