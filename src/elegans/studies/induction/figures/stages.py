"""Phases of training: losses with the levels of strategies, and distances from each."""

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

COLOURS = {
    "uniform": "tab:gray",
    "unigram": "tab:green",
    "bigram": "tab:orange",
    "trigram": "tab:purple",
}

CHAINS = {
    "dirichlet": "chains trained on",
    "iid": "independent symbols",
    "doubly_stochastic": "doubly stochastic chains",
}


def panels_of(tables: Tables) -> list[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """The title, the curves and the strategies' levels of each row of panels."""
    table, levels = tables["curves"], tables["levels"]
    by = ["model", "states"] if "states" in table and "states" in levels else ["model"]
    shared = [name for name in (*by, "length") if name in levels and name in table]
    rows = []
    for key, part in table.groupby(by, sort=False):
        title = str(key[0])
        if len(by) > 1 and "states" not in title:
            title += f", {key[1]} states"
        match = levels
        for name in shared:
            match = match[match[name] == part[name].iloc[0]]
        rows.append((title, part, match))
    return rows


def stages(tables: Tables) -> Figure:
    """A row per model: the loss of every seed, then KL from the strategies of the first."""
    rows = panels_of(tables)
    facts = tables.facts
    length = f", {facts['length']} tokens" if "length" in facts else ""
    seeds = f"{facts['seeds']} seeds" if facts["seeds"] > 1 else "one seed"
    title = f"In-context learning{length}. Left: {seeds}. Right: seed 0, with its nearest strategy"
    with look.context():
        picture = look.figure(10.0, 0.5 + 2.9 * len(rows), title)
        grid = picture.subplots(len(rows), 2, squeeze=False)
        for (left, right), (name, part, levels) in zip(grid, rows, strict=True):
            for _, line in part.groupby("seed"):
                left.plot(line["examples"], line["loss"], color="tab:blue", lw=0.8, alpha=0.7)
            level_lines(left, levels)
            left.set(title=f"{name}: loss", ylabel="KL(truth ‖ model), nats", ylim=(0, None))
            divergence_panel(right, part[part["seed"] == part["seed"].min()])
            right.set(title=f"{name}: distance", ylabel="KL(model ‖ strategy), nats")
            for axes in (left, right):
                axes.set(xlabel="examples seen")
                look.few_thousands(axes)
    return picture


def level_lines(axes: Axes, levels: pd.DataFrame) -> None:
    """The strategies' expected losses: dashed lines with their names, apart if they are close."""
    ordered = levels.sort_values("divergence")
    span = ordered["divergence"].max() or 1.0
    height = -np.inf
    for name, level in zip(ordered["strategy"].astype(str), ordered["divergence"], strict=True):
        axes.axhline(float(level), color=COLOURS[name], ls="--", lw=1)
        height = max(float(level), height + 0.07 * span)
        axes.text(
            1.01,
            height,
            name,
            color=COLOURS[name],
            ha="left",
            va="center",
            fontsize=8,
            transform=axes.get_yaxis_transform(),
        )


def divergence_panel(axes: Axes, part: pd.DataFrame) -> None:
    """KL from each strategy in time, phases shaded by the nearest one."""
    x, nearest = part["examples"].to_numpy(), part["nearest"].to_numpy()
    for i in range(len(x) - 1):
        axes.axvspan(x[i], x[i + 1], color=COLOURS[nearest[i]], alpha=0.12, lw=0)
    for name in COLOURS:
        if name in part:
            axes.plot(x, part[name], color=COLOURS[name], label=name)
    axes.set_ylim(0, None)
    axes.legend()


def stages_chart(tables: Tables) -> alt.TopLevelMixin:
    """The loss of every seed; hovering shows the distances."""
    rows = [part.assign(panel=name) for name, part, _ in panels_of(tables)]
    columns = ["panel", "seed", "step", "examples", "nearest", "loss"]
    names = [name for name in COLOURS if name in rows[0]]
    table = pd.concat(rows)[[*columns, *names]]
    return (
        alt.Chart(table)
        .mark_line(point=True)
        .encode(
            x=alt.X("examples:Q", title="examples seen"),
            y=alt.Y("loss:Q", title="KL(truth ‖ model) at the last position, nats"),
            color=alt.Color("seed:N", title="seed"),
            tooltip=[
                "seed",
                "step",
                "nearest",
                *(alt.Tooltip(name, format=".4f") for name in ("loss", *names)),
            ],
        )
        .properties(width=300, height=220)
        .facet(facet=alt.Facet("panel:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )


def elsewhere(tables: Tables) -> Figure:
    """A row per model, a column per kind of chains: losses in time with those of strategies."""
    table = tables["elsewhere"]
    groups = list(table.groupby(["model", "states"], sort=False))
    with look.context():
        picture = look.figure(
            11.0,
            0.5 + 2.4 * len(groups),
            "Losses on three kinds of chains during training: median and range over seeds",
        )
        grid = picture.subplots(len(groups), len(CHAINS), squeeze=False)
        for row, ((model, states), part) in zip(grid, groups, strict=True):
            for axes, (chains, title) in zip(row, CHAINS.items(), strict=True):
                lines = part[part["chains"] == chains]
                steps = lines.groupby("step")["network"]
                axes.fill_between(steps.min().index, steps.min(), steps.max(), alpha=0.25)
                axes.plot(steps.median().index, steps.median(), color="tab:blue")
                means = lines[["uniform", "unigram", "bigram"]].mean()
                level_lines(axes, pd.DataFrame({"strategy": means.index, "divergence": means}))
                axes.set_title(f"{model}, {states} states:\n{title}", fontsize=9)
                axes.set(xlabel="steps", ylabel="nats", ylim=(0, None))
                look.few_thousands(axes)
    return picture
