"""What is claimed of lottery tickets, on the tables of that study.

Children of one parent share their initial weights, so whole blocks, a parent's children each, are
resampled; controls without a parent are put into blocks of the same size.
"""

from collections.abc import Sequence

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
POOR = 0.45
PARTIAL = 0.25


@known_failure(
    reason=(
        "Twelve parents are few: the differences are 19 points and more, but against narrow "
        "networks the interval over parents reaches zero."
    ),
    scales=("quick",),
)
def tickets_beat_fresh_neurons(tables: Tables) -> Claim:
    """Tickets, by either norm, succeed more often than neurons that are drawn again."""
    return beat(tables, FRESH, "Tickets learn more often than as many neurons drawn again")


def tickets_beat_other_neurons(tables: Tables) -> Claim:
    """Tickets succeed more often than other neurons of the same parents."""
    return beat(tables, ("others",), "Tickets learn more often than other neurons of their parent")


def of_the_recipe(tables: Tables, name: str) -> pd.DataFrame:
    """The rows of a table under the weight decay of appendix C.1."""
    table = tables[name]
    return table[table["decay"] == tables.facts["decays"][0]]


def beat(tables: Tables, controls: Sequence[str], text: str) -> Claim:
    """That tickets, by either norm, succeed more often than each of the controls."""
    against = "a norm and a control of which the interval of the difference reaches down to zero"
    runs, facts = finished(of_the_recipe(tables, "children")), tables.facts
    gains = {
        f"{ticket} against {control}": gain(runs, ticket, control)
        for ticket in TICKETS
        for control in controls
        if {ticket, control} <= set(runs["arm"])
    }
    if not gains:
        measured = f"none of {facts['parents']} parents learned, so that there is no ticket"
        return Claim(text=text, source=SOURCE, measured=measured, against=against, holds=False)
    worst = min(gains, key=lambda name: gains[name].low)
    arms = of_the_recipe(tables, "arms").set_index("arm")
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


def gain(runs: pd.DataFrame, ticket: str, control: str) -> Interval:
    """The difference in success rate between two arms, resampled by block."""

    def difference(part: pd.DataFrame) -> float:
        success, arm = part["success"].to_numpy(float), part["arm"].to_numpy()
        first, second = success[arm == ticket], success[arm == control]
        return float(first.mean() - second.mean()) if len(first) and len(second) else float("nan")

    return bootstrap_clustered(runs, difference, by="block")


def speed(tables: Tables) -> str:
    """How many steps tickets take beside their parents, in words."""
    arms = of_the_recipe(tables, "arms").set_index("arm")["median_steps"]
    parent = tables.facts["parent_median_steps"][0]
    medians = [arms[arm] for arm in TICKETS if arm in arms.index and np.isfinite(arms[arm])]
    if not medians or not parent:
        return "half of the tickets or of their parents take longer than they were given"
    times = " and ".join(f"{median / parent:.1f}" for median in medians)
    return f"in the median tickets take {times} times as many steps as their parents"


def most_fresh_neurons_fail(tables: Tables) -> Claim:
    """The large majority of networks of fresh neurons fail."""
    runs = finished(of_the_recipe(tables, "children"))
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


def pruning_keeps_the_function(tables: Tables) -> Claim:
    """A check of the prune: at the end of training the heaviest neurons carry the function."""
    text = "At the end of training the neurons of the ticket predict without the others"
    against = f"an interval of the median error of either ticket that reaches {PARTIAL:.0%}"
    errors = of_the_recipe(tables, "pruned").set_index("kept")["pruned_error"]
    if not len(errors):
        measured = "no parent learned, so that there is nothing to prune"
        return Claim(text=text, source=CHECK, measured=measured, against=against, holds=False)
    medians = {kept: bootstrap(part.to_numpy(float)) for kept, part in errors.groupby(level=0)}
    worst = max(TICKETS, key=lambda arm: medians[arm].high)
    return Claim(
        text=text,
        source=CHECK,
        measured="median error of the wide networks, cut to "
        + ", ".join(f"{kept}: {median:.0%}" for kept, median in medians.items()),
        against=against,
        holds=medians[worst].high < PARTIAL,
        interval=medians[worst],
    )
