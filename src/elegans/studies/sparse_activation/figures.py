"""Pictures of sparsely activated networks, drawn from the studies' tables."""

import altair as alt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from elegans.report import look
from elegans.report.result import Tables

COMPLEXITIES = {
    "theory_dense": ("dense bound", "0.5", ":"),
    "theory": ("bound (15)", "tab:orange", "--"),
    "theory_conjecture": ("conjecture (16)", "crimson", "--"),
    "measured": ("lower estimate", "tab:blue", "-"),
}
SENSITIVITIES = {
    "AS": ("average sensitivity", "theory", "4 k² W²", "theory_lemma_9", "lemma 9"),
    "NS": ("noise sensitivity", "theory_noise", "2 k² W² (1 - ρ)", "theory_lemma_10", "lemma 10"),
}


def low_degree(tables: Tables) -> Figure:
    """A panel per teacher: error against degree, with the exact tail and what samples add."""
    teachers = list(tables["degrees"].groupby("teacher", sort=False))
    facts, fits = tables.facts, tables["fits"]
    picture = look.figure(
        4.4 * len(teachers),
        3.9,
        f"What a polynomial of degree d learns of a network (n = {facts['n']} inputs, "
        f"s = {facts['s']} neurons, m = {facts['samples']:,} samples)",
    )
    panels = picture.subplots(1, len(teachers), squeeze=False)[0]
    for axes, (name, part) in zip(panels, teachers, strict=True):
        dots = fits[fits["teacher"] == name]
        axes.scatter(dots["degree"], dots["error"], s=12, color="0.6", label="runs")
        lines = {
            "error": ("o-", "tab:blue", "measured"),
            "theory": ("--", "crimson", "Fourier tail"),
            "theory_samples": (":", "crimson", "tail · m/(m - p)"),
        }
        for column, (style, colour, label) in lines.items():
            axes.plot(part["degree"], part[column], style, color=colour, label=label)
        axes.set(title=str(name), xlabel="degree d", ylabel="error / variance", ylim=(0, 1.25))
        axes.set_xticks(part["degree"])
        axes.legend()
    return picture


def low_degree_chart(tables: Tables) -> alt.FacetChart:
    """Errors of all fits, with the tail as a tick on each."""
    base = alt.Chart(tables["fits"]).encode(x=alt.X("degree:O", title="degree d"))
    hover = ["teacher", "degree", "seed", "monomials", "error", "theory", "theory_samples"]
    dots = base.mark_circle(size=60).encode(
        y=alt.Y("error:Q", title="error / variance"),
        color=alt.Color("teacher:N", title="network"),
        tooltip=hover,
    )
    tails = base.mark_tick(thickness=2, width=24, color="crimson").encode(y="theory:Q")
    panel = alt.layer(tails, dots).properties(width=260, height=280)
    return panel.facet(column=alt.Column("teacher:N", title=None))


def rademacher(tables: Tables) -> Figure:
    """A panel for each n and k, at the most samples: complexity against the number of neurons."""
    sizes = tables["sizes"]
    top = sizes[sizes["m"] == sizes["m"].max()]
    groups = list(top.groupby(["n", "k"]))
    picture = look.figure(
        4.4 * len(groups),
        4.0,
        f"Rademacher complexity of sparsely activated networks (m = {sizes['m'].max():,} samples, "
        f"{tables.facts['draws']} draws of the signs)",
    )
    panels = picture.subplots(1, len(groups), squeeze=False)[0]
    for axes, ((n, k), part) in zip(panels, groups, strict=True):
        for column, (name, colour, style) in COMPLEXITIES.items():
            axes.plot(part["s"], part[column], style, marker="o", ms=3, color=colour, label=name)
        error = look.bars(part, "measured")
        axes.errorbar(part["s"], part["measured"], error, color="tab:blue", lw=0, elinewidth=1)
        axes.set(xscale="log", yscale="log", title=f"n = {n}, k = {k}")
        axes.set(xlabel="neurons s", ylabel="complexity")
        axes.set_xticks(part["s"], [str(s) for s in part["s"]])
        axes.xaxis.set_minor_formatter(NullFormatter())
    picture.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return picture


def rademacher_chart(tables: Tables) -> alt.FacetChart:
    """All curves; the samples are chosen by a menu."""
    long = tables["sizes"].melt(["n", "m", "s", "k"], list(COMPLEXITIES), "curve", "complexity")
    names = {column: line[0] for column, line in COMPLEXITIES.items()}
    long = long.assign(curve=long["curve"].map(names))
    sizes = [int(m) for m in pd.unique(long["m"])]
    menu = alt.binding_select(options=sizes, name="samples m ")
    pick = alt.selection_point(fields=["m"], bind=menu, value=[{"m": sizes[-1]}])
    return (
        alt.Chart(long)
        .mark_line(point=True)
        .encode(
            x=alt.X("s:Q", title="neurons s", scale=alt.Scale(type="log")),
            y=alt.Y("complexity:Q", title="complexity", scale=alt.Scale(type="log")),
            color=alt.Color("curve:N", title=None),
            tooltip=["n", "m", "s", "k", "curve", "complexity"],
        )
        .transform_filter(pick)
        .properties(width=260, height=260)
        .facet(row=alt.Row("n:O", title="inputs n"), column=alt.Column("k:O", title="active k"))
        .add_params(pick)
    )


def sensitivity(tables: Tables) -> Figure:
    """Sensitivities against n: a row per measure, a column per k, a colour per s."""
    sizes = tables["sizes"]
    ks = sorted(sizes["k"].unique())
    picture = look.figure(
        4.3 * len(ks),
        7.0,
        "How sensitive are sparsely activated networks? Solid: measured; dashed and dotted: "
        f"bounds (ρ = {tables.facts['rho']})",
    )
    rows = picture.subplots(2, len(ks), squeeze=False)
    for row, measured in zip(rows, SENSITIVITIES, strict=True):
        for axes, k in zip(row, ks, strict=True):
            _sensitivity_panel(axes, sizes[sizes["k"] == k], measured, f"k = {k}")
    return picture


def _sensitivity_panel(axes: Axes, part: pd.DataFrame, measured: str, title: str) -> None:
    name, sharp, sharp_name, lemma, lemma_name = SENSITIVITIES[measured]
    shade = look.colours(part["s"])
    for s, line in part.groupby("s"):
        axes.plot(line["n"], line[measured], "o-", ms=4, color=shade[s], label=f"s = {s}")
        axes.plot(line["n"], line[sharp], "--", color=shade[s])
        axes.plot(line["n"], line[lemma], ":", color=shade[s])
    last = part[part["n"] == part["n"].max()]
    for bound, text in ((sharp, sharp_name), (lemma, lemma_name)):
        axes.text(part["n"].max(), last[bound].max() * 1.15, text, ha="right", fontsize=8)
    axes.set(yscale="log", title=f"{name}, {title}", xlabel="inputs n", ylabel=name)
    axes.set_xticks(sorted(part["n"].unique()))
    axes.legend(loc="lower left", bbox_to_anchor=(0.02, 0.14))


def sensitivity_chart(tables: Tables) -> alt.LayerChart:
    """Measured against the sharper bound, by n, s and k, and the line on which they are equal."""
    teachers = tables["teachers"]
    hover = ["n", "s", "k", "seed", "W", "B", "AS", "NS", "theory", "theory_lemma_9"]
    dots = (
        alt.Chart(teachers)
        .mark_point(filled=True)
        .encode(
            x=alt.X("theory:Q", title="bound 4 k² W²", scale=alt.Scale(type="log")),
            y=alt.Y("AS:Q", title="average sensitivity", scale=alt.Scale(type="log")),
            color=alt.Color("k:O", title="active k"),
            shape=alt.Shape("n:O", title="inputs n"),
            size=alt.Size("s:Q", title="neurons s"),
            tooltip=hover,
        )
    )
    ends = pd.DataFrame({"bound": [teachers["theory"].min(), teachers["theory"].max()]})
    line = (
        alt.Chart(ends)
        .mark_line(strokeDash=[4, 4], color="crimson")
        .encode(x="bound:Q", y="bound:Q")
    )
    return (line + dots).properties(width=640, height=420)
