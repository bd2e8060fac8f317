r"""Do networks become sparser when they learn? Activity of hidden neurons through a phase change.

Networks of rectifiers learn the parity of 3 of 30 bits: of widths 100 and 300, from fresh examples
and from 1,000 of them, with little weight decay and with more. The same recipe with coins for
labels is the control. A transformer with hidden layers learns Markov chains, by way of
unigrams; its control has independent symbols, of which there is nothing to learn beyond unigrams.

What is looked at is `probes.Activity`: how many neurons are positive, which counts all alike, and
the effective number, which weighs each by what it contributes. *Success* is the first evaluation
with at most 1% test error, or nearest to bigrams.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from elegans import cube
from elegans.experiments.experiment import Experiment
from elegans.models import MLP
from elegans.models.transformers.attention_only import AttentionOnly
from elegans.probes import Activity, Divergences
from elegans.protocols import Probe
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.induction.phases import ADAMW_DECAY, Recipe
from elegans.studies.sparse_activation import lazy_claims as claims
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import MarkovChains, Parity
from elegans.tasks.markov.priors import IidUnigram
from elegans.theory import sparse_activation
from elegans.training.recipe import Training

LEARNED = 0.01  # test error
MEASURES = ("positive", "dead", "always_on", "effective")
STRATEGIES = ("uniform", "unigram", "bigram")
TAIL = 0.1  # of the mean square: what the certified degree leaves above it
CERTIFIED_ROWS = 4096


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Parities with their networks and training sets, and chains with their transformer."""

    n: int
    k: int
    widths: tuple[int, ...]
    samples: tuple[int | None, ...]
    decays: tuple[float, ...]
    steps: int
    evaluate_every: int
    states: int
    length: int
    chains: Recipe
    seeds: int


def runs(settings: Settings) -> dict[str, Sweep]:
    """Parities and coins of every width and training set; chains and independent symbols."""
    points = [
        (
            {
                "network": f"width {width}",
                "data": data_name(samples),
                "decay": decay,
                "labels": labels,
            },
            Experiment(
                Parity(settings.n, settings.k, flip=0.5 if labels == claims.COINS else 0.0),
                MLP(width=width),
                Training(
                    loss="hinge",
                    batch=32,
                    learning_rate=0.1,
                    weight_decay=decay,
                    samples=samples,
                    steps=settings.steps,
                    evaluate_every=settings.evaluate_every,
                    test_samples=1000,
                ),
            ),
        )
        for width in settings.widths
        for samples in settings.samples
        for decay in settings.decays
        for labels in (claims.RULE, claims.COINS)
    ]
    sequences = [
        (
            {
                "network": claims.TRANSFORMER,
                "data": "fresh",
                "decay": ADAMW_DECAY,
                "labels": labels,
            },
            Experiment(task, AttentionOnly(mlp=True), settings.chains.training()),
        )
        for labels, task in (
            (claims.CHAINS, MarkovChains(settings.states, settings.length)),
            (claims.INDEPENDENT, MarkovChains(settings.states, settings.length, IidUnigram())),
        )
    ]
    watched: dict[str, Probe] = {
        "activity": Activity(rows=64),
        "divergences": Divergences(sequences=256),
    }
    return {
        "parities": Sweep.of(
            points, seeds=settings.seeds, probes={"activity": Activity()}, keep="params"
        ),
        "sequences": Sweep.of(sequences, seeds=settings.seeds, probes=watched),
    }


def data_name(samples: int | None) -> str:
    """How a training set is named in tables."""
    return "fresh" if samples is None else f"{samples:,} examples"


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Activity through training, what became of it in each run, and certificates."""
    curves = pd.concat(
        [runs["parities"].rows(parity_curve), runs["sequences"].rows(chain_curve)],
        ignore_index=True,
    )
    by = [*claims.CASE, "seed"]
    rows = [
        {**dict(zip(by, key, strict=True)), **moments(part)}
        for key, part in curves.groupby(by, sort=False)
    ]
    table = pd.DataFrame(rows)
    summary = table.groupby(claims.CASE, sort=False)[
        ["start", "at_success", "end", "positive_start", "positive_end", "dead_end"]
    ].median()
    return {
        "summary": summary.reset_index(),
        "runs": table,
        "curves": curves,
        "certificates": runs["parities"].where(labels=claims.RULE).rows(certificates),
    }


def activity_columns(run: Run) -> dict[str, np.ndarray]:
    """Activity by evaluation: shares averaged over the hidden layers, effective numbers added."""
    columns = {name: run.probes[f"activity.{name}"].mean(axis=1) for name in MEASURES[:-1]}
    return {**columns, "effective": run.probes["activity.effective"].sum(axis=1)}


def parity_curve(run: Run) -> pd.DataFrame:
    """One row per evaluation; `error` is the test error."""
    error = run.history["test_error"].to_numpy(float)
    columns = {"step": run.probes["step"], "error": error, "learned": error <= LEARNED}
    return pd.DataFrame({**columns, **activity_columns(run)})


def chain_curve(run: Run) -> pd.DataFrame:
    """One row per evaluation; `error` is the divergence from the truth at the last position."""
    distances = np.stack([run.probes[f"divergences.{name}_at_end"] for name in STRATEGIES])
    error = run.probes["divergences.truth_at_end"]
    columns = {"step": run.probes["step"], "error": error, "learned": distances.argmin(axis=0) == 2}
    return pd.DataFrame({**columns, **activity_columns(run)})


def moments(curve: pd.DataFrame) -> dict[str, float]:
    """The effective number at the start, at success and at the end, and half-way evaluations.

    Half-way is the first evaluation at or below the mean of the first and the last value; the time
    is counted in evaluations. Without success there is no such number.
    """
    curve = curve.sort_values("step")
    effective, is_learned = curve["effective"].to_numpy(float), curve["learned"].to_numpy(bool)
    success = int(is_learned.argmax()) if is_learned.any() else None
    return {
        "start": effective[0],
        "at_success": np.nan if success is None else effective[success],
        "end": effective[-1],
        "success_step": np.nan if success is None else float(curve["step"].iloc[success]),
        "half_error": half_way(curve["error"].to_numpy(float)),
        "half_effective": half_way(effective),
        "positive_start": float(curve["positive"].iloc[0]),
        "positive_end": float(curve["positive"].iloc[-1]),
        "dead_end": float(curve["dead"].iloc[-1]),
        "always_on_end": float(curve["always_on"].iloc[-1]),
    }


def half_way(values: np.ndarray) -> float:
    """The first evaluation at or below the mean of the first and the last value."""
    return float(np.argmax(values <= (values[0] + values[-1]) / 2))


def certificates(run: Run) -> pd.DataFrame:
    """The certified and the sampled average sensitivity, before and after training."""
    task, model = run.experiment.task, run.experiment.model
    rows = []
    for when, params in (("start", run.initial), ("end", run.params)):
        x = cube.drawn_signs(np.random.default_rng([run.seed, 7]), CERTIFIED_ROWS, task.n)
        values = predictions(model, params, x)
        flips = [
            np.mean((values - predictions(model, params, x * flip)) ** 2) / 4
            for flip in 1 - 2 * np.eye(task.n)
        ]
        square = float(np.mean(values**2))
        bound = sparse_activation.activity_bound(model, params)
        rows.append(
            {
                "when": when,
                "theory": bound / square,
                "sensitivity": float(np.sum(flips)) / square,
                "degree": min(task.n, max(0, int(np.ceil(bound / (TAIL * square))) - 1)),
            }
        )
    return pd.DataFrame(rows)


def predictions(model: Any, params: Any, x: np.ndarray) -> np.ndarray:
    """The network at each row."""
    return np.asarray(model.apply(params, jnp.asarray(x, jnp.float32)), float)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The tasks, and how far above the sampled sensitivity the certificate is, in the median."""
    end = tables["certificates"][tables["certificates"]["when"] == "end"]
    return {
        "n": settings.n,
        "k": settings.k,
        "states": settings.states,
        "evaluate_every": settings.evaluate_every,
        "certificate_over_sensitivity": float((end["theory"] / end["sensitivity"]).median()),
        "certified_degree": float(end["degree"].median()),
    }


STUDY = Study(
    name="lazy-neurons",
    title="Learning leaves the work to few neurons, though as many as before are switched on",
    summary=(
        "Large trained networks are reported to use few of their neurons on any one input. Here "
        "small networks are watched while they learn. A neuron of rectifiers is on or off at an "
        "input; if on, it contributes more or less. The effective number of neurons counts those "
        "that contribute: r if r neurons do so alike. Does it fall, and does it fall when the "
        "network learns? Networks trained on coins, which have nothing to learn, are the control."
    ),
    source="Sparse activations paper, introduction; thesis, 8.1.1 (sparser after a phase change)",
    scales={
        "quick": Scale(
            Settings(
                n=30,
                k=3,
                widths=(100, 300),
                samples=(None, 1000),
                decays=(0.01, 0.05),
                steps=10_000,
                evaluate_every=200,
                states=3,
                length=50,
                chains=Recipe(steps=500, rate=3e-3, evaluations=25, schedule="constant"),
                seeds=10,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                n=30,
                k=3,
                widths=(100, 300, 1000),
                samples=(None, 1000),
                decays=(0.01, 0.05),
                steps=40_000,
                evaluate_every=200,
                states=3,
                length=100,
                chains=Recipe(steps=2000, rate=3e-3, evaluations=50, schedule="constant"),
                seeds=20,
            ),
            minutes=35,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        claims.fewer_neurons_work_after_success,
        claims.they_leave_at_the_transition,
        claims.decay_decides,
        claims.it_is_dynamic,
        claims.coins_keep_more_neurons,
        claims.counting_positive_neurons_does_not_show_it,
        claims.transformers_too,
    ),
    figures="elegans.studies.sparse_activation.figures_lazy:activity",
    charts="elegans.studies.sparse_activation.figures_lazy:activity_chart",
    shown=("summary",),
    formats={
        "summary": ".1f",
        "positive_start": ".1%",
        "positive_end": ".1%",
        "dead_end": ".1%",
        "always_on_end": ".1%",
    },
    captions={
        "figure": (
            "Top: error while training (medians over seeds). Bottom: the effective number of "
            "hidden neurons per input, as a share of that at the start; dotted, the share of "
            "neurons that are positive. Green has more weight decay. Grey is the control: labels "
            "that are coins, symbols of which frequencies say everything. Bands are all seeds."
        ),
        "chart": "Effective numbers of all seeds.",
        "summary": (
            "Effective number of neurons per input at the start, at success and at the end, and "
            "shares of neurons that are positive (start and end) and dead; medians over seeds"
        ),
        "runs": "One row per run; half-way times are counted in evaluations.",
        "curves": "Activity at each evaluation; of transformers, added over the hidden layers.",
        "certificates": (
            "Average sensitivity as a multiple of the mean square: the certificate of "
            "theory.sparse_activation.activity_bound, and a sample; and the degree that the "
            "certificate needs to leave 10% of the mean square."
        ),
    },
)
