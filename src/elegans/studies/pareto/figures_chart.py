"""The success frontier as a chart to click: heat maps, and the runs of the cell that is clicked."""

import warnings
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from elegans.report.result import Tables
from elegans.studies.pareto.figures import title
from elegans.studies.pareto.frontier_tables import GRID

OUTCOMES = {"success": "#1a9850", "no success": "#d73027", "diverged": "#777", "failed": "#333"}


def frontier_chart(tables: Tables) -> alt.VConcatChart:
    """Heat maps above the runs of the cell that is clicked."""
    cells, runs = _labelled(tables["cells"]), _labelled(tables["runs"])
    status = runs["status"].replace("done", "no success")
    runs["outcome"] = np.where(runs["success"].fillna(False).to_numpy(bool), "success", status)
    pick = alt.selection_point(
        fields=["task", "width", "m"], empty=False, on="click", value=_first_edge(cells)
    )
    maps = [_map(cells, task, pick) for task in cells["task"].drop_duplicates()]
    with warnings.catch_warnings():  # one selection over all maps is what is meant
        warnings.filterwarnings("ignore", "Automatically deduplicated selection")
        grid = alt.concat(*maps, columns=2).add_params(pick)
        return alt.vconcat(grid, _dots(runs, int(tables.facts["steps"]), pick))


def _labelled(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with their task in words, and the samples as text with online among them."""
    table = table[table["part"] == GRID]
    keys = zip(table["n"], table["k"], table["init"], strict=True)
    m = ["online" if pd.isna(m) else str(m) for m in table["samples"]]
    return table.assign(task=[title(*map(str, key)) for key in keys], m=m).drop(columns="samples")


def _map(cells: pd.DataFrame, task: str, pick: Any) -> alt.LayerChart:
    part = cells[cells["task"] == task]
    base = alt.Chart(part).encode(
        x=alt.X("m:O", sort=list(part["m"].unique()), title="training examples m"),
        y=alt.Y("width:O", sort="descending", title="width r"),
    )
    share = {name: alt.Tooltip(f"{name}:Q", format=".0%") for name in ("rate", "low", "high")}
    squares = base.mark_rect(cursor="pointer").encode(
        color=alt.Color(
            "rate:Q",
            title="success rate",
            legend=alt.Legend(format=".0%"),
            scale=alt.Scale(scheme="yellowgreenblue", domain=[0, 1.15]),
        ),
        stroke=alt.condition(pick, alt.value("crimson"), alt.value("white")),
        strokeWidth=alt.condition(pick, alt.value(3), alt.value(1)),
        tooltip=[
            *share.values(),
            alt.Tooltip("median_steps:Q", format=",.0f"),
            "successes:Q",
            "runs:Q",
        ],
    )
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("rate:Q", format=".0%"),
        color=alt.condition("datum.rate > 0.6", alt.value("white"), alt.value("black")),
    )
    return (squares + numbers).properties(title=task, width=380, height=240)


def _dots(runs: pd.DataFrame, steps: int, pick: Any) -> alt.Chart:
    return (
        alt.Chart(runs)
        .mark_circle(size=70, opacity=0.8)
        .encode(
            x=alt.X(
                "steps:Q",
                title="steps until success or the end",
                scale=alt.Scale(domain=[0, steps]),
            ),
            y=alt.Y(
                "test_error:Q",
                title="error on new examples at the end",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 0.6]),
            ),
            color=alt.Color(
                "outcome:N",
                scale=alt.Scale(domain=list(OUTCOMES), range=list(OUTCOMES.values())),
            ),
            tooltip=[
                "seed:Q",
                "steps:Q",
                alt.Tooltip("test_error:Q", format=".1%"),
                alt.Tooltip("train_error:Q", format=".1%"),
                "outcome:N",
            ],
        )
        .transform_filter(pick)
        .properties(title="The runs of the cell that you click", width=800, height=200)
    )


def _first_edge(cells: pd.DataFrame) -> list[dict[str, object]]:
    """The cell that is shown before any click: the one nearest to even odds."""
    cell = cells.iloc[int((cells["rate"].fillna(0.0) - 0.5).abs().argmin())]
    return [{"task": cell["task"], "width": int(cell["width"]), "m": cell["m"]}]
