r"""Lottery tickets: do the few neurons that won learn alone, from where they started?

A wide 2-sparse network is trained online on a sparse parity; its neurons are ranked by weight norm
at the end; all but the heaviest are cut off, the rest goes back to its initial weights and is
trained again on new batches (Pareto paper, appendix C.2, Figure 5). The paper does not say which
norm, nor the loss, the weight decay or the steps. Here "weight norm" is read twice: the norm of a
neuron's incoming weights, and that times the size of its outgoing weight. The recipe is that of
appendix C.1.

Controls, all with as many neurons: *fresh* ones from the wide network's law, drawn again in each
run (the paper's control); a *narrow* network with the init of its own width, whose outgoing weights
are larger; and *others*, random neurons of the same parent, which share its output bias.

Under the decay of C.1 a weight loses half of its size in 700 steps, and at $n = 50$ wide networks
take tens of thousands to learn; five neurons are dead before they do, and say the same of all
examples. So there is a second arm without weight decay. There even fresh neurons learn something in
the end, and tickets do so sooner: that is seen in who reaches an error of 25%, with which one kink
of the parity is missing, by an early step. At the laptop scale that is a quarter of the steps,
chosen on parents with seeds 0 to 7; both scales have other seeds.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks
from elegans.experiments.experiment import Experiment
from elegans.fields import configuration
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Runs
from elegans.statistics import censored_median
from elegans.studies.pareto import tickets_claims
from elegans.studies.pareto.recipe import COLUMNS, training
from elegans.studies.pareto.scores import FORMATS
from elegans.studies.pareto.tickets_tables import (
    arm_table,
    child_rows,
    curve_rows,
    pruned_errors,
    selections,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity

CHILD_SEEDS = 1000  # added to the first seed: children see examples that no parent saw


@configuration
class FirstOf(inits.LayeredInit):
    """The first neurons of a wider network that starts as `init` says, drawn anew in each run."""

    init: inits.Sparse
    width: int

    def check_sizes(self, sizes: tuple[int, ...], task: object) -> None:
        """Needs one hidden layer, no wider than the network that it is cut from."""
        checks.whole(self, "width", self.width, low=sizes[1], what="counts the neurons to cut from")
        self.init.check_sizes((sizes[0], self.width, *sizes[2:]), task)

    def layers(
        self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object
    ) -> tuple[inits.Layer, ...]:
        """The wide layers, cut to the first `sizes[1]` neurons."""
        first, second = self.init.layers(key, (sizes[0], self.width, sizes[2]), task)
        bias: Float[Array, " neurons"] | None = None
        bias = None if first.bias is None else first.bias[: sizes[1]]
        cut = inits.Layer(first.weight[:, : sizes[1]], bias)
        return cut, second._replace(weight=second.weight[: sizes[1]])


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, how wide parents are, how many neurons a ticket has, and how many of each.

    What a child has learned by the step `early` it has learned early.
    """

    n: int
    k: int
    width: int
    neurons: int
    decays: tuple[float, ...]
    parents: int
    children: int
    parent_steps: int
    steps: int
    early: int
    evaluate_every: int = 500
    first_seed: int = 0

    def __post_init__(self) -> None:
        high = self.width
        checks.whole(self, "neurons", self.neurons, low=1, high=high, what="counts those kept")

    @property
    def first_child(self) -> int:
        """The first seed of children."""
        return self.first_seed + CHILD_SEEDS

    def child_seeds(self, parent: int) -> range:
        """The seeds of a parent's children, which no other parent's have."""
        first = self.first_child + (parent - self.first_seed) * self.children
        return range(first, first + self.children)

    def parent(self, decay: float) -> Experiment:
        """The wide network, online, under a weight decay."""
        recipe = training(None, self.parent_steps, self.evaluate_every, weight_decay=decay)
        return Experiment(
            Parity(self.n, self.k), MLP(width=self.width, init=inits.Sparse(2)), recipe
        )

    def child(self, decay: float, init: Any) -> Experiment:
        """The small network that starts as `init` says, online, under a weight decay."""
        recipe = training(None, self.steps, self.evaluate_every, weight_decay=decay)
        return Experiment(Parity(self.n, self.k), MLP(width=self.neurons, init=init), recipe)


def runs(settings: Settings) -> Generator[dict[str, Sweep], dict[str, Runs], None]:
    """Parents first; then tickets and controls of those that learned."""
    wide = [({"decay": decay}, settings.parent(decay)) for decay in settings.decays]
    seeds = range(settings.first_seed, settings.first_seed + settings.parents)
    done = yield {"parents": Sweep.of(wide, seeds=seeds, keep="params")}
    tickets, fresh = [], []
    for decay in settings.decays:
        for run in [run for run in done["parents"].where(decay=decay) if run.success]:
            for arm, neurons in selections(run, settings.neurons).items():
                init = inits.FromRun(run.experiment, run.seed, at="start", neurons=neurons)
                labels = {"decay": decay, "arm": arm, "parent": run.seed}
                children = settings.child_seeds(run.seed)
                tickets.append((labels, settings.child(decay, init), children))
        laws = {"fresh": FirstOf(inits.Sparse(2), settings.width), "narrow": inits.Sparse(2)}
        for arm, law in laws.items():
            fresh.append(({"decay": decay, "arm": arm}, settings.child(decay, law)))
    first = settings.first_child
    total = settings.children * settings.parents
    sweeps = {"fresh": Sweep.of(fresh, seeds=range(first, first + total), keep="params")}
    if tickets:
        sweeps["tickets"] = Sweep.of(tickets, keep="params")
    yield sweeps


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per child, one per decay and arm, what pruning leaves, and a few curves."""
    parts = [runs[name] for name in ("tickets", "fresh") if name in runs]
    children = pd.concat([child_rows(part) for part in parts], ignore_index=True)
    # A child that has no parent belongs to the parent whose children have its seed.
    blocks = (children["seed"] - settings.first_child) // settings.children
    children["block"] = settings.first_seed + blocks
    curves = pd.concat([curve_rows(part) for part in parts], ignore_index=True)
    learned = [run for run in runs["parents"] if run.success]
    columns = [
        "decay",
        "arm",
        "block",
        *COLUMNS,
        "start_error",
        "partial_steps",
        "early",
        "is_constant",
    ]
    children["early"] = children["partial_steps"] <= settings.early
    return {
        "arms": arm_table(children),
        "pruned": pruned_errors(learned, settings.neurons),
        "children": children[columns],
        "curves": curves,
    }


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """How the parents fared at each decay, and the sizes that the figure mentions."""
    parents = tables["parents"]
    counts, medians = [], []
    for decay in settings.decays:
        part = parents[parents["decay"] == decay]
        is_success = part["success"].fillna(False).to_numpy(bool)
        median = censored_median(part["steps"].to_numpy(float), is_success).value
        counts.append(int(is_success.sum()))
        medians.append(median if np.isfinite(median) else None)
    names = ("n", "k", "width", "neurons", "steps", "early", "parent_steps", "parents", "decays")
    sizes = {name: getattr(settings, name) for name in names}
    return sizes | {
        "parents_learned": counts,
        "parent_median_steps": medians,
        "partial": tickets_claims.PARTIAL,
    }


QUICK = Settings(
    n=30,
    k=5,
    width=100,
    neurons=5,
    decays=(0.01, 0.0),
    parents=16,
    children=3,
    parent_steps=40_000,
    steps=20_000,
    early=10_000,
    first_seed=100,
)
LAPTOP = Settings(
    n=50,
    k=5,
    width=100,
    neurons=5,
    decays=(0.01, 0.0),
    parents=20,
    children=4,
    parent_steps=200_000,
    steps=200_000,
    early=50_000,
    evaluate_every=1000,
    first_seed=100,
)
PAPER = Settings(
    n=50,
    k=5,
    width=100,
    neurons=5,
    decays=(0.01, 0.0),
    parents=20,
    children=20,
    parent_steps=2_000_000,
    steps=1_000_000,
    early=50_000,
    evaluate_every=1000,
)

STUDY = Study(
    name="lottery-tickets",
    title="Do the neurons that won learn sooner alone, from where they started?",
    summary=(
        "A network of 100 hidden neurons learns the parity of a few out of many random signs. "
        "Afterwards all but its five heaviest neurons are cut off, and these five go back to the "
        "weights with which they began and are trained again, on other examples. If they learn "
        "sooner than five neurons drawn at random, then the wide network had them from the start: "
        "width buys lottery tickets. Weight decay makes weights forget where they started, so this "
        "is done with and without it."
    ),
    source="Pareto paper, appendix C.2, Figure 5",
    scales={
        "quick": Scale(QUICK, minutes=1),
        "laptop": Scale(LAPTOP, minutes=7),
        "paper": Scale(PAPER, minutes=120),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        tickets_claims.tickets_beat_fresh_neurons,
        tickets_claims.tickets_beat_other_neurons,
        tickets_claims.most_fresh_neurons_fail,
        tickets_claims.tickets_start_poor,
        tickets_claims.pruning_keeps_the_function,
        tickets_claims.tickets_learn_sooner_without_decay,
    ),
    figures="elegans.studies.pareto.figures_search:lottery_tickets",
    shown=("arms",),
    formats=FORMATS
    | dict.fromkeys(("partial", "early", "constant"), ".0%")
    | {
        "partial_steps": ",.0f",
        "decay": "g",
        "steps": ",",
        "test_error": ".1%",
        "pruned_error": ".1%",
        "least_start_error": ".1%",
        "start_error": ".1%",
    },
    captions={
        "figure": (
            "Errors on new examples while five neurons are trained. The two panels on the left are "
            "tickets, the heaviest neurons of a trained wide network, taken back to their initial "
            "weights; by the norm of their incoming weights, and by that times their outgoing "
            "weight. The others are controls: random neurons of the same wide networks, fresh "
            "ones from the same law, and networks initialised as narrow ones. Dotted: success. "
            "A run is early if it crosses the grey bar, an error of 25% by an early step. One "
            "row of panels per weight decay."
        ),
        "arms": (
            "Success of tickets and controls, with 95% Wilson intervals; partial is the share of "
            "runs that reach an error of 25%, with which one kink of the parity is missing, early "
            "of those that do so by an early step, and constant of those that end with one answer "
            "for all examples"
        ),
        "pruned": (
            "Errors of the wide networks at the end of training, cut to the neurons of each arm, "
            "and to more neurons of the largest norms."
        ),
        "children": (
            "One row per small network; block is its parent, or one given in turn to a child that "
            "has none; start_error is the error before the first step, partial_steps when it first "
            "was 25%; is_constant says that it ended with one answer for all examples."
        ),
        "parents": "The wide networks.",
        "curves": "Errors during the runs that the figure shows.",
        "tickets": "One row per ticket, and per control from the same parent.",
        "fresh": "One row per control without a parent.",
    },
)
