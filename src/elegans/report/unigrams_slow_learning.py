"""Pictures of learning with and without unigrams: loss on the full distribution."""

import altair as alt
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.induction_curves import level_lines
from elegans.studies.induction.unigrams_slow_learning import ADDED, ALONE, INSTEAD
from elegans.studies.unported import Result

LINES = {ALONE: "tab:blue", ADDED: "tab:red", INSTEAD: "tab:brown"}


def draw(result: Result) -> Figure:
    """Loss against doubly stochastic sequences seen: a line a seed, the median in bold."""
    facts = result.facts
    with look.context():
        made = look.figure(6.8, 4.6)
        axes = made.subplots()
        for name, part in result.table.groupby("model", sort=False):
            colour = LINES[str(name)]
            for _, line in part.groupby("seed"):
                axes.plot(line["seen"], line["divergence"], color=colour, lw=0.5, alpha=0.4)
            middle = part.groupby("seen")["divergence"].median()
            axes.plot(middle.index, middle, color=colour, lw=2, label=str(name))
        level_lines(axes, result.data["levels"])
        axes.axhline(facts["goal"], color="black", ls=":", lw=1, label="the goal of the claims")
        axes.set(
            title=f"Doubly stochastic chains ({facts['states']} states, {facts['length']} tokens), "
            f"{facts['seeds']} seeds and their median",
            xlabel="doubly stochastic sequences seen",
            ylabel="KL(truth ‖ model) on the full distribution,\nlast position, nats",
        )
        look.few_thousands(axes)
        made.legend(loc="outside lower center", ncols=4)
    return made


def page(result: Result) -> alt.TopLevelMixin:
    """The same, a line a seed."""
    return (
        alt.Chart(result.table)
        .mark_line()
        .encode(
            x=alt.X("seen:Q", title="doubly stochastic sequences seen"),
            y=alt.Y("divergence:Q", title="KL(truth ‖ model) on the full distribution, nats"),
            color=alt.Color("model:N", title="doubly stochastic"),
            detail="seed:N",
            tooltip=["model", "seed", "step", "seen", alt.Tooltip("divergence", format=".4f")],
        )
        .properties(width=640, height=400)
        .interactive()
    )
