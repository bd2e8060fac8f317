"""Classification by regression on signs: one function per class, one in all for two classes."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted


class SignClassifier(ClassifierMixin):
    """The class whose function is largest; `_values`, of the class beside it, has the functions."""

    _values: Callable[[object], Float[np.ndarray, "rows functions"]]

    def _targets(self, labels: np.ndarray) -> Float[np.ndarray, "rows functions"]:
        """Sets `classes_`; what is fitted: +1 in the rows of a class, -1 in all others."""
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        count = len(self.classes_)
        if count < 2:
            raise ValueError(
                f"{type(self).__name__} separates two classes or more; y has {count} class, "
                f"{self.classes_[0]!r}."
            )
        columns = [1] if count == 2 else range(count)
        return np.stack([np.where(codes == c, 1.0, -1.0) for c in columns], axis=1)

    def decision_function(self, X: object) -> Float[np.ndarray, "..."]:
        """The function of each class at each row of `X`; one, of the second, if there are two."""
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: object) -> np.ndarray:
        """The class of each row of `X`."""
        check_is_fitted(self)
        values = self.decision_function(X)
        best = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[best]
