"""The picture of statistical queries: searches by budget, and targets that stay hidden."""

from matplotlib.figure import Figure

from elegans.report import look
from elegans.report.result import Tables


def statistical_queries(tables: Tables) -> Figure:
    """Luck against budget, and blinded supports against tolerance."""
    facts = tables.facts
    picture = look.figure(
        12,
        4.6,
        "What averages up to a tolerance can find: a parity of "
        f"{facts['k']} of {facts['n']} bits by search, {facts['path_k']} of {facts['path_n']} by "
        "gradient descent",
    )
    left, right = picture.subplots(1, 2)
    luck = tables["luck"]
    shade = look.colours(luck["group"])
    for (group, precise, answers), part in luck.groupby(["group", "precise", "answers"]):
        if not precise and answers == "honest":
            continue  # a control, in the table alone
        x = part["budget"] * int(str(group)) / facts["supports"]
        error = look.bars(part, "rate")
        name = f"{answers} answers" if precise else "hidden by an adversary"
        label = f"{group} per query, tolerance {part['tolerance'].iloc[0]:.3g}: {name}"
        marker = ("o" if answers == "honest" else "s") if precise else "x"
        # Dots that would lie upon each other are drawn side by side.
        shift = {"honest": -0.008, "adversarial": 0.008}[str(answers)]
        left.errorbar(
            x + shift, part["rate"], error, fmt=marker, color=shade[group], capsize=2, label=label
        )
    left.plot([0, 1], [0, 1], color="0.5", ls="--", lw=1)
    left.set(xlabel="share of the supports that are asked about", ylabel="searches that succeed")
    left.set(title="Budget buys luck, if answers are precise", ylim=(-0.05, 1.05))
    left.set_yticks([0, 0.25, 0.5, 0.75, 1])
    left.legend(loc="upper left", fontsize=7)
    blinding = tables["blinding"]
    for _, line in blinding.groupby("seed"):
        right.plot(line["tolerance"], line["not_hidden"], color="0.4", marker="o", ms=3, lw=1)
    bound = blinding.drop_duplicates("tolerance")
    right.plot([], [], color="0.4", marker="o", ms=3, label="measured, one line per network")
    label = (
        f"bound rT / (tau² C({facts['path_n']}, {facts['path_k']})): r = {facts['parameters']} "
        f"parameters,\nT = {facts['steps']} steps"
    )
    right.plot(bound["tolerance"], bound["bound"].clip(upper=1), color="crimson", label=label)
    right.set(xscale="log", xlabel="tolerance tau of each gradient", ylim=(-0.03, 1.25))
    right.set(ylabel=f"share of {facts['path_supports']:,} targets not hidden")
    right.set_title("Targets that an adversary cannot hide from gradients")
    right.legend(loc="upper right")
    return picture
