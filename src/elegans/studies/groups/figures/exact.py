"""What is computed exactly: games, margins on lines, and the path of the penalty."""

import itertools

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.groups.figures.panels import CYCLE, MEASURED, THEORY

USES = {"required": MEASURED, "optional": "tab:orange", "never": "0.6"}


def margin_game(tables: Tables) -> Figure:
    """Shares of every group's representations, and how one dies in training."""
    picture = look.figure(13, 5.6, "Which representations a network of largest margin uses")
    left, right = picture.subplots(1, 2, width_ratios=[2, 1])
    rows, groups = tables["representations"], list(tables["groups"]["group"])
    for use, colour in USES.items():
        part = rows[rows["use"] == use]
        x = [groups.index(name) for name in part["group"]]
        spread = look.bars(part, "share")
        left.errorbar(x, part["share"], np.maximum(spread, 0), lw=0, elinewidth=1, color=colour)
        face = "none" if use == "never" else colour
        size = 14 * part["dimension"]
        left.scatter(x, part["share"], s=size, edgecolors=colour, facecolors=face, label=use)
    fails = dict(zip(groups, tables["groups"]["condition"] > 1e-9, strict=True))
    names = [f"{name}*" if fails[name] else name for name in groups]
    left.set_xticks(range(len(groups)), names, rotation=60, ha="right")
    left.set(
        ylabel="share of the network's norm, cubed",
        title="Theory (* where Theorem 7.9 does not apply)",
    )
    legend = left.legend(title="representation is", loc="upper right")
    for handle in legend.legend_handles:
        handle.set_sizes([40])
    _dying(right, tables)
    return picture


def _dying(axes: Axes, tables: Tables) -> None:
    """Shares against the time of gradient flow, on logarithmic axes; dotted: the optimum's."""
    curves, optimum = tables["shares"], tables["optimum"]
    gone = set(optimum.loc[optimum["theory"] <= 1e-9, "representation"])
    labels = [
        name for name in curves["representation"].unique() if name in set(optimum["representation"])
    ]
    shades = dict(zip([n for n in labels if n not in gone], CYCLE, strict=False))
    for (name, seed), line in curves[curves["representation"].isin(labels)].groupby(
        ["representation", "seed"], sort=False
    ):
        line = line[(line["time"] > 0) & (line["share"] > 0)]
        colour = THEORY if name in gone else shades[name]
        label = f"{name}{', left out by theory' if name in gone else ''}" if seed == 0 else None
        axes.plot(line["time"], line["share"], color=colour, lw=1, label=label)
    for name, theory in optimum.groupby("representation")["theory"].first().items():
        if name not in gone:
            axes.axhline(theory, color=shades[name], ls=":", lw=1)
    axes.plot([], [], ":", color="0.4", lw=1, label="exact optimum")
    for seed, part in tables["decay"].groupby("seed"):
        predicted = part.groupby("time")["predicted"].sum()
        label = "predicted" if seed == 0 else None
        axes.plot(predicted.index, predicted, "--", color="0.2", lw=1.2, label=label)
    axes.set(xscale="log", yscale="log", xlabel="time of gradient flow", ylabel="norm share")
    axes.set_title(f"Training on {tables.facts['trained']}, penalty {tables.facts['weight']:g}")
    axes.legend(title="representation")


def regularisation_path(tables: Tables) -> Figure:
    """Margin ratio against the penalty, theory as lines and training as dots."""
    picture = look.figure(12, 4.6, "How far from the largest margin does a penalty keep a network?")
    left, right = picture.subplots(1, 2)
    lines, dots = tables["theory"], tables["ends"]
    for colour, (name, line) in zip(CYCLE, lines.groupby("group", sort=False), strict=False):
        line = line[line["ratio"] > 0]
        part = dots[dots["group"] == name]
        left.plot(line["weight"], line["ratio"], color=colour, label=f"{name}, exact optimum")
        left.plot(part["weight"], part["ratio"], "o", color=colour, ms=4, label=f"{name}, trained")
        right.plot(line["weight"], line["norm"], color=colour)
        right.plot(part["weight"], part["norm"], "o", color=colour, ms=4)
    left.axhline(1, color=THEORY, ls="--", lw=1)
    for axes in (left, right):
        axes.set(xscale="log", xlabel="weight of the penalty")
        axes.invert_xaxis()
    left.set(ylabel="margin / largest margin", title="Margin", ylim=(0.6, 1.03))
    right.set(ylabel="norm, cubed", title="Norm", yscale="log")
    left.legend(loc="lower right")
    return picture


def margin_lines(tables: Tables) -> Figure:
    """Margin and mean weighted margin along lines through a network of largest margin."""
    rows = tables["lines"]
    groups = list(rows["group"].unique())
    title = "Why a network has the largest margin: the weighted margin is above, and touches there"
    picture = look.figure(11, 3.4 * len(groups), title)
    panels = picture.subplots(len(groups), 2, squeeze=False, sharey="row")
    names = {"random": "in a random direction", "memorising": "to a network that memorises"}
    for (i, group), (j, direction) in itertools.product(enumerate(groups), enumerate(names)):
        axes = panels[i, j]
        line = rows[(rows["group"] == group) & (rows["direction"] == direction)]
        axes.axhline(1, color="0.3", ls="--", lw=1, label="bound for all networks of norm 1")
        # Wide, as it is the same curve as the margin where all wrong labels have one logit.
        style = {"color": "tab:green", "lw": 5, "alpha": 0.5}
        axes.plot(line["t"], line["weighted"], **style, label="g', weighted (mean)")
        axes.plot(line["t"], line["margin"], color=MEASURED, label="g, the margin (smallest)")
        axes.plot(0, 1, "o", color=THEORY, label="network of largest margin")
        if direction == "memorising":
            end = line.iloc[(line["t"] - 1).abs().argmin()]
            axes.plot(end["t"], end["margin"], "s", color="k", label="memorising network")
            text = f"{end['margin']:.2f}"
            axes.annotate(text, (end["t"], end["margin"]), (6, -12), textcoords="offset points")
        axes.set(title=f"{group}: {names[direction]}", xlabel="place on the line")
        axes.set_ylim(max(-1.0, float(rows["margin"].min()) - 0.1), 1.12)
        if j == 0:
            axes.set_ylabel("part of the largest margin")
        if direction == "memorising":
            axes.legend(loc="lower center")
    return picture
