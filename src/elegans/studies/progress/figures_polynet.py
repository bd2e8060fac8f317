"""Pictures of gradient flow on PolyNets."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups

BLUE, GREY, ORANGE = "#2b6cb0", "0.6", "#dd6b20"


def polynet_flow(tables: Tables) -> Figure:
    """Figure B.1 beside the exact solution, the exponents of theorem 5.7, and theorem 5.8."""
    facts = tables.facts
    picture = look.figure(15, 4.4, "Disjoint PolyNets: a plateau, then everything at once")
    curves, exponents, theorem = picture.subplots(1, 3)
    _curves(curves, tables)
    curves.set_title(f"n = {facts['n']}, k = {facts['k']}: flow, descent and SGD")
    _exponents(exponents, tables)
    _theorem(theorem, tables)
    return picture


def _curves(axes: Axes, tables: Tables) -> None:
    for (_, positive), run in groups(tables["curves"], ["seed", "positive_start"]):
        axes.plot(run["time"], run["error"], color=GREY if positive else ORANGE, lw=0.7)
    for _, run in groups(tables["descent"], "seed"):
        axes.plot(run["time"], run["error"], color=BLUE, lw=1.4)
        axes.plot(run["theory"][::6], run["error"][::6], "o", color=BLUE, ms=3)
    axes.plot([], [], color=BLUE, marker="o", ms=3, label="population descent, exact (dots)")
    axes.plot([], [], color=GREY, label="SGD, positive product at first")
    axes.plot([], [], color=ORANGE, label="SGD, negative product at first")
    ends = tables["curves"].groupby("seed")["time"].max()
    end = 1.3 * np.quantile(ends, 0.8)  # a slow run would squeeze the others
    axes.set(xlabel="time (steps times rate)", ylabel="error", ylim=(0, 0.6), xlim=(0, end))
    axes.legend(loc="upper right")


def _exponents(axes: Axes, tables: Tables) -> None:
    plateaus = tables["plateaus"]
    shade = look.colours(plateaus["k"])
    for k, part in groups(plateaus, "k"):
        middle = part.groupby("block")["rest"].median()
        axes.plot(middle.index, middle, "o-", color=shade[k], ms=4, label=f"k = {k}")
        last = middle.index[-1]
        theory = middle.iloc[-1] * (middle.index / last) ** (1 - k / 2)
        axes.plot(middle.index, theory, "--", color=shade[k], lw=1)
    axes.plot([], [], "--", color="0.4", label="power 1 - k/2")
    axes.set(xscale="log", yscale="log", xlabel="length of a block n'")
    axes.set(ylabel="one minus the share of the plateau", title="How much time is not plateau")
    axes.legend(loc="lower left")


def _theorem(axes: Axes, tables: Tables) -> None:
    rows, (n, k) = tables["theorem"], tables.facts["theorem"]
    names = list(rows["constant"].unique())
    for place, name in enumerate(names):
        part = rows[rows["constant"] == name]
        for positive, colour in ((True, BLUE), (False, ORANGE)):
            errors = part[part["positive_start"] == positive]["error"]
            spread = np.linspace(-0.25, 0.25, max(1, len(errors)))
            axes.plot(place + spread, errors, "o", ms=4, color=colour)
    for sign, colour in (("positive", BLUE), ("negative", ORANGE)):
        axes.plot([], [], "o", color=colour, label=f"{sign} product at first")
    axes.axhline(0.1, color="0.4", ls=":", lw=1)
    axes.text(0.99, 0.1, "error asked for", transform=axes.get_yaxis_transform(), ha="right")
    steps = rows.groupby("constant")["steps"].first()
    axes.set_xticks(range(len(names)), [f"{name}\n({steps[name]:,} steps)" for name in names])
    axes.set(title=f"Theorem 5.8 run at n = {n}, k = {k}", ylabel="exact error at the end")
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.legend(loc="center right")
