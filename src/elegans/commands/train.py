"""`elegans train`: one network, watched while it learns.

Tasks and models are typed as in Python: --task 'Parity(n=50, k=3)' --model 'MLP(width=100,
init=Sparse(2))'. Every field of `Training` is an option. Ctrl-C ends the run and keeps its curve.
"""

import argparse
import dataclasses
import inspect
import json
import math
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.console import Console
from rich.live import Live
from rich.table import Table

from elegans import checks
from elegans.commands.refusal import refusing
from elegans.experiments.expression import literal, parse
from elegans.experiments.plain import build
from elegans.training.recipe import Training

if TYPE_CHECKING:
    from elegans.experiments.experiment import Experiment
    from elegans.runs import Run

FIELDS = dataclasses.fields(Training)
PICTURES = (".png", ".svg", ".pdf")
INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended


def parser() -> argparse.ArgumentParser:
    """The options of the command: those of `Training`, and what is trained on what."""
    options = argparse.ArgumentParser(
        prog="elegans train",
        usage="elegans train --task TASK --model MODEL [options]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--task", help="what to learn (needed unless --experiment)")
    options.add_argument("--model", help="what learns (needed unless --experiment)")
    options.add_argument("--experiment", type=Path, help="a whole experiment, as JSON")
    options.add_argument(
        "--seed", type=int, default=0, help="source of all randomness (default: 0)"
    )
    options.add_argument("--out", type=Path, default=Path("out/train.png"), help="the curve's file")
    options.add_argument("--json", action="store_true", help="print the record as JSON")
    recipe = options.add_argument_group("training")
    explained = explanations(Training.__doc__ or "")
    for field in FIELDS:
        name = f"--{field.name.replace('_', '-')}"
        text = f"{explained[field.name]} (default: {default_of(field)})"
        recipe.add_argument(name, metavar="VALUE", help=text.replace("%", "%%"))
    return options


def default_of(field: "dataclasses.Field[Any]") -> str:
    """A field's default as it would be typed."""
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    assert field.default_factory is not dataclasses.MISSING
    return checks.shown(field.default_factory())


def explanations(docstring: str) -> dict[str, str]:
    """What a docstring's section of attributes says of each, on one line."""
    section = inspect.cleandoc(docstring).partition("Attributes:\n")[2]
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def main(arguments: Sequence[str]) -> int:
    """Runs the command; 0 when the run is done, diverged or not."""
    command = parser()
    options, unknown = command.parse_known_args(arguments)
    with refusing("train"):
        for name in unknown:
            options_of = re.findall(r"--[a-z-]+", command.format_help())
            raise ValueError(
                f"there is no option {name!r}{checks.nearest(name.split('=')[0], options_of)} "
                '"elegans train --help" shows all.'
            )
        experiment = experiment_of(options)
        if options.seed < 0:
            raise ValueError(f"--seed numbers a run, so it is 0 or more; got {options.seed}.")
        if options.out.suffix not in PICTURES:
            raise ValueError(f"--out ends in {', '.join(PICTURES)}; got {options.out}.")
        options.out.parent.mkdir(parents=True, exist_ok=True)
    from elegans.experiments.run import run
    from elegans.report import training as pictures

    with LiveTable(experiment) as table:
        try:
            record: Run | None = run(experiment, seed=options.seed, watch=table.show)
        except KeyboardInterrupt:
            record = None
    if not table.rows:
        return INTERRUPTED
    pictures.save(experiment, options.seed, pd.DataFrame(table.rows), options.out)
    numbers = summary(record) if record else table.rows[-1]
    if options.json:
        print(json.dumps(numbers))
    else:
        console = Console()
        for name, value in numbers.items():
            console.print(f"{name:>12}  {value}", highlight=False)
        console.print(f"{'written':>12}  {options.out}", highlight=False)
    return 0 if record else INTERRUPTED


def experiment_of(options: argparse.Namespace) -> "Experiment":
    """The experiment that the options describe."""
    from elegans.experiments.experiment import Experiment

    fields = {
        field.name: literal(value)
        for field in FIELDS
        if (value := getattr(options, field.name)) is not None
    }
    if options.experiment is not None:
        experiment = Experiment.from_json(options.experiment.read_text(encoding="utf-8"))
        return experiment.varied({f"training.{name}": value for name, value in fields.items()})
    for name in ("task", "model"):
        if getattr(options, name) is None:
            raise ValueError(
                f"--{name} is missing; write for instance "
                "--task 'Parity(n=50, k=3)' --model 'MLP(width=100)'."
            )
    return Experiment(parse(options.task), parse(options.model), build("Training", **fields))


def summary(record: "Run") -> dict[str, Any]:
    """What came out, in a few numbers."""
    return {
        "experiment": record.hash,
        "seed": record.seed,
        "status": record.status,
        "success": record.success,
        "steps": record.steps,
        "test_error": rounded(record.test_error, 6),
        "train_error": rounded(record.train_error, 6),
        "seconds": rounded(record.seconds, 3),
    }


def rounded(value: float | None, digits: int) -> float | None:
    """A number with fewer digits; None where there is none, as online training has no train set."""
    return None if value is None or math.isnan(value) else round(value, digits)


class LiveTable:
    """A live table on standard error: losses, errors, steps per second, time left."""

    def __init__(self, experiment: "Experiment") -> None:
        self.steps = int(experiment.training.steps)
        self.console = Console(file=sys.stderr)
        self.live = Live(console=self.console, refresh_per_second=8, transient=True)
        self.began: float | None = None
        self.rows: list[dict[str, float | int]] = []

    def __enter__(self) -> "LiveTable":
        self.live.start()
        self.live.update("compiling ...")
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def show(self, row: dict[str, float | int]) -> None:
        """Shows the newest evaluation, and keeps it."""
        self.rows.append(row)
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
