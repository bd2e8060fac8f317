r"""Search for a parity by statistical queries, on a budget.

The query $\phi(x, y) = y \cdot \frac1g \sum_{T \in G} \chi_T(x)$ about a group $G$ of $g$ supports
has mean $1/g$ if the right one is among them, and zero otherwise. An answer within $\tau$ tells the
two apart if $\tau < 1/(2g)$. So a budget of $q$ queries in random order, without repetition, finds
the group of the right support with probability $\min(1, qg/\binom{n}{k})$, if the groups are of
equal size: queries can be traded for precision, and for luck.

References: Edelman et al. (2023), Pareto frontiers in deep feature learning, section 3.2; Kearns
(1998).
"""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from elegans import checks, cube
from elegans.theory.resources.oracles import Query, StatisticalQueryOracle

Supports = tuple[tuple[int, ...], ...]


class Search(NamedTuple):
    """The group of supports that a search accepted, None if none was, and its queries."""

    group: Supports | None
    queries: int


def query_search(
    oracle: StatisticalQueryOracle,
    k: int | None,
    budget: int,
    *,
    group: int = 1,
    seed: int = 0,
    bits: Sequence[int] | None = None,
) -> Search:
    r"""The first group of supports whose answer is above the oracle's tolerance.

    Such an answer proves that the mean is not zero, so what is accepted is right, whoever answers.
    Whether the right group is accepted depends on who answers: always if $\tau < 1/(2g)$; if not,
    an adversary may hide it.

    Args:
        oracle: Of a parity of `k` bits.
        k: Relevant bits; None is any number of them.
        budget: Queries at most.
        group: Supports that one query asks about.
        seed: Of the order.
        bits: The columns of an input in which the bits are; None is all of them, task.n.
    """
    places = range(int(getattr(oracle.task, "n", 0))) if bits is None else tuple(bits)
    n = len(places)
    owner = f"query_search(k={k}, budget={budget}, group={group})"
    if k is not None:
        checks.whole(owner, "k", k, low=1, high=n, what="counts relevant bits")
    checks.whole(owner, "budget", budget, low=1, what="counts queries")
    checks.whole(owner, "group", group, low=1, what="counts the supports of a query")
    for place in places:
        high = int(getattr(oracle.task, "n", place + 1)) - 1
        checks.whole(owner, "bits", place, low=0, high=high, what="holds columns of an input")
    sizes = range(n + 1) if k is None else (k,)
    supports = [each for size in sizes for each in itertools.combinations(places, size)]
    order = np.random.default_rng(seed).permutation(len(supports))
    groups = [order[i : i + group] for i in range(0, len(order), group)]
    for number, chosen in enumerate(groups[:budget], 1):
        candidates = tuple(supports[i] for i in chosen)
        if oracle(group_query(candidates)) > oracle.tolerance * (1 + 1e-12):
            return Search(candidates, number)
    return Search(None, min(budget, len(groups)))


def group_query(supports: Supports) -> Query:
    """The query of a group: the label times the mean of their characters."""

    def query(
        x: Float[np.ndarray, "rows n"], y: Float[np.ndarray, " rows"]
    ) -> Float[np.ndarray, " rows"]:
        return y * np.mean([cube.character(x, support) for support in supports], axis=0)

    return query


def search_luck(n: int, k: int, budget: int, group: int = 1) -> float:
    r"""The chance that `budget` queries about `group` supports each ask about the right one."""
    return min(1.0, budget * group / math.comb(n, k))
