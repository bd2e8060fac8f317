"""Pictures of learning from tables: test error against training rows, by width, init and depth."""

from typing import Any

import altair as alt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.tables.baselines import FOREST
from elegans.studies.tables.claims import OPTIMIZERS
from elegans.studies.tables.reference import TABLE_2
from elegans.studies.tables.tables import MLP_NAME

INIT_COLOURS = {"dense": "tab:gray", "2-sparse": "tab:red", "4-sparse": "tab:purple"}
MARKERS = "os^Dv"
DODGE = 1.06  # between lines, on the logarithmic axis, so that their bars do not hide each other
OTHERS = ("tab:brown", "tab:blue", "tab:cyan", "tab:pink", "black", "tab:purple", "tab:gray")
PANELS = 5


def errors(tables: Tables) -> Figure:
    """Figures 3 and 6: one row per data set; by width, init and depth, and the best of each."""
    cells, best = tables["cells"], tables["best"]
    names = list(cells["dataset"].drop_duplicates())
    picture = look.figure(22, 3.6 * len(names) + 0.5, title(tables.facts))
    panels = picture.subplots(len(names), PANELS, squeeze=False)
    for (wide, sparse, deep, slow, others), name in zip(panels, names, strict=True):
        part = cells[cells["dataset"] == name]
        networks = part[part["learner"] == MLP_NAME]
        # Of several weight decays the least is shown, so that a line is one setting.
        networks = networks[networks["weight_decay"] == networks["weight_decay"].min()]
        networks = networks.dropna(subset="width")
        adam = networks[networks["optimizer"] == "adam"]
        is_complete = part.loc[part["fraction"] == part["fraction"].max(), "is_complete"].all()
        _by_width(wide, adam, name if is_complete else f"{name} (part of its rows)")
        _by_init(sparse, adam)
        _by_depth(deep, adam)
        _same_range([wide, sparse, deep])
        _under_sgd(slow, networks[networks["optimizer"] == "sgd"])
        _best(others, best[best["dataset"] == name], name)
    for others in panels[1:, -1]:  # the lines are those of the first row
        others.get_legend().remove()
    return picture


def title(facts: dict[str, Any]) -> str:
    """What all panels share, in a line."""
    steps, rows = facts["most_steps"], facts["most_rows"]
    limits = "" if steps is None else f", at most {steps:,} steps"
    limits += "" if rows is None else f", at most {rows:,} training rows"
    return (
        "Networks on tables of real data: test error against training rows (median of "
        f"{facts['seeds']} seeds, {facts['epochs']} epochs{limits}; bars: 95% bootstrap intervals; "
        "2-sparse: a neuron of the first layer starts by reading two columns)"
    )


def _line(axes: Axes, cells: pd.DataFrame, label: str | None, colour: Any, **style: Any) -> None:
    """Medians with their intervals, in percent, a little to the right of the line before."""
    line = cells.sort_values("samples")
    middle = 100 * line["median"]
    bars = [(middle - 100 * line["low"]).clip(0), (100 * line["high"] - middle).clip(0)]
    dots: dict[str, Any] = {"marker": "o", "ms": 4, "lw": 1.5, "elinewidth": 0.7, "capsize": 2}
    x = line["samples"].astype(float) * DODGE ** len(axes.containers)
    axes.errorbar(x, middle, bars, color=colour, label=label, **(dots | style))


def _labelled(axes: Axes, text: str, ncols: int = 1) -> None:
    axes.set(xscale="log", xlabel="training rows", ylabel="test error (%)", title=text)
    axes.xaxis.set_major_formatter(look.THOUSANDS)
    axes.margins(x=0.1)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper right", ncols=ncols)


def _same_range(panels: list[Axes]) -> None:
    """One range of errors for panels that show the same networks."""
    low = min(axes.get_ylim()[0] for axes in panels)
    high = max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(low, high)


def _most(cells: pd.DataFrame, by: str, of: str) -> int:
    """The value of a column that has the most values of another; of several, the largest."""
    counts = cells.groupby(by)[of].nunique()
    return int(counts[counts == counts.max()].index.max())


def _by_width(axes: Axes, cells: pd.DataFrame, name: str) -> None:
    depth = _most(cells, "depth", "width")
    lines = cells[(cells["depth"] == depth) & (cells["init"] == "2-sparse")]
    shade = look.colours(lines["width"])
    for width, line in lines.groupby("width"):
        _line(axes, line, f"width {width:,}", shade[width])
    _labelled(axes, f"{name}\nAdam, by width (2-sparse, depth {depth})")


def _by_init(axes: Axes, cells: pd.DataFrame) -> None:
    depth = _most(cells, "depth", "width")
    width = _most(cells[cells["depth"] == depth], "width", "fraction")
    lines = cells[(cells["depth"] == depth) & (cells["width"] == width)]
    for init, line in lines.groupby("init", sort=False):
        _line(axes, line, str(init), INIT_COLOURS[str(init)])
    _labelled(axes, f"Adam, by init (width {width:,}, depth {depth})")


def _by_depth(axes: Axes, cells: pd.DataFrame) -> None:
    width = _most(cells, "width", "depth")
    lines = cells[(cells["width"] == width) & (cells["init"] == "2-sparse")]
    shade = look.colours(lines["depth"])
    for depth, line in lines.groupby("depth"):
        _line(axes, line, f"depth {depth}", shade[depth])
    _labelled(axes, f"Adam, by depth (2-sparse, width {width:,})")


def _under_sgd(axes: Axes, cells: pd.DataFrame) -> None:
    """Inits by colour, widths by marker."""
    if not len(cells):
        axes.axis("off")
        axes.text(0.5, 0.5, "no networks under SGD here", color="0.5", ha="center")
        return
    depth = _most(cells, "depth", "width")
    lines = cells[cells["depth"] == depth]
    markers = dict(zip(sorted(lines["width"].unique()), MARKERS, strict=False))
    for (init, width), line in lines.groupby(["init", "width"], sort=False):
        label = str(init) if width == min(markers) else None
        _line(axes, line, label, INIT_COLOURS[str(init)], marker=markers.get(width, MARKERS[-1]))
    for width, marker in markers.items():
        axes.plot([], [], color="black", ls="none", marker=marker, ms=4, label=f"width {width:,}")
    axes.axhline(50, color="0.8", lw=0.8)
    axes.set_ylim(top=68)  # room for the legend, above chance
    _labelled(axes, f"SGD, by init and width (depth {depth})", ncols=2)


def _best(axes: Axes, best: pd.DataFrame, name: str) -> None:
    """The best setting of each learner, and the paper's medians as stars."""
    kinds = {MLP_NAME: ("goldenrod", "MLP"), FOREST: ("tab:green", "forest")}
    star: dict[str, Any] = {
        "ms": 9,
        "markeredgecolor": "black",
        "markeredgewidth": 0.4,
        "ls": "none",
    }
    for learner, (colour, kind) in kinds.items():
        cells = best[best["learner"] == learner].sort_values("samples")
        _line(axes, cells, f"best {kind}", colour)
        paper = cells.dropna(subset="paper")
        if len(paper):
            x, y = paper["samples"].astype(float), 100 * paper["paper"]
            axes.plot(x, y, "*", color=colour, label=f"best {kind}, paper", **star)
    rest = best[~best["learner"].isin(kinds)]
    for (other, cells), colour in zip(rest.groupby("learner", sort=False), OTHERS, strict=False):
        _line(axes, cells, str(other), colour, ls="--", alpha=0.8)
    tuned = TABLE_2[name]
    for error, (colour, kind) in zip(
        (tuned.tuned_mlp, tuned.tuned_forest), kinds.values(), strict=True
    ):
        axes.axhline(error, color=colour, ls=":", label=f"{kind}, Grinsztajn et al.")
    _labelled(axes, "The best setting of each kind")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def error_chart(tables: Tables) -> alt.TopLevelMixin:
    """Every setting of every learner; a legend entry that is clicked stands out."""
    cells = tables["cells"]
    pick = alt.selection_point(fields=["kind"], bind="legend")
    optimizer = cells["optimizer"].map(OPTIMIZERS)
    kind = cells["learner"].where(optimizer.isna(), f"{MLP_NAME}, " + optimizer.fillna(""))
    order = sorted(kind.drop_duplicates(), key=lambda name: not name.startswith(MLP_NAME))
    numbers = [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("median", "low", "high")]
    base = alt.Chart(cells.assign(kind=kind)).encode(
        x=alt.X(
            "samples:Q",
            scale=alt.Scale(type="log", nice=False),
            title="training rows",
            axis=alt.Axis(tickCount=4, labelOverlap=True, grid=False),
        ),
        y=alt.Y(
            "median:Q",
            title="median test error",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(zero=False),
        ),
        color=alt.Color("kind:N", sort=order, title="learner (click)"),
        detail="setting:N",
        opacity=alt.condition(pick, alt.value(0.9), alt.value(0.08)),
        tooltip=[
            "dataset:N",
            "learner:N",
            "setting:N",
            "samples:Q",
            "runs:Q",
            *numbers,
            alt.Tooltip("paper:Q", format=".1%"),
        ],
    )
    return (
        base.mark_line(point=alt.OverlayMarkDef(size=45))
        .add_params(pick)
        .properties(width=270, height=260)
        .facet(facet=alt.Facet("dataset:N", title=None), columns=3)
        .resolve_scale(y="independent", x="independent")
        .properties(title="Every setting of every learner; point at a dot for its numbers")
    )
