r"""Hidden progress: what moves in the weights while the error stands still.

A sinusoidal neuron, setting (xiv), is trained on fresh examples of a parity and, as the control, on
labels that are coin flips, from the same initial weights. At every look stand beside the error:

* $\rho = \max_i |w_t - w_0|_i$, the sup-norm path of section 5.5: the drift of the relevant weights
  adds up, where noise is a random walk;
* the lead of the relevant weights, $\min_{S} |w| - \max_{\bar S} |w|$;
* the share of the squared weights that is on the support;
* the relaxed Fourier gap of the exact population gradient at $w_t$, from its closed form.

A measure is one of progress if it tells something of the time that is left while the error does
not: its rank correlation with the remaining time, over the seeds that are still above 45% error, is
not zero. A search without memory has none: its remaining time is independent of all that went
before, which is what the permutations of the null show.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP
from elegans.probes import FourierGap, RelevantLead, SupNormPath, SupportShare, parameters
from elegans.protocols import Probe
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.statistics import Correlation, spearman
from elegans.studies.progress import progress_claims
from elegans.studies.progress.random_search import sinusoid
from elegans.studies.progress.times import CHANCE_ERROR, FALLEN_ERROR, at_step, timed, until_perfect
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity

MEASURES: dict[str, Probe] = {
    "path": SupNormPath(),
    "lead": RelevantLead(),
    "share": SupportShare(),
}
GAP: dict[str, Probe] = {"gap": FourierGap()}
MOMENTS = (0.1, 0.25, 0.5)  # of the median time


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, the batch of the claims, and batches that are only shown."""

    n: int
    k: int
    seeds: int
    batch: int
    shown_batches: tuple[int, ...]
    steps: int
    noise_steps: int
    every: int
    learning_rate: float = 0.01


def runs(settings: Settings) -> dict[str, Sweep]:
    """Parity and coin flips with measures; one run with all weights; other batches and a ReLU."""
    s = settings
    neuron, parity = sinusoid(s.k), Parity(s.n, s.k)

    def training(batch: int, learning_rate: float = s.learning_rate, **options: Any) -> Any:
        options = {"every": s.every, "test_samples": 1000, "steps": s.steps} | options
        return until_perfect(learning_rate, batch=batch, **options)

    noise = training(s.batch, steps=s.noise_steps, stop=None)
    signal = Experiment(parity, neuron, training(s.batch))
    coins = Experiment(Parity(s.n, s.k, flip=0.5), neuron, noise)
    shown = [
        (
            {"network": "sinusoidal neuron", "batch": batch},
            Experiment(parity, neuron, training(batch, s.learning_rate * min(1, batch / 4))),
        )
        for batch in s.shown_batches
    ]
    relu = Experiment(parity, MLP(width=10), training(32, 0.5))
    return {
        "parity": Sweep.of([({}, signal)], s.seeds, probes=MEASURES | GAP),
        "noise": Sweep.of([({}, coins)], s.seeds, probes=MEASURES | GAP),
        "weights": Sweep.of([({}, signal)], 1, probes={"weights": parameters}),
        "shown": Sweep.of(
            [*shown, ({"network": "ReLU, width 10", "batch": 32}, relu)], 3, probes=MEASURES
        ),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Measures of every run at every look, times, and predictivity at three moments."""
    looks = pd.concat(
        [runs[name].rows(measured).assign(labels=name) for name in ("parity", "noise")],
        ignore_index=True,
    )
    times = timed(runs["parity"].table)[["seed", "success", "time"]]
    return {
        "predictivity": predictivity(looks, times),
        "firsts": firsts(looks, times),
        "looks": looks,
        "weights": weights(runs["weights"][0]),
        "shown": runs["shown"].rows(measured),
    }


def measured(run: Run) -> pd.DataFrame:
    """Error and measures at each look of a run."""
    history = run.history.set_index("step")["test_error"]
    names = {"path": "path", "lead": "lead", "share": "share", "gap.relaxed": "gap"}
    measures = {name: run.probes[key] for key, name in names.items() if key in run.probes}
    rows = pd.DataFrame({"step": run.probes["step"].astype(int), **measures})
    return rows.assign(error=history.reindex(rows["step"]).to_numpy())


def weights(run: Run) -> pd.DataFrame:
    """All weights of a neuron at each look, one row per look and input."""
    paths = run.probes["weights.layers.0.weight"][:, :, 0]
    step = run.probes["step"].astype(int)
    error = run.history.set_index("step")["test_error"].reindex(step).to_numpy()
    size = paths.shape[1]
    return pd.DataFrame(
        {
            "step": np.repeat(step, size),
            "error": np.repeat(error, size),
            "input": np.tile(np.arange(size), len(step)),
            "weight": paths.reshape(-1).astype(float),
        }
    )


def predictivity(looks: pd.DataFrame, times: pd.DataFrame) -> pd.DataFrame:
    """Rank correlations of each measure with the time that is left, beside the null's range."""
    by_seed = times.set_index("seed")["time"]
    parity = looks[looks["labels"] == "parity"]
    rows = []
    for share in MOMENTS:
        step = share * by_seed.median()
        looks_then = at_step(parity, step)
        looks_then = looks_then[
            (looks_then["error"] > CHANCE_ERROR) & np.isfinite(by_seed.reindex(looks_then.index))
        ]
        for name in ("path", "lead", "share", "gap", "error"):
            x = looks_then[name].to_numpy(float)
            y = (by_seed.reindex(looks_then.index) - looks_then["step"]).to_numpy(float)
            if len(x) < 3 or np.ptp(x) == 0:
                continue
            value: Correlation = spearman(x, y)
            rows.append(
                {
                    "measure": name,
                    "moment": share,
                    "step": step,
                    "runs": len(x),
                    "correlation": value.interval.value,
                    "low": value.interval.low,
                    "high": value.interval.high,
                    "null_low": value.null.low,
                    "null_high": value.null.high,
                    "p": value.p,
                }
            )
    return pd.DataFrame(rows)


def firsts(looks: pd.DataFrame, times: pd.DataFrame) -> pd.DataFrame:
    """For each run: when the relevant weights lead, when the error moves, and when it is over."""
    parity = looks[looks["labels"] == "parity"]

    def first(condition: pd.Series) -> pd.Series:
        return parity[condition].groupby("seed")["step"].min()

    rows = times.set_index("seed")
    rows["lead"] = first(parity["lead"] > 0).reindex(rows.index).astype(float)
    rows["moved"] = first(parity["error"] < FALLEN_ERROR).reindex(rows.index).astype(float)
    return rows.reset_index()


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The task."""
    return {"n": settings.n, "k": settings.k, "batch": settings.batch}


STUDY = Study(
    name="hidden-progress",
    title="Behind a flat error curve the right weights grow from the first step on",
    summary=(
        "A single neuron learns the parity of three out of fifty bits. For most of the time its "
        "error stays at one half, as if nothing happened. Its weights tell otherwise: those of the "
        "three relevant bits drift away from the others long before the error moves, and how far "
        "they have come tells how much longer it will take. On random labels they do not."
    ),
    source="Thesis, Figures 5.3 and B.9, section 5.5",
    scales={
        "quick": Scale(
            Settings(
                n=50,
                k=3,
                seeds=60,
                batch=128,
                shown_batches=(1, 4, 32),
                steps=6000,
                noise_steps=800,
                every=20,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                n=50,
                k=3,
                seeds=400,
                batch=128,
                shown_batches=(1, 4, 32),
                steps=30_000,
                noise_steps=2000,
                every=10,
            ),
            minutes=10,
        ),
        "paper": Scale(
            Settings(
                n=50,
                k=3,
                seeds=1000,
                batch=32,
                shown_batches=(1, 4, 128),
                steps=100_000,
                noise_steps=5000,
                every=10,
            ),
            minutes=60,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        progress_claims.weights_lead_first,
        progress_claims.path_predicts,
        progress_claims.path_separates,
        progress_claims.gap_grows,
    ),
    figures="elegans.studies.progress.figures_progress:hidden_progress",
    shown=("predictivity",),
    formats={"predictivity": ".2f", "predictivity.p": ".4f", "predictivity.runs": ".0f"},
    captions={
        "figure": (
            "Top left: errors of some runs. Below: the weights of one of them, those of relevant "
            "bits in colour. Middle: the largest change of a weight so far, on the parity (blue) "
            "and on random labels (grey), one line per run; below, each run's path at half of the "
            "median time against the time it still took. Right: the Fourier gap and the lead of "
            "the relevant weights. Bottom row: other batch sizes, and a ReLU network."
        ),
        "predictivity": (
            "Rank correlation of each measure with the remaining time, at a tenth, a quarter and "
            "half of the median time, over runs with error above 45%; null_low and null_high are "
            "what a search without memory would give."
        ),
        "firsts": (
            "One row per run: first steps at which the relevant weights lead and the error is "
            "below 40%, and the step without error."
        ),
        "looks": "Measures at every look of every run, on the parity and on random labels.",
        "weights": "The weights of the run with seed 0.",
        "shown": "Measures of runs with other batch sizes, and of a ReLU network.",
    },
)
