r"""The Bayes-optimal predictor, with what the stationary first state tells (Remark 8.1).

Given $x_1, \dots, x_p$ the posterior of the transition matrix is
$\propto \pi_{x_1}(P)\, \prod_{ij} P_{ij}^{c_{ij}}$ times the prior. It is computable here for

* `Dirichlet` rows and two states, $P = \begin{pmatrix} a & 1-a \\ 1-b & b \end{pmatrix}$ with
  $\pi_1 = (1-b)/(2-a-b)$: a sum over Gauss-Jacobi nodes for $a$ and $b$, exact but for the rational
  factor $\pi$;
* `DoublyStochastic` and two states: $\pi$ is uniform and stays are Bernoulli draws;
* `IidUnigram`, any number of states: counts of states;
* a `Mixture` of these: each part predicts, and is weighed by how well it has predicted so far.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.special import roots_jacobi

from elegans import checks
from elegans.tasks.markov.chains import MarkovChains
from elegans.tasks.markov.priors import Dirichlet, DoublyStochastic, IidUnigram, Mixture, Prior
from elegans.theory.markov.strategies import predict

NODES = 96


class Forecast(NamedTuple):
    """Probabilities of the first token, and of the next one at each position."""

    first: Float[Array, " states"]
    following: Float[Array, "length states"]


def bayes(
    task: MarkovChains, tokens: Int[Array, "*batch length"]
) -> Float[Array, "*batch length states"]:
    """The optimal probabilities of the next token at each position of a task's sequences."""
    if not isinstance(task, MarkovChains):
        raise ValueError(f"{checks.shown(task)}: the Bayes predictor is known for MarkovChains.")
    flat = tokens.reshape(-1, tokens.shape[-1])
    following = jax.vmap(lambda row: forecast(task, task.prior, row).following)(flat)
    return following.reshape(*tokens.shape, task.states)


def forecast(task: MarkovChains, prior: Prior, tokens: Int[Array, " length"]) -> Forecast:
    """The optimal forecast of one sequence under a prior."""
    uniform = jnp.full(task.states, 1 / task.states)
    if isinstance(prior, Mixture):
        return _mixed(task, prior, tokens)
    if isinstance(prior, IidUnigram):
        return Forecast(uniform, predict("unigram", tokens, task.states))
    if task.states == 2 and isinstance(prior, DoublyStochastic):
        return Forecast(uniform, _staying(tokens))
    if task.states == 2 and isinstance(prior, Dirichlet):
        return _stationary(prior.concentrations(2), tokens)
    raise ValueError(
        f"{checks.shown(task)}: the Bayes predictor is known for two states, for IidUnigram, and "
        "for mixtures of these. Use predict('bigram', ...), which is close to it."
    )


def _staying(tokens: Int[Array, " length"]) -> Float[Array, "length 2"]:
    """Two states that are left and kept with the same probability: counts of stays."""
    is_stay = jnp.concatenate([jnp.zeros(1), 1.0 * (tokens[1:] == tokens[:-1])])
    stay = (jnp.cumsum(is_stay) + 1) / (jnp.arange(tokens.shape[0]) + 2)
    same = jax.nn.one_hot(tokens, 2)
    return same * stay[:, None] + (1 - same) * (1 - stay[:, None])


def _stationary(alpha: tuple[float, ...], tokens: Int[Array, " length"]) -> Forecast:
    """Two states with Dirichlet rows: sums over the nodes of both rows."""
    (a, log_a), (b, log_b) = (
        jacobi_nodes(alpha[0], alpha[1]),
        jacobi_nodes(alpha[1], alpha[0]),
    )
    from_first = (1 - b)[None, :] / ((1 - a)[:, None] + (1 - b)[None, :])  # pi of state 0
    laws = jnp.asarray(np.stack([from_first, 1 - from_first]), jnp.float32)

    counts = transitions_so_far(tokens)
    rows = [
        (jnp.asarray(x, jnp.float32), jnp.asarray(log_x, jnp.float32))
        for x, log_x in ((a, log_a), (b, log_b))
    ]
    posteriors = []
    for i, (x, log_x) in enumerate(rows):
        kept, left = counts[:, i, i, None], counts[:, i, 1 - i, None]
        posteriors.append(jax.nn.softmax(log_x + kept * jnp.log(x) + left * jnp.log1p(-x), axis=1))
    law = laws[tokens[0]]
    total = jnp.einsum("pa,ab,pb->p", posteriors[0], law, posteriors[1])
    stay_a = jnp.einsum("pa,ab,pb->p", posteriors[0] * rows[0][0], law, posteriors[1]) / total
    stay_b = jnp.einsum("pa,ab,pb->p", posteriors[0], law, posteriors[1] * rows[1][0]) / total
    following = jnp.where(
        (tokens == 0)[:, None],
        jnp.stack([stay_a, 1 - stay_a], axis=1),
        jnp.stack([1 - stay_b, stay_b], axis=1),
    )
    first = jnp.einsum("a,sab,b->s", jnp.exp(rows[0][1]), laws, jnp.exp(rows[1][1]))
    return Forecast(first, following)


def jacobi_nodes(first: float, second: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes in (0, 1) and log weights that integrate polynomials against Beta(first, second)."""
    nodes, weights = roots_jacobi(NODES, second - 1, first - 1)
    return (nodes + 1) / 2, np.log(weights / weights.sum())


def transitions_so_far(tokens: Int[Array, " length"]) -> Float[Array, "length 2 2"]:
    """How often each of two states followed each, up to each position."""
    one_hot = jax.nn.one_hot(tokens, 2)
    moves = one_hot[:-1, :, None] * one_hot[1:, None, :]
    return jnp.concatenate([jnp.zeros((1, 2, 2)), jnp.cumsum(moves, axis=0)])


def _mixed(task: MarkovChains, prior: Mixture, tokens: Int[Array, " length"]) -> Forecast:
    """Parts weighed by their evidence, the product of what they forecast for what came."""
    parts = [forecast(task, part, tokens) for part in prior.parts]
    weights = jnp.stack([jnp.asarray(w, jnp.float32) for w in prior.weights])
    firsts = jnp.stack([part.first for part in parts])
    following = jnp.stack([part.following for part in parts])
    came = jnp.take_along_axis(following[:, :-1], tokens[None, 1:, None], axis=2)[..., 0]
    began = jnp.log(firsts[:, tokens[0]])[:, None]
    evidence = jnp.concatenate([began, began + jnp.cumsum(jnp.log(came), axis=1)], axis=1)
    posterior = jax.nn.softmax(jnp.log(weights)[:, None] + evidence, axis=0)
    return Forecast(weights @ firsts, jnp.einsum("ct,cts->ts", posterior, following))
