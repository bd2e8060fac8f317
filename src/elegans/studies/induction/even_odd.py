r"""Even and odd positions: what two gradient steps do to $v$ (thesis, Figures 8.4b, E.1, E.2, E.7).

The minimal model is trained with the margin loss for two steps from $W = c 11^\top$, $v = c 1$, and
compared with the exact population steps of `theory.induction`; then with cross-entropy for longer,
and so is a transformer, whose effective positional encoding is watched. Positions count from one,
as in the text: $v_2$ is the token before. The start $c$ is so small that no example reaches the
margin within two steps, as the lemma assumes: $v$ is proportional to it, logits to its square.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import AttentionOnly, MinimalInduction
from elegans.probes import AttentionMasses
from elegans.studies.induction.runs import Recipe, Watched, runs_of
from elegans.studies.unported import Claim, Result, Scale, Study
from elegans.tasks import MarkovChains
from elegans.theory.markov import induction
from elegans.training.recipe import Training

SHOWN = 12  # positions of the figure


@dataclass(frozen=True)
class Settings:
    """The first two steps take a large batch; the longer runs, the usual one."""

    batch: int
    seeds: int
    minimal: Recipe
    transformer: Recipe
    start: float = 0.002
    rate: float = 0.06
    length: int = 100
    dim: int = 16


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Takes the two steps, trains both models, and compares; options are those of `Sweep.run`."""
    task = MarkovChains(2, settings.length)
    exact = induction.two_steps(settings.length, settings.start, settings.rate)
    measured = first_steps(task, settings, **options)
    table = pd.concat([steps_table(exact, run) for run in measured], ignore_index=True)
    minimal = runs_of(
        Experiment(task, MinimalInduction(), settings.minimal.training()),
        range(settings.seeds),
        {"position": position},
        **options,
    )
    model = AttentionOnly(2, 1, settings.dim, scale=0.5)
    transformer = runs_of(
        Experiment(task, model, settings.transformer.training()),
        range(settings.seeds),
        {"masses": AttentionMasses()},
        **options,
    )
    longer = pd.concat(
        [encodings("minimal", run, run.probes["position"]) for run in minimal]
        + [encodings("transformer", run, run.probes["masses.encoding"]) for run in transformer],
        ignore_index=True,
    )
    return Result(
        study="even-odd",
        scale=scale,
        table=table,
        summary={"Share of evaluations at which v_4 exceeds v_3": alternation(longer)},
        claims=check(table, longer, exact, measured, settings),
        data={"longer": longer[longer["position"] <= SHOWN]},
        facts={"length": settings.length, "seeds": settings.seeds, "start": settings.start},
    )


def position(params: Any, initial: Any, task: Any, key: Any) -> Any:
    """A probe: the minimal model's $v$."""
    return params.position


def weight(params: Any, initial: Any, task: Any, key: Any) -> Any:
    """A probe: the minimal model's $W$."""
    return params.weight


def first_steps(task: MarkovChains, settings: Settings, **options: Any) -> list[Watched]:
    """Two steps with the margin loss from every seed, both parameters kept at each."""
    training = Training(
        loss="margin",
        learning_rate=settings.rate,
        batch=settings.batch,
        steps=2,
        evaluate_every=1,
        test_samples=250,
    )
    model = MinimalInduction(weight=settings.start, position=settings.start)
    probes = {"position": position, "weight": weight}
    return runs_of(Experiment(task, model, training), range(settings.seeds), probes, **options)


def steps_table(exact: tuple[induction.Weights, ...], run: Watched) -> pd.DataFrame:
    """One row a step and position: $v_j$ as measured and as the population step gives it."""
    seen = run.probes["position"]
    rows = [
        pd.DataFrame(
            {
                "step": step,
                "seed": run.seed,
                "position": np.arange(1, len(weights.position) + 1),
                "v": seen[step],
                "theory": weights.position,
            }
        )
        for step, weights in enumerate(exact)
    ]
    return pd.concat(rows, ignore_index=True)


def encodings(name: str, run: Watched, seen: np.ndarray) -> pd.DataFrame:
    """One row an evaluation and position."""
    steps, positions = run.history["step"].to_numpy(), np.arange(1, seen.shape[1] + 1)
    return pd.DataFrame(
        {
            "model": name,
            "seed": run.seed,
            "step": np.repeat(steps, len(positions)),
            "position": np.tile(positions, len(steps)),
            "v": seen.ravel(),
        }
    )


def distance(part: pd.DataFrame, start: float) -> float:
    """The largest difference from the theory, as a share of the largest change."""
    return float((part["v"] - part["theory"]).abs().max() / (part["theory"] - start).abs().max())


def alternation(longer: pd.DataFrame) -> pd.DataFrame:
    """How often the fourth position is above the third, by model."""
    grid = longer.pivot(index=["model", "seed", "step"], columns="position", values="v")
    above = (grid[4] > grid[3]).groupby("model").mean()
    return above.to_frame("v_4 > v_3")


def check(
    table: pd.DataFrame,
    longer: pd.DataFrame,
    exact: tuple[induction.Weights, ...],
    measured: list[Watched],
    settings: Settings,
) -> tuple[Claim, ...]:
    """Lemma 8.4, its numbers, and the pattern that it explains."""
    last = table[table["step"] == 2]
    leaders = last.loc[last.groupby("seed")["v"].idxmax(), "position"]
    moved = np.mean([run.probes["weight"][1] for run in measured], axis=0)
    moved = moved - settings.start
    ratio = float(np.mean(np.diag(moved)) / np.mean([moved[0, 1], moved[1, 0]]))
    bias = induction.diagonal_bias(settings.length)
    off = [distance(table[table["step"] == step], settings.start) for step in (1, 2)]
    even = alternation(longer[longer["step"] > 0])["v_4 > v_3"]
    ends = longer[longer["step"] == longer.groupby("model")["step"].transform("max")]
    top = ends.loc[ends.groupby(["model", "seed"])["v"].idxmax()].groupby("model")["position"]
    return (
        Claim(
            "After two steps of the minimal model v_2 is the largest coordinate",
            "thesis, Lemma 8.4",
            f"largest at position {sorted(set(leaders))} in {len(leaders)} seeds; in theory "
            f"{int(np.argmax(exact[2].position)) + 1}",
            bool((leaders == 2).all() and np.argmax(exact[2].position) == 1),
        ),
        Claim(
            "The first step moves the diagonal of W about four times as much as the rest",
            "thesis, Lemma 8.4",
            f"measured {ratio:.2f}, exact {bias:.2f} at length {settings.length}, limit "
            f"{induction.DIAGONAL / induction.OFF_DIAGONAL:.2f}",
            abs(ratio / bias - 1) < 0.1,
        ),
        Claim(
            "Both steps of v are the population's: the first decays quadratically with position",
            "thesis, Lemma E.1",
            f"largest difference {off[0]:.1%} of the largest change after one step, {off[1]:.1%} "
            "after two",
            max(off) < 0.1,
        ),
        Claim(
            "On the way even positions exceed odd ones, in the transformer too",
            "thesis, section 8.3.2 and Figures 8.4b and E.7",
            ", ".join(f"{name}: v_4 > v_3 in {share:.0%} of evaluations"
                      for name, share in even.items()),
            bool((even > 0.5).all()),
        ),
        Claim(
            "Both models end with the token before as their largest position",
            "thesis, section 8.3.2",
            ", ".join(f"{name}: position {sorted(set(places))}" for name, places in top),
            bool(all((places == 2).all() for _, places in top)),
        ),
    )  # fmt: skip


STUDY = Study(
    name="even-odd",
    reproduces="Thesis, Figures 8.4b, E.1, E.2 and E.7: two steps, and even against odd positions",
    scales={
        "quick": Scale(
            Settings(8192, 3, Recipe(1000, 2e-3, optimizer="sgd"), Recipe(500, 3e-3)), "1 minute"
        ),
        "laptop": Scale(
            Settings(65_536, 10, Recipe(10_000, 2e-3, 100, "sgd"), Recipe(5000, 3e-4, 100)),
            "20 minutes",
        ),
        "paper": Scale(
            Settings(
                65_536,
                10,
                Recipe(10_000, 2e-3, 100, "sgd", schedule="constant"),
                Recipe(50_000, 3e-5, 200, schedule="constant"),
            ),
            "2 hours",
        ),
    },
    measure=measure,
)
