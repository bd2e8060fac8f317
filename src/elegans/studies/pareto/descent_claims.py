"""What is claimed of sample-wise double descent, paired by seed, both inits together."""

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.studies.pareto.recipe import WEIGHT_DECAY
from elegans.studies.pareto.scores import gain, larger, positive_claim, seed_means, seeds_for
from elegans.studies.study import known_failure

SOURCE = "Pareto paper, section 4.1 (4)"
RETURN = "Pareto paper, appendix C.1 (4)"


def weak_and_strong(tables: Tables) -> tuple[float, float]:
    """The weakest weight decay of the study, and the strongest."""
    return float(min(tables.facts["decays"])), float(max(tables.facts["decays"]))


def drop(tables: Tables, decay: float, width: int | None = None) -> pd.Series:
    """By seed, the success rate at `few` samples minus that at `many`; at a width, or all."""
    runs, facts = tables["runs"], tables.facts
    cell = {"decay": decay} | ({} if width is None else {"width": width})
    rates = [
        seed_means(runs, {**cell, "samples": facts[place]}, "success") for place in ("few", "many")
    ]
    return rates[0] - rates[1]


def sizes(tables: Tables) -> str:
    """The two sizes that are compared, in words."""
    return f"m = {tables.facts['few']:,} and {tables.facts['many']:,}"


@known_failure(
    reason=(
        "twelve seeds are few: online training takes a third longer in the median, but not in "
        "enough of the seeds"
    ),
    scales=("quick",),
)
def more_data_takes_longer(tables: Tables) -> Claim:
    """At the paper's decay, the narrowest network takes longer online than with few samples."""
    runs, facts = tables["runs"], tables.facts
    width = min(facts["widths"])
    part = runs[(runs["width"] == width) & (runs["decay"] == WEIGHT_DECAY)]
    part = part.assign(steps=part["steps"].astype(float).where(part["success"], np.inf))
    index = ["init", "seed"]
    few = part[part["samples"] == facts["few"]].set_index(index)["steps"]
    online = part[part["samples"].isna()].set_index(index)["steps"]
    both = pd.DataFrame({"few": few, "online": online}).dropna().reset_index()
    interval = seeds_for(larger(both["online"], both["few"]), both["seed"])
    return Claim(
        text="More examples can take more steps",
        source=SOURCE,
        measured=(
            f"width {width}, weight decay {WEIGHT_DECAY}: medians of "
            f"{both['few'].median():,.0f} steps at m = {facts['few']:,} and "
            f"{both['online'].median():,.0f} online; longer online in most runs of "
            f"{interval:.0%} of seeds"
        ),
        against="an interval of that share of seeds that reaches down to one half",
        holds=interval.low > 0.5,
        interval=interval,
    )


def success_falls(tables: Tables) -> Claim:
    """Under strong decay, fewer runs succeed with many samples than with few."""
    _, strong = weak_and_strong(tables)
    drops = drop(tables, strong)
    interval = gain(0 * drops, drops)
    return positive_claim(
        "Under the stronger weight decay success is lost again as examples are added",
        SOURCE,
        f"weight decay {strong}, all widths: the success rate falls by {interval:.0%} between "
        f"{sizes(tables)}",
        interval,
        "fall",
    )


@known_failure(
    reason=(
        "the rate rises again, but on these seeds its lowest point is at 12,000 samples, before "
        "the 20,000 from which the pilot expected the rise, and the interval reaches zero"
    ),
    scales=("quick",),
)
def success_returns(tables: Tables) -> Claim:
    """Under strong decay, success returns with still more samples, and online."""
    runs, facts = tables["runs"], tables.facts
    _, strong = weak_and_strong(tables)
    part = runs[runs["decay"] == strong]
    more = part[part["samples"].isna() | (part["samples"] > facts["many"])]
    many = seed_means(part, {"samples": facts["many"]}, "success")
    most = more.groupby("seed")["success"].mean()
    interval = gain(many, most)
    return positive_claim(
        "Under the stronger weight decay success returns with still more examples, or online",
        RETURN,
        f"weight decay {strong}, all widths: {many.mean():.0%} at m = {facts['many']:,}, "
        f"{most.mean():.0%} beyond and online; gain {interval:+.0%}",
        interval,
        "gain",
    )


def the_drop_shrinks_with_width(tables: Tables) -> Claim:
    """Under strong decay, the fall in success is larger at the smallest width than the largest."""
    _, strong = weak_and_strong(tables)
    narrow, wide = min(tables.facts["widths"]), max(tables.facts["widths"])
    falls = {width: drop(tables, strong, width) for width in (narrow, wide)}
    interval = gain(falls[wide], falls[narrow])
    return positive_claim(
        "Under the stronger weight decay wider networks lose less",
        SOURCE,
        f"weight decay {strong}: the rate falls by {falls[narrow].mean():.0%} at width {narrow:,} "
        f"and by {falls[wide].mean():.0%} at width {wide:,}; difference {interval:+.0%}",
        interval,
        "difference",
    )


def the_drop_depends_on_decay(tables: Tables) -> Claim:
    """The fall in success is larger under strong decay."""
    weak, strong = weak_and_strong(tables)
    falls = {decay: drop(tables, decay) for decay in (weak, strong)}
    interval = gain(falls[weak], falls[strong])
    return positive_claim(
        "More success is lost under the stronger weight decay",
        RETURN,
        f"all widths: the rate falls by {falls[weak].mean():.0%} at decay {weak} and by "
        f"{falls[strong].mean():.0%} at decay {strong}; difference {interval:+.0%}",
        interval,
        "difference",
    )
