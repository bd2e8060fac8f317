"""Panels that several pictures of chapter 7 have in common."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from elegans.report import look

THEORY = "crimson"
MEASURED = "tab:blue"
# Colours for a few curves, none of them red.
CYCLE = ["tab:blue", "tab:green", "tab:purple", "tab:olive", "tab:cyan", "tab:brown"]


def margin_panel(axes: Axes, curves: pd.DataFrame, ends: pd.DataFrame, by: str) -> None:
    """Margins through training, with the largest one and that of the regularised optimum."""
    for colour, (name, part) in zip(CYCLE, curves.groupby(by, sort=False), strict=False):
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


def power_panel(axes: Axes, neurons: pd.DataFrame, by: str, feature: str) -> None:
    """Histograms of the maximal power of u, at the start and at the end."""
    bins = [i / 40 for i in range(41)]
    start = neurons[neurons["when"] == "start"]
    parts = [(start, "0.7", "at the start")]
    for colour, (name, part) in zip(CYCLE, neurons.groupby(by, sort=False), strict=False):
        parts.append((part[(part["when"] == "end") & part["is_live"]], colour, f"{name}, end"))
    for part, colour, label in parts:
        weights = np.full(len(part), 1 / max(1, len(part)))
        axes.hist(part["power_u"], bins, weights=weights, color=colour, alpha=0.7, label=label)
    axes.set(
        title=f"Power of u in one {feature}",
        xlabel=f"share in the strongest {feature}",
        ylabel="share of neurons",
    )
    axes.legend(loc="upper left")
