r"""What the studies of induction heads share: recipe, levels of strategies, curves, and phases.

At an evaluation a network is *nearest* to the strategy with the least
$\mathrm{KL}(\text{model} \,\|\, \text{strategy})$ at the last position, on sequences that are the
same at every evaluation of a run. A *phase* is a stretch of training with one nearest strategy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax.random as jr
import numpy as np
import pandas as pd

from elegans.fields import configuration
from elegans.probes import Divergences
from elegans.runs import Run, Runs
from elegans.statistics import Interval, wilson
from elegans.studies.induction.probes import OWN, Losses
from elegans.theory.markov import expected_loss
from elegans.training.recipe import Training

STRATEGIES = ("uniform", "unigram", "bigram")
# PyTorch's default, which the documents, who train with it, leave unsaid.
ADAMW_DECAY = 0.01
MOST = 0.5  # the share of seeds that the lower limit of an interval must exceed


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How the networks of these studies are trained: online, batches of 64, cross-entropy."""

    steps: int
    rate: float
    evaluations: int = 25
    optimizer: str = "adamw"
    batch: int = 64
    schedule: str = "cosine"

    def training(self, **changes: Any) -> Training:
        """The engine's recipe, with other values for some of its fields."""
        fields = {
            "loss": "cross-entropy",
            "optimizer": self.optimizer,
            "weight_decay": ADAMW_DECAY if self.optimizer == "adamw" else 0.0,
            "schedule": self.schedule,
            "learning_rate": self.rate,
            "batch": self.batch,
            "steps": self.steps,
            "evaluate_every": max(1, self.steps // self.evaluations),
            "test_samples": 250,
        }
        return Training(**{**fields, **changes})


@configuration
class Levels:
    """A computation: the expected losses of strategies on a task, at the last position."""

    task: Any
    strategies: tuple[str, ...] = STRATEGIES
    sequences: int = 4096

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per strategy: KL from the truth and loss, with their 95% intervals."""
        rows = []
        for name in self.strategies:
            levels = expected_loss(name, self.task, jr.key(seed), self.sequences)
            divergence, loss = levels.divergence_at_end, levels.loss_at_end
            rows.append(
                {
                    "strategy": name,
                    "divergence": divergence.value,
                    "divergence_low": divergence.low,
                    "divergence_high": divergence.high,
                    "loss": loss.value,
                }
            )
        return pd.DataFrame(rows)


def watching(
    strategies: tuple[str, ...] = STRATEGIES, sequences: int = 256, **more: Any
) -> dict[str, Any]:
    """The probes of a run whose phases are wanted, and its losses beside the strategies'."""
    return {
        "divergences": Divergences(strategies, sequences),
        "losses": Losses(strategies=strategies, sequences=2 * sequences),
        **more,
    }


def curves(runs: Runs, strategies: Sequence[str] = STRATEGIES) -> pd.DataFrame:
    """One row per evaluation: KL from each strategy, the nearest, and losses beside theirs.

    `loss` is the network's KL from the truth at the last position, `above_<strategy>` how far that
    is above the strategy's on the same sequences ("_error" is its standard error), and
    `above_<strategy>_mean` the same averaged over positions.
    """

    def of(run: Run) -> pd.DataFrame:
        probes, batch = run.probes, run.experiment.training.batch
        distances = {name: probes[f"divergences.{name}_at_end"] for name in strategies}
        losses = {"loss": probes[f"losses.{OWN}.model"]}
        losses |= {
            f"above_{name}_error": probes[f"losses.{OWN}.{name}_error"] for name in strategies
        }
        for end in ("", "_mean"):
            ours = probes[f"losses.{OWN}.model{end}"]
            losses |= {
                f"above_{name}{end}": ours - probes[f"losses.{OWN}.{name}{end}"]
                for name in strategies
            }
        step = probes["step"]
        return pd.DataFrame(
            {
                "step": step,
                "examples": step * (batch or 0),
                **distances,
                "nearest": nearest(distances),
                **losses,
            }
        )

    return runs.rows(of)


def nearest(distances: dict[str, np.ndarray]) -> np.ndarray:
    """The strategy with the least distance at each evaluation."""
    names = np.asarray(list(distances))
    return names[np.argmin(np.stack(list(distances.values())), axis=0)]


def phases(table: pd.DataFrame, by: Sequence[str] = ("seed",)) -> pd.DataFrame:
    """One row per run: its phases in order, as text, and when the first of each strategy began."""
    rows = []
    for key, part in table.groupby(list(by), sort=False):
        ordered = part.sort_values("step")
        names = ordered["nearest"].to_list()
        kept = [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]
        first = ordered.drop_duplicates("nearest").set_index("nearest")["step"]
        rows.append(
            {
                **dict(zip(by, key, strict=True)),
                "phases": ", ".join(kept),
                **{f"first_{name}": float(first.get(name, np.nan)) for name in COLUMNS},
            }
        )
    return pd.DataFrame(rows)


COLUMNS = ("uniform", "unigram", "bigram", "trigram")


def visits_in_order(phase: str, names: Sequence[str]) -> bool:
    """Whether the first visits of these strategies are in this order, and the last is the end."""
    order = phase.split(", ")
    if any(name not in order for name in names) or order[-1] != names[-1]:
        return False
    first = [order.index(name) for name in names]
    return first == sorted(first)


def shares(table: pd.DataFrame, by: Sequence[str], strategies: Sequence[str]) -> pd.DataFrame:
    """How much of training is spent nearest to each strategy."""
    columns = {name: (table["nearest"] == name).astype(float) for name in strategies}
    long = table[list(by)].assign(**columns)
    return long.groupby(list(by), sort=False).mean().reset_index()


def at_end(table: pd.DataFrame, by: Sequence[str] = ("seed",)) -> pd.DataFrame:
    """The last evaluation of each run."""
    return table.sort_values("step", kind="stable").groupby(list(by), sort=False).tail(1)


def at_start(table: pd.DataFrame, by: Sequence[str] = ("seed",)) -> pd.DataFrame:
    """The first evaluation of each run: before training."""
    return table.sort_values("step", kind="stable").groupby(list(by), sort=False).head(1)


def share_of_seeds(hits: pd.Series) -> Interval:
    """The share of seeds in which something is so; of none nothing is known."""
    return wilson(int(hits.sum()), len(hits)) if len(hits) else Interval(0.0, 0.0, 1.0)


def counted(hits: pd.Series) -> str:
    """As in "9 of 10 seeds"."""
    return f"{int(hits.sum())} of {len(hits)} seeds"
