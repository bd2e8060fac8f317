r"""Depth that is learned together: quadratic networks reach parities that no single layer sees.

With the activation $z^2$ a network of $L$ layers is a polynomial of degree $2^{L-1}$, so it cannot
correlate with a parity of more bits. Up to there SGD on all layers together learns. Layer by layer
it cannot even begin: one quadratic layer under a linear readout has degree 2, so for $k > 2$ every
coordinate of its population gradient is exactly zero (`theory.boolean.depth`). Two controls with
the same recipe: the first layer with a linear readout of its own, trained alone; and fixed random
features, of which only the readout is trained.

An output bias is needed, which the document's formula lacks: with a last hidden width of one,
$f = u z^2$ has a constant sign without it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.models import MLP
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, bootstrap, in_words, lowest, wilson
from elegans.studies.progress.times import (
    by_group,
    groups,
    quantile,
    row_at,
    share_of,
    timed,
    until_perfect,
)
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity
from elegans.theory.boolean.depth import degree_limit, layerwise_gradient
from elegans.training.recipe import Group

SOURCE = "thesis, section B.3.7"
HIDDEN = {2: (10,), 3: (2, 1), 4: (10, 10, 1)}  # by the number of layers
DEEP, NO_BIAS, FIRST, FIXED = "all layers", "no output bias", "first layer alone", "fixed features"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Which k at which n for each number of layers, and how long."""

    grid: tuple[tuple[int, int, int], ...]  # layers, n, k
    seeds: int
    steps: int
    control: tuple[int, int, int]
    learning_rate: float = 0.01
    every: int = 50


def runs(settings: Settings) -> dict[str, Sweep]:
    """Deep networks on the grid, and the controls on one of its tasks."""
    s = settings
    training = until_perfect(s.learning_rate, steps=s.steps, every=s.every, test_samples=1000)
    points = [
        (
            {"layers": layers, "n": n, "k": k, "kind": DEEP},
            Experiment(Parity(n, k), MLP(hidden=HIDDEN[layers], activation="z^2"), training),
        )
        for layers, n, k in s.grid
    ]
    layers, n, k = s.control
    labels = {"layers": layers, "n": n, "k": k}
    no_bias = MLP(hidden=HIDDEN[layers], activation="z^2", output_bias=False)
    first = MLP(hidden=HIDDEN[layers][:1], activation="z^2")
    # Wide random features: the readout is convex, so what fails are the features.
    fixed = MLP(width=100, activation="z^2")
    frozen = until_perfect(
        s.learning_rate,
        steps=s.steps,
        every=s.every,
        test_samples=1000,
        groups=(Group("layers.0", 0.0),),
    )
    controls = [
        ({**labels, "kind": NO_BIAS}, Experiment(Parity(n, k), no_bias, training)),
        ({**labels, "kind": FIRST}, Experiment(Parity(n, k), first, training)),
        ({**labels, "kind": FIXED}, Experiment(Parity(n, k), fixed, frozen)),
    ]
    return {
        "deep": Sweep.of(points, seeds=s.seeds),
        "controls": Sweep.of(controls, seeds=s.seeds),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Shares that converge, by layers, n and k, and the controls' errors."""
    parts = [timed(runs[name].table) for name in ("deep", "controls")]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows[["kind", "layers", "n", "k", "seed", "success", "time", "test_error"]]
    cells = []
    for (kind, layers, n, k), part in groups(rows, ["kind", "layers", "n", "k"]):
        share = share_of(part["success"])
        cells.append(
            {
                "kind": kind,
                "layers": layers,
                "n": n,
                "k": k,
                "possible": k <= degree_limit(int(layers)),
                "runs": len(part),
                "converged": int(part["success"].sum()),
                "low": share.low,
                "high": share.high,
                "median": quantile(part["time"], 0.5),
                "error": float(part["test_error"].median()),
                "least_error": float(part["test_error"].min()),
            }
        )
    return {"cells": pd.DataFrame(cells), "runs": rows, "gradients": gradients(settings)}


def gradients(settings: Settings) -> pd.DataFrame:
    """The largest population gradient of a quadratic neuron, at random weights, for each k."""
    _, n, _ = settings.control
    rng = np.random.default_rng(0)
    rows = []
    for k in range(1, min(n, 6) + 1):
        w = rng.uniform(-1, 1, n) / n**0.5
        gradient = layerwise_gradient(w, float(rng.uniform(-1, 1) / n**0.5), tuple(range(k)))
        rows.append({"k": k, "largest_gradient": float(np.abs(gradient).max())})
    return pd.DataFrame(rows)


def deep_networks_learn(tables: Tables) -> Claim:
    """Up to the degree, at least half of the seeds converge."""
    cells = tables["cells"]
    cells = cells[(cells["kind"] == DEEP) & cells["possible"]]
    worst = row_at(cells, (cells["converged"] / cells["runs"]).idxmin())
    share = wilson(int(worst["converged"]), int(worst["runs"]))
    return Claim(
        text="Networks of L quadratic layers learn parities of k <= 2^(L-1) bits",
        source=SOURCE,
        measured=(
            f"{len(cells)} cells; the least share of seeds that converge is {share:.0%} "
            f"({worst['layers']:.0f} layers, n = {worst['n']:.0f}, k = {worst['k']:.0f})"
        ),
        against="a cell in which fewer than half of the seeds converge",
        holds=share.value >= 0.5,
        interval=share,
    )


def all_seeds_converge(tables: Tables) -> Claim:
    """The document's word is that all of ten seeds converge."""
    cells = tables["cells"]
    cells = cells[(cells["kind"] == DEEP) & cells["possible"]]
    total = wilson(int(cells["converged"].sum()), int(cells["runs"].sum()))
    return Claim(
        text="Every seed of every such network converges",
        source=SOURCE,
        measured=f"{total:.1%} of {cells['runs'].sum()} runs converge",
        against="a single run that does not converge within the document's number of steps",
        holds=total.value == 1.0,
        interval=total,
    )


def too_many_bits_fail(tables: Tables) -> Claim:
    """Beyond the degree nothing is learned: the error stays at one half."""
    rows, cells = tables["runs"], tables["cells"]
    impossible = cells[(cells["kind"] == DEEP) & ~cells["possible"]]
    keys = impossible.set_index(["layers", "n", "k"]).index
    chosen = rows[rows["kind"] == DEEP].set_index(["layers", "n", "k"])
    failed = chosen[chosen.index.isin(keys)]
    error = Interval(np.nan, 0.0, 1.0)
    if len(failed):
        error = bootstrap(failed.groupby("seed")["test_error"].mean().to_numpy(float), np.mean)
    return Claim(
        text="Parities of more bits than the degree are not learned",
        source=SOURCE,
        measured=(
            f"{len(impossible)} cells, {int(failed['success'].sum())} of {len(failed)} runs "
            f"converge, mean error at the end {error:.3f}"
        ),
        against="a run that converges, or a mean error below 0.45",
        holds=bool(len(failed) and not failed["success"].any() and error.low > 0.45),
        interval=error,
    )


def layer_by_layer_fails(tables: Tables) -> Claim:
    """The first layer alone, and fixed features, stay at chance where all layers learn."""
    rows = tables["runs"]
    control = rows[rows["kind"].isin([FIRST, FIXED])]
    errors = by_group(
        control, "kind", lambda part: bootstrap(part["test_error"].to_numpy(float), np.mean)
    )
    layers, n, k = (int(control[name].iloc[0]) for name in ("layers", "n", "k"))
    same = rows[
        (rows["kind"] == DEEP) & (rows["layers"] == layers) & (rows["n"] == n) & (rows["k"] == k)
    ]
    together = share_of(same["success"])
    gradient = tables["gradients"].set_index("k")["largest_gradient"]
    worst = lowest(errors)
    return Claim(
        text="Trained layer by layer the same task is not learned: the gradient is zero",
        source=SOURCE,
        measured=(
            in_words(errors, "{name}: error {value:.2f}")
            + f"; all layers together converge in {together:.0%} of the seeds; the population "
            f"gradient of a single layer is {gradient[k]:.1e} at k = {k}, {gradient[2]:.2f} at "
            "k = 2"
        ),
        against="a mean error of a control below 0.45, or layers that fail together as well",
        holds=worst.low > 0.45 and together.value >= 0.5 and bool(gradient[k] < 1e-12),
        interval=worst,
    )


def output_bias_is_needed(tables: Tables) -> Claim:
    """Without an output bias, as printed, no network can learn."""
    rows = tables["runs"]
    part = rows[rows["kind"] == NO_BIAS]
    share = share_of(part["success"])
    return Claim(
        text="The network as printed, without an output bias, cannot learn: its sign is constant",
        source=f"{SOURCE}, corrected",
        measured=(f"{share:.0%} of the seeds converge; least error {part['test_error'].min():.2f}"),
        against="a run that converges, or one with an error below 0.4",
        holds=bool(not part["success"].any() and part["test_error"].min() > 0.4),
        interval=share,
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The control's task, and the steps of every run."""
    return {"control": settings.control, "steps": settings.steps}


STUDY = Study(
    name="deep-parity",
    title="Layers that learn together learn what no layer can learn alone",
    summary=(
        "A network whose hidden neurons square their input computes a polynomial; with each layer "
        "its degree doubles. It can learn the parity of as many bits as its degree, and does if "
        "all layers are trained at once. The first layer alone gets no signal at all, as its "
        "gradient is exactly zero, and random features with a trained readout fail as well."
    ),
    source="Thesis, section B.3.7",
    scales={
        "quick": Scale(
            Settings(
                grid=(
                    (2, 10, 2),
                    (2, 10, 3),
                    *((3, 10, k) for k in (1, 2, 3, 4, 5)),
                    (4, 10, 4),
                    (4, 10, 6),
                ),
                seeds=10,
                steps=30_000,
                control=(3, 10, 4),
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                grid=(
                    (2, 10, 2),
                    (2, 10, 3),
                    *((3, n, k) for n in (10, 20, 30) for k in (1, 2, 3, 4, 5)),
                    *((4, n, k) for n in (10, 20) for k in (2, 4, 5, 6)),
                ),
                seeds=10,
                steps=100_000,
                control=(3, 10, 4),
            ),
            minutes=15,
        ),
        "paper": Scale(
            Settings(
                grid=(
                    *((2, n, k) for n in (10, 20, 30) for k in (1, 2, 3, 4)),
                    *((3, n, k) for n in (10, 20, 30) for k in (1, 2, 3, 4, 5, 6)),
                    *((4, n, k) for n in (10, 20, 30) for k in range(1, 8)),
                    (4, 10, 8),
                ),
                seeds=10,
                steps=500_000,
                control=(3, 10, 4),
            ),
            minutes=200,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        deep_networks_learn,
        all_seeds_converge,
        too_many_bits_fail,
        layer_by_layer_fails,
        output_bias_is_needed,
    ),
    figures="elegans.studies.progress.figures_deep:deep_parity",
    shown=("cells",),
    formats={"low": ".0%", "high": ".0%", "median": ",.0f", "error": ".2f", "least_error": ".2f"},
    captions={
        "figure": (
            "Left: the share of seeds that converge, by the number of layers (and bits n) and the "
            "bits of the parity, blank where it was not run; right of the red line the degree of "
            "the network is too low. Right: errors at the end, one dot per seed, of the deep "
            "network and of its controls."
        ),
        "cells": "One row per network and task: how many seeds converge, when, and the error.",
        "gradients": "Largest population gradient of one quadratic layer: zero for k > 2.",
    },
)
