"""Pictures of `sensitivity`: gates of any strength, and Gaussian inputs."""

from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

STRENGTHS = {
    "theory": ("4 k² W², from the most active neurons", "0.5", ":"),
    "theory_activity": ("certificate, from their second moment", "crimson", "--"),
    "AS": ("average sensitivity", "tab:blue", "-"),
}


def gates(tables: Tables) -> Figure:
    """Sensitivity and its bounds by the strength of gates; mean squares by the neurons."""
    picture = look.figure(10.0, 4.0, "Sparse at most inputs is enough on bits, not on Gaussians")
    left, right = picture.subplots(1, 2)
    strengths = tables["strengths"]
    for column, (name, colour, style) in STRENGTHS.items():
        left.plot(
            strengths["share"], strengths[column], style, marker="o", ms=3, color=colour, label=name
        )
    strict = strengths.loc[strengths["k"] == 1, "share"]
    if len(strict):
        left.axvspan(strict.min(), strict.max(), color="0.93", zorder=0)
        note = {"transform": left.transAxes, "ha": "right", "fontsize": 8}
        left.text(0.95, 0.16, "grey: 1-sparse at every input", **note)
    left.set(yscale="log", xlabel="strength of the gates, share of √q", ylabel="sensitivity")
    left.set(title="From no gates to gates that always close")
    left.legend(fontsize=8)
    mean = tables["gaussian"].groupby("s")[["gaussian", "bits"]].mean()
    right.plot(mean.index, mean["bits"], "o-", color="tab:blue", label="bits, gates")
    right.plot(mean.index, mean["gaussian"], "s-", color="tab:orange", label="Gaussian, biases")
    line = mean["gaussian"].iloc[0] * mean.index[0] / mean.index
    right.plot(mean.index, line, ":", color="0.5", label="1/s")
    right.set(xscale="log", yscale="log", xlabel="neurons s", ylabel="mean square of the network")
    right.set(title="More than one active: probability 1/s² at most")
    right.set_xticks(list(mean.index), [str(s) for s in mean.index])
    right.minorticks_off()
    right.legend()
    return picture
