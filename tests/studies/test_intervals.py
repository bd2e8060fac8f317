"""Wilson's interval against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from elegans.studies.intervals import wilson


@given(st.integers(1, 60), st.data())
def test_the_interval_is_that_of_scipy(runs, data):
    successes = data.draw(st.integers(0, runs))
    expected = binomtest(successes, runs).proportion_ci(0.95, method="wilson")
    got = wilson(successes, runs)
    np.testing.assert_allclose([got.low, got.high], [expected.low, expected.high], atol=1e-12)
    assert got.low <= got.rate <= got.high + 1e-12


def test_impossible_counts_are_refused():
    for successes, runs in ((3, 2), (-1, 5), (0, 0)):
        with pytest.raises(ValueError, match=f"got {successes} of {runs}"):
            wilson(successes, runs)
