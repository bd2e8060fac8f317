"""Pictures of what the frontier depends on: sparsity, and the choices of the recipe."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from elegans.report import look
from elegans.report.result import Tables
from elegans.statistics import Interval, bootstrap
from elegans.studies.pareto.large_n_claims import GROWING
from elegans.studies.pareto.scores import seed_means
from elegans.studies.pareto.sparsity_claims import DENSE_NORM, FACTORS, SPARSE_NORM, corners

INIT_COLOURS = {"dense": "0.35", "2-sparse": "#d62728"}
SPARED = "mean share of steps left at success (0: no success)"
JITTER = 0.16  # of dots that would hide each other, in rows


def how_sparse(tables: Tables) -> Figure:
    """Steps spared by sparsity at two norms; the corners of the design; and its main effects."""
    facts = tables.facts
    picture = look.figure(
        15,
        4.8,
        f"How sparse should neurons start? ({facts['n']}, {facts['k']})-parity, width "
        f"{facts['width']:,}, {facts['seeds']} seeds, m = "
        + " and ".join(f"{m:,}" for m in facts["samples"]),
    )
    by_sparsity, by_corner, by_factor = picture.subplots(1, 3, width_ratios=(5, 4, 3))
    _sparsities(by_sparsity, tables["runs"])
    _corners(by_corner, corners(tables["runs"]))
    effects = tables["effects"]
    bars = [effects["effect"] - effects["effect_low"], effects["effect_high"] - effects["effect"]]
    by_factor.errorbar(
        effects["effect"], range(len(effects)), xerr=np.abs(bars), fmt="o", color="k", capsize=3
    )
    names = [f"{row['factor']}:\n{row['change']}" for _, row in effects.iterrows()]
    by_factor.set_yticks(range(len(effects)), names)
    by_factor.axvline(0, color="0.6", lw=0.8)
    by_factor.set(xlabel="change in the share of steps left", ylim=(len(effects) - 0.4, -0.6))
    by_factor.set_title("What each contributes")
    return picture


def _mean(values: pd.Series) -> Interval:
    return bootstrap(values.to_numpy(float), np.mean)


def _points(axes: Axes, x: list[float], intervals: list[Interval], **style: object) -> None:
    value = np.array([each.value for each in intervals])
    low = value - np.array([each.low for each in intervals])
    high = np.array([each.high for each in intervals]) - value
    axes.errorbar(x, value, [low, high], capsize=3, **style)  # type: ignore[arg-type]


def _sparsities(axes: Axes, runs: pd.DataFrame) -> None:
    sparsities = sorted(int(s) for s in runs["s"].unique() if s != "dense")
    x = [float(i) for i in range(len(sparsities))]
    positive = {"signs": "positive"}
    lines = {
        "weights of one": (lambda s: float(s), "#d62728", "o-"),
        "squared norm 2": (lambda s: SPARSE_NORM, "#1f77b4", "s--"),
    }
    for i, (name, (norm, colour, fmt)) in enumerate(lines.items()):
        means = [
            _mean(seed_means(runs, {"s": str(s), "norm": norm(s), **positive})) for s in sparsities
        ]
        _points(axes, [each + 0.08 * i for each in x], means, color=colour, fmt=fmt, label=name)
    for i, (norm_of_dense, name, fmt) in enumerate(
        ((DENSE_NORM, "dense, the default", "D"), (SPARSE_NORM, "dense, squared norm 2", "^"))
    ):
        dense = {"s": "dense", "norm": norm_of_dense, "signs": "random"}
        place = [len(x) + 0.3 + 0.15 * i]
        _points(
            axes, place, [_mean(seed_means(runs, dense))], color=f"{0.55 * i}", fmt=fmt, label=name
        )
    axes.set_xticks([*x, len(x) + 0.4], [*map(str, sparsities), "all"])
    axes.set(xlabel="inputs that a neuron reads at the start", ylim=(0, None))
    axes.set_ylabel(SPARED)
    axes.set_title("By the number of inputs")
    axes.legend()


def _corners(axes: Axes, runs: pd.DataFrame) -> None:
    """The eight combinations, the paper's two marked."""
    names, shades, means = [], [], []
    for s in FACTORS["sparsity"][1:]:
        for norm in (DENSE_NORM, SPARSE_NORM):
            for signs in ("random", "positive"):
                chosen = {"s": s, "norm": norm, "signs": signs}
                means.append(_mean(seed_means(runs, chosen)))
                is_papers = (s, norm, signs) in (
                    ("dense", DENSE_NORM, "random"),
                    ("2", SPARSE_NORM, "positive"),
                )
                kind = "dense" if s == "dense" else "2-sparse"
                size = "norm² 1/3" if norm == DENSE_NORM else "norm² 2"
                names.append(f"{kind}, {size},\n{signs} signs" + (" (paper)" if is_papers else ""))
                shades.append(INIT_COLOURS[kind])
    for i, (each, shade) in enumerate(zip(means, shades, strict=True)):
        bar = [[each.value - each.low], [each.high - each.value]]
        axes.errorbar([each.value], [i], xerr=bar, fmt="o", color=shade, capsize=3)
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel=SPARED, ylim=(len(names) - 0.5, -0.5), xlim=(0, None))
    axes.set_title("Sparsity, norm and signs")


def double_descent(tables: Tables) -> Figure:
    """Success rates and times against samples, a column per init and weight decay."""
    cells, facts = tables["cells"], tables.facts
    columns = list(cells.groupby(["init", "decay"], sort=False))
    picture = look.figure(
        4.2 * len(columns),
        6.4,
        f"Can more examples hurt? ({facts['n']}, {facts['k']})-parity, {facts['seeds']} runs per "
        f"point, at most {facts['steps']:,} steps",
    )
    panels = picture.subplots(2, len(columns), sharex=True, sharey="row", squeeze=False)
    sizes = sorted(cells["samples"].dropna().astype(int).unique())
    places = {m: float(i) for i, m in enumerate(sizes)}
    shade = look.colours(cells["width"])
    for (above, below), ((init, decay), part) in zip(panels.T, columns, strict=True):
        for i, (width, line) in enumerate(part.groupby("width")):
            x = line["samples"].map(places).astype(float).fillna(len(sizes)) + 0.06 * i
            bars = look.bars(line, "rate")
            label = f"r = {width:,}"
            style = {"color": shade[width], "marker": "o", "ms": 3}
            above.errorbar(x, line["rate"], bars, capsize=2, elinewidth=0.7, label=label, **style)
            below.plot(x, line["median_steps"], label=label, **style)
        for axes in (above, below):
            for name in ("few", "many"):
                axes.axvline(places[facts[name]] + 0.06, color="0.85", lw=4, zorder=0)
        above.set(title=f"{init} init, weight decay {decay}", ylim=(-0.03, 1.05))
        below.set(yscale="log", xlabel="training examples m")
        ticks = [*(f"{m:,}" for m in sizes), "online"]
        below.set_xticks(range(len(ticks)), ticks, rotation=45, ha="right")
        below.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        below.yaxis.set_major_formatter(look.THOUSANDS)
        below.yaxis.set_minor_formatter(NullFormatter())
    panels[0, 0].set_ylabel("success rate")
    panels[1, 0].set_ylabel("median steps to success\n(no dot: half of the runs fail)")
    panels[0, 0].legend(loc="lower right")
    return picture


def unstated_choices(tables: Tables) -> Figure:
    """When the runs of each variant succeed, one panel per init."""
    runs, facts = tables["runs"], tables.facts
    variants = list(runs["variant"].drop_duplicates())
    picture = look.figure(
        14,
        0.42 * len(variants) + 1.6,
        f"Who learns when, if one choice of the recipe is changed? ({facts['n']}, {facts['k']})-"
        f"parity, width {facts['width']:,}, m = "
        + " and ".join(f"{m:,}" for m in facts["samples"]),
    )
    inits = list(runs["init"].drop_duplicates())
    panels = picture.subplots(1, len(inits), sharey=True, squeeze=False)[0]
    for axes, init in zip(panels, inits, strict=True):
        part = runs[runs["init"] == init]
        for row, variant in enumerate(variants):
            _row_of_runs(axes, part[part["variant"] == variant], row, int(facts["steps"]))
        axes.axhspan(-0.5, 0.5, color="0.94", zorder=0)
        for x, word in ((1.02, "never"), (1.14, "success")):
            axes.text(x * facts["steps"], -0.55, word, fontsize=8, color="0.4", va="bottom")
        axes.set(title=f"{init} init", xlabel="step of success", ylim=(len(variants) - 0.5, -0.5))
        axes.set_xlim(0, 1.22 * facts["steps"])
        look.few_thousands(axes)
    panels[0].set_yticks(range(len(variants)), variants)
    return picture


def _row_of_runs(axes: Axes, runs: pd.DataFrame, row: int, steps: int) -> None:
    """Dots for runs that succeed, crosses at the right for those that do not, and their rate."""
    sizes = sorted(runs["samples"].unique())
    shade = look.colours(runs["samples"])
    for i, samples in enumerate(sizes):
        part = runs[runs["samples"] == samples]
        y = row + JITTER * (2 * i - len(sizes) + 1)
        learned = part.loc[part["success"], "steps"]
        label = f"m = {samples:,}" if row == 0 else None
        axes.plot(
            learned,
            np.full(len(learned), y),
            "o",
            color=shade[samples],
            ms=4,
            alpha=0.7,
            label=label,
        )
        failed = int((~part["success"]).sum())
        x = steps * (1.03 + 0.008 * np.arange(failed))
        axes.plot(x, np.full(failed, y), "x", color=shade[samples], ms=3.5, alpha=0.7)
    rate = runs["success"].mean()
    axes.text(1.21 * steps, row, f"{rate:.0%}", ha="right", va="center", fontsize=8)
    if row == 0:
        axes.legend(loc="lower right", ncols=len(sizes), bbox_to_anchor=(0.8, 0.98))


def large_n(tables: Tables) -> Figure:
    """Success rates and steps spared against n, at widths that grow and at one width."""
    cells, facts = tables["cells"], tables.facts
    picture = look.figure(
        13,
        4.2,
        f"Many inputs: parities of {facts['k']} of n bits, {facts['seeds']} runs per point, at "
        f"most {facts['steps']:,} steps",
    )
    rates, spared = picture.subplots(1, 2)
    names = {n: f"{n}\n(m = {m:,})" for n, m in zip(cells["n"], cells["samples"], strict=True)}
    places = {n: float(i) for i, n in enumerate(sorted(names))}
    for i, ((rule, init), line) in enumerate(cells.groupby(["rule", "init"], sort=False)):
        x = line["n"].map(places) + 0.04 * i
        bars = look.bars(line, "rate")
        widths = f"r = {line['width'].min():,}" + (
            f" to {line['width'].max():,}" if rule == GROWING else ""
        )
        fmt = "o-" if rule == GROWING else "s--"
        style = {"color": INIT_COLOURS[str(init)], "fmt": fmt, "label": f"{init} init, {widths}"}
        rates.errorbar(x, line["rate"], bars, capsize=3, **style)
        chosen = {"rule": rule, "init": init}
        means = [_mean(seed_means(tables["runs"], chosen | {"n": n})) for n in line["n"]]
        _points(spared, list(x), means, **style)
    chances = cells[(cells["rule"] != GROWING) & cells["theory"].notna()]
    label = f"chance of a lucky neuron, r = {chances['width'].min():,}"
    rates.plot(chances["n"].map(places), chances["theory"], "k:", lw=1, label=label)
    for axes in (rates, spared):
        axes.set_xticks(list(places.values()), [names[n] for n in places])
        axes.set_xlabel("inputs n (training examples m)")
    rates.set(ylim=(-0.03, 1.05), ylabel="success rate", title="Who learns")
    spared.set(ylim=(-0.03, 1.05), ylabel=SPARED, title="And how early")
    handles, labels = rates.get_legend_handles_labels()
    spared.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return picture
