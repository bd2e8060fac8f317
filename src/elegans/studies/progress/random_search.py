r"""Is SGD a random search? Times of many runs, common starts, and copies side by side.

A search without memory, which guesses one of the $\binom{n}{k}$ supports in each step, takes a
geometric time: 29.3% of the searches take less than half of the median, since $1 - 2^{-1/2} =
0.293$, and $r$ copies side by side are $r$ times as fast. Three measurements tell SGD apart:

* the times of many runs of two networks (figure 5.2, left);
* runs from a few common starts, each with several streams of examples (figure 5.2, centre): the
  share of the variance of $\log t$ that the start explains is the intraclass correlation;
* the best of $r$ narrow networks, resampled from the runs, beside one wide network with as many
  neurons: copies do not buy a time that is $r$ times shorter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP, inits
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap, highest, in_words, intraclass, lowest
from elegans.studies.progress.times import (
    by_group,
    row_at,
    share_of,
    timed,
    until_perfect,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory.resources import random_search

SOURCE = "thesis, section 5.4, Figure 5.2"
MEMORYLESS_BELOW_HALF = 1 - 2**-0.5
RELU, SINUSOID = "ReLU, width 10", "sinusoidal neuron"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How many runs of the histogram, and how many starts with how many streams of examples."""

    relu: tuple[int, int]
    sinusoid: tuple[int, int]
    seeds: int
    starts: int
    streams: int
    copies: tuple[int, ...]
    wide_seeds: int
    steps: int


def sinusoid(k: int, init: Any = None) -> MLP:
    """Setting (xiv): a sinusoidal neuron without a second layer."""
    init = inits.Uniform() if init is None else init
    return MLP(width=1, activation=f"sinusoid:{k}", output_layer=False, init=init)


def runs(settings: Settings) -> dict[str, Sweep]:
    """The runs of the histogram, those of common starts, and wide networks."""
    (n, k), (sine_n, sine_k) = settings.relu, settings.sinusoid
    steps = settings.steps
    slow = until_perfect(0.01, steps=steps)
    networks = {
        RELU: Experiment(Parity(n, k), MLP(width=10), until_perfect(0.1, steps=steps)),
        SINUSOID: Experiment(Parity(sine_n, sine_k), sinusoid(sine_k), slow),
    }
    common = [
        (
            {"start": start},
            Experiment(
                Parity(sine_n, sine_k),
                sinusoid(sine_k, inits.Fixed(inits.Uniform(), start)),
                until_perfect(0.01, batch=128, steps=steps),
            ),
        )
        for start in range(settings.starts)
    ]
    wide = [
        (
            {"copies": copies},
            Experiment(Parity(n, k), MLP(width=10 * copies), until_perfect(0.1, steps=steps)),
        )
        for copies in settings.copies
    ]
    return {
        "many": Sweep.of([({"network": name}, e) for name, e in networks.items()], settings.seeds),
        # Other seeds than the starts have, so that no stream is the one that a start came with.
        "starts": Sweep.of(common, seeds=range(1000, 1000 + settings.streams)),
        "wide": Sweep.of(wide, seeds=range(settings.wide_seeds)),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Times of all runs, and of copies side by side beside wide networks and random search."""
    many, wide = timed(runs["many"].table), timed(runs["wide"].table)
    return {
        "times": many[["network", "seed", "status", "success", "time"]],
        "starts": timed(runs["starts"].table)[["start", "seed", "success", "time"]],
        "copies": copy_table(settings, many[many["network"] == RELU]["time"].to_numpy(), wide),
        "wide": wide[["copies", "seed", "success", "time"]],
    }


def copy_table(settings: Settings, times: np.ndarray, wide: pd.DataFrame) -> pd.DataFrame:
    """Mean time of the best of r narrow runs, of r random searches, and of one wide network."""
    n, k = settings.relu
    rows = []
    for copies in settings.copies:
        best = bootstrap(times, lambda sample, r=copies: best_mean(sample, r), resamples=500)
        one = wide[wide["copies"] == copies]["time"].to_numpy()
        rows.append(
            {
                "copies": copies,
                "best": best.value,
                "low": best.low,
                "high": best.high,
                "wide_median": float(np.median(one)),
                "theory_memoryless": best_mean(times, 1) / copies,
                "theory_random_search": random_search(n, k, copies).mean,
            }
        )
    return pd.DataFrame(rows)


def best_mean(times: np.ndarray, copies: int) -> float:
    r"""The mean of the least of `copies` times that are drawn from these with replacement.

    It is $\sum_i t_{(i)} [(1 - \frac{i-1}{N})^r - (1 - \frac{i}{N})^r]$ over the sorted times.
    """
    ordered = np.sort(times)
    survival = (1 - np.arange(len(ordered) + 1) / len(ordered)) ** copies
    weights = survival[:-1] - survival[1:]
    return float(np.sum(ordered * weights))


def no_early_luck(tables: Tables) -> Claim:
    """Fewer runs than a memoryless search has are faster than half of the median."""
    shares = by_group(
        tables["times"], "network", lambda part: share_of(part["time"] < part["time"].median() / 2)
    )
    worst = highest(shares)
    return Claim(
        text="There is no early luck: almost no run takes less than half of the median time",
        source=SOURCE,
        measured=in_words(shares, "{name}: {value:.1%} of the runs")
        + f"; a search without memory has {MEMORYLESS_BELOW_HALF:.1%}",
        against="an interval that reaches the 29.3% of a search without memory, for either network",
        holds=worst.high < MEMORYLESS_BELOW_HALF,
        interval=worst,
    )


def upper_tail_is_longer(tables: Tables) -> Claim:
    """The slow tenth of the runs is farther from the median than the fast tenth."""
    skews = by_group(
        tables["times"],
        "network",
        lambda part: bootstrap(part["time"].to_numpy(), tail_ratio, resamples=1000),
    )
    worst = lowest(skews)
    return Claim(
        text="The times have a long upper tail: slow runs are farther from the median than fast",
        source=SOURCE,
        measured=in_words(skews, "{name}: (q90 - median) / (median - q10) is {value:.2f}"),
        against="an interval of that ratio that reaches 1, for either network",
        holds=worst.low > 1,
        interval=worst,
    )


def tail_ratio(times: np.ndarray) -> float:
    """How much farther the 90th percentile is from the median than the 10th."""
    low, middle, high = np.quantile(times, [0.1, 0.5, 0.9], method="higher")
    return float((high - middle) / (middle - low)) if middle > low else float("inf")


def start_decides(tables: Tables) -> Claim:
    """The start explains more than half of the variance of log time; the examples do not."""
    rows = tables["starts"].replace({"time": {np.inf: np.nan}}).dropna(subset="time")
    times = np.log(rows["time"].to_numpy(float))
    by_start = intraclass(times, rows["start"].to_numpy())
    by_stream = intraclass(times, rows["seed"].to_numpy())
    failures = len(tables["starts"]) - len(rows)
    return Claim(
        text="The start decides how long a run takes, the samples do not",
        source=SOURCE,
        measured=(
            f"share of the variance of log time between starts {by_start:.2f}; between streams of "
            f"examples, as the control, {by_stream:.2f} ({len(rows)} runs"
            + (f", {failures} more did not converge)" if failures else ")")
        ),
        against="a share between starts whose interval reaches 0.5, or as large between streams",
        holds=by_start.low > 0.5 and by_stream.value < by_start.low,
        interval=by_start,
    )


def copies_hardly_help(tables: Tables) -> Claim:
    """The best of r narrow runs is not r times as fast as one."""
    rows = tables["copies"].set_index("copies")
    most = int(rows.index.max())
    last = row_at(rows, most)
    single = float(last["theory_memoryless"]) * most
    gain = Interval(*(single / float(last[name]) for name in ("best", "high", "low")))
    wide = single / float(last["wide_median"])
    return Claim(
        text="Independent copies hardly help: r of them are not r times as fast as one",
        source=f"{SOURCE}; section 5.6",
        measured=(
            f"the best of {most} networks of width 10 is {gain:.2f} times as fast as one; a search "
            f"without memory would be {most} times; one network of width {10 * most} is "
            f"{wide:.2f} times as fast"
        ),
        against=f"an interval of the speed-up that reaches half of {most}",
        holds=gain.high < most / 2,
        interval=gain,
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The tasks, and how long a random search takes on each."""
    return {
        "relu": settings.relu,
        "sinusoid": settings.sinusoid,
        "search_relu": random_search(*settings.relu).mean,
        "search_sinusoid": random_search(*settings.sinusoid).mean,
    }


STUDY = Study(
    name="sgd-is-not-random-search",
    title="SGD on parities is not a lucky guess: its time is set by where it starts",
    summary=(
        "While a network learns the parity of a few hidden bits, its error stands still for a "
        "long time and then falls. Does SGD just try until it is lucky? A search without memory "
        "often succeeds early: in 29% of cases before half of its median time. Networks do not, "
        "their time is decided by their initial weights rather than by the examples they see, "
        "and many copies side by side are hardly faster than one."
    ),
    source="Thesis, Figure 5.2 (left and centre), section 5.4",
    scales={
        "quick": Scale(
            Settings(
                relu=(20, 3),
                sinusoid=(30, 3),
                seeds=1000,
                starts=8,
                streams=8,
                copies=(1, 3, 10, 30),
                wide_seeds=20,
                steps=20_000,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                relu=(30, 3),
                sinusoid=(50, 3),
                seeds=10_000,
                starts=20,
                streams=20,
                copies=(1, 3, 10, 30, 100),
                wide_seeds=100,
                steps=100_000,
            ),
            minutes=20,
        ),
        "paper": Scale(
            Settings(
                relu=(50, 3),
                sinusoid=(50, 3),
                seeds=1_000_000,
                starts=20,
                streams=100,
                copies=(1, 3, 10, 30, 100),
                wide_seeds=1000,
                steps=100_000,
            ),
            minutes=4000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(no_early_luck, upper_tail_is_longer, start_decides, copies_hardly_help),
    figures="elegans.studies.progress.figures_search:random_search",
    shown=("copies",),
    formats={"copies": ",.0f", "time": ",.0f"},
    captions={
        "figure": (
            "Left: times of many runs of two networks, with the times of a search without memory "
            "that has the same median (red). Middle: runs from the same initial weights are in one "
            "column, each with other examples. Right: how long the best of r networks of width 10 "
            "takes, beside one network with as many neurons and beside searches without memory."
        ),
        "times": "One row per run: steps until no error was left in 128 fresh examples.",
        "starts": "Runs from common starts, each with other examples.",
        "copies": (
            "Steps that the best of r copies takes (mean, with a 95% bootstrap interval), the "
            "median of one network with as many neurons, and what a search without memory would "
            "take that is as slow as one copy, or that guesses the support."
        ),
    },
)
