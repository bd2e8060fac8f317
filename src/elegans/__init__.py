"""A laboratory for the science of deep learning.

Names are imported when first used, so that `elegans --help` answers at once and a script pays for
what it needs.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elegans import constructions as constructions
    from elegans import estimators as estimators
    from elegans import learners as learners
    from elegans import models as models
    from elegans import probes as probes
    from elegans import tasks as tasks
    from elegans import theory as theory
    from elegans import training as training
    from elegans.estimators.classifier import SparseMLPClassifier as SparseMLPClassifier
    from elegans.estimators.regressor import SparseMLPRegressor as SparseMLPRegressor
    from elegans.experiments.experiment import Experiment as Experiment
    from elegans.experiments.run import run as run
    from elegans.explorer.server import explore as explore
    from elegans.fields import configuration as configuration
    from elegans.models import inits as inits
    from elegans.runs import Run as Run
    from elegans.store.store import Store as Store
    from elegans.sweeps.sweep import Sweep as Sweep
    from elegans.training.recipe import Group as Group
    from elegans.training.recipe import Stop as Stop
    from elegans.training.recipe import Training as Training

__version__ = "0.1.0"

# XLA divides its work by the number of its threads, and the division shows in the last bits. With
# one thread a run's record does not depend on the cores that the process happens to have; sweeps
# use processes. This counts if it comes before JAX computes anything.
os.environ.setdefault("NPROC", "1")

_ROOMS = (
    "constructions",
    "estimators",
    "learners",
    "models",
    "probes",
    "report",
    "studies",
    "tasks",
    "theory",
    "training",
)
_NAMES = {
    "Experiment": "elegans.experiments.experiment",
    "Group": "elegans.training.recipe",
    "Run": "elegans.runs",
    "SparseMLPClassifier": "elegans.estimators.classifier",
    "SparseMLPRegressor": "elegans.estimators.regressor",
    "Stop": "elegans.training.recipe",
    "Store": "elegans.store.store",
    "Sweep": "elegans.sweeps.sweep",
    "Training": "elegans.training.recipe",
    "configuration": "elegans.fields",
    "explore": "elegans.explorer.server",
    "run": "elegans.experiments.run",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name == "inits":  # where users look for them; the file is beside the models
        return importlib.import_module("elegans.models.inits")
    if name in _ROOMS:
        return importlib.import_module(f"elegans.{name}")
    raise AttributeError(
        f"module 'elegans' has no attribute {name!r}; it has {', '.join(__dir__())}."
    )


def __dir__() -> list[str]:
    return sorted([*_NAMES, *_ROOMS, "inits", "__version__"])
