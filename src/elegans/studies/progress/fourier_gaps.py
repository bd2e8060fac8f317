r"""Fourier gaps of random neurons, beside majority's: does the first gradient show the parity?

For a neuron with vector $w$ the gradient against $y = \chi_S(x)$ is $g_i = \mathbb{E}\,y x_i
\sigma'(\langle w, x \rangle)$, exactly, as a sum over all inputs. Its gap is
$\Gamma = \max_{i \in S} |g_i| - \max_{i \notin S} |g_i|$, or with min for the first max in the
strict sense of definition 5.4. For random signs $w$ and a rectifier it is half of majority's gap,
known in closed form; here are Gaussian and uniform $w$, sinusoids $\sigma' = \sin(\langle w, x
\rangle / \sqrt n)$, and a sinusoidal neuron while SGD trains it.

Both functions are odd, so coefficients of even order vanish, and gaps exist for even $k$ alone.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.statistics import wilson
from elegans.studies.study import Claim, Result, Scale, Study
from elegans.theory.boolean import gradients, majority

STARTS = ("sign", "uniform", "gaussian")
SOURCE = "thesis, appendix B.3.1"
SMALL_K = 4  # the text speaks of small cases; beyond, sinusoids fall behind


@dataclass(frozen=True)
class Settings:
    """How many random neurons, and how long a path."""

    n: int
    ks: tuple[int, ...]
    trials: int
    paths: int
    path_k: int
    steps: int
    every: int
    learning_rate: float = 0.002
    batch: int = 32


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Draws the neurons, trains the paths, and checks what the figures are said to show."""
    gaps = random_gaps(settings)
    paths = path_gaps(settings)
    table = summarised(gaps)
    return Result(
        study="fourier-gaps",
        scale=scale,
        table=table,
        summary={
            "Share of random neurons whose gap is positive": shares(table, "positive"),
            "Share whose gap is at least majority's": shares(table, "above_majority"),
        },
        claims=check(table, paths),
        data={"gaps": gaps, "paths": paths},
        facts={"n": settings.n, "trials": settings.trials, "path_k": settings.path_k},
    )


def start(name: str, n: int, generator: np.random.Generator) -> np.ndarray:
    """A random vector of one of the starts, at unit scale."""
    if name == "sign":
        return generator.choice([-1.0, 1.0], n)
    if name == "uniform":
        return generator.uniform(-1, 1, n)
    return generator.standard_normal(n)


def random_gaps(settings: Settings) -> pd.DataFrame:
    """One row a random neuron, for thresholds and for sinusoids."""
    rows = []
    n = settings.n
    for seed in range(settings.trials):
        for name in STARTS:
            w = start(name, n, np.random.default_rng([seed, STARTS.index(name)]))
            for k in settings.ks:
                support = tuple(range(k))
                for kind in ("threshold", "sinusoid"):
                    if kind == "threshold":
                        gradient = gradients.population(w, support)
                    else:
                        gradient = gradients.population(
                            w / math.sqrt(n), support, activation=np.sin
                        )
                    rows.append(
                        {
                            "function": kind,
                            "start": name,
                            "k": k,
                            "seed": seed,
                            "gap": gradients.gap(gradient, support, relaxed=True),
                            "strict_gap": gradients.gap(gradient, support),
                            "theory": majority.gap(n, k) / 2,
                        }
                    )
    return pd.DataFrame(rows)


def path_gaps(settings: Settings) -> pd.DataFrame:
    r"""The gap along SGD on $\sigma(z) = \cos(\frac\pi2 (k - z))$, which can be the parity itself.

    Hinge loss, no bias, uniform start of variance $1/(3n)$, fresh examples.
    """
    n, k = settings.n, settings.path_k
    support = tuple(range(k))

    def slope(z: np.ndarray) -> np.ndarray:
        return math.pi / 2 * np.sin(math.pi / 2 * (k - z))

    rows = []
    for seed in range(settings.paths):
        generator = np.random.default_rng([seed, 7])
        w = generator.uniform(-1, 1, n) / math.sqrt(n)
        for step in range(settings.steps + 1):
            if step % settings.every == 0:
                gradient = gradients.population(w, support, activation=slope)
                rows.append(
                    {"seed": seed, "step": step,
                     "gap": gradients.gap(gradient, support, relaxed=True)}
                )  # fmt: skip
            x = 1.0 - 2.0 * generator.integers(0, 2, (settings.batch, n))
            y = x[:, :k].prod(axis=1)
            z = x @ w
            wrong = y * np.cos(math.pi / 2 * (k - z)) < 1
            w = w + settings.learning_rate * (y * wrong * slope(z)) @ x / settings.batch
    return pd.DataFrame(rows)


def summarised(gaps: pd.DataFrame) -> pd.DataFrame:
    """One row a function, start and k: how often the gap is positive, and how large it is."""
    rows = []
    for (kind, name, k), part in gaps.groupby(["function", "start", "k"], sort=False):
        theory = part["theory"].iloc[0]
        reached = part["gap"] >= theory * (1 - 1e-9)
        rows.append(
            {
                "function": kind,
                "start": name,
                "k": k,
                "trials": len(part),
                "positive": float((part["gap"] > 0).mean()),
                "strict_positive": float((part["strict_gap"] > 0).mean()),
                "above_majority": float(reached.mean()),
                "above_majority_low": wilson(int(reached.sum()), len(part)).low,
                "median_gap": part["gap"].median(),
                "theory": theory,
            }
        )
    return pd.DataFrame(rows)


def shares(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """A share by function and start, across k."""
    named = table.assign(neuron=table["function"] + ", " + table["start"])
    grid = named.pivot(index="neuron", columns="k", values=column)
    grid.columns = [f"k = {k}" for k in grid.columns]
    return grid


def check(table: pd.DataFrame, paths: pd.DataFrame) -> tuple[Claim, ...]:
    """What the text says about figures B.7 and B.8."""
    signs = table[(table["function"] == "threshold") & (table["start"] == "sign")]
    worst = float(np.abs(signs["median_gap"] / signs["theory"] - 1).max())
    claims = [
        Claim(
            "Random signs have the gap of majority at every S",
            SOURCE,
            f"largest relative difference from the closed form {worst:.1e}",
            worst < 1e-9,
        )
    ]
    for kind, figure in (("threshold", "B.7"), ("sinusoid", "B.8, left")):
        random = table[(table["function"] == kind) & (table["start"] != "sign")]
        small = random[random["k"] <= SMALL_K]
        shown = "; ".join(
            f"k = {k}: {part['above_majority'].min():.0%} to {part['above_majority'].max():.0%}"
            for k, part in random.groupby("k")
        )
        claims.append(
            Claim(
                f"Gaps of random {kind}s are comparable to majority's with a fair chance "
                f"(k <= {SMALL_K})",
                f"{SOURCE}, Figure {figure}",
                f"neurons whose gap is as large as majority's, {shown}",
                bool(small["above_majority_low"].min() > 0.05),
            )
        )
    first = paths[paths["step"] == 0].set_index("seed")["gap"]
    growth = paths.groupby("seed")["gap"].max() / first
    claims.append(
        Claim(
            "The gap of a sinusoidal neuron is positive at the start and grows as SGD trains it",
            f"{SOURCE}, Figure B.8, right",
            f"positive at the start in {(first > 0).sum()} of {len(first)} runs, then up to "
            f"{growth.median():.1f} times as large in the median ({growth.min():.1f} to "
            f"{growth.max():.1f})",
            bool((first > 0).all() and growth.median() > 1.5),
        )
    )
    return tuple(claims)


STUDY = Study(
    name="fourier-gaps",
    reproduces="Thesis, Figures B.7 and B.8: Fourier gaps of random neurons beside majority's",
    scales={
        "quick": Scale(Settings(n=11, ks=(2, 4), trials=100, paths=5, path_k=4, steps=4000,
                                every=100), "5 seconds"),
        "laptop": Scale(Settings(n=15, ks=(2, 4, 6), trials=1000, paths=10, path_k=4, steps=8000,
                                 every=100), "2 minutes"),
        "paper": Scale(Settings(n=15, ks=(2, 4, 6), trials=10_000, paths=10, path_k=4, steps=8000,
                                every=100), "20 minutes"),
    },
    measure=measure,
)  # fmt: skip
