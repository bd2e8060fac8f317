"""What is claimed of sample-wise double descent, paired by seed, both inits together."""

import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import censored_median
from elegans.studies.pareto.scores import gain, is_positive, seed_means

SOURCE = "Pareto paper, section 4.1 (4)"
RETURN = "Pareto paper, appendix C.1 (4)"


def weak_and_strong(tables: Tables) -> tuple[float, float]:
    """The paper's weight decay, 0.01, and the strongest of the study."""
    return 0.01, float(max(tables.facts["decays"]))


def drop(tables: Tables, decay: float, width: int | None = None) -> pd.Series:
    """By seed, the success rate at `few` samples minus that at `many`; at a width, or all."""
    runs, facts = tables["runs"], tables.facts
    runs = runs[(runs["decay"] == decay) & ((runs["width"] == width) | (width is None))]
    few = seed_means(runs, {"samples": facts["few"]}, "success")
    return few - seed_means(runs[runs["samples"].isin(facts["many"])], {}, "success")


def sizes(tables: Tables) -> str:
    """The sizes that are compared, in words."""
    return f"m = {tables.facts['few']:,} and {many(tables)}"


def many(tables: Tables) -> str:
    """The larger sizes, in words."""
    return " or ".join(f"{samples:,}" for samples in tables.facts["many"])


def more_data_takes_longer(tables: Tables) -> Claim:
    """At the paper's decay, the narrowest network takes longer online than with few samples."""
    runs, facts = tables["runs"], tables.facts
    weak, _ = weak_and_strong(tables)
    width = min(facts["widths"])
    part = runs[(runs["width"] == width) & (runs["decay"] == weak)]
    few, online = part[part["samples"] == facts["few"]], part[part["samples"].isna()]
    interval = gain(seed_means(online, {}), seed_means(few, {}))
    medians = [
        censored_median(each["steps"].to_numpy(float), each["success"].to_numpy(bool)).value
        for each in (few, online)
    ]
    return is_positive(
        "More examples can take more steps",
        SOURCE,
        f"width {width}, weight decay {weak}: medians of {medians[0]:,.0f} steps at m = "
        f"{facts['few']:,} and {medians[1]:,.0f} online; steps spared at m = {facts['few']:,} "
        f"beyond those online: {interval:+.1%}",
        interval,
        "difference",
    )


def success_falls(tables: Tables) -> Claim:
    """Under strong decay, fewer runs succeed with many samples than with few."""
    _, strong = weak_and_strong(tables)
    drops = drop(tables, strong)
    interval = gain(0 * drops, drops)
    return is_positive(
        "Success is lost again as examples are added",
        SOURCE,
        f"weight decay {strong}, all widths: the success rate falls by {interval:.0%} between "
        f"{sizes(tables)}",
        interval,
        "fall",
    )


def success_returns(tables: Tables) -> Claim:
    """Under strong decay, success returns with still more samples, and online."""
    runs, facts = tables["runs"], tables.facts
    _, strong = weak_and_strong(tables)
    part = runs[runs["decay"] == strong]
    more = part[part["samples"].isna() | (part["samples"] > max(facts["many"]))]
    low = seed_means(part[part["samples"].isin(facts["many"])], {}, "success")
    most = seed_means(more, {}, "success")
    interval = gain(low, most)
    return is_positive(
        "With still more examples, or online, success returns",
        RETURN,
        f"weight decay {strong}, all widths: {low.mean():.0%} at m = {many(tables)}, "
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
    return is_positive(
        "Wider networks lose less",
        SOURCE,
        f"weight decay {strong}: the rate falls by {falls[narrow].mean():.0%} at width {narrow:,} "
        f"and by {falls[wide].mean():.0%} at width {wide:,}; difference {interval:+.0%}",
        interval,
        "difference",
    )


def the_drop_depends_on_decay(tables: Tables) -> Claim:
    """The narrowest network's fall in success is larger under strong decay."""
    weak, strong = weak_and_strong(tables)
    width = min(tables.facts["widths"])
    falls = {decay: drop(tables, decay, width) for decay in (weak, strong)}
    interval = gain(falls[weak], falls[strong])
    return is_positive(
        "Where success is lost depends on the weight decay",
        RETURN,
        f"width {width}: the rate falls by {falls[weak].mean():.0%} at decay {weak} and by "
        f"{falls[strong].mean():.0%} at decay {strong}; difference {interval:+.0%}",
        interval,
        "difference",
    )
