"""Mixtures of easy and hard chains: losses by clock, and when each arrives."""

import altair as alt
import numpy as np
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.induction.figures.stages import level_lines


def mixtures(tables: Tables) -> Figure:
    """Left: loss against counted sequences. Right: the clock of each mixture, seed by seed."""
    facts, table, times = tables.facts, tables["curves"], tables["times"]
    names = list(dict.fromkeys(table["arm"]))
    shades = dict(zip(names, (f"C{i}" for i in range(10)), strict=False))
    with look.context():
        picture = look.figure(
            10.5,
            4.4,
            f"Shares of doubly stochastic chains, {facts['states']} symbols, {facts['length']} "
            f"tokens, {facts['seeds']} seeds (mixtures {facts['mixture_seeds']})",
        )
        left, right = picture.subplots(1, 2, width_ratios=(3, 2))
        for name in names:
            part = table[table["arm"] == name]
            for _, line in part.groupby("seed"):
                left.plot(line["counted"], line["loss"], color=shades[name], lw=0.4, alpha=0.4)
            middle = part.groupby("step")[["counted", "loss"]].median()
            left.plot(middle["counted"], middle["loss"], color=shades[name], lw=2, label=name)
        level_lines(left, tables["levels"])
        left.axhline(facts["goal"], color="black", ls=":", lw=1, label="goal")
        left.set(
            title="loss on the original chains",
            ylabel="KL(truth ‖ model), nats",
            xlabel="doubly stochastic sequences seen (original: all)",
            ylim=(0, None),
        )
        left.legend(title="trained on", loc="upper right", framealpha=0.8)
        look.few_thousands(left)
        clocks = times.set_index(["arm", "seed"])["counted"].unstack("arm")[names]
        ratios = clocks.div(clocks["100%"], axis=0).replace(np.inf, np.nan)
        for i, name in enumerate(names):
            right.plot(
                np.full(len(ratios), i), ratios[name], "o", ms=4, alpha=0.6, color=shades[name]
            )
            right.plot([i - 0.25, i + 0.25], [ratios[name].median()] * 2, color="black")
        shares = times[times["arm"] != "original"].drop_duplicates("arm")["share"]
        right.plot(
            range(len(shares)),
            shares,
            "--",
            color="tab:gray",
            lw=1,
            label="equally many steps",
        )
        right.axhline(1, color="tab:gray", lw=0.8)
        right.set_xticks(range(len(names)), names)
        right.set(
            title="sequences to the goal",
            ylabel="over those without unigrams",
            xlabel="share of doubly stochastic chains",
            ylim=(0, None),
        )
        right.legend()
    return picture


def mixtures_chart(tables: Tables) -> alt.TopLevelMixin:
    """The same curves, a line per run."""
    return (
        alt.Chart(tables["curves"])
        .mark_line()
        .encode(
            x=alt.X("counted:Q", title="doubly stochastic sequences seen (original: all)"),
            y=alt.Y("loss:Q", title="KL(truth ‖ model) on the original chains, nats"),
            color=alt.Color("arm:N", title="doubly stochastic"),
            detail="seed:N",
            tooltip=["arm", "seed", "step", "counted", alt.Tooltip("loss", format=".4f")],
        )
        .properties(width=640, height=400)
        .interactive()
    )
