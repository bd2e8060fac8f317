r"""Theorem 5/21: neurons that hold part of the support find the rest in one truncated step.

A neuron of `PerturbedSparse(s)` has weight one on $s$ bits and $\epsilon$ on the others. It is
*good* if its $s$ bits are relevant; then its gradient at the other relevant bits is $\frac{n-k}
{k-s-1}$ times that at irrelevant ones. One step with decay $1 - \frac{\epsilon}{2k}$, rate
$\frac{\epsilon}{2k|\xi|}$ and truncation between the two leaves $\frac{\epsilon}{2k}$ on the
support. The theorem says that there is a subnetwork that correlates with the parity by
$\frac12 - \epsilon$; here it is written down: one good neuron for each of the $k$ biases, and the
readout that solves for the parity on $k + 1$ sums. Its correlation $\mathbb{E}\,h\chi_S /
\|h\|_2$ is measured on new examples. $s = 0$ is a neuron of signs, as in theorem 5.5.

* *Draws*: whole networks at the prescribed width and samples, trained by the engine; as a control,
  with a hundredth of the samples.
* *Samples*: the least number of examples from which the good neurons of one seed, one per bias,
  pass, over $n$: the theorem's power is $n^{k-s-1}$. At sizes that can be run the exponent is
  another one, so that it is compared with what is calculated at the same sizes: with
  `theory.resources.recovery`, the examples from which each entry of these neurons falls on its
  side in half of the draws, and for neurons of signs, which share one gradient and its noise, with
  the same search on gradients drawn from their normal limit.
* *Width*: the least width at which a random network holds a good neuron for each bias: $n^s$, or
  exactly $1/p$ with $p$ of `theory.resources.good_probability`.
* *Exact sparsity*, $s = k$ (the paper's remark): with $r$ of the order of
  $\binom{n}{k} \log(1/\delta)$ some neuron reads exactly the support, and ordinary training with
  weight decay succeeds from few examples; the dense init of the same width is the control.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.statistics import wilson
from elegans.studies.pareto import under_claims
from elegans.studies.pareto.good_neurons import (
    NormalSearch,
    SampleSearch,
    WidthSearch,
    correlation,
    rest_coefficient,
    small_weight,
)
from elegans.studies.pareto.recipe import finished, training
from elegans.studies.study import Scale, Study
from elegans.studies.thresholds import least_sizes, power_law
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory import resources
from elegans.theory.boolean import majority
from elegans.training import layerwise

GOAL = 0.49  # one half, minus a small epsilon


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sizes of the four parts; `searches` are (s, bits) with the grid's first and last samples."""

    draw: tuple[int, int, int]
    draws: int
    k: int
    searches: tuple[tuple[int, tuple[int, ...]], ...]
    seeds: int
    exact_n: int
    exact_width: int
    exact_samples: tuple[int, ...]
    exact_seeds: int
    exact_steps: int


def draw_experiment(n: int, k: int, s: int, samples: int) -> Experiment:
    """A network of the prescribed width, and its one truncated step."""
    plan = resources.under_sparse(n, k, s)
    relevant, irrelevant = resources.partial_gradients(n, k, s)
    epsilon = small_weight(n, s)
    recipe = layerwise(
        samples,
        epsilon / (2 * k * relevant),
        first_decay=1 - epsilon / (2 * k),
        truncate=(relevant + irrelevant) / 2,
        batch=32,
        test_samples=250,
    )
    return Experiment(Parity(n, k), MLP(width=plan.width, init=inits.PerturbedSparse(s)), recipe)


def runs(settings: Settings) -> dict[str, Sweep]:
    """Whole networks, the two searches over n, and exact sparsity."""
    n, k, s = settings.draw
    enough = resources.under_sparse(n, k, s).samples
    draws = [({"samples": m}, draw_experiment(n, k, s, m)) for m in (enough, enough // 100)]
    sizes = [(s, n) for s, bits in settings.searches for n in bits]
    exact = [
        (
            {"init": name, "samples": m},
            Experiment(
                Parity(settings.exact_n, 2),
                MLP(width=settings.exact_width, init=init),
                training(m, settings.exact_steps, settings.exact_steps // 10),
            ),
        )
        for name, init in (("exact", inits.Sparse(2)), ("dense", inits.Uniform()))
        for m in settings.exact_samples
    ]
    return {
        "draws": Sweep.of(draws, seeds=settings.draws, keep="params"),
        "samples": Sweep.of(
            [({"s": s, "n": n}, SampleSearch(n, settings.k, s)) for s, n in sizes],
            seeds=settings.seeds,
        ),
        "calculated": Sweep.of(
            [({"s": 0, "n": n}, NormalSearch(n, settings.k)) for s, n in sizes if not s],
            seeds=4 * settings.seeds,
        ),
        "widths": Sweep.of(
            [({"s": s, "n": n}, WidthSearch(n, settings.k, s)) for s, n in sizes if s],
            seeds=4 * settings.seeds,
        ),
        "exact": Sweep.of(exact, seeds=settings.exact_seeds),
    }


def network_correlation(run: Run, s: int) -> float:
    """The correlation of the subnetwork of a trained network; 0 if a bias has no good neuron."""
    n, k = run.experiment.task.n, run.experiment.task.k
    before, after = (np.asarray(p.layers[0].weight, float) for p in (run.initial, run.params))
    bias = np.asarray(run.initial.layers[0].bias, float)
    sign = np.asarray(run.initial.layers[1].weight, float)[:, 0]
    right = np.sign(majority.half(s, s) * rest_coefficient(n, k, s))
    is_good = (before[:k] > 0.999).sum(axis=0) == s
    is_good &= sign == right
    epsilon = small_weight(n, s)
    chosen = []
    for b in epsilon * np.arange(1 - k, k, 2) / (2 * k):
        here = np.flatnonzero(is_good & (np.abs(bias - b) < epsilon / (4 * k)))
        if not len(here):
            return 0.0
        chosen.append(int(here[0]))
    return correlation(after[:, chosen], k, epsilon, run.seed)


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Correlations of networks, least sizes of each seed, exponents, and exact sparsity."""
    s = settings.draw[2]
    correlations = [network_correlation(run, s) for run in runs["draws"]]
    draws = runs["draws"].table[["samples", "seed"]].assign(correlation=correlations)
    needed = least_samples(runs["samples"].table)
    widths = runs["widths"].table[["s", "n", "seed", "width"]]
    calculated = least_samples(runs["calculated"].table).groupby("n")["samples"].median()
    expected = {
        (s, n): float(calculated[n]) if not s else recovery_of_all(settings.k, s, n)
        for s, bits in settings.searches
        for n in bits
    }
    return {
        "exponents": exponents(settings, needed, widths, expected),
        "needed": looseness(settings, needed, widths, expected),
        "networks": draws,
        "least_samples": needed,
        "least_widths": widths,
        "exact_rates": exact_rates(runs["exact"].table),
    }


def least_samples(table: pd.DataFrame) -> pd.DataFrame:
    """Per s, n and seed: the least samples from which all that are more pass; infinite if none."""
    return least_sizes(table, ["s", "n", "seed"], table["correlation"] >= GOAL)


def recovery_of_all(k: int, s: int, n: int) -> float:
    """Samples at which each of k good neurons has the right entries left in half of the draws."""
    return resources.under_sparse_recovery(n, k, s, 0.5 ** (1 / k))


def exponents(
    settings: Settings,
    needed: pd.DataFrame,
    widths: pd.DataFrame,
    expected: Mapping[tuple[int, int], float],
) -> pd.DataFrame:
    """Slopes over n of the least samples and widths, median over seeds."""
    rows = []
    for column, table in (("samples", needed), ("width", widths)):
        for s, part in table.groupby("s"):
            known = int(cast(Any, s))
            slope = power_law(part, "n", column)
            sizes = sorted(part["n"].unique())
            exact = [
                expected[known, int(n)]
                if column == "samples"
                else 1 / resources.good_probability(int(n), settings.k, known)
                for n in sizes
            ]
            rows.append(
                {
                    "law": f"{column} over n, s = {s}",
                    "slope": slope.value,
                    "low": slope.low,
                    "high": slope.high,
                    "exact": float(np.polyfit(np.log(sizes), np.log(exact), 1)[0]),
                    "theory": float(settings.k - known - 1 if column == "samples" else known),
                }
            )
    return pd.DataFrame(rows)


def looseness(
    settings: Settings,
    needed: pd.DataFrame,
    widths: pd.DataFrame,
    expected: Mapping[tuple[int, int], float],
) -> pd.DataFrame:
    """Per s and n: what seeds need in the median, what 95% need at most, and the prescription."""
    rows = []
    for key, part in needed.groupby(["s", "n"]):
        s, n = cast(tuple[Any, ...], key)
        row: dict[str, Any] = {
            "s": int(s),
            "n": int(n),
            "median_samples": part["samples"].median(),
            "predicted_samples": expected[int(s), int(n)],
            "samples": part["samples"].quantile(0.95, "higher"),
        }
        if s:
            plan = resources.under_sparse(int(n), settings.k, int(s))
            wide = widths[(widths["s"] == s) & (widths["n"] == n)]["width"]
            row |= {"prescribed_samples": plan.samples, "width": wide.quantile(0.95, "higher")}
            row |= {"prescribed_width": plan.width}
            row |= {"loose_samples": plan.samples / row["samples"]}
            row |= {"loose_width": plan.width / row["width"]}
        rows.append(row)
    return pd.DataFrame(rows)


def exact_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Per init and samples: how many runs learn."""
    rows = []
    for key, part in finished(table).groupby(["init", "samples"], sort=False):
        init, samples = cast(tuple[Any, ...], key)
        rate = wilson(int(part["success"].sum()), len(part))
        rows.append({"init": init, "samples": int(samples), "runs": len(part), "rate": rate.value})
        rows[-1] |= {"low": rate.low, "high": rate.high}
    return pd.DataFrame(rows)


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """Sizes that claims and figure mention."""
    n, k, s = settings.draw
    plan = resources.under_sparse(n, k, s)
    return {
        "n": n,
        "k": k,
        "s": s,
        "width": plan.width,
        "samples": plan.samples,
        "goal": GOAL,
        "exact_n": settings.exact_n,
        "exact_width": settings.exact_width,
    }


STUDY = Study(
    name="under-sparse",
    title="Neurons that know two of four hidden bits find the other two in one step",
    summary=(
        "The label is the product of four hidden bits out of n. Each neuron starts by reading two "
        "inputs, and all others faintly. If its two inputs are hidden bits, its first gradient is "
        "large at the other two. One step then leaves a neuron that reads just the four hidden "
        "bits, and five such neurons write the label exactly. Such neurons are rare, so that the "
        "network has to be wide; in return it needs fewer examples. The Pareto paper proves this "
        "in powers of n. Here the networks are drawn, the readout is solved, and the powers and "
        "the constants are measured."
    ),
    source="Pareto paper, theorems 5 and 21, and the remark on exact sparsity",
    scales={
        "quick": Scale(
            Settings(
                draw=(21, 4, 2),
                draws=60,
                k=4,
                searches=((0, (9, 11, 15, 21)), (2, (15, 21, 31, 45, 65))),
                seeds=60,
                exact_n=20,
                exact_width=600,
                exact_samples=(30, 60, 120, 240),
                exact_seeds=10,
                exact_steps=4000,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                draw=(31, 4, 2),
                draws=100,
                k=4,
                searches=((0, (9, 11, 15, 21, 31)), (2, (15, 21, 31, 45, 65, 95))),
                seeds=60,
                exact_n=30,
                exact_width=1800,
                exact_samples=(30, 60, 120, 240, 480),
                exact_seeds=30,
                exact_steps=20_000,
            ),
            minutes=45,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        under_claims.the_prescription_suffices,
        under_claims.few_samples_fail,
        under_claims.samples_grow_as_the_rest,
        under_claims.dense_samples_grow_as_the_whole,
        under_claims.width_grows_with_what_is_known,
        under_claims.prescriptions_are_loose,
        under_claims.exact_sparsity_needs_few_samples,
    ),
    figures="elegans.studies.pareto.figures_theorems:under_sparse",
    shown=("exponents", "needed", "exact_rates"),
    formats={
        "slope": ".2f",
        "exact": ".2f",
        "theory": ".0f",
        "median_samples": ",.0f",
        "predicted_samples": ",.0f",
        "low": ".2f",
        "high": ".2f",
        "samples": ",.0f",
        "width": ",.0f",
        "prescribed_samples": ",.0f",
        "prescribed_width": ",.0f",
        "loose_samples": ".1f",
        "loose_width": ".1f",
        "rate": ".0%",
        "correlation": ".3f",
    },
    captions={
        "figure": (
            "Left: how a subnetwork of each random network correlates with the label after "
            "one step, with the prescribed number of examples and with a hundredth of it. Middle: "
            "the least examples and, right, the least width over the number of bits, one dot per "
            "seed and a circle for their median; solid lines are computed from exact gradients and "
            "not fitted, dashed lines are the theorem's powers of n."
        ),
        "exponents": (
            "Slopes over n of the least samples and widths, what is calculated at the same sizes, "
            "and the theorem's powers"
        ),
        "needed": "What seeds need in the median, 95% of them at most, and what is prescribed",
        "networks": "One row per network: the correlation of its subnetwork.",
        "least_samples": "One row per seed: the least samples from which its good neurons pass.",
        "least_widths": "One row per seed: the least width with a good neuron of each bias.",
        "exact_rates": "Exact sparsity s = k = 2: how many runs learn, beside dense inits",
        "draws": "One row per network.",
        "calculated": "One row per draw of normal gradients and number of samples; s = 0.",
        "samples": "One row per seed and number of samples.",
        "widths": "One row per seed.",
        "exact": "One row per run.",
    },
)
