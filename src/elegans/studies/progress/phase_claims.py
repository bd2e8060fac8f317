"""The claims about architectures and plateaus, on the tables of `phase-transitions`."""

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, wilson
from elegans.studies.progress.times import (
    CHANCE_ERROR,
    ROBUST_SHARE,
    groups,
    least_successful,
    share_of,
)

SOURCE = "thesis, section 5.3, Figures 5.1 (left), B.2 and B.13"


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
    shares = {batch: share_of(part["success"]) for batch, part in groups(rows, "batch")}
    worst = min(shares, key=lambda batch: shares[batch].low)
    return Claim(
        text="PolyNets learn at every batch size, from single examples on",
        source="thesis, Figure B.2, second row",
        measured="; ".join(f"B = {batch}: {share:.0%}" for batch, share in shares.items()),
        against="a batch size at which the interval of the share that converges reaches 50%",
        holds=shares[worst].low > 0.5,
        interval=shares[worst],
    )


def wide_powers_have_no_plateau(tables: Tables) -> Claim:
    """With large batches wide networks of powers improve from the start, ReLU networks do not."""
    rows = tables["plateaus"]
    rows = rows[(rows["row"] == "wide") & (rows["batch"] == rows["batch"].max())]
    shares = {
        str(name): bootstrap(part["share"].dropna().to_numpy(float), np.median)
        for name, part in groups(rows, "network")
        if part["share"].notna().any()
    }
    powers = next((s for name, s in shares.items() if name != "relu"), Interval(1.0, 0.0, 1.0))
    relu = shares.get("relu", Interval(0.0, 0.0, 1.0))
    return Claim(
        text="Wide networks of powers lose their plateau with large batches; ReLU networks do not",
        source="thesis, section B.3.4, Figure B.13",
        measured="; ".join(
            f"{name}: {share:.0%} of the time above {CHANCE_ERROR:.0%} error"
            for name, share in shares.items()
        )
        + f" (batches of {rows['batch'].max():.0f})",
        against="intervals of the two shares that overlap",
        holds=powers.high < relu.low,
        interval=powers,
    )
