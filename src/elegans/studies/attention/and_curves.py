r"""Accuracy during training above and below the threshold (thesis, Figure 4.3, left).

Runs go on to the end, whether or not they succeed. With enough examples nearly all of them reach
99% on new examples. With too few they all fit their training set as well, but what they have
learned differs from run to run. Between the two it is luck: restarts on the same examples disagree.

Of the restarts of a trial the one with the highest accuracy on new examples counts, as in the
document; what is said about fitting the training set is said about every single run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap_clustered, wilson
from elegans.studies.attention.protocol import GOAL, Network, conjunction, recipe
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep

SOURCE = "thesis, Figure 4.3 (left) and appendix A.3.2"
FEW, MIDDLE, MANY = "below", "near", "above"
NEARLY_ALL, HALF_SUCCEED, FEW_SUCCEED, SPREAD = 0.9, 0.5, 0.3, 3.0
SMALLEST_SPREAD = 1e-3  # one test example of a thousand: a spread of zero has no ratio


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How many examples are below, near and above the threshold at T, and how runs are done.

    Trials are seeds from `first_seed` on; the sizes of the quick scale were chosen on others.
    """

    T: int
    samples: tuple[int, int, int]
    trials: int
    restarts: int
    steps: int
    test_rows: int
    first_seed: int = 100
    evaluate_every: int = 10
    network: Network = field(default_factory=Network)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every restart of every trial, to the end."""
    rows = 1 << (max(settings.samples) - 1).bit_length()
    points = [
        (
            {"place": place, "samples": samples, "restart": restart},
            Experiment(
                conjunction(settings.T, samples, rows=rows, test_rows=settings.test_rows),
                settings.network.model(restart),
                recipe(
                    samples,
                    settings.steps,
                    evaluate_every=settings.evaluate_every,
                    test_samples=settings.test_rows,
                    screen_rows=settings.test_rows,
                ),
            ),
        )
        for place, samples in zip((FEW, MIDDLE, MANY), settings.samples, strict=True)
        for restart in range(settings.restarts)
    ]
    seeds = range(settings.first_seed, settings.first_seed + settings.trials)
    return {"runs": Sweep.of(points, seeds=seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """The best restart of each trial, curves of those, and one row per run."""
    every = runs["runs"]
    by = ["place", "samples", "restart", "seed"]
    history = every.history
    best = history.groupby(by, sort=False)["test_error"].min().rename("least_error")
    table = every.table.merge(best.reset_index(), on=by)
    table = table.assign(success=table["least_error"] <= GOAL)
    trials = table.loc[table.groupby(["place", "seed"], sort=False)["least_error"].idxmin()]
    curves = history.merge(trials[by], on=by)
    columns = [*by, "step", "train_error", "train_loss", "test_error"]
    return {"trials": trials.reset_index(drop=True), "curves": curves[columns], "runs": table}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return {"T": settings.T, "trials": settings.trials, "restarts": settings.restarts}


def every_run_fits(tables: Tables) -> Claim:
    """At the end no run makes an error on its training set."""
    table = tables["runs"]
    fits = table["train_error"] == 0
    shares = table.assign(fits=fits)
    interval = bootstrap_clustered(shares, lambda part: part["fits"].mean())
    return Claim(
        text="Every run fits its training set, whether or not it succeeds",
        source=f"{SOURCE}: 100% training accuracy",
        measured=(
            f"{int(fits.sum())} of {len(table)} runs end without an error on their training set; "
            f"the largest loss there is {table['train_loss'].max():.1g}"
        ),
        against="a single run that ends with an error on its training set",
        holds=bool(fits.all()),
        interval=interval,
    )


def share(tables: Tables, place: str) -> Interval:
    """How many trials succeed, with Wilson's interval."""
    success = tables["trials"].query("place == @place")["success"].astype(bool)
    return wilson(int(success.sum()), len(success))


def enough_examples_suffice(tables: Tables) -> Claim:
    """Above the threshold nearly all trials succeed, and significantly more than below."""
    above, below = share(tables, MANY), share(tables, FEW)
    m = samples_of(tables, MANY)
    return Claim(
        text="Above the threshold nearly all training sets lead to success",
        source=SOURCE,
        measured=f"{above:.0%} of training sets with m = {m} reach 99% accuracy on new examples",
        against=(
            "a share below 90%, or an interval that overlaps with that of the share below the "
            "threshold"
        ),
        holds=above.value >= NEARLY_ALL and above.low > below.high,
        interval=above,
    )


def few_examples_mislead(tables: Tables) -> Claim:
    """Below the threshold few trials succeed."""
    below = share(tables, FEW)
    m = samples_of(tables, FEW)
    return Claim(
        text="Below the threshold few training sets lead to success",
        source=SOURCE,
        measured=f"{below:.0%} of training sets with m = {m} reach 99% accuracy on new examples",
        against="a share above 30%, or one whose interval reaches one half",
        holds=below.value <= FEW_SUCCEED and below.high < HALF_SUCCEED,
        interval=below,
    )


def accuracies_spread(tables: Tables) -> Claim:
    """Final accuracies differ far more between training sets below the threshold than above."""

    def ratio(part: pd.DataFrame) -> float:
        spread = part.groupby("place")["test_error"].std(ddof=0)
        return float(spread[FEW] / max(spread[MANY], SMALLEST_SPREAD))

    trials = tables["trials"]
    interval = bootstrap_clustered(trials, ratio)
    spread = trials.groupby("place")["test_error"].std(ddof=0)
    return Claim(
        text="Below the threshold the final accuracies are spread out",
        source=SOURCE,
        measured=(
            f"standard deviation of the final accuracy: {spread[FEW]:.3f} below, "
            f"{spread[MANY]:.3f} above, a ratio of {interval:.0f}"
        ),
        against="an interval of the ratio that reaches down to 3",
        holds=interval.low > SPREAD,
        interval=interval,
    )


def restarts_disagree(tables: Tables) -> Claim:
    """Near the threshold, restarts on the same examples succeed and fail."""
    near = tables["runs"].query("place == @MIDDLE")
    by_trial = near.groupby("seed")["success"].agg(["min", "max"])
    disagree = (by_trial["min"] != by_trial["max"]).to_numpy(bool)
    interval = wilson(int(disagree.sum()), len(disagree))
    return Claim(
        text="Near the threshold training is unstable: restarts on the same examples disagree",
        source=f"{SOURCE}: the reason for restarts",
        measured=(
            f"at m = {samples_of(tables, MIDDLE)}, {interval:.0%} of training sets have restarts "
            f"that succeed and restarts that fail; {near['success'].mean():.0%} of runs succeed"
        ),
        against="no training set whose restarts disagree",
        holds=bool(disagree.any()),
        interval=interval,
    )


def samples_of(tables: Tables, place: str) -> int:
    """The number of examples of a place."""
    return int(tables["trials"].query("place == @place")["samples"].iloc[0])


STUDY = Study(
    name="and-curves",
    title="With too few examples every run fits them, and each learns something else",
    summary=(
        "A transformer learns the AND of three hidden bits out of T from m examples. Above a "
        "threshold of m nearly every run finds the three bits. Below it runs look the same from "
        "inside: all of them fit their training set without error. But on new examples their "
        "accuracies differ widely. Near the threshold it depends on the initial weights: restarts "
        "on the same examples succeed and fail."
    ),
    source="Thesis, Figure 4.3, left",
    scales={
        "quick": Scale(
            Settings(
                T=100,
                samples=(24, 40, 120),
                trials=20,
                restarts=2,
                steps=500,
                test_rows=1000,
                evaluate_every=20,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                T=300, samples=(50, 70, 200), trials=20, restarts=3, steps=1000, test_rows=2000
            ),
            minutes=30,
        ),
        "paper": Scale(
            Settings(
                T=300,
                samples=(50, 70, 200),
                trials=40,
                restarts=5,
                steps=1000,
                test_rows=10_000,
                network=Network(embedding_dropout=0.1),
            ),
            minutes=2000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        every_run_fits,
        enough_examples_suffice,
        few_examples_mislead,
        accuracies_spread,
        restarts_disagree,
    ),
    figures="elegans.studies.attention.figures_and:curves",
    shown=("trials",),
    formats={
        "test_error": ".1%",
        "train_error": ".1%",
        "least_error": ".1%",
        "train_loss": ".1g",
        "test_loss": ".2g",
        "steps": ",",
    },
    captions={
        "figure": (
            "Accuracy on new examples (colour) and on the training set (grey) during training, one "
            "line per training set: the best of its restarts. From left to right there are too "
            "few examples, nearly enough, and more than enough. The dotted line is success."
        ),
        "trials": "The best restart of each training set; least_error is its best evaluation.",
        "curves": "Errors and losses during the runs of the figure.",
        "runs": "One row per run, all restarts.",
    },
)
