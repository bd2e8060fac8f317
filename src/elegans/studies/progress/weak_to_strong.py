r"""From a network that is barely better than chance to the exact answer.

A network with fewer neurons than relevant bits cannot compute the parity, but it can agree with it
on 55% of the inputs: then its sign has the Fourier coefficient $\theta \ge 0.1$ at the support.
The algorithm of Kushilevitz and Mansour lists all sets with large coefficients from queries to the
network, without any labelled example, and a few hundred labelled examples tell which of the sets
it is. The control is the same procedure on the untrained networks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.learners.kushilevitz_mansour import large_coefficients
from elegans.models import MLP
from elegans.report.result import Claim, Tables
from elegans.runs import Run, Runs
from elegans.studies.progress.times import share_of, until_perfect
from elegans.studies.progress.width_and_time import WEAK
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import Parity

SOURCE = "thesis, sections 5.4 and B.1.1 (Goldreich and Levin)"
TRAINED, UNTRAINED = "trained", "untrained"
LABELLED = 1000  # examples that choose among the sets


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A task, widths below k, and how many queries the search may make per bit."""

    n: int
    k: int
    widths: tuple[int, ...]
    seeds: int
    steps: int
    threshold: float
    pairs: int


def runs(settings: Settings) -> dict[str, Sweep]:
    """Networks that stop once they are right on 55% of the examples, ten looks in a row."""
    s = settings
    training = until_perfect(0.1, batch=128, steps=s.steps, stop=WEAK, test_samples=1000)
    points = [
        ({"width": width}, Experiment(Parity(s.n, s.k), MLP(width=width), training))
        for width in s.widths
    ]
    return {"networks": Sweep.of(points, seeds=s.seeds, keep="params")}


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """What is read off each network, trained and not."""
    networks = runs["networks"]
    return {"networks": networks.rows(lambda run: read_off(settings, run))}


def read_off(settings: Settings, run: Run) -> pd.DataFrame:
    """The sets with large coefficients of a network, and the one that labels choose."""
    rows = []
    for kind, params in ((TRAINED, run.params), (UNTRAINED, run.initial)):
        sign = signs(run.experiment.model, params)
        sets = large_coefficients(
            sign, settings.n, settings.threshold, samples=settings.pairs, seed=run.seed
        )
        x, y = Parity(settings.n, settings.k).sample(jr.key(2**20 + run.seed), LABELLED)
        chosen = best_set(list(sets), np.asarray(x), np.asarray(y))
        accuracy = float(np.mean(sign(np.asarray(x, float)) == np.asarray(y)))
        rows.append(
            {
                "network": kind,
                "weakly_learned": bool(run.success),
                "accuracy": accuracy,
                "sets": len(sets),
                "coefficient": sets.get(tuple(range(settings.k)), 0.0),
                "chosen": " ".join(map(str, chosen)),
                "recovered": chosen == tuple(range(settings.k)),
            }
        )
    return pd.DataFrame(rows)


def signs(model: Any, params: Any) -> Any:
    """The sign of a network at rows of inputs, as a function of NumPy arrays."""
    predict = jax.jit(lambda x: jnp.where(model.apply(params, x) >= 0, 1.0, -1.0))
    return lambda x: np.asarray(predict(jnp.asarray(x, jnp.float32)), float)


def best_set(sets: list[tuple[int, ...]], x: np.ndarray, y: np.ndarray) -> tuple[int, ...]:
    """The set whose parity agrees best with the labels; the empty one if there is none."""
    scores = {each: abs(float(np.mean(x[:, list(each)].prod(axis=1) * y))) for each in sets}
    return max(scores, key=lambda each: scores[each], default=())


def support_is_recovered(tables: Tables) -> Claim:
    """From every weakly trained network the support is recovered, from no untrained one."""
    rows = tables["networks"]
    trained = rows[(rows["network"] == TRAINED) & rows["weakly_learned"]]
    untrained = rows[rows["network"] == UNTRAINED]
    share = share_of(trained["recovered"])
    control = share_of(untrained["recovered"])
    return Claim(
        text="A network that is right on 55% of the inputs reveals the whole support",
        source=SOURCE,
        measured=(
            f"recovered from {share:.0%} of {len(trained)} networks with accuracies of "
            f"{trained['accuracy'].min():.0%} to {trained['accuracy'].max():.0%}, and from "
            f"{control:.0%} of the untrained ones; the list has {trained['sets'].median():.0f} "
            "sets in the median"
        ),
        against="an interval below one half for trained networks, or overlapping the untrained",
        holds=share.low > 0.5 and control.high < share.low,
        interval=share,
    )


def weak_networks_stay_weak(tables: Tables) -> Claim:
    """The networks themselves are far from the answer that they reveal."""
    rows = tables["networks"]
    trained = rows[(rows["network"] == TRAINED) & rows["weakly_learned"]]
    below = share_of(trained["accuracy"] < 0.9)
    return Claim(
        text="The networks from which the support is read are themselves far from right",
        source=SOURCE,
        measured=(
            f"{below:.0%} are below 90% accuracy; the median is {trained['accuracy'].median():.0%}"
        ),
        against="an interval of the share below 90% accuracy that reaches one half",
        holds=below.low > 0.5,
        interval=below,
    )


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """The task and the threshold."""
    return {"n": settings.n, "k": settings.k, "threshold": settings.threshold}


STUDY = Study(
    name="weak-to-strong",
    title="A network that is barely better than chance knows the whole answer",
    summary=(
        "Networks with one or two neurons are too small for the parity of three bits, and are "
        "stopped as soon as they are right on 55% of the inputs. Asked the right questions they "
        "reveal all three bits nevertheless: an algorithm that finds the large Fourier "
        "coefficients of any function, by queries alone, lists a few sets of bits, and a handful "
        "of labelled examples says which one it is."
    ),
    source="Thesis, sections 5.4 and B.1.1",
    scales={
        "quick": Scale(
            Settings(n=20, k=3, widths=(1, 2), seeds=8, steps=20_000, threshold=0.15, pairs=60_000),
            minutes=1,
        ),
        "laptop": Scale(
            Settings(
                n=30, k=3, widths=(1, 2), seeds=30, steps=50_000, threshold=0.1, pairs=400_000
            ),
            minutes=30,
        ),
        "paper": Scale(
            Settings(
                n=50, k=3, widths=(1, 2), seeds=100, steps=100_000, threshold=0.1, pairs=4_000_000
            ),
            minutes=2000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(support_is_recovered, weak_networks_stay_weak),
    figures="elegans.studies.progress.figures_deep:weak_to_strong",
    shown=("networks",),
    formats={"accuracy": ".0%", "coefficient": ".2f"},
    captions={
        "figure": (
            "Each dot is a network: its accuracy on fresh examples, and the Fourier coefficient "
            "of its sign at the true support as the algorithm estimates it from queries (zero if "
            "the set is not in its list). Filled dots: the support was recovered."
        ),
        "networks": (
            "One row per network, trained and not: how many sets with large coefficients were "
            "found, which one the labels choose, and whether it is the support."
        ),
    },
)
