"""Learners beside which the networks stand: forests over the paper's grid, and others by default.

Each is a computation, fitted on the very rows that a network of the same seed trains on, and stored
like a run. What it returns is a table of one row per setting of the learner, with its error. Every
fit has one thread, in a worker process and elsewhere: threads that share a busy core wait for each
other.
"""

import itertools
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from elegans import checks
from elegans.fields import configuration
from elegans.keys import keys_of
from elegans.studies.tables.settings import BATCH, Learners
from elegans.tasks.tables.tabular import Examples, Split, Tabular

FOREST = "random forest"
PERCEPTRON = "scikit-learn MLP"


@configuration
class Forests:
    """Random forests at every point of a grid; `samples` are the training rows.

    A limit of features that a table does not have is left out. None in `max_depth` is no limit: the
    paper prints -1, which scikit-learn refuses.
    """

    task: Tabular
    samples: int
    max_depth: tuple[int | None, ...]
    max_features: tuple[int | str | None, ...]
    n_estimators: tuple[int, ...]

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per point of the grid.

        A forest grows from its smallest number of trees to its largest; with `warm_start` the trees
        are those of a forest that is fitted at once.
        """
        from sklearn.ensemble import RandomForestClassifier

        split = split_of(self.task, self.samples, seed)
        columns = split.train.x.shape[1]
        rows = []
        for depth, features in itertools.product(self.max_depth, self.max_features):
            if isinstance(features, int) and features > columns:
                continue
            options = {"max_depth": depth, "max_features": features}
            model = RandomForestClassifier(**options, random_state=seed, warm_start=True)
            for trees in sorted(self.n_estimators):
                model.set_params(n_estimators=trees)
                name = f"max_depth={depth}, max_features={features}, n_estimators={trees}"
                rows.append({"setting": name, "error": error(model, split)})
        return pd.DataFrame(rows)


@configuration
class Perceptron:
    """scikit-learn's MLP: Adam at rate 0.001, for a number of epochs."""

    task: Tabular
    samples: int
    hidden: tuple[int, ...]
    epochs: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: its only setting."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPClassifier

        batch = min(BATCH, self.samples)
        options = {"batch_size": batch, "max_iter": self.epochs, "random_state": seed}
        model = MLPClassifier(self.hidden, **options)
        with warnings.catch_warnings():  # the number of epochs is what is asked for
            warnings.simplefilter("ignore", ConvergenceWarning)
            share = error(model, split_of(self.task, self.samples, seed))
        return pd.DataFrame({"setting": [f"hidden_layer_sizes={self.hidden}"], "error": [share]})


@configuration
class WithDefaults:
    """A learner with the defaults of its library; `learner` is one of `DEFAULTS`."""

    task: Tabular
    samples: int
    learner: str

    def __post_init__(self) -> None:
        checks.choice(self, "learner", self.learner, DEFAULTS)

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: its only setting."""
        _, classifier = DEFAULTS[self.learner]
        share = error(classifier(seed), split_of(self.task, self.samples, seed))
        return pd.DataFrame({"setting": ["defaults"], "error": [share]})


def histogram_boosting(seed: int) -> Any:
    """scikit-learn's histogram gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def xgboost(seed: int) -> Any:
    """XGBoost."""
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1)


def lightgbm(seed: int) -> Any:
    """LightGBM."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


def catboost(seed: int) -> Any:
    """CatBoost."""
    from catboost import CatBoostClassifier

    options = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    return CatBoostClassifier(random_seed=seed, **options)


def real_mlp(seed: int) -> Any:
    """RealMLP with its tuned defaults (Holzmüller et al., 2024)."""
    from pytabkit import RealMLP_TD_Classifier

    return RealMLP_TD_Classifier(random_state=seed, device="cpu", n_threads=1, verbosity=0)


DEFAULTS: dict[str, tuple[str, Callable[[int], Any]]] = {  # with the module that it needs
    "histogram boosting": ("sklearn", histogram_boosting),
    "XGBoost": ("xgboost", xgboost),
    "LightGBM": ("lightgbm", lightgbm),
    "CatBoost": ("catboost", catboost),
    "RealMLP": ("pytabkit", real_mlp),
}


def learners(task: Tabular, samples: int, settings: Learners) -> dict[str, Any]:
    """The computations on so many training rows of a table, by the name of the learner."""
    grid = (settings.max_depth, settings.max_features, settings.n_estimators)
    return {
        FOREST: Forests(task, samples, *grid),
        PERCEPTRON: Perceptron(task, samples, settings.hidden, settings.epochs),
        **{name: WithDefaults(task, samples, name) for name in DEFAULTS if name not in absent()},
    }


def absent() -> list[str]:
    """The learners that are not installed."""
    return [name for name, (module, _) in DEFAULTS.items() if find_spec(module) is None]


def split_of(task: Tabular, samples: int, seed: int) -> Split:
    """The rows that a network of this seed trains and is tested on."""
    train, test = task.split(keys_of(seed).data)
    return Split(Examples(train.x[:samples], train.y[:samples]), test)


def error(model: Any, split: Split) -> float:
    """The share of test rows whose label a classifier gets wrong, once it is fitted.

    From rows of one class it is that class which is predicted, as not every classifier takes them.
    """
    from threadpoolctl import threadpool_limits

    known, truth = split.train.y > 0, split.test.y > 0
    if known.all() or not known.any():
        return float(np.mean(truth != known[0]))
    with threadpool_limits(limits=1):
        model.fit(split.train.x, known.astype(int))
        predicted = np.asarray(model.predict(split.test.x)).ravel().astype(int)
    return float(np.mean(predicted != truth))
