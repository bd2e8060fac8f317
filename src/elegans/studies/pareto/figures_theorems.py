"""Pictures of the theorems that were run: thresholds over sparsity, bits and width."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

BLUE, ORANGE, GREEN, GREY = "#1f77b4", "#ff7f0e", "#2ca02c", "0.5"


def over_sparse(tables: Tables) -> Figure:
    """Thresholds of samples over s and over n, and of width over s."""
    facts, table = tables.facts, tables["thresholds"]
    slopes = tables["exponents"].set_index("law")["slope"]
    picture = look.figure(
        14,
        4,
        f"One step and a readout: parities of {facts['k']} bits, hinge loss "
        f"{facts['epsilon']:g}, {facts['seeds']} runs per size",
    )
    left, middle, right = picture.subplots(1, 3)
    samples = table[table["search"] == "samples"]
    here = samples[samples["n"] == facts["n"]]
    for arm, colour in (("plain", BLUE), ("truncated", ORANGE)):
        part = here[here["arm"] == arm]
        label = f"{arm}: slope {slopes[f'samples over s, {arm}']:.2f}"
        thresholds(left, part, "s", colour, label, 1.0)
    left.set(xlabel="inputs per neuron, s", ylabel="examples of half success, m")
    left.set_title(f"Fewer inputs per neuron need fewer\nexamples (n = {facts['n']}; lines: s)")
    larger = samples[(samples["s"] == facts["fixed_s"]) & (samples["arm"] == "truncated")]
    label = f"truncated: slope {slopes['samples over n, truncated']:.2f}"
    thresholds(middle, larger, "n", ORANGE, label, 0.0)
    middle.set(xlabel="bits, n", ylabel="examples of half success, m")
    middle.set_ylim(larger["low"].min() / 4, larger["high"].max() * 4)
    middle.set_title(f"Truncated, more bits hardly need more\n(s = {facts['fixed_s']}; line: none)")
    widths = table[table["search"] == "width"]
    thresholds(right, widths, "s", GREEN, f"slope {slopes['width over s']:.2f}", -2.0)
    right.set(xlabel="inputs per neuron, s", ylabel="width of half success, r")
    right.set_title(f"But they need wider networks\n(n = {facts['n']}; line: 1/s²)")
    return picture


def thresholds(
    axes: Axes, part: pd.DataFrame, x: str, colour: str, label: str, power: float
) -> None:
    """Dots with intervals, and a line of the given power through their middle."""
    part = part.sort_values(x)
    error = [part["threshold"] - part["low"], part["high"] - part["threshold"]]
    axes.errorbar(part[x], part["threshold"], error, fmt="o", color=colour, capsize=2, label=label)
    sizes = part[x].to_numpy(float)
    middle = np.exp(np.log(part["threshold"]).mean() - power * np.log(sizes).mean())
    axes.plot(sizes, middle * sizes**power, color=colour, lw=1, ls="--")
    axes.set(xscale="log", yscale="log")
    look.plain_ticks(axes)
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    axes.legend()
