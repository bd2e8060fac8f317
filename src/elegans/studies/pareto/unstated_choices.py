r"""Does the frontier depend on what the paper leaves unsaid?

Appendix C.1 of the Pareto paper names batch, learning rate and weight decay, and says that a coarse
search chose them. It does not name the loss, whether weight decay is coupled to the rate, whether
biases decay, or whether batches are drawn from shuffled epochs. Here each of these is changed in
turn, and the three named numbers to either side, at two sizes near the edge of the frontier: how
much earlier or later, more or less often do the same seeds learn?
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.pareto import choices_claims
from elegans.studies.pareto.choices_claims import BASE
from elegans.studies.pareto.frontier import INITS
from elegans.studies.pareto.lucky_neurons import census
from elegans.studies.pareto.recipe import training
from elegans.studies.pareto.scores import FORMATS, summary, with_spared
from elegans.studies.pareto.shuffled_epochs import ShuffledEpochs
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.training.recipe import Group

RATE = 0.1
UNDECAYED = tuple(Group(match=f"layers.{i}.bias", learning_rate=RATE) for i in (0, 1))
VARIANTS: dict[str, dict[str, Any]] = {
    BASE: {},
    "logistic loss": {"loss": "logistic"},
    "square loss": {"loss": "square"},
    "biases do not decay": {"groups": UNDECAYED},
    "decay not coupled to the rate": {"decay": "shrink"},
    "no weight decay": {"weight_decay": 0.0},
    "weight decay 0.003": {"weight_decay": 0.003},
    "weight decay 0.03": {"weight_decay": 0.03},
    "learning rate 0.03": {"learning_rate": 0.03},
    "learning rate 0.3": {"learning_rate": 0.3},
    "batch 8": {"batch": 8},
    "batch 128": {"batch": 128},
}
SHUFFLED = "shuffled epochs"
LABELS = ["variant", "init", "samples"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, a width, and a few numbers of samples near the edge."""

    n: int
    k: int
    width: int
    samples: tuple[int, ...]
    seeds: int
    steps: int
    evaluate_every: int = 250


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every variant at every size, from both inits; shuffled epochs apart, as computations."""
    task = Parity(settings.n, settings.k)
    points, shuffled = [], []
    for name, init in INITS.items():
        model = MLP(width=settings.width, init=init)
        for samples in settings.samples:
            labels = {"init": name, "samples": samples}
            recipe = [settings.steps, settings.evaluate_every]
            for variant, changes in VARIANTS.items():
                experiment = Experiment(task, model, training(samples, *recipe, **changes))
                points.append(({"variant": variant, **labels}, experiment))
            computation = ShuffledEpochs(task, model, training(samples, *recipe))
            shuffled.append(({"variant": SHUFFLED, **labels}, computation))
    return {
        "runs": Sweep.of(points, seeds=settings.seeds),
        "shuffled": Sweep.of(shuffled, seeds=settings.seeds),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per run, one per variant and init, and what each variant changes."""
    columns = [*LABELS, "seed", "status", "success", "steps", "test_error", "lucky"]
    engine = runs["runs"].table.assign(lucky=[lucky(run) for run in runs["runs"]])
    table = pd.concat([engine, runs["shuffled"].table], ignore_index=True)
    table = table[columns].astype({"success": "boolean"})
    ended = with_spared(table, settings.steps)
    return {
        "changes": choices_claims.changes(ended),
        "variants": summary(table, ["variant", "init"], settings.steps),
        "runs": ended,
    }


def lucky(run: Run) -> float:
    """How many neurons of a sparse network start with a gradient; NaN if it is dense."""
    if not isinstance(run.experiment.model.init, inits.Sparse):
        return float("nan")
    return float(census(run)["lucky"])


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    names = ("n", "k", "width", "samples", "seeds", "steps")
    return {name: getattr(settings, name) for name in names}


STUDY = Study(
    name="unstated-choices",
    title="What the recipe leaves unsaid: loss and bias decay matter, shuffling does not",
    summary=(
        "A paper's experiment can be repeated only if its recipe is complete. This one names the "
        "batch, the learning rate and the weight decay, but not the loss, nor how weight decay "
        "enters, nor how batches are drawn. Here each choice is changed alone, and the same runs "
        "are made again: which of the choices decide who learns, and when?"
    ),
    source="Pareto paper, appendix C.1",
    scales={
        "quick": Scale(
            Settings(n=50, k=3, width=100, samples=(1000, 2000), seeds=10, steps=20_000),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                n=50, k=3, width=300, samples=(600, 1000, 2000, 6000), seeds=20, steps=100_000
            ),
            minutes=90,
        ),
        "paper": Scale(
            Settings(
                n=200, k=3, width=10_000, samples=(3000, 10_000, 30_000), seeds=20, steps=100_000
            ),
            minutes=60_000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        choices_claims.shuffling_does_not_matter,
        choices_claims.bias_decay_does_not_matter,
        choices_claims.the_loss_matters,
        choices_claims.decay_is_coupled_to_the_rate,
        choices_claims.weight_decay_is_needed,
        choices_claims.rate_and_batch_are_the_best,
    ),
    figures="elegans.studies.pareto.figures_choices:unstated_choices",
    shown=("changes",),
    formats=FORMATS
    | {
        "change": "+.1%",
        "change_low": "+.1%",
        "change_high": "+.1%",
    },
    captions={
        "figure": (
            "Each dot is a run: when it succeeded, or a cross at the right if it never did. One "
            "row per variant of the recipe, the recipe itself on top; one panel per init. The "
            "numbers at the right are the success rates. Both sizes of the training set are "
            "pooled."
        ),
        "changes": (
            "What a variant changes in the share of steps that runs spare, against the recipe on "
            "the same seeds, with 95% bootstrap intervals"
        ),
        "variants": "Success of each variant and init, 95% Wilson intervals",
        "runs": "One row per run; lucky counts neurons that start with a gradient.",
        "shuffled": "The runs in shuffled epochs.",
    },
)
