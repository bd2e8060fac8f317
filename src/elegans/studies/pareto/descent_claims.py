"""What is claimed of sample-wise double descent, paired by seed, both inits together."""

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, wilson
from elegans.studies.pareto.scores import gain, seed_means

SOURCE = "Pareto paper, section 4.1 (4)"
RETURN = "Pareto paper, appendix C.1 (4)"


def weak_and_strong(tables: Tables) -> tuple[float, float]:
    """The paper's weight decay, 0.01, and the strongest of the study."""
    return 0.01, float(max(tables.facts["decays"]))


def drop(tables: Tables, width: int, decay: float) -> pd.Series:
    """By seed, the success rate at `few` samples minus that at `many`."""
    runs, facts = tables["runs"], tables.facts
    cell = {"width": width, "decay": decay}
    rates = [
        seed_means(runs, {**cell, "samples": facts[place]}, "success") for place in ("few", "many")
    ]
    return rates[0] - rates[1]


def sizes(tables: Tables) -> str:
    """The two sizes that are compared, in words."""
    return f"m = {tables.facts['few']:,} and {tables.facts['many']:,}"


def more_data_takes_longer(tables: Tables) -> Claim:
    """At the paper's decay, the narrowest network takes longer with many samples than with few."""
    runs, facts = tables["runs"], tables.facts
    weak, _ = weak_and_strong(tables)
    width = min(facts["widths"])
    part = runs[(runs["width"] == width) & (runs["decay"] == weak)]
    steps = part["steps"].astype(float).where(part["success"], np.inf)
    part = part.assign(steps=steps).dropna(subset="samples")
    grid = part.pivot(index=["init", "seed"], columns="samples", values="steps").reset_index()
    few, many = grid[facts["few"]], grid[facts["many"]]
    longer = (many > few) + 0.5 * (many == few)
    by_seed = longer.groupby(grid["seed"]).mean()
    interval: Interval = wilson(int((by_seed > 0.5).sum()), len(by_seed))
    return Claim(
        text="More examples can take more steps",
        source=SOURCE,
        measured=(
            f"width {width}, weight decay {weak}: medians of {few.median():,.0f} and "
            f"{many.median():,.0f} steps at {sizes(tables)}; longer with more in most runs of "
            f"{interval:.0%} of seeds"
        ),
        against="an interval of that share of seeds that reaches down to one half",
        holds=interval.low > 0.5,
        interval=interval,
    )


def success_falls(tables: Tables) -> Claim:
    """Under strong decay, fewer runs succeed with many samples than with few."""
    _, strong = weak_and_strong(tables)
    narrow = [w for w in tables.facts["widths"] if w <= tables.facts["middle"]]
    drops = pd.concat([drop(tables, width, strong) for width in narrow], axis=1).mean(axis=1)
    interval = gain(0 * drops, drops)
    return Claim(
        text="Success is lost again as examples are added",
        source=SOURCE,
        measured=(
            f"weight decay {strong}, widths up to {max(narrow)}: the success rate falls by "
            f"{interval:.0%} between {sizes(tables)}"
        ),
        against="an interval of the fall that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )


def success_returns(tables: Tables) -> Claim:
    """Under strong decay, success returns with still more samples, and online."""
    runs, facts = tables["runs"], tables.facts
    _, strong = weak_and_strong(tables)
    part = runs[(runs["width"] == facts["middle"]) & (runs["decay"] == strong)]
    more = part[part["samples"].isna() | (part["samples"] > facts["many"])]
    many = seed_means(part, {"samples": facts["many"]}, "success")
    most = more.groupby("seed")["success"].mean()
    interval = gain(many, most)
    return Claim(
        text="With still more examples, or online, success returns",
        source=RETURN,
        measured=(
            f"width {facts['middle']}, weight decay {strong}: {many.mean():.0%} at m = "
            f"{facts['many']:,}, {most.mean():.0%} beyond and online; gain {interval:+.0%}"
        ),
        against="an interval of the gain that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )


def the_drop_vanishes_with_width(tables: Tables) -> Claim:
    """Under strong decay, the fall in success is larger at the middle width than at the widest."""
    _, strong = weak_and_strong(tables)
    middle, widest = tables.facts["middle"], max(tables.facts["widths"])
    falls = {width: drop(tables, width, strong) for width in (middle, widest)}
    interval = gain(falls[widest], falls[middle])
    return Claim(
        text="Wider networks lose less",
        source=SOURCE,
        measured=(
            f"weight decay {strong}: the rate falls by {falls[middle].mean():.0%} at width "
            f"{middle:,} and by {falls[widest].mean():.0%} at width {widest:,}; difference "
            f"{interval:+.0%}"
        ),
        against="an interval of the difference that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )


def the_drop_depends_on_decay(tables: Tables) -> Claim:
    """At the middle width, the fall in success is larger under strong decay."""
    weak, strong = weak_and_strong(tables)
    middle = tables.facts["middle"]
    falls = {decay: drop(tables, middle, decay) for decay in (weak, strong)}
    interval = gain(falls[weak], falls[strong])
    return Claim(
        text="Where success is lost depends on the weight decay",
        source=RETURN,
        measured=(
            f"width {middle}: the rate falls by {falls[weak].mean():.0%} at decay {weak} and by "
            f"{falls[strong].mean():.0%} at decay {strong}; difference {interval:+.0%}"
        ),
        against="an interval of the difference that reaches down to zero",
        holds=interval.low > 0,
        interval=interval,
    )
