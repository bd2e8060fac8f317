r"""Unigrams slow learning down: chains without them are learned sooner (thesis, Figure 8.4a).

Networks are trained on doubly stochastic chains, whose token frequencies tell nothing, or on these
mixed with independent tokens, for which they tell everything. Both are tested on the full
distribution (rows from a flat Dirichlet law), and time is counted in doubly stochastic sequences
alone, so that the mixture's other sequences come for free.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from elegans.models import AttentionOnly
from elegans.studies.induction_runs import Recipe, curves, levels, runs_of
from elegans.studies.study import Claim, Result, Scale, Study
from elegans.sweeps.experiment import Experiment
from elegans.tasks import DoublyStochastic, MarkovChains, Mixture
from elegans.theory.markov import true_laws

STRATEGIES = ("uniform", "unigram", "bigram")


@dataclass(frozen=True)
class Elsewhere:
    """A probe: the loss at the last position on chains with Dirichlet rows."""

    model: Any
    sequences: int = 512

    def __call__(
        self, params: PyTree, initial: PyTree, task: Any, key: PRNGKeyArray
    ) -> dict[str, Float[Array, ""]]:
        full = MarkovChains(task.states, task.length)
        known = full.sample_with_truth(key, self.sequences)
        logits = jax.vmap(self.model.apply, in_axes=(None, 0))(params, known.x)[:, -1]
        truth = true_laws(known.x, known.transitions)[:, -1]
        return {"loss": -jnp.mean(jnp.sum(truth * jax.nn.log_softmax(logits), axis=-1))}


@dataclass(frozen=True)
class Settings:
    """Chains, and the share of doubly stochastic ones in the mixture."""

    seeds: int
    recipe: Recipe
    states: int
    length: int
    share: float = 0.5
    dim: int = 16


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Trains on both distributions from every seed; options are those of `Sweep.run`."""
    model = AttentionOnly(2, 1, settings.dim, scale=0.5)
    priors = {
        "doubly stochastic": (DoublyStochastic(), 1.0),
        "mixture": (Mixture((settings.share, 1 - settings.share)), settings.share),
    }
    tables = []
    for name, (prior, share) in priors.items():
        task = MarkovChains(settings.states, settings.length, prior)
        runs = runs_of(
            Experiment(task, model, settings.recipe.training()),
            range(settings.seeds),
            {"elsewhere": Elsewhere(model)},
            **options,
        )
        table = curves(runs, "elsewhere").assign(model=name)
        tables.append(table.assign(seen=share * table["examples"]))
    found = levels(MarkovChains(settings.states, settings.length), STRATEGIES)
    goal = (2 * found["loss"]["unigram"] + found["loss"]["bigram"]) / 3
    table = pd.concat(tables, ignore_index=True).assign(theory=found["loss"]["bigram"])
    times = reached(table, goal)
    steps = reached(table, goal, "step")
    return Result(
        study="unigrams-slow-learning",
        scale=scale,
        table=table,
        summary={"Share of seeds that reach the goal": times.notna().groupby("model").mean()
                 .to_frame("reached")},
        claims=check(times, steps, goal),
        data={"levels": found.reset_index(), "times": times.reset_index()},
        facts={"states": settings.states, "length": settings.length, "seeds": settings.seeds},
    )  # fmt: skip


def reached(table: pd.DataFrame, goal: float, clock: str = "seen") -> pd.Series:
    """Doubly stochastic sequences until the loss is below the goal; NaN if it never is."""
    below = table[table["loss"] <= goal].groupby(["model", "seed"])[clock].min()
    every = pd.MultiIndex.from_frame(table[["model", "seed"]].drop_duplicates())
    return below.reindex(every)


def check(times: pd.Series, steps: pd.Series, goal: float) -> tuple[Claim, ...]:
    """Medians over seeds; a run that does not arrive counts as later than any."""
    source = "thesis, section 8.3.1 and Figure 8.4a"
    clocks = {
        "fewer doubly stochastic sequences": times,
        "fewer steps of as many sequences each": steps,
    }
    claims = []
    for text, clock in clocks.items():
        late = clock.fillna(np.inf).groupby("model").median()
        alone, mixed = late["doubly stochastic"], late["mixture"]
        measured = (
            f"median until the loss is {goal:.3f}, a third of the way from unigrams to bigrams on "
            f"the full distribution: {alone:,.0f} alone, {mixed:,.0f} in the mixture"
        )
        claims.append(
            Claim(f"Without unigrams bigrams are learned in {text}", source, measured,
                  bool(alone < mixed))
        )  # fmt: skip
    return tuple(claims)


STUDY = Study(
    name="unigrams-slow-learning",
    reproduces="Thesis, Figure 8.4a: doubly stochastic chains alone and mixed with unigrams",
    scales={
        "quick": Scale(Settings(10, Recipe(450, 3e-3, schedule="constant"), 3, 50), "2 minutes"),
        "laptop": Scale(
            Settings(10, Recipe(6000, 1e-3, 100, schedule="constant"), 4, 100), "2 hours"
        ),
        "paper": Scale(
            Settings(10, Recipe(50_000, 3e-5, 200, schedule="constant"), 4, 100), "a day"
        ),
    },
    measure=measure,
)
