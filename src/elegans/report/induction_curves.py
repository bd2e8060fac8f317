"""Pictures of phases: loss against time with the strategies' levels, and KL to each strategy."""

import altair as alt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import plots
from elegans.studies.study import Result

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
    with plots.look():
        made = plots.figure(10.0, 3.4 * len(models))
        made.suptitle(
            f"In-context learning of Markov chains ({result.facts['length']} tokens, "
            f"{result.facts['seeds']} seeds); shading: the nearest strategy",
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
    """The loss at the last position of every seed, and the strategies' levels."""
    for _, line in part.groupby("seed"):
        axes.plot(line["examples"], line["loss_at_end"], color="tab:blue", lw=0.8, alpha=0.7)
    level_lines(axes, levels)
    axes.set(title=f"{title}: loss", xlabel="examples seen", ylabel="nats, last position")
    axes.legend()


def level_lines(axes: Axes, levels: pd.DataFrame) -> None:
    """The strategies' expected losses, as dashed lines."""
    for name, loss in zip(levels["strategy"].astype(str), levels["loss"].to_numpy(), strict=True):
        axes.axhline(float(loss), color=COLOURS[name], ls="--", lw=1, label=name)


def divergence_panel(axes: Axes, part: pd.DataFrame, title: str) -> None:
    """KL from each strategy in time, phases shaded by the nearest one."""
    names = [name for name in COLOURS if f"{name}_at_end" in part]
    x, nearest = part["examples"].to_numpy(), part["nearest"].to_numpy()
    for i in range(len(x) - 1):
        axes.axvspan(x[i], x[i + 1], color=COLOURS[nearest[i]], alpha=0.12, lw=0)
    for name in names:
        axes.plot(x, part[f"{name}_at_end"], color=COLOURS[name], label=name)
    axes.set(title=f"{title}: KL(model ‖ strategy)", xlabel="examples seen", ylabel="nats")
    axes.legend()


def page(result: Result) -> alt.TopLevelMixin:
    """The loss of every seed; hovering shows the divergences."""
    table = result.table
    names = [name for name in COLOURS if f"{name}_at_end" in table]
    return (
        alt.Chart(table)
        .mark_line(point=True)
        .encode(
            x=alt.X("examples:Q", title="examples seen"),
            y=alt.Y("loss_at_end:Q", title="loss at the end", scale=alt.Scale(zero=False)),
            color="seed:N",
            tooltip=["seed", "step", "loss_at_end", "nearest",
                     *(f"{name}_at_end" for name in names)],
        )
        .properties(width=420, height=300)
        .facet(column="model:N")
        .interactive()
    )  # fmt: skip
