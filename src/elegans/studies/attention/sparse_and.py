r"""How many examples a transformer needs to find a 3-sparse AND among $T$ bits (thesis, Fig. 4.2).

$m^*(T)$ is the least number of examples from which 80% of trials succeed. A trial is a training set
that determines the AND, with several restarts of the network; it succeeds if one of them reaches
99% accuracy on new examples. The text says that $m^*$ grows with $\log T$. Sharper is what stands
beside it: the number of examples that eliminating bits one by one needs, for which there is a
closed form; that of exhaustive search; and $\log_2 \binom T3$.

Sizes are multiples of what elimination needs, so that the threshold lies among them at every $T$ if
the two go together. A logistic fit through all of them has its interval from a bootstrap: trials
are seeds, and are resampled together for all $T$. The document's network, recipe and restarts are
used at all scales, but for the dropout of embeddings (see `protocol`) and, at quick scale, the
number of steps: a run that succeeds at all does so early.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.runs import Runs
from elegans.statistics import Interval
from elegans.studies import thresholds
from elegans.studies.attention.protocol import (
    CAPTIONS,
    FORMATS,
    HALF,
    SPARSITY,
    TARGET,
    Network,
    ThresholdSettings,
    conjunction,
)
from elegans.studies.attention.references import UniqueFrom, elimination_threshold
from elegans.studies.study import Scale, Study, known_failure
from elegans.sweeps.sweep import Sweep

SOURCE = "thesis, section 4.6 and Figure 4.2"
LARGEST_EXPONENT = 0.35
SLOPES = (4.0, 20.0)  # samples per e-fold of T; elimination has 9.2
RATIOS = (0.6, 2.0)  # to the threshold of elimination
FIT = ("fit", "low", "high")


@dataclass(frozen=True, kw_only=True)
class Settings(ThresholdSettings):
    """Sizes that are tried at each T: multiples of elimination's threshold, or those of a grid."""

    multiples: tuple[float, ...] = ()
    grid: tuple[int, ...] = ()

    def sizes(self, T: int) -> tuple[int, ...]:
        """All m that are tried at T."""
        needed = elimination_threshold(T, SPARSITY, HALF, TARGET)
        return (*(round(each * needed) for each in self.multiples), *self.grid)

    def points(self, group: thresholds.Group, samples: int) -> list[tuple[dict[str, Any], Any]]:
        """The restarts of a trial; tables of all sizes and T have the same number of rows."""
        largest = max(max(self.sizes(T)) for T in self.lengths)
        rows = 1 << (largest - 1).bit_length()
        task = conjunction(group["T"], samples, rows=rows, test_rows=self.test_rows)
        return self.restarted(task, self.until_success(samples, self.steps))


def runs(settings: Settings) -> Generator[dict[str, Sweep], dict[str, Runs], None]:
    """Exhaustive search in simulation, then all sizes at all T."""
    yield {
        "unique": Sweep.of([({"T": T}, UniqueFrom(T, SPARSITY, HALF)) for T in settings.lengths])
    }
    cells = [({"T": T}, samples) for T in settings.lengths for samples in settings.sizes(T)]
    yield from thresholds.tried(cells, settings.points, seeds=settings.seeds)


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Trials, success rates, and thresholds beside those of other learners."""
    result = settings.tables(runs, ["T"], apart="unique")
    table = result["thresholds"]
    unique = runs["unique"].table.groupby("T")["m"].quantile(TARGET)
    table = table.assign(
        elimination=[elimination_threshold(T, SPARSITY, HALF, TARGET) for T in table["T"]],
        search=[float(unique[T]) for T in table["T"]],
    )
    return result | {"thresholds": table}


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return settings.facts()


@known_failure(
    reason=(
        "The exponent is 0.30 (0.22 to 0.39) at scale quick and 0.33 (0.24 to 0.52) at scale "
        "laptop. The thresholds lie on a logarithm, 13.0 ln T - 14 and 14.0 ln T - 19, and the "
        "best power of the first from T = 25 to 400 is 0.30 as well: a logarithm with a negative "
        "constant grows that fast at small T."
    ),
    scales=("quick", "laptop"),
)
def grows_like_a_logarithm(tables: Tables) -> Claim:
    """The exponent of a power law is far below one."""
    interval = thresholds.law(draws(tables), is_power=True)
    return Claim(
        text="The number of examples grows far more slowly than T: the exponent is below 0.35",
        source=SOURCE,
        measured=(
            f"fitted m* ~ T^a with a = {interval:.2f} from T = {first(tables)} to {last(tables)} "
            f"(elimination: {exponent_of(tables, 'elimination'):.2f})"
        ),
        against="an interval of the exponent that reaches 0.35",
        holds=interval.high < LARGEST_EXPONENT,
        interval=interval,
    )


def slope_is_that_of_information(tables: Tables) -> Claim:
    """The number of samples per e-fold of T is positive, and of the size that theory has."""
    interval = thresholds.law(draws(tables), is_power=False)
    low, high = SLOPES
    return Claim(
        text="Each e-fold of T costs 4 to 20 more examples",
        source=SOURCE,
        measured=(
            f"{interval:.1f} examples per e-fold of T (elimination: "
            f"{slope_of(tables, 'elimination'):.1f}; log2 C(T, 3): {slope_of(tables, 'bits'):.1f})"
        ),
        against=(
            "a slope outside of [4, 20], or an interval of it that reaches down to 0 or up to 20"
        ),
        holds=interval.low > 0 and low <= interval.value and interval.high < high,
        interval=interval,
    )


@known_failure(
    reason=(
        "At T = 25 a transformer needs fewer examples than elimination, 0.67 times as many with an "
        "interval from 0.51 to 0.81. At T = 100 and 400 it is 0.83 (0.73 to 0.95) and 0.94 (0.81 "
        "to 1.11), as claimed. Scale laptop has the same: 0.63 (0.36 to 0.76) at T = 25, and as "
        "claimed from T = 100 on."
    ),
    scales=("quick", "laptop"),
)
def is_about_elimination(tables: Tables) -> Claim:
    """The transformer needs about as many examples as elimination, at every T."""
    table = tables["thresholds"]
    low, high = RATIOS
    ratios = {
        int(row["T"]): Interval(*(float(row[n]) / row["elimination"] for n in FIT))
        for _, row in table.iterrows()
    }
    worst = min(ratios.values(), key=lambda each: min(each.low / low, high / each.high))
    shown = ", ".join(f"{ratio:.2f} at T = {T}" for T, ratio in ratios.items())
    return Claim(
        text="A transformer needs about as many examples as eliminating bits one by one",
        source="our hypothesis, sharper than the logarithm of Figure 4.2",
        measured=(
            f"m* is this multiple of elimination's threshold: {shown}; and "
            f"{(table['fit'] / table['search']).min():.1f} to "
            f"{(table['fit'] / table['search']).max():.1f} times that of exhaustive search"
        ),
        against="a T at which the interval of the ratio reaches out of [0.6, 2]",
        holds=all(low <= each.low and each.high <= high for each in ratios.values()),
        interval=worst,
    )


def draws(tables: Tables) -> pd.DataFrame:
    """Thresholds under resampling of trials."""
    return thresholds.threshold_draws(tables["trials"], "T", TARGET)


def first(tables: Tables) -> int:
    """The smallest T."""
    return int(tables["thresholds"]["T"].min())


def last(tables: Tables) -> int:
    """The largest T."""
    return int(tables["thresholds"]["T"].max())


def exponent_of(tables: Tables, column: str) -> float:
    """The exponent of a column of the thresholds."""
    return thresholds.law(as_draw(tables, column), is_power=True).value


def slope_of(tables: Tables, column: str) -> float:
    """The slope of a column of the thresholds over ln T."""
    return thresholds.law(as_draw(tables, column), is_power=False).value


def as_draw(tables: Tables, column: str) -> pd.DataFrame:
    """A column as a single draw, and once more in the place of resamples."""
    table = tables["thresholds"].set_index("T")[column].astype(float)
    return pd.DataFrame([table, table])


STUDY = Study(
    name="sparse-and",
    title="From a few dozen examples a transformer finds three relevant bits among hundreds",
    summary=(
        "The label is the AND of three hidden bits out of T, and everything else is noise. A "
        "small transformer with one layer of attention is trained on m examples. How large must m "
        "be? Every one of the C(T, 3) possible ANDs has to be ruled out but one, so at least "
        "log2 C(T, 3) labels are needed, and the question is whether a network trained by "
        "gradient descent comes near such a logarithm. We look for the least m from which "
        "80% of random training sets lead to 99% accuracy on new examples, for each T."
    ),
    source="Thesis, Figure 4.2",
    scales={
        "quick": Scale(
            Settings(
                lengths=(25, 100, 400),
                multiples=(0.55, 0.75, 1.0, 1.3),
                trials=32,
                restarts=3,
                steps=200,
                test_rows=1000,
                first_seed=300,
            ),
            minutes=2,
        ),
        "laptop": Scale(
            Settings(
                lengths=(25, 50, 100, 200, 400),
                multiples=(0.6, 0.8, 1.0, 1.3),
                trials=20,
                restarts=3,
                steps=1000,
                test_rows=10_000,
                first_seed=400,
            ),
            minutes=10,
        ),
        "paper": Scale(
            Settings(
                lengths=(*range(100, 850, 50), 900, 1000, 1100),
                grid=tuple(range(50, 210, 10)),
                trials=40,
                restarts=5,
                steps=1000,
                test_rows=10_000,
                network=Network(embedding_dropout=0.1),
            ),
            minutes=30_000,
        ),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(grows_like_a_logarithm, slope_is_that_of_information, is_about_elimination),
    figures="elegans.studies.attention.figures_and:thresholds",
    shown=("thresholds",),
    formats=FORMATS,
    captions=CAPTIONS
    | {
        "figure": (
            "Left: the number of examples from which 80% of training sets lead to success, against "
            "T; dots are a logistic fit with a 95% interval (bootstrap over training sets), and "
            "the lines through them the best logarithm and the best power of T. Below are "
            "what other learners need: eliminating single bits (exact), exhaustive search "
            "(simulated), and the bits of information in the answer. Right: success rates behind "
            "the dots, and the exact success probability of elimination as dotted curves."
        ),
    },
)
