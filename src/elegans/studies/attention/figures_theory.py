"""Pictures of the studies of constructions and of capacity, drawn from their tables."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

KINDS = {"symmetric": "o", "junta": "s", "three symbols": "^"}
INPUTS = {"positions": "#1b9e77", "trained": "#7570b3", "bag": "#e6ab02"}
KEYS = {"printed": "#d95f02", "dual": "#1b9e77"}
HEADS = {"growing": "#1b9e77", "fixed": "#d95f02", "averaging": "0.5"}
WORDS = {
    "growing": "norm ln(4Ts)",
    "fixed": "fixed norm",
    "averaging": "averaging, no attention",
}


def constructions(tables: Tables) -> Figure:
    """Errors of all constructions, coherent vectors, and Hahn's limit."""
    picture = look.figure(
        14, 4.4, "Attention with weights set by hand computes any function of a few of many bits"
    )
    errors, coherent, flips = picture.subplots(1, 3)
    _errors(errors, tables)
    _coherent(coherent, tables)
    _flips(flips, tables)
    return picture


def _errors(axes: Axes, tables: Tables) -> None:
    truth = tables["truth"].reset_index(drop=True)
    for i, row in truth.iterrows():
        label = f"{row['kind']}, {row['inputs']}"
        is_first = (
            i == truth.index[(truth["kind"] == row["kind"]) & (truth["inputs"] == row["inputs"])][0]
        )
        axes.plot(
            int(str(i)),
            max(row["error"], 1e-17),
            marker=KINDS[row["kind"]],
            color=INPUTS[row["inputs"]],
            ls="",
            label=label if is_first else None,
        )
    axes.axhline(1e-12, color="0.5", lw=0.8, ls="--")
    axes.set(yscale="log", ylim=(1e-17, 1e-6), xticks=[])
    axes.set(xlabel="constructions, s and T", ylabel="largest error", title="Exact to rounding")
    axes.legend(loc="upper left", fontsize=7, ncols=2)


def _coherent(axes: Axes, tables: Tables) -> None:
    table = tables["coherent"]
    for key, colour in KEYS.items():
        part = table[table["key"] == key]
        axes.plot(part["coherence"], part["error"], "o", color=colour, label=f"{key} key")
    axes.axhline(table["allowed"].iloc[0], color="0.5", lw=0.8, ls="--")
    axes.set(yscale="log", xlabel="coherence of the position vectors", ylabel="worst error")
    axes.set_title("Not orthogonal: the dual key repairs it")
    axes.legend(loc="lower left")


def _flips(axes: Axes, tables: Tables) -> None:
    for name, colour in HEADS.items():
        part = tables["flips"].query("head == @name").sort_values("T")
        axes.plot(part["T"], part["effect"], color=colour, marker="o", label=WORDS[name])
        axes.plot(part["T"], part["theory"], color="black", lw=0.8, ls=":")
    axes.plot([], [], color="black", lw=0.8, ls=":", label="closed form")
    axes.set(xscale="log", yscale="log", xlabel="inputs T", ylabel="effect of one hidden bit")
    axes.set_title("Hahn's limit: fixed norms lose the bit")
    axes.legend(loc="lower left")


COVERS = {
    "head_cover": ("head, printed constants", "#d95f02"),
    "sharp_cover": ("head, sharp softmax", "#e6ab02"),
    "cls_cover": ("[CLS] shortcut", "#7570b3"),
    "volume": ("parameter count, d x d", "0.55"),
    "volume_cls": ("parameter count, query alone", "0.75"),
}


def capacity(tables: Tables) -> Figure:
    """The sandwich, bounded norms that stop growth, and gaps beside bounds."""
    picture = look.figure(
        14, 4.6, "How many functions does a head have? Bounds from above, packings from below"
    )
    sandwich, circle, gap = picture.subplots(1, 3)
    table = tables["sandwich"].sort_values("T")
    for name, (label, colour) in COVERS.items():
        sandwich.plot(table["T"], table[name], color=colour, marker="o", ms=3, label=label)
    sandwich.plot(table["T"], table["entropy"], color="#1b9e77", lw=2, label="ln C(T, 3), proved")
    sandwich.plot(table["T"], table["packing"], "k^", ms=4, label="packing, measured")
    sandwich.set(xscale="log", yscale="log", xlabel="tokens T", ylabel="ln of the covering number")
    sandwich.set_title("Upper and lower bounds")
    sandwich.legend(loc="upper left", fontsize=7, ncols=2)
    sandwich.set_ylim(1, 1e13)
    shade = look.colours(tables["circle"]["R"])
    for R, part in tables["circle"].groupby("R"):
        circle.plot(part["T"], part["heads"], color=shade[R], marker="o", ms=3, label=f"norm {R:g}")
    top = np.array(sorted(tables["circle"]["T"].unique()), float)
    circle.plot(top, top, color="0.7", ls="--", lw=1, label="all T heads")
    circle.set(xscale="log", yscale="log", xlabel="tokens T", ylabel="heads that are far apart")
    circle.set_title("Bounded norms stop the growth")
    circle.legend(loc="upper left", fontsize=7)
    gaps = tables["gaps"]
    gap.plot(gaps["gap"].clip(lower=1e-4), gaps["bound"], "o", color="#1b9e77", ms=4)
    limits = [1e-4, float(gaps["bound"].max()) * 2]
    gap.plot(limits, limits, color="0.6", lw=0.8, ls="--", label="gap = bound")
    gap.set(xscale="log", yscale="log", xlabel="measured gap (test loss - training loss)")
    gap.set(ylabel="bound at the measured norms", title="Trained heads: far below their bound")
    gap.legend(loc="lower right")
    return picture
