"""Pictures of the Pareto paper's mechanisms: lucky neurons, lottery tickets, restarts."""

from typing import cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.pareto.lucky_neurons import chance_inside

LUCKY, PLAIN = "#1f77b4", "#ff7f0e"


def lucky_neurons(tables: Tables) -> Figure:
    """Shares of lucky networks beside their prediction, and when each kind learns."""
    chances, census = tables["chances"], tables["census"]
    tasks = list(chances.groupby(["n", "k"], sort=False))
    picture = look.figure(
        5 * (1 + len(tasks)),
        4,
        f"Does a lucky init decide? 2-sparse networks, m = {tables.facts['samples']:,} examples, "
        f"{tables.facts['seeds']} runs per width",
    )
    first, *panels = picture.subplots(1, 1 + len(tasks))
    for (key, part), colour in zip(tasks, ("#333333", "#9467bd", "#8c564b"), strict=False):
        n, k = cast(tuple[int, int], key)
        error = look.bars(part, "lucky_rate")
        first.errorbar(part["width"], part["lucky_rate"], error, fmt="o", color=colour, capsize=2)
        widths = np.unique(np.geomspace(part["width"].min(), part["width"].max(), 50).round())
        computed = [chance_inside(n, k, int(width)) for width in widths]
        first.plot(widths, computed, color=colour, label=f"n = {n}, k = {k}")
    first.set(xscale="log", xlabel="width r", ylabel="share of networks", ylim=(-0.03, 1.05))
    first.set_title("Networks with a lucky neuron:\ncounted (dots), computed (lines)")
    look.few_thousands(first)
    first.set_xticks(sorted(chances["width"].unique()))
    first.minorticks_off()
    first.legend(loc="lower right")
    for axes, (key, _) in zip(panels, tasks, strict=True):
        n, k = cast(tuple[int, int], key)
        runs = census[(census["n"] == n) & (census["k"] == k)]
        _learned(axes, runs, int(tables.facts["steps"]))
        axes.axvline(tables.facts["early"], color="0.4", lw=0.8, ls=":")
        kind = "a gradient at the start" if k == 3 else "no gradient at the start"
        axes.set_title(f"({n}, {k})-parity: neurons that read\nrelevant bits alone have {kind}")
    return picture


def _learned(axes: Axes, runs: pd.DataFrame, steps: int) -> None:
    """The share of runs that have learned by each step, lucky ones apart."""
    widths = sorted(runs["width"].unique())
    for i, width in enumerate(widths):
        shade = 0.35 + 0.65 * (i + 1) / len(widths)
        for name, colour, chosen in (
            ("lucky", LUCKY, runs["lucky"] > 0),
            ("not", PLAIN, runs["lucky"] == 0),
        ):
            part = runs[chosen & (runs["width"] == width)]
            if len(part):
                success = part["success"].fillna(False).to_numpy(bool)
                times = np.sort(part["steps"].to_numpy(float)[success])
                x = np.concatenate([[0.0], np.repeat(times, 2), [steps]])
                y = np.repeat(np.arange(len(times) + 1), 2) / len(part)
                label = f"r = {width:,}, {name} ({len(part)})"
                axes.plot(x, y, color=colour, alpha=shade, lw=1 + i, label=label)
    axes.set(xlabel="step", ylabel="share of runs that have learned", ylim=(-0.03, 1.05))
    look.few_thousands(axes)
    axes.legend(fontsize=7, title="network (runs)", title_fontsize=7)


ARMS = {
    "ticket, in": "Tickets, by incoming norm",
    "ticket, in x out": "Tickets, by incoming x outgoing",
    "others": "Other neurons of the parents",
    "fresh": "Fresh neurons of a wide net",
    "narrow": "Fresh narrow networks",
}


def lottery_tickets(tables: Tables) -> Figure:
    """Errors of tickets and of their controls: a panel per arm, a row per weight decay."""
    facts, curves = tables.facts, tables["curves"]
    decays = facts["decays"]
    picture = look.figure(
        15,
        0.6 + 3.2 * len(decays),
        f"Do {facts['neurons']} neurons of {facts['width']} learn the ({facts['n']}, "
        f"{facts['k']})-parity alone? (dotted: success; early: below the grey bar)",
    )
    panels = picture.subplots(len(decays), len(ARMS), sharey=True, squeeze=False)
    for row, decay, count in zip(panels, decays, facts["parents_learned"], strict=True):
        rates = tables["arms"][tables["arms"]["decay"] == decay].set_index("arm")
        for axes, (arm, name) in zip(row, ARMS.items(), strict=True):
            colour = LUCKY if arm.startswith("ticket") else PLAIN
            chosen = curves[(curves["arm"] == arm) & (curves["decay"] == decay)]
            for _, line in chosen.groupby("curve"):
                axes.plot(line["step"], line["test_error"], color=colour, lw=1, alpha=0.7)
            axes.axhline(0.1, color="0.4", lw=0.8, ls=":")
            axes.plot([0, facts["early"]], [facts["partial"]] * 2, color="0.75", lw=3, zorder=0)
            axes.set(ylim=(0, 0.56), xlim=(0, facts["steps"]))
            axes.set_title(f"{name}:\n" + _share(rates, arm), fontsize=9)
            look.few_thousands(axes)
            axes.xaxis.set_major_locator(MaxNLocator(3))
        row[0].set_ylabel(
            f"weight decay {decay:g}: {count} of\n{facts['parents']} wide networks learn\n\n"
            "error on new examples"
        )
    for axes in panels[-1]:
        axes.set_xlabel("step")
    return picture


def _share(rates: pd.DataFrame, arm: str) -> str:
    if arm not in rates.index:
        return "no run"
    row = rates.loc[arm]
    return f"{row['rate']:.0%} of {row['runs']:.0f} succeed,\n{row['early']:.0%} early"
