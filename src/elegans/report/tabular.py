"""Pictures of learning from tables: test error against training rows, by width and by start."""

from typing import Any

import altair as alt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.studies.tables.baselines import FOREST
from elegans.studies.tables.claims import OPTIMIZERS
from elegans.studies.tables.reference import TABLE_2
from elegans.studies.tables.tables import MLP_NAME
from elegans.studies.unported import Result

STARTS = {"dense": "tab:gray", "2-sparse": "tab:red", "4-sparse": "tab:purple"}
STYLES = {"adam": "-", "sgd": ":"}
OTHERS = ("tab:brown", "tab:olive", "tab:cyan", "tab:pink", "black", "tab:purple", "tab:gray")
COLUMNS = 4


def draw(result: Result) -> Figure:
    """Figures 3 and 6: a row a data set; by width, start, depth, and the best of each kind."""
    table, best = result.table, result.data["best"]
    names = list(table["dataset"].drop_duplicates())
    with look.context():
        made = look.figure(17, 3.6 * len(names) + 0.5)
        made.suptitle(_title(result), x=0.01, ha="left", fontsize=12)
        panels = made.subplots(len(names), COLUMNS, squeeze=False)
        for (wide, sparse, deep, others), name in zip(panels, names, strict=True):
            networks = table[(table["dataset"] == name) & (table["learner"] == MLP_NAME)]
            part = "" if name in result.facts["exact"] else " (part of its rows)"
            _by_width(wide, networks, f"{name}{part}\nBy width")
            _by_start(sparse, networks)
            _by_depth(deep, networks)
            _best(others, best[best["dataset"] == name], name)
            networks_only = (wide, sparse, deep)  # those of SGD err too much for the others' range
            top = max(axes.get_ylim()[1] for axes in networks_only)
            low = min(axes.get_ylim()[0] for axes in networks_only)
            for axes in networks_only:
                axes.set_ylim(low, top)
    return made


def page(result: Result) -> alt.TopLevelMixin:
    """Every setting of every learner; a legend entry that is clicked stands out."""
    pick = alt.selection_point(fields=["kind"], bind="legend")
    trained_by = result.table["optimizer"].map(OPTIMIZERS)
    kind = result.table["learner"].where(trained_by.isna(), f"{MLP_NAME}, " + trained_by)
    table = result.table.assign(kind=kind)
    order = sorted(kind.drop_duplicates(), key=lambda name: not name.startswith(MLP_NAME))
    base = alt.Chart(table).encode(
        x=alt.X(
            "samples:Q",
            scale=alt.Scale(type="log", nice=False),
            title="training rows",
            axis=alt.Axis(tickCount=4, labelOverlap=True, grid=False),
        ),
        color=alt.Color("kind:N", sort=order, title="learner (click)"),
        detail="setting:N",
        opacity=alt.condition(pick, alt.value(0.9), alt.value(0.08)),
    )
    lines = base.mark_line(point=alt.OverlayMarkDef(size=45)).encode(
        y=alt.Y("median:Q", title="median test error", axis=alt.Axis(format="%"),
                scale=alt.Scale(zero=False)),
        tooltip=["dataset", "learner", "setting", "samples", "runs",
                 alt.Tooltip("median:Q", format=".1%"), alt.Tooltip("low:Q", format=".1%"),
                 alt.Tooltip("high:Q", format=".1%"), alt.Tooltip("paper:Q", format=".1%")],
    )  # fmt: skip
    return (
        lines.add_params(pick)
        .properties(width=270, height=260)
        .facet(facet=alt.Facet("dataset:N", title=None), columns=3)
        .resolve_scale(y="independent", x="independent")
        .properties(title="Every setting of every learner; point at a dot for its numbers")
    )


def _title(result: Result) -> str:
    limit = result.facts["most_steps"]
    steps = "" if limit is None else f", at most {limit:,} steps"
    rows = result.facts["most_rows"]
    limited = "" if rows is None else f", at most {rows:,} training rows"
    return (
        f"Networks on tables of real data: test error against training rows "
        f"(median of {result.facts['seeds']} seeds, {result.facts['epochs']} epochs{steps}"
        f"{limited}; bars: 95% bootstrap intervals)"
    )


def _line(axes: Axes, cells: pd.DataFrame, label: str | None, colour: Any, **style: Any) -> None:
    """Medians with their intervals, in percent."""
    line = cells.sort_values("samples")
    middle = 100 * line["median"]
    error = [(middle - 100 * line["low"]).clip(0), (100 * line["high"] - middle).clip(0)]
    axes.errorbar(line["samples"].astype(float), middle, error, color=colour, marker="o", ms=3,
                  lw=1.5, elinewidth=0.7, capsize=2, label=label, **style)  # fmt: skip


def _labelled(axes: Axes, title: str) -> None:
    axes.set(xscale="log", xlabel="training rows", ylabel="test error (%)", title=title)
    axes.legend(loc="upper right")


def _main_depth(networks: pd.DataFrame) -> int:
    """The depth that has the most widths; of several, the largest, as in the paper's figure."""
    widths = networks.groupby("depth")["width"].nunique()
    return int(widths[widths == widths.max()].index.max())


def _by_width(axes: Axes, networks: pd.DataFrame, title: str) -> None:
    depth = _main_depth(networks)
    some = networks[(networks["depth"] == depth) & (networks["start"] == "2-sparse")]
    _lines(axes, some, "width", look.colours(some["width"]))
    _labelled(axes, f"{title} (2-sparse, depth {depth})")


def _by_start(axes: Axes, networks: pd.DataFrame) -> None:
    depth, width = _main_depth(networks), int(networks["width"].max())
    some = networks[(networks["depth"] == depth) & (networks["width"] == width)]
    _lines(axes, some, "start", STARTS)
    _labelled(axes, f"By start (width {width:,}, depth {depth})")


def _by_depth(axes: Axes, networks: pd.DataFrame) -> None:
    depths = networks.groupby("width")["depth"].nunique()
    width = int(depths[depths == depths.max()].index.max())
    some = networks[(networks["width"] == width) & (networks["start"] == "2-sparse")]
    _lines(axes, some, "depth", look.colours(some["depth"]))
    _labelled(axes, f"By depth (2-sparse, width {width:,})")


def _lines(axes: Axes, networks: pd.DataFrame, by: str, colours: dict[Any, Any]) -> None:
    """A line for each value of a column, in its colour, and optimiser, in its style.

    Of several weight decays the smallest is shown, so that a line is one setting.
    """
    some = networks[networks["weight_decay"] == networks["weight_decay"].min()]
    optimizers = list(some["optimizer"].drop_duplicates())
    for (value, optimizer), cells in some.groupby([by, "optimizer"], sort=by != "start"):
        text = value if by == "start" else f"{by} {value:,}"
        label = str(text) if optimizer == optimizers[-1] else None
        _line(axes, cells, label, colours[value], ls=STYLES[str(optimizer)])
    for optimizer in optimizers:
        name = OPTIMIZERS[optimizer]
        axes.plot([], [], color="black", lw=1.5, ls=STYLES[optimizer], label=name)


def _best(axes: Axes, best: pd.DataFrame, name: str) -> None:
    """The best setting of each learner, and the paper's medians as stars."""
    kinds = {MLP_NAME: ("goldenrod", "MLP"), FOREST: ("tab:green", "forest")}
    for learner, (colour, kind) in kinds.items():
        cells = best[best["learner"] == learner].sort_values("samples")
        _line(axes, cells, f"best {kind}", colour)
        paper = cells.dropna(subset="paper")
        axes.plot(paper["samples"].astype(float), 100 * paper["paper"], "*", ms=9, color=colour,
                  markeredgecolor="black", markeredgewidth=0.4, ls="none",
                  label=f"best {kind}, paper")  # fmt: skip
    rest = best[~best["learner"].isin(kinds)]
    for (other, cells), colour in zip(rest.groupby("learner", sort=False), OTHERS, strict=False):
        _line(axes, cells, str(other), colour, ls="--", alpha=0.8)
    reported = TABLE_2[name]
    axes.axhline(reported.tuned_mlp, color="goldenrod", ls=":", label="MLP, Grinsztajn et al.")
    axes.axhline(
        reported.tuned_forest, color="tab:green", ls=":", label="forest, Grinsztajn et al."
    )
    _labelled(axes, "The best setting of each kind (own scale)")
