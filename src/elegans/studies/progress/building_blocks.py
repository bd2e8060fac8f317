r"""Biases, sharpness and moving weights: what section B.3.2 says of the parts of a network.

* *Biases.* Unbiased thresholds have no coefficients of even order, so for odd $k$ every gradient of
  a rectifier without bias is zero in the mean, and such networks should not learn; for even $k$
  they should. Biases that start at zero but are trained repair it.
* *Sharpness.* The gap of a rectifier beside that of its smooth version $\log(1 + e^z)$, of tanh and
  of the power $z^k$, each divided by the root of its mean squared derivative, so that scale does
  not count.
* *Moving.* A learner that stays at its initial weights until it knows the gradient there can read
  off the support if the strict gap is positive, after the samples of proposition B.7. SGD moves
  while it learns. How many examples does each take?
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from elegans import cube
from elegans.experiments.experiment import Experiment
from elegans.fields import configuration
from elegans.keys import keys_of
from elegans.models import MLP, inits
from elegans.probes import RelevantLead
from elegans.report.result import Claim, Tables
from elegans.runs import Run, Runs
from elegans.statistics import Interval, paired
from elegans.studies.progress.random_search import sinusoid
from elegans.studies.progress.times import groups, quantile, share_of, timed, until_perfect
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory.boolean import gradients

SOURCE = "thesis, appendix B.3.2"
UNBIASED, ZERO, TRAINED = "no biases", "biases zero at first", "biases random at first"
SLOPES = {
    "rectifier": lambda z, k: (z > 0).astype(float),
    "smooth rectifier": lambda z, k: 1 / (1 + np.exp(-z)),
    "tanh": lambda z, k: 1 / np.cosh(z) ** 2,
    "power": lambda z, k: k * z ** (k - 1),
}
BATCH = 32


@configuration
class Sharpness:
    """The gaps of one random neuron with several activations, at equal mean squared derivative."""

    n: int
    k: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per activation."""
        w = np.random.default_rng([seed, 11]).standard_normal(self.n) / math.sqrt(self.n)
        support = tuple(range(self.k))
        z = cube.signs(self.n) @ w
        rows = []
        for name, slope_of in SLOPES.items():
            slope = partial(slope_of, k=self.k)
            size = math.sqrt(float(np.mean(slope(z) ** 2)))
            gradient = gradients.enumerated(w, support, activation=slope)
            relaxed = gradients.gap(gradient / size, support, relaxed=True)
            rows.append({"activation": name, "gap": relaxed})
        return pd.DataFrame(rows)


@configuration
class StandingStill:
    """The support, read off the mean gradient at the initial weights of a sinusoidal neuron."""

    n: int
    k: int
    most: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """The examples after which it is read off for good, and what proposition B.7 asks for."""
        support = tuple(range(self.k))
        params = sinusoid(self.k).init_params(keys_of(seed).init, Parity(self.n, self.k))
        (layer,) = params.layers
        assert layer.bias is not None
        w, b = np.asarray(layer.weight[:, 0], float), float(layer.bias[0])
        exact = np.asarray(gradients.parity_sinusoid(w, b, support))
        strict = gradients.gap(exact[:-1], support)
        generator = np.random.default_rng([seed, 13])
        total, examples, since = np.zeros(self.n), 0, math.inf
        while examples < self.most:
            size = max(BATCH, examples // 8)
            x = cube.drawn_signs(generator, size, self.n)
            slope = -np.pi / 2 * np.sin(np.pi / 2 * (x @ w + b - self.k))
            total += (cube.character(x, support) * slope) @ x
            examples += size
            is_read = gradients.recovered(total, self.k) == support
            since = min(since, examples) if is_read else math.inf
        # derivatives are at most pi / 2, where the proposition has 1
        scale = np.pi / 2
        bound = gradients.recovery_samples(strict / scale, self.n) if strict > 0 else math.inf
        return pd.DataFrame({"strict_gap": [strict], "standing": [since], "bound": [bound]})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The task of the trained networks, an odd and an even k, and the neurons of the gaps."""

    n: int
    odd: int
    even: int
    gap_n: int
    gap_ks: tuple[int, ...]
    seeds: int
    steps: int


def runs(settings: Settings) -> dict[str, Sweep]:
    """Networks with and without biases, gaps by activation, and learners that stand and move."""
    n, odd, even, steps = settings.n, settings.odd, settings.even, settings.steps

    def network(k: int, hidden_bias: bool, init: Any) -> Experiment:
        model = MLP(width=10, hidden_bias=hidden_bias, init=init)
        return Experiment(Parity(n, k), model, until_perfect(0.1, batch=BATCH, steps=steps))

    uniform, gaussian = inits.Uniform(), inits.Gaussian()
    biased = [
        ({"biases": UNBIASED, "k": odd}, network(odd, False, uniform)),
        ({"biases": UNBIASED, "k": even}, network(even, False, uniform)),
        ({"biases": ZERO, "k": odd}, network(odd, True, gaussian)),
        ({"biases": TRAINED, "k": odd}, network(odd, True, uniform)),
    ]
    moving = Experiment(
        Parity(n, odd), sinusoid(odd), until_perfect(0.01, batch=BATCH, steps=steps, every=5)
    )
    still = StandingStill(n=n, k=odd, most=BATCH * steps)
    sharp = [({"k": k}, Sharpness(n=settings.gap_n, k=k)) for k in settings.gap_ks]
    seeds = settings.seeds
    return {
        "biases": Sweep.of(biased, seeds=seeds),
        "moving": Sweep.of([({}, moving)], seeds=seeds, probes={"lead": RelevantLead()}),
        "standing": Sweep.of([({}, still)], seeds=seeds),
        "sharpness": Sweep.of(sharp, seeds=5 * seeds),
    }


def tables(runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Times by biases, gaps by activation, and examples of learners that stand and move."""
    moving = runs["moving"].rows(examples_to_lead).set_index("seed")["moving"]
    standing = runs["standing"].table.set_index("seed")
    return {
        "biases": timed(runs["biases"].table)[["biases", "k", "seed", "success", "time"]],
        "sharpness": runs["sharpness"].table,
        "examples": standing.assign(moving=moving).reset_index(),
    }


def examples_to_lead(run: Run) -> pd.DataFrame:
    """The examples that a run has seen when its relevant weights lead for the first time."""
    leads = run.probes["step"][run.probes["lead"] > 0]
    return pd.DataFrame({"moving": [BATCH * float(leads[0]) if len(leads) else math.inf]})


def biases_break_the_symmetry(tables: Tables) -> Claim:
    """Without biases odd k is not learned; with them, or with even k, it is."""
    shares = {
        (str(biases), int(k)): share_of(part["success"])
        for (biases, k), part in groups(tables["biases"], ["biases", "k"])
    }
    odd = next(share for (name, k), share in shares.items() if name == UNBIASED and k % 2)
    others = [share for (name, k), share in shares.items() if name != UNBIASED or k % 2 == 0]
    return Claim(
        text="Rectifiers without biases do not learn odd k; biases, even from zero, repair it",
        source=SOURCE,
        measured="share of runs that converge: "
        + "; ".join(f"k = {k}, {name} {share:.0%}" for (name, k), share in shares.items()),
        against="an interval without biases at odd k that overlaps one of the other three",
        holds=odd.high < min(share.low for share in others),
        interval=odd,
    )


def sharper_rectifiers_have_larger_gaps(tables: Tables) -> Claim:
    """At equal mean squared derivative the rectifier's gap exceeds that of its smooth version."""
    gains: dict[int, Interval] = {}
    means = {}
    for k, part in groups(tables["sharpness"], "k"):
        by_name = part.pivot(index="seed", columns="activation", values="gap")
        pair = by_name["smooth rectifier"], by_name["rectifier"]
        # the mean, as most gaps are small and the few large ones are those that matter
        gains[int(k)] = paired(*pair, np.mean).difference
        means[int(k)] = by_name.mean()
    worst = min(gains, key=lambda k: gains[k].low)
    return Claim(
        text="Sharpness helps: a rectifier has a larger gap than its smooth version",
        source=SOURCE,
        measured="; ".join(
            f"k = {k}: larger by {gain:.4f}, paired by neuron (means "
            + ", ".join(f"{name} {value:.4f}" for name, value in means[k].items())
            + ")"
            for k, gain in gains.items()
        ),
        against="a k at which the interval of the mean difference reaches zero",
        holds=gains[worst].low > 0,
        interval=gains[worst],
    )


def moving_helps(tables: Tables) -> Claim:
    """SGD has the support in front with fewer examples than its first gradient asks for."""
    rows = tables["examples"]
    fewer = share_of(rows["moving"] < rows["standing"])
    medians = {name: quantile(rows[name], 0.5) for name in ("moving", "standing", "bound")}
    return Claim(
        text="Moving helps: SGD needs fewer examples than reading the gradient at its start",
        source=f"{SOURCE}, Proposition B.7",
        measured=(
            f"in {fewer:.0%} of {len(rows)} starts; in the median SGD has the support in front "
            f"after {medians['moving']:,.0f} examples, and standing still reads it off after "
            f"{medians['standing']:,.0f}, where proposition B.7 asks for {medians['bound']:,.0f}"
        ),
        against="an interval of the share of starts that reaches one half",
        holds=fewer.low > 0.5,
        interval=fewer,
    )
