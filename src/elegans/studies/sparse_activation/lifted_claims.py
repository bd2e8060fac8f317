"""The claims of `lifted-parities`: what is hard for whom, and what is not."""

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap, wilson

SOURCE = "sparse activations paper"
PARITY, ROUNDING = "parity", "rounding"
NARROW, WIDE = "as constructed", "ten times as wide"
EASY, HARD = 0.1, 0.4
UNEXPLAINED = 0.8  # of the variance
FACTOR = 4.0


def error_at(tables: Tables, task: str, size: str, place: int) -> Interval:
    """The mean error of the students of one width at the least (0) or largest (-1) m."""
    trained = tables["trained"]
    part = trained[(trained["task"] == task) & (trained["size"] == size)]
    m = sorted(part["m"].unique())[place]
    return bootstrap(part.loc[part["m"] == m, "error"].to_numpy(float), np.mean)


def students_fail_as_parities_grow(tables: Tables) -> Claim:
    """At a fixed number of steps the error of students goes from small to that of guessing."""
    ends = {size: [error_at(tables, PARITY, size, at) for at in (0, -1)] for size in (NARROW, WIDE)}
    ms = sorted(tables["trained"].loc[tables["trained"]["task"] == PARITY, "m"].unique())
    text = "; ".join(f"{size}: {low:.1%}, then {high:.1%}" for size, (low, high) in ends.items())
    return Claim(
        text="SGD learns small lifted parities and not larger ones, in the same number of steps",
        source=f"{SOURCE}, theorem 3",
        measured=f"error after {tables.facts['steps']:,} steps at m = {ms[0]} and {ms[-1]}: {text}",
        against="an interval above 10% at the least m, or one that reaches below 40% at the most",
        holds=all(low.high < EASY and high.low > HARD for low, high in ends.values()),
        interval=ends[WIDE][1],
    )


def other_learners_do_not(tables: Tables) -> Claim:
    """Linear algebra needs m + 10 rows, and cannot do with m / 2."""
    rows = tables["without_gradients"]
    enough = rows[rows["rows"] > rows["m"]]
    share = wilson(int((enough["elimination"] == 0).sum()), len(enough))
    few = rows[rows["rows"] < rows["m"]]
    wrong = float(few["elimination"].mean())
    return Claim(
        text="Linear algebra on the hidden bits needs ten examples more than there are bits",
        source=f"{SOURCE}, section 4: hardness is that of statistical queries and of SGD",
        measured=(
            f"without error from m + 10 examples in {share:.1%} of {len(enough)} systems, from "
            f"m / 2 with {wrong:.1%}; the network set by hand errs on "
            f"{rows['by_hand'].max():.1%} of all inputs"
        ),
        against=(
            "an interval of the share that reaches 90%, less than 10% of error from m / 2 "
            "examples, or an input that the network set by hand gets wrong"
        ),
        holds=share.low > 0.9 and wrong > EASY and not rows["by_hand"].any(),
        interval=share,
    )


def queries_are_as_many_as_must_be(tables: Tables) -> Claim:
    """Searching all parities takes within a factor 4 of the least number of queries, whoever
    answers."""
    searches = tables["searches"]
    large = searches[searches["m"] > searches["m"].min()]
    ratio = large["queries"] / large["theory"]
    means = ratio.groupby([large["m"], large["answers"]]).mean()
    interval = bootstrap(ratio.to_numpy(float), np.mean)
    return Claim(
        text="Asking about all parities is optimal among statistical queries, to a factor of 4",
        source=f"{SOURCE}, theorem 14: at least (2^m - 9) times the squared tolerance",
        measured=(
            f"mean queries over the bound {interval:.2f}, by m and who answers {means.min():.2f} "
            f"to {means.max():.2f}; {int(searches['success'].sum())} of {len(searches)} searches "
            "end with the parity"
        ),
        against="a mean of 4 or more, or of 1 or less, for some m, or a search that fails",
        holds=bool(searches["success"].all() and (means < FACTOR).all() and (means > 1).all()),
        interval=interval,
    )


def rounding_is_hard_for_students(tables: Tables) -> Claim:
    """Students explain less and less of learning with rounding as it grows."""
    ends = [error_at(tables, ROUNDING, WIDE, at) for at in (0, -1)]
    ms = sorted(tables["trained"].loc[tables["trained"]["task"] == ROUNDING, "m"].unique())
    return Claim(
        text="SGD learns small instances of learning with rounding and not larger ones",
        source=f"{SOURCE}, conjecture 16",
        measured=(
            f"unexplained variance of wide students after {tables.facts['rounding_steps']:,} "
            f"steps: {ends[0]:.1%} at m = {ms[0]}, {ends[1]:.1%} at m = {ms[-1]}"
        ),
        against="an interval above 10% at the least m, or one that reaches below 80% at the most",
        holds=ends[0].high < EASY and ends[1].low > UNEXPLAINED,
        interval=ends[1],
    )


def rounding_is_not_linear(tables: Tables) -> Claim:
    """The rule as printed is solved by linear algebra, the rounding is not."""
    linear = tables["linear"]
    printed = linear.loc[linear["rule"] == "modulus", "error"]
    rounded = bootstrap(linear.loc[linear["rule"] == "rounding", "error"].to_numpy(float), np.mean)
    return Claim(
        text="Learning with rounding as printed is linear, rounding itself is not",
        source=f"{SOURCE}, definition 15 (docs/errata.md)",
        measured=(
            f"linear algebra errs on {printed.max():.1%} of inputs at most with the printed rule, "
            f"on {rounded:.1%} with rounding, the mean of {(linear['rule'] == 'rounding').sum()} "
            "systems"
        ),
        against="an error with the printed rule, or an interval below 40% with rounding",
        holds=not printed.any() and rounded.low > HARD,
        interval=rounded,
    )


def addresses_are_recovered(tables: Tables) -> Claim:
    """On fair bits gated networks are recovered exactly where polynomials are not enough."""
    gates = tables["gates"]
    polynomial = gates[[name for name in gates if str(name).startswith("degree_")]].min(axis=1)
    interval = bootstrap(polynomial.to_numpy(float), np.mean)
    return Claim(
        text=(
            "On fair bits a learner that looks for addresses recovers gated networks, where "
            "polynomials of degree 3 do not"
        ),
        source=f"{SOURCE}, open question: algorithms beyond low degree",
        measured=(
            f"n = {tables.facts['gate_n']}, {tables.facts['gate_rows']:,} examples: at most "
            f"{gates['addresses'].max():.1g} of the variance is left, {int(gates['right'].sum())} "
            f"of {len(gates)} addresses are right; the best polynomial leaves {interval:.1%}"
        ),
        against="an error above 1e-6 of the variance, or an interval that reaches below 20%",
        holds=bool(gates["right"].all() and (gates["addresses"] < 1e-6).all())
        and interval.low > 0.2,
        interval=interval,
    )
