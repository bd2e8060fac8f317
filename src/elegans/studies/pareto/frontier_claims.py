"""The claims of the Pareto paper about the success frontier (section 4.1), on its tables.

A seed is the unit of evidence: the runs of a seed share their data, so cells are pooled within a
seed first, and intervals are over seeds.
"""

import itertools
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import special

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, bootstrap_clustered, paired, wilson

SOURCE = "Pareto paper, section 4.1"
GROUP = ["n", "k", "init"]
LEVEL = 0.05  # chance of a false alarm


def finished(tables: Tables) -> pd.DataFrame:
    """The runs that ended with or without success."""
    return tables["runs"].dropna(subset="success").astype({"success": bool})


def groups(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The runs of each task and init, with how these are called."""
    for key, part in runs.groupby(GROUP, sort=False):
        n, k, init = cast(tuple[Any, ...], key)
        yield f"({n}, {k})-parity, {init}", part


def wider_needs_fewer_samples(tables: Tables) -> Claim:
    """The widest network learns from fewer samples than the narrowest, seed by seed."""
    wins: dict[str, Interval] = {}
    details = {}
    for name, part in groups(finished(tables).dropna(subset="samples")):
        least = part.assign(samples=part["samples"].astype(float).where(part["success"], np.inf))
        least = least.groupby(["width", "seed"])["samples"].min().unstack("width")
        wide, narrow = least[least.columns.max()], least[least.columns.min()]
        fewer = int((wide < narrow).sum())  # equal numbers count against it
        wins[name] = wilson(fewer, len(least))
        details[name] = f"{fewer} of {len(least)} seeds"
    worst = min(wins, key=lambda name: wins[name].low)
    interval = wins[worst]
    return Claim(
        text="The widest network learns from fewer examples than the narrowest",
        source=f"{SOURCE} (1)",
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


def width_never_hurts(tables: Tables) -> Claim:
    """No wider network succeeds less often than a narrower one on the same data, beyond chance.

    Of each pair of widths, the successes over all m are compared seed by seed in a sign test; its
    level is divided by the number of pairs.
    """
    gains: dict[str, np.ndarray] = {}
    for group, part in groups(finished(tables)):
        rates = part.groupby(["width", "seed"])["success"].mean().unstack("width")
        for narrow, wide in itertools.combinations(sorted(rates.columns), 2):
            name = f"{group}, widths {narrow} and {wide}"
            gains[name] = (rates[wide] - rates[narrow]).dropna().to_numpy()
    chances = {name: chance_of_losing(gain) for name, gain in gains.items()}
    worse = [name for name, chance in chances.items() if chance * len(gains) < LEVEL]
    worst = min(gains, key=lambda name: gains[name].mean())
    interval = bootstrap(gains[worst], np.mean)
    better = sum(gain.mean() > 0 for gain in gains.values())
    return Claim(
        text="Width never hurts: a wider network succeeds as often as a narrower one, or more",
        source=f"{SOURCE} (2)",
        measured=(
            f"of {len(gains)} pairs of widths the wider succeeds more often in {better}, and less "
            f"often beyond chance in {len(worse)}; the least gain in success rate is "
            f"{interval:+.1%} ({worst})"
        ),
        against=(
            "a pair of widths of which the wider one succeeds less often in so many seeds that "
            f"chance does so in fewer than {LEVEL:.0%} of studies"
        ),
        holds=not worse,
        interval=interval,
    )


def chance_of_losing(gain: np.ndarray) -> float:
    """The chance that a fair coin gives as few gains among the seeds that differ."""
    wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
    return float(special.bdtr(wins, wins + losses, 0.5)) if wins + losses else 1.0


def sparse_enlarges(tables: Tables) -> Claim:
    """Over all cells, runs from the sparse init succeed more often; paired by seed."""
    by_seed = finished(tables).groupby(["init", "seed"])["success"].mean()
    comparison = paired(by_seed["dense"], by_seed["2-sparse"], np.mean)
    interval = comparison.difference
    return Claim(
        text="A sparse initialisation enlarges the region in which networks learn",
        source=f"{SOURCE} (3)",
        measured=(
            f"success over the whole grid: dense {by_seed['dense'].mean():.1%}, 2-sparse "
            f"{by_seed['2-sparse'].mean():.1%}; difference {interval:+.1%} over "
            f"{comparison.pairs} seeds"
        ),
        against="an interval of the difference in success rate that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )


def fewer_samples_take_longer(tables: Tables) -> Claim:
    """At the least feasible m a run takes longer than the same seed's at the largest m."""
    cells = tables["cells"].dropna(subset="samples")
    feasible = cells[cells["rate"] >= 0.5]
    by = [*GROUP, "width"]
    edges = feasible.groupby(by, sort=False)["samples"].agg(edge="min", largest="max").reset_index()
    successes = finished(tables).query("success").dropna(subset="samples").merge(edges, on=by)
    steps = {
        place: successes[successes["samples"] == successes[place]].set_index([*by, "seed"])["steps"]
        for place in ("edge", "largest")
    }
    pairs = pd.DataFrame(steps).dropna().reset_index()
    distinct = edges[edges["edge"] < edges["largest"]]
    pairs = pairs.merge(distinct[by], on=by)
    text = "Close to the edge fewer examples take more steps"
    against = (
        "an interval of the share of seeds that take longer at the edge that reaches down to "
        "one half"
    )
    if not len(pairs):
        measured = "no width learns from two values of m in at least half of its runs"
        return Claim(
            text=text, source=f"{SOURCE} (4)", measured=measured, against=against, holds=False
        )
    interval = bootstrap_clustered(pairs, lambda part: (part["edge"] > part["largest"]).mean())
    ratio = (pairs["edge"] / pairs["largest"]).median()
    return Claim(
        text=text,
        source=f"{SOURCE} (4)",
        measured=(
            f"of {len(pairs)} pairs of runs that succeed both at the least m at which half of the "
            f"runs do and at the largest m, the former takes longer in {interval:.0%}; in the "
            f"median {ratio:.1f} times as long"
        ),
        against=against,
        holds=interval.low > 0.5,
        interval=interval,
    )
