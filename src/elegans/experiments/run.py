"""One run: an experiment with a seed, and its record."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd
from jaxtyping import PyTree

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.training.loop import Job, Outcome, train


@dataclass(frozen=True, repr=False, eq=False)
class Run:
    """The record of a finished run.

    Attributes:
        status: "done", or "diverged" if a parameter became infinite or no number.
        success: Whether the stop rule was met; None if there was none.
        steps: Updates made.
        test_error: On the whole test set, at the last step.
        history: One row an evaluation: step, losses, errors, and on how many test rows.
        probes: What each probe saw, stacked over evaluations.
        params: The network at the end.
        initial: The network at the start.
        seconds: Training and evaluation, without compilation.
    """

    experiment: Experiment
    seed: int
    status: str
    success: bool | None
    steps: int
    test_error: float
    test_loss: float
    train_error: float
    train_loss: float
    history: pd.DataFrame
    probes: dict[str, PyTree]
    params: PyTree
    initial: PyTree
    seconds: float

    @classmethod
    def of(cls, experiment: Experiment, seed: int, outcome: Outcome) -> "Run":
        """The record of an outcome of the engine."""
        fields = outcome._asdict()
        del fields["number"]
        fields["history"] = pd.DataFrame(outcome.history)
        return cls(experiment=experiment, seed=seed, **fields)

    def __repr__(self) -> str:
        return (
            f"Run({self.experiment.name}, seed={self.seed}, status={self.status!r}, "
            f"success={self.success}, steps={self.steps}, test_error={self.test_error:.4g})"
        )


def run(
    experiment: Experiment,
    seed: int = 0,
    probes: Iterable[Callable[..., Any]] | dict[str, Callable[..., Any]] = (),
    watch: Callable[[dict[str, float | int]], None] | None = None,
) -> Run:
    """Trains one network and returns its record, a function of the experiment and the seed alone.

    Args:
        experiment: What to train on what, and how.
        seed: The source of all randomness: start, training set, order, test set.
        probes: Functions `probe(params, initial, task, key)`, called at each evaluation; a
            dictionary gives them other names than their own.
        watch: Called with the newest row of the history at each evaluation.
    """
    checks.whole("run", "seed", seed, low=0, what="numbers a run")
    named = probes if isinstance(probes, dict) else {name_of(probe): probe for probe in probes}
    job = Job(0, experiment.task, experiment.model, experiment.training, int(seed))
    show = None if watch is None else lambda _, row: watch(row)
    (outcome,) = train([job], probes=named, watch=show)
    return Run.of(experiment, int(seed), outcome)


def name_of(probe: Callable[..., Any]) -> str:
    """A probe's own name."""
    return str(getattr(probe, "__name__", type(probe).__name__))
