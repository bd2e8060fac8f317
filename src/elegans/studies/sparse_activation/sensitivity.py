r"""How sensitive are sparsely activated networks? Measured, beside lemmas 9 and 10.

Random teachers with $n$ inputs, $s = k 2^b$ neurons and at most $k$ of them active
(`tasks.SparseNetwork`). Average sensitivity and noise sensitivity are exact, from all inputs; $k$,
$W$ and $B$ are those of the drawn network. The lemmas stand with constant 1, and beside them the
sharper $\mathrm{AS} \le 4k^2W^2$, $\mathrm{NS}_\rho \le 2k^2W^2(1 - \rho)$ of
`theory.sparse_activation`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.studies.study import Claim, Result, Scale, Study
from elegans.tasks import SparseNetwork
from elegans.theory import sparse_activation
from elegans.theory.boolean import fourier

SOURCE = "sparse activations paper"


@dataclass(frozen=True)
class Settings:
    """Which sizes; those whose address bits leave no data bits are left out."""

    ns: tuple[int, ...]
    bs: tuple[int, ...]
    ks: tuple[int, ...]
    rho: float
    seeds: int


def measure(settings: Settings, *, scale: str = "quick", **options: Any) -> Result:
    """Draws the teachers and enumerates them."""
    sizes = [(n, b, k) for n in settings.ns for b in settings.bs for k in settings.ks if k * b < n]
    runs = pd.DataFrame(
        [teacher(*size, settings.rho, seed) for size in sizes for seed in range(settings.seeds)]
    )
    by = ["n", "b", "s", "k"]
    table = runs.groupby(by, sort=False).mean(numeric_only=True).drop(columns="seed").reset_index()
    shares = table.assign(size=[f"n = {n}, s = {s}, k = {k}" for n, s, k in
                                zip(table["n"], table["s"], table["k"], strict=True)])  # fmt: skip
    shares = shares.assign(
        **{
            "AS / lemma 9": table["AS"] / table["theory_lemma_9"],
            "AS / 4k²W²": table["AS"] / table["theory"],
            "NS / lemma 10": table["NS"] / table["theory_lemma_10"],
            "NS / 2k²W²(1-ρ)": table["NS"] / table["theory_noise"],
        }
    ).set_index("size")
    return Result(
        study="sensitivity",
        scale=scale,
        table=table,
        summary={"Measured sensitivity as a share of its bound": shares.iloc[:, -4:]},
        claims=check(runs, table),
        data={"runs": runs},
        facts={"rho": settings.rho},
    )


def teacher(n: int, b: int, k: int, rho: float, seed: int) -> dict[str, float | int]:
    """One random teacher: what it is, what is measured, what is proved."""
    task = SparseNetwork(n=n, b=b, k=k, seed=seed)
    found = sparse_activation.membership(task.teacher())
    values = np.asarray(task.population().y, float)
    spectrum = fourier.Spectrum(fourier.coefficients(values, n))
    shape = (n, found.s, found.k, found.W, found.B)
    return {
        "n": n,
        "b": b,
        "s": found.s,
        "k": found.k,
        "seed": seed,
        "W": found.W,
        "B": found.B,
        "AS": fourier.average_sensitivity(spectrum, n),
        "NS": fourier.noise_sensitivity(spectrum, n, rho),
        "theory": sparse_activation.lipschitz_sensitivity(found.k, found.W),
        "theory_lemma_9": sparse_activation.sensitivity_bound(*shape),
        "theory_noise": sparse_activation.lipschitz_noise(found.k, found.W, rho),
        "theory_lemma_10": sparse_activation.noise_bound(*shape, rho),
    }


def check(runs: pd.DataFrame, table: pd.DataFrame) -> tuple[Claim, ...]:
    """Both lemmas, the sharper bounds, and how the sensitivity grows."""
    pairs = {
        "Lemma 9 bounds the average sensitivity, with constant 1": ("AS", "theory_lemma_9"),
        "The average sensitivity is at most 4 k² W²": ("AS", "theory"),
        "Lemma 10 bounds the noise sensitivity, with constant 1": ("NS", "theory_lemma_10"),
        "The noise sensitivity is at most 2 k² W² (1 - ρ)": ("NS", "theory_noise"),
    }
    claims = []
    for text, (measured, bound) in pairs.items():
        share = runs[measured] / runs[bound]
        source = "theory.sparse_activation" if "k²" in text else SOURCE
        claims.append(
            Claim(
                text,
                source,
                f"{len(runs)} teachers; measured / bound {share.min():.2%} to {share.max():.2%}",
                bool((share <= 1).all()),
            )
        )
    ratio = runs["theory"] / runs["theory_lemma_9"]
    claims.append(
        Claim(
            "4 k² W² is below lemma 9 on every teacher",
            "theory.sparse_activation",
            f"ratio of the bounds {ratio.min():.2%} to {ratio.max():.2%}",
            bool((ratio < 1).all()),
        )
    )
    return tuple(claims)


STUDY = Study(
    name="sensitivity",
    reproduces="Sparse activations paper, lemmas 9 and 10: sensitivities as n, s and k grow",
    scales={
        "quick": Scale(Settings((8, 10, 12), (1, 2), (1, 2, 3), 0.9, 3), "5 seconds"),
        "laptop": Scale(Settings((8, 12, 16), (1, 2, 3), (1, 2, 4), 0.9, 5), "20 seconds"),
        "paper": Scale(Settings((8, 12, 16, 20), (1, 2, 3, 4), (1, 2, 4), 0.9, 10), "10 minutes"),
    },
    measure=measure,
)
