"""The claims about architectures and plateaus, on the tables of `phase-transitions`."""

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, in_words, lowest, wilson
from elegans.studies.progress.times import (
    CHANCE_ERROR,
    ROBUST_SHARE,
    by_group,
    groups,
    least_successful,
    share_of,
)

SOURCE = "thesis, section 5.3, Figures 5.1 (left), B.2 and B.13"
NARROW = 10  # neurons of the ReLU network of figure 5.1
POWERS, RELU, NARROW_RELU = "powers", "ReLU", f"{NARROW} ReLU neurons"


def every_architecture_learns(tables: Tables) -> Claim:
    """For none of the 18 the upper limit of the share that converges is below 20%."""
    rows = tables["architectures"]
    worst, share = least_successful(rows)
    total = wilson(int(rows["converged"].sum()), int(rows["runs"].sum()))
    return Claim(
        text="All 18 architectures learn, each with a rate chosen on other seeds",
        source=SOURCE,
        measured=(
            f"of {len(rows)} architectures the least successful is {worst['label']} "
            f"({worst['name']}) with {share:.0%} of its runs; of all runs "
            f"{total:.0%} converge"
        ),
        against="an architecture whose upper limit of the share that converges is below 20%",
        holds=len(rows) == 18 and share.high >= ROBUST_SHARE,
        interval=share,
    )


def most_have_a_plateau(tables: Tables) -> Claim:
    """The median run spends a large part of its time above 45% error."""
    rows = tables["plateaus"]
    rows = rows[rows["row"] == "all"]
    middle = rows.groupby("label", sort=False)["share"].median().dropna()
    share = bootstrap(middle.to_numpy(float), np.median)
    flat = middle[middle < 0.25]
    return Claim(
        text="The error stands at chance for a large part of the time, and then falls",
        source=SOURCE,
        measured=(
            f"the median architecture spends {share:.0%} of its time until zero error above "
            f"{CHANCE_ERROR:.0%} error; below a quarter are {', '.join(flat.index) or 'none'}"
        ),
        against="an interval of the median over architectures that reaches down to one quarter",
        holds=share.low > 0.25,
        interval=share,
    )


def polynets_converge_at_every_batch(tables: Tables) -> Claim:
    """PolyNets converge at all batch sizes, also with single examples."""
    rows = tables["polynet_times"]
    shares = by_group(rows, "batch", lambda part: share_of(part["success"]))
    worst = lowest(shares)
    return Claim(
        text="PolyNets learn at every batch size, from single examples on",
        source="thesis, Figure B.2, second row",
        measured=in_words(shares, "B = {name}: {value:.0%}"),
        against="a batch size at which the interval of the share that converges reaches 50%",
        holds=worst.low > 0.5,
        interval=worst,
    )


def wide_powers_have_no_plateau(tables: Tables) -> Claim:
    """With large batches wide networks of powers improve from the start, ReLU networks do not."""
    shares = by_network(tables, "share")
    powers, relu = shares[POWERS], shares[RELU]
    return Claim(
        text="Wide networks of powers lose their plateau with large batches; ReLU networks do not",
        source="thesis, section B.3.8, Figure B.13",
        measured=(
            f"of the time, above {CHANCE_ERROR:.0%} error: "
            + in_words(shares, "{name} {value:.0%}")
            + largest_batch(tables)
        ),
        against="intervals of the shares of the two wide networks that overlap",
        holds=powers.high < relu.low,
        interval=powers,
    )


def few_rectifiers_fall_in_steps(tables: Tables) -> Claim:
    """A ReLU network of ten neurons rests on its way down, a wide network of powers does not."""
    treads = by_network(tables, "tread")
    powers, relu = treads[POWERS], treads[NARROW_RELU]
    return Claim(
        text="ReLU networks of ten neurons fall in steps, wide networks of powers on a slope",
        source="thesis, sections B.3.2 and B.3.8, Figures 5.1 (left) and B.13",
        measured=(
            "of the time from 45% error to none, the longest share within 5 points of error is, "
            "in the median: "
            + in_words(treads, "{name} {value:.0%}")
            + f"{largest_batch(tables)}; a straight line has 11%"
        ),
        against="intervals of the shares of powers and of ten rectifiers that overlap",
        holds=powers.high < relu.low,
        interval=relu,
    )


def largest_batch(tables: Tables) -> str:
    """The batch size at which networks of the figure's last row are compared."""
    return f" (batches of {tables['plateaus']['batch'].max():.0f})"


def by_network(tables: Tables, column: str) -> dict[str, Interval]:
    """Medians over seeds of a column, by network of the figure's last row, at its largest batch."""
    rows = tables["plateaus"]
    rows = rows[(rows["row"] == "wide") & (rows["batch"] == rows["batch"].max())]
    medians = dict.fromkeys((POWERS, RELU, NARROW_RELU), Interval(np.nan, 0.0, 1.0))
    for (network, width), part in groups(rows.dropna(subset=column), ["network", "width"]):
        name = POWERS if network != "relu" else RELU if width > NARROW else NARROW_RELU
        medians[name] = bootstrap(part[column].to_numpy(float), np.median)
    return medians
