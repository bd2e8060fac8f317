r"""The protocol of the experiments with transformers (thesis, appendix A.3), which studies share.

The network is minGPT's block. It is trained on all $m$ examples at once by AdamW, learning rate
$10^{-3}$, with weight decay $10^{-4}$ on matrices alone, as in that code; the loss is the cross-
entropy of two logits. Dropout of 0.1 is on attention and on what each part of a layer adds; that
of embeddings, which the document has as well, is left out at scales that a laptop finishes, since
keys and values then differ from example to example. Success is an accuracy of 99% on new
examples, at any evaluation. Gradients are not clipped: the document does not say that they are.

Studies of thresholds ask how many examples are enough. They share what a trial and its restarts
are, and the tables, claims' draws and captions that follow; which sizes they try, and what they
train, differ. Their trials have seeds of their own: settings and bars were chosen on others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import TransformerClassifier
from elegans.models.inits import Restart
from elegans.models.transformers.classifier_params import NormalInit
from elegans.models.transformers.dropout import Dropout
from elegans.runs import Runs
from elegans.studies import thresholds
from elegans.studies.attention.references import bits_needed
from elegans.tasks import UniqueConjunction
from elegans.training.recipe import Group, Stop, Training

SPARSITY = 3
HALF = 2 ** (-1 / SPARSITY)  # probability of a true bit at which half of the labels are true
GOAL = 0.01  # error
TARGET = 0.8  # of trials
FORMATS = {"thresholds": ".1f", "T": ",", "trials": ",", "sizes": ",", "rate": ".0%"}
CAPTIONS = {
    "thresholds": (
        "m_star is the least m that was tried with 80% success (censored: none), fit the same from "
        "a logistic curve, with its interval (low, high); bits is log2 C(T, 3)."
    ),
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


def recipe(
    samples: int | None,
    steps: int,
    *,
    batch: int | None = None,
    evaluate_every: int = 10,
    test_samples: int = 10_000,
    **fields: Any,
) -> Training:
    """The recipe on so many examples, all of them in each step unless there is a batch."""
    rate = 1e-3
    return Training(
        loss="logistic",
        optimizer="adamw",
        learning_rate=rate,
        groups=(Group("weights", learning_rate=rate, weight_decay=1e-4),),
        batch=batch,
        samples=samples,
        steps=steps,
        evaluate_every=evaluate_every,
        test_samples=test_samples,
        **fields,
    )


def conjunction(T: int, samples: int, *, rows: int, test_rows: int) -> UniqueConjunction:
    """The task: an AND of three of T bits that only this one of all such ANDs fits."""
    return UniqueConjunction(T, SPARSITY, p=HALF, samples=samples, rows=rows, test_rows=test_rows)


@dataclass(frozen=True, kw_only=True)
class ThresholdSettings:
    """How often a size is tried and for how long; trials are seeds from `first_seed` on."""

    lengths: tuple[int, ...]
    trials: int
    restarts: int
    steps: int
    test_rows: int
    first_seed: int = 100
    network: Network = field(default_factory=Network)

    @property
    def seeds(self) -> range:
        """The seed of each trial."""
        return range(self.first_seed, self.first_seed + self.trials)

    def until_success(self, samples: int | None, steps: int, **fields: Any) -> Training:
        """The recipe of a run that ends when it has succeeded."""
        return recipe(
            samples,
            steps,
            test_samples=self.test_rows,
            screen_rows=min(250, self.test_rows),
            stop=Stop(test_error=GOAL),
            **fields,
        )

    def restarted(self, task: Any, training: Training) -> list[tuple[dict[str, Any], Experiment]]:
        """The points of a trial: one for each restart of the network."""
        return [
            ({"restart": restart}, Experiment(task, self.network.model(restart), training))
            for restart in range(self.restarts)
        ]

    def tables(
        self, runs: Mapping[str, Runs], group: Sequence[str], *, apart: str
    ) -> dict[str, pd.DataFrame]:
        """Thresholds, success rates and trials of all runs but those `apart`."""
        every = pd.concat([each.table for name, each in runs.items() if name != apart])
        trials = thresholds.trials(every, group)
        sizes = sorted(trials[thresholds.SAMPLES].unique().tolist())
        table = thresholds.threshold_table(trials, group, sizes, TARGET)
        table = table.sort_values(list(group), key=_in_order).reset_index(drop=True)
        return {
            "thresholds": table.assign(bits=[bits_needed(T, SPARSITY) for T in table["T"]]),
            "rates": thresholds.rate_table(trials, group),
            "trials": trials,
        }

    def facts(self) -> dict[str, int]:
        """What figures of thresholds mention."""
        return {"trials": self.trials, "restarts": self.restarts, "steps": self.steps}


def _in_order(column: pd.Series) -> pd.Series:
    """Numbers as they are, names in the order of their first row."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    return pd.Series(pd.factorize(column)[0], index=column.index)
