"""Pictures of chapter 7's studies, drawn from their tables."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elegans.report import look
from elegans.report.result import Tables

THEORY = "crimson"
MEASURED = "tab:blue"
USES = {"required": MEASURED, "optional": "tab:orange", "never": "0.6"}


def margin_game(tables: Tables) -> Figure:
    """Shares of every group's representations, and how one dies in training."""
    picture = look.figure(13, 5.6, "Which representations a network of largest margin uses")
    left, right = picture.subplots(1, 2, width_ratios=[2, 1])
    rows, groups = tables["representations"], list(tables["groups"]["group"])
    for use, colour in USES.items():
        part = rows[rows["use"] == use]
        x = [groups.index(name) for name in part["group"]]
        spread = [part["share"] - part["low"], part["high"] - part["share"]]
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
    """Shares against the sum of learning rates, on logarithmic axes."""
    curves, optimum = tables["shares"], tables["optimum"]
    gone = set(optimum.loc[optimum["theory"] <= 1e-9, "representation"])
    labels = [
        name for name in curves["representation"].unique() if name in set(optimum["representation"])
    ]
    shades = dict(zip([n for n in labels if n not in gone], look_cycle(), strict=False))
    for (name, seed), line in curves[curves["representation"].isin(labels)].groupby(
        ["representation", "seed"], sort=False
    ):
        line = line[(line["time"] > 0) & (line["share"] > 0)]
        colour = THEORY if name in gone else shades[name]
        label = f"{name}{', left out by theory' if name in gone else ''}" if seed == 0 else None
        axes.plot(line["time"], line["share"], color=colour, lw=1, label=label)
    for seed, part in tables["decay"].groupby("seed"):
        predicted = part.groupby("time")["predicted"].sum()
        label = "predicted" if seed == 0 else None
        axes.plot(predicted.index, predicted, "--", color="0.2", lw=1.2, label=label)
    axes.set(xscale="log", yscale="log", xlabel="sum of learning rates so far", ylabel="norm share")
    axes.set_title(f"Training on {tables.facts['trained']}, penalty {tables.facts['weight']:g}")
    axes.legend(title="representation")


def look_cycle() -> list[str]:
    """Colours for a few curves, none of them red."""
    return ["tab:blue", "tab:green", "tab:purple", "tab:olive", "tab:cyan", "tab:brown"]


def modular_addition(tables: Tables) -> Figure:
    """Neurons with their spectra; the margin; maximal powers; shares of frequencies."""
    facts = tables.facts
    title = f"What networks learn that add modulo p = {facts['p']} (width {facts['width']})"
    picture = look.figure(14, 9, title)
    columns = ("a", "b", "c")
    rows = [
        [f"{name}-{kind}-{c}" for c in columns for kind in ("weights", "power")]
        for name in ("square", "relu")
    ]
    bottom = ["margin"] * 2 + ["powers"] * 2 + ["shares"] * 2
    panels: dict[str, Axes] = picture.subplot_mosaic(
        [*rows, bottom], height_ratios=[1, 1, 1.6], width_ratios=[1.7, 1] * 3
    )
    for name in ("square", "relu"):
        part = tables["weights"]
        part = part[part["activation"] == name]
        for column, (neuron, rows_of) in zip(columns, part.groupby("neuron"), strict=False):
            _wave(panels[f"{name}-weights-{column}"], rows_of, f"{name}, neuron {neuron}")
            bars = rows_of[rows_of["kind"] == "power"]
            axes = panels[f"{name}-power-{column}"]
            axes.bar(bars["x"], bars["value"], color="0.4")
            axes.set(ylim=(0, 1), xlabel="frequency", ylabel="power")
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    quadratic = tables["curves"][tables["curves"]["activation"] == "square"]
    _margins(panels["margin"], quadratic, tables["ends"], "activation")
    panels["margin"].axhline(facts["memorising"], color="0.5", ls=":", lw=1)
    x = float(tables["curves"]["step"].max())
    panels["margin"].text(
        x, facts["memorising"] + 0.02, "memorising network", ha="right", fontsize=8
    )
    _powers(panels["powers"], tables["neurons"], "activation", "frequency")
    _frequencies(panels["shares"], tables)
    return picture


def _wave(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    """The weights of a neuron as dots, and the interpolant through them."""
    for kind, style in (("interpolant", "-"), ("weight", "o")):
        part = rows[rows["kind"] == kind]
        axes.plot(part["x"], part["value"], style, color=MEASURED, lw=1, ms=3)
    axes.set(title=title, xlabel="number", ylabel="weight")


def _margins(axes: Axes, curves: pd.DataFrame, ends: pd.DataFrame, by: str) -> None:
    """Margins through training, with the largest one and that of the regularised optimum."""
    for colour, (name, part) in zip(look_cycle(), curves.groupby(by, sort=False), strict=False):
        for i, (_, line) in enumerate(part.groupby("seed")):
            axes.plot(
                line["step"], line["ratio"], color=colour, lw=1, label=None if i else str(name)
            )
        optimum = ends.loc[ends[by] == name, "theory_ratio"].mean()
        if optimum < 0.999:  # else the line of the largest margin is this one
            axes.axhline(optimum, color=colour, ls="--", lw=1, label="optimum at this penalty")
    axes.axhline(1, color=THEORY, ls="--", lw=1, label="largest possible")
    low = max(-0.5, float(curves["ratio"].min()))
    axes.set(title="Margin", xlabel="step", ylabel="margin / largest margin", ylim=(low, None))
    look.few_thousands(axes)
    axes.legend(loc="lower right")


def _powers(axes: Axes, neurons: pd.DataFrame, by: str, feature: str) -> None:
    """Histograms of the maximal power of u, at the start and at the end."""
    bins = [i / 40 for i in range(41)]
    start = neurons[neurons["when"] == "start"]
    parts = [(start, "0.7", "at the start")]
    for colour, (name, part) in zip(look_cycle(), neurons.groupby(by, sort=False), strict=False):
        parts.append((part[(part["when"] == "end") & part["is_live"]], colour, f"{name}, end"))
    for part, colour, label in parts:
        weights = np.full(len(part), 1 / max(1, len(part)))
        axes.hist(part["power_u"], bins, weights=weights, color=colour, alpha=0.7, label=label)
    axes.set(
        title=f"Power of u in its strongest {feature}",
        xlabel="share of the power",
        ylabel="share of neurons",
    )
    axes.legend(loc="upper left")


def _frequencies(axes: Axes, tables: Tables) -> None:
    """Norm share per frequency, mean over seeds, beside the theory's."""
    rows = tables["frequencies"]
    for offset, colour, (name, part) in zip(
        (-0.2, 0.2), look_cycle(), rows.groupby("activation", sort=False), strict=False
    ):
        mean = part.groupby("representation", sort=False)["share_end"].mean()
        axes.bar(np.arange(1, len(mean) + 1) + offset, mean, 0.38, color=colour, label=str(name))
    axes.axhline(float(rows["theory_limit"].iloc[0]), color=THEORY, ls="--", lw=1, label="theory")
    top = 1.25 * float(rows["share_end"].max())
    axes.set(title="Share of the norm, cubed", xlabel="frequency", ylabel="share", ylim=(0, top))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="upper center", ncols=3)


def group_features(tables: Tables) -> Figure:
    """A row per group: margin, maximal powers at start and end, neurons and shares."""
    groups = list(tables["ends"]["group"].unique())
    picture = look.figure(
        14, 4.2 * len(groups), "What networks learn that multiply in a group of permutations"
    )
    panels = picture.subplots(len(groups), 4, squeeze=False)
    for row, name in zip(panels, groups, strict=True):
        part = {
            key: tables[key][tables[key]["group"] == name]
            for key in ("curves", "ends", "neurons", "representations")
        }
        _margins(row[0], part["curves"], part["ends"], "group")
        row[0].set_title(f"{name}: margin")
        _powers(row[1], part["neurons"], "group", "representation")
        mean = part["representations"].groupby("representation", sort=False).mean(numeric_only=True)
        x = np.arange(len(mean))
        labels = [f"{i}\n(dim {d:.0f})" for i, d in zip(mean.index, mean["dimension"], strict=True)]
        row[2].bar(x - 0.2, mean["neurons_start"], 0.38, color="0.7", label="start")
        row[2].bar(x + 0.2, mean["neurons_end"], 0.38, color=MEASURED, label="end")
        row[2].set(title="Neurons per representation", ylabel="neurons (mean over seeds)")
        row[3].bar(x - 0.2, mean["share_end"], 0.38, color=MEASURED, label="trained")
        row[3].bar(x + 0.2, mean["theory"], 0.38, color=THEORY, label="optimum at this penalty")
        row[3].plot(x, mean["theory_limit"], "_", color="k", ms=24, label="largest margin")
        row[3].set(title="Share of the norm, cubed", ylabel="share", ylim=(0, 1.15))
        for axes in row[2:]:
            axes.set_xticks(x, labels)
            axes.legend()
    return picture


def parity_margin(tables: Tables) -> Figure:
    """The top neurons as bars over the inputs, and the margin."""
    facts, bars = tables.facts, tables["weights"]
    title = f"What a network of powers learns of a parity of {facts['k']} of {facts['n']} bits"
    picture = look.figure(14, 5.5, title)
    ranks = sorted(bars["rank"].unique())[:4]
    mosaic = [[*(f"n{r}" for r in ranks[:2]), "margin"], [*(f"n{r}" for r in ranks[2:]), "margin"]]
    panels: dict[str, Axes] = picture.subplot_mosaic(mosaic, width_ratios=[1, 1, 1.5])
    for rank in ranks:
        axes, part = panels[f"n{rank}"], bars[bars["rank"] == rank]
        colours = [MEASURED if name == "u" else "tab:green" for name in part["part"]]
        axes.bar(np.arange(len(part)), part["value"], color=colours)
        axes.axhline(0, color="k", lw=0.6)
        axes.set_xticks(np.arange(len(part)), part["label"])
        axes.set(title=f"Neuron of rank {rank + 1} by norm", ylabel="weight")
    axes = panels["margin"]
    for seed, line in tables["curves"].groupby("seed"):
        label = "trained" if seed == 0 else None
        axes.plot(line["step"], line["ratio"], color=MEASURED, lw=1, label=label)
    axes.axhline(1, color=THEORY, ls="--", lw=1, label="largest possible")
    axes.set(title="Margin", xlabel="step", ylabel="margin / largest margin", ylim=(-0.5, 1.1))
    look.few_thousands(axes)
    axes.legend(loc="lower right")
    return picture


def regularisation_path(tables: Tables) -> Figure:
    """Margin ratio against the penalty, theory as lines and training as dots."""
    picture = look.figure(12, 4.6, "How far from the largest margin does a penalty keep a network?")
    left, right = picture.subplots(1, 2)
    lines, dots = tables["theory"], tables["ends"]
    for colour, (name, line) in zip(look_cycle(), lines.groupby("group", sort=False), strict=False):
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


def modular_grokking(tables: Tables) -> Figure:
    """Errors and Fourier power against steps, with weight decay and without."""
    facts = tables.facts
    picture = look.figure(
        12,
        4.6,
        f"Addition modulo {facts['p']} from {facts['fraction']:.0%} of the table: delayed "
        "generalisation",
    )
    panels = picture.subplots(1, 2, sharey=True)
    lines = {
        "train_error": ("error on the training set", "0.5"),
        "test_error": ("error on the rest of the table", MEASURED),
        "power": ("power in the strongest frequency", THEORY),
    }
    names = [("decay", "With weight decay"), ("none", "Without: a control")]
    for axes, (name, title) in zip(panels, names, strict=True):
        part = tables["curves"][tables["curves"]["decay"] == name]
        for column, (label, colour) in lines.items():
            for seed, line in part.groupby("seed"):
                x = line["step"] + 1
                shown = label if seed == 0 else None
                axes.plot(x, line[column], color=colour, lw=1, label=shown)
        axes.set(title=title, xscale="log", xlabel="step + 1", ylim=(-0.02, 1.02))
        axes.legend(loc="center left")
    panels[0].set_ylabel("error, share of power")
    return picture
