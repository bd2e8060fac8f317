r"""Activations made for parities: drawn, and trained as single neurons and in wider networks.

Each passes through $(k - 2j, (-1)^j)$, $j = 0, \dots, k$, so that one neuron can compute the parity
of $k$ bits. The text says that wider networks with these activations train as well, and that
doubling the argument of the sinusoid, as in its runs on 50 bits, makes training robust. Doubling is
a change of scale: weights start twice as large and move four times as fast. So both are compared at
the document's rate, and each at the best of several rates, chosen on even and judged on odd seeds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.fields import configuration
from elegans.models import MLP
from elegans.models.activations import OF_PARITIES, activation
from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval, paired
from elegans.studies.progress.times import (
    best_rates,
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

RATES = {"zigzag": 0.1, "oscillating": 0.02, "infinite-zigzag": 0.1, "sinusoid": 0.05}
SINUSOID_RATES = {True: 0.05, False: 0.01}  # with and without a second layer
FACTORS = (1.0, 0.25, 0.0625)  # on those rates


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Degrees to draw, a task with widths to train, and the task of the doubled sinusoid."""

    degrees: tuple[int, ...]
    n: int
    k: int
    widths: tuple[int, ...]
    doubled_n: int
    seeds: int
    doubled_seeds: int
    steps: int


@configuration
class Drawn:
    """The values of an activation on a grid, and how far it is from the points."""

    kind: str
    k: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per argument; `sign` is the parity where the argument is a sum of k signs."""
        # A sinusoid of 2z passes through the points at half of each sum.
        scale = 0.5 if self.kind == "sinusoid-2z" else 1.0
        z = np.round(np.arange(-self.k - 2, self.k + 2.01, 0.05), 2)
        sums = {self.k - 2 * j: (-1.0) ** j for j in range(self.k + 1)}
        sign = [sums.get(round(s), np.nan) if abs(s - round(s)) < 1e-9 else np.nan for s in z]
        sigma = activation(f"{self.kind}:{self.k}")
        value = np.asarray(sigma(jnp.asarray(scale * z, jnp.float32)), np.float64)
        return pd.DataFrame({"z": scale * z, "value": value, "sign": sign})


def runs(settings: Settings) -> dict[str, Sweep]:
    """The drawings, networks of several widths, and sinusoids of z and of 2z."""
    s = settings
    drawn = [({"kind": kind, "k": k}, Drawn(kind, k)) for kind in OF_PARITIES for k in s.degrees]
    wider = [
        (
            {"kind": kind, "width": width},
            Experiment(
                Parity(s.n, s.k),
                MLP(width=width, activation=f"{kind}:{s.k}"),
                until_perfect(rate, steps=s.steps),
            ),
        )
        for kind, rate in RATES.items()
        for width in s.widths
    ]
    doubled = [
        (
            {"kind": kind, "second_layer": has_output, "rate": factor},
            Experiment(
                Parity(s.doubled_n, s.k),
                MLP(width=1, activation=f"{kind}:{s.k}", output_layer=has_output),
                until_perfect(factor * SINUSOID_RATES[has_output], steps=s.steps),
            ),
        )
        for kind in ("sinusoid", "sinusoid-2z")
        for has_output in (True, False)
        for factor in FACTORS
    ]
    return {
        "drawn": Sweep.of(drawn, seeds=1),
        "wider": Sweep.of(wider, seeds=s.seeds),
        "doubled": Sweep.of(doubled, seeds=s.doubled_seeds),
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Drawings, rates and median times by activation and width, and by the factor of z."""
    wider, doubled = timed(runs["wider"].table), timed(runs["doubled"].table)
    drawn = runs["drawn"].table
    points = drawn.dropna(subset="sign")
    error = (points["value"] - points["sign"]).abs().groupby([points["kind"], points["k"]]).max()
    return {
        "rates": rates(wider, ["kind", "width"]),
        "doubled_rates": rates(doubled, ["kind", "second_layer", "rate"]),
        "points": error.rename("largest_distance").reset_index(),
        "drawn": drawn,
        "wider": wider[["kind", "width", "seed", "success", "time"]],
        "doubled": doubled[["kind", "second_layer", "rate", "seed", "success", "time"]],
    }


def rates(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """The share that converged with its interval, and the median time."""
    cells = []
    for key, part in groups(rows, by):
        share = share_of(part["success"])
        names = dict(zip(by, key, strict=True))
        median = quantile(part["time"], 0.5)
        cells.append({**names, "runs": len(part), **share._asdict(), "median": median})
    return pd.DataFrame(cells)


def wider_networks_train(tables: Tables) -> Claim:
    """Every activation converges in most runs at every width."""
    cells = tables["rates"]
    worst = row_at(cells, cells["low"].idxmin())
    interval = Interval(worst["value"], worst["low"], worst["high"])
    return Claim(
        text="Wider networks with these activations train too",
        source="thesis, section B.4.1",
        measured=(
            f"{len(cells)} cells; the least share of runs that converge is {interval:.0%} "
            f"({worst['kind']}, width {worst['width']})"
        ),
        against="a cell in which the interval of the share that converges reaches one half",
        holds=interval.low > 0.5,
        interval=interval,
    )


def doubling_is_a_matter_of_rate(tables: Tables) -> Claim:
    """Doubling loses runs at the document's rate, and wins none at the best rates."""
    rows = tables["doubled"]
    same = doubling_gain(rows[rows["rate"] == max(FACTORS)])
    even, odd = (rows[rows["seed"] % 2 == half] for half in (0, 1))
    best = best_rates(even, ["kind", "second_layer"])
    chosen = [
        rate == best[kind, layer]
        for kind, layer, rate in zip(odd["kind"], odd["second_layer"], odd["rate"], strict=True)
    ]
    judged = doubling_gain(odd[chosen])
    shares = odd[chosen].groupby("kind")["success"].mean()
    return Claim(
        text="Doubling the argument of a sinusoid asks for a smaller rate, and is not more robust",
        source="thesis, section 5.3 (which says that it makes training robust)",
        measured=(
            f"gain in runs that converge, paired by seed: {same:+.0%} at the document's rate, "
            f"{judged:+.0%} at the best rates of other seeds ({shares['sinusoid-2z']:.0%} against "
            f"{shares['sinusoid']:.0%})"
        ),
        against="no loss at the document's rate, or a gain at the best rates, beyond the interval",
        holds=same.high < 0 and judged.low <= 0,
        interval=same,
    )


def doubling_gain(rows: pd.DataFrame) -> Interval:
    """How many more runs converge with 2z than with z, in pairs of one seed and network."""
    by = rows.astype({"success": float}).set_index(["second_layer", "seed"])
    plain, doubled = (by[by["kind"] == kind]["success"] for kind in ("sinusoid", "sinusoid-2z"))
    return paired(plain, doubled, np.mean).difference


STUDY = Study(
    name="activation-functions",
    title="Activations made for parities: one neuron is enough, and more do no harm",
    summary=(
        "A zigzag, a polynomial or a wave that passes through +1 and -1 in turn, at the sums that "
        "k signs can have, computes the parity of k bits with a single neuron. The four "
        "activations are drawn for several k, and networks of several widths with them are "
        "trained by SGD. A variant that the document uses, a wave of twice the frequency, is "
        "trained beside the plain one."
    ),
    source="Thesis, Figure B.14, sections 5.3.1 and B.4.1",
    scales={
        "quick": Scale(
            Settings(
                degrees=(2, 3, 4),
                n=20,
                k=3,
                widths=(1, 10, 100),
                doubled_n=50,
                seeds=12,
                doubled_seeds=30,
                steps=10_000,
            ),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                degrees=(2, 3, 4, 5),
                n=30,
                k=3,
                widths=(1, 10, 100, 1000),
                doubled_n=50,
                seeds=50,
                doubled_seeds=100,
                steps=50_000,
            ),
            minutes=30,
        ),
        "paper": Scale(
            Settings(
                degrees=(2, 3, 4, 5, 6),
                n=50,
                k=3,
                widths=(1, 10, 100, 1000),
                doubled_n=50,
                seeds=100,
                doubled_seeds=1000,
                steps=100_000,
            ),
            minutes=300,
        ),
    },
    runs=runs,
    tables=tables,
    claims=(wider_networks_train, doubling_is_a_matter_of_rate),
    figures="elegans.studies.progress.figures_activations:activation_functions",
    shown=("rates", "doubled_rates"),
    formats={"value": ".0%", "low": ".0%", "high": ".0%", "median": ",.0f"},
    captions={
        "figure": (
            "Top: the activations for several k, with the points that a sum of k signs can reach, "
            "+1 for an even number of minus signs. Bottom left: the share of runs that converge at "
            "each width. Bottom right: sinusoids of z and of 2z, with and without a second layer, "
            "at the document's rate and at smaller ones. Bars are 95% Wilson intervals."
        ),
        "rates": "Share of runs that converge (with its interval) and median steps, by width.",
        "doubled_rates": (
            "The same for sinusoids of z and of 2z, with and without a second layer; rate is in "
            "units of the document's."
        ),
        "points": "The largest distance of each activation from its points (float32).",
        "drawn": "Values of the activations; sign is the parity, where the argument is a sum.",
    },
)
