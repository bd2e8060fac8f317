"""Pictures of the studies of attention and of parities, drawn from their tables."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

TRUE, FALSE, OTHER = "#1b9e77", "#d95f02", "0.6"
SHARES = {
    "relevant": ("the three hidden bits", "#1b9e77"),
    "irrelevant": ("all other bits together", "0.5"),
    "cls": ("[CLS] itself", "#7570b3"),
}


def attention(tables: Tables) -> Figure:
    """Figure 4.3, right: weights by position, and attention during training."""
    picture = look.figure(
        13,
        5,
        f"A single head among T = {tables.facts['T']} bits learns to look at the three that matter "
        f"(m = {tables.facts['samples']})",
    )
    grid = picture.add_gridspec(2, 2, width_ratios=(1.25, 1), height_ratios=(2.2, 1))
    _weights(picture.add_subplot(grid[:, 0]), tables["weights"])
    above = picture.add_subplot(grid[0, 1])
    _shares(above, tables["curves"])
    _errors(picture.add_subplot(grid[1, 1], sharex=above), tables["curves"])
    return picture


def _weights(axes: Axes, weights: pd.DataFrame) -> None:
    first = weights[weights["seed"] == weights["seed"].min()]
    kinds = {
        "another bit, or [CLS] (the last position)": (~first["is_relevant"], OTHER, 6),
        "hidden bit, false in this input": (first["is_relevant"] & ~first["is_true"], FALSE, 12),
        "hidden bit, true in this input": (first["is_relevant"] & first["is_true"], TRUE, 12),
    }
    for label, (chosen, colour, size) in kinds.items():
        part = first[chosen]
        axes.scatter(part["position"], part["weight"], s=size, color=colour, alpha=0.5, label=label)
    axes.set(xlabel="position", ylabel="attention weight of [CLS]", ylim=(-0.02, None))
    axes.set_title("The first run at its end, 100 inputs")
    axes.legend(loc="upper right")


def _shares(axes: Axes, curves: pd.DataFrame) -> None:
    for name, (label, colour) in SHARES.items():
        for i, (_, run) in enumerate(curves.groupby("seed")):
            axes.plot(run["step"], run[name], color=colour, lw=1.2, label=label if i == 0 else None)
    axes.set(ylabel="share of the attention", ylim=(-0.02, 1.2))
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.set_title("Where the head looks during training, a line per run")
    axes.tick_params(labelbottom=False)
    axes.legend(loc="upper right", ncols=3)


def _errors(axes: Axes, curves: pd.DataFrame) -> None:
    for _, run in curves.groupby("seed"):
        axes.plot(run["step"], run["test_error"], color="0.2", lw=1)
    axes.set(xlabel="step", ylabel="error on\nnew examples", ylim=(0, None))


def parity(tables: Tables) -> Figure:
    """Figure 4.4: losses and errors of parities during training, by T."""
    picture = look.figure(
        12,
        4.4,
        "Parities of 3 bits: nothing seems to happen, and then it does "
        f"(online, batches of {tables.facts['batch']:,})",
    )
    left, right = picture.subplots(1, 2)
    curves = tables["curves"]
    shade = look.colours(curves["T"])
    for (T, _), run in curves.groupby(["T", "seed"]):
        left.plot(run["step"], run["test_loss"], color=shade[T], lw=1.2)
        right.plot(run["step"], 1 - run["test_error"], color=shade[T], lw=1.2)
    for T in sorted(shade):
        left.plot([], [], color=shade[T], label=f"T = {T}")
    left.axhline(math.log(2), color="0.5", lw=0.8, ls=":")
    words = {"ha": "right", "va": "bottom", "fontsize": 8, "color": "0.4"}
    left.text(0.99, math.log(2), "ln 2: chance", transform=left.get_yaxis_transform(), **words)
    left.set(xlabel="step", ylabel="loss", title="Loss on new examples, a line per seed")
    right.set(xlabel="step", ylabel="accuracy", title="Accuracy on new examples", ylim=(0.4, 1.02))
    left.set_ylim(0, None)
    left.legend(loc="center right")
    top = float(np.nanmax(curves["step"]))
    for axes in (left, right):
        axes.set_xlim(0, top)
        look.few_thousands(axes)
    return picture
