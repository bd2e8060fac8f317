"""The claims of the Pareto paper about tables (section 4.2, appendix C.3), checked on its runs.

What it says of widths and starts is checked under each optimiser: which one it used is not said.
"""

import itertools

import pandas as pd
from scipy.stats import wilcoxon

from elegans.studies.tables.baselines import FOREST
from elegans.studies.unported import Claim

PART = ["dataset", "fraction", "start", "depth", "weight_decay"]
SMALL = (0.1, 0.01)  # fractions at which the sparse start is said to help most
NEAR = 0.01  # one point of error
CHANCE = 0.05
OPTIMIZERS = {"sgd": "SGD", "adam": "Adam"}


def check(runs: pd.DataFrame, table: pd.DataFrame, best: pd.DataFrame) -> tuple[Claim, ...]:
    """All claims, for runs of networks, a table of cells, and each learner's best cells."""
    networks = table[table["width"].notna()]
    by_optimizer = []
    for name in networks["optimizer"].drop_duplicates():
        some = runs[runs["optimizer"] == name]
        by_optimizer.append(width_never_hurts(networks[networks["optimizer"] == name]))
        by_optimizer += [
            sparse_beats_dense(some, f) for f in SMALL if (some["fraction"] == f).any()
        ]
    return (
        *by_optimizer,
        near_the_paper(best, str(networks["learner"].iloc[0])),
        beats_forests(best, str(networks["learner"].iloc[0])),
    )


def width_never_hurts(networks: pd.DataFrame) -> Claim:
    """No wider network has an interval that is wholly above that of a narrower one."""
    pairs = [
        (narrow, wide)
        for _, part in networks.groupby(PART, sort=False)
        for (_, narrow), (_, wide) in itertools.combinations(
            part.sort_values("width").iterrows(), 2
        )
    ]
    worse = [(a, b) for a, b in pairs if b["low"] > a["high"]]
    better = sum(b["high"] < a["low"] for a, b in pairs)
    measured = (
        f"{len(pairs)} pairs of widths: the wider is better beyond the intervals in {better}, "
        f"worse in {len(worse)}"
    )
    if worse:
        a, b = max(worse, key=lambda pair: pair[1]["median"] - pair[0]["median"])
        measured += (
            f"; most on {a['dataset']} at fraction {a['fraction']:g}, {a['start']}, depth "
            f"{a['depth']}: width {a['width']} {shown(a)}, width {b['width']} {shown(b)}"
        )
    return Claim(
        text=f"{title(networks)}, median test error falls with width, or stays within its interval",
        source="Pareto paper, section 4.2 (2T)",
        measured=measured,
        holds=bool(pairs) and not worse,
    )


def sparse_beats_dense(runs: pd.DataFrame, fraction: float) -> Claim:
    """Over pairs of (data set, seed), each the mean over networks, the sparse start errs less."""
    some = runs[(runs["fraction"] == fraction) & runs["start"].isin(["dense", "2-sparse"])]
    by = ["dataset", "seed", "width", "depth", "weight_decay"]
    pairs = some.pivot(index=by, columns="start", values="error").dropna()
    means = pairs.groupby(["dataset", "seed"], sort=False).mean()
    gain = (means["dense"] - means["2-sparse"]).to_numpy()
    differing = gain[gain != 0]  # as the test does itself, but then it is exact for few pairs
    p = float(wilcoxon(differing, alternative="greater").pvalue) if len(differing) else 1.0
    by_dataset = means.groupby("dataset").mean().mean()
    dense, sparse = float(by_dataset["dense"]), float(by_dataset["2-sparse"])
    return Claim(
        text=(
            f"{title(runs)}, 2-sparse starts beat dense ones at {fraction:.0%} of the data, in the "
            "mean"
        ),
        source="Pareto paper, section 4.2 (3T)",
        measured=(
            f"mean error over data sets: dense {dense:.2%}, 2-sparse {sparse:.2%}; sparse wins "
            f"{int((gain > 0).sum())} of {len(gain)} pairs of (data set, seed), "
            f"Wilcoxon p = {p:.2g}"
        ),
        holds=sparse < dense and p < CHANCE,
    )


def near_the_paper(best: pd.DataFrame, learner: str) -> Claim:
    """On each exact data set, the best network errs at most a point more than the paper's."""
    ours = best[(best["learner"] == learner) & (best["fraction"] == 1.0) & best["is_exact"]]
    ours = ours.dropna(subset="paper")  # a limit of rows leaves nothing to compare with
    gaps = ours["median"] - ours["paper"]
    shown = ", ".join(
        f"{name} {100 * median:.1f}% ({100 * gap:+.1f})"
        for name, median, gap in zip(ours["dataset"], ours["median"], gaps, strict=True)
    )
    return Claim(
        text="With all rows, the best MLP is within 1.0 point of the paper's on exact data sets",
        source="Pareto paper, Table 2",
        measured=shown or "no data set here has all rows of the benchmark's",
        holds=bool(len(ours)) and bool((gaps.abs() <= NEAR).all()),
    )


def beats_forests(best: pd.DataFrame, learner: str) -> Claim:
    """On how many data sets the best network errs less than the best forest, by fraction."""
    grid = best.pivot(index=["dataset", "fraction"], columns="learner", values="median")
    wins = (grid[learner] < grid[FOREST]).groupby("fraction").agg(["sum", "size"])
    counts = ", ".join(
        f"{int(row['sum'])} of {int(row['size'])} at fraction {fraction:g}"
        for fraction, row in wins.sort_index(ascending=False).iterrows()
    )
    return Claim(
        text="Sometimes (on a data set at least, at some fraction) the best MLP beats the forests",
        source="Pareto paper, section 4.2 (2T)",
        measured=f"data sets on which it does: {counts}",
        holds=bool(wins["sum"].sum() > 0),
    )


def title(networks: pd.DataFrame) -> str:
    """How a claim about networks under one optimiser begins."""
    return f"Under {OPTIMIZERS[networks['optimizer'].iloc[0]]}"


def shown(cell: pd.Series) -> str:
    """A cell's median with its interval."""
    return f"{100 * cell['median']:.1f}% [{100 * cell['low']:.1f}, {100 * cell['high']:.1f}]"
