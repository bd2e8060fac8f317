"""How the [CLS] token of a transformer attends to the relevant inputs, at each evaluation.

For models with `trace(params, x).attention` of shape (layers, heads, T + 1), [CLS] last, on tasks
with a `relevant` set of inputs. The inputs are those of the run's probe key, the same at every
step.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from elegans.fields import configuration
from elegans.protocols import View


@configuration
class ClsAttention:
    """Shares of the attention, averaged over layers, heads and `rows` random inputs.

    `relevant` is on the hidden inputs together, `irrelevant` on all others together, `cls` on the
    token itself; `positions` is the mean weight of each token. `top` is the share of the hidden
    inputs that are among as many largest mean weights of inputs.
    """

    rows: int = 100

    def __call__(self, view: View) -> dict[str, Float[Array, "..."]]:
        """The shares, and the mean weight of each token."""
        x = view.task.sample(view.key, self.rows).x
        trace = jax.vmap(lambda row: view.model.trace(view.params, row).attention)(x)
        positions = jnp.mean(trace, axis=(0, 1, 2))
        relevant = np.asarray(view.task.relevant)
        on_relevant = jnp.sum(positions[relevant])
        _, largest = jax.lax.top_k(positions[:-1], len(relevant))
        return {
            "relevant": on_relevant,
            "irrelevant": jnp.sum(positions[:-1]) - on_relevant,
            "cls": positions[-1],
            "top": jnp.mean(jnp.isin(largest, relevant)),
            "positions": positions,
        }
