"""What is claimed of lottery tickets, on the tables of that study.

Children of one parent share their initial weights, so whole blocks, a parent's children each, are
resampled; controls without a parent are put into blocks of the same size.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, bootstrap_clustered, wilson
from elegans.studies.pareto.recipe import finished
from elegans.studies.study import known_failure

SOURCE = "Pareto paper, appendix C.2, Figure 5"
CHECK = "this study's check of the prune"
TICKETS = ("ticket, in", "ticket, in x out")
FRESH = ("fresh", "narrow")
POOR = 0.45  # from this error on a network knows nothing
PARTIAL = 0.25  # error of one that misses one kink of the parity


@known_failure(
    reason=(
        "at n = 50, under this decay, nearly all networks of five neurons end with one answer for "
        "all examples (96% and more of those that fail, tickets or not): weights shrink by half in "
        "700 steps, and wide networks take 21,000 and more to learn, half of those that do 50,000"
    ),
    scales=("laptop",),
)
def tickets_beat_fresh_neurons(tables: Tables) -> Claim:
    """Tickets, by either norm, succeed more often than neurons that are drawn again."""
    return beat(tables, FRESH, "Tickets learn more often than as many neurons drawn again")


@known_failure(
    reason="at n = 50, under this decay, tickets and other neurons alike end as a constant",
    scales=("laptop",),
)
def tickets_beat_other_neurons(tables: Tables) -> Claim:
    """Tickets succeed more often than other neurons of the same parents."""
    return beat(tables, ("others",), "Tickets learn more often than other neurons of their parent")


def under(tables: Tables, name: str, decay: float | None = None) -> pd.DataFrame:
    """The rows of a table under a weight decay, by default that of appendix C.1."""
    table = tables[name]
    return table[table["decay"] == (tables.facts["decays"][0] if decay is None else decay)]


def beat(tables: Tables, controls: Sequence[str], text: str) -> Claim:
    """That tickets, by either norm, succeed more often than each of the controls."""
    against = "a norm and a control of which the interval of the difference reaches down to zero"
    facts = tables.facts
    gains = differences(finished(under(tables, "children")), controls, "success")
    if not gains:
        measured = f"none of {facts['parents']} parents learned, so that there is no ticket"
        return Claim(text=text, source=SOURCE, measured=measured, against=against, holds=False)
    worst = min(gains, key=lambda name: gains[name].low)
    arms = under(tables, "arms").set_index("arm")
    shown = [arm for arm in (*TICKETS, *controls) if arm in arms.index]
    partial = ", ".join(f"{arm} {arms['partial'][arm]:.0%}" for arm in shown)
    return Claim(
        text=text,
        source=SOURCE,
        measured=(
            f"success within {facts['steps']:,} steps: "
            + ", ".join(f"{arm} {arms['rate'][arm]:.0%}" for arm in shown)
            + f"; least difference {gains[worst]:+.0%} ({worst}); an error of "
            f"{facts['partial']:.0%} is reached by {partial}; {speed(tables)}"
        ),
        against=against,
        holds=gains[worst].low > 0,
        interval=gains[worst],
    )


def differences(runs: pd.DataFrame, controls: Sequence[str], column: str) -> dict[str, Interval]:
    """How much larger the mean of a column is for tickets than for controls, by their names."""
    return {
        f"{ticket} against {control}": gain(runs, ticket, control, column)
        for ticket in TICKETS
        for control in controls
        if {ticket, control} <= set(runs["arm"])
    }


def gain(runs: pd.DataFrame, ticket: str, control: str, column: str) -> Interval:
    """The difference of a column's mean between two arms, resampled by block."""

    def difference(part: pd.DataFrame) -> float:
        values, arm = part[column].to_numpy(float), part["arm"].to_numpy()
        first, second = values[arm == ticket], values[arm == control]
        return float(first.mean() - second.mean()) if len(first) and len(second) else float("nan")

    return bootstrap_clustered(runs, difference, by="block")


def speed(tables: Tables) -> str:
    """How many steps tickets take beside their parents, in words."""
    arms = under(tables, "arms").set_index("arm")["median_steps"]
    parent = tables.facts["parent_median_steps"][0]
    medians = [arms[arm] for arm in TICKETS if arm in arms.index and np.isfinite(arms[arm])]
    if not medians or not parent:
        return "fewer than half of the tickets, or of their parents, succeeded in time"
    times = " and ".join(f"{median / parent:.1f}" for median in medians)
    return f"in the median tickets take {times} times as many steps as their parents"


def most_fresh_neurons_fail(tables: Tables) -> Claim:
    """The large majority of networks of fresh neurons fail."""
    runs = finished(under(tables, "children"))
    rates = {}
    for arm in FRESH:
        part = runs[runs["arm"] == arm]
        rates[arm] = wilson(int((~part["success"]).sum()), len(part))
    worst = min(rates, key=lambda arm: rates[arm].low)
    return Claim(
        text="The large majority of networks of as many fresh neurons fail",
        source=SOURCE,
        measured="; ".join(f"{arm}: {rate:.0%} fail" for arm, rate in rates.items()),
        against="a control of which the interval of the share of failures reaches down to one half",
        holds=rates[worst].low > 0.5,
        interval=rates[worst],
    )


def tickets_start_poor(tables: Tables) -> Claim:
    """Before they are trained, tickets know nothing."""
    text = "Tickets start with the error of guessing: what they have is a start, not a solution"
    against = f"a ticket whose error at step 0 is below {POOR:.0%}"
    children = tables["children"]
    errors = children[children["arm"].isin(TICKETS)]["start_error"].dropna()
    if not len(errors):
        measured = "no parent learned, so that there is no ticket"
        return Claim(text=text, source=SOURCE, measured=measured, against=against, holds=False)
    interval = bootstrap(errors.to_numpy())
    return Claim(
        text=text,
        source=SOURCE,
        measured=f"error at step 0: median {interval:.1%}, least {errors.min():.1%}",
        against=against,
        holds=errors.min() >= POOR,
        interval=interval,
    )


@known_failure(
    reason=(
        "five neurons are often too few, and twenty are enough: the function is in the heaviest "
        "neurons, not always in the five heaviest"
    ),
    scales=("quick",),
)
def pruning_keeps_the_function(tables: Tables) -> Claim:
    """A check of the prune: at the end of training the heaviest neurons carry the function."""
    text = "At the end of training the neurons of the ticket predict without the others"
    against = f"an interval of the median error of either ticket that reaches {PARTIAL:.0%}"
    pruned = tables["pruned"]
    if not len(pruned):
        measured = "no parent learned, so that there is nothing to prune"
        return Claim(text=text, source=CHECK, measured=measured, against=against, holds=False)
    medians = {
        "{1}, decay {0:g}".format(*cast(tuple[Any, ...], key)): bootstrap(
            part["pruned_error"].to_numpy(float)
        )
        for key, part in pruned[pruned["kept"].isin(TICKETS)].groupby(["decay", "kept"])
    }
    worst = max(medians, key=lambda name: medians[name].high)
    return Claim(
        text=text,
        source=CHECK,
        measured="median error of the wide networks, cut to "
        + ", ".join(f"{name}: {median:.0%}" for name, median in medians.items()),
        against=against,
        holds=medians[worst].high < PARTIAL,
        interval=medians[worst],
    )


def tickets_learn_sooner_without_decay(tables: Tables) -> Claim:
    """Without weight decay tickets, by either norm, learn sooner than fresh neurons."""
    text = "Without weight decay, so that weights remember their start, tickets learn sooner"
    against = "a norm and a control of which the interval of the difference reaches down to zero"
    facts = tables.facts
    gains = differences(finished(under(tables, "children", 0.0)), FRESH, "early")
    if not gains:
        measured = "no parent learned without weight decay, so that there is no ticket"
        return Claim(text=text, source=SOURCE, measured=measured, against=against, holds=False)
    worst = min(gains, key=lambda name: gains[name].low)
    shares = under(tables, "arms", 0.0).set_index("arm")["early"]
    return Claim(
        text=text,
        source=SOURCE,
        measured=(
            f"an error of {facts['partial']:.0%} within {facts['early']:,} steps: "
            + ", ".join(f"{arm} {share:.0%}" for arm, share in shares.items())
            + f"; least difference to fresh neurons {gains[worst]:+.0%} ({worst})"
        ),
        against=against,
        holds=gains[worst].low > 0,
        interval=gains[worst],
    )
