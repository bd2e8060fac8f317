"""What the study of the matrix game claims."""

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import bootstrap
from elegans.studies.groups.networks import over_seeds

ROUNDING = 1e-10  # relative, of margins in float64
GONE = 0.01  # a share that counts as none
ABSENT = 1e-9  # a share of the exact optimum that is zero up to rounding
NEAR_OPTIMUM = 0.99
NEAR_SHARE = 0.10  # relative, of the share of a representation that the optimum uses
RATE = (0.8, 1.25)  # measured over predicted fall of a share's logarithm


def networks_meet_the_bound(tables: Tables) -> Claim:
    """The built network has the margin of the bound, and no neuron exceeds the bound."""
    groups = tables["groups"].dropna(subset="network")
    gap = (1 - groups["network"] / groups["bound"]).abs()
    excess = groups["neuron"] / groups["bound"] - 1
    return Claim(
        text=(
            "For every group a network can be built whose margin equals the bound that holds for "
            "all networks"
        ),
        source="thesis, appendix D.9, for all finite groups",
        measured=(
            f"{len(groups)} groups; network and bound differ by {gap.max():.1e} at most, and the "
            f"best neuron found exceeds the bound by {max(0.0, excess.max()):.1e} and is short of "
            f"it by {max(0.0, -excess.min()):.1e} at most"
        ),
        against=f"a relative difference, or an excess, of more than {ROUNDING:g} in any group",
        holds=len(groups) > 0 and gap.max() <= ROUNDING and excess.max() <= ROUNDING,
    )


def theorem_holds_under_its_condition(tables: Tables) -> Claim:
    """Where Theorem 7.9's condition holds the game has the value of its formula."""
    groups = tables["groups"]
    kept = groups[groups["condition"] <= 1e-9]
    off = (kept["formula"] / kept["value"] - 1).abs().max()
    return Claim(
        text="Where the condition on the character table holds, the closed form is the margin",
        source="thesis, Theorems 7.7 and 7.9, with commutants for groups that are not real",
        measured=f"{len(kept)} of {len(groups)} groups; largest relative difference {off:.1e}",
        against=f"a relative difference of more than {ROUNDING:g} in any of these groups",
        holds=len(kept) > 0 and off <= ROUNDING,
    )


def condition_matters(tables: Tables) -> Claim:
    """Where the condition fails the formula is below the margin, and not only by rounding."""
    groups = tables["groups"]
    failed = groups[groups["condition"] > 1e-9]
    gain = failed["value"] / failed["formula"] - 1
    listed = ", ".join(
        f"{name} {value:.2%}" for name, value in zip(failed["group"], gain, strict=True)
    )
    leaves_out = failed["never"] > 0
    return Claim(
        text="Where the condition fails, leaving representations out gives a larger margin",
        source="thesis, appendix D.9.2",
        measured=f"gain over the closed form: {listed}; representations never used in "
        f"{int(leaves_out.sum())} of {len(failed)}",
        against="a group whose gain is zero, or none that leaves a representation out",
        holds=len(failed) > 0 and gain.min() > ROUNDING and bool(leaves_out.any()),
    )


def forbidden_representation_dies(tables: Tables) -> Claim:
    """In training the representation that the exact optimum leaves out dies as predicted."""
    optimum, decay = tables["optimum"], tables["decay"]
    absent = optimum[optimum["theory"] <= ABSENT]
    names = ", ".join(map(str, absent["representation"].unique())) or "none"
    start, end = (absent.groupby("seed")[f"share_{when}"].sum() for when in ("start", "end"))
    falls = []
    for _, part in decay.groupby("seed"):
        lines = part.groupby("time")[["share", "predicted"]].sum()
        lines = lines[(lines > 0).all(axis=1)]
        if len(lines) > 1:
            change = np.log(lines.iloc[-1] / lines.iloc[0])
            falls.append(float(change["share"] / change["predicted"]))
    interval = bootstrap(falls, np.mean) if falls else None
    is_predicted = interval is not None and RATE[0] < interval.low and interval.high < RATE[1]
    largest = float(end.max()) if len(end) else np.nan
    return Claim(
        text=(
            f"Trained on {tables.facts['trained']}, the representation that the optimum leaves out "
            "dies, at the predicted rate"
        ),
        source="this study: gradient flow at the exact optimum of finite penalty",
        measured=(
            f"representation {names}: share from {start.mean():.1%} to {largest:.2%} at most; its "
            "logarithm falls late in training by "
            f"{'nothing' if interval is None else format(interval, '.2f')} times the prediction"
        ),
        against=(
            f"a share of {GONE:.0%} or more at the end, or an interval of that ratio that leaves "
            f"{RATE[0]} to {RATE[1]}"
        ),
        holds=largest < GONE and is_predicted,
        interval=interval,
    )


def training_reaches_the_optimum(tables: Tables) -> Claim:
    """The trained networks have the margin of the exact optimum at their penalty."""
    ends = tables["ends"]
    interval = over_seeds(ends["ratio"] / ends["theory_ratio"], 0.0)
    return Claim(
        text=f"Trained on {tables.facts['trained']}, the margin is that of the exact optimum",
        source="this study: the exact optimum of finite penalty",
        measured=(
            f"margin / optimum's margin {interval:.4f}; {ends['ratio'].mean():.4f} of the largest "
            f"margin, the optimum {ends['theory_ratio'].mean():.4f}; norm cubed "
            f"{ends['norm'].mean():.1f}, the optimum {ends['theory_norm'].mean():.1f}"
        ),
        against=f"an interval that goes below {NEAR_OPTIMUM}",
        holds=interval.low >= NEAR_OPTIMUM,
        interval=interval,
    )


def shares_are_those_of_the_optimum(tables: Tables) -> Claim:
    """Representations that the exact optimum uses have its shares; at the start they do not."""
    used = tables["optimum"][tables["optimum"]["theory"] > ABSENT]
    off = {
        when: (used[f"share_{when}"] / used["theory"] - 1).abs().groupby(used["seed"]).max()
        for when in ("start", "end")
    }
    interval = over_seeds(off["end"], np.inf)
    means = used.groupby("representation", sort=False)[["share_end", "theory"]].mean()
    listed = "; ".join(
        f"{name} {row['share_end']:.3f}, predicted {row['theory']:.3f}"
        for name, row in means.iterrows()
    )
    return Claim(
        text=f"Trained on {tables.facts['trained']}, norm shares are those of the exact optimum",
        source="this study: the exact optimum of finite penalty",
        measured=(
            f"largest relative difference {interval:.2%}, at the start {off['start'].mean():.0%}; "
            f"{listed}"
        ),
        against=f"an interval that reaches {NEAR_SHARE:.0%}, or a start that does not",
        holds=interval.high <= NEAR_SHARE < off["start"].min(),
        interval=interval,
    )
