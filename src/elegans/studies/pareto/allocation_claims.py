"""What is claimed of width against restarts at equal arithmetic; training sets are resampled."""

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, wilson
from elegans.studies.pareto.scores import UNKNOWN
from elegans.studies.study import known_failure

SOURCE = "Pareto paper, section 1.1, tested here"
SHARE_TOLERANCE = 0.15  # difference in the share of training sets that counts as none


def firsts(tables: Tables, samples: int) -> pd.DataFrame:
    """The steps to the first success, training sets downwards and widths across."""
    groups = tables["groups"]
    part = groups[groups["samples"] == samples]
    return part.pivot(index="seed", columns="width", values="first").dropna()


def sooner(first: pd.Series, second: pd.Series) -> Interval:
    """The share of training sets that `second` learns sooner than `first`; ties count for none.

    Of those that tell the two apart.
    """
    wins, losses = int((second < first).sum()), int((second > first).sum())
    return wilson(wins, wins + losses) if wins + losses else UNKNOWN


def medians_in_words(tables: Tables, samples: int) -> str:
    """Medians of the first success by width, in words."""
    medians = firsts(tables, samples).median()
    return f"at m = {samples:,}, steps to the first success in the median: " + ", ".join(
        f"{tables.facts['neurons'] // width} x {width}: {medians[width]:,.0f}"
        for width in tables.facts["widths"]
    )


@known_failure(
    reason=(
        "restarts of narrow networks are ahead with few examples too, in nearly every training "
        "set; by the end the wide network has learned as many as 30 x 10, 93%, and more than "
        "10 x 30, 73%"
    ),
    scales=("quick",),
)
def width_beats_restarts_with_few_samples(tables: Tables) -> Claim:
    """At the smallest size one wide network learns sooner than restarts of the narrowest."""
    samples = min(tables.facts["samples"])
    steps = firsts(tables, samples)
    narrow, wide = min(tables.facts["widths"]), max(tables.facts["widths"])
    interval = sooner(steps[narrow], steps[wide])
    return Claim(
        text="With few examples one wide network beats narrow ones of the same arithmetic",
        source=SOURCE,
        measured=(
            f"{medians_in_words(tables, samples)}; width {wide} learns sooner in {interval:.0%} of "
            "the training sets that tell them apart"
        ),
        against="an interval of that share that reaches down to one half",
        holds=interval.low > 0.5,
        interval=interval,
    )


def restarts_beat_width_with_many_samples(tables: Tables) -> Claim:
    """At the largest size restarts of the narrowest learn sooner than one wide network."""
    samples = max(tables.facts["samples"])
    steps = firsts(tables, samples)
    narrow, wide = min(tables.facts["widths"]), max(tables.facts["widths"])
    interval = sooner(steps[wide], steps[narrow])
    return Claim(
        text="With more examples narrow networks beat one wide one of the same arithmetic",
        source=SOURCE,
        measured=(
            f"{medians_in_words(tables, samples)}; restarts of width {narrow} learn sooner in "
            f"{interval:.0%} of the training sets that tell them apart"
        ),
        against="an interval of that share that reaches down to one half",
        holds=interval.low > 0.5,
        interval=interval,
    )


def restarts_are_independent(tables: Tables) -> Claim:
    """Restarts on one training set succeed together as often as independent runs would.

    Divisions are pooled within a training set, which all of them share.
    """
    curves, groups = tables["curves"], tables["groups"]
    several = curves[curves["restarts"] > 1]
    gaps = []
    for (samples, width), part in several.groupby(["samples", "width"]):
        # The step at which independent restarts would be nearest to even odds tells most.
        row = part.iloc[int((part["theory"] - 0.5).abs().to_numpy().argmin())]
        sets = groups[(groups["samples"] == samples) & (groups["width"] == width)]
        learned = (sets.set_index("seed")["first"] <= row["step"]).astype(float)
        gaps.append(learned - row["theory"])
    by_set = pd.concat(gaps, axis=1).mean(axis=1)
    interval = bootstrap(by_set.to_numpy(), np.mean)
    means = [float(gap.mean()) for gap in gaps]
    return Claim(
        text=(
            "Where independent restarts would learn half of the training sets, restarts on one set "
            f"learn as many, within {SHARE_TOLERANCE:.0%}"
        ),
        source="this study: success within R restarts is 1 - (1 - p)^R",
        measured=(
            "training sets that are learned, measured minus predicted, where the prediction is "
            f"nearest to one half: {interval:+.0%} over {len(by_set)} training sets, all "
            f"{len(gaps)} divisions together (from {min(means):+.0%} to {max(means):+.0%})"
        ),
        against=f"an interval of the difference that reaches {SHARE_TOLERANCE:.0%} to either side",
        holds=-SHARE_TOLERANCE < interval.low <= interval.high < SHARE_TOLERANCE,
        interval=interval,
    )
