"""Pictures of the Pareto paper's studies, drawn from their tables."""

import warnings
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

ONLINE = "online"
OUTCOMES = {"success": "#1a9850", "no success": "#d73027", "diverged": "#777", "failed": "#333"}
GROUP = ["n", "k", "init"]
WIDE, NARROW = (0.12, 0.53, 0.9, 1.0), (0.85, 0.3, 0.1, 1.0)


def frontier(tables: Tables) -> Figure:
    """Figures 1, 2 and 4 of the Pareto paper: one row of panels per task and init."""
    groups = list(tables["cells"].groupby(GROUP, sort=False))
    picture = look.figure(
        17,
        3.7 * len(groups) + 0.4,
        "Which networks learn a sparse parity, and from how many examples? "
        f"({tables.facts['seeds']} runs per cell, T = {tables.facts['steps']:,} steps, "
        "bars: 95% Wilson intervals)",
    )
    panels = picture.subplots(len(groups), 4, squeeze=False)
    for (success, chance, time, examples), (key, part) in zip(panels, groups, strict=True):
        name = title(*map(str, key))
        _success(success, part, f"{name}: success rate (%)")
        _chance(chance, part)
        _time(time, part, tables.facts["steps"])
        curves = tables["curves"]
        _examples(examples, curves[(curves[GROUP] == list(key)).all(axis=1)], name)
    return picture


def title(n: str, k: str, init: str) -> str:
    """How a task with an init is called."""
    return f"({n}, {k})-parity, {init} init"


def _success(axes: Axes, part: pd.DataFrame, name: str) -> None:
    """Rates with widths upwards and samples across, online last."""
    samples = part["samples"].astype("Float64").fillna(np.inf).astype(float)
    grid = part.assign(samples=samples).pivot(index="width", columns="samples", values="rate")
    columns = [ONLINE if np.isinf(m) else f"{m:,.0f}" for m in grid.columns.astype(float)]
    look.heat_map(axes, grid.to_numpy(), [f"{r:,}" for r in grid.index], columns)
    axes.set(title=name, xlabel="training examples m", ylabel="width r")


def _chance(axes: Axes, part: pd.DataFrame) -> None:
    shade = look.colours(part["width"])
    for width, line in part.dropna(subset=["samples", "rate"]).groupby("width"):
        line = line.sort_values("samples")
        m, rate = line["samples"].astype(float), line["rate"]
        error = [(rate - line["low"]).clip(0), (line["high"] - rate).clip(0)]
        style: Any = {"marker": "o", "ms": 3, "lw": 1.5, "elinewidth": 0.7, "capsize": 2}
        axes.errorbar(m, rate, error, color=shade[width], label=f"r = {width:,}", **style)
    limit = part["theory"].iloc[0]
    axes.axvline(limit, color="crimson", lw=1.2, ls="--")
    words = f"no learner below\nlog2 C(n,k) = {limit:.1f}"
    axes.text(limit * 1.1, 0.3, words, color="crimson", fontsize=7.5)
    axes.set(xscale="log", ylim=(-0.03, 1.05), xlabel="training examples m", ylabel="success rate")
    axes.set_title("Width buys luck and data")
    axes.legend(loc="upper left", bbox_to_anchor=(0.08, 0.98))


def _time(axes: Axes, part: pd.DataFrame, steps: int) -> None:
    shade = look.colours(part["width"])
    sure = part[part["median_steps"].notna() & part["samples"].notna()]
    for width, line in sure.groupby("width"):
        line = line.sort_values("samples")
        m = line["samples"].astype(float)
        style: Any = {"color": shade[width], "label": f"r = {width:,}"}
        axes.plot(m, line["median_steps"], marker="o", ms=3, lw=1.5, **style)
    axes.axhline(steps, color="0.6", lw=1, ls="--")
    axes.text(0.99, steps, "T", transform=axes.get_yaxis_transform(), color="0.4", va="bottom")
    axes.set(xscale="log", yscale="log", xlabel="training examples m")
    axes.set(
        ylabel="median steps to success", title="Close to the edge, fewer examples take longer"
    )
    look.plain_ticks(axes)
    if len(sure):
        axes.legend()


def _examples(axes: Axes, curves: pd.DataFrame, name: str) -> None:
    axes.set(ylim=(0, 0.56), xlabel="step", ylabel="error", title=f"Runs, {name}")
    if not len(curves):  # every run of the example cells failed
        return
    widths = sorted(curves["width"].unique())
    shade = {widths[0]: NARROW, widths[-1]: WIDE}
    for (width, _), run in curves.groupby(["width", "seed"]):
        axes.plot(run["step"], run["train_error"], color="0.75", lw=0.8)
        axes.plot(run["step"], run["test_error"], color=shade[width], lw=1.2)
    for width in reversed(widths):
        axes.plot([], [], color=shade[width], label=f"test error, r = {width:,}")
    axes.plot([], [], color="0.75", label="train error")
    axes.axhline(0.1, color="0.4", lw=0.8, ls=":")
    look.few_thousands(axes)
    axes.set_title(f"Runs at m = {curves['samples'].iloc[0]:,}, {name}")
    axes.legend(loc="center right")


def frontier_chart(tables: Tables) -> alt.VConcatChart:
    """Heat maps above the runs of the cell that is clicked."""
    cells, runs = _labelled(tables["cells"]), _labelled(tables["runs"])
    status = runs["status"].replace("done", "no success")
    runs["outcome"] = np.where(runs["success"].fillna(False).to_numpy(bool), "success", status)
    pick = alt.selection_point(
        fields=["task", "width", "m"], empty=False, on="click", value=_first_edge(cells)
    )
    maps = [_map(cells, task, pick) for task in cells["task"].drop_duplicates()]
    with warnings.catch_warnings():  # one selection over all maps is what is meant
        warnings.filterwarnings("ignore", "Automatically deduplicated selection")
        grid = alt.concat(*maps, columns=2).add_params(pick)
        return alt.vconcat(grid, _dots(runs, int(tables.facts["steps"]), pick))


def _labelled(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with their task in words, and the samples as text with online among them."""
    keys = zip(table["n"], table["k"], table["init"], strict=True)
    m = ["online" if pd.isna(m) else str(m) for m in table["samples"]]
    return table.assign(task=[title(*map(str, key)) for key in keys], m=m).drop(columns="samples")


def _map(cells: pd.DataFrame, task: str, pick: Any) -> alt.LayerChart:
    part = cells[cells["task"] == task]
    base = alt.Chart(part).encode(
        x=alt.X("m:O", sort=list(part["m"].unique()), title="training examples m"),
        y=alt.Y("width:O", sort="descending", title="width r"),
    )
    share = {name: alt.Tooltip(f"{name}:Q", format=".0%") for name in ("rate", "low", "high")}
    squares = base.mark_rect(cursor="pointer").encode(
        color=alt.Color(
            "rate:Q",
            title="success rate",
            legend=alt.Legend(format=".0%"),
            scale=alt.Scale(scheme="yellowgreenblue", domain=[0, 1.15]),
        ),
        stroke=alt.condition(pick, alt.value("crimson"), alt.value("white")),
        strokeWidth=alt.condition(pick, alt.value(3), alt.value(1)),
        tooltip=[
            *share.values(),
            alt.Tooltip("median_steps:Q", format=",.0f"),
            "successes:Q",
            "runs:Q",
        ],
    )
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("rate:Q", format=".0%"),
        color=alt.condition("datum.rate > 0.6", alt.value("white"), alt.value("black")),
    )
    return (squares + numbers).properties(title=task, width=380, height=240)


def _dots(runs: pd.DataFrame, steps: int, pick: Any) -> alt.Chart:
    return (
        alt.Chart(runs)
        .mark_circle(size=70, opacity=0.8)
        .encode(
            x=alt.X(
                "steps:Q",
                title="steps until success or the end",
                scale=alt.Scale(domain=[0, steps]),
            ),
            y=alt.Y(
                "test_error:Q",
                title="error on new examples at the end",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 0.6]),
            ),
            color=alt.Color(
                "outcome:N",
                scale=alt.Scale(domain=list(OUTCOMES), range=list(OUTCOMES.values())),
            ),
            tooltip=[
                "seed:Q",
                "steps:Q",
                alt.Tooltip("test_error:Q", format=".1%"),
                alt.Tooltip("train_error:Q", format=".1%"),
                "outcome:N",
            ],
        )
        .transform_filter(pick)
        .properties(title="The runs of the cell that you click", width=800, height=200)
    )


def _first_edge(cells: pd.DataFrame) -> list[dict[str, object]]:
    """The cell that is shown before any click: the one nearest to even odds."""
    cell = cells.iloc[int((cells["rate"].fillna(0.0) - 0.5).abs().argmin())]
    return [{"task": cell["task"], "width": int(cell["width"]), "m": cell["m"]}]
