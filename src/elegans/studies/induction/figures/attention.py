"""What layers attend to: heat maps in time, and where the mass goes."""

import altair as alt
import numpy as np
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables


def heat_maps(tables: Tables, value: str, title: str) -> Figure:
    """A row per layer, a column per time: a number for each query (down) and key (across)."""
    maps = tables["maps"]
    tokens = maps.groupby("key")["token"].first().to_list()
    places = range(len(tokens))
    steps, layers = sorted(maps["step"].unique()), sorted(maps["layer"].unique())
    with look.context():
        picture = look.figure(3.1 * len(steps), 0.4 + 3.1 * len(layers), title)
        grid = picture.subplots(len(layers), len(steps), squeeze=False)
        for row, layer in zip(grid, layers, strict=True):
            for axes, step in zip(row, steps, strict=True):
                part = maps[(maps["step"] == step) & (maps["layer"] == layer)]
                cells = part.pivot(index="query", columns="key", values=value)
                limits = {"vmin": 0, "vmax": 1} if value == "attention" else {}
                image = axes.imshow(np.ma.masked_invalid(cells), cmap="magma", **limits)
                axes.set(title=f"layer {layer}, step {step:,}")
                axes.set_xticks(places, tokens, fontsize=6)
                axes.set_yticks(places, tokens, fontsize=6)
                axes.tick_params(length=0)
                if value != "attention":
                    picture.colorbar(image, ax=axes, shrink=0.6)
        if value == "attention":
            picture.colorbar(image, ax=grid, shrink=0.6, label="attention")
    return picture


def attention(tables: Tables) -> Figure:
    """Attention of seed 0 on the first tokens of a sequence, in time."""
    title = "Attention of seed 0: from each token (down) to itself and earlier ones (across)"
    return heat_maps(tables, "attention", title)


def scores(tables: Tables) -> Figure:
    """The scores before the softmax, in time."""
    title = "Scores A before the softmax, seed 0: from each token (down) to earlier ones (across)"
    return heat_maps(tables, "score", title)


def masses_chart(tables: Tables) -> alt.TopLevelMixin:
    """Attention where an induction head puts it, a line per seed."""
    names = {
        "previous": "layer 1, to the token before",
        "successors": "layer 2, to successors of the same token",
    }
    long = (
        tables["masses"]
        .rename(columns=names)
        .melt(id_vars=["seed", "step"], value_vars=list(names.values()), var_name="mass")
    )
    return (
        alt.Chart(long)
        .mark_line(point=True)
        .encode(
            x=alt.X("step:Q", title="training step"),
            y=alt.Y("value:Q", title="share of attention", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("mass:N", title=None, legend=alt.Legend(labelLimit=300)),
            detail="seed:N",
            tooltip=["seed", "step", "mass", alt.Tooltip("value", format=".3f")],
        )
        .properties(width=640, height=360)
        .interactive()
    )
