"""Pictures of training curves: grokking, noise, phase transitions."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups

COLOURS = {"learned": "#2f855a", "grokked": "#dd6b20", "memorised": "#c53030", "neither": "0.4"}


def grokking(tables: Tables) -> Figure:
    """Curves by samples (across) and weight decay (downwards)."""
    runs, curves = tables["runs"], tables["curves"]
    sizes = sorted(runs["samples"].unique(), reverse=True)
    decays = sorted(runs["decay"].unique())
    facts = tables.facts
    picture = look.figure(
        3.2 * len(sizes) + 1,
        2.3 * len(decays) + 0.6,
        "Grokking lies between too few and enough examples "
        f"(({facts['n']}, {facts['k']})-parity; no learner below "
        f"{facts['statistical_limit']:.0f} examples)",
    )
    panels = picture.subplots(len(decays), len(sizes), squeeze=False, sharey=True)
    for row, decay in zip(panels, decays, strict=True):
        for axes, m in zip(row, sizes, strict=True):
            chosen = (curves["samples"] == m) & (curves["decay"] == decay)
            cell = runs[(runs["samples"] == m) & (runs["decay"] == decay)]
            _errors(axes, curves[chosen], cell)
            axes.set_xlim(100, facts["steps"])
        row[0].set_ylabel(f"decay {decay:g}\nerror")
    for axes, m in zip(panels[0], sizes, strict=True):
        axes.set_title(f"m = {m:,}")
    for axes in panels[-1]:
        axes.set_xlabel("step")
    panels[0][0].legend(loc="lower left")
    return picture


def _errors(axes: Axes, curve: pd.DataFrame, cell: pd.DataFrame) -> None:
    counts = cell["outcome"].value_counts()
    main = str(counts.index[0]) if len(counts) else "neither"
    step = curve["step"].clip(lower=100)
    axes.plot(step, curve["train_error"], color="0.6", lw=1.2, label="training set")
    axes.plot(step, curve["test_error"], color=COLOURS[main], lw=1.6, label="new examples")
    words = ", ".join(f"{count} {name}" for name, count in counts.items())
    axes.text(0.98, 0.95, words, transform=axes.transAxes, ha="right", va="top", fontsize=8)
    axes.set(xscale="log", ylim=(-0.02, 0.62))


def noise(tables: Tables) -> Figure:
    """Errors on clean labels by noise, and the shares of runs that learn."""
    curves, cells, facts = tables["curves"], tables["cells"], tables.facts
    flips = sorted(cells["flip"].unique())
    picture = look.figure(
        2.7 * (len(flips) + 1.3),
        3.6,
        f"SGD learns a ({facts['n']}, {facts['k']})-parity under label noise; "
        "Gaussian elimination does not",
    )
    widths = [1.0] * len(flips) + [1.4]
    *panels, last = picture.subplots(1, len(flips) + 1, width_ratios=widths)
    shade = look.colours(cells["batch"])
    for axes, flip in zip(panels, flips, strict=True):
        for (batch, _), run in groups(curves[curves["flip"] == flip], ["batch", "seed"]):
            axes.plot(run["step"].clip(lower=50), run["test_error"], color=shade[batch], lw=1)
        axes.set(title=f"{flip:.0%} flipped", ylim=(0, 0.6), xlabel="step", xscale="log")
        axes.xaxis.set_minor_formatter(NullFormatter())
    panels[0].set_ylabel("error on clean labels")
    for batch, colour in shade.items():
        panels[0].plot([], [], color=colour, label=f"batches of {batch}")
    panels[0].legend(loc="lower left")
    for batch, part in groups(cells, "batch"):
        share = part["learned"] / part["runs"]
        last.plot(part["flip"], share, "o-", color=shade[batch], ms=4, label=f"SGD, B = {batch}")
    control = tables["elimination"].groupby("flip")["found"].mean()
    last.plot(control.index, control, "s--", color="crimson", label="Gaussian elimination")
    last.set(title="Share that learns", xlabel="flipped labels", ylim=(-0.03, 1.05))
    last.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    last.legend(loc="center right")
    return picture
