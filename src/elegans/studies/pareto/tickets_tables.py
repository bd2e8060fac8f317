"""The tables of the lottery tickets: which neurons are kept, what pruning leaves, and children."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Float

from elegans.keys import keys_of
from elegans.models import inits
from elegans.runs import Run, Runs
from elegans.studies.pareto import tickets_claims
from elegans.studies.pareto.recipe import finished
from elegans.studies.pareto.scores import success

CURVES_PER_ARM = 10
ROWS_PER_CURVE = 120
ROWS = 10_000  # on which finished networks are looked at again


def heaviest(run: Run, count: int) -> dict[str, tuple[int, ...]]:
    """The neurons of largest weight norm at the end of a run, by either reading of the word."""
    first, last = run.params.layers
    incoming = np.linalg.norm(np.asarray(first.weight, np.float64), axis=0)
    outgoing = np.linalg.norm(np.asarray(last.weight, np.float64), axis=1)
    norms = {"ticket, in": incoming, "ticket, in x out": incoming * outgoing}
    order = {arm: np.argsort(-norm, kind="stable")[:count] for arm, norm in norms.items()}
    return {arm: tuple(sorted(int(i) for i in top)) for arm, top in order.items()}


def selections(run: Run, count: int) -> dict[str, tuple[int, ...]]:
    """Which neurons of a parent each arm keeps."""
    width = run.experiment.model.width
    generator = np.random.default_rng([run.seed, width])
    others = generator.choice(width, count, replace=False)
    return heaviest(run, count) | {"others": tuple(sorted(int(i) for i in others))}


def pruned_errors(parents: Sequence[Run], count: int) -> pd.DataFrame:
    """Per parent and arm: the error, at the end of training, of the network cut to its neurons.

    A ticket is what made the wide network succeed only if the network still predicts without the
    rest; more neurons of the largest norms tell how many it takes.
    """
    rows = []
    for run in parents:
        x, y = new_examples(run)
        kept = selections(run, count) | {
            f"{arm}, {more} neurons": chosen
            for more in (2 * count, 4 * count)
            if more <= run.experiment.model.width
            for arm, chosen in heaviest(run, more).items()
        }
        for arm, neurons in kept.items():
            model = run.experiment.model
            prediction = model.apply(inits.cut(model, run.params, neurons), x)
            rows.append(
                {
                    "decay": float(run.experiment.training.weight_decay),
                    "parent": run.seed,
                    "kept": arm,
                    "neurons": len(neurons),
                    "pruned_error": float(np.mean(np.asarray(prediction) * y <= 0)),
                }
            )
    return pd.DataFrame(rows, columns=["decay", "parent", "kept", "neurons", "pruned_error"])


def child_rows(runs: Runs) -> pd.DataFrame:
    """The runs with their first error, when it first was below 25%, and whether they collapsed."""
    curves = [run.history.set_index("step")["test_error"] for run in runs]
    below = [each.index[each <= tickets_claims.PARTIAL] for each in curves]
    return runs.table.assign(
        start_error=[float(each.iloc[0]) if len(each) else np.nan for each in curves],
        partial_steps=[float(each.min()) if len(each) else np.nan for each in below],
        is_constant=[run.status == "done" and is_constant(run) for run in runs],
    )


def is_constant(run: Run) -> bool:
    """Whether a network says the same of all examples at its end: no neuron is left to learn."""
    x, _ = new_examples(run)
    return float(np.ptp(np.asarray(run.experiment.model.apply(run.params, x)))) == 0.0


def new_examples(run: Run) -> tuple[Any, Float[np.ndarray, " rows"]]:
    """Examples on which a finished run is looked at again, and their labels."""
    x, y = run.experiment.task.sample(keys_of(run.seed).test, ROWS)
    return x, np.asarray(y)


def curve_rows(runs: Runs) -> pd.DataFrame:
    """Test errors of the first few children of each arm, of different parents where there are."""
    arms = dict.fromkeys((label["decay"], label["arm"]) for label in runs.labels)
    parts = []
    for decay, arm in arms:
        chosen = runs.where(decay=decay, arm=arm)
        stride = max(1, len(chosen) // CURVES_PER_ARM)
        parts += [
            subsampled(run.history[["step", "test_error"]]).assign(decay=decay, arm=arm, curve=i)
            for i, run in enumerate(chosen[::stride])
        ]
    return pd.concat(parts, ignore_index=True)


def subsampled(curve: pd.DataFrame) -> pd.DataFrame:
    """At most some hundred rows of a curve, its last among them."""
    return curve.iloc[:: -(1 + len(curve) // ROWS_PER_CURVE)][::-1]


def arm_table(children: pd.DataFrame) -> pd.DataFrame:
    """Per decay and arm: success with its interval, what else was learned, and the first error."""
    rows = []
    for key, part in finished(children).groupby(["decay", "arm"], sort=False):
        rows.append(
            {
                **dict(zip(("decay", "arm"), cast(tuple[Any, ...], key), strict=True)),
                **success(part),
                "early": part["early"].mean(),
                "partial": part["partial_steps"].notna().mean(),
                "constant": part["is_constant"].mean(),
                "least_start_error": part["start_error"].min(),
            }
        )
    return pd.DataFrame(rows)
