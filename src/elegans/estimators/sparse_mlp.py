"""What the estimators for tables share: parameters, training, saving.

The Pareto paper (section 4.2) finds that on small tables wide networks whose neurons at first read
two features each generalise better than standard ones. Here that is one line:
`SparseMLPClassifier().fit(X, y)`. docs/tabular.md says when to use it and how the defaults came
about. JAX is imported by the first fit or prediction, not with this module.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from elegans import checks
from elegans.estimators import members, saving
from elegans.estimators.table import (
    Ranks,
    Rows,
    Scale,
    check_values,
    check_variation,
    column_names,
    ranks_of,
    scale_of,
    unscaled,
)

CONSTANT_COLUMNS = ("refuse", "ignore")
SCALINGS: dict[str | None, Callable[..., Scale | Ranks]] = {
    "quantile": ranks_of,
    "standard": scale_of,
    None: unscaled,
}


class SparseMLP(BaseEstimator):
    """What the classifier and the regressor share."""

    _kept: tuple[str, ...] = ("feature_names_in_",)
    networks_: list[list[tuple[np.ndarray, np.ndarray]]]
    scale_: Scale | Ranks
    label_smoothing: float = 0.0  # a parameter of the classifier alone

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
        early_stopping: bool = True,
        validation_fraction: float = 0.15,
        patience: int = 20,
        scaling: str | None = "quantile",
        constant_columns: str = "refuse",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.width = width
        self.depth = depth
        self.init_sparsity = init_sparsity
        self.ensemble = ensemble
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.scaling = scaling
        self.constant_columns = constant_columns
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        """Refuses parameters that mean nothing, before anything is computed."""
        checks.whole(self, "width", self.width, low=1, what="counts the neurons of a layer")
        checks.whole(self, "depth", self.depth, low=1, what="counts the hidden layers")
        checks.whole(self, "ensemble", self.ensemble, low=1, what="counts the networks")
        checks.whole(self, "epochs", self.epochs, low=1, what="counts the passes over the rows")
        checks.whole(self, "batch_size", self.batch_size, low=1, what="counts the rows of a step")
        checks.whole(self, "patience", self.patience, low=1, what="counts epochs")
        if self.init_sparsity is not None:
            what = "counts the features that a neuron reads at initialisation (None: all)"
            checks.whole(self, "init_sparsity", self.init_sparsity, low=1, what=what)
        rate = "multiplies the gradient"
        checks.number(self, "learning_rate", self.learning_rate, low=0, what=rate)
        checks.number(self, "weight_decay", self.weight_decay, low=0, what="multiplies the weights")
        silent = "is the share of neurons that are silenced in a step"
        checks.number(self, "dropout", self.dropout, low=0, high=0.99, what=silent)
        share = "is the share of the rows that are held out"
        checks.number(
            self, "validation_fraction", self.validation_fraction, low=0, high=0.9, what=share
        )
        checks.choice(self, "scaling", self.scaling, SCALINGS)
        checks.choice(self, "constant_columns", self.constant_columns, CONSTANT_COLUMNS)

    def _check_table(self, x: Float[np.ndarray, "rows n"]) -> None:
        """Refuses values that nothing can be learnt from, naming their columns."""
        names = column_names(self)
        check_values(type(self).__name__, x, names)
        if self.constant_columns == "refuse":
            check_variation(type(self).__name__, x, names)

    def _train(self, rows: Rows, loss: str, classes: int | None) -> None:
        """Trains the networks on checked rows and sets what the fit is known by."""
        initial = self.networks_ if self._continues() else None
        if initial is None:
            self.scale_ = SCALINGS[self.scaling](rows.x, rows.weight)
        rows = rows._replace(x=self.scale_(rows.x))
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.ensemble)
        trained = members.train(self, rows, [int(seed) for seed in seeds], loss, classes, initial)
        self.networks_ = [member.layers for member in trained]
        self.n_epochs_ = np.array([member.epochs for member in trained])
        self.loss_curves_ = [member.loss for member in trained]
        self.validation_curves_ = [member.holdout_loss for member in trained]

    def _continues(self) -> bool:
        """Whether this fit goes on from the last one."""
        if not (self.warm_start and hasattr(self, "networks_")):
            return False
        first, _ = self.networks_[0][0]
        fitted_sizes = (len(self.networks_), len(self.networks_[0]) - 1, *first.shape)
        sizes = (self.ensemble, self.depth, self.n_features_in_, self.width)
        if fitted_sizes != sizes:
            raise ValueError(
                f"{type(self).__name__}: warm_start goes on with the fitted networks, of which "
                "ensemble, depth, number of features and width are "
                f"{fitted_sizes}; got {sizes}. Set warm_start=False to begin anew."
            )
        return True

    def _outputs(self, X: object) -> Iterator[Float[np.ndarray, "..."]]:
        """What each network computes at each row of `X`."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        check_values(type(self).__name__, x, column_names(self))
        z = self.scale_(x)
        return (members.outputs(layers, z) for layers in self.networks_)

    def save(self, path: str | Path) -> None:
        """Writes the fitted estimator to one file, without pickle.

        A generator given as `random_state` is not kept; a number is.
        """
        check_is_fitted(self)
        arrays = {f"scale_{i}": array for i, array in enumerate(self.scale_)}
        for i, layers in enumerate(self.networks_):
            for j, (weight, bias) in enumerate(layers):
                arrays |= {f"weight_{i}_{j}": weight, f"bias_{i}_{j}": bias}
            arrays[f"loss_{i}"] = self.loss_curves_[i]
            arrays[f"validation_{i}"] = self.validation_curves_[i]
        arrays["n_epochs"] = self.n_epochs_
        for name in self._kept:
            if hasattr(self, name):
                arrays[name] = saving.without_objects(name, np.asarray(getattr(self, name)))
        parameters = saving.serialised(self.get_params(deep=False))
        header = {
            "class": type(self).__name__,
            "parameters": parameters,
            "scale": type(self.scale_).__name__,
            "layers": len(self.networks_[0]),
        }
        saving.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Any:
        """The fitted estimator that `save` wrote."""
        header, arrays = saving.read(path)
        if header["class"] != cls.__name__:
            raise ValueError(
                f"{cls.__name__}.load: {str(path)!r} holds a {header['class']}; "
                f"load it with {header['class']}.load."
            )
        estimator = cls(**saving.deserialised(header["parameters"]))
        scale: Any = {"Scale": Scale, "Ranks": Ranks}[header["scale"]]
        estimator.scale_ = scale(*(arrays[f"scale_{i}"] for i in range(len(scale._fields))))
        estimator.n_epochs_ = arrays["n_epochs"]
        count = range(len(estimator.n_epochs_))
        estimator.networks_ = [
            [(arrays[f"weight_{i}_{j}"], arrays[f"bias_{i}_{j}"]) for j in range(header["layers"])]
            for i in count
        ]
        estimator.loss_curves_ = [arrays[f"loss_{i}"] for i in count]
        estimator.validation_curves_ = [arrays[f"validation_{i}"] for i in count]
        estimator.n_features_in_ = estimator.networks_[0][0][0].shape[0]
        for name in cls._kept:
            if name in arrays:
                setattr(estimator, name, arrays[name])
        return estimator
