"""What the study of modular addition claims."""

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.studies.groups.networks import over_seeds

NEAR_MARGIN = 0.99
NEAR_THEORY = 0.02  # relative, of norm and loss
NEAR_SHARE = 0.10  # relative, of the norm share per frequency
PURE = 0.99  # of a vector's power, in one frequency
PHASE = 0.1  # radians; half a turn would be 3.14
RECTIFIED = (0.8, 0.98)  # mean maximal power that counts as "around 0.9"


def of(tables: Tables, name: str, activation: str) -> pd.DataFrame:
    """The rows of one activation."""
    table = tables[name]
    return table[table["activation"] == activation]


def live_neurons(tables: Tables, activation: str, when: str = "end") -> pd.DataFrame:
    """Neurons that count: at the end those of live norm, at the start all."""
    part = of(tables, "neurons", activation)
    part = part[part["when"] == when]
    return part[part["is_live"]] if when == "end" else part


def margin_is_reached(tables: Tables) -> Claim:
    """Quadratic networks reach 0.99 of the largest margin."""
    interval = over_seeds(of(tables, "ends", "square").groupby("seed")["ratio"].mean(), 0.0)
    return Claim(
        text="Quadratic networks reach the largest possible margin",
        source="thesis, Figure 7.1 (c), Theorem 7.7",
        measured=(
            f"margin / largest margin {interval:.5f}; a network that memorises has "
            f"{tables.facts['memorising']:.3f}"
        ),
        against=f"an interval that goes below {NEAR_MARGIN}",
        holds=interval.low >= NEAR_MARGIN,
        interval=interval,
    )


def norm_and_loss_are_predicted(tables: Tables) -> Claim:
    """Norm and loss at the end are those of the exact optimum."""
    ends = of(tables, "ends", "square")
    norm = (ends["norm"] / ends["theory_norm"] - 1).abs()
    loss = (ends["loss"] / ends["theory_loss"] - 1).abs()
    interval = over_seeds(pd.concat([norm, loss], axis=1).max(axis=1, skipna=False), np.inf)
    return Claim(
        text="Norm and loss at the end are those of the exact optimum at this penalty",
        source="this study: the optimum in closed form",
        measured=(
            f"largest of both relative differences {interval:.2%}; norm cubed "
            f"{ends['norm'].mean():.2f}, predicted {ends['theory_norm'].mean():.2f}; loss "
            f"{ends['loss'].mean():.5f}, predicted {ends['theory_loss'].mean():.5f}"
        ),
        against=f"an interval that reaches {NEAR_THEORY:.0%}",
        holds=interval.high < NEAR_THEORY,
        interval=interval,
    )


def frequencies_share_evenly(tables: Tables) -> Claim:
    """Each frequency has the norm share 2/(p - 1); at the start it does not."""
    part = of(tables, "frequencies", "square")
    off = {
        when: (part[f"share_{when}"] / part["theory_limit"] - 1).abs().groupby(part["seed"]).max()
        for when in ("start", "end")
    }
    interval = over_seeds(off["end"], np.inf)
    return Claim(
        text="Every frequency has the same share 2/(p - 1) of the norm",
        source="thesis, Figure D.1; the share is Theorem 7.7's",
        measured=(
            f"largest relative difference of a frequency {interval:.2%}; at the start "
            f"{off['start'].mean():.0%}"
        ),
        against=(
            f"an interval that reaches {NEAR_SHARE:.0%}, or shares that are as even at the start"
        ),
        holds=interval.high <= NEAR_SHARE and off["start"].min() > NEAR_SHARE,
        interval=interval,
    )


def every_frequency_is_present(tables: Tables) -> Claim:
    """Each frequency has a live neuron, with either activation."""
    part = tables["frequencies"]
    least = part.groupby(["activation", "seed"])["neurons_end"].min()
    most = part.groupby(["activation", "seed"])["neurons_end"].max()
    mean = part["neurons_end"].mean()
    return Claim(
        text="All frequencies are present, with either activation",
        source="thesis, Theorem 7.7 and Figure D.1",
        measured=(
            f"least neurons of a frequency {int(least.min())}, most {int(most.max())}, mean "
            f"{mean:.1f}, over {len(least)} runs"
        ),
        against="a run in which a frequency has no neuron",
        holds=least.min() >= 1,
    )


def neurons_have_one_frequency(tables: Tables) -> Claim:
    """In every live quadratic neuron u, v and w are of one frequency, the same one."""
    end, start = (live_neurons(tables, "square", when) for when in ("end", "start"))
    powers = end[["power_u", "power_v", "power_w"]].min(axis=1)
    share = ((powers > PURE) & end["is_same"]).groupby(end["seed"]).mean()
    interval = over_seeds(share, 0.0)
    first = start[["power_u", "power_v", "power_w"]].min(axis=1)
    return Claim(
        text="Every quadratic neuron is a wave of one frequency, the same in u, v and w",
        source="thesis, Figures 7.1 (b) and 7.4 (c), Theorem 7.7",
        measured=(
            f"{interval:.1%} of live neurons; least power in one frequency {powers.min():.4f}, at "
            f"the start {first.mean():.2f} on average"
        ),
        against=f"one live neuron with {PURE} or less of its power in a frequency, or in several",
        holds=interval.low == 1 and first.mean() < PURE,
        interval=interval,
    )


def phases_add_up(tables: Tables) -> Claim:
    """The phase of w is the sum of those of u and v, in every live quadratic neuron."""
    end, start = (live_neurons(tables, "square", when)["gap"] for when in ("end", "start"))
    interval = over_seeds(end.groupby(live_neurons(tables, "square")["seed"]).max(), np.inf)
    return Claim(
        text="The phase of the output wave is the sum of the two input phases",
        source="thesis, Theorem 7.7",
        measured=(
            f"largest difference in radians, mean over seeds {interval:.4f}; at the start the "
            f"mean is {start.mean():.2f}"
        ),
        against=f"an interval that reaches {PHASE}, or a start that is as near",
        holds=interval.high < PHASE and start.mean() > PHASE,
        interval=interval,
    )


def rectifiers_come_near(tables: Tables) -> Claim:
    """ReLU neurons have about 0.9 of their power in one frequency: less than quadratic ones."""
    part = live_neurons(tables, "relu")
    interval = over_seeds(part["power_u"].groupby(part["seed"]).mean(), 0.0)
    start = live_neurons(tables, "relu", "start")["power_u"].mean()
    return Claim(
        text="Rectified neurons have about 0.9 of their power in one frequency",
        source="thesis, Figure 7.4 (b), at p = 71",
        measured=f"mean {interval:.3f} at p = {tables.facts['p']}; at the start {start:.3f}",
        against=(
            f"an interval that leaves {RECTIFIED[0]} to {RECTIFIED[1]}, or a start that is in it"
        ),
        holds=start < RECTIFIED[0] < interval.low and interval.high < RECTIFIED[1],
        interval=interval,
    )
