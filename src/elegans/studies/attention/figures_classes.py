"""The three wirings of attention as a drawing (thesis, Figure 4.1), for the documentation.

`python -m elegans.studies.attention.figures_classes docs/attention-classes.svg` draws it.
"""

import sys
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from elegans.report import look

Real = float | int
Place = tuple[Real, Real]
TOKEN, HEAD, READ = "#d9e8f5", "#fbe3c8", "#d8efd9"
COUNT = 4  # tokens that are drawn
WIDTH, HEIGHT = 0.8, 0.5


def classes() -> Figure:
    """One head with a context, a layer of self-attention, and a layer that is read at [CLS]."""
    with look.context():
        picture = look.figure(13, 4.6, "Three ways to wire attention heads")
        one, layer, read = picture.subplots(1, 3)
        _one_head(one)
        _layer(layer)
        _read_at_cls(read)
        for axes in (one, layer, read):
            axes.set(xlim=(-0.7, COUNT + 0.7), ylim=(-0.9, 4.2), aspect="equal")
            axes.axis("off")
    return picture


def _box(axes: Axes, x: Real, y: Real, text: str, colour: str, width: float = WIDTH) -> None:
    """A rounded box around its centre."""
    corner = (x - width / 2, y - HEIGHT / 2)
    style: Any = {"boxstyle": "round,pad=0.02,rounding_size=0.1", "facecolor": colour, "lw": 0.8}
    axes.add_patch(FancyBboxPatch(corner, width, HEIGHT, **style))
    axes.text(x, y, text, ha="center", va="center", fontsize=9)


def _arrow(axes: Axes, start: Place, end: Place, **style: Any) -> None:
    """An arrow from the upper edge of one box to the lower edge of another one."""
    (x0, y0), (x1, y1) = start, end
    properties = {"arrowstyle": "->", "lw": 0.9, "color": "0.35"} | style
    axes.annotate("", (x1, y1 - 0.28), (x0, y0 + 0.28), arrowprops=properties)


def _tokens(axes: Axes, names: list[str]) -> None:
    for i, name in enumerate(names):
        _box(axes, i, 0, name, TOKEN)


def _one_head(axes: Axes) -> None:
    """Left: any head is scored against a context of its own."""
    axes.set_title("One head: a context z asks")
    _tokens(axes, ["$x_1$", "$x_2$", "...", "$x_T$"])
    _box(axes, 1.5, 1.8, "softmax of Score($x_t$, z)", HEAD, width=3.2)
    for i in range(COUNT):
        _arrow(axes, (i, 0), (0.6 + 0.6 * i, 1.8))
    _box(axes, COUNT, 1.0, "z", READ)
    _arrow(axes, (COUNT, 1.0), (3.0, 1.82), color="#d95f02")
    _box(axes, 1.5, 3.3, "y", READ)
    _arrow(axes, (1.5, 1.8), (1.5, 3.3))
    axes.text(1.7, 2.6, "weighted sum of $\\phi_{in}(x_t)$, then $\\phi_{out}$", fontsize=8)


def _layer(axes: Axes) -> None:
    """Centre: each token is the context of a head; all heads share their weights."""
    axes.set_title("A layer: each token asks all tokens")
    _tokens(axes, ["$x_1$", "$x_2$", "...", "$x_T$"])
    for j in range(COUNT):
        _box(axes, j, 1.8, "head" if j != COUNT - 2 else "...", HEAD)
        for i in range(COUNT):
            style = {"color": "#d95f02", "lw": 1.6} if i == j else {"lw": 0.6}
            _arrow(axes, (i, 0), (j, 1.8), **style)
        _box(axes, j, 3.3, ("$y_1$", "$y_2$", "...", "$y_T$")[j], READ)
        _arrow(axes, (j, 1.8), (j, 3.3))
    axes.text(COUNT - 0.5, 1.72, "same\nweights", fontsize=8, va="center")
    axes.text(COUNT - 0.5, 0.85, "orange: the\ncontext", fontsize=8, va="center", color="#d95f02")


def _read_at_cls(axes: Axes) -> None:
    """Right: one more token, whose output is all that is read."""
    axes.set_title("With [CLS]: one query is enough")
    _tokens(axes, ["$x_1$", "$x_2$", "...", "$x_T$"])
    _box(axes, COUNT, 0, "[CLS]", READ)
    _box(axes, COUNT, 1.8, "head", HEAD)
    for i in range(COUNT + 1):
        style = {"color": "#d95f02", "lw": 1.6} if i == COUNT else {}
        _arrow(axes, (i, 0), (COUNT, 1.8), **style)
    _box(axes, COUNT, 2.8, "$y_{CLS}$", READ)
    _arrow(axes, (COUNT, 1.8), (COUNT, 2.8))
    _box(axes, COUNT, 3.8, r"$w^\top y_{CLS}$", READ, width=1.1)
    _arrow(axes, (COUNT, 2.8), (COUNT, 3.8))
    axes.text(
        -0.4,
        2.6,
        "scores of the T tokens and\nof [CLS] itself; what the\nothers ask is not computed",
    )


if __name__ == "__main__":
    look.save(classes(), Path(sys.argv[1]))
