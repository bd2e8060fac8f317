r"""How sparse should neurons start, and is it sparsity that helps?

The Pareto paper starts each hidden neuron with $s$ ones and finds $s = 2$ best. Its comparison with
the default init changes three things at once: a 2-sparse row of ones has two entries instead of
$n$, squared norm 2 instead of 1/3, and positive signs instead of random ones. Here each is varied
apart: the number of entries at the paper's norm ($s$) and at one norm (2), and a factorial design
over sparsity, norm and signs, whose eight corners hold both inits of the paper.

A neuron with $s$ equal weights has a gradient at the start only if it reads $k - 1$ relevant bits,
and for odd $s$ and $k$ never (`theory.resources.lucky_probability`): the table has the chance that
a network holds such a neuron.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import jax.random as jr
import pandas as pd
from jaxtyping import PRNGKeyArray

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.fields import Number, configuration
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.studies.pareto import sparsity_claims
from elegans.studies.pareto.recipe import COLUMNS, training
from elegans.studies.pareto.scores import FORMATS, summary, with_spared
from elegans.studies.pareto.sparsity_claims import DENSE_NORM, SPARSE_NORM
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources

LABELS = ["s", "norm", "signs"]


@configuration
class Rows(inits.LayeredInit):
    """Rows with `s` entries, or dense ones, of a squared norm, positive or with random signs.

    All else is PyTorch's default init. `Rows(2, 2.0, False)` is `Sparse(2)` and `Rows(None, 1/3)`
    has the law of `Uniform()`, whose expected squared norm is 1/3.
    """

    s: int | None
    squared_norm: Number
    random_signs: bool = True

    def __post_init__(self) -> None:
        if self.s is not None:
            checks.whole(self, "s", self.s, low=1, what="counts the entries of a neuron")
        checks.number(self, "squared_norm", self.squared_norm, low=0, what="is a squared norm")

    def check_sizes(self, sizes: tuple[int, ...], task: object) -> None:
        """Needs at least `s` inputs."""
        if self.s is not None:
            high = sizes[0]
            checks.whole(self, "s", self.s, low=1, high=high, what="counts the entries of a neuron")

    def layers(
        self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object
    ) -> tuple[inits.Layer, ...]:
        """The default init with the first weight matrix replaced."""
        n = sizes[0]
        if self.s is None:
            first, *rest = inits.Uniform().layers(key, sizes, task)
            size = jnp.abs(first.weight) * jnp.sqrt(3 * self.squared_norm)  # of mean square 1/(3n)
            signs = jnp.sign(first.weight)
        else:
            first, *rest = inits.Sparse(self.s).layers(key, sizes, task)
            size = first.weight * jnp.sqrt(self.squared_norm / self.s)
            signs = jr.rademacher(jr.fold_in(key, 2), (n, sizes[1]), dtype=jnp.float32)
        return (inits.Layer(size * signs if self.random_signs else size, first.bias), *rest)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, a width, the sparsities, and a few numbers of samples near the edge."""

    n: int
    k: int
    width: int
    sparsities: tuple[int, ...]
    samples: tuple[int, ...]
    seeds: int
    steps: int
    evaluate_every: int = 250


def arms(settings: Settings) -> dict[tuple[str, float, str], Rows]:
    """All inits of the study, by entries, squared norm and signs."""
    chosen = {
        (str(s), norm, "positive"): Rows(s, norm, False)
        for s in settings.sparsities
        for norm in dict.fromkeys((float(s), SPARSE_NORM))
    }
    for s, name in ((2, "2"), (None, "dense")):
        for norm in (DENSE_NORM, SPARSE_NORM):
            chosen[name, norm, "positive"] = Rows(s, norm, False)
            chosen[name, norm, "random"] = Rows(s, norm, True)
    return chosen


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every init at every number of samples."""
    points = [
        (
            dict(zip(LABELS, names, strict=True)) | {"samples": samples},
            Experiment(
                Parity(settings.n, settings.k),
                MLP(width=settings.width, init=init),
                training(samples, settings.steps, settings.evaluate_every),
            ),
        )
        for names, init in arms(settings).items()
        for samples in settings.samples
    ]
    return {"runs": Sweep.of(points, seeds=settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per init, one per run, and the effects of the factorial design."""
    table = runs["runs"].table[[*LABELS, "samples", *COLUMNS]]
    ended = with_spared(table, settings.steps)
    rows = summary(table, LABELS, settings.steps)
    return {
        "arms": rows.assign(theory=[lucky(settings, s) for s in rows["s"]]),
        "effects": sparsity_claims.effects(ended),
        "runs": ended,
    }


def lucky(settings: Settings, s: str) -> float:
    """The chance that a network holds a neuron with a gradient at the start; NaN for dense."""
    if s == "dense":
        return math.nan
    return resources.lucky_chance(settings.n, settings.k, int(s), settings.width)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    names = ("n", "k", "width", "samples", "seeds", "steps")
    return {name: getattr(settings, name) for name in names}


STUDY = Study(
    name="how-sparse",
    title="A sparse init helps because it is sparse, not by its norm or its signs",
    summary=(
        "Networks learn a parity of 3 out of 50 random signs sooner, and from fewer examples, if "
        "each hidden neuron starts by reading two inputs with weight one, rather than all of them "
        "with small random weights. But such neurons are also larger, and all their weights are "
        "positive. Which of the three helps? Here the number of inputs that a neuron reads, the "
        "size of its weights and their signs are varied one at a time."
    ),
    source="Pareto paper, section 4.1 (3) and appendix C.1",
    scales={
        "quick": Scale(
            Settings(
                n=50,
                k=3,
                width=1000,
                sparsities=(1, 2, 3, 4, 8, 16),
                samples=(800, 1000),
                seeds=10,
                steps=10_000,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                n=50,
                k=3,
                width=1000,
                sparsities=(1, 2, 3, 4, 5, 6, 8, 16, 32),
                samples=(600, 800, 1000, 1400, 2000),
                seeds=20,
                steps=40_000,
            ),
            minutes=30,
        ),
        "paper": Scale(
            Settings(
                n=200,
                k=3,
                width=10_000,
                sparsities=(1, 2, 3, 4, 5, 6, 8, 16, 32),
                samples=(2000, 3000, 6000, 10_000),
                seeds=20,
                steps=100_000,
            ),
            minutes=20_000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        sparsity_claims.two_ones_are_best,
        sparsity_claims.two_are_best_at_equal_norm,
        sparsity_claims.sparsity_helps_alone,
        sparsity_claims.sparsity_is_most_of_it,
    ),
    figures="elegans.studies.pareto.figures_choices:how_sparse",
    shown=("arms", "effects"),
    formats=FORMATS
    | {
        "norm": ".2f",
        "theory": ".1%",
        "effect": "+.1%",
        "effect_low": "+.1%",
        "effect_high": "+.1%",
    },
    captions={
        "figure": (
            "Left: the share of steps that runs spare, by the number of inputs that a neuron "
            "reads at the start, with weights of one as in the paper, and with weights scaled to "
            "one norm; bars are 95% bootstrap intervals over seeds. Middle: the eight combinations "
            "of sparsity, norm and signs; the paper compares the two that are marked. Right: what "
            "each of the three contributes to the difference between these two, in the mean over "
            "the other two."
        ),
        "arms": (
            "One row per init: entries of a neuron's row, its squared norm, signs; success with "
            "its 95% Wilson interval, median steps, the share of steps spared, and the chance that "
            "a network holds a neuron with a gradient at the start"
        ),
        "effects": "Main effects on the share of steps spared, with 95% bootstrap intervals",
        "runs": "One row per run.",
    },
)
