"""What trained networks look like: waves, representations, relevant bits, grokking."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.groups.figures.panels import (
    CYCLE,
    MEASURED,
    THEORY,
    margin_panel,
    power_panel,
)


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
        part = part[(part["activation"] == name) & (part["part"] == "u")]
        order = list(part["neuron"].unique())  # by norm; the middle ones are drawn
        middle = order[max(0, len(order) // 2 - 1) :][: len(columns)]
        for column, neuron in zip(columns, middle, strict=False):
            rows_of = part[part["neuron"] == neuron]
            _wave(panels[f"{name}-weights-{column}"], rows_of, f"{name}, neuron {neuron}")
            bars = rows_of[rows_of["kind"] == "power"]
            axes = panels[f"{name}-power-{column}"]
            axes.bar(bars["x"], bars["value"], color="0.4")
            axes.set(ylim=(0, 1), xlabel="frequency", ylabel="power")
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))  # a narrow panel
    quadratic = tables["curves"][tables["curves"]["activation"] == "square"]
    margin_panel(panels["margin"], quadratic, tables["ends"], "activation")
    panels["margin"].axhline(facts["memorising"], color="0.5", ls=":", lw=1)
    x = float(tables["curves"]["step"].max())
    panels["margin"].text(
        x, facts["memorising"] + 0.02, "memorising network", ha="right", fontsize=8
    )
    power_panel(panels["powers"], tables["neurons"], "activation", "frequency")
    _frequencies(panels["shares"], tables)
    return picture


def _wave(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    """The weights of a neuron as dots, and the interpolant through them."""
    for kind, style in (("interpolant", "-"), ("weight", "o")):
        part = rows[rows["kind"] == kind]
        axes.plot(part["x"], part["value"], style, color=MEASURED, lw=1, ms=3)
    axes.set(title=title, xlabel="number", ylabel="weight")


def _frequencies(axes: Axes, tables: Tables) -> None:
    """Norm share per frequency, mean over seeds, beside the theory's."""
    rows = tables["frequencies"]
    for offset, colour, (name, part) in zip(
        (-0.2, 0.2), CYCLE, rows.groupby("activation", sort=False), strict=False
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
        margin_panel(row[0], part["curves"], part["ends"], "group")
        row[0].set_title(f"{name}: margin")
        power_panel(row[1], part["neurons"], "group", "representation")
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
            axes.set_xticks(x, labels, **({"rotation": 90} if len(x) > 4 else {}))
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
