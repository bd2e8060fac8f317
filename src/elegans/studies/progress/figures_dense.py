"""The picture of theorem 5.5 as an algorithm: recovery over the first batch, and losses."""

import numpy as np
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

ARMS = ("algorithm", "theorem's rate", "fixed features")


def dense_sign(tables: Tables) -> Figure:
    """Recovery by the first step, and the loss at the end by arm."""
    facts, cells, trials = tables.facts, tables["cells"], tables["trials"]
    picture = look.figure(
        11,
        4,
        f"One large step, then a readout: parities of {facts['k']} of n bits, width "
        f"{facts['width']}, {facts['seeds']} runs per point",
    )
    left, right = picture.subplots(1, 2)
    shades = look.colours(cells["n"])
    recovery = cells[cells["arm"] == "algorithm"]
    for n, part in recovery.groupby("n"):
        error = look.bars(part, "recovered")
        left.errorbar(
            part["first_batch"],
            part["recovered"],
            error,
            fmt="o-",
            ms=4,
            capsize=2,
            color=shades[n],
            label=f"n = {n}",
        )
        left.axvline(part["first_batch"].max(), color=shades[n], ls=":", lw=1)
    left.set(xscale="log", ylim=(-0.03, 1.05), xlabel="examples of the first step, B")
    left.set_ylabel("share of neurons")
    left.set_title("Neurons whose largest weights are the hidden bits\n(dotted: proposition B.7)")
    left.legend(loc="lower right")
    largest = trials.groupby(["arm", "n"])["first_batch"].transform("max")
    ends = trials[trials["first_batch"] == largest]
    names = list(shades)
    for i, arm in enumerate(ARMS):
        for j, n in enumerate(names):
            part = ends[(ends["arm"] == arm) & (ends["n"] == n)]
            spread = np.linspace(-0.09, 0.09, len(part))
            x = i + (j - (len(names) - 1) / 2) * 0.25 + spread
            right.plot(x, part["test_loss"].clip(lower=1e-3), ".", ms=5, color=shades[n])
    right.axhline(facts["epsilon"], color="0.4", ls=":", lw=1)
    right.set_xticks(range(len(ARMS)), ["whole algorithm", "theorem's rate", "no first step"])
    right.set(yscale="log", ylabel="hinge loss on new examples (at least 0.001)")
    right.set_title(f"What the second layer reaches\n(dotted: the goal, {facts['epsilon']:g})")
    return picture
