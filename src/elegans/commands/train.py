"""`elegans train`: one network, watched while it learns.

Tasks and models are typed as in Python: --task 'Parity(n=50, k=3)' --model 'MLP(width=100,
init=Sparse(2))'. Every field of `Training` is an option.
"""

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from elegans.commands.refusal import refusing
from elegans.experiments.expression import literal, parse
from elegans.experiments.plain import build
from elegans.training.recipe import Training

if TYPE_CHECKING:
    from elegans.experiments.experiment import Experiment
    from elegans.runs import Run

FIELDS = dataclasses.fields(Training)


def parser() -> argparse.ArgumentParser:
    """The options of the command: those of `Training`, and what is trained on what."""
    made = argparse.ArgumentParser(
        prog="elegans train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--task", help="what to learn (needed unless --experiment)")
    made.add_argument("--model", help="what learns (needed unless --experiment)")
    made.add_argument("--experiment", type=Path, help="a whole experiment, as JSON")
    made.add_argument("--seed", type=int, default=0, help="source of all randomness (default: 0)")
    made.add_argument("--out", type=Path, default=Path("out/train.png"), help="the curve's file")
    made.add_argument("--json", action="store_true", help="print the record as JSON")
    recipe = made.add_argument_group("training")
    for field in FIELDS:
        name = f"--{field.name.replace('_', '-')}"
        recipe.add_argument(name, metavar="VALUE", help=f"default: {field.default!r}")
    return made


def main(arguments: Sequence[str]) -> int:
    """Runs the command; 0 when the run is done, diverged or not."""
    options = parser().parse_args(arguments)
    with refusing("train"):
        experiment = experiment_of(options)
        if options.seed < 0:
            raise ValueError(f"--seed numbers a run, so it is 0 or more; got {options.seed}.")
        options.out.parent.mkdir(parents=True, exist_ok=True)
    from elegans.experiments.run import run
    from elegans.report import training as pictures

    with View(experiment) as view:
        record = run(experiment, seed=options.seed, watch=view.show)
    pictures.save(record, options.out)
    if options.json:
        print(json.dumps(summary(record)))
    else:
        console = Console()
        for name, value in summary(record).items():
            console.print(f"{name:>12}  {value}", highlight=False)
        console.print(f"{'written':>12}  {options.out}", highlight=False)
    return 0


def experiment_of(options: argparse.Namespace) -> "Experiment":
    """The experiment that the options describe."""
    from elegans.experiments.experiment import Experiment

    given = {
        field.name: literal(value)
        for field in FIELDS
        if (value := getattr(options, field.name)) is not None
    }
    if options.experiment is not None:
        experiment = Experiment.from_json(options.experiment.read_text(encoding="utf-8"))
        return experiment.varied({f"training.{name}": value for name, value in given.items()})
    for name in ("task", "model"):
        if getattr(options, name) is None:
            raise ValueError(
                f"--{name} is missing; write for instance "
                "--task 'Parity(n=50, k=3)' --model 'MLP(width=100)'."
            )
    return Experiment(parse(options.task), parse(options.model), build("Training", **given))


def summary(record: "Run") -> dict[str, Any]:
    """What came out, in a few numbers."""
    return {
        "experiment": record.experiment.name,
        "seed": record.seed,
        "status": record.status,
        "success": record.success,
        "steps": record.steps,
        "test_error": round(record.test_error or 0.0, 6),
        "train_error": round(record.train_error or 0.0, 6),
        "seconds": round(record.seconds or 0.0, 3),
    }


class View:
    """A live table on standard error: losses, errors, steps a second, time left."""

    def __init__(self, experiment: "Experiment") -> None:
        self.steps = int(experiment.training.steps)
        self.console = Console(file=sys.stderr)
        self.live = Live(console=self.console, refresh_per_second=8, transient=True)
        self.began: float | None = None

    def __enter__(self) -> "View":
        self.live.start()
        self.live.update("compiling ...")
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def show(self, row: dict[str, float | int]) -> None:
        """Shows the newest evaluation."""
        now = time.perf_counter()
        self.began = self.began or now
        speed = row["step"] / max(1e-9, now - self.began)
        left = (self.steps - row["step"]) / speed if speed > 0 else float("nan")
        table = Table("step", "train loss", "train error", "test error", "steps/s", "time left")
        table.add_row(
            f"{int(row['step']):,} of {self.steps:,}",
            f"{row['train_loss']:.4f}",
            f"{row['train_error']:.2%}",
            f"{row['test_error']:.2%}",
            f"{speed:,.0f}",
            f"{left:,.0f} s",
        )
        self.live.update(table)
