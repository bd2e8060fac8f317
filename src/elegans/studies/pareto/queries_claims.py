"""What is claimed of statistical queries, on the tables of that study."""

from typing import Any

import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, wilson

LEVEL = 0.05
SEARCH = "Pareto paper, section 3.2"
BLIND = "Pareto paper, Proposition 3"


def kinds(tables: Tables, *, precise: bool, answers: str | None = None) -> pd.DataFrame:
    """The searches with a tolerance below the critical one, or above it."""
    luck = tables["luck"]
    luck = luck[luck["precise"].astype(bool) == precise]
    return luck if answers is None else luck[luck["answers"] == answers]


def budgets_buy_luck(tables: Tables) -> Claim:
    """With precise answers, success is the share of supports asked about, whoever answers."""
    return as_predicted(
        kinds(tables, precise=True),
        "A budget of q queries about g supports each succeeds with probability q g / C(n, k)",
    )


def honest_answers_do_not(tables: Tables) -> Claim:
    """The control: at the same tolerance, a search with honest answers goes on as predicted."""
    return as_predicted(
        kinds(tables, precise=False, answers="honest"),
        "Control: at the tolerance at which an adversary hides the support, honest answers show it",
    )


def as_predicted(luck: pd.DataFrame, text: str) -> Claim:
    """That every success rate is as predicted, up to its interval."""
    level = 1 - LEVEL / len(luck)
    records: list[dict[Any, Any]] = luck.to_dict("records")
    gaps: dict[float, tuple[Interval, float]] = {}
    misses = 0
    for row in records:
        interval = wilson(round(row["rate"] * row["searches"]), int(row["searches"]), level)
        gaps[abs(interval.value - row["predicted"])] = interval, float(row["predicted"])
        misses += not interval.contains(float(row["predicted"]))
    interval, predicted = gaps[max(gaps)]
    return Claim(
        text=text,
        source=SEARCH,
        measured=(
            f"the farthest of {len(luck)} rates is {interval:.0%}, predicted {predicted:.0%}; "
            f"{misses} predictions are outside of their intervals"
        ),
        against=f"a rate whose interval, at level {level:.2%}, does not hold the prediction",
        holds=not misses,
        interval=interval,
    )


def the_adversary_hides(tables: Tables) -> Claim:
    """Above the critical tolerance an adversary hides the support from every search."""
    luck = kinds(tables, precise=False, answers="adversarial")
    successes = round(float((luck["rate"] * luck["searches"]).sum()))
    interval = wilson(successes, int(luck["searches"].sum()))
    return Claim(
        text="With a tolerance of just above 1/(2g), an adversary hides the support",
        source=SEARCH,
        measured=f"{interval:.1%} of {int(luck['searches'].sum())} searches succeed",
        against="a single search that succeeds",
        holds=successes == 0,
        interval=interval,
    )


def blinding_obeys_the_bound(tables: Tables) -> Claim:
    """The share of supports that can be told from coins is at most the bound."""
    blinding = tables["blinding"]
    useful = blinding[blinding["bound"] < 1]
    text = "All but a share r T / (tau^2 C(n, k)) of the targets is hidden from gradient descent"
    against = "a path and tolerance at which more targets are seen, or no bound below 1"
    if not len(useful):
        measured = f"the least bound is {blinding['bound'].min():.3g}: it says nothing here"
        return Claim(text=text, source=BLIND, measured=measured, against=against, holds=False)
    ratio = useful["not_hidden"] / useful["bound"]
    # The share is an exact count over all supports: no interval is needed.
    return Claim(
        text=text,
        source=BLIND,
        measured=(
            f"on {len(useful)} paths and tolerances with a bound below 1 (from "
            f"{useful['bound'].min():.1%}), the targets that are seen are at most "
            f"{ratio.max():.2g} of the bound; over all {len(blinding)}, "
            f"{int((blinding['not_hidden'] > blinding['bound']).sum())} exceed it"
        ),
        against=against,
        holds=bool((blinding["not_hidden"] <= blinding["bound"]).all()),
    )


def precise_answers_give_it_away(tables: Tables) -> Claim:
    """The control: with a small tolerance most supports can be told from coins."""
    blinding = tables["blinding"]
    least = blinding[blinding["tolerance"] == blinding["tolerance"].min()]
    return Claim(
        text="Control: at the smallest tolerance most targets are seen by every path",
        source="this study's control",
        measured=(
            f"at tolerance {least['tolerance'].iloc[0]:g}, {least['not_hidden'].min():.1%} to "
            f"{least['not_hidden'].max():.1%} of the targets over {len(least)} paths"
        ),
        against="a path that sees half of the targets or fewer",
        holds=bool((least["not_hidden"] > 0.5).all()),
    )
