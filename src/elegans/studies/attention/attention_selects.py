r"""Attention made visible: [CLS] learns to look at the three relevant bits (thesis, Figure 4.3).

The document's own setting is cheap enough for every scale: one head of width 64, $T = 50$ bits, an
AND of three of them, $m = 300$ examples, 500 steps, dropout of 0.1 on embeddings as elsewhere. At
first every token has 1/51 of the attention. The probe follows where it goes, averaged over 100
inputs that are the same at every step; at the end there is the weight of every position on each of
100 inputs. Beside the document's setting stand three *variants*: no dropout of embeddings, none of
attention weights, and three times the steps.

Keys hold a token and its position, so weights depend on the input. A hidden bit that is false
decides an AND by itself, and the table says whether it is looked at more than one that is true.
[CLS] may look at itself, which is no choice of a variable: its share is printed, and the claim is
about the 47 positions that do not matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.random as jr
import numpy as np
import pandas as pd

from elegans.experiments.experiment import Experiment
from elegans.keys import keys_of
from elegans.models import TransformerClassifier
from elegans.models.transformers.dropout import Dropout
from elegans.probes import ClsAttention
from elegans.report.result import Tables
from elegans.runs import Run, Runs
from elegans.studies.attention import attention_claims as claims
from elegans.studies.attention.attention_claims import (
    DOCUMENT,
    EMBEDDINGS_KEPT,
    LONGER,
    WEIGHTS_KEPT,
)
from elegans.studies.attention.protocol import HALF, SPARSITY, recipe
from elegans.studies.study import Scale, Study
from elegans.sweeps.sweep import Sweep
from elegans.tasks import UniqueConjunction

SHARES = ("relevant", "irrelevant", "cls")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The network and its task; seeds below `first_seed` were used to choose the claims."""

    T: int = 50
    support: tuple[int, ...] = (5, 20, 30)
    samples: int = 300
    steps: int = 500
    dim: int = 64
    seeds: int = 10
    first_seed: int = 200
    inputs: int = 100
    test_rows: int = 10_000
    embedding_dropout: float = 0.1


def runs(settings: Settings) -> dict[str, Sweep]:
    """One network and its variants, with several seeds, watched."""
    task = UniqueConjunction(
        settings.T,
        SPARSITY,
        p=HALF,
        support=settings.support,
        samples=settings.samples,
        rows=settings.samples,
        test_rows=settings.test_rows,
    )

    def experiment(embedding: float, steps: int, attention: float = 0.1) -> Experiment:
        dropout = Dropout(embedding=embedding, attention=attention, output=0.1)
        model = TransformerClassifier(heads=1, dim=settings.dim, dropout=dropout)
        training = recipe(settings.samples, steps, test_samples=settings.test_rows)
        return Experiment(task, model, training)

    dropped, steps = settings.embedding_dropout, settings.steps
    points = {
        DOCUMENT: experiment(dropped, steps),
        EMBEDDINGS_KEPT: experiment(0.0, steps),
        WEIGHTS_KEPT: experiment(dropped, steps, attention=0.0),
        LONGER: experiment(dropped, 3 * steps),
    }
    return {
        "runs": Sweep.of(
            [({"variant": name}, each) for name, each in points.items()],
            seeds=range(settings.first_seed, settings.first_seed + settings.seeds),
            probes={"attention": ClsAttention(settings.inputs)},
            keep="params",
        )
    }


def tables(settings: Settings, runs: Mapping[str, Runs]) -> dict[str, pd.DataFrame]:
    """Attention in time and at the end in the document's setting, and one row per run of all."""
    every, by = runs["runs"], ["variant", "seed"]
    weights = every.rows(lambda run: final_weights(run, settings.inputs))
    final = pd.DataFrame(
        [dict(zip(by, key, strict=True)) | summary(part) for key, part in weights.groupby(by)]
    )
    table = every.table[[*by, "steps", "train_error", "test_error"]].merge(final, on=by)
    is_document = table["variant"] == DOCUMENT
    curves = every.rows(curve)
    return {
        "final": table[is_document].drop(columns="variant").reset_index(drop=True),
        "variants": table[~is_document].reset_index(drop=True),
        "curves": curves[curves["variant"] == DOCUMENT].drop(columns="variant"),
        "weights": weights[weights["variant"] == DOCUMENT].drop(columns="variant"),
    }


def curve(run: Run) -> pd.DataFrame:
    """Shares of the attention, and errors, at each evaluation of a run."""
    shares = {name: run.probes[f"attention.{name}"] for name in (*SHARES, "top")}
    return pd.DataFrame({"step": run.probes["step"], **shares}).merge(
        run.history[["step", "test_error", "train_error"]], on="step"
    )


def final_weights(run: Run, inputs: int) -> pd.DataFrame:
    """The weight of each position on each of some inputs at the end of a run; [CLS] is T."""
    task, model, params = run.experiment.task, run.experiment.model, run.params
    x = task.sample(jr.fold_in(keys_of(run.seed).probe, 1), inputs).x
    attention = jax.vmap(lambda row: model.trace(params, row).attention)(x)
    weights = np.asarray(attention, np.float64).mean(axis=(1, 2))
    count, tokens = weights.shape
    is_true = np.concatenate([np.asarray(x) < 0, np.zeros((count, 1), bool)], axis=1)
    return pd.DataFrame(
        {
            "input": np.repeat(np.arange(count), tokens),
            "position": np.tile(np.arange(tokens), count),
            "is_true": is_true.ravel(),
            "weight": weights.ravel(),
            "is_relevant": np.tile(np.isin(np.arange(tokens), task.relevant), count),
            "is_cls": np.tile(np.arange(tokens) == tokens - 1, count),
        }
    )


def summary(part: pd.DataFrame) -> dict[str, Any]:
    """Where the attention of one run is, on average over inputs."""
    inputs = part["input"].nunique()
    relevant, cls = part[part["is_relevant"]], part[part["is_cls"]]
    means = part[~part["is_cls"]].groupby("position")["weight"].mean()
    is_hidden = means.index.isin(relevant["position"].unique())
    largest = set(means.nlargest(int(is_hidden.sum())).index)
    by_bit = relevant.groupby("is_true")["weight"].mean()
    return {
        "relevant": relevant["weight"].sum() / inputs,
        "cls": cls["weight"].sum() / inputs,
        "irrelevant": float(means[~is_hidden].sum()),
        "smallest_relevant": float(means[is_hidden].min()),
        "largest_irrelevant": float(means[~is_hidden].max()),
        "weight_if_false": float(by_bit.get(False, np.nan)),
        "weight_if_true": float(by_bit.get(True, np.nan)),
        "top_is_hidden": largest == set(relevant["position"].unique()),
        "irrelevant_if_false": irrelevant_share(part, is_decided=True),
        "irrelevant_if_true": irrelevant_share(part, is_decided=False),
    }


def irrelevant_share(part: pd.DataFrame, *, is_decided: bool) -> float:
    """The share of irrelevant positions, over inputs in which a hidden bit is false, or none is."""
    all_true = part[part["is_relevant"]].groupby("input")["is_true"].all()
    inputs = all_true.index[all_true.to_numpy(bool) != is_decided]
    others = part[~part["is_relevant"] & ~part["is_cls"] & part["input"].isin(inputs)]
    return float(others["weight"].sum() / max(1, len(inputs)))


def facts(settings: Settings, tables: Tables) -> dict[str, Any]:
    """What the figure mentions."""
    return {"T": settings.T, "support": list(settings.support), "samples": settings.samples}


STUDY = Study(
    name="attention-selects",
    title="Attention made visible: a head finds the three bits that matter",
    summary=(
        "The label is the AND of three of 50 bits. A transformer with a single attention head is "
        "trained on 300 examples, and we watch where its head looks: at first evenly at all "
        "tokens, and when it has learned the task at the three hidden bits alone. It goes on "
        "looking for a hidden bit that is false, which decides the AND; where all three are true, "
        "its attention later spreads to bits that do not matter, unless its weights are spared "
        "from dropout."
    ),
    source="Thesis, Figure 4.3, right",
    scales={
        "quick": Scale(Settings(test_rows=2000), minutes=2),
        "laptop": Scale(Settings(seeds=20), minutes=10),
        "paper": Scale(Settings(seeds=40), minutes=20),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(
        claims.network_has_learned,
        claims.irrelevant_positions_get_nothing,
        claims.selection_comes_first,
        claims.more_steps_do_not_help,
        claims.dropout_spreads_attention,
        claims.a_false_bit_takes_it_all,
        claims.largest_weights_are_hidden_bits,
        claims.false_bits_are_looked_at,
    ),
    figures="elegans.studies.attention.figures:attention",
    shown=("final", "variants"),
    formats={
        "final": ".3f",
        "variants": ".3f",
        "test_error": ".2%",
        "train_error": ".1%",
        "steps": ",",
        "train_loss": ".1g",
        "test_loss": ".1g",
    },
    captions={
        "figure": (
            "Left: how much [CLS] attends to each position at the end of the first run, a dot for "
            "each of 100 inputs; hidden bits in colour, by whether they are true in that input. "
            "Right: where the attention goes during training, on average over inputs, a line per "
            "run, with the error on new examples below."
        ),
        "final": (
            "One row per run, at its end: the shares of the attention of [CLS], the least mean "
            "weight of a hidden bit and the largest of another one, and the mean weight of a "
            "hidden bit where it is false and where it is true; then the share of irrelevant "
            "positions over inputs in which a hidden bit is false, and in which none is."
        ),
        "variants": (
            "The same without dropout of embeddings, without that of attention weights, and after "
            "three times the steps."
        ),
        "curves": "Shares of the attention, and errors, during training.",
        "weights": "The weight of each position on each input at the end of each run.",
    },
)
