"""Pictures of the activations that are made for parities."""

from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups


def activation_functions(tables: Tables) -> Figure:
    """Figure B.14, and how often networks with these activations converge."""
    drawn = tables["drawn"]
    kinds = list(drawn["kind"].unique())
    picture = look.figure(15, 6.4, "Activations that pass through the parity of a sum of signs")
    top, bottom = cast(Any, picture.subfigures(2, 1))
    for axes, kind in zip(top.subplots(1, len(kinds), sharey=True), kinds, strict=True):
        _drawn(axes, drawn[drawn["kind"] == kind], kind)
    left, right = bottom.subplots(1, 2)
    _rates(left, tables["rates"], "width", "Runs that converge, by width")
    doubled = tables["doubled_rates"]
    layers = np.where(doubled["second_layer"], "", ", one layer")
    kinds = [f"{kind}{layer}" for kind, layer in zip(doubled["kind"], layers, strict=True)]
    _rates(right, doubled.assign(kind=kinds), "rate", "Doubling asks for a smaller rate")
    return picture


def _drawn(axes: Axes, rows: pd.DataFrame, kind: str) -> None:
    shade = look.colours(rows["k"])
    for k, part in groups(rows, "k"):
        axes.plot(part["z"], part["value"], color=shade[k], lw=1.3, label=f"k = {k}")
        points = part.dropna(subset="sign")
        axes.plot(points["z"], points["sign"], "o", ms=4, color=shade[k])
    axes.set(title=kind.replace("-", " "), xlabel="z", ylim=(-2.2, 2.2))
    axes.legend(loc="lower right", ncols=3, handlelength=1)


def _rates(axes: Axes, cells: pd.DataFrame, by: str, title: str) -> None:
    kinds, groups = list(cells["kind"].unique()), list(cells[by].unique())
    shade = look.colours(pd.Series(range(len(groups))))
    for i, group in enumerate(groups):
        part = cells[cells[by] == group].set_index("kind").reindex(kinds)
        place = np.arange(len(kinds)) + 0.8 * (i - (len(groups) - 1) / 2) / len(groups)
        error = look.bars(part, "value")
        label = f"width {group}" if by == "width" else f"{group:g} times the document's rate"
        axes.bar(place, part["value"], 0.7 / len(groups), color=shade[i], alpha=0.8, label=label)
        axes.errorbar(place, part["value"], error, fmt="none", color="black", lw=0.8, capsize=2)
    names = [kind.replace("-", " ").replace(", ", ",\n") for kind in kinds]
    axes.set_xticks(range(len(kinds)), names)
    axes.set(title=title, ylim=(0, 1.25), ylabel="share of runs")
    axes.legend(loc="upper left", ncols=3)
