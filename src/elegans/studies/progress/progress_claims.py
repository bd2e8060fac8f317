"""The claims about measures of progress, on the tables of `hidden-progress`."""

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import paired
from elegans.studies.progress.times import CHANCE_ERROR, FALLEN_ERROR, at_step, row_at, share_of

SOURCE = "thesis, section 5.5, Figures 5.3 and B.9"
CLAIMED_MOMENT = 0.25  # later, the error itself begins to tell


def weights_lead_first(tables: Tables) -> Claim:
    """All relevant weights are ahead of all others before the error moves."""
    rows = tables["firsts"].dropna(subset="moved")
    lead = rows["lead"].fillna(np.inf)
    earlier = share_of(lead < rows["moved"])
    late = (lead / rows["time"]).median(), (rows["moved"] / rows["time"]).median()
    return Claim(
        text="The relevant weights lead all others before the error moves",
        source=SOURCE,
        measured=(
            f"in {earlier:.0%} of {len(rows)} runs; the median run has its support in front at "
            f"{late[0]:.0%} of its time, and an error below {FALLEN_ERROR:.0%} at {late[1]:.0%}"
        ),
        against="an interval of the share of runs that reaches one half",
        holds=earlier.low > 0.5,
        interval=earlier,
    )


def path_predicts(tables: Tables) -> Claim:
    """After a quarter of the median time a longer path means less time that is left."""
    rows = tables["predictivity"]
    rows = rows[rows["moment"] == CLAIMED_MOMENT].set_index("measure")
    path = row_at(rows, "path")
    words = "; ".join(
        f"{name} {row['correlation']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
        for name, row in rows.iterrows()
    )
    return Claim(
        text="Weights tell how much time is left while the error is still at chance",
        source=SOURCE,
        measured=(
            f"rank correlations with the remaining time at step {path['step']:.0f}, over the "
            f"{path['runs']:.0f} runs with error above {CHANCE_ERROR:.0%}: {words}; a search "
            f"without memory would be within [{path['null_low']:.2f}, {path['null_high']:.2f}] "
            f"(path: p = {path['p']:.4f})"
        ),
        against="an interval of the path's correlation that reaches zero",
        holds=bool(path["high"] < 0 and path["p"] < 0.05),
        interval=(float(path["correlation"]), float(path["low"]), float(path["high"])),
    )


def path_separates(tables: Tables) -> Claim:
    """On the parity weights move farther than on coin flips from the same start."""
    half = tables["firsts"]["time"].median() / 2
    looks = tables["looks"]
    signal, noise = (
        at_step(looks[looks["labels"] == name], half)["path"] for name in ("parity", "noise")
    )
    gap = paired(noise, signal)
    return Claim(
        text="The path on the parity is longer than on random labels, before the error moves",
        source=SOURCE,
        measured=(
            f"at half of the median time it is longer by {gap.difference:.4f}, paired by seed "
            f"(medians {signal.median():.3f} and {noise.median():.3f}, {gap.pairs} pairs, "
            f"sign test p = {gap.p:.2g})"
        ),
        against="an interval of the median difference that reaches zero",
        holds=gap.difference.low > 0,
        interval=gap.difference,
    )


def gap_grows(tables: Tables) -> Claim:
    """The Fourier gap grows on the parity while the error is still at chance."""
    half = tables["firsts"]["time"].median() / 2
    looks = tables["looks"]
    changes = {}
    for name in ("parity", "noise"):
        part = looks[looks["labels"] == name]
        changes[name] = paired(at_step(part, 0)["gap"], at_step(part, half)["gap"]).difference
    return Claim(
        text="The Fourier gap of the population gradient grows while the error is at chance",
        source="thesis, sections 5.5 and B.3.3",
        measured=(
            f"from the start to half of the median time it changes by {changes['parity']:+.2g} on "
            f"the parity, and on random labels, the control, by {changes['noise']:+.2g}"
        ),
        against="an interval of the change on the parity that reaches zero",
        holds=changes["parity"].low > 0,
        interval=changes["parity"],
    )
