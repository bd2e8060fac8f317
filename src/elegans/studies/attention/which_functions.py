r"""Which functions of three bits does a transformer find from about $\log T$ examples?

One protocol for four functions: AND, majority, a random function, and XOR (parity). All are
determined by about $\log_2 \binom T3$ labels, up to a constant. The first three have correlations
with single bits, which a gradient sees from few examples. XOR has none: every statistic of fewer
than three bits is blind to it, so what it costs is steps, and a training set that is fitted before
it is understood teaches nothing. It should leave the logarithmic law. (Our own study; the
document has ANDs and, online, parities.)

Batches of 64 are drawn from the $m$ examples; ambiguous training sets are not rejected. A cell in
which no $m$ of the grid is enough is *censored* and shown as such. The control is XOR with fresh
examples, which is learned: what fails is not the network. It also has more steps, larger batches,
half the learning rate and no dropout, so it does not tell which of these XOR needs.
"""

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap_clustered, wilson
from elegans.statistics.resampling import percentile
from elegans.studies import thresholds
from elegans.studies.attention.protocol import (
    CAPTIONS,
    FORMATS,
    GOAL,
    HALF,
    SPARSITY,
    TARGET,
    Network,
    ThresholdSettings,
    threshold_facts,
)
from elegans.studies.attention.references import bits_needed
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Conjunction, Junta, Parity, SparseMajority
from elegans.training.recipe import Group, Stop, Training

SOURCE = "our own study, after thesis, sections 4.5 and 4.6"
XOR = "XOR"
EASY = ("AND", "majority", "random")
# A random balanced table that depends on all three bits, in the order of `tasks.Junta`.
RANDOM_TABLE = (1, -1, -1, -1, 1, 1, -1, 1)
MUCH_MORE = 2.0  # times as many examples


@dataclass(frozen=True, kw_only=True)
class Settings(ThresholdSettings):
    """Which T and m are tried how often, and the control."""

    control_steps: int
    control_seeds: int
    batch: int = 64
    control_batch: int = 512

    def training(self, samples: int | None, steps: int, batch: int, rate: float) -> Training:
        """The recipe; with no number of samples, online."""
        return Training(
            loss="logistic",
            optimizer="adamw",
            learning_rate=rate,
            groups=(Group("weights", learning_rate=rate, weight_decay=1e-4),),
            batch=batch,
            samples=samples,
            steps=steps,
            evaluate_every=20,
            test_samples=self.test_rows,
            screen_rows=min(250, self.test_rows),
            stop=Stop(test_error=GOAL),
        )


def task_of(function: str, T: int) -> Conjunction | SparseMajority | Junta | Parity:
    """The task of a function's name; labels are balanced in all of them."""
    if function == "AND":
        return Conjunction(T, SPARSITY, p=HALF)
    if function == "majority":
        return SparseMajority(T, SPARSITY)
    return Junta(T, RANDOM_TABLE) if function == "random" else Parity(T, SPARSITY)


def runs(settings: Settings) -> Generator[dict[str, Sweep], dict[str, Runs], None]:
    """The control, and the search for thresholds."""
    control = Experiment(
        Parity(min(settings.lengths), SPARSITY),
        Network(other_dropout=0.0).model(),
        settings.training(None, settings.control_steps, settings.control_batch, 5e-4),
    )
    seeds = range(settings.first_seed, settings.first_seed + settings.control_seeds)
    yield {"control": Sweep.of([({"function": XOR}, control)], seeds=seeds)}

    def experiment(group: thresholds.Group, samples: int, restart: int) -> Experiment:
        return Experiment(
            task_of(group["function"], group["T"]),
            settings.network.model(restart),
            settings.training(samples, settings.steps, settings.batch, 1e-3),
        )

    groups = [{"function": name, "T": T} for name in (*EASY, XOR) for T in settings.lengths]
    yield from settings.search(groups, experiment)


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Trials, success rates, thresholds, and the control."""
    result = settings.tables(runs, ["function", "T"], apart="control")
    return result | {"control": runs["control"].table}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return threshold_facts(settings, tables) | {
        "control_T": min(settings.lengths),
        "control_steps": settings.control_steps,
    }


def xor_leaves_the_law(tables: Tables) -> Claim:
    """At every T but the smallest, XOR needs far more examples than any other function."""
    table = tables["thresholds"].set_index(["function", "T"])["m_star"]
    lengths = sorted(tables["thresholds"]["T"].unique())[1:]
    easy = {T: max(table[name, T] for name in EASY) for T in lengths}
    xor = {T: table[XOR, T] for T in lengths}
    T = max(lengths)
    chosen = tables["trials"].query("function == @XOR and T == @T")
    enough = chosen[chosen["samples"] >= min(table[name, T] for name in EASY)]
    interval = success_rate(enough)
    shown = ", ".join(f"{number(xor[T])} against {number(easy[T])} at T = {T}" for T in lengths)
    return Claim(
        text="XOR leaves the logarithmic law: it needs far more examples than the others, or fails",
        source=SOURCE,
        measured=(
            f"m* of XOR against the largest of the other three: {shown}; where one of those "
            f"succeeds at T = {T}, {interval:.0%} of trials with XOR do"
        ),
        against=(
            "a T, the smallest left out, at which XOR needs less than twice as many examples as "
            "another function, or an interval of its success rate that reaches 80%"
        ),
        holds=all(xor[T] >= MUCH_MORE * easy[T] for T in lengths) and interval.high < TARGET,
        interval=interval,
    )


def success_rate(trials: pd.DataFrame) -> Interval:
    """The success rate over several sizes, whose trials share their seeds."""
    if not len(trials):
        return Interval(0.0, 0.0, 1.0)
    rate = bootstrap_clustered(trials, lambda part: part["success"].mean())
    if rate.value in (0.0, 1.0):  # the bootstrap of a constant is a point; seeds are the runs
        by_seed = trials.groupby("seed")["success"].mean()
        return wilson(round(float(by_seed.sum())), len(by_seed))
    return rate


def number(samples: float) -> str:
    """A threshold in words."""
    return f"{samples:.0f}" if math.isfinite(samples) else "more than the grid"


def others_follow_information(tables: Tables) -> Claim:
    """For AND, majority and a random function, examples per bit of information hardly change."""
    growth = {name: growth_per_bit(tables, name) for name in EASY}
    worst = max(growth, key=lambda name: np.nan_to_num(growth[name].value, nan=np.inf))
    lengths = tables["thresholds"]["T"]
    return Claim(
        text="AND, majority and a random function need examples in proportion to information",
        source=SOURCE,
        measured=(
            f"m* / log2 C(T, 3) at T = {lengths.max()}, divided by the same at T = "
            f"{lengths.min()}: " + ", ".join(f"{name} {each:.2f}" for name, each in growth.items())
        ),
        against="a function for which that ratio is 2 or more, or has no value",
        holds=all(each.value < MUCH_MORE for each in growth.values()),
        interval=growth[worst],
    )


def growth_per_bit(tables: Tables, function: str) -> Interval:
    """How much m* per bit of information grows from the smallest T to the largest."""
    trials = tables["trials"].query("function == @function")
    draws = thresholds.threshold_draws(trials, "T", TARGET)
    columns: Any = draws.columns
    first, last = min(columns), max(columns)
    bits = bits_needed(last, SPARSITY) / bits_needed(first, SPARSITY)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = draws[last].to_numpy(float) / draws[first].to_numpy(float) / bits
    return percentile(float(ratios[0]), ratios[1:], 0.95)


def control_learns_xor(tables: Tables) -> Claim:
    """With fresh examples and more steps the same network learns XOR."""
    success = tables["control"]["success"].astype("boolean").fillna(False).to_numpy(bool)
    interval = wilson(int(success.sum()), len(success))
    steps = tables["control"]["steps"].median()
    return Claim(
        text="The control: with fresh examples and a longer recipe the network learns XOR",
        source=SOURCE,
        measured=(
            f"{int(success.sum())} of {len(success)} seeds at T = {tables.facts['control_T']}, "
            f"after {steps:,.0f} steps in the median"
        ),
        against="a seed that does not learn it",
        holds=bool(success.all()),
        interval=interval,
    )


STUDY = Study(
    name="which-functions",
    title="Which functions of three bits does a transformer find from few examples?",
    summary=(
        "Three of T bits decide the label. If it is their AND, their majority or a random function "
        "of them, a transformer finds the three bits from a number of examples that hardly grows "
        "with T. If it is their XOR, it does not, within the examples and steps that were tried. "
        "No statistic of fewer than three bits shows anything of an XOR; with fresh examples at "
        "every step the network does learn it."
    ),
    source="Thesis, sections 4.5 and 4.6; our own study",
    scales={
        "quick": Scale(
            Settings(
                lengths=(10, 20, 40),
                grid=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
                trials=8,
                restarts=1,
                steps=500,
                test_rows=1000,
                control_steps=8000,
                control_seeds=3,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                lengths=(10, 20, 40, 80),
                grid=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
                trials=20,
                restarts=3,
                steps=1000,
                test_rows=4000,
                control_steps=20_000,
                control_seeds=10,
            ),
            minutes=60,
        ),
        "paper": Scale(
            Settings(
                lengths=(10, 20, 40, 80, 160, 320),
                grid=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192),
                trials=40,
                restarts=5,
                steps=2000,
                test_rows=10_000,
                control_steps=50_000,
                control_seeds=20,
            ),
            minutes=3000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(xor_leaves_the_law, others_follow_information, control_learns_xor),
    figures="elegans.studies.attention.figures_and:functions",
    shown=("thresholds", "control"),
    formats=FORMATS,
    captions=CAPTIONS
    | {
        "figure": (
            "The least number of examples from which 80% of trials succeed, by function. Arrows "
            "mark cells in which no size of the grid was enough: the threshold is above it, if "
            "there is one. Right: success rates at the largest T."
        ),
        "thresholds": (
            "m_star is the least m of the grid with 80% success (censored: none), fit the same "
            "from a logistic curve with its interval; bits is log2 C(T, 3)."
        ),
        "control": "XOR with fresh examples at every step.",
    },
)
