"""Pictures of `sparse-samples`: least training sets by the number of the teacher's neurons."""

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.sparse_activation.samples_claims import (
    JUNTA,
    PARITY,
    SPARSE,
    STUDENTS,
    TEACHERS,
    UNGATED,
)

COLOURS = {SPARSE: "tab:blue", UNGATED: "tab:orange", JUNTA: "tab:green", PARITY: "crimson"}
NAMES = {
    SPARSE: "random, one active",
    UNGATED: "random, without gates",
    JUNTA: "parity of log₂ s bits (one active)",
    PARITY: "parity of s - 1 bits (dense)",
}


def samples(tables: Tables) -> Figure:
    """A panel per student."""
    sizes, facts = tables["sizes"], tables.facts
    picture = look.figure(
        9.6,
        4.4,
        f"Examples needed to learn a network of s neurons on {facts['n']} bits "
        f"(at most {facts['unexplained']:.0%} of the variance left)",
    )
    for axes, student in zip(picture.subplots(1, 2, sharey=True), STUDENTS, strict=True):
        for teacher in TEACHERS:
            chosen = (sizes["student"] == student) & (sizes["teacher"] == teacher)
            curve(axes, sizes[chosen].sort_values("s"), teacher, facts["largest"])
        ticks = sorted(sizes["s"].unique())
        axes.set(xscale="log", yscale="log", xlabel="neurons s", title=f"student: {student}")
        axes.set_xticks(ticks, [str(s) for s in ticks])
        axes.minorticks_off()
    picture.axes[0].set_ylabel("least number of examples")
    handles, names = picture.axes[0].get_legend_handles_labels()
    beyond = Line2D([], [], marker="^", ls="", color="0.4")
    picture.legend(
        [*handles, beyond], [*names, "more than were tried"], loc="outside lower center", ncols=5
    )
    return picture


def curve(axes: Axes, part: pd.DataFrame, teacher: str, largest: int) -> None:
    """Fitted least sizes with their intervals, and a triangle where none was enough."""
    colour = COLOURS[teacher]
    is_known = np.isfinite(part["m_star"])
    axes.plot(part["s"][is_known], part["fit"][is_known], "-", color=colour, lw=1)
    for _, row in part[is_known].iterrows():
        high = min(row["high"], 4 * largest)
        reach = [[row["fit"] - row["low"]], [high - row["fit"]]]
        axes.errorbar(row["s"], row["fit"], reach, fmt="o", color=colour, capsize=3, lw=1.5)
    axes.plot([], [], "o-", color=colour, label=NAMES[teacher])
    beyond = part["s"][~is_known]
    axes.plot(beyond, np.full(len(beyond), 1.3 * largest), "^", color=colour)


def samples_chart(tables: Tables) -> alt.FacetChart:
    """Success rates by the size of the training set."""
    by = ["student", "teacher", "s", "samples"]
    rates = tables["trials"].groupby(by)["success"].mean().reset_index()
    return (
        alt.Chart(rates)
        .mark_line(point=True)
        .encode(
            x=alt.X("samples:Q", scale=alt.Scale(type="log"), title="examples"),
            y=alt.Y("success:Q", title="success rate"),
            color=alt.Color("teacher:N"),
            tooltip=[*by, "success"],
        )
        .properties(width=220, height=180)
        .facet(row=alt.Row("student:N", title=None), column=alt.Column("s:O", title="neurons s"))
    )
