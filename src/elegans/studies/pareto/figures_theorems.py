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
        4.3,
        f"One large step and a trained readout learn the product of {facts['k']} hidden bits: what "
        "half of the runs need",
    )
    left, middle, right = picture.subplots(1, 3)
    samples = table[table["search"] == "samples"]
    here = samples[samples["n"] == facts["n"]]
    for arm, colour in (("plain", BLUE), ("truncated", ORANGE)):
        part = here[here["arm"] == arm]
        name = "small gradients set to zero" if arm == "truncated" else "as in the theorem"
        label = f"{name}: slope {slopes[f'samples over s, {arm}']:.2f}"
        thresholds(left, part, "s", colour, label, 1.0)
    left.set(xlabel="inputs that a neuron reads, s", ylabel="examples, m")
    left.set_title(f"Neurons that read less need fewer examples\n({facts['n']} bits)")
    larger = samples[(samples["s"] == facts["fixed_s"]) & (samples["arm"] == "truncated")]
    label = f"small gradients set to zero: slope {slopes['samples over n, truncated']:.2f}"
    thresholds(middle, larger, "n", ORANGE, label, 0.0)
    middle.set(xlabel="bits, n", ylabel="examples, m")
    middle.set_title(f"More bits hardly need more examples\n(s = {facts['fixed_s']})")
    widths = table[table["search"] == "width"]
    thresholds(right, widths, "s", GREEN, f"slope {slopes['width over s']:.2f}", -2.0)
    right.set(xlabel="inputs that a neuron reads, s", ylabel="width, r")
    right.set_title(
        f"Neurons that read less rarely hold the hidden\nbits: more width ({facts['n']} bits)"
    )
    for axes, power in ((left, "s"), (middle, "constant"), (right, "1/s²")):
        axes.plot([], [], color=GREY, lw=1.2, label="exact calculation, scaled to the dots")
        axes.plot([], [], color=GREY, lw=1, ls="--", label=f"the theorem's power, scaled: {power}")
        axes.legend(fontsize=8)
    for axes, below, above in ((left, 1, 12), (middle, 5, 20), (right, 1, 4)):
        low, high = axes.get_ylim()
        if low > 0:  # not so on a logarithmic axis without dots
            axes.set_ylim(low / below, high * above)  # room for the legend
    return picture


def thresholds(
    axes: Axes, part: pd.DataFrame, x: str, colour: str, label: str, power: float
) -> None:
    """Dots with intervals, and lines of the exact law and of the given power through their middle.

    A threshold that was not found, or an interval without an end, is left out.
    """
    part = part[np.isfinite(part["threshold"]) & (part["threshold"] > 0)].sort_values(x)
    high = part["high"].where(np.isfinite(part["high"]), part["threshold"])
    low = part["low"].where(part["low"] > 0, part["threshold"])
    error = [part["threshold"] - low, high - part["threshold"]]
    axes.errorbar(part[x], part["threshold"], error, fmt="o", color=colour, capsize=2, label=label)
    sizes = part[x].to_numpy(float)
    exact = part["expected"].to_numpy(float)
    laws: tuple[tuple[Any, dict[str, Any]], ...]
    laws = ((exact, {"lw": 1.2}), (sizes**power, {"lw": 1.0, "ls": "--"}))
    for law, style in laws:
        if len(part) and np.isfinite(law).all():
            scale = np.exp(np.mean(np.log(part["threshold"]) - np.log(law)))
            axes.plot(sizes, scale * law, color=colour, **style)
    axes.set(xscale="log", yscale="log")
    look.plain_ticks(axes)
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()


def under_sparse(tables: Tables) -> Figure:
    """Correlations of subnetworks, and least samples and widths over n."""
    facts = tables.facts
    picture = look.figure(
        14,
        4.3,
        f"Neurons that know some of {facts['k']} hidden bits find the others in one truncated step",
    )
    left, middle, right = picture.subplots(1, 3)
    networks = tables["networks"]
    names = ("a hundredth of the prescribed", "as prescribed")
    groups = networks.groupby("samples")
    for (samples, part), colour, name in zip(groups, (ORANGE, BLUE), names, strict=False):
        values = np.sort(part["correlation"])
        label = f"{samples:,} examples,\n{name}"
        left.plot(values, (np.arange(len(values)) + 1) / len(values), color=colour, label=label)
    left.axvline(0.5, color=GREY, lw=1, ls=":", label="what the theorem says")
    left.set(xlim=(-0.05, 1.05), xlabel="correlation with the label", ylabel="share of networks")
    sizes = f"width {facts['width']:,}, {facts['n']} bits"
    left.set_title(f"A subnetwork of each network:\none good neuron per bias ({sizes})")
    left.legend(loc="center")
    needed = tables["needed"]
    for s, part in needed.groupby("s"):
        middle.plot(part["n"], part["predicted_samples"], lw=1.2, color=known_colour(s))
    by_size(middle, tables, "samples", "examples that a seed needs, m")
    by_size(right, tables, "width", "width that a seed needs, r")
    middle.plot([], [], color=GREY, lw=1.2, label="calculated, not fitted")
    middle.plot([], [], color=GREY, lw=1, ls="--", label="the theorem's power, n^(k - s - 1)")
    right.plot([], [], color=GREY, lw=1, ls="--", label="the theorem's power, n^s")
    for axes in (middle, right):
        axes.legend(fontsize=8)
    middle.set_ylim(top=middle.get_ylim()[1] * 8)  # room for the legend
    right.set_ylim(top=right.get_ylim()[1] * 3)
    middle.set_title(
        "A neuron that knows two of the bits needs\nfar fewer examples to find the rest"
    )
    right.set_title("Neurons that know two bits are rare,\nso that the network has to be wide")
    return picture


def known_colour(s: Any) -> str:
    """Of neurons that know s bits."""
    return BLUE if s else GREEN


def by_size(axes: Axes, tables: Tables, name: str, label: str) -> None:
    """What each seed needs over n, medians, and the theorem's power through their middle."""
    slopes = tables["exponents"].set_index("law")
    for s, part in tables["least_samples" if name == "samples" else "least_widths"].groupby("s"):
        row: Any = slopes.loc[f"{name} over n, s = {s}"]
        medians = part.groupby("n")[name].median()
        colour = known_colour(s)
        axes.plot(part["n"], part[name], ".", ms=3, alpha=0.3, color=colour)
        text = f"{s} bits known: slope {row['slope']:.2f}"
        axes.plot(medians.index, medians, "o", color=colour, label=text)
        n = medians.index.to_numpy(float)
        power = float(row["theory"])
        middle_of = np.exp(np.log(medians).mean() - power * np.log(n).mean())
        axes.plot(n, middle_of * n**power, ls="--", lw=1, color=colour)
    axes.set(xscale="log", yscale="log", xlabel="bits, n", ylabel=label)
    look.plain_ticks(axes)
    sizes = sorted(tables["needed"]["n"].unique())
    axes.set_xticks(sizes, [f"{n:g}" for n in sizes])
    axes.minorticks_off()


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
    left.legend(fontsize=7)
    _losses_and_norms(right, table[table["kernel"] == "with biases"], facts)
    slopes = tables["exponents"].set_index("law")["slope"]
    needed, sgd = tables["needed"], tables["sgd"]
    label = f"kernel: slope {slopes['kernel']:.2f}"
    middle.plot(needed["n"], needed["samples"], "o", ms=4, color=BLUE, alpha=0.5, label=label)
    middles = needed.groupby("n")["samples"].median()
    sizes = middles.index.to_numpy(float)
    scale = np.exp(np.log(middles).mean() - facts["k"] * np.log(sizes).mean())
    power = facts["k"]
    label = f"n^{power}, scaled to the kernel"
    middle.plot(sizes, scale * sizes**power, "--", lw=1, color=BLUE, label=label)
    error = look.bars(sgd, "fit")
    label = f"SGD, width {facts['width']}: slope {slopes['SGD']:.2f}"
    middle.errorbar(
        sgd["n"], sgd["fit"], error, fmt="s-", ms=4, capsize=2, color=ORANGE, label=label
    )
    middle.set(xscale="log", yscale="log", xlabel="bits, n", ylabel="examples that are needed")
    look.plain_ticks(middle)
    middle.set_xticks(sizes, [f"{size:g}" for size in sizes])
    middle.minorticks_off()
    middle.legend()
    middle.set_title("Examples needed: kernel and network\n(bars: the fit, without its grid)")
    return picture


def _losses_and_norms(axes: Axes, table: pd.DataFrame, facts: Mapping[str, Any]) -> None:
    """Hinge loss against norm, in units in which the bound is the same line for every n."""
    shades = look.colours(table["n"])
    for n in table["n"].unique().tolist():
        part = table[table["n"] == n]
        norms = part["norm"] / math.comb(n, facts["k"]) ** 0.5
        is_plain = part["penalty"] == facts["penalty"]
        axes.plot(norms[is_plain], part["hinge"][is_plain], "o", ms=3, color=shades[n], alpha=0.6)
        rings = part["hinge"][~is_plain]
        axes.plot(norms[~is_plain], rings, "o", ms=5, mfc="none", color=shades[n])
    line = np.geomspace(table["norm"].min() / 100, 1, 200)
    axes.plot(line, 1 - line, "--", lw=1, color="k", label="bound: no loss is below")
    axes.set(
        xscale="log",
        xlabel=f"norm of the fitted function / C(n, {facts['k']})$^{{1/2}}$",
        ylabel="hinge loss on new examples",
        ylim=(-0.03, 1.08),
    )
    axes.legend(loc="lower left")
    axes.set_title("Losses and norms beside theorem 5.6\n(colours: n; rings: ridge penalties)")
