"""The picture of section B.3.2: biases, sharpness, and moving weights."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups

SPREAD = 0.12  # of the dots of a column


def building_blocks(tables: Tables) -> Figure:
    """Three panels: times by biases, gaps by activation, examples of standing and moving."""
    picture = look.figure(15, 4.6, "Biases, sharp activations and moving weights")
    biases, sharpness, examples = picture.subplots(1, 3)
    _biases(biases, tables)
    _sharpness(sharpness, tables)
    _examples(examples, tables)
    return picture


def _biases(axes: Axes, tables: Tables) -> None:
    rows = tables["biases"]
    finite = rows["time"].replace(np.inf, np.nan).max()
    failed = 2 * float(finite)
    names = []
    for i, ((biases, k), part) in enumerate(groups(rows, ["biases", "k"])):
        places = i + np.random.default_rng(0).uniform(-SPREAD, SPREAD, len(part))
        times = part["time"].replace(np.inf, failed)
        colours = np.where(part["success"], "tab:blue", "tab:red")
        axes.scatter(places, times, c=colours, s=14)
        names.append(f"k = {k},\n{biases}")
    axes.axhline(failed, color="0.8", lw=0.8, zorder=0)
    transform = axes.get_yaxis_transform()
    axes.text(0.98, failed, "not learned", transform=transform, ha="right", va="bottom")
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set(yscale="log", ylabel="steps to learn", title="ReLU networks with and without biases")


def _sharpness(axes: Axes, tables: Tables) -> None:
    rows = tables["sharpness"]
    names = list(dict.fromkeys(rows["activation"]))
    ks = sorted(rows["k"].unique())
    for j, k in enumerate(ks):
        part = rows[rows["k"] == k]
        gaps = [part["gap"][part["activation"] == name].to_numpy() for name in names]
        places = np.arange(len(names)) + 0.3 * (j - (len(ks) - 1) / 2)
        boxes = axes.boxplot(gaps, positions=places, widths=0.25, patch_artist=True, sym=".")
        for box in boxes["boxes"]:
            box.set_facecolor(f"C{j}")
        axes.plot([], [], color=f"C{j}", lw=6, label=f"k = {k}")
    axes.axhline(0, color="0.6", lw=0.8)
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set(ylabel="gap Γ at equal mean squared derivative", title="Gaps of random neurons")
    axes.legend()


def _examples(axes: Axes, tables: Tables) -> None:
    rows = tables["examples"]
    finite = rows[["moving", "standing"]].replace(np.inf, np.nan)
    failed = 2 * float(finite.max().max())
    shown = finite.fillna(failed)
    colours = np.where(np.isfinite(rows["standing"]), "tab:blue", "tab:red")
    axes.scatter(shown["moving"], shown["standing"], c=colours, s=18)
    ends = [float(shown.min().min()) / 1.5, failed]
    axes.plot(ends, ends, color="0.6", lw=0.8, label="as many")
    axes.axhline(failed, color="0.8", lw=0.8, zorder=0)
    axes.annotate("never", (0.02, failed), xycoords=("axes fraction", "data"), va="bottom")
    axes.set(xscale="log", yscale="log", title="Examples until the support is known")
    axes.set(xlabel="SGD, whose weights move", ylabel="gradient at the initial weights")
    axes.legend(loc="lower right")
