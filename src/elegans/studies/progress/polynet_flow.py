r"""Gradient flow, population descent and SGD on disjoint PolyNets, beside the exact solution.

$f(x) = \prod_{i \le k} \langle w_i, x_{P_i} \rangle$ under the correlation loss. The flow is solved
in `theory.boolean.polynet`: relevant weights grow slowly and then blow up, and almost all of the
time until zero error is spent at an error of nearly one half. Theorem 5.7 says how much is not:
one minus that share falls as $n'^{1 - k/2}$ in the length $n' = n/k$ of a block.

Three things are measured beside it: descent with small steps on the population gradient, whose time
to zero error is that of the flow; SGD with batches of one, of which the same share is spent on the
plateau; and SGD with the rates of theorem 5.8, which reaches its error from starts of positive
product with the printed number of steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import DisjointPolyNet
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.statistics import log_slope
from elegans.studies.progress import polynet_claims
from elegans.studies.progress.polynet_paths import (
    GAMMA,
    NEAR_CHANCE,
    NOISE,
    Descent,
    Plateaus,
    Prescribed,
)
from elegans.studies.progress.times import groups
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import DisjointParity
from elegans.theory.boolean import polynet
from elegans.training.recipe import Stop, Training


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Blocks of several lengths for the exponent, a task for SGD, and one for theorem 5.8."""

    ks: tuple[int, ...]
    blocks: tuple[int, ...]
    seeds: int
    n: int
    k: int
    descent_rate: float
    sgd_rate: float
    sgd_seeds: int
    sgd_steps: int
    theorem: tuple[int, int]
    theorem_starts: int


def runs(settings: Settings) -> dict[str, Sweep]:
    """Exact plateaus, population descent, SGD, and theorem 5.8's algorithm."""
    s = settings
    sgd = Experiment(
        DisjointParity(s.n, s.k),
        DisjointPolyNet(degree=s.k),
        Training(
            loss="correlation",
            batch=1,
            learning_rate=s.sgd_rate,
            steps=s.sgd_steps,
            evaluate_every=max(1, s.sgd_steps // 300),
            test_samples=2000,
            stop=Stop(test_error=0.0),
        ),
    )
    n, k = s.theorem
    constants = {"printed": polynet.SGD_PRINTED, "proved": polynet.SGD_CONSTANT}
    algorithm = [
        ({"constant": name}, Prescribed(n, k, float(value), s.theorem_starts))
        for name, value in constants.items()
    ]
    return {
        "plateaus": Sweep.of([({"k": k}, Plateaus(k, s.blocks)) for k in s.ks], seeds=s.seeds),
        "descent": Sweep.of([({}, Descent(s.n, s.k, s.descent_rate))], seeds=5),
        "sgd": Sweep.of([({}, sgd)], seeds=s.sgd_seeds),
        "theorem": Sweep.of(algorithm, seeds=1),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Plateaus and their exponents, descent, and SGD beside the flow from the same start."""
    plateaus = runs["plateaus"].table
    exponents = []
    for k, part in groups(plateaus, "k"):
        usable = part[part["rest"] > 0]
        slope = log_slope(usable, "block", "rest", statistic=np.median)
        exponents.append({"k": k, **slope._asdict(), "theory": 1 - k / 2})
    sgd = runs["sgd"]
    return {
        "exponents": pd.DataFrame(exponents),
        "plateaus": plateaus,
        "descent": runs["descent"].table,
        "sgd": sgd.rows(lambda run: beside_flow(settings, run)),
        "curves": sgd.rows(lambda run: curve(settings, run)),
        "theorem": runs["theorem"].table,
    }


def start_of(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Relevant and irrelevant weights with which a run started."""
    weight = np.asarray(run.initial.weight, float)
    return weight[:, 0], weight[:, 1:]


def beside_flow(settings: Settings, run: Run) -> pd.DataFrame:
    """The share of its time that a run of SGD spent on the plateau, and that of the flow."""
    history = run.history
    v, u = start_of(run)
    is_positive = bool(np.prod(v) > 0)
    moved = history["step"][history["test_error"] < NEAR_CHANCE - NOISE]
    first = float(moved.iloc[0]) if len(moved) else np.nan
    end = float(history["step"].iloc[-1]) if run.success else np.inf
    return pd.DataFrame(
        {
            "positive_start": [is_positive],
            "converged": [bool(run.success)],
            "time": [end * settings.sgd_rate],
            "share": [first / end if run.success else np.nan],
            "theory_time": [polynet.blow_up(v)],
            "theory_share": [
                polynet.plateau_share(v, u, GAMMA + NOISE, normal=True) if is_positive else np.nan
            ],
        }
    )


def curve(settings: Settings, run: Run) -> pd.DataFrame:
    """Error over time, in units of the flow."""
    history = run.history
    positive = bool(np.prod(start_of(run)[0]) > 0)
    time = history["step"] * settings.sgd_rate
    return pd.DataFrame({"time": time, "error": history["test_error"], "positive_start": positive})


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The tasks, and the longest plateau that was computed."""
    return {"n": settings.n, "k": settings.k, "theorem": settings.theorem, "gamma": GAMMA}


STUDY = Study(
    name="polynet-flow",
    title="A network whose learning is solved: a long plateau, then everything at once",
    summary=(
        "For a product of k linear forms on disjoint blocks of inputs the path of gradient descent "
        "can be written down exactly. It spends almost all of its time at an error near one half "
        "and reaches zero in the last moment, the more so the longer the blocks. Descent with "
        "small steps, SGD on single examples and the exact solution are drawn in one picture, and "
        "a theorem's recipe for SGD is run as it stands."
    ),
    source="Thesis, Figure B.1, Theorems 5.7 and 5.8",
    scales={
        "quick": Scale(
            Settings(
                ks=(3, 4, 5),
                blocks=(30, 100, 300, 1000, 3000),
                seeds=40,
                n=90,
                k=3,
                descent_rate=1e-3,
                sgd_rate=2e-5,
                sgd_seeds=12,
                sgd_steps=600_000,
                theorem=(4, 2),
                theorem_starts=64,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                ks=(3, 4, 5, 6),
                blocks=(30, 100, 300, 1000, 3000, 10_000),
                seeds=200,
                n=90,
                k=3,
                descent_rate=1e-4,
                sgd_rate=2e-6,
                sgd_seeds=30,
                sgd_steps=6_000_000,
                theorem=(6, 2),
                theorem_starts=40,
            ),
            minutes=60,
        ),
        "paper": Scale(
            Settings(
                ks=(3, 4, 5, 6),
                blocks=(30, 100, 300, 1000, 3000, 10_000, 100_000),
                seeds=1000,
                n=300,
                k=3,
                descent_rate=1e-4,
                sgd_rate=1e-7,
                sgd_seeds=100,
                sgd_steps=200_000_000,
                theorem=(6, 3),
                theorem_starts=100,
            ),
            minutes=6000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        polynet_claims.descent_follows_the_flow,
        polynet_claims.plateau_exponent,
        polynet_claims.sgd_has_the_plateau,
        polynet_claims.theorem_reaches_its_error,
    ),
    figures="elegans.studies.progress.figures_polynet:polynet_flow",
    shown=("exponents",),
    formats={"exponents": ".2f", "share": ".1%", "theory_share": ".1%"},
    captions={
        "figure": (
            "Left: error over time, in units of the flow: population descent (blue, with the exact "
            "solution as dots) and SGD with batches of one (grey; orange if the product of the "
            "relevant weights is negative at first). Middle: what is left of the time after the "
            "plateau, against the length of a block, with the exponents of theorem 5.7 (dashed). "
            "Right: theorem 5.8 as an algorithm, the error of each run at its end."
        ),
        "exponents": "Fitted exponents of the rest of the time, with 95% intervals over starts.",
        "plateaus": "The share of the time until zero error that is spent above 49% error.",
        "descent": "Population descent beside the exact time of the flow.",
        "sgd": "SGD beside the flow from the same start.",
        "theorem": "Theorem 5.8 as an algorithm, one row per run.",
    },
)
