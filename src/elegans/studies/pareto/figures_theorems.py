"""Pictures of the theorems that were run: thresholds over sparsity, bits and width."""

import math
from collections.abc import Mapping
from typing import Any

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


def under_sparse(tables: Tables) -> Figure:
    """Correlations of subnetworks, and least samples and widths over n."""
    facts = tables.facts
    picture = look.figure(
        14,
        4,
        f"Neurons that know part of {facts['k']} hidden bits find the rest in one truncated step",
    )
    left, middle, right = picture.subplots(1, 3)
    networks = tables["networks"]
    for (samples, part), colour in zip(networks.groupby("samples"), (ORANGE, BLUE), strict=False):
        values = np.sort(part["correlation"])
        label = f"m = {samples:,}"
        left.plot(values, (np.arange(len(values)) + 1) / len(values), color=colour, label=label)
    left.axvline(0.5, color=GREY, lw=1, ls=":")
    left.set(xlim=(-0.05, 1.05), xlabel="correlation with the label", ylabel="share of networks")
    left.set_title(f"Networks of width {facts['width']:,} on {facts['n']} bits\n(dotted: the goal)")
    left.legend()
    panels = ((middle, "samples", "least examples, m"), (right, "width", "least width, r"))
    for axes, name, label in panels:
        slopes = tables["exponents"].set_index("law")
        table = tables["least_samples" if name == "samples" else "least_widths"]
        for (s, part), colour in zip(table.groupby("s"), (GREEN, BLUE), strict=False):
            row: Any = slopes.loc[f"{name} over n, s = {s}"]
            medians = part.groupby("n")[name].median()
            axes.plot(part["n"], part[name], ".", ms=3, alpha=0.3, color=colour)
            axes.plot(
                medians.index, medians, "o", color=colour, label=f"s = {s}: {row['slope']:.2f}"
            )
            n = medians.index.to_numpy(float)
            power = float(row["theory"])
            middle_of = np.exp(np.log(medians).mean() - power * np.log(n).mean())
            axes.plot(n, middle_of * n**power, ls="--", lw=1, color=colour)
        axes.set(xscale="log", yscale="log", xlabel="bits, n", ylabel=label)
        look.plain_ticks(axes)
        axes.legend(title="known bits: slope", title_fontsize=8)
    middle.set_title("Knowing more bits takes fewer examples\n(lines: n^(k - s - 1))")
    right.set_title("and more neurons to know them\n(line: n^s)")
    return picture


def fixed_kernel(tables: Tables) -> Figure:
    """Errors of the kernel, examples that it and SGD need, and its losses beside their bound."""
    facts, table = tables.facts, tables["kernel"]
    plain = table[table["penalty"] == facts["penalty"]]
    picture = look.figure(
        14,
        4,
        f"A fixed kernel and a network: parities of {facts['k']} of n bits, error "
        f"{facts['goal']:.0%} on new examples",
    )
    left, middle, right = picture.subplots(1, 3)
    shades = look.colours(table["n"])
    for (kernel, n), part in plain.groupby(["kernel", "n"], sort=False):
        medians = part.groupby("samples")["error"].median()
        if kernel == "without biases":
            left.plot(medians.index, medians, color=GREY, lw=1)
            continue
        left.plot(medians.index, medians, "o-", ms=3, color=shades[n], label=f"n = {n}")
    left.axhline(facts["goal"], color=GREY, lw=1, ls=":")
    left.set(xscale="log", xlabel="examples, m", ylabel="error on new examples")
    left.set_title("The kernel with biases (colours)\nand without (grey)")
    left.legend()
    _losses_and_norms(right, table[table["kernel"] == "with biases"], facts)
    slopes = tables["exponents"].set_index("law")["slope"]
    needed, sgd = tables["needed"], tables["sgd"]
    label = f"kernel: slope {slopes['kernel']:.2f}"
    middle.plot(needed["n"], needed["samples"], "o", ms=4, color=BLUE, alpha=0.5, label=label)
    middles = needed.groupby("n")["samples"].median()
    sizes = middles.index.to_numpy(float)
    scale = np.exp(np.log(middles).mean() - facts["k"] * np.log(sizes).mean())
    middle.plot(sizes, scale * sizes ** facts["k"], "--", lw=1, color=BLUE)
    error = [sgd["fit"] - sgd["low"], sgd["high"] - sgd["fit"]]
    label = f"SGD, width {facts['width']}: slope {slopes['SGD']:.2f}"
    middle.errorbar(
        sgd["n"], sgd["fit"], error, fmt="s-", ms=4, capsize=2, color=ORANGE, label=label
    )
    middle.set(xscale="log", yscale="log", xlabel="bits, n", ylabel="examples that are needed")
    look.plain_ticks(middle)
    middle.set_xticks(sizes, [f"{size:g}" for size in sizes])
    middle.minorticks_off()
    middle.legend()
    middle.set_title("What the kernel needs grows like n³,\nwhat the network needs does not")
    return picture


def _losses_and_norms(axes: Axes, table: pd.DataFrame, facts: Mapping[str, Any]) -> None:
    """Hinge loss against norm, in units in which the bound is the same line for every n."""
    shades = look.colours(table["n"])
    for n, part in table.groupby("n"):
        norms = part["norm"] / math.comb(int(n), facts["k"]) ** 0.5
        is_plain = part["penalty"] == facts["penalty"]
        axes.plot(norms[is_plain], part["hinge"][is_plain], "o", ms=3, color=shades[n], alpha=0.6)
        style = {"ms": 5, "mfc": "none", "color": shades[n]}
        axes.plot(norms[~is_plain], part["hinge"][~is_plain], "o", **style)
    line = np.geomspace(table["norm"].min() / 100, 1, 200)
    axes.plot(line, 1 - line, "--", lw=1, color="k", label="bound: no loss is below")
    axes.set(
        xscale="log",
        xlabel=f"norm of the fitted function / C(n, {facts['k']})$^{{1/2}}$",
        ylabel="hinge loss on new examples",
        ylim=(-0.03, 1.08),
    )
    axes.legend(loc="lower left")
    axes.set_title(
        "Losses and norms beside the bound of\ntheorem 5.6; rings: under ridge penalties"
    )
