"""Figure 7.2: a neuron and the network, drawn for the documentation.

`python -m elegans.studies.groups.figures.drawings PATH` writes it to a file.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from elegans.report import look

INPUT_A, INPUT_B, HIDDEN, OUTPUT = "tab:blue", "tab:green", "0.25", "tab:red"


def neuron_and_network() -> Figure:
    """Left: one neuron reads a and b, squares the sum and writes a vector. Right: all of them."""
    with look.context():
        picture = look.figure(10, 4.2)
        left, right = picture.subplots(1, 2)
        _neuron(left)
        _network(right)
        for axes in (left, right):
            axes.set(xlim=(-0.5, 10.5), ylim=(-0.6, 6.8), aspect="equal")
            axes.axis("off")
    return picture


def _neuron(axes: Axes) -> None:
    """Two inputs, the sum, the square, the vector of outputs."""
    axes.set_title("One neuron")
    for y, name, weight, colour in (
        (4.6, "a", "$u[a]$", INPUT_A),
        (1.6, "b", "$v[b]$", INPUT_B),
    ):
        _node(axes, 0.6, y, f"${name}$", colour)
        _arrow(axes, (0.6, y), (4.0, 3.1), colour)
        axes.text(2.2, y + (-0.35 if name == "a" else -0.05), weight, color=colour, fontsize=11)
    _node(axes, 4.0, 3.1, "$(\\cdot)^2$", HIDDEN)
    for y, name in ((5.4, "$w[0]$"), (3.9, "$w[1]$"), (2.3, "$\\vdots$"), (0.8, "$w[n-1]$")):
        if name != "$\\vdots$":
            _arrow(axes, (4.0, 3.1), (8.0, y), OUTPUT)
        axes.text(8.55, y, name, color=OUTPUT, va="center", fontsize=11)
    axes.text(0.2, 6.4, "$\\varphi(a, b) = (u[a] + v[b])^2\\,w$", fontsize=12, va="center")


def _network(axes: Axes) -> None:
    """Both numbers, all neurons between, and an output per element."""
    axes.set_title("The network: a sum over neurons")
    heights = np.linspace(0.6, 5.4, 4)
    for y in heights:
        _arrow(axes, (0.6, 4.6), (4.6, y), INPUT_A)
        _arrow(axes, (0.6, 1.6), (4.6, y), INPUT_B)
        for out in np.linspace(0.3, 5.7, 5):
            _arrow(axes, (4.6, y), (8.6, out), OUTPUT)
    for y in heights:
        _node(axes, 4.6, y, "$(\\cdot)^2$", HIDDEN)
    for y in np.linspace(0.3, 5.7, 5):
        _node(axes, 8.6, y, "", OUTPUT, radius=0.24)
    _node(axes, 0.6, 4.6, "$a$", INPUT_A)
    _node(axes, 0.6, 1.6, "$b$", INPUT_B)
    axes.text(9.1, 3.0, "one output\nper element\nof the group", va="center", fontsize=8)
    axes.text(0.2, 6.4, "$f(a, b) = \\sum_i (u_i[a] + v_i[b])^2\\,w_i$", fontsize=12, va="center")


def _node(
    axes: Axes, x: float | int, y: float | int, text: str, colour: str, radius: float = 0.48
) -> None:
    size = (2 * radius * 22) ** 2
    axes.scatter([x], [y], s=size, color="white", edgecolors=colour, linewidths=1.6, zorder=3)
    axes.text(x, y, text, ha="center", va="center", color=colour, fontsize=10, zorder=4)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    arrow = FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=8, color=colour, lw=0.9, shrinkA=11, shrinkB=11
    )
    axes.add_patch(arrow)


if __name__ == "__main__":
    look.save(neuron_and_network(), Path(sys.argv[1]))
