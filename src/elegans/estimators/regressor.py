"""A regressor for tables: an ensemble of wide, sparsely initialised MLPs."""

import numpy as np
from jaxtyping import Float
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from elegans.estimators.sparse_mlp import SparseMLP
from elegans.estimators.table import Scale, checked_weights, distinct, scale_of


class SparseMLPRegressor(RegressorMixin, SparseMLP):
    """A regressor for tables: an ensemble of wide MLPs with a sparse, axis-aligned init.

    It learns the standardised target by least squares, and predicts the mean of the networks.
    Parameters and attributes are those of `SparseMLPClassifier` that do not speak of classes or
    labels.
    """

    _kept = ("feature_names_in_", "target_")

    def fit(self, X: object, y: object, sample_weight: object = None) -> "SparseMLPRegressor":
        """Trains the ensemble."""
        self._check_parameters()
        x, target = validate_data(
            self,
            X,
            y,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=2,
            y_numeric=True,
        )
        target = np.asarray(target, np.float64)
        self._check_table(x)
        weight = checked_weights(type(self).__name__, sample_weight, len(x))
        rows = distinct(x, target, weight)
        if not self._continues():
            self.target_ = np.stack(scale_of(rows.y[:, None], rows.weight))
        scaled = Scale(*self.target_)(rows.y[:, None])[:, 0]
        self._train(rows._replace(y=scaled), "square", None)
        return self

    def predict(self, X: object) -> Float[np.ndarray, " rows"]:
        """The predicted target of each row."""
        mean = np.mean([output.astype(np.float64) for output in self._outputs(X)], axis=0)
        return Scale(*self.target_).inverse(mean[:, None])[:, 0]
