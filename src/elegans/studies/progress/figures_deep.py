"""Pictures of deep quadratic networks, and of supports read off weak networks."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups


def deep_parity(tables: Tables) -> Figure:
    """Which parities deep networks learn, and how the controls end."""
    picture = look.figure(13, 4.4, "Together layers learn what none can learn alone")
    left, right = picture.subplots(1, 2)
    cells = tables["cells"]
    deep = cells[cells["kind"] == "all layers"]
    _grid(left, deep)
    layers, n, k = tables.facts["control"]
    runs = tables["runs"]
    same = runs[(runs["layers"] == layers) & (runs["n"] == n) & (runs["k"] == k)]
    _errors(right, same)
    right.set_title(f"Errors at the end: {layers} layers, ({n}, {k})-parity")
    return picture


def _grid(axes: Axes, deep: pd.DataFrame) -> None:
    rows = deep.assign(share=deep["converged"] / deep["runs"])
    grid = rows.pivot(index=["layers", "n"], columns="k", values="share").sort_index()
    names = [f"{layers} layers, n = {n}" for layers, n in grid.index]
    look.heat_map(axes, grid.to_numpy(float), names, [f"k = {k}" for k in grid.columns])
    columns = list(grid.columns)
    for place, (layers, _) in enumerate(grid.index):
        inside = sum(k <= 2 ** (layers - 1) for k in columns)
        axes.plot([inside - 0.5] * 2, [place - 0.5, place + 0.5], color="crimson", lw=2)
    axes.set_title("Seeds that converge (%); right of the red line k exceeds the degree")


def _errors(axes: Axes, runs: pd.DataFrame) -> None:
    kinds = list(runs["kind"].unique())
    for place, kind in enumerate(kinds):
        errors = np.sort(runs[runs["kind"] == kind]["test_error"].to_numpy(float))
        spread = np.linspace(-0.25, 0.25, len(errors))
        axes.plot(place + spread, errors, "o", ms=5, alpha=0.8, color="#2b6cb0")
    axes.axhline(0.5, color="0.5", ls=":", lw=1)
    axes.set_xticks(range(len(kinds)), [kind.replace(" ", "\n", 1) for kind in kinds])
    axes.set(ylim=(-0.03, 0.6), ylabel="error on fresh examples")


def weak_to_strong(tables: Tables) -> Figure:
    """Accuracy of each network, and the coefficient that was found at the support."""
    rows, facts = tables["networks"], tables.facts
    picture = look.figure(
        8,
        4.4,
        f"Networks at 55% accuracy reveal the support of a ({facts['n']}, {facts['k']})-parity",
    )
    axes = picture.subplots()
    colours = {"trained": "#2b6cb0", "untrained": "0.5"}
    for (kind, recovered), part in groups(rows, ["network", "recovered"]):
        fill = colours[kind] if recovered else "none"
        label = f"{kind}, support {'recovered' if recovered else 'not recovered'} ({len(part)})"
        axes.scatter(
            part["accuracy"],
            part["coefficient"].abs(),
            s=50,
            facecolors=fill,
            edgecolors=colours[kind],
            label=label,
        )
    line = np.linspace(0.5, max(0.75, rows["accuracy"].max()), 10)
    axes.plot(line, 2 * line - 1, ":", color="0.4", lw=1, label="2 accuracy - 1")
    axes.axhline(
        facts["threshold"], color="crimson", ls="--", lw=1, label="threshold of the search"
    )
    axes.set(xlabel="accuracy of the network", ylabel="coefficient found at the support")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.legend(loc="upper left")
    return picture
