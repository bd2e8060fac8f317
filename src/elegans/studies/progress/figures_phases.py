"""Pictures of the error curves of all architectures."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups, records

ACROSS = 6
MOST_LINES = 8  # more hide each other's steps
FLAT, FALLING = "#2b6cb0", "#dd6b20"


def phase_transitions(tables: Tables) -> Figure:
    """Figures 5.1 (left), B.2 and B.13."""
    listed, facts = tables["architectures"], tables.facts
    extra = [
        *(
            (f"PolyNet, B = {batch}", part, FALLING)
            for batch, part in groups(tables["polynet_curves"], "batch")
        ),
        *(
            (f"{name.replace('relu', 'ReLU')}, width {width:,}, B = {batch}", part, FALLING)
            for (name, width, batch), part in groups(
                tables["wide_curves"], ["network", "width", "batch"]
            )
        ),
    ]
    rows = -(-len(listed) // ACROSS) + -(-len(extra) // ACROSS)
    picture = look.figure(
        2.7 * ACROSS,
        2.1 * rows + 0.5,
        f"All 18 architectures learn the ({facts['n']}, {facts['k']})-parity, most after a plateau",
    )
    panels = picture.subplots(rows, ACROSS, sharey=True).reshape(-1)
    curves = tables["curves"]
    for axes, row in zip(panels, records(listed), strict=False):
        part = curves[curves["label"] == row.label]
        _curves(axes, part, FLAT)
        name = row.name.replace(" neuron, no second layer", ", one layer")
        axes.set_title(f"({row.label}) {name}", fontsize=8)
    start = -(-len(listed) // ACROSS) * ACROSS
    for axes, (title, part, colour) in zip(panels[start:], extra, strict=False):
        _curves(axes, part, colour)
        axes.set_title(title, fontsize=8)
    for axes in [*panels[len(listed) : start], *panels[start + len(extra) :]]:
        axes.set_visible(False)
    for axes in panels[::ACROSS]:
        axes.set_ylabel("error")
    for axes in panels[start : start + len(extra)]:
        axes.set_xlabel("step", fontsize=8)
    return picture


def _curves(axes: Axes, part: pd.DataFrame, colour: str) -> None:
    ends = part.groupby("seed")["step"].max()
    for _, run in groups(part[part["seed"].isin(ends.index[:MOST_LINES])], "seed"):
        axes.plot(run["step"], run["test_error"], color=colour, lw=0.8, alpha=0.8)
    # A few slow runs would squeeze all the others into a corner.
    axes.set(ylim=(0, 0.6), xlim=(0, 1.1 * float(np.quantile(ends, 0.8))))
    look.few_thousands(axes)
    axes.tick_params(labelsize=7)
