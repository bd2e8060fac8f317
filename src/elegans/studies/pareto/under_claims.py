"""What is claimed of theorem 21, on the tables of the study `under-sparse`."""

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import wilson
from elegans.studies.pareto.over_claims import power_claim
from elegans.studies.study import known_failure

THEOREM = "Pareto paper, theorems 5 and 21"


def the_prescription_suffices(tables: Tables) -> Claim:
    """At the prescribed width and samples every network holds a subnetwork that correlates."""
    facts, networks = tables.facts, tables["networks"]
    part = networks[networks["samples"] == networks["samples"].max()]
    passed = int((part["correlation"] >= facts["goal"]).sum())
    rate = wilson(passed, len(part))
    return Claim(
        text="At the prescription a subnetwork correlates with the parity by 0.49 or more",
        source=THEOREM,
        measured=(
            f"{passed} of {len(part)} networks at (n, k, s) = ({facts['n']}, {facts['k']}, "
            f"{facts['s']}), width {facts['width']:,}, m = {facts['samples']:,}; the least "
            f"correlation is {part['correlation'].min():.3f}"
        ),
        against="a network whose correlation is below 0.49",
        holds=passed == len(part),
        interval=rate,
    )


def few_samples_fail(tables: Tables) -> Claim:
    """The control: a hundredth of the samples is not enough."""
    networks = tables["networks"]
    part = networks[networks["samples"] == networks["samples"].min()]
    rate = wilson(int((part["correlation"] >= tables.facts["goal"]).sum()), len(part))
    return Claim(
        text="Control: with a hundredth of the samples most networks hold no such subnetwork",
        source="this study's control",
        measured=f"{rate:.0%} of {len(part)} networks pass",
        against="an interval of the share that reaches one half",
        holds=rate.high < 0.5,
        interval=rate,
    )


def samples_grow_as_the_rest(tables: Tables) -> Claim:
    """The least samples grow as n^(k-s-1)."""
    return power_claim(
        tables,
        f"samples over n, s = {tables.facts['s']}",
        "Neurons that know s of k bits need examples as calculated, in the limit like n^(k-s-1)",
        THEOREM,
    )


def dense_samples_grow_as_the_whole(tables: Tables) -> Claim:
    """Neurons of signs need n^(k-1)."""
    return power_claim(
        tables,
        "samples over n, s = 0",
        "Neurons that know nothing, of signs, need examples as calculated, in the limit n^(k-1)",
        "Pareto paper, remarks to theorem 5",
    )


def width_grows_with_what_is_known(tables: Tables) -> Claim:
    """The least width grows as n^s."""
    return power_claim(
        tables,
        f"width over n, s = {tables.facts['s']}",
        "A good neuron of each bias takes a width as calculated, in the limit like n^s",
        THEOREM,
    )


def prescriptions_are_loose(tables: Tables) -> Claim:
    """The prescription is enough for 95% of the seeds, and by how much too large it is."""
    table = tables["needed"].dropna(subset="loose_samples")
    samples, width = table["loose_samples"], table["loose_width"]
    least = float(np.minimum(samples, width).min())
    return Claim(
        text="What is prescribed is more than 95% of the seeds need",
        source=THEOREM,
        measured=(
            f"too large by {samples.median():.1f} in samples (from {samples.min():.1f} to "
            f"{samples.max():.1f}) and {width.median():.1f} in width (from {width.min():.1f} to "
            f"{width.max():.1f})"
        ),
        against="a size at which 95% of the seeds need more than is prescribed",
        holds=least >= 1,
    )


@known_failure(
    "At k = 2 dense inits of the same width learn from as few examples: 120 are enough for "
    "both and 30 for neither.",
    scales=["quick"],
)
def exact_sparsity_needs_few_samples(tables: Tables) -> Claim:
    """At s = k, ordinary training succeeds from so few samples that dense inits fail."""
    rates = tables["exact_rates"].set_index(["init", "samples"])
    exact, dense = rates.loc["exact"], rates.loc["dense"]
    apart = [m for m in exact.index if m in dense.index and exact["low"][m] > dense["high"][m]]
    least = min(apart, default=None)
    shown = ", ".join(
        f"m = {m}: {exact['rate'][m]:.0%} and {dense['rate'][m]:.0%}" for m in exact.index
    )
    best = exact.loc[least] if least is not None else exact.iloc[-1]
    return Claim(
        text="At exact sparsity a wide network learns from fewer examples than dense inits",
        source="Pareto paper, remarks on the exact-sparsity regime",
        measured=f"success of exact and dense inits: {shown}",
        against=(
            "no number of examples at which the interval of exact inits is above that of dense ones"
        ),
        holds=least is not None,
        interval=(float(best["rate"]), float(best["low"]), float(best["high"])),
    )
