"""Learners beside which the networks stand: forests over the paper's grid, and others as they come.

Each is fitted on the very rows that a network of the same seed trains on. A fit is one learner on
one data set at one fraction and seed; it returns an error for each of the learner's settings. Fits
are done in parallel processes of one thread each, and noted in a file (if one is given) of one JSON
line a fit, from which a later call goes on.
"""

import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elegans.keys import keys_of
from elegans.tasks.tables.tabular import Examples, Split, Tabular

FOREST = "random forest"


@dataclass(frozen=True)
class Settings:
    """The forests' grid (None is no limit of depth, and all features), and scikit-learn's MLP."""

    max_depth: tuple[int | None, ...]
    max_features: tuple[int | str | None, ...]
    n_estimators: tuple[int, ...]
    hidden: tuple[int, ...]
    epochs: int
    batch: int = 256


class Fit(NamedTuple):
    """What to fit: one learner on one data set, at one seed."""

    learner: str
    task: Tabular
    samples: int
    seed: int

    @property
    def key(self) -> dict[str, Any]:
        """What it is noted under."""
        task = self.task
        return {
            "learner": self.learner,
            "dataset": task.name,
            "rows": len(task.table.x),
            "fraction": float(task.fraction),
            "samples": self.samples,
            "seed": self.seed,
        }


Errors = dict[str, float]  # by the learner's setting
Learner = Callable[[Split, int, Settings], Errors]


def forest(split: Split, seed: int, settings: Settings) -> Errors:
    """Errors of a random forest at every point of the grid.

    A forest grows from its smallest number of trees to its largest; with `warm_start` the trees are
    those of a forest that is fitted at once.
    """
    from sklearn.ensemble import RandomForestClassifier

    features = split.train.x.shape[1]
    found = {}
    for depth, most in itertools.product(settings.max_depth, settings.max_features):
        if isinstance(most, int) and most > features:
            continue
        model = RandomForestClassifier(
            max_depth=depth, max_features=most, random_state=seed, warm_start=True
        )
        for trees in sorted(settings.n_estimators):
            model.set_params(n_estimators=trees)
            name = f"max_depth={depth}, max_features={most}, n_estimators={trees}"
            found[name] = error(model, split)
    return found


def perceptron(split: Split, seed: int, settings: Settings) -> Errors:
    """The error of scikit-learn's MLP: Adam at rate 0.001, for as many epochs as the networks."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier(
        settings.hidden,
        batch_size=min(settings.batch, len(split.train.x)),
        max_iter=settings.epochs,
        random_state=seed,
    )
    with warnings.catch_warnings():  # the number of epochs is what is asked for
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {f"hidden_layer_sizes={settings.hidden}": error(model, split)}


def histogram_boosting(split: Split, seed: int, settings: Settings) -> Errors:
    """The error of scikit-learn's histogram gradient boosting, as it comes."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return {"defaults": error(HistGradientBoostingClassifier(random_state=seed), split)}


def xgboost(split: Split, seed: int, settings: Settings) -> Errors:
    """The error of XGBoost, as it comes."""
    from xgboost import XGBClassifier

    return {"defaults": error(XGBClassifier(random_state=seed, n_jobs=1), split)}


def lightgbm(split: Split, seed: int, settings: Settings) -> Errors:
    """The error of LightGBM, as it comes."""
    from lightgbm import LGBMClassifier

    return {"defaults": error(LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1), split)}


def catboost(split: Split, seed: int, settings: Settings) -> Errors:
    """The error of CatBoost, as it comes."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False
    )
    return {"defaults": error(model, split)}


def real_mlp(split: Split, seed: int, settings: Settings) -> Errors:
    """The error of RealMLP with its tuned defaults (Holzmüller et al., 2024)."""
    from pytabkit import RealMLP_TD_Classifier

    model = RealMLP_TD_Classifier(random_state=seed, device="cpu", n_threads=1, verbosity=0)
    return {"tuned defaults": error(model, split)}


LEARNERS: dict[str, Learner] = {
    FOREST: forest,
    "scikit-learn MLP": perceptron,
    "histogram boosting": histogram_boosting,
}
EXTRAS: dict[str, tuple[str, Learner]] = {  # by the module that must be installed
    "XGBoost": ("xgboost", xgboost),
    "LightGBM": ("lightgbm", lightgbm),
    "CatBoost": ("catboost", catboost),
    "RealMLP": ("pytabkit", real_mlp),
}


def error(model: Any, split: Split) -> float:
    """The share of test rows whose label a classifier gets wrong, once it is fitted.

    From rows of one class it is that class which is predicted, as not every classifier takes them.
    """
    known, asked = split.train.y > 0, split.test.y > 0
    if known.all() or not known.any():
        return float(np.mean(asked != known[0]))
    model.fit(split.train.x, known.astype(int))
    predicted = np.asarray(model.predict(split.test.x)).ravel().astype(int)
    return float(np.mean(predicted != asked))


def present() -> dict[str, Learner]:
    """The learners that can be used here: scikit-learn's, and the extras that are installed."""
    extras = {name: learner for name, (module, learner) in EXTRAS.items() if find_spec(module)}
    return LEARNERS | extras


def absent() -> list[str]:
    """The extras that are not installed."""
    return [name for name in EXTRAS if name not in present()]


def fitted(fit: Fit, settings: Settings) -> dict[str, Any]:
    """What a fit found, with what it is noted under."""
    split = fit.task.split(keys_of(fit.seed).data)
    train = Examples(split.train.x[: fit.samples], split.train.y[: fit.samples])
    errors = present()[fit.learner](Split(train, split.test), fit.seed, settings)
    return {**fit.key, "errors": errors}


def fit_all(
    fits: Sequence[Fit], settings: Settings, *, workers: int, notes: Path | None = None
) -> list[dict[str, Any]]:
    """One row a fit and setting, with its error; fits that are noted are not done again.

    Args:
        fits: What to fit.
        settings: Of the learners.
        workers: Processes, each with one thread; 0 is none but this one.
        notes: A file of one JSON line a fit.
    """
    known = {identity(note["fit"], note["settings"]): note["fit"] for note in _read(notes)}
    plain = json.loads(json.dumps(asdict(settings)))
    names = [identity(fit.key, plain) for fit in fits]
    new = [fit for fit, name in zip(fits, names, strict=True) if name not in known]
    for found in _done(new, settings, workers):
        known[identity(found, plain)] = found
        if notes is not None:
            with notes.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps({"fit": found, "settings": plain}))
    return [
        {**fit.key, "setting": setting, "error": error}
        for fit, name in zip(fits, names, strict=True)
        for setting, error in known[name]["errors"].items()
    ]


def identity(key: dict[str, Any], settings: dict[str, Any]) -> str:
    """A text that two fits share if and only if they are the same."""
    rest = {name: value for name, value in key.items() if name != "errors"}
    return json.dumps([rest, settings], sort_keys=True)


def _done(fits: Iterable[Fit], settings: Settings, workers: int) -> Iterator[dict[str, Any]]:
    """What the fits find, as they are done."""
    if workers <= 1:
        yield from (fitted(fit, settings) for fit in fits)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config("loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=workers, return_as="generator_unordered")
        yield from pool(delayed(fitted)(fit, settings) for fit in fits)


def _read(notes: Path | None) -> list[dict[str, Any]]:
    """The notes; a line that was broken off is none, and its fit is done again."""
    if notes is None or not notes.is_file():
        return []
    found = []
    for line in notes.read_text(encoding="utf-8").splitlines():
        with suppress(json.JSONDecodeError):
            found.append(json.loads(line))
    return found
