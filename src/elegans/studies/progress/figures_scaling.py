"""Pictures of scaling: times against n and k, exponents, robustness."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups

MARKERS = "osD^vP*X"


def scaling_laws(tables: Tables) -> Figure:
    """Figures 5.1 (right), 5.2 (right) and B.4."""
    picture = look.figure(
        16, 5, "The time to learn a parity is a power of n; the power grows with k and with n"
    )
    left, middle, right = picture.subplots(1, 3, width_ratios=[1.1, 0.9, 1])
    _times(left, tables)
    _exponents(middle, tables)
    _robust(right, tables)
    return picture


def _marker(tables: Tables, label: str) -> str:
    return MARKERS[list(tables["medians"]["label"].unique()).index(label) % len(MARKERS)]


def _times(axes: Axes, tables: Tables) -> None:
    rows = tables["medians"]
    shade = look.colours(rows["k"])
    for (label, k), part in groups(rows, ["label", "k"]):
        part = part[np.isfinite(part["median"])]
        high = np.where(np.isfinite(part["high"]), part["high"], part["median"])
        error = [part["median"] - part["low"], high - part["median"]]
        axes.errorbar(
            part["n"],
            part["median"],
            error,
            color=shade[k],
            marker=_marker(tables, label),
            ms=4,
            lw=1.3,
            capsize=2,
            label=f"({label}), k = {k}",
        )
    axes.set(xscale="log", yscale="log", xlabel="bits n", ylabel="median steps")
    axes.set_title("Median time to learn")
    look.plain_ticks(axes)
    axes.legend(loc="upper left", ncols=2)


def _exponents(axes: Axes, tables: Tables) -> None:
    for label, part in groups(tables["exponents"], "label"):
        middle = part["common"]
        error = [middle - part["common_low"], part["common_high"] - middle]
        axes.errorbar(
            part["k"],
            middle,
            error,
            marker=_marker(tables, str(label)),
            capsize=3,
            label=f"({label}) {tables.facts['names'][label]}",
        )
    k = np.array(sorted(tables["exponents"]["k"].unique()))
    axes.plot(k, k, "--", color="crimson", lw=1, label="guessing, n^k")
    axes.set(
        xlabel="relevant bits k", ylabel="exponent of n", title="Fitted exponents, over the same n"
    )
    axes.set_xticks(k)
    axes.legend(loc="upper left")


def _robust(axes: Axes, tables: Tables) -> None:
    rows = tables["robust"]
    share = rows.assign(share=rows["converged"] / rows["runs"])
    grid = share.pivot_table("share", index="label", columns="batch", aggfunc="min", sort=False)
    grid = grid[sorted(grid.columns)]
    columns = [f"B = {batch:,}" for batch in grid.columns]
    names = tables.facts["names"]
    rows_named = [f"({label}) {names[label]}" for label in grid.index]
    look.heat_map(axes, grid.to_numpy(float), rows_named, columns)
    axes.set_title("Runs that converge (%), best rate of other seeds")
