"""Pictures of phases: loss against time with the strategies' levels, and KL to each strategy."""

import altair as alt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.studies.unported import Result

COLOURS = {
    "uniform": "tab:gray",
    "unigram": "tab:green",
    "bigram": "tab:orange",
    "trigram": "tab:purple",
}


def draw(result: Result) -> Figure:
    """A row a model: test loss of every seed, then KL from the strategies of the first."""
    table = result.table
    models = list(table.groupby("model", sort=False))
    with look.context():
        made = look.figure(10.0, 3.4 * len(models))
        made.suptitle(
            f"In-context learning, {result.facts['length']} tokens. Left: every one of "
            f"{result.facts['seeds']} seeds. Right: seed 0, shaded by the nearest strategy",
            x=0.01, ha="left", fontsize=12,
        )  # fmt: skip
        rows = made.subplots(len(models), 2, squeeze=False)
        for (left, right), (name, part) in zip(rows, models, strict=True):
            own = result.data["levels"]
            if "model" in own:
                own = own[own["model"] == name]
            loss_panel(left, part, own, str(name))
            divergence_panel(right, part[part["seed"] == part["seed"].min()], str(name))
    return made


def loss_panel(axes: Axes, part: pd.DataFrame, levels: pd.DataFrame, title: str) -> None:
    """KL from the truth at the last position of every seed, and the strategies' levels."""
    for _, line in part.groupby("seed"):
        axes.plot(line["examples"], line["truth_at_end"], color="tab:blue", lw=0.8, alpha=0.7)
    level_lines(axes, levels)
    axes.set(title=f"{title}: loss, KL(truth ‖ model)", xlabel="examples seen",
             ylabel="nats, last position")  # fmt: skip
    look.few_thousands(axes)


def level_lines(axes: Axes, levels: pd.DataFrame) -> None:
    """The strategies' expected divergences from the truth: dashed lines with their names."""
    for name, level in zip(levels["strategy"].astype(str), levels["divergence"], strict=True):
        axes.axhline(float(level), color=COLOURS[name], ls="--", lw=1)
        axes.text(1.01, float(level), name, color=COLOURS[name], ha="left", va="center",
                  fontsize=8, transform=axes.get_yaxis_transform())  # fmt: skip


def divergence_panel(axes: Axes, part: pd.DataFrame, title: str) -> None:
    """KL from each strategy in time, phases shaded by the nearest one."""
    names = [name for name in COLOURS if f"{name}_at_end" in part]
    x, nearest = part["examples"].to_numpy(), part["nearest"].to_numpy()
    for i in range(len(x) - 1):
        axes.axvspan(x[i], x[i + 1], color=COLOURS[nearest[i]], alpha=0.12, lw=0)
    for name in names:
        axes.plot(x, part[f"{name}_at_end"], color=COLOURS[name], label=name)
    axes.set(title=f"{title}: KL(model ‖ strategy)", xlabel="examples seen",
             ylabel="nats, last position")  # fmt: skip
    look.few_thousands(axes)
    axes.legend()


def page(result: Result) -> alt.TopLevelMixin:
    """The loss of every seed; hovering shows the divergences."""
    table = result.table
    names = [name for name in COLOURS if f"{name}_at_end" in table]
    hover = ["truth_at_end", *(f"{name}_at_end" for name in names)]
    return (
        alt.Chart(table)
        .mark_line(point=True)
        .encode(
            x=alt.X("examples:Q", title="examples seen"),
            y=alt.Y("truth_at_end:Q", title="KL(truth ‖ model) at the last position, nats"),
            color="seed:N",
            tooltip=["seed", "step", "nearest", *(alt.Tooltip(h, format=".4f") for h in hover)],
        )
        .properties(width=420, height=300)
        .facet(column=alt.Column("model:N", title=None))
        .interactive()
    )
