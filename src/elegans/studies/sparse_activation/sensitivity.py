r"""How sensitive are sparsely activated networks? Measured, beside lemmas 9 and 10.

Random teachers with $n$ inputs, $s = k 2^b$ neurons and at most $k$ of them active
(`tasks.SparseNetwork`). Average sensitivity and noise sensitivity are exact, from all inputs; $k$,
$W$ and $B$ are those of the drawn network. The lemmas stand with constant 1, and beside them the
sharper $\mathrm{AS} \le 4k^2W^2$, $\mathrm{NS}_\rho \le 2k^2W^2(1 - \rho)$ of
`theory.sparse_activation`, which are proved there and so are no claims here. Whether they can be
improved, what becomes of them where networks are sparse at most inputs only, and Gaussian inputs
are in `gates`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.fields import configuration
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import bootstrap, log_slope
from elegans.studies.sparse_activation.gates import GateStrength, GaussianGates, MostSensitive
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
    gate_n: int = 12
    gate_b: int = 3
    gate_shares: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 1.0)
    tight_bits: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    gaussian_bs: tuple[int, ...] = (2, 3, 4, 5, 6)


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
    """Every size with every seed, gates of every strength, tight families, Gaussian inputs."""
    points: list[tuple[dict[str, Any], Sensitivities]] = [
        ({}, Sensitivities(n=n, b=b, k=k, rho=settings.rho))
        for n in settings.ns
        for b in settings.bs
        for k in settings.ks
        if k * b < n
    ]
    gates = [
        ({"share": share}, GateStrength(n=settings.gate_n, b=settings.gate_b, share=share))
        for share in settings.gate_shares
    ]
    tight = [
        ({"p": p, "k": k}, MostSensitive(p=p, k=k)) for p in settings.tight_bits for k in (1, 2, 3)
    ]
    gaussian: list[tuple[dict[str, Any], GaussianGates]] = [
        ({}, GaussianGates(b=b, n=settings.gate_n)) for b in settings.gaussian_bs
    ]
    return {
        "teachers": Sweep.of(points, seeds=settings.seeds),
        "gates": Sweep.of(gates, seeds=settings.seeds),
        "tight": Sweep.of(tight, seeds=1),
        "gaussian": Sweep.of(gaussian, seeds=settings.seeds),
    }


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
    strength = runs["gates"].table.groupby("share").mean(numeric_only=True).drop(columns="seed")
    return {"shares": shares, "sizes": means, "strengths": strength.reset_index()}


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


def the_bound_is_attained(tables: Tables) -> Claim:
    """There are networks whose average sensitivity is the sharper bound, for every k."""
    tight = tables["tight"]
    ratio = tight["AS"] / tight["theory"]
    certificate = tight["AS"] / tight["theory_activity"]
    return Claim(
        text="4 k² W² cannot be improved: some networks attain it, and the certificate with it",
        source="this study, beside lemma 9",
        measured=(
            f"{len(tight)} networks, k = {tight['k'].min()} to {tight['k'].max()}, p = "
            f"{tight['p'].min()} to {tight['p'].max()}: AS / bound {ratio.min():.4f} to "
            f"{ratio.max():.4f}, AS / certificate {certificate.min():.4f} to "
            f"{certificate.max():.4f}"
        ),
        against="a network of the family more than 1e-4 away from either",
        holds=bool((ratio.sub(1).abs() < 1e-4).all() and (certificate.sub(1).abs() < 1e-4).all()),
        interval=(float(ratio.median()), float(ratio.min()), float(ratio.max())),
    )


def mostly_sparse_is_enough(tables: Tables) -> Claim:
    """Where neurons are sparse at most inputs only, the second moment says it, the class does not.

    Looked at are the strongest gates that leave some input with several active neurons.
    """
    gates = tables["gates"]
    exceptions = gates[gates["k"] > 1]
    last = exceptions.loc[exceptions.groupby("seed")["share"].idxmax()].set_index("seed")
    strict = gates[gates["k"] == 1]
    first = strict.loc[strict.groupby("seed")["share"].idxmin()].set_index("seed")
    advantage = bootstrap((last["theory"] / last["theory_activity"]).to_numpy(float), np.mean)
    change = bootstrap((last["AS"] / first["AS"] - 1).dropna().to_numpy(float), np.mean)
    return Claim(
        text=(
            "A network that is 1-sparse at most inputs is as insensitive as one that is at all, "
            "and the certificate from the second moment of its activity shows it"
        ),
        source=f"{SOURCE}, remark 11 and its open question",
        measured=(
            f"at the last gates with an exception (E r² = {last['second_moment'].mean():.2f}, most "
            f"active {last['k'].mean():.1f}) the sensitivity differs by {change:.1%} from that of "
            f"the next; 4k²W² is {advantage:.1f} times the certificate"
        ),
        against=(
            "an interval of the difference that leaves -10% to 10%, or of the factor that reaches 2"
        ),
        holds=change.low > -0.1 and change.high < 0.1 and advantage.low > 2,
        interval=advantage,
    )


def gaussian_inputs_leave_nothing(tables: Tables) -> Claim:
    """Under Gaussian inputs sparse networks all but vanish as s grows; on bits they do not."""
    gaussian = tables["gaussian"]
    normal = log_slope(gaussian, "s", "gaussian")
    bits = log_slope(gaussian, "s", "bits")
    ratio = gaussian["bias"] / gaussian["theory"]
    return Claim(
        text="Under Gaussian inputs, biases that keep neurons silent leave a mean square below 1/s",
        source=f"{SOURCE}, remark on Gaussian inputs",
        measured=(
            f"exponent of s in the mean square {normal.value:.2f} under Gaussian inputs, "
            f"{bits:.2f} on bits with gates; the bias is {ratio.min():.2f} to {ratio.max():.2f} of "
            "its leading term"
        ),
        against="an exponent above -0.9, or an interval of that on bits that leaves -0.1 to 0.1",
        holds=normal.value < -0.9 and bits.low > -0.1 and bits.high < 0.1,
        interval=bits,
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
    source="Sparse activations paper, lemmas 9 and 10, remark 11, Gaussian inputs",
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
    claims=(
        lemma_9,
        lemma_10,
        hardly_grows_with_inputs,
        the_bound_is_attained,
        mostly_sparse_is_enough,
        gaussian_inputs_leave_nothing,
    ),
    figures={
        "figure": "elegans.studies.sparse_activation.figures:sensitivity",
        "gates": "elegans.studies.sparse_activation.figures_gates:gates",
    },
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
        "gates": (
            "Left: a gated network as its gates grow stronger, from none to strong enough "
            "everywhere: its average sensitivity, the certificate from the second moment of its "
            "activity, and the bound from the largest number of active neurons. Right: the mean "
            "square of networks of s neurons of which more than one is active with probability at "
            "most 1/s²: under Gaussian inputs, with biases, and on bits, with gates."
        ),
        "strengths": "Means over teachers by the strength of the gates, as a share of √q.",
        "tight": "The most sensitive networks: k copies of all patterns of p bits.",
        "gaussian": "Biases under Gaussian inputs, and mean squares there and on bits.",
        "shares": "Measured sensitivity as a share of its bound",
        "sizes": "Means over the teachers of each size; W bounds weights, B biases.",
        "teachers": "One row per random teacher.",
    },
)
