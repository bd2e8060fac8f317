"""Pictures of Fourier gaps: histograms beside majority's, and paths of SGD."""

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import plots
from elegans.studies.study import Result

SHADES = {"sign": "0.3", "uniform": "tab:blue", "gaussian": "tab:orange"}


def draw(result: Result) -> Figure:
    """Figures B.7 and B.8 of the thesis: a column a k, then the paths."""
    gaps = result.data["gaps"]
    ks = sorted(gaps["k"].unique())
    with plots.look():
        made = plots.figure(4.2 * (len(ks) + 1), 6.6)
        made.suptitle(
            f"Does the first gradient of a random neuron show the parity? n = {result.facts['n']}, "
            f"{result.facts['trials']:,} neurons each; dashed: half of majority's gap",
            x=0.01, ha="left", fontsize=12,
        )  # fmt: skip
        places = made.add_gridspec(2, len(ks) + 1)
        for row, kind in enumerate(("threshold", "sinusoid")):
            for column, k in enumerate(ks):
                part = gaps[(gaps["function"] == kind) & (gaps["k"] == k)]
                _histogram(made.add_subplot(places[row, column]), part, f"{kind}s, k = {k}")
        _paths(made.add_subplot(places[:, -1]), result)
    return made


def _histogram(axes: Axes, part: pd.DataFrame, title: str) -> None:
    theory = part["theory"].iloc[0]
    bins = np.linspace(part["gap"].min(), part["gap"].max(), 40).tolist()
    for name, shade in SHADES.items():
        own = part.loc[part["start"] == name, "gap"]
        if name != "sign" or np.ptp(own) > 1e-9:
            axes.hist(own, bins, histtype="step", lw=1.5, color=shade, label=name)
    axes.axvline(theory, color="crimson", ls="--", lw=1.2)
    axes.axvline(0, color="0.6", lw=0.8)
    axes.set(title=title, xlabel="gap Γ", ylabel="neurons")
    axes.legend()


def _paths(axes: Axes, result: Result) -> None:
    paths = result.data["paths"]
    for _, run in paths.groupby("seed"):
        axes.plot(run["step"], run["gap"], lw=1.2)
    axes.set(title=f"A sinusoidal neuron under SGD, k = {result.facts['path_k']}", xlabel="step",
             ylabel="gap Γ")  # fmt: skip


def page(result: Result) -> alt.TopLevelMixin:
    """Dots for all random neurons: the relaxed gap against the strict one."""
    gaps = result.data["gaps"]
    pick = alt.selection_point(fields=["start"], bind="legend")
    dots = (
        alt.Chart(gaps)
        .mark_circle(size=35)
        .encode(
            x=alt.X("strict_gap:Q", title="strict gap (definition 5.4)"),
            y=alt.Y("gap:Q", title="relaxed gap Γ (appendix B.3.1)"),
            color="start:N",
            opacity=alt.condition(pick, alt.value(0.8), alt.value(0.05)),
            tooltip=["function", "start", "k", "seed", "gap", "strict_gap", "theory"],
        )
        .properties(width=260, height=220)
        .facet(row="function:N", column="k:O")
        .resolve_scale(x="independent", y="independent")
        .add_params(pick)
    )
    lines = (
        alt.Chart(result.data["paths"])
        .mark_line()
        .encode(x="step:Q", y=alt.Y("gap:Q", title="gap of a sinusoidal neuron"), color="seed:N")
        .properties(width=560, height=220)
    )
    return alt.vconcat(dots, lines).resolve_scale(color="independent")
