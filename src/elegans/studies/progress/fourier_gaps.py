r"""Fourier gaps of random neurons, beside majority's: does the first gradient show the parity?

For a neuron with vector $w$ the gradient against $y = \chi_S(x)$ is $g_i = \mathbb{E}\,y x_i
\sigma'(\langle w, x \rangle)$, exactly, as a sum over all inputs. Its gap is
$\Gamma = \max_{i \in S} |g_i| - \max_{i \notin S} |g_i|$, or with min for the first max in the
strict sense of definition 5.4. For random signs $w$ and a rectifier it is half of majority's gap,
known in closed form (a check of the code: tests/studies/test_exact_studies.py); here are Gaussian
and uniform $w$, sinusoids $\sigma' = \sin(\langle w, x \rangle / \sqrt n)$, and a sinusoidal neuron
while SGD trains it. What follows for biases, activations and moving weights is in
`building_blocks`.

Both functions are odd, so coefficients of even order vanish, and gaps exist for even $k$ alone.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from elegans import cube
from elegans.fields import configuration
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap
from elegans.studies.progress import building_blocks
from elegans.studies.progress.times import share_of
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.theory.boolean import gradients, majority

INITS = ("sign", "uniform", "gaussian")
FUNCTIONS = ("threshold", "sinusoid")
SOURCE = "thesis, appendix B.3.1"
SMALL_K = 4  # the text speaks of small cases; beyond, sinusoids fall behind
NEURONS_PER_RUN = 100
FAIR_CHANCE = 0.05


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How many random neurons (hundreds of them), and how many paths of which length."""

    n: int
    ks: tuple[int, ...]
    hundreds: int
    paths: int
    path_k: int
    steps: int
    every: int
    blocks: building_blocks.Settings


@configuration
class RandomGaps:
    """The gaps of a hundred random neurons."""

    n: int
    k: int
    function: str
    init: str

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per neuron."""
        support = tuple(range(self.k))
        rows = []
        for i in range(NEURONS_PER_RUN):
            # The neuron depends on its number and init alone: functions and k share it.
            number = seed * NEURONS_PER_RUN + i
            generator = np.random.default_rng([number, INITS.index(self.init)])
            w = random_vector(self.init, self.n, generator)
            if self.function == "threshold":
                gradient = gradients.population(w, support)
            else:
                gradient = gradients.population(w / math.sqrt(self.n), support, activation=np.sin)
            rows.append(
                {
                    "neuron": number,
                    "gap": gradients.gap(gradient, support, relaxed=True),
                    "strict_gap": gradients.gap(gradient, support),
                    "theory": majority.gap(self.n, self.k) / 2,
                }
            )
        return pd.DataFrame(rows)


@configuration
class SinusoidPath:
    r"""The gap along SGD on $\sigma(z) = \cos(\frac\pi2 (k - z))$, which can be the parity itself.

    Hinge loss, no bias, uniform init of variance $1/(3n)$, fresh examples.
    """

    n: int
    k: int
    steps: int
    every: int
    learning_rate: float = 0.002
    batch: int = 32

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row each time that the gap is measured."""
        support = tuple(range(self.k))
        generator = np.random.default_rng([seed, 7])
        w = generator.uniform(-1, 1, self.n) / math.sqrt(self.n)
        rows = []
        for step in range(self.steps + 1):
            if step % self.every == 0:
                gradient = gradients.population(w, support, activation=self.slope)
                gap = gradients.gap(gradient, support, relaxed=True)
                rows.append({"step": step, "gap": gap})
            x = cube.drawn_signs(generator, self.batch, self.n)
            y, z = x[:, : self.k].prod(axis=1), x @ w
            is_below_margin = y * np.cos(math.pi / 2 * (self.k - z)) < 1
            w = w + self.learning_rate * (y * is_below_margin * self.slope(z)) @ x / self.batch
        return pd.DataFrame(rows)

    def slope(self, z: np.ndarray) -> np.ndarray:
        r"""$\sigma'(z)$."""
        return math.pi / 2 * np.sin(math.pi / 2 * (self.k - z))


def random_vector(init: str, n: int, generator: np.random.Generator) -> np.ndarray:
    """A neuron's weights at unit scale."""
    if init == "sign":
        return generator.choice([-1.0, 1.0], n)
    if init == "uniform":
        return generator.uniform(-1, 1, n)
    return generator.standard_normal(n)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Random neurons of every kind, and paths."""
    gaps = [
        (
            {"function": function, "init": init, "k": k},
            RandomGaps(n=settings.n, k=k, function=function, init=init),
        )
        for function in FUNCTIONS
        for init in INITS
        for k in settings.ks
    ]
    path = SinusoidPath(n=settings.n, k=settings.path_k, steps=settings.steps, every=settings.every)
    return {
        "gaps": Sweep.of(gaps, seeds=settings.hundreds),
        "paths": Sweep.of([({}, path)], seeds=settings.paths),
        **building_blocks.runs(settings.blocks),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """One row per function, init and k: how often the gap is positive, and how large it is."""
    rows = []
    kinds = runs["gaps"].table.groupby(["function", "init", "k"], sort=False)
    for (function, init, k), part in kinds:
        theory = part["theory"].iloc[0]
        reaches = part["gap"] >= theory * (1 - 1e-9)
        interval = share_of(reaches)
        rows.append(
            {
                "function": function,
                "init": init,
                "k": k,
                "neurons": len(part),
                "positive": float((part["gap"] > 0).mean()),
                "strict_positive": float((part["strict_gap"] > 0).mean()),
                "reaches_majority": interval.value,
                "low": interval.low,
                "high": interval.high,
                "median_gap": part["gap"].median(),
                "theory": theory,
            }
        )
    return {"kinds": pd.DataFrame(rows), **building_blocks.tables(runs)}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The sizes that the figure mentions."""
    neurons = settings.hundreds * NEURONS_PER_RUN
    return {"n": settings.n, "neurons": neurons, "path_k": settings.path_k}


def thresholds_are_comparable(tables: Tables) -> Claim:
    """Random rectifiers have gaps as large as majority's with a fair chance."""
    return comparable(tables, "threshold", "B.7")


def sinusoids_are_comparable(tables: Tables) -> Claim:
    """Random sinusoids have gaps as large as majority's with a fair chance."""
    return comparable(tables, "sinusoid", "B.8, left")


def comparable(tables: Tables, function: str, figure: str) -> Claim:
    """That neurons of a kind reach majority's gap with a fair chance, at small k."""
    kinds = tables["kinds"]
    random = kinds[(kinds["function"] == function) & (kinds["init"] != "sign")]
    small = random[random["k"] <= SMALL_K]
    worst = small.iloc[int(small["reaches_majority"].argmin())]
    interval = Interval(*(float(worst[name]) for name in ("reaches_majority", "low", "high")))
    shares = "; ".join(
        f"k = {k}: {part['reaches_majority'].min():.0%} to {part['reaches_majority'].max():.0%}"
        for k, part in random.groupby("k")
    )
    return Claim(
        text=(
            f"Gaps of random {function}s are comparable to majority's with a fair chance "
            f"(k <= {SMALL_K})"
        ),
        source=f"{SOURCE}, Figure {figure}",
        measured=(
            f"neurons whose gap is as large as majority's, {shares}; at worst {interval:.0%} "
            f"({worst['init']}, k = {worst['k']})"
        ),
        against=(
            f"an init, with k <= {SMALL_K}, of which the interval of that share reaches down to "
            f"{FAIR_CHANCE:.0%}"
        ),
        holds=interval.low > FAIR_CHANCE,
        interval=interval,
    )


def training_enlarges_the_gap(tables: Tables) -> Claim:
    """The gap of a sinusoidal neuron is positive at first and grows while it trains."""
    paths = tables["paths"]
    first = paths[paths["step"] == 0].set_index("seed")["gap"]
    positive = first > 0
    largest = paths.groupby("seed")["gap"].max()
    # A ratio to a gap that is not positive means nothing: such a path has not grown.
    growth = (largest / first).where(positive, 0.0)
    interval = bootstrap(growth.to_numpy())
    return Claim(
        text="The gap of a sinusoidal neuron is positive at first and grows as SGD trains it",
        source=f"{SOURCE}, Figure B.8, right",
        measured=(
            f"positive at first in {int(positive.sum())} of {len(first)} runs, then up to "
            f"{interval:.1f} times as large in the median"
        ),
        against=(
            "a run that begins without a gap, or an interval of the median growth that reaches "
            "down to 1.5"
        ),
        holds=bool(positive.all()) and interval.low > 1.5,
        interval=interval,
    )


BLOCKS = building_blocks.Settings(
    n=20, odd=3, even=2, gap_n=11, gap_ks=(2, 4), seeds=20, steps=8000
)

STUDY = Study(
    name="fourier-gaps",
    title="The first gradient of a random neuron already shows which inputs matter",
    summary=(
        "The label is the parity of k out of n random signs, and no single input says anything "
        "about it. Yet the gradient of a random neuron is, on average over all inputs, often "
        "larger at the relevant coordinates than at all others: that difference is its Fourier "
        "gap, the reason why gradient descent makes progress on parities long before its error "
        "falls. For neurons with random signs as weights the gap is known in closed form, half of "
        "that of the majority function. Here it is computed exactly for other random weights, for "
        "sinusoidal neurons, and along training."
    ),
    source="Thesis, Figures B.7 and B.8, appendix B.3.2",
    scales={
        "quick": Scale(
            Settings(
                n=11,
                ks=(2, 4),
                hundreds=1,
                paths=10,
                path_k=4,
                steps=4000,
                every=100,
                blocks=BLOCKS,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                n=15,
                ks=(2, 4, 6),
                hundreds=10,
                paths=10,
                path_k=4,
                steps=8000,
                every=100,
                blocks=replace(BLOCKS, seeds=50, gap_ks=(2, 4, 6)),
            ),
            minutes=4,
        ),
        "paper": Scale(
            Settings(
                n=15,
                ks=(2, 4, 6),
                hundreds=100,
                paths=10,
                path_k=4,
                steps=8000,
                every=100,
                blocks=replace(BLOCKS, n=50, gap_n=15, gap_ks=(2, 4, 6), seeds=100, steps=100_000),
            ),
            minutes=60,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        thresholds_are_comparable,
        sinusoids_are_comparable,
        training_enlarges_the_gap,
        building_blocks.sharper_rectifiers_have_larger_gaps,
        building_blocks.biases_break_the_symmetry,
        building_blocks.moving_helps,
    ),
    figures={
        "figure": "elegans.studies.progress.figures:fourier_gaps",
        "building-blocks": "elegans.studies.progress.figures_blocks:building_blocks",
    },
    charts="elegans.studies.progress.figures:fourier_gaps_chart",
    shown=("kinds",),
    formats={
        "positive": ".0%",
        "strict_positive": ".0%",
        "reaches_majority": ".0%",
        "low": ".0%",
        "high": ".0%",
    },
    captions={
        "figure": (
            "Left: how large the gaps of random neurons are, by the law of their weights, for "
            "rectifiers (above, whose derivative is a threshold) and sinusoids (below), a column "
            "for each k. To the right of zero the largest entry of the gradient is at a relevant "
            "input; the dashed line is the gap of random signs, half of majority's. Right: the gap "
            "of a sinusoidal neuron while it is trained, one line per run."
        ),
        "chart": (
            "Every random neuron as a dot: the relaxed gap, in which one relevant coordinate must "
            "stand out, against the strict one, in which all must. Click a legend entry to see one "
            "law of the weights alone. Below, the gaps along training."
        ),
        "building-blocks": (
            "Left: times to learn with and without biases, one dot per run; runs that fail are at "
            "the top. Middle: gaps of random neurons by activation, at equal mean squared "
            "derivative. Right: examples until the support is known, for SGD and for a learner "
            "that stays at the initial weights of the same run; above the diagonal SGD needs fewer."
        ),
        "biases": "One row per run of a ReLU network of width 10.",
        "sharpness": "Relaxed gap over the root of the mean squared derivative, by activation.",
        "examples": (
            "One row per start: the strict gap there, the examples that standing still takes and "
            "that proposition B.7 asks for, and the examples that SGD takes."
        ),
        "kinds": (
            "Share of random neurons whose gap is positive, positive in the strict sense, and at "
            "least majority's (with its 95% Wilson interval)"
        ),
        "gaps": "One row per random neuron; theory is half of majority's gap.",
        "paths": "The gap of a sinusoidal neuron during training.",
    },
)
