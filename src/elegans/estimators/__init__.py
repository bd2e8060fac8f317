"""Estimators for tables, with scikit-learn's interface."""

from elegans.estimators.sparse_mlp import SparseMLPClassifier, SparseMLPRegressor
