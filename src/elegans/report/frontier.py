"""Pictures of the success frontier: one figure for paper, one page for the browser."""

import warnings

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import plots
from elegans.studies.study import Result

ONLINE = "online"
OUTCOMES = {"success": "#1a9850", "no success": "#d73027", "diverged": "#555"}


def draw(result: Result) -> Figure:
    """Figures 1, 2 and 4 of the Pareto paper: one row of panels a task and start."""
    table = result.table
    groups = list(table.groupby(["n", "k", "start"], sort=False))
    with plots.look():
        made = plots.figure(17, 3.7 * len(groups) + 0.4)
        made.suptitle(
            f"Which networks learn a sparse parity? Wider ones do with fewer samples. "
            f"({result.facts['seeds']} runs a cell, T = {result.facts['steps']:,} steps, "
            f"bars: 95% Wilson intervals)",
            x=0.01,
            ha="left",
            fontsize=12,
        )
        panels = made.subplots(len(groups), 4, squeeze=False)
        for (success, chance, time, examples), (key, part) in zip(panels, groups, strict=True):
            n, k, start = key
            _success(success, part, f"({n}, {k})-parity, {start} start: success rate (%)")
            _chance(chance, part)
            _time(time, part, result.facts["steps"])
            curves = result.data["curves"]
            _examples(examples, curves[curves["start"] == start], f"{start} start")
    return made


def _grid(part: pd.DataFrame) -> pd.DataFrame:
    """Rates with widths downwards and samples across, online last."""
    shown = part.assign(samples=part["samples"].astype("Float64").fillna(np.inf).astype(float))
    return shown.pivot(index="width", columns="samples", values="rate")


def _success(axes: Axes, part: pd.DataFrame, title: str) -> None:
    grid = _grid(part)
    columns = [ONLINE if np.isinf(m) else f"{m:,.0f}" for m in grid.columns.astype(float)]
    plots.heat_map(axes, grid.to_numpy(), [f"{r:,}" for r in grid.index], columns)
    axes.set(title=title, xlabel="training samples m", ylabel="width r")


def _chance(axes: Axes, part: pd.DataFrame) -> None:
    shade = plots.colours(part["width"])
    for width, line in part.dropna(subset="samples").groupby("width"):
        line = line.sort_values("samples")
        m, rate = line["samples"].astype(float), line["rate"]
        error = [(rate - line["low"]).clip(0), (line["high"] - rate).clip(0)]
        axes.errorbar(m, rate, error, color=shade[width], marker="o", ms=3, lw=1.5, elinewidth=0.7,
                      capsize=2, label=f"r = {width:,}")  # fmt: skip
    _limits(axes, part)
    axes.set(xscale="log", ylim=(-0.03, 1.05), xlabel="training samples m", ylabel="success rate",
             title="Width buys luck and data")  # fmt: skip
    axes.legend(loc="upper left", bbox_to_anchor=(0.08, 0.98))


def _limits(axes: Axes, part: pd.DataFrame) -> None:
    """The statistical limit and Proposition 3's samples for each width."""
    limit = part["theory"].iloc[0]
    bounds = part.groupby("width")["theory_proposition_3"].first()
    axes.axvline(limit, color="crimson", lw=1.2, ls="--")
    axes.text(limit * 1.1, 0.3, f"no learner below\nlog2 C(n,k) = {limit:.1f}", color="crimson",
              fontsize=7.5)  # fmt: skip
    if bounds.max() < limit / 10:  # where it says less than the statistical limit, in words only
        axes.text(limit * 1.1, 0.17, f"Proposition 3 forbids\nm < {bounds.max():.1g}: off the axis",
                  color="0.4", fontsize=7.5)  # fmt: skip
        return
    shade = plots.colours(part["width"])
    for width, bound in bounds.items():
        axes.axvline(bound, color=shade[width], ls=":", lw=1)


def _time(axes: Axes, part: pd.DataFrame, steps: int) -> None:
    shade = plots.colours(part["width"])
    sure = part[(part["rate"] >= 0.5) & part["samples"].notna()]
    for width, line in sure.groupby("width"):
        line = line.sort_values("samples")
        axes.plot(line["samples"].astype(float), line["median_steps"], color=shade[width],
                  marker="o", ms=3, lw=1.5, label=f"r = {width:,}")  # fmt: skip
    axes.axhline(steps, color="0.6", lw=1, ls="--")
    axes.text(0.99, steps, "T", transform=axes.get_yaxis_transform(), color="0.4", va="bottom")
    axes.set(xscale="log", yscale="log", xlabel="training samples m",
             ylabel="median steps to success",
             title="Near the edge, fewer samples take longer")  # fmt: skip
    plots.plain_ticks(axes)


def _examples(axes: Axes, curves: pd.DataFrame, start: str) -> None:
    shade = plots.colours(curves["width"])
    shade[max(shade)] = (0.12, 0.53, 0.9, 1.0)
    shade[min(shade)] = (0.85, 0.3, 0.1, 1.0) if len(shade) > 1 else shade[min(shade)]
    for (width, _), run in curves.groupby(["width", "seed"]):
        axes.plot(run["step"], run["train_error"], color="0.75", lw=0.8)
        axes.plot(run["step"], run["test_error"], color=shade[width], lw=1.2)
    for width in sorted(shade, reverse=True):
        axes.plot([], [], color=shade[width], label=f"test error, r = {width:,}")
    axes.plot([], [], color="0.75", label="train error")
    axes.axhline(0.1, color="0.4", lw=0.8, ls=":")
    samples = curves["samples"].iloc[0]
    axes.set(ylim=(0, 0.56), xlabel="step", ylabel="error",
             title=f"Runs at m = {samples:,}, {start}")  # fmt: skip
    axes.legend(loc="center right")


def page(result: Result) -> alt.VConcatChart:
    """Heat maps beside the runs of the cell that is clicked."""
    cells = result.table.assign(
        m=result.table["samples"].astype("string").fillna(ONLINE),
        task=[f"({n}, {k})-parity, {s} start" for n, k, s in
              zip(result.table["n"], result.table["k"], result.table["start"], strict=True)],
    )  # fmt: skip
    runs = result.data["runs"]
    runs = runs.assign(
        m=runs["samples"].astype("string").fillna(ONLINE),
        task=[f"({n}, {k})-parity, {s} start" for n, k, s in
              zip(runs["n"], runs["k"], runs["start"], strict=True)],
        outcome=np.where(runs["success"], "success", runs["status"].replace("done", "no success")),
    )  # fmt: skip
    order = [ONLINE if pd.isna(m) else str(m) for m in cells["samples"].drop_duplicates()]
    widths = sorted(cells["width"].unique(), reverse=True)
    pick = alt.selection_point(fields=["task", "width", "m"], empty=False, on="click",
                               value=_first_edge(cells))  # fmt: skip
    base = alt.Chart(cells.drop(columns=["samples"])).encode(
        x=alt.X("m:O", sort=order, title="training samples m"),
        y=alt.Y("width:O", sort=widths, title="width r"),
    )
    squares = base.mark_rect(cursor="pointer").encode(
        color=alt.Color("rate:Q", scale=alt.Scale(scheme="yellowgreenblue", domain=[0, 1]),
                        title="success rate", legend=alt.Legend(format="%")),
        stroke=alt.condition(pick, alt.value("crimson"), alt.value("white")),
        strokeWidth=alt.condition(pick, alt.value(3), alt.value(1)),
        tooltip=[alt.Tooltip("rate:Q", format=".0%"), alt.Tooltip("low:Q", format=".0%"),
                 alt.Tooltip("high:Q", format=".0%"), alt.Tooltip("median_steps:Q", format=",.0f"),
                 "successes:Q", "runs:Q"],
    )  # fmt: skip
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("rate:Q", format=".0%"),
        color=alt.condition("datum.rate > 0.6", alt.value("white"), alt.value("black")),
    )
    maps = [
        (squares + numbers)
        .transform_filter(alt.datum.task == task)
        .properties(title=str(task), width=420, height=260)
        for task in cells["task"].drop_duplicates()
    ]
    dots = (
        alt.Chart(runs.drop(columns=["samples"]))
        .mark_circle(size=70, opacity=0.8)
        .encode(
            x=alt.X("steps:Q", title="steps until success or the end",
                    scale=alt.Scale(domain=[0, int(result.facts["steps"])])),
            y=alt.Y("test_error:Q", title="test error at the end", axis=alt.Axis(format="%"),
                    scale=alt.Scale(domain=[0, 0.6])),
            color=alt.Color("outcome:N", scale=alt.Scale(domain=list(OUTCOMES),
                                                         range=list(OUTCOMES.values()))),
            tooltip=["seed:Q", "steps:Q", alt.Tooltip("test_error:Q", format=".1%"),
                     alt.Tooltip("train_error:Q", format=".1%"), "outcome:N"],
        )
        .transform_filter(pick)
        .properties(title="The runs of the cell that you click", width=860, height=200)
    )  # fmt: skip
    with warnings.catch_warnings():  # one selection over all maps is what is meant
        warnings.filterwarnings("ignore", "Automatically deduplicated selection")
        grid = alt.concat(*maps, columns=2).add_params(pick)
        return alt.vconcat(grid, dots)


def _first_edge(cells: pd.DataFrame) -> list[dict[str, object]]:
    """The cell that is shown before any click: the one nearest to even odds."""
    cell = cells.iloc[int((cells["rate"] - 0.5).abs().argmin())]
    return [{"task": cell["task"], "width": int(cell["width"]), "m": cell["m"]}]
