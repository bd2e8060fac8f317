"""The minimal model: its first steps, both layers in time; and the stationary law."""

import altair as alt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from elegans.report import look
from elegans.report.result import Tables
from elegans.studies.induction.even_odd_claims import LARGE, before_the_drop, steps_at
from elegans.studies.induction.figures.stages import COLOURS


def positions(tables: Tables) -> Figure:
    """Left: v after one and two steps beside the population's. Right: positions in time."""
    table = tables["positions"]
    labels = {"minimal": "$v_j$", "transformer": "attention by position alone"}
    models = list(table.groupby("model", sort=False))
    with look.context():
        picture = look.figure(
            4.2 * (1 + len(models)),
            4.1,
            "Where the first layer looks: at even positions first, then at the token before (2)",
        )
        first, *rest = picture.subplots(1, 1 + len(models))
        for step, colour in ((1, "tab:blue"), (2, "tab:orange")):
            part = steps_at(tables, LARGE, "v", step)
            part = part[part["i"] <= table["position"].max()]
            first.plot(part["i"], part["measured"], "o", ms=4, color=colour, alpha=0.6)
            line = part.drop_duplicates("i")
            label = f"after step {step} (dots: trained)"
            first.plot(line["i"], line["exact"], "-", color=colour, label=label)
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
    with look.context():
        picture = look.figure(12.0, 3.9, "First steps of the minimal model, beside their theory")
        left, middle, right = picture.subplots(1, 3)
        weight = steps_at(tables, LARGE, "W", 1).groupby(["i", "j"])["measured"].mean().unstack()
        left.imshow(weight, cmap="YlGnBu", vmin=0)
        for (i, j), value in np.ndenumerate(weight.to_numpy()):
            ink = "white" if i == j else "black"
            left.text(j, i, f"{value:.4f}", ha="center", va="center", color=ink)
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
        trained = tables["contamination"].query("step > 1")
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
        right.legend()
    return picture


def layers(tables: Tables) -> Figure:
    """Top: W in time. Bottom: alignment and lead, the lead with W held, and slower W."""
    table, nearest = tables["layers"], tables["curves"]
    usual = table[table["arm"] == "usual"]
    run = usual[usual["seed"] == usual["seed"].min()].sort_values("step")
    chosen = run.iloc[np.unique(np.linspace(0, len(run) - 1, 4).astype(int))]
    with look.context():
        picture = look.figure(11.0, 6.2, "Both layers of the minimal model while it trains")
        top, bottom = np.asarray(picture.subfigures(2, 1, height_ratios=(2, 3)))
        for axes, (_, row) in zip(top.subplots(1, len(chosen)), chosen.iterrows(), strict=True):
            weight = np.array([[row["w_11"], row["w_12"]], [row["w_21"], row["w_22"]]])
            axes.imshow(weight, cmap="RdBu_r", vmin=-run["w_11"].max(), vmax=run["w_11"].max())
            for (i, j), value in np.ndenumerate(weight):
                ink = "white" if value > 0.6 * run["w_11"].max() else "black"
                axes.text(j, i, f"{value:.3f}", ha="center", va="center", fontsize=8, color=ink)
            axes.set(title=f"W at step {row['step']:,.0f}", xticks=[], yticks=[])
        left, middle, right = bottom.subplots(1, 3)
        for name, colour in (("alignment", "tab:orange"), ("lead", "tab:blue")):
            for seed, line in usual.groupby("seed"):
                left.plot(
                    line["step"],
                    line[name],
                    color=colour,
                    lw=0.8,
                    alpha=0.6,
                    label=name if seed == usual["seed"].min() else None,
                )
        left.set(title="W aligned, v₂ ahead", xlabel="steps", ylim=(-0.1, 1.05))
        left.legend()
        held = [name for name in dict.fromkeys(table["arm"]) if "held" in name]
        for i, name in enumerate(["usual", *held]):
            part = table[table["arm"] == name].groupby("step")["lead"].median()
            middle.plot(part.index, part, color=f"C{i}", label=name)
        middle.axhline(0, color="tab:gray", lw=0.8)
        middle.set(title="lead of v₂, median of seeds", xlabel="steps")
        middle.legend()
        slowed = nearest[nearest["ratio"] > 0]
        names = list(dict.fromkeys(slowed["arm"]))
        for i, name in enumerate(names):
            part = slowed[(slowed["arm"] == name) & (slowed["seed"] == slowed["seed"].min())]
            shades = [COLOURS[each] for each in part["nearest"]]
            right.scatter(part["step"], np.full(len(part), i), c=shades, marker="s", s=30)
        right.set_yticks(range(len(names)), names)
        right.set(title="nearest strategy, seed 0", xlabel="steps", ylim=(-0.7, len(names) - 0.3))
        for name in ("uniform", "unigram", "bigram"):
            right.scatter([], [], c=COLOURS[name], marker="s", label=name)
        right.legend(ncols=3, loc="upper center", fontsize=7)
        for axes in (left, middle, right):
            look.few_thousands(axes)
    return picture


def layers_chart(tables: Tables) -> alt.TopLevelMixin:
    """Alignment of W and the lead of v_2, a line per run."""
    long = tables["layers"].melt(
        id_vars=["arm", "seed", "step"], value_vars=["alignment", "lead"], var_name="layer"
    )
    long = long.assign(layer=long["layer"].map({"alignment": "W aligned", "lead": "v_2 ahead"}))
    return (
        alt.Chart(long)
        .mark_line()
        .encode(
            x=alt.X("step:Q", title="training step"),
            y=alt.Y("value:Q", title="share"),
            color=alt.Color("layer:N", title=None),
            detail="seed:N",
            tooltip=["arm", "seed", "step", "layer", alt.Tooltip("value", format=".3f")],
        )
        .properties(width=260, height=180)
        .facet(facet=alt.Facet("arm:N", title=None), columns=3)
    )


def stationary(tables: Tables) -> Figure:
    """Left: what the first token is worth. Right: how far stationary laws are from uniform."""
    first, laws = tables["first_token"], tables["laws"]
    with look.context():
        picture = look.figure(8.5, 3.9, "Two remarks about chains in their stationary law")
        left, right = picture.subplots(1, 2)
        errors = np.stack([first["gap"] - first["low"], first["high"] - first["gap"]])
        left.errorbar(first["length"], first["gap"], errors, fmt="o-", capsize=3)
        left.set(
            title="loss of bigrams above the optimum",
            xlabel="tokens read",
            ylabel="nats",
            xscale="log",
            yscale="log",
        )
        states, distance = laws["states"], laws["distance"]
        errors = np.stack([distance - laws["low"], laws["high"] - distance])
        right.errorbar(states, distance, errors, fmt="o", capsize=3, label="root mean square")
        right.plot(states, laws["largest"], "s", ms=4, color="tab:gray", label="largest")
        right.plot(states, laws["theory"], "--", color="tab:red", lw=1, label="formula")
        right.set(
            title="stationary law: deviation from uniform",
            xlabel="states k",
            ylabel="relative deviation",
            xscale="log",
            yscale="log",
        )
        right.legend()
        left.set_xticks(first["length"], [str(length) for length in first["length"]])
        right.set_xticks(states, [str(k) for k in states])
        right.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        right.yaxis.set_major_formatter(FormatStrFormatter("%g"))
        for axis in (left.xaxis, right.xaxis, right.yaxis):
            axis.set_minor_formatter(NullFormatter())
    return picture
