"""A classifier for tables: an ensemble of wide, sparsely initialised MLPs."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from elegans import checks
from elegans.estimators import members
from elegans.estimators.sparse_mlp import SparseMLP
from elegans.estimators.table import checked_weights, distinct


class SparseMLPClassifier(ClassifierMixin, SparseMLP):
    """A classifier for tables: an ensemble of wide MLPs with a sparse, axis-aligned init.

    A fit depends on the rows and their weights, not on their order, and with a `random_state` on
    nothing else: a row of weight two is the same as the row twice.

    Parameters
    ----------
    width, depth : int
        Neurons in each hidden layer, and hidden layers.
    init_sparsity : int or None
        Features that each neuron reads at initialisation; None is PyTorch's dense init. With
        fewer features, all of them.
    ensemble : int
        Networks, from different inits; their probabilities are averaged.
    epochs : int
        Passes over the rows, at most.
    batch_size : int
        Rows per step, at most: a small table is divided into at least eight steps per epoch, as
        long as they have sixteen rows.
    learning_rate, weight_decay : float
        Of AdamW; the rate falls to zero along a cosine.
    dropout : float
        The share of hidden neurons that are silenced in each step of training.
    label_smoothing : float
        The share of a label that is spread evenly over all classes in training, which keeps
        networks from growing too sure. Probabilities have it taken out again.
    early_stopping : bool
        Whether each network holds out rows of its own, keeps its weights of the epoch that was best
        on them, and stops after `patience` epochs without a better one.
    validation_fraction : float
        The share of the rows that a network holds out, a like share of each class.
    patience : int
        Epochs without improvement after which a network stops.
    class_weight : dict, "balanced" or None
        Weights of the classes, as elsewhere in scikit-learn.
    scaling : "quantile", "standard" or None
        How columns are standardised: by the normal quantiles of their ranks, which units and
        outliers do not touch; to mean zero and variance one; or not at all.
    constant_columns : "refuse" or "ignore"
        What to do about a column with a single value.
    warm_start : bool
        Whether a second `fit` goes on with the weights of the first.
    n_jobs : int or None
        Processes that share the networks out; None is one, -1 all cores.
    random_state : int, RandomState or None
        Where the inits and the order of rows come from.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : array
        The labels.
    networks_ : list
        The weights of each network: a list of (weight, bias) from input to output.
    n_epochs_ : array
        The epochs that each network's weights were trained for.
    loss_curves_, validation_curves_ : list of array
        Each network's mean loss on its training and on its held-out rows, by epoch.
    """

    _kept = ("feature_names_in_", "classes_")

    @checks.stores_anything
    def __init__(
        self,
        *,
        width: int = 256,
        depth: int = 2,
        init_sparsity: int | None = 2,
        ensemble: int = 8,
        epochs: int = 60,
        batch_size: int = 256,
        learning_rate: float = 3e-3,
        weight_decay: float = 0.0,
        dropout: float = 0.1,
        label_smoothing: float = 0.1,
        early_stopping: bool = True,
        validation_fraction: float = 0.15,
        patience: int = 20,
        class_weight: Any = None,
        scaling: str | None = "quantile",
        constant_columns: str = "refuse",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            width=width,
            depth=depth,
            init_sparsity=init_sparsity,
            ensemble=ensemble,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            dropout=dropout,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            patience=patience,
            scaling=scaling,
            constant_columns=constant_columns,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.label_smoothing = label_smoothing
        self.class_weight = class_weight

    def fit(self, X: object, y: object, sample_weight: object = None) -> "SparseMLPClassifier":
        """Trains the ensemble."""
        self._check_parameters()
        spread = "is the share of a label that is spread over all classes"
        checks.number(self, "label_smoothing", self.label_smoothing, low=0, high=0.99, what=spread)
        x, labels = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2
        )
        check_classification_targets(labels)
        self._check_table(x)
        weight = checked_weights(type(self).__name__, sample_weight, len(x))
        classes, codes = np.unique(labels, return_inverse=True)
        self._check_classes(classes, codes, weight)
        weight = weight * self._class_weights(classes, codes, weight)[codes]
        self.classes_ = classes
        if len(classes) == 2:
            self._train(distinct(x, 2.0 * codes - 1.0, weight), "logistic", None)
        else:
            self._train(distinct(x, codes, weight), "cross-entropy", len(classes))
        return self

    def _check_classes(
        self, classes: np.ndarray, codes: Int[np.ndarray, " rows"], weight: np.ndarray
    ) -> None:
        """Refuses labels of one class, and other classes than those of a fit to go on with."""
        count = len(np.unique(codes[weight > 0]))
        if count < 2:
            raise ValueError(
                f"{type(self).__name__}: a classifier needs two classes or more; y has {count} "
                f"class among the rows of positive weight, of {len(classes)} in all."
            )
        if self._continues() and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"{type(self).__name__}: warm_start goes on with the classes {self.classes_!r}; "
                f"y has {classes!r}. Set warm_start=False to begin anew."
            )

    def _class_weights(
        self, classes: np.ndarray, codes: Int[np.ndarray, " rows"], weight: np.ndarray
    ) -> Float[np.ndarray, " classes"]:
        """The weight of each class; "balanced" ones make all classes weigh the same."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            total = np.bincount(codes, weights=weight, minlength=len(classes))
            return total.sum() / (len(classes) * np.maximum(total, np.finfo(float).tiny))
        return compute_class_weight(self.class_weight, classes=classes, y=classes[codes])

    def predict_proba(self, X: object) -> Float[np.ndarray, "rows classes"]:
        """The probability of each class at each row, averaged over the networks."""
        mean = np.mean([members.probabilities(output) for output in self._outputs(X)], axis=0)
        return members.unsmoothed(mean, self.label_smoothing)

    def decision_function(self, X: object) -> Float[np.ndarray, "..."]:
        """The log odds of the second class, or the log probability of each if there are more."""
        probability = np.clip(self.predict_proba(X), np.finfo(float).tiny, 1.0)
        logs = np.log(probability)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict(self, X: object) -> np.ndarray:
        """The likeliest class of each row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]
