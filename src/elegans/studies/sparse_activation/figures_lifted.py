"""Pictures of `lifted-parities`: what is hard for whom, by the number of hidden bits."""

import altair as alt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.sparse_activation.lifted_claims import NARROW, PARITY, ROUNDING, WIDE

COLOURS = {NARROW: "tab:orange", WIDE: "tab:blue"}
NAMES = {NARROW: "as wide as constructed", WIDE: WIDE}


def lifted(tables: Tables) -> Figure:
    """Students of both tasks, statistical queries, and gates on fair bits."""
    picture = look.figure(
        15.0, 3.9, "One active neuron: hard under some distributions, recovered under fair bits"
    )
    left, second, third, right = picture.subplots(1, 4)
    students(left, tables, PARITY)
    rows = tables["without_gradients"]
    line = rows[rows["rows"] > rows["m"]].groupby("m")["elimination"].mean()
    left.plot(line.index, line, "s--", color="tab:green", label="linear algebra, m + 10 examples")
    left.axhline(0.5, color="0.7", lw=0.8, label="guessing")
    left.set(title="Parity of m/2 hidden bits", ylabel="error", ylim=(-0.03, 0.62))
    left.legend(fontsize=7, loc="center left")
    students(second, tables, ROUNDING)
    second.axhline(1.0, color="0.7", lw=0.8, label="a constant")
    second.set(title="Learning with rounding", ylabel="error / variance", ylim=(-0.05, 1.3))
    second.legend(fontsize=7, loc="center left", bbox_to_anchor=(0.0, 0.6))
    queries(third, tables)
    recovery(right, tables)
    return picture


def students(axes: Axes, tables: Tables, task: str) -> None:
    """Every run as a dot, with the means of each width."""
    trained = tables["trained"]
    for shift, (size, colour) in zip((-0.1, 0.1), COLOURS.items(), strict=True):
        part = trained[(trained["task"] == task) & (trained["size"] == size)]
        axes.scatter(part["m"] + shift, part["error"], s=12, color=colour, alpha=0.6)
        mean = part.groupby("m")["error"].mean()
        axes.plot(mean.index, mean, color=colour, label=f"SGD, {NAMES[size]}")
    axes.set_xticks(sorted(trained.loc[trained["task"] == task, "m"].unique()))
    axes.set(xlabel="hidden bits m" if task == PARITY else "coordinates m")


def queries(axes: Axes, tables: Tables) -> None:
    """Queries of searches by who answers, and the least number."""
    searches = tables["searches"]
    for (answers, part), style in zip(searches.groupby("answers"), ("s-", "o--"), strict=True):
        mean = part.groupby("m")["queries"].mean()
        axes.plot(mean.index, mean, style, mfc="none", label=f"search, {answers} answers")
    bound = searches.groupby("m")["theory"].mean()
    axes.plot(bound.index, bound, "--", color="crimson", label="least number, any learner")
    axes.plot(bound.index, 2.0**bound.index, ":", color="0.5", label="all parities")
    axes.set(yscale="log", title="Statistical queries", xlabel="hidden bits m", ylabel="queries")
    axes.set_xticks(sorted(searches["m"].unique()))
    axes.legend(fontsize=7)


def recovery(axes: Axes, tables: Tables) -> None:
    """Errors of polynomials and of the learner of addresses, on a logarithmic scale."""
    gates = tables["gates"]
    names = {f"degree_{d}": f"d = {d}" for d in (1, 2, 3)} | {"addresses": "addresses"}
    for place, column in enumerate(names):
        axes.scatter([place] * len(gates), gates[column].clip(lower=1e-16), s=16, color="tab:blue")
    axes.set_xticks(range(len(names)), list(names.values()))
    axes.axhline(1.0, color="0.7", lw=0.8)
    axes.set(
        yscale="log",
        xlim=(-0.5, len(names) - 0.5),
        title=f"Gated networks, {tables.facts['gate_n']} fair bits",
        xlabel="polynomials of degree d, or addresses",
        ylabel="error / variance",
    )


def lifted_chart(tables: Tables) -> alt.FacetChart:
    """Every student."""
    return (
        alt.Chart(tables["trained"])
        .mark_circle(size=60, opacity=0.7)
        .encode(
            x=alt.X("m:O"),
            y=alt.Y("error:Q"),
            color=alt.Color("size:N", title="width"),
            tooltip=["task", "m", "width", "seed", "steps", "error"],
        )
        .properties(width=300, height=260)
        .facet(column=alt.Column("task:N", title=None))
    )
