"""Pictures of chapter 7's studies, drawn from their tables."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
        handle.set_sizes([40])  # type: ignore[union-attr]
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
    for seed, line in tables["decay"].groupby("seed"):
        line = line.groupby("time")["predicted"].sum()
        label = "predicted" if seed == 0 else None
        axes.plot(line.index, line, "--", color="0.2", lw=1.2, label=label)
    axes.set(xscale="log", yscale="log", xlabel="sum of learning rates so far", ylabel="norm share")
    axes.set_title(f"Training on {tables.facts['trained']}, penalty {tables.facts['weight']:g}")
    axes.legend()


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
    panels = picture.subplot_mosaic(
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
    bins = np.linspace(0, 1, 41)
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
    axes.set(title="Share of the norm", xlabel="frequency", ylabel="share")
    axes.legend(loc="lower right")
