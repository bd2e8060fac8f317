r"""Rademacher complexity of sparsely activated networks: bound, conjecture and measurement.

For $m$ random inputs, the bound (15) that is proved, the conjecture (16) without the dimension, the
bound for dense networks, and what networks of the class reach on random signs: a lower estimate,
by ascent over gated networks (`theory.rademacher`). If the estimate passed the conjecture, with
constant 1, that would refute it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.studies.study import Claim, Result, Scale, Study
from elegans.theory import sparse_activation

SOURCE = "sparse activations paper, section 5"


@dataclass(frozen=True)
class Settings:
    """Which sizes; W is 1 and B is the square root of n, so that gates are affordable."""

    ns: tuple[int, ...]
    ms: tuple[int, ...]
    ss: tuple[int, ...]
    ks: tuple[int, ...]
    draws: int


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Looks for networks that correlate with random signs, at every size."""
    table = pd.DataFrame(
        [
            cell(n, m, s, k, settings.draws)
            for n in settings.ns
            for m in settings.ms
            for s in settings.ss
            for k in settings.ks
            if k <= s
        ]
    )
    named = table.assign(size=[f"n = {n}, s = {s}, k = {k}" for n, s, k in
                               zip(table["n"], table["s"], table["k"], strict=True)])  # fmt: skip
    share = named.assign(share=named["measured"] / named["theory_conjecture"])
    grid = share.pivot(index="size", columns="m", values="share")
    grid.columns = [f"m = {m}" for m in grid.columns]
    return Result(
        study="rademacher",
        scale=scale,
        table=table,
        summary={"Lower estimate as a share of the conjecture": grid},
        claims=check(table),
        facts={"draws": settings.draws},
    )


def cell(n: int, m: int, s: int, k: int, draws: int) -> dict[str, float | int]:
    """One size: the lower estimate with its interval, and the three bounds."""
    x = 1.0 - 2.0 * np.random.default_rng([n, m]).integers(0, 2, (m, n))
    W, B, R = 1.0, math.sqrt(n), math.sqrt(n)
    found = sparse_activation.rademacher_lower(x, s, k, W, B, draws=draws)
    return {
        "n": n,
        "m": m,
        "s": s,
        "k": k,
        "measured": found.value,
        "radius": found.radius,
        "theory": sparse_activation.sparse_rademacher(m, n, s, k, W, B, R),
        "theory_conjecture": sparse_activation.conjectured_rademacher(m, s, k, W, B, R),
        "theory_dense": sparse_activation.dense_rademacher(m, s, W, B, R),
    }


def slope(table: pd.DataFrame, column: str, by: list[str]) -> float:
    """The median exponent of the lower estimate in `column`, all else fixed."""
    slopes = [
        np.polyfit(np.log(part[column]), np.log(part["measured"]), 1)[0]
        for _, part in table.groupby(by)
        if len(part) > 1
    ]
    return float(np.median(slopes))


def check(table: pd.DataFrame) -> tuple[Claim, ...]:
    """The bounds against the estimate, and its exponents."""
    share = table["measured"] / table["theory_conjecture"]
    proved = table["measured"] / table["theory"]
    in_m, in_s = slope(table, "m", ["n", "s", "k"]), slope(table, "s", ["n", "m", "k"])
    return (
        Claim(
            "Bound (15) is above what networks of the class reach, with constant 1",
            f"{SOURCE}, (15)",
            f"estimate / bound at most {proved.max():.1%}",
            bool((proved + table["radius"] / table["theory"] <= 1).all()),
        ),
        Claim(
            "No network was found that refutes the conjecture without the dimension",
            f"{SOURCE}, conjecture 20 (16)",
            f"estimate / conjecture {share.min():.1%} to {share.max():.1%}",
            bool((share - table["radius"] / table["theory_conjecture"] <= 1).all()),
        ),
        Claim(
            "The complexity falls as the square root of the samples",
            f"{SOURCE}, (15) and (16)",
            f"exponent of m in the estimate {in_m:.2f}; the bounds have -0.5",
            abs(in_m + 0.5) < 0.15,
        ),
        Claim(
            "The dependence on the number of neurons is sub-linear",
            f"{SOURCE}, theorem 19",
            f"exponent of s in the estimate {in_s:.2f}; 0.5 in (15) and (16), 1 for dense networks",
            in_s < 0.65,
        ),
    )


STUDY = Study(
    name="rademacher",
    reproduces="Sparse activations paper, section 5: Rademacher bounds, conjecture, measurement",
    scales={
        "quick": Scale(Settings((10,), (100, 400), (2, 8, 32), (1, 2), 8), "6 seconds"),
        "laptop": Scale(Settings((10, 20), (100, 400, 1600), (2, 8, 32), (1, 2), 20), "1 minute"),
        "paper": Scale(Settings((10, 20, 40), (100, 400, 1600, 6400), (2, 8, 32, 128), (1, 2, 4),
                                50), "2 hours"),
    },
    measure=measure,
)  # fmt: skip
