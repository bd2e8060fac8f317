"""The recipe of the Pareto paper's appendix C.1, which most of its studies train with.

Batch 32, learning rate 0.1, weight decay 0.01; a run succeeds when its error on fresh examples is
at most 10%. The appendix names no loss; here it is the hinge loss of the proofs. The train error,
which only example curves show, is that of 1,000 rows: of more, it would cost more than training.
"""

from typing import Any

import pandas as pd

from elegans.training.recipe import Stop, Training

WEIGHT_DECAY = 0.01
COLUMNS = ["seed", "status", "success", "steps", "test_error", "train_error", "seconds"]


def training(
    samples: int | None, steps: int, evaluate_every: int = 500, **changes: Any
) -> Training:
    """The recipe with so many samples (None is online) and steps, and perhaps other changes."""
    fields: dict[str, Any] = {
        "loss": "hinge",
        "learning_rate": 0.1,
        "weight_decay": WEIGHT_DECAY,
        "batch": 32,
        "samples": samples,
        "steps": steps,
        "evaluate_every": evaluate_every,
        "train_rows": 1_000,
        "stop": Stop(test_error=0.1),
    }
    return Training(**(fields | changes))


def finished(table: pd.DataFrame) -> pd.DataFrame:
    """The runs that ended, with or without success, `success` as plain truth values."""
    return table.dropna(subset="success").astype({"success": bool})
