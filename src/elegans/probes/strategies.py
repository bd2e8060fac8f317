r"""How near a sequence model is to strategies whose law is known, while it trains.

A model is compared with a strategy on the same sequences by $\mathrm{KL}(\text{model} \,\|\,
\text{strategy})$, at the last position, as in the figures of chapter 8, and averaged over all.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from elegans.fields import configuration
from elegans.protocols import View
from elegans.theory.markov.levels import predictor, true_laws, truth_starts


@configuration
class Divergences:
    """KL(model || strategy) for each strategy, and the model's own loss.

    The result's entries are named by strategy, those at the last position "<strategy>_at_end", and
    the model's KL from the truth is "truth".
    """

    strategies: tuple[str, ...] = ("uniform", "unigram", "bigram")
    sequences: int = 512

    def __call__(self, view: View) -> dict[str, Float[Array, ""]]:
        """The divergences, averaged over sequences and over all positions or at the last."""
        task = view.task
        known = task.sample_with_truth(view.key, self.sequences)
        logits = jax.vmap(view.model.apply, in_axes=(None, 0))(view.params, known.x)
        model = jax.nn.log_softmax(logits)
        values_by_name = {
            name: _kl(model, jnp.log(predictor(name, task)(known.x))) for name in self.strategies
        }
        start = truth_starts(task)
        truth = true_laws(known.x, known.transitions)
        values_by_name["truth"] = jnp.sum(truth * (_log(truth) - model), axis=-1)[:, start:]
        values_by_name["loss"] = -jnp.sum(truth * model, axis=-1)[:, start:]
        means = {name: jnp.mean(values) for name, values in values_by_name.items()}
        ends = {
            f"{name}_at_end": jnp.mean(values[:, -1]) for name, values in values_by_name.items()
        }
        return means | ends


def _kl(log_p: Float[Array, "*n states"], log_q: Float[Array, "*n states"]) -> Float[Array, "*n"]:
    return jnp.sum(jnp.exp(log_p) * (log_p - log_q), axis=-1)


def _log(p: Float[Array, "*n states"]) -> Float[Array, "*n states"]:
    """The logarithm, with zero where a probability is zero: it is multiplied by it."""
    return jnp.log(jnp.where(p > 0, p, 1.0))
