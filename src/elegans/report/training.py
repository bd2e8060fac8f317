"""The curve of one run."""

from pathlib import Path

from elegans import checks
from elegans.report import plots
from elegans.runs import Run


def save(run: Run, path: Path) -> Path:
    """Draws loss and errors against steps, and returns where the picture is."""
    history = run.history
    with plots.look():
        made = plots.figure(8, 4)
        axes = made.subplots()
        axes.plot(history["step"], history["test_error"], color="#1f77b4", label="test error")
        axes.plot(history["step"], history["train_error"], color="0.6", label="train error")
        loss = "test_loss" if history["train_loss"].isna().all() else "train_loss"
        axes.plot(history["step"], history[loss], color="#d95f02", ls=":", lw=1,
                  label=loss.replace("_", " "))  # fmt: skip
        stop = run.experiment.training.stop
        if stop is not None:
            axes.axhline(float(stop.test_error), color="0.3", lw=0.8, ls="--")
        title = f"{checks.shown(run.experiment.task)}, {checks.shown(run.experiment.model)}"
        axes.set(xlabel="step", ylabel="error, loss", title=f"{title}, seed {run.seed}")
        axes.set_ylim(0, max(0.6, min(1.2, float(history[loss].max()))))
        axes.legend()
    return plots.save(made, path)
