"""What these studies look at besides the probes of the package: losses beside those of strategies.

A network and a strategy are compared on the same sequences, so that chance cancels but for a
little: what counts is the difference, and its sign is clear long before either loss is.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from elegans.fields import configuration
from elegans.protocols import View
from elegans.tasks.markov.chains import MarkovChains
from elegans.tasks.markov.priors import Dirichlet, DoublyStochastic, IidUnigram, Prior
from elegans.theory.markov.levels import predictor, true_laws, truth_starts

OWN = "task"  # the name of a run's own distribution
NAMES: dict[type[Prior], str] = {
    Dirichlet: "dirichlet",
    IidUnigram: "iid",
    DoublyStochastic: "doubly_stochastic",
}


@configuration
class Losses:
    r"""$\mathrm{KL}(\text{truth} \,\|\, \text{prediction})$ of a network and of strategies.

    Entries are named by distribution and predictor, "iid.model", "iid.unigram": at the last
    position, and as "iid.model_mean" averaged over positions. "iid.unigram_error" is the standard
    error, over sequences, of the network's loss minus the strategy's at the last position.

    Attributes:
        priors: Chains to test on; none is the task's own distribution, named "task".
        strategies: Which predictors stand beside the network.
        sequences: How many of each distribution; the same at every evaluation of a run.
    """

    priors: tuple[Prior, ...] = ()
    strategies: tuple[str, ...] = ("uniform", "unigram", "bigram")
    sequences: int = 512

    def __call__(self, view: View) -> dict[str, dict[str, Float[Array, ""]]]:
        """The divergences by distribution and predictor."""
        task = view.task
        tasks = {
            NAMES[type(prior)]: MarkovChains(task.states, task.length, prior)
            for prior in self.priors
        }
        return {name: self._on(each, view) for name, each in (tasks or {OWN: task}).items()}

    def _on(self, task: Any, view: View) -> dict[str, Float[Array, ""]]:
        """The divergences on the sequences of one task."""
        known = task.sample_with_truth(view.key, self.sequences)
        truth = true_laws(known.x, known.transitions)
        entropy = jnp.sum(jax.scipy.special.xlogy(truth, truth), axis=-1)
        logs = {name: jnp.log(predictor(name, task)(known.x)) for name in self.strategies}
        logs["model"] = jax.nn.log_softmax(logits(view, known.x))
        start = truth_starts(task)
        losses = {
            name: (entropy - jnp.sum(truth * log, axis=-1))[:, start:] for name, log in logs.items()
        }
        ends = {name: jnp.mean(loss[:, -1]) for name, loss in losses.items()}
        means = {f"{name}_mean": jnp.mean(loss) for name, loss in losses.items()}
        ours = losses.pop("model")[:, -1]
        errors = {
            f"{name}_error": jnp.std(ours - loss[:, -1]) / jnp.sqrt(self.sequences)
            for name, loss in losses.items()
        }
        return ends | means | errors


def logits(view: View, tokens: Int[Array, "size length"]) -> Float[Array, "size length states"]:
    """The network's logits at each position of each sequence."""
    return jax.vmap(view.model.apply, in_axes=(None, 0))(view.params, tokens)


@configuration
class Scores:
    """One sequence, and the scores before softmax of every layer's first head on its tokens."""

    shown: int = 24  # tokens at the start of the sequence

    def __call__(self, view: View) -> dict[str, Array]:
        """The tokens, attention and scores, both by layer, query and key."""
        tokens = view.task.sample(view.key, 1).x[0]
        corner = (slice(None), 0, slice(self.shown), slice(self.shown))
        attention = view.model.trace(view.params, tokens).attention
        scores = view.model.scores(view.params, tokens)
        return {
            "tokens": tokens[: self.shown],
            "attention": attention[corner],
            "scores": scores[corner],
        }


@configuration
class Unevenness:
    """How far each layer's attention is from even: total variation distance, 0 to 1.

    The mean over heads, sequences and positions; the first position, which has no choice, counts.
    """

    sequences: int = 64

    def __call__(self, view: View) -> Float[Array, " layers"]:
        """The distance by layer."""
        x = view.task.sample(view.key, self.sequences).x
        attention = jax.vmap(lambda row: view.model.trace(view.params, row).attention)(x)
        length = x.shape[1]
        even = jnp.tril(jnp.ones((length, length))) / jnp.arange(1, length + 1)[:, None]
        distance = jnp.sum(jnp.abs(attention - even[None, None, None]), axis=-1) / 2
        return jnp.mean(distance, axis=(0, 2, 3))
