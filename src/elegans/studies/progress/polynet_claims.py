"""The claims about gradient flow and SGD on PolyNets, on the tables of `polynet-flow`."""

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, lowest, paired
from elegans.studies.progress.polynet_paths import DELTA, EPSILON, NEAR_CHANCE, NOISE
from elegans.studies.progress.times import by_group, records, row_at, share_of

SOURCE = "thesis, Theorem 5.7, Corollary B.10"


def descent_follows_the_flow(tables: Tables) -> Claim:
    """Small steps on the population gradient take the time of the flow."""
    rows = tables["descent"]
    ends = rows.groupby("seed").last()
    ratios = (ends["time"] / ends["theory"]).to_numpy(float)
    ratio = bootstrap(ratios, np.mean)
    return Claim(
        text="Descent with small steps reaches zero error at the time that the flow is solved for",
        source="thesis, Lemma B.8, Figure B.1 (left)",
        measured=f"its time is {ratio:.4f} of flow_time, over {len(ratios)} starts",
        against="a start whose time is more than 1% from the exact one",
        holds=bool(np.abs(ratios - 1).max() < 0.01),
        interval=ratio,
    )


def plateau_exponent(tables: Tables) -> Claim:
    """One minus the share of the plateau falls as the power 1 - k/2 of the block length."""
    rows = tables["exponents"]
    off = (rows["value"] - rows["theory"]).abs()
    worst = row_at(rows, off.idxmax())
    return Claim(
        text="The rest of the time, after the plateau, falls as n' to the power 1 - k/2",
        source=SOURCE,
        measured="; ".join(
            f"k = {row.k:.0f}: {Interval(row.value, row.low, row.high):.2f} (theory {row.theory:g})"
            for row in records(rows)
        ),
        against="a fitted exponent more than 0.1 from 1 - k/2 (Gaussian starts have log factors)",
        holds=bool(off.max() < 0.1),
        interval=(float(worst["value"]), float(worst["low"]), float(worst["high"])),
    )


def sgd_has_the_plateau(tables: Tables) -> Claim:
    """SGD with batches of one spends as much of its time on the plateau as the flow does."""
    rows = tables["sgd"]
    rows = rows[rows["positive_start"] & rows["converged"]]
    by_seed = rows.set_index("seed")
    gap = paired(by_seed["theory_share"], by_seed["share"])
    return Claim(
        text="SGD with batches of one spends as much of its time near chance as the flow does",
        source="thesis, Figure B.1 (right)",
        measured=(
            f"median share of the time with error above {NEAR_CHANCE - NOISE:.0%}: "
            f"{by_seed['share'].median():.0%}, flow from the same starts "
            f"{by_seed['theory_share'].median():.0%}; difference {gap.difference:+.1%} "
            f"({gap.pairs} runs)"
        ),
        against="a median difference whose interval leaves plus or minus 15 percentage points",
        holds=gap.difference.low > -0.15 and gap.difference.high < 0.15,
        interval=gap.difference,
    )


def theorem_reaches_its_error(tables: Tables) -> Claim:
    """The algorithm of theorem 5.8 reaches its error from starts of positive product."""
    rows = tables["theorem"]
    good = rows[rows["positive_start"]]
    wins = by_group(good, "constant", lambda part: share_of(part["error"] <= EPSILON))
    bad = rows[~rows["positive_start"]]
    others = float((bad["error"] <= EPSILON).mean()) if len(bad) else np.nan
    worst = lowest(wins)
    steps = rows.groupby("constant")["steps"].first()
    return Claim(
        text="SGD with theorem 5.8's rates and steps reaches its error if the product is positive",
        source="thesis, Theorem 5.8",
        measured="; ".join(
            f"{name} constant ({steps[name]:,} steps): {share:.0%} of starts"
            for name, share in wins.items()
        )
        + f"; of starts with a negative product, of which the theorem says nothing, {others:.0%}",
        against=f"an interval of the share of successes below 1 - delta = {1 - DELTA:.0%}",
        holds=worst.high >= 1 - DELTA,
        interval=worst,
    )
