"""Pictures of hidden progress: weights, paths and gaps beside the error."""

from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups

BLUE, GREY = "#2b6cb0", "0.6"
CURVES = 20


def hidden_progress(tables: Tables) -> Figure:
    """Figures 5.3 and B.9: errors, weights, measures of progress."""
    facts = tables.facts
    picture = look.figure(
        15,
        9.5,
        "Behind a flat error the relevant weights grow "
        f"(sinusoidal neuron, ({facts['n']}, {facts['k']})-parity, batches of {facts['batch']})",
    )
    shown = list(tables["shown"].groupby(["network", "batch"], sort=False))
    top, bottom = cast(Any, picture.subfigures(2, 1, height_ratios=[2, 1]))
    panels = top.subplots(2, 3)
    looks = tables["looks"]
    _lines(panels[0, 0], looks, "error", "Error of the runs", labels=("parity",))
    _weights(panels[1, 0], tables)
    _lines(panels[0, 1], looks, "path", "Largest change of a weight so far")
    _prediction(panels[1, 1], tables)
    _lines(panels[0, 2], looks, "gap", "Fourier gap of the population gradient")
    _lines(panels[1, 2], looks, "lead", "Lead of the relevant weights")
    panels[1, 2].axhline(0, color="black", lw=0.8)
    for axes, ((network, batch), rows) in zip(
        np.atleast_1d(bottom.subplots(1, len(shown))), shown, strict=True
    ):
        _both(axes, rows, f"{network}, batches of {batch}")
    return picture


def _lines(
    axes: Axes, looks: pd.DataFrame, name: str, title: str, labels: Any = ("noise", "parity")
) -> None:
    colours = {"parity": BLUE, "noise": GREY}
    for kind in labels:
        part = looks[(looks["labels"] == kind) & (looks["seed"] < CURVES)]
        for _, run in groups(part, "seed"):
            axes.plot(run["step"], run[name], color=colours[kind], lw=0.7, alpha=0.7)
        if len(labels) > 1:
            axes.plot([], [], color=colours[kind], label={"noise": "random labels"}.get(kind, kind))
    axes.set(title=title, xlabel="step")
    if len(labels) > 1:
        axes.legend(loc="upper left")


def _weights(axes: Axes, tables: Tables) -> None:
    rows, k = tables["weights"], tables.facts["k"]
    for i, path in groups(rows, "input"):
        is_relevant = int(i) < k
        style = {"color": BLUE, "lw": 1.8, "zorder": 3} if is_relevant else {"color": GREY}
        axes.plot(path["step"], path["weight"], **({"lw": 0.6} | style))
    moved = rows[rows["error"] < 0.4]["step"]
    if len(moved):
        axes.axvline(moved.min(), color="black", ls=":", lw=1)
        axes.text(moved.min(), 0.02, " error < 40%", transform=axes.get_xaxis_transform())
    axes.plot([], [], color=BLUE, label="relevant inputs")
    axes.plot([], [], color=GREY, label="other inputs")
    axes.set(title="All weights of one run", xlabel="step")
    axes.legend(loc="upper left")


def _prediction(axes: Axes, tables: Tables) -> None:
    firsts = tables["firsts"].set_index("seed")["time"]
    half = firsts.median() / 2
    looks = tables["looks"]
    rows = looks[(looks["labels"] == "parity") & (looks["step"] <= half)]
    rows = rows.sort_values("step").groupby("seed").last()
    rows = rows[rows["error"] > 0.45]
    left = firsts.reindex(rows.index) - rows["step"]
    axes.plot(rows["path"], left, "o", ms=4, color=BLUE, alpha=0.7)
    axes.set(
        title=f"Path at step {half:.0f}, and the time that was left",
        xlabel="largest change of a weight so far",
        ylabel="steps until no error",
        yscale="log",
    )
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(look.THOUSANDS)
    axes.yaxis.set_minor_formatter(NullFormatter())


def _both(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    """Error and path of a few runs, each on an axis of its own."""
    other = axes.twinx()
    for _, run in groups(rows, "seed"):
        axes.plot(run["step"], run["error"], color="black", lw=0.8)
        other.plot(run["step"], run["path"], color=BLUE, lw=1.2)
    axes.set(title=title, xlabel="step", ylim=(0, 0.6), ylabel="error (black)")
    other.set_ylabel("path", color=BLUE)
    other.spines["right"].set_visible(True)
    look.few_thousands(axes)
