"""Pictures of sensitivities: measured against their bounds, by size."""

import altair as alt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import plots
from elegans.studies.study import Result

CURVES = {
    "AS": ("average sensitivity", "theory", "4 k² W²", "theory_lemma_9", "lemma 9"),
    "NS": ("noise sensitivity", "theory_noise", "2 k² W² (1 - ρ)", "theory_lemma_10", "lemma 10"),
}


def draw(result: Result) -> Figure:
    """Sensitivities against n: a row a measure, a column a k, a colour a number of neurons."""
    table = result.table
    ks = sorted(table["k"].unique())
    with plots.look():
        made = plots.figure(4.3 * len(ks), 7.0)
        made.suptitle(
            "How sensitive are sparsely activated networks? Solid: measured; dashed and dotted: "
            f"bounds (ρ = {result.facts['rho']})",
            x=0.01, ha="left", fontsize=12,
        )  # fmt: skip
        rows = made.subplots(2, len(ks), squeeze=False)
        for row, measured in zip(rows, CURVES, strict=True):
            for axes, k in zip(row, ks, strict=True):
                _panel(axes, table[table["k"] == k], measured, f"k = {k}")
    return made


def _panel(axes: Axes, part: pd.DataFrame, measured: str, title: str) -> None:
    name, sharp, sharp_name, lemma, lemma_name = CURVES[measured]
    shade = plots.colours(part["s"])
    for s, line in part.groupby("s"):
        colour = shade[float(str(s))]
        axes.plot(line["n"], line[measured], "o-", ms=4, color=colour, label=f"s = {s}")
        axes.plot(line["n"], line[sharp], "--", color=colour)
        axes.plot(line["n"], line[lemma], ":", color=colour)
    last = part[part["n"] == part["n"].max()]
    for bound, text in ((sharp, sharp_name), (lemma, lemma_name)):
        axes.text(part["n"].max(), last[bound].max() * 1.15, text, ha="right", fontsize=8)
    axes.set(yscale="log", title=f"{name}, {title}", xlabel="inputs n", ylabel=measured)
    axes.set_xticks(sorted(part["n"].unique()))
    axes.legend(loc="lower left", bbox_to_anchor=(0.02, 0.14))


def page(result: Result) -> alt.TopLevelMixin:
    """Measured against the sharper bound, by n, s and k."""
    return (
        alt.Chart(result.data["runs"])
        .mark_circle(size=60)
        .encode(
            x=alt.X("theory:Q", title="4 k² W²", scale=alt.Scale(type="log")),
            y=alt.Y("AS:Q", title="average sensitivity", scale=alt.Scale(type="log")),
            color="k:O",
            shape="n:O",
            size=alt.Size("s:Q"),
            tooltip=["n", "s", "k", "seed", "W", "B", "AS", "NS", "theory", "theory_lemma_9",
                     "theory_noise", "theory_lemma_10"],
        )
        .properties(width=640, height=420)
    )  # fmt: skip
