"""Pictures of Rademacher complexities: bound, conjecture and lower estimate."""

import altair as alt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from elegans.report import plots
from elegans.studies.study import Result

LINES = {
    "theory_dense": ("dense bound", "0.5", ":"),
    "theory": ("bound (15)", "tab:orange", "--"),
    "theory_conjecture": ("conjecture (16)", "crimson", "--"),
    "measured": ("lower estimate", "tab:blue", "-"),
}


def draw(result: Result) -> Figure:
    """A panel for each n and k, at the most samples: complexity against the number of neurons."""
    table = result.table
    top = table[table["m"] == table["m"].max()]
    groups = list(top.groupby(["n", "k"]))
    with plots.look():
        made = plots.figure(4.4 * len(groups), 4.0)
        made.suptitle(
            f"Rademacher complexity of sparsely activated networks (m = {table['m'].max():,}, "
            f"{result.facts['draws']} draws of the signs)",
            x=0.01, ha="left", fontsize=12,
        )  # fmt: skip
        panels = made.subplots(1, len(groups), squeeze=False)[0]
        for axes, ((n, k), part) in zip(panels, groups, strict=True):
            for column, (name, colour, style) in LINES.items():
                axes.plot(part["s"], part[column], style, marker="o", ms=3, color=colour)
                axes.annotate(name, (part["s"].max(), part[column].max()), (-2, 5), fontsize=8,
                              textcoords="offset points", ha="right", color=colour)  # fmt: skip
            axes.errorbar(part["s"], part["measured"], part["radius"], color="tab:blue", lw=0,
                          elinewidth=1)  # fmt: skip
            axes.set(xscale="log", yscale="log", title=f"n = {n}, k = {k}", xlabel="neurons s",
                     ylabel="complexity")  # fmt: skip
            axes.set_xticks(part["s"], [str(s) for s in part["s"]])
            axes.xaxis.set_minor_formatter(NullFormatter())
    return made


def page(result: Result) -> alt.TopLevelMixin:
    """All curves; the samples are chosen by a menu."""
    columns = list(LINES)
    long = result.table.melt(["n", "m", "s", "k"], columns, "curve", "complexity")
    long = long.assign(curve=long["curve"].map({name: line[0] for name, line in LINES.items()}))
    sizes = [int(m) for m in pd.unique(long["m"])]
    menu = alt.binding_select(options=sizes, name="samples m ")
    pick = alt.selection_point(fields=["m"], bind=menu, value=[{"m": sizes[-1]}])
    return (
        alt.Chart(long)
        .mark_line(point=True)
        .encode(
            x=alt.X("s:Q", title="neurons s", scale=alt.Scale(type="log")),
            y=alt.Y("complexity:Q", scale=alt.Scale(type="log")),
            color="curve:N",
            tooltip=["n", "m", "s", "k", "curve", "complexity"],
        )
        .transform_filter(pick)
        .properties(width=260, height=260)
        .facet(row="n:O", column="k:O")
        .add_params(pick)
    )
