r"""The idealised algorithms of the proofs: one step on the first layer, then the second alone.

Theorem 4/16 of the Pareto paper (over-sparse starts): the first step replaces the hidden weights
by their gradient ($\lambda = 1$, $\eta = 1/(2k|C_{k,s}|)$), after which only the output layer
moves. Theorem 5/21 (under-sparse starts): one truncated step that shrinks the hidden weights and
adds the gradient. Theorem 5.5 of the thesis has the first form with dense sign vectors. The
constants are functions in `elegans.theory`; the recipe takes them as numbers.
"""

from elegans.fields import Number
from elegans.training.losses import Loss
from elegans.training.recipe import Group, Training


def layerwise(
    samples: int,
    first_rate: Number,
    *,
    first_decay: Number = 1.0,
    truncate: Number = 0.0,
    second_rate: Number = 0.0,
    second_decay: Number = 0.0,
    steps: int = 1,
    loss: str | Loss = "hinge",
) -> Training:
    r"""Full-batch descent: step 0 on the hidden weights alone, all others on the output layer.

    Args:
        samples: Size of the training set.
        first_rate: $\eta$ of the hidden weights in step 0.
        first_decay: $\lambda$ there, in $\theta \leftarrow (1 - \lambda)\theta - \eta g$.
        truncate: Gradient entries up to this size become zero.
        second_rate: $\eta$ of the output layer after step 0.
        second_decay: $\lambda$ there.
        steps: All steps, the first included.
        loss: The loss of both phases.
    """
    return Training(
        loss=loss,
        learning_rate=0.0,
        weight_decay=0.0,
        decay="shrink",
        batch=None,
        samples=samples,
        steps=steps,
        truncate=truncate,
        groups=(
            Group("layers.0.weight", first_rate, first_decay, start=0, stop=1),
            Group("layers.1", second_rate, second_decay, start=1),
        ),
    )
