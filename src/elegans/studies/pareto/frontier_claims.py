"""Who learns from how many samples: claims of the Pareto paper, section 4.1, on the frontier.

A seed is the unit of evidence: the runs of a seed share their data, so cells are pooled within a
seed first, and intervals are over seeds. What is said of time is in `frontier_time_claims`.
"""

import itertools
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import special

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, paired, wilson
from elegans.studies.pareto.frontier_tables import GRID
from elegans.studies.pareto.scores import UNKNOWN
from elegans.studies.study import known_failure

SOURCE = "Pareto paper, section 4.1"
GROUP = ["n", "k", "init"]
LEVEL = 0.05  # chance of a false alarm
MARGIN = 0.05  # loss in success rate that counts as none


def finished(tables: Tables) -> pd.DataFrame:
    """The runs that ended with or without success."""
    return tables["runs"].dropna(subset="success").astype({"success": bool})


def on_grid(tables: Tables) -> pd.DataFrame:
    """Finished runs of the grid: what pools cells must not count the sizes of the zoom too."""
    runs = finished(tables)
    return runs[runs["part"] == GRID]


def groups(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The runs of each task and init, with how these are called."""
    for key, part in runs.groupby(GROUP, sort=False):
        n, k, init = cast(tuple[Any, ...], key)
        yield f"({n}, {k})-parity, {init}", part


def least_samples(part: pd.DataFrame) -> pd.DataFrame:
    """The least m from which each seed's run learns, seeds downwards and widths across."""
    least = part.assign(samples=part["samples"].astype(float).where(part["success"], np.inf))
    return least.groupby(["width", "seed"])["samples"].min().unstack("width")


def shown(chance: float) -> str:
    """A chance in percent; one that would be rounded to zero, as less than what is shown."""
    return f"{chance:.1%}" if chance >= 0.001 else "less than 0.1%"


def width_buys_data(tables: Tables) -> Claim:
    """The widest network learns from fewer samples than the narrowest, seed by seed."""
    wins: dict[str, Interval] = {}
    details = {}
    for name, part in groups(finished(tables).dropna(subset="samples")):
        least = least_samples(part).dropna()
        wide, narrow = least[least.columns.max()], least[least.columns.min()]
        fewer = int((wide < narrow).sum())  # equal numbers count against it
        wins[name] = wilson(fewer, len(least))
        medians = ", ".join(f"{m:,.0f}" for m in least.median())
        details[name] = f"{fewer} of {len(least)} seeds (medians by width {medians})"
    worst = min(wins, key=lambda name: wins[name].low)
    interval = wins[worst]
    return Claim(
        text="Width buys data: the widest network learns from fewer examples than the narrowest",
        source=f"{SOURCE} (2)",
        measured=(
            "the least m from which a seed's run learns is smaller at the largest width in "
            + "; ".join(f"{details[name]} for the {name}" for name in details)
            + f"; at worst {interval:.0%} of seeds"
        ),
        against=(
            "a task and init in which the interval of the share of seeds that need fewer examples "
            "at the largest width reaches down to one half"
        ),
        holds=interval.low > 0.5,
        interval=interval,
    )


def far_fewer_than_parities(tables: Tables) -> Claim:
    """The widest network learns from far fewer than n^k samples, which fixed kernels need."""
    shares: dict[str, Interval] = {}
    for name, part in groups(finished(tables).dropna(subset="samples")):
        least = least_samples(part)
        parities = float(part["n"].iloc[0]) ** float(part["k"].iloc[0])
        widest = least[least.columns.max()].dropna()
        shares[name] = bootstrap(widest.to_numpy() / parities, np.median)
    worst = max(shares, key=lambda name: shares[name].high)
    interval = shares[worst]
    return Claim(
        text="Networks learn from far fewer examples than n^k",
        source=f"{SOURCE} (1)",
        measured=(
            "the least m from which the widest network learns, over n^k, in the median: "
            + "; ".join(f"{share:.2%} for the {name}" for name, share in shares.items())
        ),
        against="a task and init of which the interval of that share reaches 10%",
        holds=interval.high < 0.1,
        interval=interval,
    )


def width_turns_failure_into_success(tables: Tables) -> Claim:
    """At one m, no run of the narrowest network succeeds and all of the widest do.

    Each seed is a pair of runs, the narrowest and the widest. That a fair coin falls the same way
    in all of them has a chance, which is multiplied by the number of columns, that is of every m of
    each task and init.
    """
    columns = []
    for name, part in groups(on_grid(tables)):
        for _, column in part.groupby("samples", dropna=False):
            both = column.pivot(index="seed", columns="width", values="success").sort_index(axis=1)
            pairs = both.iloc[:, [0, -1]].dropna().astype(bool)
            size = column["samples"].iloc[0]
            where = f"{name}, " + ("online" if pd.isna(size) else f"m = {int(size):,}")
            columns.append((where, pairs))
    whole = {
        where: min(1.0, len(columns) * 0.5 ** len(pairs))
        for where, pairs in columns
        if not pairs.iloc[:, 0].any() and pairs.iloc[:, 1].all()
    }
    chance = min(whole.values(), default=1.0)
    return Claim(
        text="Width alone turns failure of every run into success of every run",
        source="Pareto paper, appendix C.1 (2)",
        measured=(
            f"from 0% at the smallest to 100% at the largest width in {len(whole)} of "
            f"{len(columns)} columns ({'; '.join(whole) or 'none'}); the chance of such a column "
            f"among so many, if width made no difference: {shown(chance)}"
        ),
        against=(
            "no column with rates of 0% and 100% in so many seeds that chance does so in "
            f"fewer than {LEVEL:.0%} of studies"
        ),
        holds=chance < LEVEL,
    )


def width_never_hurts(tables: Tables) -> Claim:
    """No wider network succeeds less often than a narrower one on the same data, within a margin.

    Of each pair of widths, success over all m is compared seed by seed. A bar on every interval
    rather than a test of no loss: few seeds make it harder to pass, not easier.
    """
    gains: dict[str, Interval] = {}
    for group, part in groups(on_grid(tables)):
        rates = part.groupby(["width", "seed"])["success"].mean().unstack("width")
        for narrow, wide in itertools.combinations(sorted(rates.columns), 2):
            gain = (rates[wide] - rates[narrow]).dropna().to_numpy()
            gains[f"{group}, widths {narrow} and {wide}"] = bootstrap(gain, np.mean)
    worst = min(gains, key=lambda name: gains[name].low)
    interval = gains[worst]
    better = sum(gain.value > 0 for gain in gains.values())
    return Claim(
        text=f"Width never hurts: no wider network loses {MARGIN:.0%} of success to a narrower one",
        source=f"{SOURCE} (2)",
        measured=(
            f"of {len(gains)} pairs of widths the wider succeeds more often in {better}; the "
            f"interval of the gain in success rate that reaches lowest is {interval:+.1%} ({worst})"
        ),
        against=(
            f"a pair of widths of which the interval of the gain reaches down to {-MARGIN:.0%}: "
            "the wider one may well succeed less often"
        ),
        holds=interval.low > -MARGIN,
        interval=interval,
    )


def sparse_buys_data(tables: Tables) -> Claim:
    """The widest network learns from fewer samples if it starts sparse, seed by seed.

    A seed has one vote, whatever the number of tasks: that of most of its tasks. Seeds without a
    majority say nothing and are left out; they are counted.
    """
    runs = finished(tables).dropna(subset="samples")
    votes = []
    for _, part in runs[runs["width"] == runs["width"].max()].groupby(["n", "k"], sort=False):
        least = {str(init): least_samples(each).iloc[:, 0] for init, each in part.groupby("init")}
        both = pd.DataFrame(least).dropna()
        gain = (both["dense"] - both["2-sparse"]).fillna(0.0)  # both infinite: no difference
        votes.append((gain > 0).astype(int) - (gain < 0).astype(int))
    total = pd.concat(votes).groupby(level="seed").sum()
    fewer, more = int((total > 0).sum()), int((total < 0).sum())
    chance = float(special.bdtr(more, fewer + more, 0.5)) if fewer + more else 1.0
    return Claim(
        text="A sparse initialisation buys data for wide networks",
        source=f"{SOURCE} (3)",
        measured=(
            f"of the widest networks {fewer} seeds need fewer examples from the sparse init, "
            f"{more} more and {len(total) - fewer - more} as many; the chance of that for a fair "
            f"coin: {shown(chance)}"
        ),
        against=f"a chance of {LEVEL:.0%} or more that a fair coin does so",
        holds=chance < LEVEL,
        interval=wilson(fewer, fewer + more) if fewer + more else UNKNOWN,
    )


@known_failure(
    reason=(
        "in 284 of the 360 cells all runs agree, so that the whole grid hardly changes, and what "
        "the sparse init gains at widths from 30 on it loses at width 10, where success falls by 2 "
        "to 4 points on each of the three tasks"
    ),
    scales=("laptop",),
)
def sparse_enlarges(tables: Tables) -> Claim:
    """Over all cells, runs from the sparse init succeed more often; paired by seed."""
    by_seed = on_grid(tables).groupby(["init", "seed"])["success"].mean()
    comparison = paired(by_seed["dense"], by_seed["2-sparse"], np.mean)
    interval = comparison.difference
    rates = on_grid(tables).groupby(["width", "init"])["success"].mean().unstack("init")
    by_width = ", ".join(
        f"{gain:+.0%} at width {width:,}"
        for width, gain in (rates["2-sparse"] - rates["dense"]).items()
    )
    return Claim(
        text="A sparse initialisation enlarges the region in which networks learn",
        source=f"{SOURCE} (3)",
        measured=(
            f"success over the whole grid: dense {by_seed['dense'].mean():.1%}, 2-sparse "
            f"{by_seed['2-sparse'].mean():.1%}; difference {interval:+.1%} over "
            f"{comparison.pairs} seeds ({by_width})"
        ),
        against="an interval of the difference in success rate that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )
