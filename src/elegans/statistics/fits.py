r"""Intervals of fitted numbers: shares of variance, exponents, sample sizes at a success rate.

Each is refitted on resamples of what is independent: groups, seeds, trials.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Num

from elegans import checks
from elegans.statistics.interval import Interval
from elegans.statistics.resampling import RESAMPLES, Statistic, cluster_draws, percentile

RIDGE = 1e-3  # of the logistic slope: keeps it finite where successes and failures are separated
NEWTON_STEPS = 100
LARGEST_STEP = 4.0  # logits


def intraclass(
    values: Num[np.ndarray, " runs"],
    groups: Sequence[object] | np.ndarray,
    level: float = 0.95,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    r"""The share of the variance that lies between groups, with a bootstrap by group.

    The estimate of the one-way model with random groups, $(M_b - M_w) / (M_b + (n_0 - 1) M_w)$:
    mean squares between and within, and $n_0$ the (adjusted) size of a group. It is 1 if a group
    decides its values and about 0, perhaps below, if it does not matter.
    """
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    numbers = values.astype(np.float64)
    if len(codes) != len(numbers) or not np.isfinite(numbers).all():
        raise ValueError(
            f"intraclass: finite values, each with a group; got {len(numbers)} and {len(codes)}."
        )
    sizes = np.bincount(codes).astype(np.float64)
    checks.whole("intraclass", "groups", len(sizes), low=2, what="are compared")
    if (sizes < 2).any():
        raise ValueError("intraclass: every group has two values or more; some group has one.")
    means = np.bincount(codes, numbers) / sizes
    within = np.bincount(codes, (numbers - means[codes]) ** 2)
    rows = np.concatenate([np.arange(len(sizes))[None], cluster_draws(len(sizes), resamples, seed)])
    shares = variance_shares(sizes[rows], means[rows], within[rows])
    return percentile(float(shares[0]), shares[1:], level)


def variance_shares(
    sizes: Float[np.ndarray, "draws groups"],
    means: Float[np.ndarray, "draws groups"],
    within: Float[np.ndarray, "draws groups"],
) -> Float[np.ndarray, " draws"]:
    """The intraclass correlation of each row of groups, NaN if nothing varies."""
    count, total = sizes.shape[1], sizes.sum(axis=1)
    middle = (sizes * means).sum(axis=1) / total
    between = (sizes * (means - middle[:, None]) ** 2).sum(axis=1) / (count - 1)
    inside = within.sum(axis=1) / (total - count)
    size = (total - (sizes**2).sum(axis=1) / total) / (count - 1)
    whole = between + (size - 1) * inside
    return np.divide(between - inside, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def log_slope(
    table: pd.DataFrame,
    x: str,
    y: str,
    by: str = "seed",
    statistic: Statistic = np.median,
    level: float = 0.95,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    r"""The exponent $\alpha$ of $y \sim x^\alpha$, with a bootstrap by seed.

    Least squares of the logarithm of the `statistic` of $y$ at each $x$ on $\log x$.

    Args:
        table: One row per run, at most one for each `x` and seed.
        x: A positive column.
        y: A positive column; infinite where a run failed.
        by: The column of the seed.
        statistic: Taken over seeds at each `x`; `np.median`, `np.mean` or one that has `axis`.
        level: Of confidence.
        resamples: How many to draw.
        seed: Of the resamples.

    Raises:
        ValueError: If there are fewer than two `x`, or the statistic is infinite at one.
    """
    grid = table.pivot(index=by, columns=x, values=y)
    positions = grid.columns.to_numpy(np.float64)
    numbers = grid.to_numpy(np.float64)
    owner = f"log_slope({y} over {x})"
    checks.whole(owner, x, len(positions), low=2, what="has several values")
    if np.isnan(numbers).any():
        raise ValueError(f"{owner}: every {by} has a number at every {x}; some are missing.")
    if (positions <= 0).any() or (numbers <= 0).any():
        raise ValueError(f"{owner}: logarithms need positive numbers.")
    centred = np.log(positions) - np.log(positions).mean()
    weights = centred / (centred**2).sum()
    middle = np.asarray(statistic(numbers, axis=0))
    if not np.isfinite(middle).all():
        infinite = positions[~np.isfinite(middle)].tolist()
        raise ValueError(
            f"{owner}: infinite at {x} = {infinite}, where too many runs failed. Leave those out."
        )
    rows = cluster_draws(len(numbers), resamples, seed)
    draws = np.log(np.asarray(statistic(numbers[rows], axis=1)))
    draws = np.where(np.isfinite(draws).all(axis=1)[:, None], draws, np.nan)
    return percentile(float(np.log(middle) @ weights), draws @ weights, level)


def success_threshold(
    samples: Num[np.ndarray, " runs"],
    success: Bool[np.ndarray, " runs"],
    trials: Sequence[object] | np.ndarray,
    target: float = 0.8,
    level: float = 0.95,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    r"""The sample size $m$ at which runs succeed with probability `target`, bootstrap by trial.

    Success is logistic in $\log m$, with a slight ridge on the slope so that separated data have a
    fit. If all runs succeed the threshold is 0 (below what was tried), if all fail it is infinite.

    Args:
        samples: $m$ of each run, positive.
        success: Which runs succeeded.
        trials: The trial of each run; those of one trial are drawn together.
        target: The success rate in question.
        level: Of confidence.
        resamples: How many to draw.
        seed: Of the resamples.
    """
    owner = "success_threshold"
    checks.number(owner, "target", target, low=1e-6, high=1 - 1e-6, what="is a success rate")
    if not (samples > 0).all() or not len(samples) == len(success) == len(trials):
        raise ValueError(
            f"{owner}: positive sample sizes, each with a success and a trial; got "
            f"{len(samples)}, {len(success)} and {len(trials)}."
        )
    sizes, columns = np.unique(samples.astype(np.float64), return_inverse=True)
    _, codes = np.unique(np.asarray(trials), return_inverse=True)
    shape = int(codes.max()) + 1, len(sizes)
    runs, wins = np.zeros(shape), np.zeros(shape)
    np.add.at(runs, (codes, columns), 1.0)
    np.add.at(wins, (codes, columns), success.astype(np.float64))
    rows = np.concatenate([np.arange(shape[0])[None], cluster_draws(shape[0], resamples, seed)])
    thresholds = logistic_thresholds(
        np.log(sizes), wins[rows].sum(axis=1), runs[rows].sum(axis=1), target
    )
    return percentile(float(thresholds[0]), thresholds[1:], level)


def logistic_thresholds(
    x: Float[np.ndarray, " sizes"],
    wins: Float[np.ndarray, "draws sizes"],
    runs: Float[np.ndarray, "draws sizes"],
    target: float,
) -> Float[np.ndarray, " draws"]:
    r"""$e^x$ at which $1/(1 + e^{-a - bx})$ is `target`, for each row of counts.

    Newton's method for all rows at once. NaN where success does not increase.
    """
    scale = float(np.ptp(x)) or 1.0
    z = (x - x.mean()) / scale
    a, b = np.zeros(len(wins)), np.zeros(len(wins))
    for _ in range(NEWTON_STEPS):
        rate = 0.5 + 0.5 * np.tanh((a[:, None] + b[:, None] * z) / 2)
        residual, weight = wins - runs * rate, runs * rate * (1 - rate)
        g0, g1 = residual.sum(axis=1), residual @ z - RIDGE * b
        h00, h01, h11 = weight.sum(axis=1) + RIDGE, weight @ z, weight @ z**2 + RIDGE
        step = np.stack([h11 * g0 - h01 * g1, h00 * g1 - h01 * g0]) / (h00 * h11 - h01**2)
        step /= np.maximum(1.0, np.abs(step).max(axis=0) / LARGEST_STEP)
        a, b = a + step[0], b + step[1]
    logit = math.log(target / (1 - target))
    crossing = np.divide(logit - a, b, out=np.full(len(a), np.nan), where=b > 0)
    with np.errstate(over="ignore"):  # far beyond what was tried: infinite
        threshold = np.exp(crossing * scale + x.mean())
    total = wins.sum(axis=1)
    threshold = np.where(total == 0, np.inf, threshold)
    return np.where(total == runs.sum(axis=1), 0.0, threshold)
