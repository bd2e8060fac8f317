"""The claims of chapter 8 about phases of learning, on the tables of `induction-heads`."""

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import bootstrap, in_words, lowest, paired
from elegans.studies.induction.phases import MOST, STRATEGIES, at_end, counted, share_of_seeds
from elegans.studies.study import known_failure

GROUP = ["model", "states"]
AT_UNIGRAMS = 1.1  # a loss of at most so many times the unigram strategy's is at its level
IID_WAY, DOUBLY_STOCHASTIC_LEFT, DOUBLY_STOCHASTIC_END = 0.8, 0.9, 1 / 3
WAY = 0.8  # from the unigram strategy's loss to the bigram strategy's


def title(model: object, states: object) -> str:
    """How a group of runs is called."""
    return f"{model}, {states} states"


def phases_come_in_order(tables: Tables) -> Claim:
    """Transformers are nearest to uniform, then unigrams, then bigrams, and to nothing else."""
    rates, details = {}, []
    table = tables["phases"]
    for (model, states), part in table[table["model"] == "transformer"].groupby(GROUP):
        hits = part["phases"] == ", ".join(STRATEGIES)
        rates[title(model, states)] = share_of_seeds(hits)
        details.append(f"{counted(hits)} with {states} states")
    interval = lowest(rates)
    return Claim(
        text="A two-layer transformer is nearest to uniform, then unigrams, then bigrams",
        source="thesis, section 8.3.1 and Figure 8.1",
        measured=f"exactly these phases in {', '.join(details)}; at worst {interval:.0%}",
        against="an interval of the share of seeds that reaches down to one half",
        holds=interval.low > MOST,
        interval=interval,
    )


def transformers_end_at_bigrams(tables: Tables) -> Claim:
    """At the end the loss has gone most of the way from unigrams to bigrams."""
    ways, details = {}, []
    table = tables["curves"]
    table = at_end(table[table["model"] == "transformer"], [*GROUP, "seed"])
    for (model, states), part in table.groupby(GROUP):
        gap = part["above_bigram"] - part["above_unigram"]  # of the strategies' losses
        ways[title(model, states)] = bootstrap((-part["above_unigram"] / gap).to_numpy(float))
        above = part["above_bigram"].median()
        details.append(f"{above:.4f} nats above bigrams with {states} states")
    interval = lowest(ways)
    return Claim(
        text="Transformers end close to the bigram strategy, which is all but optimal",
        source="thesis, section 8.3.1 and Figure 8.3",
        measured=(
            f"at the last position, medians over seeds: {', '.join(details)}; of the way from "
            f"unigrams to bigrams at worst {interval:.0%} is done"
        ),
        against=f"an interval of the way that reaches below {WAY:.0%}",
        holds=interval.low > WAY,
        interval=interval,
    )


def minimal_ends_at_bigrams(tables: Tables) -> Claim:
    """The minimal model ends nearest to bigrams."""
    rates, details = {}, []
    table = tables["curves"]
    table = at_end(table[table["model"] == "minimal"], [*GROUP, "seed"])
    for (model, states), part in table.groupby(GROUP):
        hits = part["nearest"] == "bigram"
        rates[title(model, states)] = share_of_seeds(hits)
        above = part["above_bigram"].median()
        details.append(f"{counted(hits)} with {states} states, {above:.3f} nats above bigrams")
    interval = lowest(rates)
    return Claim(
        text="The minimal model ends nearest to bigrams too",
        source="thesis, section 8.3.2 and Figure 8.3",
        measured=f"{'; '.join(details)}: its logits are counts, not their logarithms",
        against="an interval of the share of seeds that reaches down to one half",
        holds=interval.low > MOST,
        interval=interval,
    )


@known_failure(
    reason=(
        "at these learning rates the minimal model is nearest to unigrams for as much of the time "
        "before bigrams as the transformer, though its loss does not stay at their level"
    ),
    scales=("quick",),
)
def minimal_spends_less_time_at_unigrams(tables: Tables) -> Claim:
    """Of the time before bigrams, the minimal model is nearest to unigrams for less."""
    table = tables["phases"]
    share = (table["first_bigram"] - table["first_unigram"]) / table["first_bigram"]
    # Who never gets to unigrams spends no time there; who never gets to bigrams, all of it.
    share = share.where(table["first_unigram"].notna(), 0.0).fillna(1.0)
    by_seed = table.assign(share=share).groupby(["model", "states", "seed"])["share"].mean()
    comparison = paired(by_seed["transformer"], by_seed["minimal"])
    medians = by_seed.groupby("model").median()
    return Claim(
        text="The minimal model spends significantly less time, if any, at unigrams",
        source="thesis, section 8.3.2",
        measured=(
            "of the time before bigrams are nearest, unigrams are for "
            f"{medians['minimal']:.0%} in the minimal model and {medians['transformer']:.0%} in "
            f"the transformer; difference {comparison.difference:+.0%} over {comparison.pairs} "
            "pairs of runs"
        ),
        against="an interval of the difference that reaches up to zero",
        holds=comparison.difference.high < 0,
        interval=comparison.difference,
    )


def at_unigram_level(tables: Tables) -> pd.DataFrame:
    """One row per run: losses elsewhere when its own first falls to the level of unigrams.

    `iid` is the share of the way from the uniform strategy's loss to the unigram strategy's on
    independent tokens, `doubly_stochastic` the loss on such chains over the uniform strategy's;
    zero in runs that never get there.
    """
    rows = []
    for key, part in tables["elsewhere"].groupby([*GROUP, "seed"], sort=False):
        row = {
            **dict(zip([*GROUP, "seed"], key, strict=True)),
            "iid": 0.0,
            "doubly_stochastic": 0.0,
        }
        by = {name: each.set_index("step") for name, each in part.groupby("chains")}
        there = by["dirichlet"]["network"] <= AT_UNIGRAMS * by["dirichlet"]["unigram"]
        if there.any():
            i = int(np.argmax(there.to_numpy()))
            iid, doubly = (by[name].iloc[i] for name in ("iid", "doubly_stochastic"))
            row["iid"] = (iid["uniform"] - iid["network"]) / (iid["uniform"] - iid["unigram"])
            row["doubly_stochastic"] = doubly["network"] / doubly["uniform"]
        rows.append(row)
    return pd.DataFrame(rows)


def plateau_is_unigrams(tables: Tables) -> Claim:
    """When the loss reaches the unigram level, so does that on iid chains, and no other."""
    table = at_unigram_level(tables)
    limits = {"iid": IID_WAY, "doubly_stochastic": DOUBLY_STOCHASTIC_LEFT}
    intervals = {
        (name, group): bootstrap(part[name].to_numpy(float))
        for group, part in table.groupby(GROUP)
        for name in limits
    }
    # The least margin above its own limit decides.
    worst = min(intervals, key=lambda place: intervals[place].low - limits[place[0]])
    medians = table.groupby(GROUP)[list(limits)].median().reset_index()
    return Claim(
        text=(
            "The loss first drops to the level of unigrams, by unigrams: on independent symbols "
            "it has fallen too, and on doubly stochastic chains it has not"
        ),
        source="thesis, section 8.3.1 and Figure E.6",
        measured="; ".join(
            f"{title(row['model'], row['states'])}: {row['iid']:.0%} of the way to unigrams on "
            f"independent symbols, {row['doubly_stochastic']:.0%} of the uniform strategy's loss "
            "on doubly stochastic chains"
            for _, row in medians.iterrows()
        )
        + f" (medians); least against its limit: {intervals[worst]:.0%}",
        against=(
            f"an interval below {IID_WAY:.0%} of the way on independent symbols, or below "
            f"{DOUBLY_STOCHASTIC_LEFT:.0%} of the uniform loss on doubly stochastic chains; or "
            "runs that never reach the level"
        ),
        holds=all(interval.low > limits[name] for (name, _), interval in intervals.items()),
        interval=intervals[worst],
    )


def doubly_stochastic_chains_are_learned_last(tables: Tables) -> Claim:
    """At the end the loss on doubly stochastic chains has fallen, in both models."""
    table = tables["elsewhere"]
    end = at_end(table[table["chains"] == "doubly_stochastic"], [*GROUP, "seed"])
    left = end.assign(left=end["network"] / end["uniform"])
    intervals = {
        title(model, states): bootstrap(part["left"].to_numpy(float), np.median)
        for (model, states), part in left.groupby(GROUP)
    }
    worst = max(intervals, key=lambda name: intervals[name].high)
    return Claim(
        text="With bigrams the loss on doubly stochastic chains falls as well, in both models",
        source="thesis, Figure E.6",
        measured="of the uniform strategy's loss there is left: "
        + in_words(intervals, "{value:.0%} ({name})"),
        against=f"an interval that reaches above {DOUBLY_STOCHASTIC_END:.0%}",
        holds=intervals[worst].high < DOUBLY_STOCHASTIC_END,
        interval=intervals[worst],
    )
