"""How a transformer attends, at each evaluation.

For models with `trace(params, x).attention`, of shape (layers, heads, length, length), on tasks
whose inputs are tokens. The sequences are those of the run's probe key, the same at every step.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from elegans.fields import configuration
from elegans.protocols import View


@configuration
class AttentionMasses:
    """How much of the attention is where an induction head puts it.

    `previous` is the first layer's attention to the token before, `successors` the last layer's to
    tokens that follow earlier occurrences of the current one, each the mean over the positions that
    have such tokens and over sequences; of several heads the best counts. `encoding` is the first
    layer's effective positional encoding, the mean over tokens and heads.
    """

    sequences: int = 64

    def __call__(self, view: View) -> dict[str, Float[Array, "..."]]:
        """The two shares of attention, and the positional encoding."""
        model, params = view.model, view.params
        x = view.task.sample(view.key, self.sequences).x
        attention = jax.vmap(lambda row: model.trace(params, row).attention)(x)
        before = jnp.diagonal(attention[:, 0], offset=-1, axis1=-2, axis2=-1)
        previous = jnp.concatenate([jnp.full((len(x), 1), -1), x[:, :-1]], axis=1)
        follows = (previous[:, None, :] == x[:, :, None]) & jnp.tril(
            jnp.ones((x.shape[1], x.shape[1]), bool)
        )
        has_any = jnp.any(follows, axis=-1)
        mass = jnp.sum(attention[:, -1] * follows[:, None], axis=-1)
        mean = jnp.sum(mass * has_any[:, None], axis=(0, 2)) / jnp.sum(has_any)
        encoding = jnp.mean(model.positional_encoding(params), axis=(0, 1))
        return {
            "previous": jnp.max(jnp.mean(before, axis=(0, 2))),
            "successors": jnp.max(mean),
            "encoding": encoding,
        }


@configuration
class Attended:
    """One sequence, and the attention of every layer and head on it."""

    def __call__(self, view: View) -> dict[str, Array]:
        """The tokens, and attention by layer, head, query and key."""
        tokens = view.task.sample(view.key, 1).x[0]
        return {"tokens": tokens, "attention": view.model.trace(view.params, tokens).attention}
