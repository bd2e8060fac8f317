"""From a user's table to rows that a network can learn from, with refusals that name columns.

A fit depends on the weighted set of rows, not on their order: rows that are equal are one row with
their weights added, rows of weight zero are left out, and the rest are sorted. So a row of weight
three is exactly three copies of it.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Num
from scipy.special import ndtri

MOST_NAMED_COLUMNS = 10  # in a message
MOST_KNOTS = 1000  # values of a column whose ranks are kept
LARGEST = 1e30  # a larger standardised value counts as this: it must fit into 32 bits


class Rows(NamedTuple):
    """Distinct rows; weights are one on average."""

    x: Float[np.ndarray, "rows n"]
    y: Num[np.ndarray, " rows"]
    weight: Float[np.ndarray, " rows"]


class Scale(NamedTuple):
    """What makes a column (or the target) have mean zero and variance one.

    A value is first put on a scale on which the training rows span [-1, 1], so that no column is
    too large or too small for its variance to be computed.
    """

    middle: Float[np.ndarray, " n"]
    half: Float[np.ndarray, " n"]
    mean: Float[np.ndarray, " n"]
    deviation: Float[np.ndarray, " n"]

    def __call__(self, x: Float[np.ndarray, "rows n"]) -> Float[np.ndarray, "rows n"]:
        """Standardised values."""
        with np.errstate(over="ignore"):
            spanned = (x / 2 - self.middle / 2) / self.half * 2
            return np.clip((spanned - self.mean) / self.deviation, -LARGEST, LARGEST)

    def inverse(self, z: Float[np.ndarray, "rows n"]) -> Float[np.ndarray, "rows n"]:
        """The values whose standardised form is `z`."""
        half = np.where(np.isinf(self.half), 0.0, self.half)
        return self.middle + (z * self.deviation + self.mean) * half


class Ranks(NamedTuple):
    """What gives a column a normal distribution: known values, increasing, and their scores.

    Between two known values the score is interpolated; beyond the last ones it stays. A column that
    is strictly increasing in another has the same scores, whatever its units or outliers.
    """

    values: Float[np.ndarray, "knots n"]
    scores: Float[np.ndarray, "knots n"]

    def __call__(self, x: Float[np.ndarray, "rows n"]) -> Float[np.ndarray, "rows n"]:
        """The scores of values."""
        columns = zip(x.T, self.values.T, self.scores.T, strict=True)
        return np.stack([np.interp(*column) for column in columns], axis=1)


def distinct(
    x: Float[np.ndarray, "rows n"], y: Num[np.ndarray, " rows"], weight: Float[np.ndarray, " rows"]
) -> Rows:
    """The rows that count, each once, in an order that depends on their values alone."""
    counts = weight > 0
    table = np.column_stack([x[counts], y[counts]])
    rows, place = np.unique(table, axis=0, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights=weight[counts], minlength=len(rows))
    return Rows(rows[:, :-1], rows[:, -1].astype(y.dtype), total / total.mean())


def scale_of(x: Float[np.ndarray, "rows n"], weight: Float[np.ndarray, " rows"]) -> Scale:
    """The scale on which the weighted rows are standardised; a constant column becomes zero."""
    low, high = x.min(axis=0), x.max(axis=0)
    half = np.where(high > low, high / 2 - low / 2, np.inf)  # a constant spans nothing: zero
    raw = Scale(low / 2 + high / 2, half, np.zeros_like(half), np.ones_like(half))
    spanned = raw(x)
    mean = np.average(spanned, axis=0, weights=weight)
    deviation = np.sqrt(np.average((spanned - mean) ** 2, axis=0, weights=weight))
    return raw._replace(mean=mean, deviation=np.where(high > low, deviation, 1.0))


def ranks_of(x: Float[np.ndarray, "rows n"], weight: Float[np.ndarray, " rows"]) -> Ranks:
    """The scale on which the weighted rows are normally distributed, column by column."""
    columns = [normal_scores(column, weight) for column in x.T]
    most = max(len(values) for values, _ in columns)
    values, scores = np.empty((2, most, len(columns)))
    for j, (known, score) in enumerate(columns):
        values[:, j], scores[:, j] = known[-1], score[-1]
        values[: len(known), j], scores[: len(known), j] = known, score
    return Ranks(values, scores)


def normal_scores(
    column: Float[np.ndarray, " rows"], weight: Float[np.ndarray, " rows"]
) -> tuple[Float[np.ndarray, " knots"], Float[np.ndarray, " knots"]]:
    """Some of a column's values, and the normal quantiles of their mid-ranks."""
    values, place = np.unique(column, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights=weight)
    upper = np.cumsum(total)
    middle = (upper - total / 2) / upper[-1]
    if len(values) > MOST_KNOTS:
        levels = np.linspace(middle[0], middle[-1], MOST_KNOTS)
        chosen = np.unique(np.searchsorted(middle, levels).clip(0, len(values) - 1))
        values, middle = values[chosen], middle[chosen]
    return values, ndtri(middle)


def unscaled(x: Float[np.ndarray, "rows n"], weight: Float[np.ndarray, " rows"]) -> Scale:
    """The scale that leaves the columns as they are."""
    n = x.shape[1]
    return Scale(np.zeros(n), np.ones(n), np.zeros(n), np.ones(n))


def column_names(estimator: Any) -> list[str]:
    """The names of a fitted table's columns, or their numbers."""
    names = getattr(estimator, "feature_names_in_", range(estimator.n_features_in_))
    return [str(name) for name in names]


def checked_weights(owner: str, sample_weight: Any, rows: int) -> Float[np.ndarray, " rows"]:
    """The weight of each row: one, one number for all, or one number each, not below zero."""
    weight = np.ones(rows) if sample_weight is None else np.array(sample_weight, np.float64)
    if weight.ndim == 0:
        weight = np.full(rows, weight)
    if weight.shape != (rows,):
        raise ValueError(
            f"{owner}: sample_weight has one number for each of the {rows} rows; got an array of "
            f"shape {weight.shape}."
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError(
            f"{owner}: every sample_weight is finite and not negative; they lie between "
            f"{weight.min()} and {weight.max()}."
        )
    if not weight.any():
        raise ValueError(f"{owner}: every sample_weight is zero, so no row counts.")
    return weight


def check_values(owner: str, x: Float[np.ndarray, "rows n"], names: list[str]) -> None:
    """Refuses NaN and infinity, by column."""
    for what, is_bad in (("NaN", np.isnan(x)), ("infinity (inf)", np.isinf(x))):
        if is_bad.any():
            raise ValueError(
                f"{owner}: X holds {what} in {named(is_bad.any(axis=0), names)}. Every value is "
                "a finite number: impute what is missing first, for example with "
                "sklearn.impute.SimpleImputer in a pipeline."
            )


def check_variation(owner: str, x: Float[np.ndarray, "rows n"], names: list[str]) -> None:
    """Refuses columns with a single value."""
    is_constant = x.min(axis=0) == x.max(axis=0)
    if is_constant.any():
        raise ValueError(
            f"{owner}: X is constant in {named(is_constant, names)}: nothing can be learnt from a "
            "single value. Drop such columns, for example with "
            "sklearn.feature_selection.VarianceThreshold in a pipeline, or pass "
            "constant_columns='ignore'."
        )


def named(chosen: Bool[np.ndarray, " n"], names: list[str]) -> str:
    """The chosen columns by name."""
    quoted = [repr(name) for name, is_chosen in zip(names, chosen, strict=True) if is_chosen]
    rest = len(quoted) - MOST_NAMED_COLUMNS
    more = f" and {rest} more" if rest > 0 else ""
    return f"column{'s' if len(quoted) > 1 else ''} {', '.join(quoted[:MOST_NAMED_COLUMNS])}{more}"
