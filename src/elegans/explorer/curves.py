"""Curves for the screen: few points that keep every extreme, and the median of many runs.

A curve of more points than are asked for is divided into buckets of neighbours, of which the least
and the largest value stay, each at its own step, and so do the first and the last point. Points
that are not a number stay out, as a gap.
"""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

MAX_CURVES = 200
MAX_POINTS = 16_000  # of all curves of an answer together
MAX_POINTS_PER_CURVE = 400
MIN_POINTS_PER_CURVE = 40
GRID = 200  # steps at which runs are summarised


class Curve(NamedTuple):
    """Values at steps."""

    step: np.ndarray
    value: np.ndarray


class Band(NamedTuple):
    """The median of several curves, and the quartiles, at common steps."""

    step: np.ndarray
    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray


def points_per_curve(curves: int) -> int:
    """How many points each of so many curves may have."""
    share = MAX_POINTS // max(1, curves)
    return min(MAX_POINTS_PER_CURVE, max(MIN_POINTS_PER_CURVE, share))


def downsampled(curve: Curve, points: int) -> Curve:
    """At most so many points of a curve, all extremes of buckets among them."""
    step, value = np.asarray(curve.step), np.asarray(curve.value, float)
    if len(step) <= points:
        return Curve(step, value)
    buckets = max(1, (points - 2) // 2)
    edges = np.linspace(0, len(step), buckets + 1).astype(int)
    kept = {0, len(step) - 1}
    for start, end in itertools.pairwise(edges):
        part = value[start:end]
        if len(part) and not np.isnan(part).all():
            kept |= {int(start + np.nanargmin(part)), int(start + np.nanargmax(part))}
    places = np.array(sorted(kept))
    return Curve(step[places], value[places])


def band(curves: Sequence[Curve]) -> Band | None:
    """Median and quartiles over runs; one that has ended stays at its last value."""
    known = [c for c in curves if len(c.step) and not np.isnan(c.value).all()]
    if len(known) < 2:
        return None
    steps = np.unique(np.concatenate([c.step for c in known]))
    if len(steps) > GRID:
        steps = steps[np.unique(np.linspace(0, len(steps) - 1, GRID).astype(int))]
    table = np.full((len(known), len(steps)), np.nan)
    for row, (step, value) in enumerate(known):
        is_number = ~np.isnan(value)
        places = np.searchsorted(step[is_number], steps, side="right") - 1
        table[row] = np.where(places >= 0, value[is_number][np.maximum(places, 0)], np.nan)
    has_all = ~np.isnan(table).any(axis=0)  # before that some runs have not been looked at
    low, middle, high = np.quantile(table[:, has_all], [0.25, 0.5, 0.75], axis=0)
    return Band(steps[has_all], low, middle, high)


def plain(values: Any) -> list[Any]:
    """Numbers as JSON has them: float32 at most, not a number and infinite ones as null."""
    array = np.asarray(values)
    if array.dtype.kind in "fc":
        numbers = array.astype(np.float32).astype(float)
        rounded = np.array([float(f"{v:.9g}") for v in numbers.ravel()]).astype(object)
        rounded[~np.isfinite(numbers.ravel())] = None
        return rounded.reshape(array.shape).tolist()
    return array.tolist()


def scalars(columns: dict[str, np.ndarray]) -> dict[str, Curve]:
    """The columns that are one number per step, as curves; without those that have no number."""
    if "step" not in columns:
        return {}
    step = columns["step"]
    return {
        name: Curve(step, values.astype(float))
        for name, values in columns.items()
        if name != "step" and values.shape == step.shape and values.dtype.kind in "biuf"
        if len(step) and np.isfinite(values.astype(float)).any()
    }
