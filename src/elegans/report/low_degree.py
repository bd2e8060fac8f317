"""Pictures of the low-degree algorithm: measured error beside the Fourier tail."""

import altair as alt
from matplotlib.figure import Figure

from elegans.report import plots
from elegans.studies.study import Result


def draw(result: Result) -> Figure:
    """A panel a teacher: error against degree, with the exact tail and what samples add to it."""
    table = result.table
    teachers = list(table.groupby("teacher", sort=False))
    facts = result.facts
    with plots.look():
        made = plots.figure(4.4 * len(teachers), 3.9)
        made.suptitle(
            f"What a polynomial of degree d learns of a teacher (n = {facts['n']}, "
            f"s = {facts['s']}, m = {facts['samples']:,})",
            x=0.01, ha="left", fontsize=12,
        )  # fmt: skip
        for axes, (name, part) in zip(made.subplots(1, len(teachers)), teachers, strict=True):
            runs = result.data["runs"]
            own = runs[runs["teacher"] == name]
            axes.scatter(own["degree"], own["error"], s=12, color="0.6", label="runs")
            axes.plot(part["degree"], part["error"], "o-", color="tab:blue", label="measured")
            axes.plot(part["degree"], part["theory"], "--", color="crimson", label="Fourier tail")
            axes.plot(part["degree"], part["theory_samples"], ":", color="crimson",
                      label="tail · m/(m - p)")  # fmt: skip
            axes.set(title=str(name), xlabel="degree d", ylabel="error / variance", ylim=(0, 1.25))
            axes.set_xticks(part["degree"])
            axes.legend()
    return made


def page(result: Result) -> alt.TopLevelMixin:
    """Errors of all runs, with the tail as a rule on each."""
    runs = result.data["runs"]
    base = alt.Chart(runs).encode(x=alt.X("degree:O", title="degree d"))
    dots = base.mark_circle(size=60).encode(
        y=alt.Y("error:Q", title="error / variance"),
        color="teacher:N",
        tooltip=["teacher", "degree", "seed", "monomials", "error", "theory", "theory_samples"],
    )
    tails = base.mark_tick(thickness=2, width=24, color="crimson").encode(y="theory:Q")
    return alt.layer(tails, dots).properties(width=260, height=280).facet(column="teacher:N")
