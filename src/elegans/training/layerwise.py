r"""The algorithm of the proofs: one large step on the first layer, then the second layer alone.

Three theorems share it, and differ in what they start from and in their constants, which are
functions in `elegans.theory`; the recipe takes them as numbers.

* Theorem 4/16 of the Pareto paper (over-sparse): step 0 replaces the hidden weights by their
  gradient ($\lambda = 1$, $\eta = 1/(2k|C_{k,s}|)$) and nothing else moves. Then the second layer
  descends on the same sample, with decay $\lambda$ coupled to rates $\frac{1}{\lambda t}$ (lemma
  14). By footnote 4, step 0 may be truncated; later steps are not.
* Theorem 5/21 (under-sparse): step 0 alone, truncated, which shrinks the hidden weights and adds
  the gradient.
* Theorem 5.5 of the thesis (dense signs): step 0 is on a batch of $B$ examples; hidden biases move
  and are not decayed; the second layer is reset to zero, for which it needs a rate of 0 and a decay
  of 1 (as printed, with one rate for all weights, it would move). Then the second layer follows
  SGD at a constant rate on fresh examples.

In each phase the layers that stand still are not differentiated (`step`).
"""

from typing import Any

from elegans import checks
from elegans.fields import Count, Number
from elegans.training.recipe import Group, Training
from elegans.training.schedules import Inverse, Schedule

HIDDEN, HIDDEN_BIAS, OUTPUT = "layers.0.weight", "layers.0.bias", "layers.1"


def layerwise(
    samples: Count,
    first_rate: Number,
    *,
    first_decay: Number = 1.0,
    bias_rate: Number = 0.0,
    truncate: Number | None = None,
    resets_output: bool = False,
    second_rate: Number = 0.0,
    second_decay: Number = 0.0,
    is_strongly_convex: bool = False,
    output: str = OUTPUT,
    batch: int | None = None,
    is_fresh: bool = False,
    steps: Count = 1,
    **changes: Any,
) -> Training:
    r"""A recipe: step 0 on the hidden layer, all others on the output layer.

    Args:
        samples: Examples of step 0.
        first_rate: $\eta$ of the hidden weights in step 0.
        first_decay: $\lambda$ there, in $\theta \leftarrow (1 - \lambda)\theta - \eta g$.
        bias_rate: $\eta$ of the hidden biases in step 0, without decay.
        truncate: In step 0, gradient entries up to this size become zero.
        resets_output: Whether step 0 sets the output layer's weights to zero.
        second_rate: $\eta$ of the output layer after step 0.
        second_decay: $\lambda$ there, coupled to the rate.
        is_strongly_convex: Whether rates after step 0 are $\frac{1}{\lambda t}$, $t = 1, 2, \dots$,
            of the `second_decay` $\lambda$, instead of `second_rate`.
        output: Which parameters move after step 0; "layers.1.weight" leaves the output bias alone.
        batch: Examples of a step after step 0; None is all `samples`.
        is_fresh: Whether these are fresh, or drawn from the `samples` of step 0.
        steps: All steps, the first included.
        changes: Other fields of `Training`, such as the loss, which is hinge.
    """
    owner = f"layerwise(samples={samples}, steps={steps})"
    if is_fresh and batch is None:
        raise ValueError(f"{owner}: fresh examples come in batches; set batch.")
    schedule: str | Schedule = "constant"
    if is_strongly_convex:
        checks.number(owner, "second_decay", second_decay, low=1e-300, what="sets the rate")
        second_rate, schedule = 1 / second_decay, Inverse(start=1)
    groups = [
        Group(HIDDEN, first_rate, first_decay, stop=1, truncate=truncate, decay="shrink"),
        Group(HIDDEN_BIAS, bias_rate, stop=1, truncate=truncate),
        Group(output, second_rate, second_decay, start=1),
    ]
    if resets_output:
        groups.append(Group(f"{OUTPUT}.weight", weight_decay=1.0, stop=1, decay="shrink"))
    fields: dict[str, Any] = {
        "loss": "hinge",
        "learning_rate": 0.0,
        "batch": batch,
        "samples": None if is_fresh else samples,
        "first_batch": None if batch is None else samples,
        "steps": steps,
        "schedule": schedule,
        "groups": tuple(groups),
    }
    return Training(**(fields | changes))
