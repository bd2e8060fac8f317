"""Pictures of learning with and without unigrams: loss on the full distribution."""

import altair as alt
from matplotlib.figure import Figure

from elegans.report import plots
from elegans.report.induction_curves import level_lines
from elegans.studies.study import Result
from elegans.studies.unigrams_slow_learning import ADDED, ALONE, INSTEAD

LINES = {ALONE: "tab:blue", ADDED: "tab:red", INSTEAD: "tab:brown"}


def draw(result: Result) -> Figure:
    """Loss against doubly stochastic sequences seen: a line a seed, the median in bold."""
    with plots.look():
        made = plots.figure(6.4, 4.2)
        axes = made.subplots()
        for name, part in result.table.groupby("model", sort=False):
            colour = LINES[str(name)]
            for _, line in part.groupby("seed"):
                axes.plot(line["seen"], line["loss"], color=colour, lw=0.5, alpha=0.4)
            middle = part.groupby("seen")["loss"].median()
            axes.plot(middle.index, middle, color=colour, lw=2, label=f"{name} (median)")
        level_lines(axes, result.data["levels"])
        axes.set(
            title=f"Trained on doubly stochastic chains of {result.facts['states']} states, "
            "tested on the full distribution",
            xlabel="doubly stochastic sequences seen",
            ylabel="loss at the last position, nats",
        )
        axes.legend()
    return made


def page(result: Result) -> alt.TopLevelMixin:
    """The same, a line a seed."""
    return (
        alt.Chart(result.table)
        .mark_line()
        .encode(
            x=alt.X("seen:Q", title="doubly stochastic sequences seen"),
            y=alt.Y("loss:Q", scale=alt.Scale(zero=False)),
            color="model:N",
            detail="seed:N",
            tooltip=["model", "seed", "step", "seen", "loss"],
        )
        .properties(width=640, height=400)
        .interactive()
    )
