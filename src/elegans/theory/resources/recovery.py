r"""From how many examples one truncated step finds the support: at finite sizes, not in powers.

An entry of a neuron's gradient is the mean of $m$ products $y x_i [\langle w, x \rangle + b > 0]$,
which are zero half of the time and $\pm 1$ else. So it is normal, nearly, with the exact mean $g$
of the population and variance $\frac{1}{m} (\frac12 - g^2)$, and different entries are nearly
independent. A step that sets entries up to $\gamma$ to zero is right if all relevant ones are above
$\gamma$ and all others are not.

The theorems bound this from above by powers of $n$ and $s$. At sizes that can be run the powers are
not there yet: the gap between the two kinds of entries grows with $n$ at first, and the union over
$n$ entries adds a logarithm that looks like a power. What is computed here has both.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy.optimize import brentq
from scipy.special import log_ndtr

from elegans import checks
from elegans.theory.boolean import majority
from elegans.theory.resources.prescriptions import partial_gradients, truncation

LARGEST = 1e15  # examples


class Entries(NamedTuple):
    """Entries of a gradient that have one mean."""

    number: int
    mean: float
    is_relevant: bool


def over_sparse_entries(n: int, k: int, s: int) -> list[Entries]:
    """A good neuron of theorem 16: the support, what else it reads, and what it does not read."""
    relevant, irrelevant = majority.relevant_gradient(s, k), majority.irrelevant_gradient(s, k)
    return [
        Entries(k, abs(relevant), True),
        Entries(s - k, abs(irrelevant), False),
        Entries(n - s, 0.0, False),
    ]


def under_sparse_entries(n: int, k: int, s: int) -> list[Entries]:
    """A good neuron of theorem 21: relevant bits that it does not read, its own, and the rest."""
    relevant, irrelevant = partial_gradients(n, k, s)
    return [
        Entries(k - s, relevant, True),
        Entries(s, 0.0, False),
        Entries(n - k, irrelevant, False),
    ]


def recovery_chance(entries: Sequence[Entries], threshold: float, samples: float | int) -> float:
    r"""The chance that one step on so many examples leaves the support and nothing else."""
    checks.number("recovery_chance", "samples", samples, low=1.0, what="counts the examples")
    log_chance = 0.0
    for entry in entries:
        deviation = math.sqrt((0.5 - entry.mean**2) / samples)
        above = float(log_ndtr((entry.mean - threshold) / deviation))
        if entry.is_relevant:
            log_chance += entry.number * above
            continue
        below = float(log_ndtr((-entry.mean - threshold) / deviation))
        outside = math.exp(above) + math.exp(below)
        if outside >= 1 and entry.number:
            return 0.0
        log_chance += entry.number * math.log1p(-outside)
    return math.exp(log_chance)


def recovery_samples(entries: Sequence[Entries], threshold: float, chance: float = 0.5) -> float:
    """From how many examples the support, and nothing else, is left with probability `chance`."""
    owner = f"recovery_samples(threshold={threshold}, chance={chance})"
    checks.number(owner, "chance", chance, low=1e-9, high=1 - 1e-9, what="is a probability")
    largest = max((e.mean for e in entries if not e.is_relevant and e.number), default=0.0)
    least = min((e.mean for e in entries if e.is_relevant and e.number), default=0.0)
    if not largest < threshold < least:
        raise ValueError(
            f"{owner}: the threshold lies between the irrelevant and the relevant gradients, "
            f"{largest:g} and {least:g}."
        )
    root = brentq(
        lambda log_m: recovery_chance(entries, threshold, math.exp(log_m)) - chance,
        0.0,
        math.log(LARGEST),
    )
    return math.exp(float(root))


def over_sparse_recovery(n: int, k: int, s: int, chance: float = 0.5) -> float:
    """`recovery_samples` of a good neuron of theorem 16, truncated as in footnote 4."""
    owner = f"over_sparse_recovery(n={n}, k={k})"
    checks.whole(owner, "s", s, low=k + 1, high=n, what="counts the ones of a neuron, above k")
    if s % 2 == 0:
        raise ValueError(f"{owner}: the lemmas are for odd s; got s = {s}.")
    return recovery_samples(over_sparse_entries(n, k, s), truncation(s, k), chance)


def under_sparse_recovery(n: int, k: int, s: int, chance: float = 0.5) -> float:
    """`recovery_samples` of a good neuron of theorem 21; `s` = 0 is a neuron of signs."""
    owner = f"under_sparse_recovery(n={n}, k={k})"
    checks.whole(owner, "s", s, low=0, high=k - 2, what="counts the ones of a neuron, fewer than k")
    if (n - s) % 2 == 0:
        raise ValueError(f"{owner}: the gradients are for odd n - s; got s = {s}.")
    return recovery_samples(
        under_sparse_entries(n, k, s), sum(partial_gradients(n, k, s)) / 2, chance
    )
