r"""In-context learning of Markov chains and n-grams (thesis, section 8.2.1).

Each sequence has a law of its own: a transition tensor $P$ drawn from a prior, with
$P_{c_1 \dots c_{n-1} j} = \Pr(x_{t+1} = j \mid x_{t-n+2}, \dots, x_t = c_1, \dots, c_{n-1})$ for
n-grams of order $n$; a Markov chain is $n = 2$. The first $n - 1$ tokens come from the stationary
law of the chain of contexts (the *lifted* chain, whose states are the $k^{n-1}$ contexts), so the
whole sequence is stationary. It is solved for, not iterated to.

An example is `length` tokens and, as labels, the `length` tokens that follow each of them. States
are $0, \dots, k - 1$; a context is the number with its tokens as digits, the oldest first.
"""

from dataclasses import field
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, Num, PRNGKeyArray

from elegans import checks
from elegans.fields import configuration
from elegans.tasks.markov.priors import Dirichlet, Prior

ROW_SLACK = 1e-4  # of the sum of a row in single precision


class Sequences(NamedTuple):
    """Tokens, and the token that follows each."""

    x: Int[Array, "size length"]
    y: Int[Array, "size length"]


class KnownSequences(NamedTuple):
    """Tokens, the token that follows each, and the law that they were drawn from."""

    x: Int[Array, "size length"]
    y: Int[Array, "size length"]
    transitions: Float[Array, "size ..."]


class SequenceTask:
    """What the tasks of this file share: drawing stationary sequences with a known law."""

    order: int  # a token depends on the `order - 1` before it
    states: int
    length: int

    @property
    def labels(self) -> str:
        """Each label is one of the states."""
        return "class"

    @property
    def classes(self) -> int:
        """A label is a token."""
        return self.states

    def transitions(self, key: PRNGKeyArray, size: int) -> Float[Array, "size ..."]:
        """Draws `size` independent transition tensors."""
        raise TypeError(f"{type(self).__name__} is not a task: it has no transitions.")

    def sample(self, key: PRNGKeyArray, size: int) -> Sequences:
        """Draws `size` independent sequences, each from a chain of its own."""
        return Sequences(*self.sample_with_truth(key, size)[:2])

    def sample_with_truth(self, key: PRNGKeyArray, size: int) -> KnownSequences:
        """Draws what `sample` draws, and says from which transition tensors."""
        chain_key, path_key = jr.split(key)
        transitions = self.transitions(chain_key, size)
        tokens = paths(path_key, transitions, self.length + 1)
        return KnownSequences(tokens[:, :-1], tokens[:, 1:], transitions)

    def _check(self) -> None:
        checks.whole(self, "states", self.states, low=2, what="counts the states of a chain")
        checks.whole(self, "length", self.length, low=self.order + 1, what="exceeds the order")


@configuration
class MarkovChains(SequenceTask):
    """Sequences of `length` tokens, each from a chain with a transition matrix of its own."""

    states: int
    length: int
    prior: Prior = field(default_factory=Dirichlet)

    def __post_init__(self) -> None:
        self._check()
        if not isinstance(self.prior, Prior):
            raise TypeError(
                f"{checks.shown(self)}: prior is one such as tasks.Dirichlet(1.0); "
                f"got {self.prior!r}."
            )
        self.prior.check(self, self.states)

    @property
    def order(self) -> int:  # type: ignore[override]
        """Two: a token depends on the one before it."""
        return 2

    def transitions(self, key: PRNGKeyArray, size: int) -> Float[Array, "size states states"]:
        """Draws `size` independent transition matrices."""
        return self.prior.transitions(key, size, self.states)


@configuration
class NGrams(SequenceTask):
    """Sequences in which a token depends on the `order - 1` before it, each with its own law.

    For each context the next token's probabilities are an independent draw of `prior`.
    """

    order: int
    states: int
    length: int
    prior: Dirichlet = field(default_factory=Dirichlet)

    def __post_init__(self) -> None:
        checks.whole(self, "order", self.order, low=2, what="counts the tokens of an n-gram")
        self._check()
        if not isinstance(self.prior, Dirichlet):
            raise TypeError(
                f"{checks.shown(self)}: prior draws a row for each context, so it is a Dirichlet; "
                f"got {self.prior!r}."
            )
        self.prior.check(self, self.states)

    def transitions(self, key: PRNGKeyArray, size: int) -> Float[Array, "size ..."]:
        """Draws `size` independent tensors with one axis a token of the n-gram."""
        return self.prior.rows(key, (size, *(self.states,) * (self.order - 1)), self.states)


@partial(jax.jit, static_argnames="length")
def paths(
    key: PRNGKeyArray, transitions: Float[Array, "size ..."], length: int
) -> Int[Array, "size length"]:
    """Stationary sequences of `length` tokens, one from each transition tensor."""
    size, states = transitions.shape[0], transitions.shape[-1]
    order = transitions.ndim - 1
    uniforms = jr.uniform(key, (size, length - order + 2)).T
    law = stationary(lifted(transitions))
    contexts = law.shape[-1]
    edges = jnp.cumsum(law, axis=-1)[:, :-1]
    context = jnp.sum(uniforms[0, :, None] >= edges, axis=-1, dtype=jnp.int32)
    first = jnp.stack([context // states**i % states for i in reversed(range(order - 1))], axis=1)
    ends = jnp.cumsum(transitions.reshape(size, contexts, states), axis=-1)[..., :-1]

    def step(context: Array, u: Array) -> tuple[Array, Array]:
        edges = picked(ends, context)
        token = jnp.sum(u[:, None] >= edges, axis=-1, dtype=jnp.int32)
        return (context * states + token) % contexts, token

    _, rest = jax.lax.scan(step, context, uniforms[1:])
    return jnp.concatenate([first, rest.T], axis=1)


def picked(
    tables: Float[Array, "size contexts n"], context: Int[Array, " size"]
) -> Float[Array, "size n"]:
    """Row `context[i]` of table `i`, by selection: a gather is slow on a CPU."""
    row = tables[:, 0]
    for c in range(1, tables.shape[1]):
        row = jnp.where((context == c)[:, None], tables[:, c], row)
    return row


def lifted(transitions: Float[Array, "size ..."]) -> Float[Array, "size contexts contexts"]:
    r"""The transition matrix of the chain of contexts, $(a, r) \to (r, y)$ with $P_{a r y}$."""
    size, states = transitions.shape[0], transitions.shape[-1]
    shared = states ** (transitions.ndim - 3)  # contexts of the tokens that stay
    moves = transitions.reshape(size, states, shared, 1, states)
    stays = jnp.eye(shared)[None, None, :, :, None]
    return (moves * stays).reshape(size, states * shared, shared * states)


@jax.jit
def stationary(matrix: Float[Array, "*batch n n"]) -> Float[Array, "*batch n"]:
    r"""The law $\pi$ with $\pi P = \pi$, by elimination of one state after the other.

    Eliminating state $m$ leaves the chain that is watched outside of $m$, in which
    $P_{ij} + P_{im} P_{mj} / \sum_{l < m} P_{ml}$ replaces $P_{ij}$; $\pi$ is built up again in
    reverse. Nothing is subtracted, so every entry has full relative precision.

    References: Grassmann, Taksar & Heyman (1985), Regenerative analysis and steady state
    distributions for Markov chains.
    """
    n = matrix.shape[-1]
    arrivals = []
    for m in range(n - 1, 0, -1):
        # An absorbing state in single precision leaves at a rate that is below it.
        leaving = jnp.maximum(jnp.sum(matrix[..., m, :m], axis=-1), 1e-12)
        arrival = matrix[..., :m, m] / leaving[..., None]
        arrivals.append(arrival)
        matrix = matrix[..., :m, :m] + arrival[..., :, None] * matrix[..., m, None, :m]
    law = jnp.ones_like(matrix[..., 0])
    for arrival in reversed(arrivals):
        law = jnp.concatenate([law, jnp.sum(law * arrival, axis=-1, keepdims=True)], axis=-1)
    return law / jnp.sum(law, axis=-1, keepdims=True)


def stationary_law(matrix: Num[np.ndarray, "..."]) -> Float[np.ndarray, " n"]:
    """The law that a chain keeps; refuses a matrix that has none, or more than one.

    Rows are probabilities, and from every state some common state can be reached: a chain with two
    parts that it never leaves has a law for each.
    """
    matrix = np.asarray(matrix, np.float64)
    n = len(matrix) if matrix.ndim else 0
    if not n or matrix.shape != (n, n):
        raise ValueError(
            "stationary_law: a transition matrix has one row and one column per state; the shape "
            f"is {matrix.shape}."
        )
    if not (matrix >= 0).all() or np.abs(matrix.sum(axis=1) - 1).max() > ROW_SLACK:
        raise ValueError(
            "stationary_law: each row of a transition matrix holds probabilities that sum to one; "
            f"rows sum to {matrix.sum(axis=1).min():g} to {matrix.sum(axis=1).max():g}, and the "
            f"least entry is {matrix.min():g}."
        )
    reach = (matrix > 0) | np.eye(n, dtype=bool)
    for _ in range(max(1, (n - 1).bit_length())):
        reach = (reach.astype(float) @ reach.astype(float)) > 0
    if not reach.all(axis=0).any():
        closed = {tuple(np.flatnonzero(row).tolist()) for row in reach}
        parts = sorted(part for part in closed if not any(set(o) < set(part) for o in closed))
        raise ValueError(
            "stationary_law: a chain has one stationary law if it cannot stay in several parts; "
            f"this one never leaves {' nor '.join(str(part) for part in parts)}."
        )
    return np.asarray(stationary(jnp.asarray(matrix, jnp.float32)), np.float64)
