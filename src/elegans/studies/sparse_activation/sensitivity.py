r"""How sensitive are sparsely activated networks? Measured, beside lemmas 9 and 10.

Random teachers with $n$ inputs, $s = k 2^b$ neurons and at most $k$ of them active
(`tasks.SparseNetwork`). Average sensitivity and noise sensitivity are exact, from all inputs; $k$,
$W$ and $B$ are those of the drawn network. The lemmas stand with constant 1, and beside them the
sharper $\mathrm{AS} \le 4k^2W^2$, $\mathrm{NS}_\rho \le 2k^2W^2(1 - \rho)$ of
`theory.sparse_activation`, which are proved there and so are no claims here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.fields import configuration
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import bootstrap
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import SparseNetwork
from elegans.theory import sparse_activation
from elegans.theory.boolean import fourier

SOURCE = "sparse activations paper"
SIZE = ["n", "b", "s", "k"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Which sizes; those whose address bits leave no data bits are left out."""

    ns: tuple[int, ...]
    bs: tuple[int, ...]
    ks: tuple[int, ...]
    rho: float
    seeds: int


@configuration
class Sensitivities:
    """A random teacher: what it is, what is measured by enumeration, what is proved."""

    n: int
    b: int
    k: int
    rho: float

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row."""
        task = SparseNetwork(n=self.n, b=self.b, k=self.k, seed=seed)
        member = sparse_activation.membership(task.teacher())
        values = np.asarray(task.population().y, float)
        spectrum = fourier.Spectrum(fourier.coefficients(values, self.n))
        shape = (self.n, member.s, member.k, member.W, member.B)
        row = {
            "n": self.n,
            "b": self.b,
            "s": member.s,
            "k": member.k,
            "W": member.W,
            "B": member.B,
            "AS": fourier.average_sensitivity(spectrum, self.n),
            "NS": fourier.noise_sensitivity(spectrum, self.n, self.rho),
            "theory": sparse_activation.lipschitz_sensitivity(member.k, member.W),
            "theory_lemma_9": sparse_activation.sensitivity_bound(*shape),
            "theory_noise": sparse_activation.lipschitz_noise(member.k, member.W, self.rho),
            "theory_lemma_10": sparse_activation.noise_bound(*shape, self.rho),
        }
        return pd.DataFrame([row])


def runs(settings: Settings) -> dict[str, Sweep]:
    """Every size with every seed."""
    points: list[tuple[dict[str, Any], Sensitivities]] = [
        ({}, Sensitivities(n=n, b=b, k=k, rho=settings.rho))
        for n in settings.ns
        for b in settings.bs
        for k in settings.ks
        if k * b < n
    ]
    return {"teachers": Sweep.of(points, seeds=settings.seeds)}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Means over the teachers of each size, and measured sensitivities as shares of bounds."""
    means = (
        (runs["teachers"].table.groupby(SIZE, sort=False).mean(numeric_only=True))
        .drop(columns="seed")
        .reset_index()
    )
    shares = means[SIZE].assign(
        **{
            "AS / lemma 9": means["AS"] / means["theory_lemma_9"],
            "AS / 4k²W²": means["AS"] / means["theory"],
            "NS / lemma 10": means["NS"] / means["theory_lemma_10"],
            "NS / 2k²W²(1-ρ)": means["NS"] / means["theory_noise"],
        }
    )
    return {"shares": shares, "sizes": means}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The correlation of the noise."""
    return {"rho": settings.rho}


def lemma_9(tables: Tables) -> Claim:
    """The average sensitivity is below lemma 9 with constant 1, of every teacher."""
    return below(tables, "AS", "theory_lemma_9", "Lemma 9 bounds the average sensitivity")


def lemma_10(tables: Tables) -> Claim:
    """The noise sensitivity is below lemma 10 with constant 1, of every teacher."""
    return below(tables, "NS", "theory_lemma_10", "Lemma 10 bounds the noise sensitivity")


def below(tables: Tables, measured: str, bound: str, text: str) -> Claim:
    """That a measure of every teacher is below a bound; the interval is that of all shares."""
    teachers = tables["teachers"]
    share = teachers[measured] / teachers[bound]
    return Claim(
        text=f"{text}, with constant 1",
        source=SOURCE,
        measured=(
            f"{len(teachers)} teachers; measured / bound {share.min():.2%} to {share.max():.2%}"
        ),
        against="a teacher whose sensitivity is above the bound",
        holds=bool((share <= 1).all()),
        interval=(float(share.median()), float(share.min()), float(share.max())),
    )


def hardly_grows_with_inputs(tables: Tables) -> Claim:
    """The average sensitivity grows more slowly with n than lemma 9 allows.

    The exponent of n is fitted for each seed and size; the interval is over seeds.
    """
    slopes: dict[Any, list[float]] = {}
    for (seed, *_), line in tables["teachers"].groupby(["seed", "b", "k"]):
        if len(line) > 1:
            slope = np.polyfit(np.log(line["n"]), np.log(line["AS"]), 1)[0]
            slopes.setdefault(seed, []).append(float(slope))
    interval = bootstrap([float(np.mean(each)) for each in slopes.values()], np.mean)
    return Claim(
        text="The average sensitivity grows more slowly with the inputs than lemma 9 allows",
        source=f"{SOURCE}, lemma 9: as the square root of n; none in 4 k² W²",
        measured=f"exponent of n {interval:.2f}",
        against="an interval of the exponent of n that reaches one half",
        holds=interval.high < 0.5,
        interval=interval,
    )


STUDY = Study(
    name="sensitivity",
    title="Networks with few active neurons react little to changes of their input",
    summary=(
        "A network is sparsely activated if at every input at most k of its s neurons are "
        "active. How much does its value change if one bit of the input is flipped (average "
        "sensitivity), or if every bit is flipped with a small probability (noise sensitivity)? "
        "Functions of low sensitivity are close to polynomials of low degree, which are easy to "
        "learn. Random such networks are drawn and their sensitivities computed exactly, from "
        "all inputs, beside the bounds that are proved for all networks of the kind."
    ),
    source="Sparse activations paper, lemmas 9 and 10",
    scales={
        "quick": Scale(
            Settings(ns=(8, 10, 12), bs=(1, 2), ks=(1, 2, 3), rho=0.9, seeds=5), minutes=0.1
        ),
        "laptop": Scale(
            Settings(ns=(8, 12, 16), bs=(1, 2, 3), ks=(1, 2, 4), rho=0.9, seeds=5), minutes=0.4
        ),
        "paper": Scale(
            Settings(ns=(8, 12, 16, 20), bs=(1, 2, 3, 4), ks=(1, 2, 4), rho=0.9, seeds=10),
            minutes=10,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(lemma_9, lemma_10, hardly_grows_with_inputs),
    figures="elegans.studies.sparse_activation.figures:sensitivity",
    charts="elegans.studies.sparse_activation.figures:sensitivity_chart",
    shown=("shares",),
    formats={"shares": ".2%"},
    captions={
        "figure": (
            "Sensitivity against the number of inputs n: a row of panels for each measure, a "
            "column for each number k of active neurons, a colour for each number s of neurons. "
            "Solid lines are measured, dashed and dotted ones are proved upper bounds."
        ),
        "chart": (
            "Every teacher as a dot: its average sensitivity against the bound 4 k² W². Dots on "
            "the line would attain it."
        ),
        "shares": "Measured sensitivity as a share of its bound",
        "sizes": "Means over the teachers of each size; W bounds weights, B biases.",
        "teachers": "One row per random teacher.",
    },
)
