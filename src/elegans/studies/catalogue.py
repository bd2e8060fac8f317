"""Every study, by name."""

import importlib

from elegans.experiments.plain import nearest
from elegans.studies.study import Study

MODULES = {
    "frontier": "elegans.studies.pareto.frontier",
    "fourier-gaps": "elegans.studies.progress.fourier_gaps",
    "low-degree": "elegans.studies.sparse_activation.low_degree",
    "sensitivity": "elegans.studies.sparse_activation.sensitivity",
    "rademacher": "elegans.studies.sparse_activation.rademacher",
    "induction-heads": "elegans.studies.induction.induction_heads",
    "attention-patterns": "elegans.studies.induction.attention_patterns",
    "unigrams-slow-learning": "elegans.studies.induction.unigrams_slow_learning",
    "even-odd": "elegans.studies.induction.even_odd",
    "trigrams": "elegans.studies.induction.trigrams",
    "one-layer-fails": "elegans.studies.induction.one_layer_fails",
    "more-states": "elegans.studies.induction.more_states",
    "tabular": "elegans.studies.tables.tabular",
}


def study(name: str) -> Study:
    """The study called `name`."""
    if name not in MODULES:
        raise ValueError(
            f"No study is named {name!r}{nearest(name, MODULES)} "
            f'"elegans reproduce --list" shows all {len(MODULES)}.'
        )
    found: Study = importlib.import_module(MODULES[name]).STUDY
    return found


def studies() -> list[Study]:
    """All studies, in the order of the catalogue."""
    return [study(name) for name in MODULES]
