"""Every study, by name."""

import importlib

from elegans.studies.study import Study
from elegans.sweeps.plain import nearest

MODULES = {
    "frontier": "elegans.studies.frontier",
    "fourier-gaps": "elegans.studies.fourier_gaps",
    "low-degree": "elegans.studies.low_degree",
    "sensitivity": "elegans.studies.sensitivity",
    "rademacher": "elegans.studies.rademacher",
    "induction-heads": "elegans.studies.induction_heads",
    "attention-patterns": "elegans.studies.attention_patterns",
    "unigrams-slow-learning": "elegans.studies.unigrams_slow_learning",
    "even-odd": "elegans.studies.even_odd",
    "trigrams": "elegans.studies.trigrams",
    "one-layer-fails": "elegans.studies.one_layer_fails",
    "more-states": "elegans.studies.more_states",
    "tabular": "elegans.studies.tabular",
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
