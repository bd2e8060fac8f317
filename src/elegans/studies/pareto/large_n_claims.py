"""What is claimed of dense and sparse inits as n grows, paired by seed."""

import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import in_words, wilson
from elegans.studies.pareto.scores import gain, positive_claim, seed_means

SOURCE = "Pareto paper, appendix C.1 (3), Figure 4"
GROWING, FIXED = "width grows as n²", "one width"  # how width goes with n
GAP = "steps spared beyond the dense init's: "


def gaps(tables: Tables, rule: str) -> dict[int, pd.Series]:
    """By n and seed, the share of steps that the sparse init spares beyond the dense one."""
    runs = tables["runs"][tables["runs"]["rule"] == rule]
    return {
        int(str(n)): seed_means(part, {"init": "2-sparse"}) - seed_means(part, {"init": "dense"})
        for n, part in runs.groupby("n")
    }


def means(by_n: dict[int, pd.Series]) -> str:
    """The mean gap at each n, in words."""
    return ", ".join(f"{each.mean():+.1%} (n = {n})" for n, each in by_n.items())


def sparse_is_ahead_at_every_n(tables: Tables) -> Claim:
    """Where the width grows, the sparse init spares more steps than the dense one at each n."""
    gains = {f"n = {n}": gain(0 * each, each) for n, each in gaps(tables, GROWING).items()}
    worst = min(gains.values(), key=lambda each: each.low)
    return Claim(
        text="Where the width grows as n², the sparse init is ahead of the dense one at every n",
        source=SOURCE,
        measured=GAP + in_words(gains, "{value:+.1%} ({name})"),
        against="an n at which the interval of the gain reaches down to zero",
        holds=worst.low > 0,
        interval=worst,
    )


def dense_fails_where_sparse_learns(tables: Tables) -> Claim:
    """Where the width grows, at the largest n no dense network learns, and sparse ones do."""
    runs = tables["runs"][tables["runs"]["rule"] == GROWING]
    part = runs[runs["n"] == runs["n"].max()]
    wins = part.groupby("init")["success"].agg(["sum", "size"])
    rates = {str(init): wilson(int(row["sum"]), int(row["size"])) for init, row in wins.iterrows()}
    return Claim(
        text=(
            f"Within {tables.facts['steps']:,} steps, at the largest n, dense networks fail where "
            "sparse ones of the same width learn"
        ),
        source=SOURCE,
        measured=(
            f"n = {part['n'].max()}, width {part['width'].max():,}, m = "
            f"{part['samples'].max():,}: "
            f"{in_words(rates, '{value:.0%} ({name})')}"
        ),
        against=(
            "a dense run that learns, or an interval of the sparse init that overlaps the dense "
            "one's"
        ),
        holds=rates["dense"].value == 0 and rates["2-sparse"].low > rates["dense"].high,
        interval=rates["2-sparse"],
    )


def the_gap_grows_with_n(tables: Tables) -> Claim:
    """Where the width grows, the sparse init's advantage is larger at the largest n."""
    by_n = gaps(tables, GROWING)
    growth = gain(by_n[min(by_n)], by_n[max(by_n)])
    return positive_claim(
        "Where the width grows as n², the sparse init's advantage grows with n",
        SOURCE,
        f"{GAP}{means(by_n)}; growth from n = {min(by_n)} to {max(by_n)} {growth:+.1%}",
        growth,
        "growth",
    )


def the_gap_shrinks_at_one_width(tables: Tables) -> Claim:
    """At one width the advantage is smaller at the largest n, as lucky neurons are rarer."""
    by_n = gaps(tables, FIXED)
    loss = gain(by_n[max(by_n)], by_n[min(by_n)])
    cells = tables["cells"]
    chances = cells[(cells["rule"] == FIXED) & (cells["init"] == "2-sparse")]["theory"]
    return positive_claim(
        "At one width the sparse init's advantage shrinks with n, as lucky neurons get rarer",
        "this study: the chance of a lucky neuron",
        f"{GAP}{means(by_n)}, where the chance of a lucky neuron is "
        + ", ".join(f"{chance:.0%}" for chance in chances)
        + f"; loss from n = {min(by_n)} to {max(by_n)} {loss:+.1%}",
        loss,
        "loss",
    )
