"""Pictures of `lazy-neurons`: errors and effective numbers of neurons while networks learn."""

import altair as alt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.sparse_activation.lazy_claims import CASE, COINS, INDEPENDENT, TRANSFORMER

CONTROLS = (COINS, INDEPENDENT)
RULE_COLOUR, DECAY_COLOUR, CONTROL_COLOUR = "tab:blue", "tab:green", "0.55"


def activity(tables: Tables) -> Figure:
    """A column per network and training set: the error above, effective numbers below."""
    curves = tables["curves"].assign(
        effective=lambda rows: rows["effective"] / first(rows, "effective"),
        positive=lambda rows: rows["positive"] / first(rows, "positive"),
    )
    groups = list(curves.groupby(["network", "data"], sort=False))
    picture = look.figure(
        3.3 * len(groups),
        5.6,
        f"Few neurons do the work once a rule is learned (parity of {tables.facts['k']} of "
        f"{tables.facts['n']} bits; Markov chains of {tables.facts['states']} symbols)",
    )
    rows = picture.subplots(2, len(groups), squeeze=False, sharex="col")
    for column, ((network, data), part) in enumerate(groups):
        above, below = rows[0, column], rows[1, column]
        is_chain = network == TRANSFORMER
        for (decay, labels), lines in part.groupby(["decay", "labels"], sort=False):
            is_weak = decay == part["decay"].min()
            if labels in CONTROLS and not is_weak:
                continue
            colour = DECAY_COLOUR if not is_weak else RULE_COLOUR
            colour = CONTROL_COLOUR if labels in CONTROLS else colour
            band(
                above,
                lines,
                "error",
                colour,
                str(labels) if is_chain else f"{labels}, decay {decay}",
            )
            band(below, lines, "effective", colour)
            if is_weak:
                median = lines.groupby("step")["positive"].median()
                below.plot(median.index, median, ":", color=colour)
        above.set(
            title=f"{network}, {data} examples" if data == "fresh" else f"{network}, {data}",
            ylabel="nats above the truth" if is_chain else "test error",
        )
        above.set_ylim(bottom=0)
        below.set(xlabel="step", ylabel="share of that at the start", ylim=(0, 1.25))
        above.legend(fontsize=7)
        look.few_thousands(below)
    styles = [(RULE_COLOUR, "-"), (DECAY_COLOUR, "-"), (CONTROL_COLOUR, "-")]
    styles += [(RULE_COLOUR, ":"), (CONTROL_COLOUR, ":")]
    handles = [Line2D([], [], color=colour, ls=style) for colour, style in styles]
    names = ["effective number", "with more weight decay", "control"]
    names += ["positive neurons", "positive neurons, control"]
    picture.legend(handles, names, loc="outside lower center", ncols=5)
    return picture


def first(rows: pd.DataFrame, column: str) -> pd.Series:
    """The value at the first step of each run, at all its rows."""
    by = [*CASE, "seed"]
    return rows.sort_values("step").groupby(by)[column].transform("first")


def band(axes: Axes, lines: pd.DataFrame, column: str, colour: str, label: str = "") -> None:
    """The median over seeds, and all of them as a band."""
    groups = lines.groupby("step")[column]
    low, high, median = groups.min(), groups.max(), groups.median()
    axes.fill_between(low.index, low, high, color=colour, alpha=0.2, lw=0)
    axes.plot(median.index, median, color=colour, label=label)


def activity_chart(tables: Tables) -> alt.FacetChart:
    """Effective numbers of every run."""
    columns = [*CASE, "seed", "step", "effective", "error"]
    curves = tables["curves"][columns]
    case = curves["network"] + ", " + curves["data"]
    return (
        alt.Chart(curves.assign(case=case))
        .mark_line(opacity=0.5)
        .encode(
            x=alt.X("step:Q"),
            y=alt.Y("effective:Q", title="effective neurons per input"),
            color=alt.Color("labels:N", title="trained on"),
            strokeDash=alt.StrokeDash("decay:N", title="weight decay"),
            detail="seed:N",
            tooltip=["decay", "labels", "seed", "step", "effective", "error"],
        )
        .properties(width=260, height=220)
        .facet(facet=alt.Facet("case:N", title=None), columns=3)
        .resolve_scale(x="independent", y="independent")
    )
