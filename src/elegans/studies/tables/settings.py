r"""The scales of the study of tables: which networks and learners, on which rows, for how long.

Appendix C.3 of the Pareto paper trains on fractions of the training rows of 16 tables, 100 epochs
in batches of 256 at rate 0.001, with and without weight decay 0.01. An epoch of $m$ rows is
$\lceil m / 256 \rceil$ steps. Where $m \le 256$ a loader's batch is the whole training set, and
so it is here (`batch=None`); larger sets are drawn from with replacement.

The paper's own scale has about $10^{22}$ floating-point operations (`flops` counts them from the
sizes of Table 1): nobody runs it on a laptop. `cluster` is the part of it that a hundred cores do
in days.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from elegans.models import inits
from elegans.tasks.tables import openml
from elegans.tasks.tables.tabular import Tabular, load, sizes_of
from elegans.training.recipe import Training

Shape = tuple[int, ...]  # neurons in each hidden layer
INITS = {"dense": inits.Uniform(), "2-sparse": inits.Sparse(2), "4-sparse": inits.Sparse(4)}
BATCH = 256
LEARNING_RATE = 0.001


class Size(NamedTuple):
    """A table's name, rows and features: all that a plan depends on."""

    name: str
    rows: int
    features: int


@dataclass(frozen=True, kw_only=True)
class Networks:
    """Networks of one optimiser: every shape from every init, at every fraction.

    Attributes:
        optimizer: A name of `Training`'s.
        hidden: Shapes; (300, 300) is two hidden layers of 300 neurons.
        fractions: Of the training rows.
        datasets: Names; None is all of the scale.
        inits: Names in `INITS`; a sparse one is left out where a table has fewer columns.
        decays: Weight decays.
    """

    optimizer: str
    hidden: tuple[Shape, ...]
    fractions: tuple[float, ...]
    datasets: tuple[str, ...] | None = None
    inits: tuple[str, ...] = tuple(INITS)
    decays: tuple[float, ...] = (0.0,)


class Network(NamedTuple):
    """One network of a plan."""

    optimizer: str
    init: str
    hidden: Shape
    weight_decay: float


@dataclass(frozen=True, kw_only=True)
class Learners:
    """The forests' grid (None: no limit of depth, all features), and scikit-learn's MLP."""

    max_depth: tuple[int | None, ...]
    max_features: tuple[int | str | None, ...]
    n_estimators: tuple[int, ...]
    hidden: Shape
    epochs: int


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A scale.

    Attributes:
        datasets: Names; None is every one that is at hand.
        fractions: Of the training rows, for the other learners; networks name their own.
        seeds: Runs per cell.
        networks: What is trained.
        learners: What stands beside it.
        epochs: Passes over the training set.
        most_steps: A limit of steps, before which the epochs may not be over; None is none.
        most_rows: A limit of training rows; None is none.
        data: The directory of NAME.npz files; None is that of ELEGANS_DATA, or OpenML.
    """

    datasets: tuple[str, ...] | None
    fractions: tuple[float, ...]
    seeds: int
    networks: tuple[Networks, ...]
    learners: Learners
    epochs: int = 100
    most_steps: int | None = None
    most_rows: int | None = None
    data: Path | None = None

    def tasks(self) -> list[Tabular]:
        """The data sets, read or fetched now."""
        directory = openml.directory_of(None if self.data is None else str(self.data))
        names = self.datasets or openml.available(directory)
        if not names:
            name = next(iter(openml.SUITE))
            raise openml.MissingData(
                f"No data set of the suite is in {directory}. {openml.advice(name)}"
            )
        return [load(name, self.data) for name in names]

    def samples(self, rows: int, fraction: float) -> int:
        """How many rows are trained on, at a fraction of a table of so many rows."""
        train = sizes_of(rows, fraction).train
        return train if self.most_rows is None else min(train, self.most_rows)

    def parts(self, rows: int) -> dict[float, int]:
        """The training rows of a table by fraction, the largest first.

        A fraction that leaves fewer than two rows is left out, and so is one that the limit of rows
        makes the same as a larger one.
        """
        by_samples: dict[int, float] = {}
        for fraction in sorted(self.fractions, reverse=True):
            by_samples.setdefault(self.samples(rows, fraction), fraction)
        return {fraction: samples for samples, fraction in by_samples.items() if samples >= 2}

    def plan(self, size: Size) -> Iterator[tuple[float, int, Network]]:
        """Every network of a table, with its fraction and its number of training rows."""
        planned = dict.fromkeys(
            (fraction, samples, Network(group.optimizer, init, hidden, decay))
            for fraction, samples in self.parts(size.rows).items()
            for group in self.networks
            if fraction in group.fractions
            and (group.datasets is None or size.name in group.datasets)
            for init, hidden, decay in itertools.product(group.inits, group.hidden, group.decays)
            if getattr(INITS[init], "s", 0) <= size.features
        )
        return iter(planned)

    def steps(self, samples: int) -> int:
        """Updates on a training set of so many rows."""
        steps = self.epochs * -(-samples // BATCH)
        return steps if self.most_steps is None else min(steps, self.most_steps)

    def training(self, samples: int, network: Network) -> Training:
        """The recipe for a training set of so many rows."""
        steps = self.steps(samples)
        return Training(
            loss="hinge",
            optimizer=network.optimizer,
            learning_rate=LEARNING_RATE,
            weight_decay=network.weight_decay,
            batch=BATCH if samples > BATCH else None,
            samples=samples,
            steps=steps,
            evaluate_every=steps,
            test_samples=10**6,  # the whole test set
        )


def flops(settings: Settings) -> float:
    """Floating-point operations of all training steps, by the sizes of the paper's Table 1.

    A step costs six per weight and row: two forwards, four backwards. Forests are not counted.
    """
    names = settings.datasets or tuple(openml.SUITE)
    sizes = [Size(name, openml.SUITE[name].rows, openml.SUITE[name].features) for name in names]
    return sum(
        6.0
        * weights(size.features, network.hidden)
        * min(BATCH, samples)
        * settings.steps(samples)
        * settings.seeds
        for size in sizes
        for _, samples, network in settings.plan(size)
    )


def weights(features: int, hidden: Shape) -> int:
    """The weights of a network with one output, biases aside."""
    return sum(a * b for a, b in itertools.pairwise((features, *hidden, 1)))


def layers(widths: tuple[int, ...], depths: tuple[int, ...]) -> tuple[Shape, ...]:
    """Every width with every depth."""
    return tuple((width,) * depth for width in widths for depth in depths)
