r"""The protocol of the experiments with transformers (thesis, appendix A.3), which studies share.

The network is minGPT's block. It is trained on all $m$ examples at once by AdamW, learning rate
$10^{-3}$, with weight decay $10^{-4}$ on matrices alone, as in that code; the loss is the cross-
entropy of two logits. Dropout of 0.1 is on attention and on what each part of a layer adds; that
of embeddings, which the document has as well, is left out at scales that a laptop finishes, since
keys and values then differ from example to example. Success is an accuracy of 99% on new
examples, at any evaluation. Gradients are not clipped: the document does not say that they are.

Studies of thresholds ask how many examples are enough. They share the grid of context lengths and
sizes, the search over it, and the tables that it leaves; what they train differs. Their trials have
seeds from 100 on: settings and bars were chosen on others.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import TransformerClassifier
from elegans.models.inits import Restart
from elegans.models.transformers.classifier_params import NormalInit
from elegans.models.transformers.dropout import Dropout
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies import thresholds
from elegans.studies.attention.references import bits_needed
from elegans.sweeps.sweep import Sweep
from elegans.tasks import UniqueConjunction
from elegans.training.recipe import Group, Stop, Training

SPARSITY = 3
HALF = 2 ** (-1 / SPARSITY)  # probability of a true bit at which half of the labels are true
GOAL = 0.01  # error
TARGET = 0.8  # of trials
FORMATS = {"thresholds": ".1f", "T": ",", "trials": ",", "sizes": ",", "rate": ".0%"}
CAPTIONS = {
    "rates": "Success rates of all m that were tried.",
    "trials": "One row per training set: whether one of its restarts succeeded.",
}


@dataclass(frozen=True, kw_only=True)
class Network:
    """The size of the transformer, and its dropout."""

    dim: int = 64
    heads: int = 16
    embedding_dropout: float = 0.0
    other_dropout: float = 0.1

    def model(self, restart: int = 0) -> TransformerClassifier:
        """The transformer as it starts in this restart."""
        return TransformerClassifier(
            dim=self.dim,
            heads=self.heads,
            dropout=Dropout(
                embedding=self.embedding_dropout,
                attention=self.other_dropout,
                output=self.other_dropout,
            ),
            init=Restart(NormalInit(), restart),
        )


def full_batch(
    samples: int, steps: int, *, evaluate_every: int = 10, test_samples: int = 10_000, **fields: Any
) -> Training:
    """The recipe on so many examples."""
    rate = 1e-3
    return Training(
        loss="logistic",
        optimizer="adamw",
        learning_rate=rate,
        groups=(Group("weights", learning_rate=rate, weight_decay=1e-4),),
        batch=None,
        samples=samples,
        steps=steps,
        evaluate_every=evaluate_every,
        test_samples=test_samples,
        **fields,
    )


def conjunction(T: int, samples: int, *, rows: int, test_rows: int) -> UniqueConjunction:
    """The task: an AND of three of T bits that only this one of all such ANDs fits."""
    return UniqueConjunction(T, SPARSITY, p=HALF, samples=samples, rows=rows, test_rows=test_rows)


def until_success(
    T: int,
    samples: int,
    network: Network,
    *,
    restart: int,
    steps: int,
    rows: int,
    test_rows: int,
) -> Experiment:
    """A run that ends when it has succeeded."""
    return Experiment(
        conjunction(T, samples, rows=rows, test_rows=test_rows),
        network.model(restart),
        full_batch(
            samples, steps, test_samples=test_rows, screen_rows=250, stop=Stop(test_error=GOAL)
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ThresholdSettings:
    """Which T and m are tried how often; trials are seeds from `first_seed` on."""

    lengths: tuple[int, ...]
    grid: tuple[int, ...]
    trials: int
    restarts: int
    steps: int
    test_rows: int
    per_round: int = 3
    first_seed: int = 100
    network: Network = field(default_factory=Network)

    def search(
        self,
        groups: Sequence[thresholds.Group],
        experiment: Callable[[thresholds.Group, int, int], Experiment],
    ) -> Generator[dict[str, Sweep], dict[str, Runs], None]:
        """Sweeps that look for the thresholds of `experiment(group, samples, restart)`."""

        def points(group: thresholds.Group, samples: int) -> list[tuple[dict[str, Any], Any]]:
            return [
                ({"restart": restart}, experiment(group, samples, restart))
                for restart in range(self.restarts)
            ]

        yield from thresholds.search(
            groups,
            self.grid,
            points,
            seeds=range(self.first_seed, self.first_seed + self.trials),
            target=TARGET,
            per_round=self.per_round,
        )

    def tables(
        self, runs: Mapping[str, Runs], group: Sequence[str], *, apart: str
    ) -> dict[str, pd.DataFrame]:
        """Thresholds, success rates and trials of a search, from all runs but those `apart`."""
        every = pd.concat([each.table for name, each in runs.items() if name != apart])
        trials = thresholds.trials(every, group)
        table = thresholds.threshold_table(trials, group, self.grid, TARGET)
        table = table.sort_values(list(group), key=_in_order).reset_index(drop=True)
        return {
            "thresholds": table.assign(bits=[bits_needed(T, SPARSITY) for T in table["T"]]),
            "rates": thresholds.rate_table(trials, group),
            "trials": trials,
        }


def _in_order(column: pd.Series) -> pd.Series:
    """Numbers as they are, names in the order of their first row."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    return pd.Series(pd.factorize(column)[0], index=column.index)


def threshold_facts(settings: ThresholdSettings, tables: Tables) -> dict[str, Any]:
    """What figures of thresholds mention."""
    return {
        "trials": settings.trials,
        "restarts": settings.restarts,
        "steps": settings.steps,
        "largest": max(settings.grid),
    }
