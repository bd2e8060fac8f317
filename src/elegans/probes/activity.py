r"""How many hidden neurons work on an input, at each evaluation.

Neurons of rectifiers are *positive* at an input or silent. A neuron that is silent at every input
is dead, one that is positive at every input is linear; a network is *dynamically* sparse if neither
explains how few are positive. A positive neuron may matter or not: with contributions
$c_j(x) = \sigma_j(x) \|u_j\|_2$, where $u_j$ are its outgoing weights, and shares
$p_j = c_j / \sum_i c_i$, the *effective number* of neurons at $x$ is $1 / \sum_j p_j^2$: $r$ if $r$
neurons contribute alike and the others nothing.

For models with `trace(params, x).hidden`, `outgoing(params)` and rectifiers. The inputs are those
of the run's probe key, the same at every step.

References: Awasthi et al. (2024), Learning neural networks with sparse activations, introduction;
Li et al. (2023), The lazy neuron phenomenon.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from elegans import checks
from elegans.fields import configuration
from elegans.protocols import View


@configuration
class Activity:
    """The activity of every hidden layer on `rows` examples of the task, one number per layer.

    `positive` is the share of neurons that are positive, averaged over inputs (and positions of a
    sequence); `dead` and `always_on` are the shares of neurons that are positive at none and at all
    of them; `effective` is the mean effective number of neurons, an input without any counting as
    zero.
    """

    rows: int = 512

    def __post_init__(self) -> None:
        checks.whole(self, "rows", self.rows, low=1, what="counts examples")

    def __call__(self, view: View) -> dict[str, Float[Array, " layers"]]:
        """The four numbers of each hidden layer."""
        x = view.task.sample(view.key, self.rows)[0]
        hidden = hidden_values(view.model, view.params, x)
        lengths = view.model.outgoing(view.params)
        layers = [layer_activity(h, u) for h, u in zip(hidden, lengths, strict=True)]
        return {name: jnp.stack([layer[name] for layer in layers]) for name in layers[0]}


def hidden_values(
    model: Any, params: PyTree, x: Array
) -> tuple[Float[Array, "inputs neurons"], ...]:
    """The hidden layers of rectifiers at each row of `x`; refuses a network that has none."""
    name = type(model).__name__  # its numbers are traced: there is nothing to show of them
    missing = [part for part in ("trace", "outgoing") if not hasattr(model, part)]
    if missing:
        raise ValueError(
            f"Activity: the network offers trace(params, x).hidden and outgoing(params); {name} "
            f"has no {missing[0]}."
        )
    activation = getattr(model, "activation", None)
    if activation != "relu":
        raise ValueError(
            f"Activity: hidden neurons are rectifiers, silent or positive; {name} has activation "
            f"{activation!r}."
        )
    hidden = getattr(jax.vmap(lambda row: model.trace(params, row))(x), "hidden", ())
    if not hidden:
        raise ValueError(f"Activity: {name} has no hidden layer to look at.")
    return tuple(values.reshape(-1, values.shape[-1]) for values in hidden)


def layer_activity(
    hidden: Float[Array, "inputs neurons"], lengths: Float[Array, " neurons"]
) -> dict[str, Float[Array, ""]]:
    """The activity of one layer: its values at all inputs, and its outgoing lengths."""
    is_positive = hidden > 0
    contributions = hidden * lengths[None, :]
    total = jnp.sum(contributions, axis=1)
    squares = jnp.sum(contributions**2, axis=1)
    effective = jnp.where(squares > 0, total**2 / jnp.where(squares > 0, squares, 1.0), 0.0)
    return {
        "positive": jnp.mean(is_positive),
        "dead": jnp.mean(~jnp.any(is_positive, axis=0)),
        "always_on": jnp.mean(jnp.all(is_positive, axis=0)),
        "effective": jnp.mean(effective),
    }
