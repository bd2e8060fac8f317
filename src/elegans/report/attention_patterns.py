"""Pictures of attention: heat maps of both layers in time, and where the mass goes."""

import altair as alt
from matplotlib.figure import Figure

from elegans.report import look
from elegans.studies.unported import Result


def draw(result: Result) -> Figure:
    """A row a layer, a column a time: attention on the first tokens of one sequence."""
    heat = result.data["heat"]
    tokens = heat.groupby("key")["token"].first().to_list()
    places = range(len(tokens))
    steps, layers = sorted(heat["step"].unique()), sorted(heat["layer"].unique())
    with look.context():
        made = look.figure(3.0 * len(steps), 3.1 * len(layers))
        made.suptitle(
            f"Attention of seed 0 on the first {heat['query'].max() + 1} tokens of a sequence: "
            "from each (down) to itself and earlier ones (across)",
            x=0.01, ha="left", fontsize=12,
        )  # fmt: skip
        rows = made.subplots(len(layers), len(steps), squeeze=False)
        for row, layer in zip(rows, layers, strict=True):
            for axes, step in zip(row, steps, strict=True):
                own = heat[(heat["step"] == step) & (heat["layer"] == layer)]
                grid = own.pivot(index="query", columns="key", values="attention")
                shown = axes.imshow(grid, cmap="magma", vmin=0, vmax=1)
                axes.set(title=f"layer {layer}, step {step:,}")
                axes.set_xticks(places, tokens, fontsize=6)
                axes.set_yticks(places, tokens, fontsize=6)
                axes.tick_params(length=0)
        made.colorbar(shown, ax=rows, shrink=0.6, label="attention")
    return made


def page(result: Result) -> alt.TopLevelMixin:
    """Attention mass where an induction head puts it, a line a seed."""
    names = {
        "previous": "layer 1, to the token before",
        "successors": "layer 2, to successors of the same token",
    }
    long = result.table.rename(columns=names).melt(
        id_vars=["seed", "step"], value_vars=list(names.values()), var_name="mass"
    )
    return (
        alt.Chart(long)
        .mark_line(point=True)
        .encode(
            x="step:Q",
            y=alt.Y("value:Q", title="attention mass", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("mass:N", title=None, legend=alt.Legend(labelLimit=300)),
            detail="seed:N",
            tooltip=["seed", "step", "mass", "value"],
        )
        .properties(width=640, height=360)
        .interactive()
    )
