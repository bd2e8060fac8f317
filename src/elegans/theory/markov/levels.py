r"""How well strategies predict, and how near a model is to each of them.

The loss of a prediction $q$ at a position whose true law is $P_c$ (the row of the context) needs no
draw of the next token: $\mathbb{E}[-\log q_{x_{p+1}}] = H(P_c) + \mathrm{KL}(P_c \,\|\, q)$. What
is left to chance is the sequence, so losses are means over sequences with a normal 95% interval.

How near a model is to each strategy while it trains is a probe, `elegans.probes.Divergences`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from elegans.statistics import Interval, normal_mean
from elegans.tasks.markov.chains import KnownSequences
from elegans.tasks.markov.priors import Dirichlet
from elegans.theory.markov.bayes_predictor import bayes
from elegans.theory.markov.strategies import predict

SEQUENCES = 4096


class Levels(NamedTuple):
    """A predictor's expected losses, in nats: cross-entropy, and KL from the truth."""

    loss: Interval
    loss_at_end: Interval
    divergence: Interval
    divergence_at_end: Interval


Predictor = Callable[[Int[Array, "size length"]], Float[Array, "size length states"]]


def expected_loss(
    strategy: str | Predictor, task: Any, key: PRNGKeyArray, sequences: int = SEQUENCES
) -> Levels:
    """The expected losses of a strategy, by name (or "bayes"), or of any predictor.

    Args:
        strategy: A name that `predict` knows, "bayes", or a function from tokens to probabilities.
        task: The chains to predict.
        key: Which sequences to average over; the same key compares on the same ones.
        sequences: How many.
    """
    known = known_sequences(task, key, sequences)
    if isinstance(strategy, str):
        return levels_of(_predictions(strategy, task, known.x), known)
    return levels_of(strategy(known.x), known)


@partial(jax.jit, static_argnums=(0, 2))
def known_sequences(task: Any, key: PRNGKeyArray, size: int) -> KnownSequences:
    """Sequences of a task with their laws; the same key gives the same ones."""
    return KnownSequences(*task.sample_with_truth(key, size))


def levels_of(probabilities: Float[Array, "size length states"], known: KnownSequences) -> Levels:
    """The losses of given predictions, as means over sequences."""
    means = (normal_mean(np.asarray(v, np.float64)) for v in _losses(probabilities, known))
    return Levels(*means)


@jax.jit
def _losses(
    probabilities: Float[Array, "size length states"], known: KnownSequences
) -> tuple[Float[Array, " size"], ...]:
    """Each sequence's losses, in the order of `Levels`."""
    truth = true_laws(known.x, known.transitions)
    loss = -jnp.sum(truth * jnp.log(probabilities), axis=-1)
    excess = jnp.sum(truth * (_log(truth) - jnp.log(probabilities)), axis=-1)
    start = known.transitions.ndim - 3  # where the first complete context ends
    return (
        jnp.mean(loss[:, start:], axis=1),
        loss[:, -1],
        jnp.mean(excess[:, start:], axis=1),
        excess[:, -1],
    )


@partial(jax.jit, static_argnums=(0, 1))
def _predictions(
    strategy: str, task: Any, tokens: Int[Array, "size length"]
) -> Float[Array, "size length states"]:
    return predictor(strategy, task)(tokens)


def true_laws(
    tokens: Int[Array, "size length"], transitions: Float[Array, "size ..."]
) -> Float[Array, "size length states"]:
    """The row of each sequence's tensor at each position's context.

    At the first `order - 2` positions the context is incomplete; the tokens that are missing are
    read as zeros there, and `truth_starts` says from where on that is no matter.
    """
    size, states = transitions.shape[0], transitions.shape[-1]
    context = jnp.zeros_like(tokens)
    for back in reversed(range(transitions.ndim - 2)):
        shifted = jnp.pad(tokens, ((0, 0), (back, 0)))[:, : tokens.shape[1]]
        context = context * states + shifted
    rows = transitions.reshape(size, -1, states)
    return jnp.take_along_axis(rows, context[:, :, None], axis=1)


def truth_starts(task: Any) -> int:
    """The first position at which the context is complete."""
    return task.order - 2


def predictor(strategy: str, task: Any) -> Predictor:
    """The function from tokens to probabilities that a strategy's name stands for on a task."""
    if strategy == "bayes":
        return lambda tokens: bayes(task, tokens)
    prior = getattr(task, "prior", None)
    alpha = prior.concentrations(task.states) if isinstance(prior, Dirichlet) else 1.0
    return lambda tokens: predict(strategy, tokens, task.states, alpha)


def _log(p: Float[Array, "*n states"]) -> Float[Array, "*n states"]:
    """The logarithm, with zero where a probability is zero: it is multiplied by it."""
    return jnp.log(jnp.where(p > 0, p, 1.0))
