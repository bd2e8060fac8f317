"""Pictures of hidden progress, drawn from the studies' tables."""

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

INIT_COLOURS = {"sign": "0.3", "uniform": "tab:blue", "gaussian": "tab:orange"}
SPREAD_OF_A_CONSTANT = 1e-9


def fourier_gaps(tables: Tables) -> Figure:
    """Figures B.7 and B.8 of the thesis: a column for each k, then the paths."""
    gaps, facts = tables["gaps"], tables.facts
    ks = sorted(gaps["k"].unique())
    picture = look.figure(
        4.2 * (len(ks) + 1),
        6.6,
        f"Does the first gradient of a random neuron show the parity? n = {facts['n']}, "
        f"{facts['neurons']:,} neurons each; dashed: half of majority's gap",
    )
    places = picture.add_gridspec(2, len(ks) + 1)
    for row, function in enumerate(("threshold", "sinusoid")):
        for column, k in enumerate(ks):
            part = gaps[(gaps["function"] == function) & (gaps["k"] == k)]
            _histogram(picture.add_subplot(places[row, column]), part, f"{function}s, k = {k}")
    axes = picture.add_subplot(places[:, -1])
    for seed, run in tables["paths"].groupby("seed"):
        axes.plot(run["step"], run["gap"], lw=1.2, label=f"seed {seed}")
    axes.axhline(0, color="0.6", lw=0.8)
    axes.set(title=f"A sinusoidal neuron under SGD, k = {facts['path_k']}")
    axes.set(xlabel="step", ylabel="gap Γ")
    axes.legend()
    return picture


def _histogram(axes: Axes, part: pd.DataFrame, title: str) -> None:
    bins = np.linspace(part["gap"].min(), part["gap"].max(), 40).tolist()
    for init, colour in INIT_COLOURS.items():
        gaps = part.loc[part["init"] == init, "gap"]
        if np.ptp(gaps) > SPREAD_OF_A_CONSTANT:  # random signs all have majority's gap
            axes.hist(gaps, bins, histtype="step", lw=1.5, color=colour, label=init)
    axes.axvline(part["theory"].iloc[0], color="crimson", ls="--", lw=1.2)
    axes.axvline(0, color="0.6", lw=0.8)
    axes.set(title=title, xlabel="gap Γ", ylabel="neurons")
    axes.legend()


def fourier_gaps_chart(tables: Tables) -> alt.VConcatChart:
    """Dots for random neurons, relaxed gap against strict gap; lines for the paths."""
    pick = alt.selection_point(fields=["init"], bind="legend")
    hover = ["function", "init", "k", "neuron", "gap", "strict_gap", "theory"]
    dots = (
        alt.Chart(tables["gaps"])
        .mark_circle(size=35)
        .encode(
            x=alt.X("strict_gap:Q", title="strict gap (definition 5.4)"),
            y=alt.Y("gap:Q", title="relaxed gap Γ (appendix B.3.1)"),
            color=alt.Color("init:N", title="weights"),
            opacity=alt.condition(pick, alt.value(0.8), alt.value(0.05)),
            tooltip=hover,
        )
        .properties(width=260, height=220)
        .facet(row=alt.Row("function:N", title=None), column=alt.Column("k:O", title="k"))
        .resolve_scale(x="independent", y="independent")
        .add_params(pick)
    )
    lines = (
        alt.Chart(tables["paths"])
        .mark_line()
        .encode(
            x=alt.X("step:Q", title="step"),
            y=alt.Y("gap:Q", title="gap Γ of a sinusoidal neuron"),
            color=alt.Color("seed:N", title="seed"),
            tooltip=["seed", "step", "gap"],
        )
        .properties(width=560, height=220)
    )
    return alt.vconcat(dots, lines).resolve_scale(color="independent")
