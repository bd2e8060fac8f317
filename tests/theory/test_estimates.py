"""Intervals hold the truth as often as they say."""

import numpy as np
import pytest

from elegans.statistics import hoeffding_radius, hoeffding_samples, mean_estimate


@pytest.mark.parametrize("p", [0.5, 0.05])
def test_intervals_cover_the_mean_as_often_as_they_say(p):
    draws = (np.random.default_rng(0).random((500, 400)) < p).astype(float)
    normal = [mean_estimate(values, 0.9).contains(p) for values in draws]
    rigorous = [mean_estimate(values, 0.9, width=1.0).contains(p) for values in draws]
    assert np.mean(normal) == pytest.approx(0.9, abs=0.05)  # three standard errors, and the limit
    assert np.mean(rigorous) >= 0.9


def test_the_rigorous_interval_is_wider_and_shrinks_with_the_variance():
    values = np.random.default_rng(0).random(1000)
    normal, wide = mean_estimate(values, 0.99), mean_estimate(values, 0.99, width=1.0)
    assert normal.radius < wide.radius
    assert mean_estimate(values * 1e-3, 0.99, width=1.0).radius < wide.radius / 2


def test_hoeffding_is_solved_for_samples():
    samples = hoeffding_samples(0.1, 2.0, 0.01, means=50)
    assert hoeffding_radius(samples, 2.0, 0.01, means=50) <= 0.1
    assert hoeffding_radius(samples - 1, 2.0, 0.01, means=50) > 0.1
    with pytest.raises(ValueError, match="positive"):
        hoeffding_samples(0.0, 1.0, 0.1)
