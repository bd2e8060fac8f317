"""Sample curves of the low-degree algorithm, and what parities of few bits cost it."""

from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables


def samples(tables: Tables) -> Figure:
    """Errors against samples with and without noise; samples that parities need against n."""
    picture = look.figure(9.6, 4.0, "What samples, noise and degree cost the low-degree algorithm")
    left, right = picture.subplots(1, 2)
    curve, dots = tables["curve_means"], tables["curves"]
    hues = look.colours(curve["noise"])
    for noise, line in curve.groupby("noise"):
        colour = hues[noise]
        part = dots[dots["noise"] == noise]
        left.scatter(part["ratio"], part["error"], s=6, color=colour, alpha=0.3)
        left.plot(line["ratio"], line["error"], "o", color=colour, label=f"noise {noise:g}")
        left.plot(line["ratio"], line["theory"], "--", color=colour)
    left.plot([], [], "--", color="0.4", label="expected")
    left.axhline(curve["tail"].mean(), color="0.5", ls=":", label="Fourier tail")
    left.set(xscale="log", yscale="log", xlabel="samples per monomial, m/p")
    left.set(ylabel="error / variance", title="Degree 2, one active neuron")
    left.set_xticks(sorted(curve["ratio"].unique()), [f"{r:g}" for r in curve["ratio"].unique()])
    left.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    left.minorticks_off()
    left.legend()
    parities = tables["parities"]
    shade = look.colours(parities["p"])
    for p, part in parities.groupby("p"):
        mean = part.groupby("n")[["m_star", "monomials"]].mean()
        right.plot(mean.index, mean["m_star"], "o-", color=shade[p], label=f"p = {p} bits")
        right.plot(mean.index, mean["monomials"], "--", color=shade[p])
    right.plot([], [], "--", color="0.4", label="number of monomials")
    right.set(xscale="log", yscale="log", xlabel="inputs n", ylabel="samples needed")
    right.set(title="Parities of p bits, one active neuron of s")
    ns = sorted(parities["n"].unique())
    right.set_xticks(ns, [str(n) for n in ns])
    right.minorticks_off()
    right.legend()
    return picture
