r"""The protocol of the experiments with transformers (thesis, appendix A.3), which studies share.

The network is minGPT's block. It is trained on all $m$ examples at once by AdamW, learning rate
$10^{-3}$, with weight decay $10^{-4}$ on matrices alone, as in that code; the loss is the cross-
entropy of two logits. Dropout of 0.1 is on attention and on what each part of a layer adds; that
of embeddings, which the document has as well, is left out at scales that a laptop finishes, since
keys and values then differ from example to example. Success is an accuracy of 99% on new
examples, at any evaluation. Gradients are not clipped: the document does not say that they are.
"""

from dataclasses import dataclass
from typing import Any

from elegans.experiments.experiment import Experiment
from elegans.models import TransformerClassifier
from elegans.models.inits import Restart
from elegans.models.transformers.classifier_params import NormalInit
from elegans.models.transformers.dropout import Dropout
from elegans.tasks import UniqueConjunction
from elegans.training.recipe import Group, Stop, Training

SPARSITY = 3
HALF = 2 ** (-1 / SPARSITY)  # probability of a true bit at which half of the labels are true
GOAL = 0.01  # error


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
