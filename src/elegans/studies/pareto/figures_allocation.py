"""The picture of width against restarts at equal arithmetic."""

from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables


def allocation(tables: Tables) -> Figure:
    """The share of training sets learned against arithmetic, one panel per number of samples."""
    curves, facts = tables["curves"], tables.facts
    sizes = list(curves["samples"].drop_duplicates())
    picture = look.figure(
        5.6 * len(sizes),
        4.2,
        f"{facts['neurons']:,} neurons: one network or several? ({facts['n']}, {facts['k']})-"
        f"parity, {facts['seeds']} training sets per line",
    )
    panels = picture.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    shade = look.colours(curves["width"])
    for axes, samples in zip(panels, sizes, strict=True):
        part = curves[curves["samples"] == samples]
        for width, line in part.groupby("width"):
            restarts = line["restarts"].iloc[0]
            label = f"{restarts} x width {width:,}"
            axes.step(line["arithmetic"], line["rate"], color=shade[width], label=label)
            if restarts > 1:
                axes.plot(line["arithmetic"], line["theory"], ":", color=shade[width], lw=1.2)
        axes.plot([], [], ":", color="0.4", label="independent restarts")
        chance = facts["lucky_chance"]
        words = f"{chance:.0%}: chance that one of all\nneurons starts with a gradient"
        axes.axhline(chance, color="0.7", lw=0.8, label=words)
        axes.set(xscale="log", ylim=(-0.03, 1.05), title=f"m = {samples:,} training examples")
        axes.set_xlabel("arithmetic: neurons x steps")
    panels[0].set_ylabel("share of training sets learned")
    panels[-1].legend(loc="lower right", fontsize=8)
    return picture
