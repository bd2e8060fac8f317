"""The curve of one run."""

from pathlib import Path
from typing import Any

import pandas as pd

from elegans import checks
from elegans.report import look


def save(experiment: Any, seed: int, history: pd.DataFrame, path: Path) -> Path:
    """Draws loss and errors against steps, and returns where the picture is."""
    with look.context():
        figure = look.figure(8, 4)
        axes = figure.subplots()
        axes.plot(history["step"], history["test_error"], color="#1f77b4", label="test error")
        axes.plot(history["step"], history["train_error"], color="0.6", label="train error")
        loss = "test_loss" if history["train_loss"].isna().all() else "train_loss"
        name = loss.replace("_", " ")
        axes.plot(history["step"], history[loss], color="#d95f02", ls=":", lw=1, label=name)
        stop = experiment.training.stop
        goal = getattr(stop, "test_error", None)
        if goal is not None:
            axes.axhline(float(goal), color="0.3", lw=0.8, ls="--")
        title = f"{checks.shown(experiment.task)}, {checks.shown(experiment.model)}, seed {seed}"
        axes.set(xlabel="step", ylabel="error, loss", title=title)
        axes.set_ylim(0, max(0.6, min(1.2, float(history[loss].max()))))
        axes.legend()
    return look.save(figure, path)
