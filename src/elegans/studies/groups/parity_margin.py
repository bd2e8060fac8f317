r"""Sparse parity with neurons $(u \cdot x)^k$: the neurons of highest norm find the relevant bits.

Theorem 7.8: at the largest margin, $k! \sqrt{2 (k+1)^{-(k+1)}}$ under $\|\theta\|_{2,k+1} = 1$,
every neuron has weights on the $k$ relevant bits alone, all of the size of $\|w\|$, $w$ is along
$(1, -1)$, and $\prod_j u_j \, (w_1 - w_2) \ge 0$. Networks are trained on all $2^n$ inputs. Weak
neurons move slowly, so that the neurons of highest norm are judged, as in Figure 7.5 (whose
activation is the fourth power; appendix D.2.2 says quadratic): as many as the theorem's network
has, $2^{k-1}$.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from elegans import probes
from elegans.experiments.experiment import Experiment
from elegans.models import PowerNetwork
from elegans.report.result import Claim, Tables
from elegans.runs import Run, Runs
from elegans.statistics import Interval, bootstrap
from elegans.studies.groups import networks
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import groups as theory
from elegans.theory.groups.margins import neuron_norms

NEAR_MARGIN = 0.95
OFF_SUPPORT = 0.05  # largest weight elsewhere, relative to the largest on a relevant bit
UNEQUAL = 0.05  # relative difference of weights on relevant bits, and of these from |w|
ALONG = 0.999  # cosine of w with (1, -1)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A parity of `k` of `n` bits, and how a network of powers is trained on it."""

    n: int
    k: int
    recipe: networks.Recipe
    seeds: int


QUICK = Settings(
    n=10,
    k=4,
    recipe=networks.Recipe(width=40, weight=1e-3, steps=30_000, learning_rate=0.1),
    seeds=5,
)
PAPER = replace(QUICK, seeds=20)  # the quick scale has the settings of D.2.2 already


def runs(settings: Settings) -> dict[str, Sweep]:
    """One experiment with every seed."""
    model = PowerNetwork(width=settings.recipe.width, degree=settings.k)
    training = settings.recipe.training(model.homogeneity, loss="logistic")
    experiment = Experiment(Parity(settings.n, settings.k), model, training)
    watched = {"margin": probes.margin}
    return {
        "runs": Sweep.of([({}, experiment)], seeds=settings.seeds, probes=watched, keep="params")
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Ends, curves, the neurons of highest norm, and the weights of a few."""
    every = runs["runs"]
    return {
        "ends": every.rows(end),
        "curves": networks.curves(every),
        "neurons": pd.concat(
            [
                every.rows(lambda run: top_neurons(run, is_start=True)).assign(when="start"),
                every.rows(top_neurons).assign(when="end"),
            ],
            ignore_index=True,
        ),
        "weights": every[:1].rows(weights),
    }


def end(run: Run) -> pd.DataFrame:
    """Margin, norm and loss at the end, beside those of the exact optimum."""
    model, task = run.experiment.model, run.experiment.task
    params = type(run.params)(*(np.asarray(part, np.float64) for part in run.params))
    optimum = theory.parity_optimum(
        model.degree, float(run.experiment.training.regulariser.strength)
    )
    row = {
        "ratio": theory.normalised_margin(model, params, task) / theory.parity_margin(model.degree),
        "norm": float(np.sum(neuron_norms(model, params) ** model.homogeneity)),
        "theory_norm": optimum.norm**model.homogeneity,
        "loss": run.train_loss,
        "theory_loss": optimum.loss,
    }
    return pd.DataFrame([row])


def top_neurons(run: Run, *, is_start: bool = False) -> pd.DataFrame:
    """One row per neuron, the $2^{k-1}$ of highest norm: how near to what Theorem 7.8 says.

    `off_support` is the largest weight elsewhere over the largest on a relevant bit, `unequal` the
    largest relative difference of a relevant weight from |w|, `along` the cosine of w with
    (1, -1), and `is_signed` whether the product of the relevant weights has the sign of w.
    """
    model, task = run.experiment.model, run.experiment.task
    params = run.initial if is_start else run.params
    u, w = np.asarray(params.u, np.float64), np.asarray(params.w, np.float64)
    norms = neuron_norms(model, params)
    parts = norms**model.homogeneity
    top = np.argsort(-norms)[: 2 ** (model.degree - 1)]
    inside = np.isin(np.arange(len(u)), task.support)
    size = np.linalg.norm(w, axis=1)
    relevant, rest = np.abs(u[inside]), np.abs(u[~inside])
    rest_size = rest.max(axis=0) if len(rest) else np.zeros(len(size))
    table = pd.DataFrame(
        {
            "neuron": np.arange(len(norms)),
            "norm": norms,
            "share": parts / parts.sum(),
            "off_support": rest_size / relevant.max(axis=0),
            "unequal": np.abs(relevant / size - 1).max(axis=0),
            "along": np.abs(w[:, 0] - w[:, 1]) / (np.sqrt(2) * size),
            "is_signed": u[inside].prod(axis=0) * (w[:, 0] - w[:, 1]) >= 0,
        }
    )
    return table.iloc[top]


def weights(run: Run) -> pd.DataFrame:
    """All weights of the neurons of highest norm, as the bars of the figure."""
    params = run.params
    rows = []
    for rank, neuron in enumerate(top_neurons(run)["neuron"]):
        u, w = np.asarray(params.u)[:, neuron], np.asarray(params.w)[neuron]
        rows += [
            {"rank": rank, "part": "u", "label": f"{i}", "value": float(x)} for i, x in enumerate(u)
        ]
        rows += [
            {"rank": rank, "part": "w", "label": sign, "value": float(x)}
            for sign, x in zip("+-", w, strict=True)
        ]
    return pd.DataFrame(rows)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The parity."""
    return {"n": settings.n, "k": settings.k}


def over_seeds(table: pd.DataFrame, column: str) -> Interval:
    """The mean over seeds of a seed's largest value."""
    return bootstrap(table.groupby("seed")[column].max().to_numpy(float), np.mean)


def margin_is_reached(tables: Tables) -> Claim:
    """The margin comes near the largest one."""
    interval = bootstrap(tables["ends"]["ratio"].to_numpy(float), np.mean)
    ends = tables["ends"]
    return Claim(
        text="Networks of powers come near the largest margin of a parity",
        source="thesis, Figure 7.5 (b), Theorem 7.8",
        measured=(
            f"margin / largest margin {interval:.4f}; norm {ends['norm'].mean():.3f} (to the power "
            f"of k + 1), at the exact optimum {ends['theory_norm'].mean():.3f}"
        ),
        against=f"an interval that goes below {NEAR_MARGIN}",
        holds=interval.low >= NEAR_MARGIN,
        interval=interval,
    )


def top_neurons_find_the_support(tables: Tables) -> Claim:
    """The neurons of highest norm have no weight on other bits."""
    neurons = tables["neurons"]
    end, start = (neurons[neurons["when"] == when] for when in ("end", "start"))
    interval = over_seeds(end, "off_support")
    return Claim(
        text="The neurons of highest norm read the relevant bits and no others",
        source="thesis, Figure 7.5 (a), Theorem 7.8",
        measured=(
            f"largest weight elsewhere, relative to the largest on a relevant bit, {interval:.2%}; "
            f"these neurons have {end.groupby('seed')['share'].sum().mean():.0%} of the norm; at "
            f"the start {start['off_support'].mean():.0%} on average"
        ),
        against=f"an interval that reaches {OFF_SUPPORT:.0%}, or a start that does not",
        holds=interval.high < OFF_SUPPORT < start["off_support"].mean(),
        interval=interval,
    )


def relevant_weights_are_equal(tables: Tables) -> Claim:
    """Their weights on the relevant bits are all of the size of w."""
    neurons = tables["neurons"]
    end, start = (neurons[neurons["when"] == when] for when in ("end", "start"))
    interval = over_seeds(end, "unequal")
    return Claim(
        text="All their weights on relevant bits are as large as the output weight",
        source="thesis, Theorem 7.8",
        measured=(
            f"largest relative difference {interval:.2%}; at the start "
            f"{start['unequal'].mean():.0%} on average"
        ),
        against=f"an interval that reaches {UNEQUAL:.0%}, or a start that does not",
        holds=interval.high < UNEQUAL < start["unequal"].mean(),
        interval=interval,
    )


def outputs_and_signs_agree(tables: Tables) -> Claim:
    """Their outputs are along (1, -1), with the sign of the product of the relevant weights."""
    neurons = tables["neurons"]
    end, start = (neurons[neurons["when"] == when] for when in ("end", "start"))
    is_right = {
        when: part["is_signed"].to_numpy(bool) & (part["along"] > ALONG).to_numpy(bool)
        for when, part in (("end", end), ("start", start))
    }
    return Claim(
        text="Their outputs are along (1, -1), with the sign of the product of relevant weights",
        source="thesis, Theorem 7.8",
        measured=(
            f"{is_right['end'].sum()} of {len(end)} neurons, least cosine "
            f"{end['along'].min():.5f}; at the start {is_right['start'].sum()}"
        ),
        against=f"one with the other sign or a cosine of {ALONG} or less, or all at the start",
        holds=is_right["end"].all() and not is_right["start"].all(),
    )


STUDY = Study(
    name="parity-margin",
    title="Trained on a parity, the strongest neurons read the relevant bits alone",
    summary=(
        "A parity is the product of k out of n signs. A network whose neurons take the k-th power "
        "of a weighted sum of the inputs is trained on all inputs, with a penalty on the norm. "
        "Theory knows the largest margin by which the right answer can win, and what each neuron "
        "must look like there: equal weights on the relevant inputs, none elsewhere. Training "
        "comes near it, and its strongest neurons look like that."
    ),
    source="Thesis, Figure 7.5, Theorem 7.8",
    scales={
        "quick": Scale(QUICK, minutes=0.3),
        "paper": Scale(PAPER, minutes=1),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        margin_is_reached,
        top_neurons_find_the_support,
        relevant_weights_are_equal,
        outputs_and_signs_agree,
    ),
    figures="elegans.studies.groups.figures:parity_margin",
    shown=("ends",),
    formats={"ratio": ".4f", "loss": ".3g", "theory_loss": ".3g"},
    captions={
        "figure": (
            "Left: the weights of the four neurons of highest norm, a blue bar per input and a "
            "green one for each of the two outputs. The first inputs are the relevant ones. "
            "Right: the margin through training, as a part of the largest possible one."
        ),
        "ends": "One row per run: margin, norm and loss at the end, beside the exact optimum.",
        "curves": "Margin, norm and loss at each evaluation.",
        "neurons": "The neurons of highest norm of each run, at the start and at the end.",
        "weights": "The neurons that are drawn.",
        "runs": "One row per run.",
    },
)
