"""What the Pareto paper says of width, depth, inits and weight decay on tables, on paired runs.

Two networks that differ in one thing alone are compared on the same split of the same table: runs
of one table and seed share their rows, so differences are pooled within a table and seed first,
and intervals are over these pairs. "Nearly" monotonic or uniform, in the paper's words, is a rate
of *reversals*, pairs that go the other way (a tie counts half): one half is no effect at all.

What is said of widths and inits is checked under each optimiser, as the paper does not name its
own, and holds for the widths that were trained: they are in the text of the claim.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from elegans.report.result import Claim, Tables
from elegans.statistics import Interval, bootstrap
from elegans.studies.study import known_failure

OPTIMIZERS = {"sgd": "SGD", "adam": "Adam"}
IDENTITY = ["dataset", "fraction", "optimizer", "init", "width", "depth", "weight_decay", "seed"]
SOURCE = "Pareto paper, appendix C.3"
WIDTH = "Pareto paper, section 4.2 (2T)"
SPARSE = "Pareto paper, section 4.2 (3T)"
POINT = 0.01
MEASURED_SCALES = ("quick",)


def gains(networks: pd.DataFrame, column: str, pairs: Sequence[tuple[Any, Any]]) -> pd.DataFrame:
    """How much less the second of each pair of values errs, all else equal: one row per pair."""
    uniform = networks.dropna(subset="width")
    index = [name for name in IDENTITY if name != column]
    grid = uniform.pivot(index=index, columns=column, values="error")
    parts = [
        (grid[first] - grid[second]).dropna().rename("gain").reset_index()
        for first, second in pairs
        if first in grid and second in grid
    ]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*index, "gain"])
    split = table["dataset"].astype(str) + ", seed " + table["seed"].astype(str)
    return table.assign(split=split, reversal=(table["gain"] < 0) + 0.5 * (table["gain"] == 0))


def by_split(table: pd.DataFrame, column: str) -> Interval:
    """The mean of a column over tables and seeds, which are resampled as a whole."""
    means = table.groupby("split", sort=False)[column].mean()
    return bootstrap(means.to_numpy(float), np.mean)


def nothing(text: str, source: str, against: str) -> Claim:
    """A claim for which a scale has no runs: it does not hold."""
    measured = "this scale has no such pairs"
    return Claim(text=text, source=source, measured=measured, against=against, holds=False)


def rare_reversals(table: pd.DataFrame, text: str, source: str, what: str) -> Claim:
    """A claim that the second of each pair errs less, nearly uniformly."""
    against = f"{what} in so many pairs that the interval of their share reaches up to one half"
    if not len(table):
        return nothing(text, source, against)
    share, gain = by_split(table, "reversal"), by_split(table, "gain")
    splits = table["split"].nunique()
    return Claim(
        text=text,
        source=source,
        measured=(
            f"{what} in {share:.0%} of {len(table)} pairs, on {splits} splits of tables; in the "
            f"mean it gains {points(gain)} points of error"
        ),
        against=against,
        holds=share.high < 0.5,
        interval=share,
    )


def width_helps(tables: Tables, optimizer: str) -> Claim:
    """A wider network errs less than a narrower one, nearly always."""
    networks = chosen(tables, optimizer)
    widths = sorted(networks["width"].dropna().unique())
    table = gains(networks, "width", list(itertools.combinations(widths, 2)))
    span = f"widths {widths[0]:,} to {widths[-1]:,}" if widths else "no width"
    text = f"Under {OPTIMIZERS[optimizer]}, {span}: error falls with width, nearly monotonically"
    return rare_reversals(table, text, WIDTH, "the wider network errs more")


def width_helps_under_sgd(tables: Tables) -> Claim:
    """`width_helps` under SGD."""
    return width_helps(tables, "sgd")


def width_helps_under_adam(tables: Tables) -> Claim:
    """`width_helps` under Adam."""
    return width_helps(tables, "adam")


def sparse_helps(tables: Tables, optimizer: str, fraction: float) -> Claim:
    """In the mean over networks, tables and seeds, a 2-sparse init errs less than a dense one."""
    networks = chosen(tables, optimizer)
    networks = networks[networks["fraction"] == fraction]
    table = gains(networks, "init", [("dense", "2-sparse")])
    text = (
        f"Under {OPTIMIZERS[optimizer]}, {widths_of(table)}, 2-sparse inits err less than dense "
        f"ones at {fraction:.0%} of the rows"
    )
    against = "an interval of the mean gain in error that reaches down to zero"
    if not len(table):
        return nothing(text, SPARSE, against)
    gain = by_split(table, "gain")
    errors = networks.groupby("init")["error"].mean()
    return Claim(
        text=text,
        source=SPARSE,
        measured=(
            f"gain {points(gain)} points over {table['split'].nunique()} splits of tables; mean "
            f"error {errors['dense']:.1%} dense, {errors['2-sparse']:.1%} 2-sparse (50% is chance)"
        ),
        against=against,
        holds=gain.low > 0,
        interval=gain,
    )


def sparse_helps_under_sgd_at_10_percent(tables: Tables) -> Claim:
    """`sparse_helps` under SGD with a tenth of the rows."""
    return sparse_helps(tables, "sgd", 0.1)


def sparse_helps_under_sgd_at_1_percent(tables: Tables) -> Claim:
    """`sparse_helps` under SGD with a hundredth of the rows."""
    return sparse_helps(tables, "sgd", 0.01)


def sparse_helps_under_adam_at_10_percent(tables: Tables) -> Claim:
    """`sparse_helps` under Adam with a tenth of the rows."""
    return sparse_helps(tables, "adam", 0.1)


def sparse_helps_under_adam_at_1_percent(tables: Tables) -> Claim:
    """`sparse_helps` under Adam with a hundredth of the rows."""
    return sparse_helps(tables, "adam", 0.01)


def sparse_helps_more_with_fewer_rows(tables: Tables, optimizer: str) -> Claim:
    """The gain from a sparse init is larger at 1% of the rows than at 10%, split by split."""
    table = gains(chosen(tables, optimizer), "init", [("dense", "2-sparse")])
    text = (
        f"Under {OPTIMIZERS[optimizer]}, {widths_of(table)}, 2-sparse inits gain more at 1% of the "
        "rows than at 10%"
    )
    against = "an interval of the difference between the two gains that reaches down to zero"
    means = table.pivot_table(index="split", columns="fraction", values="gain").reset_index()
    if not {0.1, 0.01} <= set(means.columns):
        return nothing(text, SPARSE, against)
    means = means.assign(more=means[0.01] - means[0.1]).dropna(subset="more")
    more = by_split(means, "more")
    return Claim(
        text=text,
        source=SPARSE,
        measured=(
            f"gain {100 * means[0.01].mean():+.2f} points at 1%, {100 * means[0.1].mean():+.2f} at "
            f"10%; difference {points(more)} over {len(means)} splits of tables"
        ),
        against=against,
        holds=more.low > 0,
        interval=more,
    )


def sparse_helps_more_with_fewer_rows_under_sgd(tables: Tables) -> Claim:
    """`sparse_helps_more_with_fewer_rows` under SGD."""
    return sparse_helps_more_with_fewer_rows(tables, "sgd")


def sparse_helps_more_with_fewer_rows_under_adam(tables: Tables) -> Claim:
    """`sparse_helps_more_with_fewer_rows` under Adam."""
    return sparse_helps_more_with_fewer_rows(tables, "adam")


def two_sparse_beats_four_sparse(tables: Tables, optimizer: str) -> Claim:
    """A 2-sparse init errs less than a 4-sparse one, nearly uniformly."""
    table = gains(chosen(tables, optimizer), "init", [("4-sparse", "2-sparse")])
    text = (
        f"Under {OPTIMIZERS[optimizer]}, {widths_of(table)}, 4-sparse inits are nearly uniformly "
        "outperformed by 2-sparse ones"
    )
    return rare_reversals(table, text, SOURCE, "the 2-sparse network errs more")


def two_sparse_beats_four_sparse_under_sgd(tables: Tables) -> Claim:
    """`two_sparse_beats_four_sparse` under SGD."""
    return two_sparse_beats_four_sparse(tables, "sgd")


def two_sparse_beats_four_sparse_under_adam(tables: Tables) -> Claim:
    """`two_sparse_beats_four_sparse` under Adam."""
    return two_sparse_beats_four_sparse(tables, "adam")


def depth_helps_under_adam(tables: Tables) -> Claim:
    """A network of depth 1 errs more than deeper ones of its width, nearly uniformly."""
    table = gains(chosen(tables, "adam"), "depth", [(1, 2), (1, 3)])
    text = (
        f"Under Adam, {widths_of(table)}, networks of depth 1 are nearly uniformly outperformed "
        "by those of depths 2 and 3"
    )
    return rare_reversals(table, text, SOURCE, "the deeper network errs more")


def decay_hardly_matters_under_adam(tables: Tables) -> Claim:
    """Weight decay 0.01 changes the mean error by less than a point either way."""
    table = gains(chosen(tables, "adam", decays=(0.0, 0.01)), "weight_decay", [(0.0, 0.01)])
    text = f"Under Adam, {widths_of(table)}, weight decay 0.01 has a minimal effect"
    against = "an interval of the mean gain from weight decay that reaches a point either way"
    if not len(table):
        return nothing(text, SOURCE, against)
    gain = by_split(table, "gain")
    return Claim(
        text=text,
        source=SOURCE,
        measured=(
            f"gain {points(gain)} points in {len(table)} pairs, on {table['split'].nunique()} "
            "splits of tables"
        ),
        against=against,
        holds=gain.low > -POINT and gain.high < POINT,
        interval=gain,
    )


def chosen(tables: Tables, optimizer: str, decays: tuple[float, ...] | None = None) -> pd.DataFrame:
    """The networks of an optimiser; with the least weight decay, unless others are asked for."""
    networks = tables["networks"]
    networks = networks[networks["optimizer"] == optimizer]
    wanted = decays or (networks["weight_decay"].min(),)
    return networks[networks["weight_decay"].isin(wanted)]


def widths_of(table: pd.DataFrame) -> str:
    """The widths that a comparison rests on, in words."""
    widths = sorted(table["width"].dropna().unique())
    if not widths:
        return "no width"
    names = [f"{width:,}" for width in widths]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{'width' if len(names) == 1 else 'widths'} {listed}"


def points(interval: Interval) -> str:
    """An interval of errors in percentage points."""
    value, low, high = (100 * number for number in interval)
    return f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"


CLAIMS = (
    width_helps_under_sgd,
    width_helps_under_adam,
    sparse_helps_under_sgd_at_10_percent,
    sparse_helps_under_sgd_at_1_percent,
    sparse_helps_under_adam_at_10_percent,
    sparse_helps_under_adam_at_1_percent,
    sparse_helps_more_with_fewer_rows_under_sgd,
    sparse_helps_more_with_fewer_rows_under_adam,
    two_sparse_beats_four_sparse_under_sgd,
    two_sparse_beats_four_sparse_under_adam,
    depth_helps_under_adam,
    decay_hardly_matters_under_adam,
)
