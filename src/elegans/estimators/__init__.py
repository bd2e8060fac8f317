"""Estimators for tables, with scikit-learn's interface."""

from elegans.estimators.classifier import SparseMLPClassifier
from elegans.estimators.regressor import SparseMLPRegressor
