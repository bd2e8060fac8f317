"""Figures and charts of the studies of induction heads, from their tables."""

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables

COLOURS = {
    "uniform": "tab:gray",
    "unigram": "tab:green",
    "bigram": "tab:orange",
    "trigram": "tab:purple",
}
CHAINS = {
    "dirichlet": "chains trained on",
    "iid": "independent symbols",
    "doubly_stochastic": "doubly stochastic chains",
}


def panels_of(tables: Tables) -> list[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """The title, the curves and the strategies' levels of each row of panels."""
    table, levels = tables["curves"], tables["levels"]
    by = ["model", "states"] if "states" in table and "states" in levels else ["model"]
    shared = [name for name in (*by, "length") if name in levels and name in table]
    rows = []
    for key, part in table.groupby(by, sort=False):
        title = str(key[0])
        if len(by) > 1 and "states" not in title:
            title += f", {key[1]} states"
        match = levels
        for name in shared:
            match = match[match[name] == part[name].iloc[0]]
        rows.append((title, part, match))
    return rows


def stages(tables: Tables) -> Figure:
    """A row per model: the loss of every seed, then KL from the strategies of the first."""
    rows = panels_of(tables)
    facts = tables.facts
    length = f", {facts['length']} tokens" if "length" in facts else ""
    seeds = f"{facts['seeds']} seeds" if facts["seeds"] > 1 else "one seed"
    title = f"In-context learning{length}. Left: {seeds}. Right: seed 0, with its nearest strategy"
    with look.context():
        picture = look.figure(10.0, 0.5 + 2.9 * len(rows), title)
        grid = picture.subplots(len(rows), 2, squeeze=False)
        for (left, right), (name, part, levels) in zip(grid, rows, strict=True):
            for _, line in part.groupby("seed"):
                left.plot(line["examples"], line["loss"], color="tab:blue", lw=0.8, alpha=0.7)
            level_lines(left, levels)
            left.set(title=f"{name}: loss", ylabel="KL(truth ‖ model), nats", ylim=(0, None))
            divergence_panel(right, part[part["seed"] == part["seed"].min()])
            right.set(title=f"{name}: distance", ylabel="KL(model ‖ strategy), nats")
            for axes in (left, right):
                axes.set(xlabel="examples seen")
                look.few_thousands(axes)
    return picture


def level_lines(axes: Axes, levels: pd.DataFrame) -> None:
    """The strategies' expected losses: dashed lines with their names, apart if they are close."""
    ordered = levels.sort_values("divergence")
    span = ordered["divergence"].max() or 1.0
    height = -np.inf
    for name, level in zip(ordered["strategy"].astype(str), ordered["divergence"], strict=True):
        axes.axhline(float(level), color=COLOURS[name], ls="--", lw=1)
        height = max(float(level), height + 0.07 * span)
        axes.text(
            1.01,
            height,
            name,
            color=COLOURS[name],
            ha="left",
            va="center",
            fontsize=8,
            transform=axes.get_yaxis_transform(),
        )


def divergence_panel(axes: Axes, part: pd.DataFrame) -> None:
    """KL from each strategy in time, phases shaded by the nearest one."""
    x, nearest = part["examples"].to_numpy(), part["nearest"].to_numpy()
    for i in range(len(x) - 1):
        axes.axvspan(x[i], x[i + 1], color=COLOURS[nearest[i]], alpha=0.12, lw=0)
    for name in COLOURS:
        if name in part:
            axes.plot(x, part[name], color=COLOURS[name], label=name)
    axes.set_ylim(0, None)
    axes.legend()


def stages_chart(tables: Tables) -> alt.TopLevelMixin:
    """The loss of every seed; hovering shows the distances."""
    rows = [part.assign(panel=name) for name, part, _ in panels_of(tables)]
    columns = ["panel", "seed", "step", "examples", "nearest", "loss"]
    names = [name for name in COLOURS if name in rows[0]]
    table = pd.concat(rows)[[*columns, *names]]
    return (
        alt.Chart(table)
        .mark_line(point=True)
        .encode(
            x=alt.X("examples:Q", title="examples seen"),
            y=alt.Y("loss:Q", title="KL(truth ‖ model) at the last position, nats"),
            color=alt.Color("seed:N", title="seed"),
            tooltip=[
                "seed",
                "step",
                "nearest",
                *(alt.Tooltip(name, format=".4f") for name in ("loss", *names)),
            ],
        )
        .properties(width=300, height=220)
        .facet(facet=alt.Facet("panel:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )


def elsewhere(tables: Tables) -> Figure:
    """A row per model, a column per kind of chains: losses in time with those of strategies."""
    table = tables["elsewhere"]
    groups = list(table.groupby(["model", "states"], sort=False))
    with look.context():
        picture = look.figure(
            11.0,
            0.5 + 2.4 * len(groups),
            "Losses on three kinds of chains during training: median and range over seeds",
        )
        grid = picture.subplots(len(groups), len(CHAINS), squeeze=False)
        for row, ((model, states), part) in zip(grid, groups, strict=True):
            for axes, (chains, title) in zip(row, CHAINS.items(), strict=True):
                lines = part[part["chains"] == chains]
                steps = lines.groupby("step")["network"]
                axes.fill_between(steps.min().index, steps.min(), steps.max(), alpha=0.25)
                axes.plot(steps.median().index, steps.median(), color="tab:blue")
                means = lines[["uniform", "unigram", "bigram"]].mean()
                level_lines(axes, pd.DataFrame({"strategy": means.index, "divergence": means}))
                axes.set(
                    title=f"{model}, {states} states: {title}",
                    xlabel="steps",
                    ylabel="nats",
                    ylim=(0, None),
                )
                axes.title.set_fontsize(8)
                look.few_thousands(axes)
    return picture


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


def mixtures(tables: Tables) -> Figure:
    """Left: loss against counted sequences. Right: the clock of each mixture, seed by seed."""
    facts, table, times = tables.facts, tables["curves"], tables["times"]
    names = list(dict.fromkeys(table["arm"]))
    shades = dict(zip(names, (f"C{i}" for i in range(10)), strict=False))
    with look.context():
        picture = look.figure(
            10.5,
            4.4,
            f"Shares of doubly stochastic chains, {facts['states']} symbols, {facts['length']} "
            f"tokens, {facts['seeds']} seeds",
        )
        left, right = picture.subplots(1, 2, width_ratios=(3, 2))
        for name in names:
            part = table[table["arm"] == name]
            for _, line in part.groupby("seed"):
                left.plot(line["counted"], line["loss"], color=shades[name], lw=0.4, alpha=0.4)
            middle = part.groupby("step")[["counted", "loss"]].median()
            left.plot(middle["counted"], middle["loss"], color=shades[name], lw=2, label=name)
        level_lines(left, tables["levels"])
        left.axhline(facts["goal"], color="black", ls=":", lw=1, label="goal")
        left.set(
            title="loss on the original chains",
            ylabel="KL(truth ‖ model), nats",
            xlabel="doubly stochastic sequences seen (original: all)",
            ylim=(0, None),
        )
        left.legend()
        look.few_thousands(left)
        clocks = times.set_index(["arm", "seed"])["counted"].unstack("arm")[names]
        ratios = clocks.div(clocks["100%"], axis=0).replace(np.inf, np.nan)
        for i, name in enumerate(names):
            right.plot(
                np.full(len(ratios), i), ratios[name], "o", ms=4, alpha=0.6, color=shades[name]
            )
            right.plot([i - 0.25, i + 0.25], [ratios[name].median()] * 2, color="black")
        shares = times.drop_duplicates("arm").set_index("arm")["share"]
        right.plot(
            range(len(names)),
            [shares[name] for name in names],
            "--",
            color="tab:gray",
            lw=1,
            label="equally many steps",
        )
        right.axhline(1, color="tab:gray", lw=0.8)
        right.set_xticks(range(len(names)), names)
        right.set(
            title="sequences to the goal",
            ylabel="over those without unigrams",
            xlabel="share of doubly stochastic chains",
            ylim=(0, None),
        )
        right.legend()
    return picture


def mixtures_chart(tables: Tables) -> alt.TopLevelMixin:
    """The same curves, a line per run."""
    return (
        alt.Chart(tables["curves"])
        .mark_line()
        .encode(
            x=alt.X("counted:Q", title="doubly stochastic sequences seen (original: all)"),
            y=alt.Y("loss:Q", title="KL(truth ‖ model) on the original chains, nats"),
            color=alt.Color("arm:N", title="doubly stochastic"),
            detail="seed:N",
            tooltip=["arm", "seed", "step", "counted", alt.Tooltip("loss", format=".4f")],
        )
        .properties(width=640, height=400)
        .interactive()
    )


def positions(tables: Tables) -> Figure:
    """Left: v after one and two steps beside the population's. Right: positions in time."""
    from elegans.studies.induction.even_odd_claims import LARGE, before_the_drop, steps_at

    table = tables["positions"]
    labels = {"minimal": "$v_j$", "transformer": "attention by position alone"}
    models = list(table.groupby("model", sort=False))
    with look.context():
        picture = look.figure(4.2 * (1 + len(models)), 3.8)
        first, *rest = picture.subplots(1, 1 + len(models))
        for step, colour in ((1, "tab:blue"), (2, "tab:orange")):
            part = steps_at(tables, LARGE, "v", step)
            part = part[part["i"] <= table["position"].max()]
            first.plot(part["i"], part["measured"], "o", ms=4, color=colour, alpha=0.6)
            line = part.drop_duplicates("i")
            first.plot(line["i"], line["exact"], "-", color=colour, label=f"after step {step}")
        first.set(
            title="minimal model: two steps",
            ylabel="$v_j$",
            xlabel="position j (2 is the token before)",
        )
        first.legend()
        for axes, (name, part) in zip(rest, models, strict=True):
            run = part[part["seed"] == part["seed"].min()]
            steps = np.unique(run["step"])
            chosen = steps[np.unique(np.linspace(0, len(steps) - 1, 5).astype(int))]
            shade = look.colours(pd.Series(chosen))
            for step in chosen:
                line = run[run["step"] == step]
                axes.plot(
                    line["position"],
                    line["v"],
                    "o-",
                    ms=3,
                    lw=1,
                    color=shade[step],
                    label=f"step {step:,}",
                )
            before = before_the_drop(run)
            if before is not None:
                axes.plot(
                    before.index,
                    before,
                    "-",
                    lw=3,
                    color="tab:red",
                    alpha=0.7,
                    label=f"step {before.name:,}, before the drop",
                )
            axes.set(
                title=f"{name}: training, seed 0", xlabel="position j", ylabel=labels[str(name)]
            )
            axes.legend()
    return picture


def positions_chart(tables: Tables) -> alt.TopLevelMixin:
    """Positions in time, a line per step."""
    return (
        alt.Chart(tables["positions"].query("seed < 3"))
        .mark_line(point=True)
        .encode(
            x=alt.X("position:O", title="position j (2 is the token before)"),
            y=alt.Y("v:Q", title="v_j, or attention by position alone"),
            color=alt.Color("step:Q", title="step", scale=alt.Scale(scheme="viridis")),
            detail="step:N",
            tooltip=["model", "seed", "step", "position", alt.Tooltip("v", format=".4f")],
        )
        .properties(width=300, height=200)
        .facet(column=alt.Column("model:N", title=None), row=alt.Row("seed:N", title="seed"))
        .resolve_scale(y="independent")
    )


def gradients(tables: Tables) -> Figure:
    """W after a step (E.1), the gradient that alternates (E.2), and the curriculum (8.5)."""
    from elegans.studies.induction.even_odd_claims import LARGE, steps_at

    with look.context():
        picture = look.figure(12.0, 3.6)
        left, middle, right = picture.subplots(1, 3)
        weight = steps_at(tables, LARGE, "W", 1).groupby(["i", "j"])["measured"].mean().unstack()
        left.imshow(weight, cmap="YlGnBu", vmin=0)
        for (i, j), value in np.ndenumerate(weight.to_numpy()):
            left.text(j, i, f"{value:.4f}", ha="center", va="center")
        left.set_xticks([0, 1], ["1", "2"])
        left.set_yticks([0, 1], ["1", "2"])
        left.set(title="W after one step, mean of seeds")
        diagonal = tables["diagonal"]
        middle.plot(diagonal["j"], diagonal["scaled"], "o", label="exact")
        middle.plot(diagonal["j"], diagonal["printed"], "-", lw=1, label="printed formula")
        middle.set(
            title="second gradient of v, from the diagonal",
            xlabel="position j",
            ylabel="over (t-j+1)(t-j+2)/2",
        )
        middle.legend()
        for epsilon, part in tables["curriculum"].groupby("epsilon"):
            later = part[part["step"] > 1]
            right.plot(
                later["step"], later["contamination"], "o-", ms=4, label=f"exact, ε = {epsilon:g}"
            )
        trained = tables["contamination"]
        right.plot(
            trained["step"],
            trained["contamination"],
            "x",
            color="black",
            label=f"trained, ε = {tables.facts['engine_epsilon']:g}",
        )
        right.axhline(0, color="tab:gray", lw=0.8)
        right.set_xticks([2, 3, 4])
        right.set(title="curriculum: the rest of v over v₂", xlabel="step")
        right.set_ylim(-0.2, 1.15 * max(2.0, trained[trained["step"] > 1]["contamination"].max()))
        right.legend()
    return picture
