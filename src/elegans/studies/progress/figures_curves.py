"""Pictures of training curves: grokking, noise, phase transitions."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

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
