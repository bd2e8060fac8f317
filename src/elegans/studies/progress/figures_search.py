"""Pictures of times: SGD beside random search, and width against time."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.progress.times import groups

BLUE, RED, GREEN, ORANGE = "#2b6cb0", "crimson", "#2f855a", "#dd6b20"


def random_search(tables: Tables) -> Figure:
    """Histograms, common starts, and copies side by side."""
    picture = look.figure(
        15, 3.9, "SGD does not guess: no run is lucky early, and the start sets the time"
    )
    tasks = (tables.facts["relu"], tables.facts["sinusoid"])
    axes = picture.subplots(1, 4)
    for panel, (name, part), (n, k) in zip(
        axes, tables["times"].groupby("network", sort=False), tasks, strict=False
    ):
        _histogram(panel, part["time"].to_numpy(), f"{name}, ({n}, {k})-parity")
    _starts(axes[2], tables)
    _copies(axes[3], tables)
    return picture


def _histogram(axes: Axes, times: np.ndarray, title: str) -> None:
    median = float(np.median(times))
    finite = times[np.isfinite(times)]
    edges = np.linspace(0, np.quantile(finite, 0.995), 50)
    axes.hist(finite, list(edges), color=BLUE, alpha=0.85)
    # geometric with the same median, as a density times the number of runs
    rate = np.log(2) / median
    middle = (edges[1:] + edges[:-1]) / 2
    memoryless = len(times) * rate * np.exp(-rate * middle) * np.diff(edges)
    axes.plot(middle, memoryless, color=RED, lw=1.5, label="search without memory")
    axes.axvline(median / 2, color="0.4", ls=":", lw=1, label="half of the median")
    axes.set(title=title, xlabel="steps until no error is left", ylabel=f"runs (of {len(times):,})")
    axes.legend(loc="upper right")
    look.few_thousands(axes)


def _starts(axes: Axes, tables: Tables) -> None:
    rows = tables["starts"]
    order = rows.groupby("start")["time"].median().sort_values().index
    for place, start in enumerate(order):
        times = rows[rows["start"] == start]["time"].to_numpy()
        axes.plot(np.full(len(times), place), times, "o", ms=3.5, color=BLUE, alpha=0.6)
        axes.plot([place - 0.35, place + 0.35], [np.median(times)] * 2, color="black", lw=1.5)
    axes.set(
        title="One column per start, other examples each",
        xlabel="initial weights, by median time",
        ylabel="steps until no error is left",
        yscale="log",
    )
    axes.set_xticks([])
    axes.yaxis.set_major_formatter(look.THOUSANDS)
    axes.yaxis.set_minor_formatter(look.THOUSANDS)


def _copies(axes: Axes, tables: Tables) -> None:
    rows = tables["copies"]
    axes.fill_between(rows["copies"], rows["low"], rows["high"], color=BLUE, alpha=0.25)
    axes.plot(rows["copies"], rows["best"], "o-", color=BLUE, ms=4, label="best of r of width 10")
    axes.plot(
        rows["copies"],
        rows["wide_median"].where(np.isfinite(rows["wide_median"])),
        "s-",
        color=GREEN,
        ms=4,
        label="one network of width 10r",
    )
    axes.plot(
        rows["copies"],
        rows["theory_memoryless"],
        "--",
        color=RED,
        label="r searches without memory",
    )
    axes.set(
        title="Copies side by side", xlabel="copies r", ylabel="steps", xscale="log", yscale="log"
    )
    look.plain_ticks(axes)
    axes.legend(loc="lower left")


def width_and_time(tables: Tables) -> Figure:
    """Boxes of times at each width, one panel per task."""
    parts = groups(tables["times"], ["n", "k"])
    picture = look.figure(
        6.5 * len(parts) + 1, 4.4, "Width does not speed learning up, but there are no slow runs"
    )
    for axes, ((n, k), rows) in zip(
        np.atleast_1d(picture.subplots(1, len(parts))), parts, strict=True
    ):
        _boxes(axes, tables, int(n), int(k), rows)
    return picture


def _boxes(axes: Axes, tables: Tables, n: int, k: int, rows: Any) -> None:
    widths = sorted(rows["width"].unique())
    for place, width in enumerate(widths):
        part = rows[rows["width"] == width]
        times = part["time"][np.isfinite(part["time"])].to_numpy()
        colour = RED if width < k else BLUE
        if len(times):
            box = axes.boxplot(
                [times], positions=[place], widths=0.6, showfliers=False, patch_artist=True
            )
            box["boxes"][0].set(facecolor=colour, alpha=0.35)
            box["medians"][0].set(color="black")
            axes.plot([place] * 2, [times.min(), times.max()], "x", ms=4, color="0.3")
        missing = len(part) - len(times)
        if missing:
            text = f"{missing} of\n{len(part)} not"
            place_text: dict[str, Any] = {
                "ha": "center",
                "va": "top",
                "fontsize": 7,
                "color": "0.3",
            }
            axes.text(place, 0.99, text, transform=axes.get_xaxis_transform(), **place_text)
    cells = tables["cells"]
    search = cells[(cells["n"] == n) & (cells["k"] == k)].sort_values("width")
    axes.plot(
        range(len(widths)),
        search["theory_random_search"],
        "--",
        color=GREEN,
        label="r random searches side by side",
    )
    axes.fill_between([], [], color=RED, alpha=0.35, label="fewer than k neurons: 55% accuracy")
    axes.fill_between([], [], color=BLUE, alpha=0.35, label="no error left")
    axes.set_xticks(range(len(widths)), [f"{r:,}" for r in widths])
    axes.set(yscale="log", xlabel="width r", ylabel="steps", title=f"({n}, {k})-parity")
    axes.yaxis.set_major_formatter(look.THOUSANDS)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 3)
    axes.legend(loc="lower left")
