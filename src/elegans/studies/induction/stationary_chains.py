r"""Two remarks about chains that start in their stationary law (thesis, section 8.2, Remark 8.1).

The bigram strategy is optimal up to what the first token tells of a chain that starts in its
stationary law $\pi$; the remark says that this becomes negligible as sequences grow. And as the
number of states $k$ grows, $\pi$ of a chain with random rows tends to the uniform law, so that
single tokens tell less and less: to first order $\pi$ is the mean of the rows, whose entries have
a relative variance of $\frac{k-1}{k+1}$, so that $k\pi$ deviates from one by
$\sqrt{(k-1)/(k(k+1))}$. Nothing is trained here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.random as jr
import numpy as np
import pandas as pd

from elegans.fields import configuration
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, normal_mean
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import MarkovChains
from elegans.theory.markov import bayes, known_sequences, predict, true_laws

NEGLIGIBLE = 1e-3  # nats
HALF_POWER = (-0.6, -0.4)  # exponents of k that count as one half
MANY_STATES = 16  # from which on k - 1 and k + 1 are about k
NEAR_THEORY = 0.05


@configuration
class FirstToken:
    """A computation: what the bigram strategy loses to the optimum at the last position."""

    length: int
    sequences: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: both losses, and their difference with its 95% interval."""
        task = MarkovChains(2, self.length)
        known = known_sequences(task, jr.key(seed), self.sequences)
        truth = np.asarray(true_laws(known.x, known.transitions)[:, -1], np.float64)
        losses = {}
        for name, law in (
            ("bigram", predict("bigram", known.x, 2)),
            ("bayes", bayes(task, known.x)),
        ):
            last = np.asarray(law[:, -1], np.float64)
            losses[name] = -np.sum(truth * np.log(last), axis=1)
        gap = normal_mean(losses["bigram"] - losses["bayes"])
        row = {name: float(values.mean()) for name, values in losses.items()}
        return pd.DataFrame([{**row, "gap": gap.value, "low": gap.low, "high": gap.high}])


@configuration
class StationaryLaw:
    r"""A computation: how far $\pi$ of chains with flat Dirichlet rows is from uniform."""

    states: int
    chains: int

    def __call__(self, seed: int) -> pd.DataFrame:
        r"""One row: means over chains of the deviation of $k\pi$ from one.

        `distance` is its root mean square over states, `largest` its largest entry, which by chance
        alone is about $\sqrt{2 \log k}$ times as much.
        """
        k = self.states
        rows = np.random.default_rng(seed).dirichlet(np.ones(k), size=(self.chains, k))
        # pi (P - I) = 0 and sum pi = 1: the last equation takes the place of one that is implied.
        system = np.swapaxes(rows, 1, 2) - np.eye(k)
        system[:, -1, :] = 1.0
        law = np.linalg.solve(system, np.broadcast_to(np.eye(k)[:, -1:], (self.chains, k, 1)))
        deviation = k * law[..., 0] - 1
        distance = np.sqrt((deviation**2).mean(axis=1))
        mean, log = normal_mean(distance), normal_mean(np.log(distance))
        return pd.DataFrame(
            [
                {
                    "distance": mean.value,
                    "low": mean.low,
                    "high": mean.high,
                    "theory": float(np.sqrt((k - 1) / (k * (k + 1)))),
                    "largest": float(np.abs(deviation).max(axis=1).mean()),
                    "log": log.value,
                    "log_error": log.radius / 1.96,
                }
            ]
        )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Lengths of sequences, numbers of states, and how many are drawn of each."""

    sequences: int
    chains: int
    lengths: tuple[int, ...] = (10, 30, 100)
    states: tuple[int, ...] = (4, 8, 16, 32, 64)


QUICK = Settings(sequences=8192, chains=1000)
LAPTOP = Settings(sequences=65_536, chains=10_000)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Both computations."""
    first = [({"length": t}, FirstToken(t, settings.sequences)) for t in settings.lengths]
    laws = [({"states": k}, StationaryLaw(k, settings.chains)) for k in settings.states]
    return {"first_token": Sweep.of(first), "laws": Sweep.of(laws)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """What was computed is all there is."""
    return {name: each.table for name, each in runs.items()}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes."""
    return {"sequences": settings.sequences, "chains": settings.chains}


def first_token_becomes_negligible(tables: Tables) -> Claim:
    """The bigram strategy's loss over the optimum falls with the length, to next to nothing."""
    table = tables["first_token"].sort_values("length")
    last = table.iloc[-1]
    interval = Interval(last["gap"], last["low"], last["high"])
    falls = bool((table["low"].iloc[:-1].to_numpy() > table["high"].iloc[1:].to_numpy()).all())
    return Claim(
        text="As sequences grow bigrams approach the optimum: the first token becomes negligible",
        source="thesis, Remark 8.1",
        measured="bigrams lose "
        + ", ".join(f"{row['gap']:.1e} nats at {row['length']:.0f}" for _, row in table.iterrows())
        + f" tokens; at the last {interval:.1e}",
        against=(
            "intervals that do not fall from one length to the next, or one that reaches "
            f"{NEGLIGIBLE:g} nats at the largest"
        ),
        holds=falls and abs(interval.high) < NEGLIGIBLE and interval.value >= 0,
        interval=interval,
    )


def law_tends_to_uniform(tables: Tables) -> Claim:
    r"""The relative deviation of $\pi$ from uniform falls about as $k^{-1/2}$."""
    laws = tables["laws"].sort_values("states")
    table = laws[laws["states"] >= MANY_STATES]
    off = float((table["distance"] / table["theory"] - 1).abs().max())
    x = np.log(table["states"].to_numpy(float))
    weights = x - x.mean()
    weights = weights / (weights @ weights)
    slope = float(weights @ table["log"].to_numpy(float))
    radius = 1.96 * float(np.sqrt(np.sum((weights * table["log_error"].to_numpy(float)) ** 2)))
    interval = Interval(slope, slope - radius, slope + radius)
    ends = laws.iloc[[0, -1]]
    return Claim(
        text="With more states the stationary law tends to the uniform one, as k to the power -1/2",
        source="thesis, section 8.2 (Bordenave et al.)",
        measured=(
            " and ".join(
                f"{row['distance']:.2f} at {row['states']:.0f} states" for _, row in ends.iterrows()
            )
            + f" is the relative deviation (root mean square); from {MANY_STATES} states on it "
            + f"falls as k to the power {interval:.2f}, and is the computed one to {off:.1%}"
        ),
        against=(
            f"an interval of the power that is not within {HALF_POWER[0]} to {HALF_POWER[1]}, or a "
            f"deviation that is off by {NEAR_THEORY:.0%}"
        ),
        holds=HALF_POWER[0] < interval.low and interval.high < HALF_POWER[1] and off < NEAR_THEORY,
        interval=interval,
    )


STUDY = Study(
    name="stationary-chains",
    title="What the first symbol tells, and how even long-run frequencies are",
    summary=(
        "A sequence that starts in the long-run law of its Markov chain tells something by its "
        "first symbol already, which counting transitions leaves out. How much is lost by that? "
        "And how uneven is that law, if the chain is drawn at random with many states? Both "
        "numbers are computed without training anything: the first is negligible for sequences "
        "of a hundred symbols, the second falls with the number of states."
    ),
    source="Thesis, Remark 8.1 and section 8.2",
    scales={
        "quick": Scale(QUICK, minutes=1),
        "laptop": Scale(LAPTOP, minutes=3),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(first_token_becomes_negligible, law_tends_to_uniform),
    figures="elegans.studies.induction.figures:stationary",
    shown=("first_token", "laws"),
    formats={"gap": ".2e", "first_token.low": ".2e", "first_token.high": ".2e"},
    captions={
        "figure": (
            "Left: what the bigram strategy loses to the optimal predictor, at the last of so many "
            "symbols. Right: the relative deviation of the stationary law from the uniform one "
            "(root mean square, and largest), with what is computed from that of the rows. "
            "Bars are 95% intervals."
        ),
        "first_token": "Losses of bigrams and of the optimum in nats, and their difference.",
        "laws": "Deviation of the stationary law from uniform by the number of states.",
    },
)
