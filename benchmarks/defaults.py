"""The table behind the defaults of `SparseMLPClassifier`: `python -m benchmarks.defaults --help`.

Each row is the estimator with one default changed, or another learner, on the tables of the
benchmark at some fractions of their training rows: a tenth is set aside for testing, and both are
drawn anew for each seed. Columns that are constant in the training rows are dropped. The last
columns are the mean error over tables and the mean seconds of a fit. Fits are noted in a file, and
the same command goes on where it was stopped.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import elegans as el

EXACT = (
    "house_16h",
    "magictelescope",
    "bank-marketing",
    "diabetes130us",
    "default-of-credit-card-clients",
    "california",
    "heloc",
)
CHANGES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "rate 0.001, no dropout or smoothing": {
        "learning_rate": 0.001,
        "dropout": 0.0,
        "label_smoothing": 0.0,
    },
    "ensemble=1": {"ensemble": 1},
    "ensemble=4": {"ensemble": 4},
    "init_sparsity=None": {"init_sparsity": None},
    "init_sparsity=4": {"init_sparsity": 4},
    "width=64": {"width": 64},
    "width=1024": {"width": 1024},
    "depth=1": {"depth": 1},
    "depth=3": {"depth": 3},
    "scaling='standard'": {"scaling": "standard"},
    "early_stopping=False": {"early_stopping": False},
    "learning_rate=0.001": {"learning_rate": 0.001},
    "dropout=0": {"dropout": 0.0},
    "label_smoothing=0": {"label_smoothing": 0.0},
    "weight_decay=0.1": {"weight_decay": 0.1},
}
OTHERS = ("random forest, 1,000 trees", "scikit-learn's MLP, 1,000 x 1,000", "gradient boosting")


def learner(name: str, seed: int) -> Any:
    """The learner with the given name."""
    if name in CHANGES:
        return el.SparseMLPClassifier(random_state=seed, n_jobs=-1, **CHANGES[name])
    if name == OTHERS[0]:
        return RandomForestClassifier(n_estimators=1_000, n_jobs=-1, random_state=seed)
    if name == OTHERS[1]:
        return make_pipeline(StandardScaler(), MLPClassifier((1_000, 1_000), random_state=seed))
    return HistGradientBoostingClassifier(random_state=seed)


def measured(name: str, dataset: str, fraction: float, seed: int, data: str) -> tuple[float, float]:
    """The test error of one fit, and its seconds."""
    with np.load(Path(data) / f"{dataset}.npz") as file:
        x, y = file["X"].astype(np.float64), file["y"]
    order = np.random.default_rng(seed).permutation(len(y))
    test, rest = np.split(order, [len(y) // 10])
    train = rest[: max(2, round(fraction * len(rest)))]
    model = make_pipeline(VarianceThreshold(), learner(name, seed))
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's network does not always converge
        model.fit(x[train], y[train])
    return float(np.mean(model.predict(x[test]) != y[test])), time.perf_counter() - began


def table(known: dict[str, tuple[float, float]], options: argparse.Namespace) -> str:
    """Errors in percent by learner and table, with their mean."""
    lines = []
    for fraction in options.fractions:
        lines.append(
            f"\n{fraction:.0%} of the training rows, mean over seeds 0 to {options.seeds - 1}"
        )
        lines.append(
            " " * 36
            + "".join(f"{name[:9]:>10}" for name in options.tables)
            + "      mean   seconds"
        )
        for name in options.learners:
            found = [
                [known[key(name, dataset, fraction, seed)] for seed in range(options.seeds)]
                for dataset in options.tables
            ]
            errors = [100 * np.mean([error for error, _ in runs]) for runs in found]
            taken = np.mean([seconds for runs in found for _, seconds in runs])
            cells = "".join(f"{error:10.1f}" for error in errors)
            lines.append(f"{name:36}{cells}{np.mean(errors):10.2f}{taken:10.1f}")
    return "\n".join(lines)


def key(name: str, dataset: str, fraction: float, seed: int) -> str:
    """What a fit is noted under."""
    return json.dumps([name, dataset, fraction, seed])


def main(arguments: list[str]) -> None:
    """Fits what is not yet noted, and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("--data", required=True, help="directory of NAME.npz files")
    parser.add_argument("--notes", default="out/defaults.jsonl", help="where fits are noted")
    parser.add_argument("--fractions", type=float, nargs="+", default=[1.0, 0.1, 0.01])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--learners", nargs="+", default=[*CHANGES, *OTHERS])
    parser.add_argument("--tables", nargs="+", default=EXACT)
    options = parser.parse_args(arguments)
    notes = Path(options.notes)
    notes.parent.mkdir(parents=True, exist_ok=True)
    lines = notes.read_text().splitlines() if notes.exists() else []
    known = dict(json.loads(line) for line in lines)
    for fraction in options.fractions:
        for name in options.learners:
            for dataset in options.tables:
                for seed in range(options.seeds):
                    if (place := key(name, dataset, fraction, seed)) in known:
                        continue
                    known[place] = measured(name, dataset, fraction, seed, options.data)
                    with notes.open("a") as file:
                        file.write(json.dumps([place, known[place]]) + "\n")
    print(table(known, options))


if __name__ == "__main__":
    main(sys.argv[1:])
