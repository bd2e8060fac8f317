"""What scikit-learn asks of an estimator."""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

from elegans.learners import (
    GaussianElimination,
    KushilevitzMansour,
    LowDegreeClassifier,
    LowDegreeRegressor,
    NeuralTangentClassifier,
    NeuralTangentRegressor,
    ParitySearch,
)
from elegans.learners.search import FED_REAL_FEATURES


def checked(estimator):
    """The names of the checks that fail and of all that ran, with the exceptions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks provoke warnings on purpose
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    ran = {result["check_name"] for result in results if result["status"] != "skipped"}
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    return ran, failed


@pytest.mark.parametrize(
    "estimator",
    [
        LowDegreeRegressor(),
        LowDegreeRegressor(alpha=1e-3),
        LowDegreeRegressor(degree="auto", max_degree=1, cv=2),
        LowDegreeClassifier(),
        NeuralTangentRegressor(),
        NeuralTangentClassifier(),
    ],
)
def test_estimators_of_real_features_pass_every_check(estimator):
    ran, failed = checked(estimator)
    assert failed == {}
    assert len(ran) > 30


@pytest.mark.parametrize(
    "estimator", [ParitySearch(), GaussianElimination(), KushilevitzMansour(samples=100)]
)
def test_learners_of_parities_fail_exactly_the_checks_that_feed_them_real_features(estimator):
    ran, failed = checked(estimator)
    assert set(failed) == ran & set(FED_REAL_FEATURES)
    for name, exception in failed.items():
        chain = [exception, exception.__cause__, exception.__context__]
        refused = any("reads bits" in str(error) for error in chain if error is not None)
        assert refused or name == "check_classifiers_one_label", (name, exception)
