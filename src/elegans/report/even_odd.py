"""Pictures of positions: two steps beside their theory, and encodings in time."""

import altair as alt
import numpy as np
from matplotlib.figure import Figure

from elegans.report import look
from elegans.studies.unported import Result

TIMES = 4
ENCODINGS = {"minimal": "$v_j$", "transformer": "attention by position alone"}


def draw(result: Result) -> Figure:
    """Left: v after one and two steps beside the population's. Right: positions in time."""
    longer = result.data["longer"]
    models = list(longer.groupby("model", sort=False))
    with look.context():
        made = look.figure(4.2 * (1 + len(models)), 3.8)
        first, *rest = made.subplots(1, 1 + len(models))
        for step, colour in ((1, "tab:blue"), (2, "tab:orange")):
            part = result.table[result.table["step"] == step]
            part = part[part["position"] <= longer["position"].max()]
            first.plot(part["position"], part["v"], "o", ms=4, color=colour,
                       label=f"after step {step}, every seed")  # fmt: skip
            line = part.groupby("position")["theory"].first()
            first.plot(line.index, line, "-", color=colour, label=f"after step {step}, exact")
        first.set(title="minimal model: the first two steps", ylabel="$v_j$",
                  xlabel="position j (2 is the token before)")  # fmt: skip
        first.legend()
        for axes, (name, part) in zip(rest, models, strict=True):
            own = part[part["seed"] == part["seed"].min()]
            steps = np.unique(own["step"])
            chosen = steps[np.unique(np.linspace(0, len(steps) - 1, TIMES + 1).astype(int))]
            shade = look.colours(own["step"][own["step"].isin(chosen)])
            for step in chosen:
                line = own[own["step"] == step]
                axes.plot(line["position"], line["v"], "o-", ms=3, color=shade[step],
                          label=f"step {step:,}")  # fmt: skip
            axes.set(title=f"{name}: training, seed 0", xlabel="position j",
                     ylabel=ENCODINGS[str(name)])  # fmt: skip
            axes.legend()
    return made


def page(result: Result) -> alt.TopLevelMixin:
    """Positions in time, a line a step."""
    return (
        alt.Chart(result.data["longer"])
        .mark_line(point=True)
        .encode(
            x=alt.X("position:O", title="position j (2 is the token before)"),
            y=alt.Y("v:Q", title="v_j, or attention by position alone"),
            color=alt.Color("step:Q", scale=alt.Scale(scheme="viridis")),
            detail="step:N",
            tooltip=["model", "seed", "step", "position", "v"],
        )
        .properties(width=300, height=260)
        .facet(column="model:N", row="seed:N")
        .resolve_scale(y="independent")
    )
