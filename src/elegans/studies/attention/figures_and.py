"""Pictures of the studies of sparse conjunctions, drawn from their tables."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.learners import elimination_probability
from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.attention.protocol import HALF, SPARSITY

OTHERS = {
    "elimination": ("elimination of single bits (exact)", "#d95f02", "--"),
    "search": ("exhaustive search (simulated)", "#7570b3", "-."),
    "bits": ("information: log2 C(T, 3)", "0.4", ":"),
}


def thresholds(tables: Tables) -> Figure:
    """Figure 4.2: thresholds against T, and the success rates that they come from."""
    picture = look.figure(
        12,
        4.6,
        "How many examples does a transformer need to find 3 relevant bits among T? "
        f"({tables.facts['trials']} training sets, {tables.facts['restarts']} restarts each)",
    )
    left, right = picture.subplots(1, 2)
    _thresholds(left, tables["thresholds"])
    _rates(right, tables["rates"])
    return picture


def _thresholds(axes: Axes, table: pd.DataFrame) -> None:
    finite = table[np.isfinite(table["fit"])]
    T, m = finite["T"].to_numpy(float), finite["fit"].to_numpy()
    high = finite["high"].clip(upper=1.5 * m.max(initial=1.0)).to_numpy()
    error = [(m - finite["low"]).clip(0), (high - m).clip(0)]
    style: Any = {"fmt": "o", "color": "#1b9e77", "ms": 6, "capsize": 3, "zorder": 3}
    axes.errorbar(T, m, error, label="transformer", **style)
    if len(finite) > 1:
        x = np.geomspace(T.min(), T.max(), 50)
        log_fit, power_fit = np.polyfit(np.log(T), m, 1), np.polyfit(np.log(T), np.log(m), 1)
        axes.plot(
            x,
            np.polyval(log_fit, np.log(x)),
            color="#1b9e77",
            lw=1.5,
            label=f"best logarithm: {log_fit[0]:.1f} ln T {log_fit[1]:+.0f}",
        )
        power = np.exp(np.polyval(power_fit, np.log(x)))
        axes.plot(x, power, color="0.7", lw=1.5, label=f"best power of T: {power_fit[0]:.2f}")
    for name, (label, colour, dash) in OTHERS.items():
        axes.plot(table["T"], table[name], color=colour, ls=dash, lw=1.5, label=label)
    axes.set(xscale="log", ylim=(0, None), xlabel="number of bits T", ylabel="examples m*")
    axes.set_title("The least m with 80% success")
    axes.set_xticks(table["T"], [f"{T:,}" for T in table["T"]])
    axes.minorticks_off()
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    axes.set_ylim(0, 1.45 * max(m.max(initial=1.0), table["elimination"].max()))


def _rates(axes: Axes, rates: pd.DataFrame) -> None:
    shade = look.colours(rates["T"])
    for T, part in rates.groupby("T"):
        part = part.sort_values("samples")
        m = np.arange(part["samples"].min(), part["samples"].max() + 1)
        exact = [elimination_probability(int(str(T)), SPARSITY, int(each), HALF) for each in m]
        axes.plot(m, exact, color=shade[T], lw=1, ls=":")
        axes.plot(part["samples"], part["rate"], color=shade[T], marker="o", ms=4, label=f"T = {T}")
    axes.plot([], [], color="0.4", lw=1, ls=":", label="elimination, exact")
    axes.axhline(0.8, color="0.6", lw=0.8)
    axes.set(xlabel="training examples m", ylabel="share of training sets with success")
    axes.set(ylim=(-0.03, 1.05), title="Success rates behind the dots")
    axes.legend(loc="lower right")


def curves(tables: Tables) -> Figure:
    """Figure 4.3, left: accuracies during training below, near and above the threshold."""
    places = ("below", "near", "above")
    picture = look.figure(
        13,
        4.2,
        f"Below the threshold every run fits its examples and learns something else (T = "
        f"{tables.facts['T']}, {tables.facts['trials']} training sets, best of "
        f"{tables.facts['restarts']} restarts)",
    )
    for axes, place in zip(picture.subplots(1, 3, sharey=True), places, strict=True):
        part = tables["curves"].query("place == @place")
        shade = look.colours(part["seed"])
        for seed, run in part.groupby("seed"):
            axes.plot(run["step"], 1 - run["train_error"], color="0.8", lw=0.8, zorder=1)
            axes.plot(run["step"], 1 - run["test_error"], color=shade[seed], lw=1.2, zorder=2)
        axes.axhline(0.99, color="0.4", lw=0.8, ls=":")
        m = int(part["samples"].iloc[0])
        wins = int(tables["trials"].query("place == @place")["success"].sum())
        axes.set_title(f"{place} the threshold, m = {m}: {wins} of {len(shade)} succeed")
        axes.set(xlabel="step", ylim=(0.45, 1.02))
    first = picture.axes[0]
    first.set_ylabel("accuracy")
    first.plot([], [], color="0.8", label="training set")
    first.plot([], [], color="#3b528b", label="new examples")
    first.legend(loc="lower right")
    return picture


FUNCTIONS = {"AND": "#1b9e77", "majority": "#7570b3", "random": "#e6ab02", "XOR": "#d95f02"}


def functions(tables: Tables) -> Figure:
    """Thresholds by function and T, censored ones as arrows, and success rates at the largest T."""
    picture = look.figure(
        12,
        4.4,
        "How many examples does a transformer need to find a function of 3 bits among T? "
        f"({tables.facts['trials']} trials, {tables.facts['steps']:,} steps)",
    )
    left, right = picture.subplots(1, 2)
    table, largest = tables["thresholds"], tables.facts["largest"]
    for i, (name, colour) in enumerate(FUNCTIONS.items()):
        part = table[table["function"] == name].sort_values("T")
        T = part["T"] * 1.02 ** (i - 1.5)  # beside each other, where they would coincide
        is_known = ~part["is_censored"].to_numpy(bool)
        label = name if is_known.any() else None
        left.plot(T[is_known], part["m_star"][is_known], color=colour, marker="o", label=label)
        for x in T[~is_known]:
            style = {"arrowstyle": "->", "color": colour, "lw": 2}
            left.annotate("", (x, 1.5 * largest), (x, 1.02 * largest), arrowprops=style)
        if not is_known.any():
            left.plot([], [], color=colour, marker="$\\uparrow$", ls="", label=f"{name}: none")
    left.axhline(largest, color="0.7", lw=0.8, ls="--")
    across = left.get_yaxis_transform()
    left.text(
        0.5, 0.96 * largest, "the largest m that was tried", fontsize=8, va="top", transform=across
    )
    left.set(xscale="log", yscale="log", xlabel="number of bits T", ylabel="examples m*")
    left.set_ylim(0.8 * table["m_star"].min(), 1.7 * largest)
    left.set_title("The least m with 80% success; arrows: none of the grid")
    look.plain_ticks(left)
    left.set_xticks(sorted(table["T"].unique()), [f"{T:,}" for T in sorted(table["T"].unique())])
    left.legend(loc="upper left", bbox_to_anchor=(0.02, 0.84))
    top = table["T"].max()
    rates = tables["rates"].query("T == @top")
    for name, colour in FUNCTIONS.items():
        part = rates[rates["function"] == name].sort_values("samples")
        right.plot(part["samples"], part["rate"], color=colour, marker="o", ms=4, label=name)
    right.axhline(0.8, color="0.6", lw=0.8)
    right.set(xscale="log", xlabel="training examples m", ylabel="share of trials with success")
    right.set(ylim=(-0.03, 1.05), title=f"Success rates at T = {top}")
    look.plain_ticks(right)
    right.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    right.legend(loc="center right")
    return picture
