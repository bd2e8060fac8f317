"""The claims of `lazy-neurons`: whether, when and why few neurons do the work after learning."""

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, paired, wilson
from elegans.studies.study import known_failure

SOURCE = "sparse activations paper, introduction"
PHASE = "thesis, 8.1.1: sparser after the phase change (Merrill et al., 2023)"
CASE = ["network", "data", "decay", "labels"]
RULE, COINS = "parity", "coins"
TRANSFORMER, CHAINS, INDEPENDENT = "transformer", "Markov chains", "independent symbols"
FALL = 3.0  # times
SEEDS = 0.9  # nine of ten
DEAD = 0.05
HALF = 2.0  # times; a fall that has to be explained
KEPT = 0.7  # of the positive share


def cases(tables: Tables, labels: str, *, strong: bool = False) -> dict[str, pd.DataFrame]:
    """The runs with these labels and the least or the largest decay, by network and data."""
    runs = tables["runs"][tables["runs"]["labels"] == labels]
    runs = runs[runs["decay"] == (runs["decay"].max() if strong else runs["decay"].min())]
    return {
        f"{network}, {data}": part for (network, data), part in runs.groupby(CASE[:2], sort=False)
    }


def by_case(hits: dict[str, pd.Series]) -> tuple[str, bool, Interval]:
    """Counts as text, whether nine of ten runs of every case are hits, and the worst share."""
    text = "; ".join(f"{name}: {int(hit.sum())} of {len(hit)}" for name, hit in hits.items())
    worst = min(hits.values(), key=lambda hit: hit.mean())
    return (
        text,
        all(hit.mean() >= SEEDS for hit in hits.values()),
        wilson(int(worst.sum()), len(worst)),
    )


@known_failure(
    "with 1,000 examples it has halved when the error is gone, and falls to a tenth afterwards, "
    "under weight decay; with more decay it has fallen by then (the claim about decay)",
    scales=("quick",),
)
def fewer_neurons_work_after_success(tables: Tables) -> Claim:
    """The effective number falls to a third between the start and success."""
    parts = cases(tables, RULE)
    text, holds, interval = by_case(
        {name: part["start"] >= FALL * part["at_success"] for name, part in parts.items()}
    )
    falls = [float((p["start"] / p["at_success"]).median()) for p in parts.values()]
    ends = [float((p["start"] / p["end"]).median()) for p in parts.values()]
    return Claim(
        text="When a parity is learned, the effective number of neurons has fallen to a third",
        source=SOURCE,
        measured=(
            f"runs that fell by 3 times or more: {text}; median falls {min(falls):.1f} to "
            f"{max(falls):.1f} times at success, {min(ends):.1f} to {max(ends):.1f} at the end"
        ),
        against="a network and training set with fewer than nine runs of ten",
        holds=holds,
        interval=interval,
    )


@known_failure(
    "with 1,000 examples in narrow networks it is half-way after the error, with fresh ones or "
    "more decay before it: decay decides when it falls, and the transition does not",
    scales=("quick",),
)
def they_leave_at_the_transition(tables: Tables) -> Claim:
    """The effective number is half-way when the error is, to one evaluation."""
    parts = cases(tables, RULE)
    text, holds, interval = by_case({name: lag(part).abs() <= 1 for name, part in parts.items()})
    medians = ", ".join(f"{lag(part).median():+.1f}" for part in parts.values())
    return Claim(
        text="The effective number falls at the transition, within one evaluation of the error",
        source=PHASE,
        measured=f"{text}; median lags {medians} evaluations",
        against="a network and training set with fewer than nine runs of ten",
        holds=holds,
        interval=interval,
    )


def decay_decides(tables: Tables) -> Claim:
    """With more weight decay the effective number falls further by success, and earlier."""
    weak, strong = cases(tables, RULE), cases(tables, RULE, strong=True)
    text, is_third, _ = by_case(
        {name: part["start"] >= FALL * part["at_success"] for name, part in strong.items()}
    )
    differences = [lag_difference(weak[name], part) for name, part in strong.items()]
    latest = max(differences, key=lambda interval: interval.high)
    medians = ", ".join(f"{lag(part).median():+.1f}" for part in strong.values())
    low, high = (float(next(iter(each.values()))["decay"].iloc[0]) for each in (weak, strong))
    return Claim(
        text="With more weight decay it falls further by the time of success, and earlier",
        source="this study: why the two claims before fail",
        measured=(
            f"decay {high:g}: runs that fell by 3 times or more at success: {text}; median lags "
            f"behind the error {medians} evaluations; against decay {low:g} at least "
            f"{latest:+.1f} evaluations"
        ),
        against=(
            "a network and training set with fewer than nine runs of ten, or whose interval of the "
            "difference of lags, paired by seed, reaches up to zero"
        ),
        holds=is_third and latest.high < 0,
        interval=latest,
    )


def lag(part: pd.DataFrame) -> pd.Series:
    """By how many evaluations the effective number is half-way after the error, by seed."""
    lags = part["half_effective"] - part["half_error"]
    return lags.where(part["at_success"].notna()).set_axis(part["seed"])


def lag_difference(weak: pd.DataFrame, strong: pd.DataFrame) -> Interval:
    """The median difference of lags over seeds that succeed with both decays."""
    first, second = lag(weak).dropna(), lag(strong).dropna()
    if not first.index.intersection(second.index).size:
        return Interval(0.0, -np.inf, np.inf)
    return paired(first, second).difference


def it_is_dynamic(tables: Tables) -> Claim:
    """Where the effective number has halved, fewer than one neuron in twenty is dead."""
    parts = cases(tables, RULE)
    hits = {
        name: (part["start"] >= HALF * part["end"]) & (part["dead_end"] < DEAD)
        for name, part in parts.items()
    }
    text, holds, interval = by_case(hits)
    dead = pd.concat(list(parts.values()))["dead_end"]
    return Claim(
        text="Which neurons work depends on the input: the effective number halves, and few die",
        source=f"{SOURCE}: dynamic sparsity, not dead neurons",
        measured=f"{text}; dead neurons: median {dead.median():.1%}, most {dead.max():.1%}",
        against=(
            "a network and training set in which fewer than nine runs of ten end with half of the "
            "effective number or less and fewer than 5% of dead neurons"
        ),
        holds=holds,
        interval=interval,
    )


def coins_keep_more_neurons(tables: Tables) -> Claim:
    """Trained on coins, as many steps leave more effective neurons: it is the rule that counts."""
    control = cases(tables, COINS)
    ratios = {}
    for name, part in cases(tables, RULE).items():
        rule = np.log(part.set_index("seed")["end"])
        coins = np.log(control[name].set_index("seed")["end"])
        ratios[name] = paired(rule, coins, np.mean).difference
    worst = min(ratios.values(), key=lambda interval: interval.low)
    low = Interval(*(float(np.exp(value)) for value in (worst.value, worst.low, worst.high)))
    text = "; ".join(f"{name}: {np.exp(r.value):.1f} times" for name, r in ratios.items())
    return Claim(
        text="Control: with coins for labels more neurons keep working",
        source="this study's control",
        measured=f"effective numbers at the end, coins over parity: {text}; the least {low:.2f}",
        against="a network and training set whose interval, paired by seed, reaches 1",
        holds=low.low > 1,
        interval=low,
    )


def counting_positive_neurons_does_not_show_it(tables: Tables) -> Claim:
    """The share of positive neurons stays, while the effective number halves."""
    parts = cases(tables, RULE)
    hits = {
        name: (part["start"] >= HALF * part["end"])
        & (part["positive_end"] >= KEPT * part["positive_start"])
        for name, part in parts.items()
    }
    text, holds, _ = by_case(hits)
    kept = pd.concat(list(parts.values())).assign(
        kept=lambda rows: rows["positive_end"] / rows["positive_start"]
    )
    interval = bootstrap(kept.groupby("seed")["kept"].mean().to_numpy(float), np.mean)
    return Claim(
        text="Counting positive neurons does not show it: their share stays where it was",
        source="this study",
        measured=f"the positive share at the end is {interval:.2f} of that at the start; {text}",
        against=(
            "a case in which fewer than nine runs of ten halve their effective number and keep 70% "
            "of the positive share"
        ),
        holds=holds,
        interval=interval,
    )


@known_failure(
    "the hidden layers of this transformer stay as active as they start, with bigrams to learn or "
    "without",
    scales=("quick",),
)
def transformers_too(tables: Tables) -> Claim:
    """The hidden layers of a transformer become sparser when it passes from unigrams to bigrams."""
    (chains,) = cases(tables, CHAINS).values()
    (control,) = cases(tables, INDEPENDENT).values()
    hits = chains["start"] >= FALL * chains["at_success"]
    interval = bootstrap((chains["start"] / chains["end"]).to_numpy(float), np.median)
    other = float((control["start"] / control["end"]).median())
    return Claim(
        text="The same holds of a transformer's hidden layers when it comes to bigrams",
        source=PHASE,
        measured=(
            f"a fall to a third at the first evaluation nearest to bigrams in {int(hits.sum())} of "
            f"{len(hits)} seeds; at the end it has fallen {interval:.2f} times, on independent "
            f"symbols {other:.2f} times"
        ),
        against="fewer than nine runs of ten",
        holds=float(hits.mean()) >= SEEDS,
        interval=interval,
    )
