"""What the samples and the width of theorem 5/21 lack as printed, in numbers."""

import math

import numpy as np
from scipy.stats import norm

from elegans.theory import resources

# With a constant number of samples over the squared tolerance each gradient entry is wrong with a
# constant chance; among n r of them some always are.
CONSTANT = 8.0


def test_errata_theorem_21_lacks_the_logarithm_of_its_union_bound():
    wrong = []
    for n in (21, 51, 101, 201):
        plan = resources.under_sparse(n, 4, 2)
        entries = n * plan.width
        exact = 2 * math.log(4 * entries / 0.01) / plan.tolerance**2
        assert plan.samples == math.ceil(exact)
        # labels are signs, so the mean of m of them has standard deviation at most m^(-1/2)
        wrong.append(entries * 2 * norm.cdf(-math.sqrt(CONSTANT)))
    assert min(wrong) > 100
    assert (np.diff(wrong) > 0).all()
    generator = np.random.default_rng(0)
    plan = resources.under_sparse(21, 4, 2)
    for factor, has_errors in ((CONSTANT, True), (2 * math.log(4 * 21 * plan.width / 0.01), False)):
        deviations = generator.standard_normal(21 * plan.width) / math.sqrt(factor)
        assert bool((np.abs(deviations) > 1).any()) == has_errors  # in units of the tolerance


def test_errata_theorem_21_lacks_the_biases_in_its_width():
    """(n/k)^s neurons hold one good one; k biases need one each: k log k times as many."""
    for n, k in ((400, 4), (400, 8), (400, 16)):
        plan = resources.under_sparse(n, k, 2)
        per_good = math.comb(n, 2) / math.comb(k, 2)  # neurons for one good one, of order (n/k)^s
        assert 1 < per_good / (n / k) ** 2 < 4 / 3
        assert plan.width / per_good > 2 * k * math.log(k)
