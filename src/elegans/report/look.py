"""What all figures share: one look, colours by value, and how a figure is written to a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

LOOK = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.dpi": 110,
    "savefig.dpi": 150,
    "svg.hashsalt": "elegans",
}


@contextmanager
def context() -> Iterator[None]:
    """A context in which figures have the look of this project."""
    with mpl.rc_context(LOOK):
        yield


def figure(width: float | int, height: float | int, title: str = "") -> Figure:
    """An empty figure that belongs to no window, in inches, with its title on the left."""
    picture = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(picture)
    if title:
        picture.suptitle(title, x=0.01, ha="left", fontsize=12)
    return picture


def colours(values: pd.Series) -> dict[Any, tuple[float, ...]]:
    """A colour for each value, dark to bright as the values grow."""
    ordered = sorted(set(values))
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.85, max(2, len(ordered))))
    return {value: tuple(shade) for value, shade in zip(ordered, shades, strict=False)}


def thousands(value: float | int) -> str:
    """A whole number with separators."""
    return f"{int(value):,}"


THOUSANDS = FuncFormatter(lambda value, _: thousands(value))


def bars(table: pd.DataFrame, value: str) -> list[pd.Series]:
    """The error bars of a column whose intervals are in `low` and `high`, for `errorbar`."""
    return [(table[value] - table["low"]).clip(0), (table["high"] - table[value]).clip(0)]


def heat_map(axes: Axes, grid: np.ndarray, rows: list[str], columns: list[str]) -> None:
    """Rates in [0, 1] as coloured cells with their percentage; a tick for all."""
    axes.imshow(grid, cmap="YlGnBu", vmin=0, vmax=1.15, aspect="auto", origin="lower")
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    for (i, j), rate in np.ndenumerate(grid):
        if not np.isnan(rate):
            text = "✓" if rate == 1 else f"{100 * rate:.0f}"
            ink = "white" if rate > 0.6 else "black"
            axes.text(j, i, text, ha="center", va="center", fontsize=8, color=ink)


def plain_ticks(axes: Axes) -> None:
    """Logarithmic axes with a few whole numbers as ticks, and no others."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        axis.set_major_formatter(THOUSANDS)
        axis.set_minor_formatter(NullFormatter())


def few_thousands(axes: Axes) -> None:
    """A few ticks across, with separators."""
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(THOUSANDS)


def save(picture: Figure, path: Path) -> Path:
    """Writes a figure in the format of the path's ending, and returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without a date and with fixed identifiers, the same tables give the same SVG.
    metadata = {"Date": None} if path.suffix == ".svg" else None
    picture.savefig(path, metadata=metadata)
    return path
