"""Pictures of the success frontier, drawn from its tables.

One task is drawn in rows, an init each; several tasks side by side, a column each, as in Figure 4
of the Pareto paper.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.pareto.frontier_tables import GRID, boxes

ONLINE = "online"
DODGE = 1.008  # between lines, on the logarithmic axis, so that their bars do not hide each other
GROUP = ["n", "k", "init"]
WIDE, NARROW = "#d6006c", "#f08000"  # neither is a colour of the heat maps
Panel = Callable[[Axes, pd.DataFrame, Tables], None]


def frontier(tables: Tables) -> Figure:
    """Figures 1 and 4 of the Pareto paper: who succeeds, and runs of two boxed cells of each."""
    facts = tables.facts
    heading = (
        "Which networks learn a sparse parity, and from how many examples? "
        f"({facts['seeds']} runs per cell, at most {facts['steps']:,} steps; ✓: all succeed)"
    )
    return panels(tables, heading, (_success, _examples))


def width(tables: Tables) -> Figure:
    """Figure 2 of the Pareto paper: success rates and times against samples, by width."""
    heading = "Success and time by width: rates with 95% intervals, and the steps it takes"
    return panels(tables, heading, (_success_rates, _time))


def panels(tables: Tables, heading: str, kinds: Sequence[Panel]) -> Figure:
    """One panel of each kind per task and init: inits are rows, or tasks columns if several."""
    groups = list(tables["cells"].groupby(GROUP, sort=False))
    tasks = list(dict.fromkeys((n, k) for (n, k, _), _ in groups))
    inits = list(dict.fromkeys(init for (_, _, init), _ in groups))
    if len(tasks) == 1:
        picture = look.figure(13, 3.9 * len(inits) + 0.4, heading)
        grid = picture.subplots(len(inits), len(kinds), squeeze=False)
    else:
        rows = len(inits) * len(kinds)
        picture = look.figure(6.6 * len(tasks), 3.4 * rows + 0.4, heading)
        grid = picture.subplots(rows, len(tasks), squeeze=False)
    for (n, k, init), part in groups:
        for i, draw in enumerate(kinds):
            row, column = inits.index(init), tasks.index((n, k))
            place = (row, i) if len(tasks) == 1 else (row * len(kinds) + i, column)
            draw(grid[place], part, tables)
    return picture


def title(n: str, k: str, init: str) -> str:
    """How a task with an init is called."""
    return f"({n}, {k})-parity, {init} init"


def _name(part: pd.DataFrame) -> str:
    return title(*map(str, part[GROUP].iloc[0]))


def _success(axes: Axes, part: pd.DataFrame, tables: Tables) -> None:
    """Rates with widths upwards and samples across, online last; boxes around the examples."""
    part = part[part["part"] == GRID]
    samples = part["samples"].astype("Float64").fillna(np.inf).astype(float)
    grid = part.assign(samples=samples).pivot(index="width", columns="samples", values="rate")
    columns = [ONLINE if np.isinf(m) else f"{m:,.0f}" for m in grid.columns.astype(float)]
    look.heat_map(axes, grid.to_numpy(), [f"{r:,}" for r in grid.index], columns)
    for cell, colour in zip(boxes(part), (WIDE, NARROW), strict=False):
        x = int(np.flatnonzero(grid.columns == cell["samples"])[0])
        y = int(np.flatnonzero(grid.index == cell["width"])[0])
        box = Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, ec=colour, lw=2.5)
        axes.add_patch(box)
    axes.set(title=f"{_name(part)}: success rate (%)", xlabel="training examples m")
    axes.set_ylabel("width r")


def _examples(axes: Axes, part: pd.DataFrame, tables: Tables) -> None:
    """Errors during ten runs of each of the two boxed cells."""
    curves, name = tables["curves"], _name(part)
    curves = curves[(curves[GROUP] == part[GROUP].iloc[0]).all(axis=1)]
    axes.set(ylim=(0, 0.56), xlabel="step", ylabel="error", title=f"Runs, {name}")
    if not len(curves):  # every run of the example cells failed
        return
    widths = sorted(curves["width"].unique())
    shade = {widths[0]: NARROW, widths[-1]: WIDE}
    for (width, _), run in curves.groupby(["width", "seed"]):
        axes.plot(run["step"], run["train_error"], color="0.75", lw=0.8, zorder=1)
        axes.plot(run["step"], run["test_error"], color=shade[width], lw=1.2, zorder=2)
    for width in reversed(widths):
        count = curves.loc[curves["width"] == width, "seed"].nunique()
        axes.plot([], [], color=shade[width], label=f"test error, r = {width:,} ({count} runs)")
    axes.plot([], [], color="0.75", label="train error")
    axes.axhline(0.1, color="0.4", lw=0.8, ls=":")
    look.few_thousands(axes)
    axes.set_title(f"Runs at m = {curves['samples'].iloc[0]:,}, {name}")
    place = {"loc": "center right", "bbox_to_anchor": (1.0, 0.42)}
    axes.legend(**place, framealpha=0.85, frameon=True, edgecolor="none")


def _success_rates(axes: Axes, part: pd.DataFrame, tables: Tables) -> None:
    """Success rates against samples, one line per width."""
    shade = look.colours(part["width"])
    lines = part.dropna(subset=["samples", "rate"]).groupby("width")
    for i, (width, line) in enumerate(lines):
        line = line.sort_values("samples")
        m, rate = line["samples"].astype(float) * DODGE**i, line["rate"]
        error = look.bars(line, "rate")
        style: Any = {"marker": "o", "ms": 3, "lw": 1.5, "elinewidth": 0.7, "capsize": 2}
        axes.errorbar(m, rate, error, color=shade[width], label=f"r = {width:,}", **style)
    least = part["theory"].iloc[0]
    words = f"no learner can know the bits from\nfewer than log2 C(n, k) = {least:.1f} examples"
    place: dict[str, Any] = {"ha": "right", "transform": axes.transAxes, "fontsize": 8}
    axes.text(0.99, 0.04, words, color="crimson", backgroundcolor="#ffffffb0", **place)
    axes.set(xscale="log", ylim=(-0.03, 1.05), xlabel="training examples m", ylabel="success rate")
    axes.set_title(f"{_name(part)}: success rate")
    _samples_axis(axes, part)
    axes.legend(loc="upper left")


def _samples_axis(axes: Axes, part: pd.DataFrame) -> None:
    """Ticks at the sizes of the grid, and the same limits whatever is drawn."""
    ticks = sorted(part.loc[part["part"] == GRID, "samples"].dropna().astype(float).unique())
    axes.set_xticks(ticks, [f"{m:,.0f}" for m in ticks], rotation=45, ha="right")
    axes.set_xlim(ticks[0] / 1.1, ticks[-1] * 1.15)
    axes.minorticks_off()


def _time(axes: Axes, part: pd.DataFrame, tables: Tables) -> None:
    """Median steps to success against samples, one line per width, and to no error at all."""
    steps = tables.facts["steps"]
    shade = look.colours(part["width"])
    sure = part[part["median_steps"].notna() & part["samples"].notna()]
    for width, line in sure.groupby("width"):
        line = line.sort_values("samples")
        m = line["samples"].astype(float)
        style: Any = {"color": shade[width], "label": f"r = {width:,}"}
        axes.plot(m, line["median_steps"], marker="o", ms=3, lw=1.5, **style)
    past = tables["past"]
    past = past[(past[GROUP] == part[GROUP].iloc[0]).all(axis=1)]
    perfect = past.dropna(subset=["samples", "perfect_steps"])
    for width, each in perfect.groupby("width"):
        middle = each.groupby("samples")["perfect_steps"].median()
        x = middle.index.to_numpy(float)
        label = f"r = {width:,}, to no error"
        axes.plot(x, middle, "x", color=shade.get(width, "0.3"), ms=6, label=label)
    axes.axhline(steps, color="0.6", lw=1, ls="--")
    words = f"{steps:,} steps: the end"
    axes.text(
        0.99,
        steps,
        words,
        transform=axes.get_yaxis_transform(),
        color="0.4",
        ha="right",
        va="bottom",
    )
    axes.set(xscale="log", yscale="log", xlabel="training examples m")
    axes.set(ylabel="median steps to success", title=f"{_name(part)}: steps needed")
    look.plain_ticks(axes)
    _samples_axis(axes, part)
    if len(perfect):  # widths have the colours of the other panel
        axes.legend(*_last_of(axes), loc="best")


def _last_of(axes: Axes) -> tuple[list[Any], list[str]]:
    """The handle and label of what was drawn last, for a legend of it alone."""
    handles, labels = axes.get_legend_handles_labels()
    return handles[-1:], labels[-1:]
