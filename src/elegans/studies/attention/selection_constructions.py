r"""Attention that selects, with weights set by hand: exact on every truth table (thesis, 4.5, A.2).

One head computes every symmetric function of $s$ hidden bits, and $s$ heads (or one, on a bag of
vectors) every function of them, followed by a small network of rectifiers, with a query of norm
$O(\log(Ts))$. All of it is computed in float64 on all $2^T$ inputs, or at large $T$ on random ones.

Beside it: position vectors that are not orthogonal, where the printed key fails and its dual does
not; and Hahn's limit. At a fixed norm one bit moves the output of a head by $O(1/T)$, as
averaging does; at a norm that grows like $\ln T$ it moves it by $2/s$, whatever $T$.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.studies.attention.construction_checks import Coherent, Flips, Norms, TruthTables
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep

SOURCE = "thesis, proposition 4.12 and appendix A.2"
EXACT = 1e-12
INPUTS = ("positions", "trained", "bag")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sizes of the truth tables, of the norms, and of vectors that are not orthogonal."""

    T: int
    sparsities: tuple[int, ...]
    large_T: int
    norm_lengths: tuple[int, ...]
    coherent: tuple[tuple[int, int], ...]
    seeds: int


def runs(settings: Settings) -> dict[str, Sweep]:
    """All constructions, each a computation."""
    truth = [
        ({"kind": kind, "inputs": inputs, "s": s, "T": T}, TruthTables(kind, inputs, T, s))
        for kind in ("symmetric", "junta")
        for inputs in INPUTS
        for s in settings.sparsities
        for T in (settings.T, settings.large_T)
        # Positions on axes of their own take T numbers per token: the large T is for the others.
        if T <= 1000 or inputs == "trained"
    ]
    truth.append(
        (
            {"kind": "three symbols", "inputs": "positions", "s": 2, "T": 6},
            TruthTables("junta", "positions", 6, 2, symbols=3),
        )
    )
    s = 3
    norms = [
        ({"inputs": inputs, "T": T}, Norms(inputs, T, s))
        for inputs in INPUTS
        for T in settings.norm_lengths
    ]
    coherent = [
        (
            {"T": T, "dim": dim, "key": "printed" if printed else "dual"},
            Coherent(T, dim, s, printed),
        )
        for T, dim in settings.coherent
        for printed in (True, False)
    ]
    first = settings.norm_lengths[0]
    flips = [({"T": T}, Flips(T, s, first)) for T in settings.norm_lengths]
    return {
        "truth": Sweep.of(truth),
        "norms": Sweep.of(norms),
        "coherent": Sweep.of(coherent, seeds=settings.seeds),
        "flips": Sweep.of(flips),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """The computations' own tables."""
    return {name: each.table for name, each in runs.items()}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return {"T": settings.T, "large_T": settings.large_T}


def constructions_are_exact(tables: Tables) -> Claim:
    """Every construction computes every truth table to rounding."""
    truth = tables["truth"]
    worst = truth.iloc[int(truth["error"].to_numpy().argmax())]
    return Claim(
        text="One layer of attention and a small MLP compute every function of few bits exactly",
        source=SOURCE,
        measured=(
            f"largest error over {int(truth['tables'].sum()):,} truth tables, on all inputs of T = "
            f"{tables.facts['T']} bits and random ones of {tables.facts['large_T']:,}: "
            f"{worst['error']:.1g} ({worst['kind']}, {worst['inputs']}, s = {worst['s']})"
        ),
        against="an error above 1e-12 on any input of any table",
        holds=bool((truth["error"] <= EXACT).all()),
    )


def norms_are_logarithmic(tables: Tables) -> Claim:
    """Norms are within their bounds, and that of the query grows with ln T."""
    norms = tables["norms"]
    excess = (norms["norm"] / norms["bound"]).max()
    query = norms[(norms["weight"] == "query") & (norms["inputs"] == "positions")]
    slope, _ = np.polyfit(np.log(query["T"].astype(float)), query["norm"], 1)
    others = norms[norms["weight"] != "query"].groupby(["inputs", "weight"])["norm"]
    spread = float((others.max() - others.min()).max())
    return Claim(
        text="The query has norm O(log(Ts)), and no other weight grows with T",
        source=SOURCE,
        measured=(
            f"the norm of the query grows by {slope:.3f} per e-fold of T, those of other weights "
            f"by {spread:.1g} in all; norms are up to {excess:.3f} times their bounds"
        ),
        against="a norm above its bound, a slope of the query other than 1, or another that grows",
        holds=bool(excess <= 1 + 1e-12 and abs(slope - 1) < 1e-6 and spread < 1e-9),
    )


def dual_key_repairs(tables: Tables) -> Claim:
    """On vectors that are not orthogonal the printed key fails, and the dual one does not."""
    table = tables["coherent"]
    worst = table.groupby("key")["error"].max()
    allowed = float(table["allowed"].iloc[0])
    printed = table[table["key"] == "printed"]["error"]
    return Claim(
        text="If positions are not orthogonal the dual key selects, and the printed one may fail",
        source="thesis, lemma A.19, repaired",
        measured=(
            f"worst error over all inputs: {worst['dual']:.1g} with the dual key, "
            f"{printed.min():.2f} to {printed.max():.2f} with the printed one ("
            f"{int((printed > allowed).sum())} of {len(printed)} above the {allowed:.3f} that is "
            f"allowed; coherence {table['coherence'].min():.2f} to "
            f"{table['coherence'].max():.2f})"
        ),
        against=(
            "a dual key that is off by more than allowed, or no printed one that is: the lemma is "
            "about all vectors of that coherence"
        ),
        holds=bool(worst["dual"] <= allowed < printed.max()),
    )


def fixed_norms_lose_the_bit(tables: Tables) -> Claim:
    """At a fixed norm a hidden bit loses its effect; at a growing one it does not."""
    flips = tables["flips"].pivot(index="T", columns="head", values="effect").sort_index()
    theory = tables["flips"].pivot(index="T", columns="head", values="theory").sort_index()
    first, last = flips.iloc[0], flips.iloc[-1]
    off = float((flips / theory - 1).abs().max().max())
    growth = float(flips.index[-1]) / float(flips.index[0])
    exponent = math.log(last["averaging"] / first["averaging"]) / math.log(growth)
    return Claim(
        text="At a fixed norm attention loses a single bit among many (Hahn); at ln T it does not",
        source="thesis, section 4.5",
        measured=(
            f"one hidden bit moves the output, from T = {flips.index[0]} to {flips.index[-1]:,}, "
            "by "
            f"{first['growing']:.2f} to {last['growing']:.2f} at the growing norm, "
            f"{first['fixed']:.2f} to {last['fixed']:.3f} at the fixed one, and "
            f"{first['averaging']:.2g} to {last['averaging']:.2g} by averaging (T^{exponent:.2f}); "
            f"within {off:.0e} of the closed form"
        ),
        against=(
            "an effect at the growing norm that falls by a tenth, or one at the fixed norm that "
            "does not fall by half"
        ),
        holds=bool(
            last["growing"] > 0.9 * first["growing"]
            and last["fixed"] < 0.5 * first["fixed"]
            and off < 1e-9
        ),
    )


STUDY = Study(
    name="selection-constructions",
    title="Attention with weights set by hand selects any few of many inputs, exactly",
    summary=(
        "Can one layer of attention compute a function of a few hidden inputs among many, with "
        "weights of moderate size? Here such weights are set by hand, following the proofs of the "
        "thesis (with its slips repaired), and the networks are run on every input and every truth "
        "table. The norm of the queries grows like the logarithm of the number of inputs; with a "
        "fixed norm a single input would drown among the others."
    ),
    source="Thesis, proposition 4.12 and lemmas A.19 to A.25",
    scales={
        "quick": Scale(
            Settings(
                T=8,
                sparsities=(1, 2, 3),
                large_T=10_000,
                norm_lengths=(16, 64, 256, 1024),
                coherent=((100, 600), (1000, 2000)),
                seeds=8,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                T=12,
                sparsities=(1, 2, 3, 4),
                large_T=10_000,
                norm_lengths=(16, 64, 256, 1024, 4096),
                coherent=((100, 600), (1000, 2000)),
                seeds=10,
            ),
            minutes=5,
        ),
        "paper": Scale(
            Settings(
                T=12,
                sparsities=(1, 2, 3, 4, 5),
                large_T=100_000,
                norm_lengths=(16, 64, 256, 1024, 4096),
                coherent=((100, 600), (1000, 2000), (4000, 3000)),
                seeds=20,
            ),
            minutes=20,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        constructions_are_exact,
        norms_are_logarithmic,
        dual_key_repairs,
        fixed_norms_lose_the_bit,
    ),
    figures="elegans.studies.attention.figures_theory:constructions",
    shown=("truth", "coherent"),
    formats={
        "error": ".1e",
        "norm": ".3f",
        "bound": ".3f",
        "coherence": ".3f",
        "allowed": ".3f",
        "effect": ".4g",
        "theory": ".4g",
        "T": ",",
        "rate": ".2f",
    },
    captions={
        "figure": (
            "Left: the largest error of each construction over all truth tables and inputs; the "
            "line is 1e-12. Middle: the worst error of a head whose position vectors are not "
            "orthogonal, with the printed key and with its dual; the line is what the proof "
            "allows. Right: how far one hidden bit moves the output of a head among T inputs, if "
            "the norm of the query grows with ln T, if it stays what it is at the smallest T, and "
            "without attention."
        ),
        "truth": "The largest error over truth tables and inputs; examples counts the inputs.",
        "norms": "Norms of the weights of one head beside their bounds.",
        "coherent": "Heads on random position vectors; coherence is the largest inner product.",
        "flips": "The effect of one hidden bit on the output, beside the closed form.",
    },
)
