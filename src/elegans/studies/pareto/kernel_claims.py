"""What is claimed of fixed kernels, on the tables of the study `fixed-kernel`."""

from typing import Any

import numpy as np

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap
from elegans.studies.pareto.over_claims import exponent

EXPONENT_TOLERANCE = 0.5  # what the kernel's exponent may differ from k


def kernels_need_n_to_the_k(tables: Tables) -> Claim:
    """The kernel's examples grow as n^k."""
    slope, theory = exponent(tables, "kernel")
    exact = float(tables["exponents"].set_index("law")["exact"]["kernel"])
    return Claim(
        text=(
            "A fixed kernel needs a number of examples that grows with an exponent within "
            f"{EXPONENT_TOLERANCE} of k"
        ),
        source="thesis, theorem 5.6; Pareto paper, section 3",
        measured=(
            f"exponent {slope:.2f}, k = {theory:g}, which is "
            f"{'inside' if slope.contains(theory) else 'outside'} of the interval; that of C(n, k) "
            f"at these n is {exact:.2f}"
        ),
        against=(
            f"an exponent that is more than {EXPONENT_TOLERANCE} off, or an interval that reaches "
            "down to k - 1"
        ),
        holds=abs(slope.value - theory) <= EXPONENT_TOLERANCE and slope.low > theory - 1,
        interval=slope,
    )


def networks_need_less(tables: Tables) -> Claim:
    """SGD's examples grow more slowly."""
    (kernel, _), (sgd, _) = exponent(tables, "kernel"), exponent(tables, "SGD")
    return Claim(
        text="A network trained by SGD needs a number of examples that grows more slowly",
        source="Pareto paper, section 4",
        measured=f"exponent {sgd:.2f}, against {kernel:.2f} for the kernel",
        against="intervals of the two exponents, widened by their grids, that overlap",
        holds=sgd.high < kernel.low,
        interval=sgd,
    )


def without_biases_nothing_is_learned(tables: Tables) -> Claim:
    """The control: a kernel whose eigenvalue at degree k is zero stays at chance."""
    table = tables["kernel"]
    part = table[table["kernel"] == "without biases"]
    most = part[part["samples"] == part.groupby("n")["samples"].transform("max")]
    errors: dict[Any, Interval] = {
        n: bootstrap(rows["error"].to_numpy(float), np.mean) for n, rows in most.groupby("n")
    }
    n, least = min(errors.items(), key=lambda item: item[1].low)
    eigenvalue = float(tables["eigenvalues"].set_index("degree")["without"][tables.facts["k"]])
    return Claim(
        text="Control: without biases the kernel does not see the parity, however many examples",
        source="this study's control",
        measured=(
            f"the least mean error, with the most examples, is {least:.1%}, at n = {n}; the "
            f"eigenvalue is {abs(eigenvalue):.0e}"
        ),
        against="a number of bits at which the interval of the error reaches below 40%",
        holds=least.low > 0.4,
        interval=least,
    )


def the_loss_is_above_its_bound(tables: Tables) -> Claim:
    """Theorem 5.6: a function of that norm has at least that hinge loss."""
    table = tables["kernel"]
    part = table[table["kernel"] == "with biases"]
    informative = part[part["bound"] > 0]
    gaps: dict[Any, Interval] = {
        cell: bootstrap((rows["hinge"] - rows["bound"]).to_numpy(float), np.mean)
        for cell, rows in part.groupby(["n", "samples", "penalty"])
    }
    (n, samples, penalty), interval = min(gaps.items(), key=lambda item: item[1].low)
    return Claim(
        text="The kernel's hinge loss is never below that of theorem 5.6 for its norm",
        source="thesis, theorem 5.6 (repaired)",
        measured=(
            f"loss minus bound, mean over seeds: {interval:.3f} where its interval is lowest, at "
            f"n = {n}, m = {samples:,}, penalty {penalty:g}; the bound is above zero in "
            f"{len(informative)} of {len(part)} fits, and as high as {part['bound'].max():.2f}"
        ),
        against=(
            "a size and penalty at which the interval of the mean difference reaches below zero, "
            "or a bound that is always zero"
        ),
        holds=interval.low >= 0 and float(part["bound"].max()) > 0.1,
        interval=interval,
    )
