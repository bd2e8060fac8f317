"""The networks of an ensemble: which process trains them, and what they say together.

In one process they train one after the other, with a progress bar that moves by epochs; in several,
through joblib as elsewhere in scikit-learn, it moves by networks. Which process trains a
network does not change it. JAX is imported where it is first needed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from joblib import Parallel, delayed, effective_n_jobs

from elegans.estimators.table import Rows

if TYPE_CHECKING:
    from elegans.estimators.fitting import Fit, Member, Network

MIN_ROWS_TO_HOLD_OUT = 20
WARMUP_STEPS = 50  # in which the learning rate rises


def train(
    estimator: Any,
    rows: Rows,
    seeds: list[int],
    loss: str,
    classes: int | None,
    initial: "list[Network] | None",
) -> "list[Member]":
    """A trained network for each seed, in the order of the seeds, from `initial` ones if given."""
    from elegans.estimators import fitting

    plan = described(estimator, rows, loss, classes)
    jobs = min(effective_n_jobs(estimator.n_jobs), len(seeds))
    if jobs == 1:
        with bar(estimator, len(seeds) * plan.epochs) as tick:
            return fitting.fit(plan, rows, seeds, initial, tick)
    work = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(fitting.fit)(plan, rows, [seed], initial[i : i + 1] if initial else None)
        for i, seed in enumerate(seeds)
    )
    networks: list[Member] = []
    with bar(estimator, len(seeds)) as tick:
        for part in work:
            networks += part
            tick(len(part))
    return networks


def described(estimator: Any, rows: Rows, loss: str, classes: int | None) -> "Fit":
    """The fit that an estimator's parameters ask for."""
    from elegans.estimators.fitting import Fit, Shape
    from elegans.models.inits import SparseSigns, Uniform
    from elegans.models.mlp import MLP
    from elegans.training.recipe import Training

    features = rows.x.shape[1]
    sparsity = estimator.init_sparsity
    init = Uniform() if sparsity is None else SparseSigns(min(int(sparsity), features))
    holds_out = estimator.early_stopping and len(rows.y) >= MIN_ROWS_TO_HOLD_OUT
    return Fit(
        model=MLP(
            width=int(estimator.width),
            depth=int(estimator.depth),
            init=init,
            dropout=float(estimator.dropout),
        ),
        training=Training(
            loss=loss,
            optimizer="adamw",
            learning_rate=float(estimator.learning_rate),
            weight_decay=float(estimator.weight_decay),
            batch=int(estimator.batch_size),
            schedule="cosine",
            warmup=WARMUP_STEPS,
        ),
        shape=Shape(features, classes),
        epochs=int(estimator.epochs),
        holdout=float(estimator.validation_fraction) if holds_out else 0.0,
        patience=int(estimator.patience) if holds_out else int(estimator.epochs),
        smoothing=float(estimator.label_smoothing),
    )


def outputs(network: "Network", x: Float[np.ndarray, "rows n"]) -> Float[np.ndarray, "..."]:
    """What a network computes at each row."""
    from elegans.estimators import fitting

    return fitting.outputs(network, x)


def probabilities(output: Float[np.ndarray, "..."]) -> Float[np.ndarray, "rows classes"]:
    """Class probabilities from log odds, or from one logit per class."""
    logits = np.asarray(output, np.float64)
    if logits.ndim == 1:
        logits = np.stack([np.zeros_like(logits), logits], axis=1)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def unsmoothed(
    probability: Float[np.ndarray, "rows classes"], smoothing: float
) -> Float[np.ndarray, "rows classes"]:
    r"""Class probabilities of labels as they are, from those of smoothed ones.

    Smoothing by $\epsilon$ makes $p$ into $(1 - \epsilon)p + \epsilon/k$ with $k$ classes, which is
    solved for $p$ down to a fifth of $\epsilon/k$. A network may say less than smoothed labels can
    mean; from there on $p$ falls in proportion to what it says, so that no two answers become one.
    """
    if not smoothing:
        return probability
    share = smoothing / probability.shape[1]
    least = share / 5
    joint = share + (1 - smoothing) * least  # where the two parts meet
    result = np.maximum((probability - share) / (1 - smoothing), least * probability / joint)
    return result / result.sum(axis=1, keepdims=True)


@contextmanager
def bar(estimator: Any, total: int) -> Iterator[Callable[[int], None]]:
    """A function to call at each step of a progress bar, which is shown if asked for."""
    if not estimator.verbose:
        yield lambda count: None
        return
    from rich.progress import Progress

    with Progress() as progress:
        line = progress.add_task(type(estimator).__name__, total=total)
        yield lambda count: progress.advance(line, count)
        progress.update(line, completed=total)
