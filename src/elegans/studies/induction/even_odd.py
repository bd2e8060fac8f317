r"""Even and odd positions: what the first gradient steps do to $v$ (thesis, section 8.3.2, E.1).

The minimal model is trained with the margin loss for two steps from $W = c 11^\top$, $v = c 1$, at
the printed $c = 0.02$, $\eta = 0.03$, and compared with the exact population steps; the lemma
wants a margin $\Delta$ that no logit reaches; the largest one after the first step is 7.59. Then
both models are trained with cross-entropy for longer, their positions watched. Positions count from
one, as in the text: $v_2$ is the token before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly, MinimalInduction
from elegans.probes import AttentionMasses, parameters
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.induction import even_odd_claims as claims
from elegans.studies.induction.gradients import (
    Curriculum,
    DiagonalGradient,
    FirstGradient,
    TwoSteps,
)
from elegans.studies.induction.minimal import Aligned, HardChains
from elegans.studies.induction.phases import Recipe
from elegans.studies.induction.probes import OWN, Losses
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import MarkovChains
from elegans.theory.markov import induction
from elegans.training.losses import Margin
from elegans.training.recipe import Training

START, RATE = 0.02, 0.03  # of Figures E.1 and E.2
SHOWN = 12  # positions of the figure
HARD_STEPS = 3  # of the curriculum, after the first


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The first steps take a large batch; the longer runs, the usual one."""

    batch: int
    seeds: int
    minimal: Recipe
    transformer: Recipe
    lengths: tuple[int, ...] = (50, 100, 200)
    margins: tuple[float, float] = (8.0, 1.0)  # one that no logit reaches, and one that they do
    epsilon: float = 0.1  # of the exact curriculum
    engine_epsilon: float = 0.4  # of the one that is trained: the gradient's noise is the same
    length: int = 100
    dim: int = 16


QUICK = Settings(
    batch=16_384,
    seeds=10,
    minimal=Recipe(steps=1500, rate=2e-3, evaluations=50, optimizer="sgd", schedule="constant"),
    transformer=Recipe(steps=500, rate=3e-3, evaluations=50),
)
LAPTOP = Settings(
    batch=65_536,
    seeds=10,
    minimal=Recipe(steps=10_000, rate=2e-3, evaluations=100, optimizer="sgd", schedule="constant"),
    transformer=Recipe(steps=5000, rate=3e-4, evaluations=100),
)
PAPER = Settings(
    batch=65_536,
    seeds=10,
    minimal=Recipe(steps=10_000, rate=2e-3, evaluations=100, optimizer="sgd", schedule="constant"),
    transformer=Recipe(steps=50_000, rate=3e-5, evaluations=200, schedule="constant"),
)


def runs(settings: Settings) -> dict[str, Sweep]:
    """The first steps at two margins, the curriculum, both models for longer, and what is exact."""
    task = MarkovChains(2, settings.length)
    watching: dict[str, dict[str, Any]] = {
        "minimal": {"parameters": parameters, "losses": Losses()},
        "transformer": {"masses": AttentionMasses(), "losses": Losses()},
    }
    return {
        "steps": Sweep(
            Experiment(
                task,
                MinimalInduction(weight=START, position=START),
                large_steps(settings, steps=2, rate=RATE, margin=settings.margins[0]),
            ),
            over={"training.loss.margin": list(settings.margins)},
            seeds=4,
            probes={"parameters": parameters},
        ),
        "hard": hard_steps(settings),
        "longer": Sweep.of(
            [
                (
                    {"model": "minimal"},
                    Experiment(task, MinimalInduction(), settings.minimal.training()),
                )
            ],
            seeds=settings.seeds,
            probes=watching["minimal"],
        ),
        "transformers": Sweep.of(
            [
                (
                    {"model": "transformer"},
                    Experiment(
                        task,
                        AttentionOnly(2, 1, settings.dim, scale=0.5),
                        settings.transformer.training(),
                    ),
                )
            ],
            seeds=settings.seeds,
            probes=watching["transformer"],
        ),
        "exact": Sweep.of([({}, TwoSteps(settings.length, START, RATE))]),
        "diagonal": Sweep.of([({}, DiagonalGradient(settings.length))]),
        "first": Sweep.of([({"length": t}, FirstGradient(t)) for t in settings.lengths]),
        "curriculum": Sweep.of(
            [
                ({"length": t, "epsilon": e}, Curriculum(t, e))
                for t, e in (
                    (settings.length, settings.epsilon),
                    (settings.length, settings.engine_epsilon),
                )
            ]
        ),
    }


def large_steps(settings: Settings, *, steps: int, rate: float, margin: float) -> Training:
    """A few steps with the margin loss on large batches, every one of them looked at."""
    return Training(
        loss=Margin(margin),
        learning_rate=rate,
        batch=settings.batch,
        steps=steps,
        evaluate_every=1,
        test_samples=250,
    )


def hard_steps(settings: Settings) -> Sweep:
    """The second step of Proposition 8.5 and two more, from where the exact first step ends.

    At $W = 0$ the first step leaves $v$ where it is, so its end is three numbers. Rates are such
    that weights stay near one; with weight decay 1 they scale what comes out, and nothing else.
    """
    t, position = settings.length, 0.01
    easy = induction.gradient_tensor(t, induction.uniform_chains(t))
    start = induction.stepped(induction.constant_start(t, 0.0, position), easy, 1.0)
    scale = 1 / float(start.weight[0, 0])
    init = Aligned(1.0, scale * float(start.weight[0, 1]), position)
    training = large_steps(settings, steps=HARD_STEPS, rate=1.0, margin=1e6)
    experiment = Experiment(
        MarkovChains(2, t, HardChains(settings.engine_epsilon)),
        MinimalInduction(init=init),
        training,
    ).varied({"training.weight_decay": 1.0, "training.decay": "shrink"})
    return Sweep(experiment, seeds=4, probes={"parameters": parameters})


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """The first steps beside the exact ones, the curriculum, and positions in time."""
    exact = runs["exact"].table.drop(columns="seed")
    steps = runs["steps"].rows(measured_steps).merge(exact, on=["step", "parameter", "i", "j"])
    longer = [
        runs["longer"].rows(lambda run: encodings(run, run.probes["parameters.position"])),
        runs["transformers"].rows(lambda run: encodings(run, run.probes["masses.encoding"])),
    ]
    return {
        "two_steps": steps.rename(columns={"training.loss.margin": "margin"}),
        "contamination": runs["hard"].rows(contamination),
        "positions": pd.concat(longer, ignore_index=True),
    }


def measured_steps(run: Run) -> pd.DataFrame:
    """One row per step and parameter, as `TwoSteps` has them."""
    position, weight = run.probes["parameters.position"], run.probes["parameters.weight"]
    rows = []
    for step in range(len(position)):
        rows += [
            {"step": step, "parameter": "v", "i": j + 1, "j": 0, "measured": value}
            for j, value in enumerate(position[step])
        ]
        rows += [
            {"step": step, "parameter": "W", "i": i + 1, "j": j + 1, "measured": value}
            for (i, j), value in np.ndenumerate(weight[step])
        ]
    return pd.DataFrame(rows)


def contamination(run: Run) -> pd.DataFrame:
    """One row per step of the curriculum: the sum of v without its second entry, over that.

    Signed, so that the noise of a batch cancels; in the exact steps all entries have one sign.
    """
    position = run.probes["parameters.position"]
    second = position[:, 1]
    return pd.DataFrame(
        {
            "step": 1 + run.probes["step"],
            "contamination": (position.sum(axis=1) - second) / second,
        }
    )


def encodings(run: Run, position: np.ndarray) -> pd.DataFrame:
    """One row per evaluation and position; `way` is the loss's, from unigrams to bigrams."""
    losses = {name: run.probes[f"losses.{OWN}.{name}"] for name in ("model", "unigram", "bigram")}
    way = (losses["unigram"] - losses["model"]) / (losses["unigram"] - losses["bigram"])
    shown = min(SHOWN, position.shape[1])
    return pd.DataFrame(
        {
            "step": np.repeat(run.probes["step"], shown),
            "way": np.repeat(way, shown),
            "position": np.tile(np.arange(1, shown + 1), len(position)),
            "v": position[:, :shown].ravel(),
        }
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes, and the exact ratio that the first step of W has."""
    return {
        "length": settings.length,
        "seeds": settings.seeds,
        "start": START,
        "rate": RATE,
        "epsilon": settings.epsilon,
        "engine_epsilon": settings.engine_epsilon,
        "diagonal_bias": induction.diagonal_bias(settings.length),
    }


STUDY = Study(
    name="even-odd",
    title="Two gradient steps explain why even positions light up",
    summary=(
        "The minimal model of an induction head has a vector v, which says how much it looks at "
        "the token j - 1 places back, and a matrix W, which compares tokens. Its first gradient "
        "steps can be computed exactly. The first turns W towards the identity and tells v "
        "nothing; the second makes v_2, the token before, the largest, and with it all even "
        "positions, which are of no use. The same transient pattern shows in real transformers. "
        "A proof that two steps with a curriculum reach the solution is checked too: they do not, "
        "four do."
    ),
    source="Thesis, Figures 8.4b, E.1, E.2 and E.7; Lemma 8.4, Proposition 8.5",
    scales={
        "quick": Scale(QUICK, minutes=2),
        "laptop": Scale(LAPTOP, minutes=30),
        "paper": Scale(PAPER, minutes=150),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        claims.second_position_leads,
        claims.diagonal_bias,
        claims.steps_are_those_of_the_population,
        claims.margin_matters,
        claims.first_step_decays_quadratically,
        claims.diagonal_gradient_alternates,
        claims.series_is_geometric,
        claims.symmetric_chains_favour_no_position,
        claims.even_exceed_odd_before_the_drop,
        claims.models_end_at_the_token_before,
        claims.two_steps_reach_bigrams,
        claims.four_steps_reach_bigrams,
        claims.engine_takes_the_same_steps,
    ),
    figures={
        "positions-in-time": "elegans.studies.induction.figures:positions",
        "gradients": "elegans.studies.induction.figures:gradients",
    },
    charts="elegans.studies.induction.figures:positions_chart",
    captions={
        "positions-in-time": (
            "Left: v after one and two steps of gradient descent, measured (dots, every seed) and "
            "exact (lines). Right: positions during longer training of the minimal model and of a "
            "transformer, seed 0; the thick line is the evaluation before the loss drops."
        ),
        "gradients": (
            "Left: W after one step (Figure E.1). Middle: the part of the second gradient of v "
            "that comes from the diagonal of W (Figure E.2), divided by (t-j+1)(t-j+2)/2, with the "
            "printed formula. Right: what is left besides v_2 after each step of Proposition "
            "8.5's curriculum, exactly and as trained."
        ),
        "chart": "Positions in time, a line per step.",
        "two_steps": "Parameters after each of two steps: measured, by seed and margin, and exact.",
        "contamination": "The curriculum as trained: the sum of v besides v_2, over v_2.",
        "positions": "One row per evaluation and position of the longer runs.",
        "diagonal": "The second gradient of v from the diagonal of W, and the printed expectation.",
        "first": "The first gradient at constant weights, on uniform and on symmetric chains.",
        "curriculum": "The exact steps of Proposition 8.5, and two more.",
        "exact": "The exact population steps.",
        "steps": "One row per run of the first steps.",
        "hard": "One row per run of the curriculum.",
        "longer": "One row per run of the minimal model.",
        "transformers": "One row per run of the transformer.",
    },
)
