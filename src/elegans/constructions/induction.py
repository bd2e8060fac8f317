r"""Induction heads written down: Proposition 8.2 and Fact 8.3.

*The transformer.* The stream has three blocks of $k$ numbers. Layer 1 looks one token back, by
position alone, and copies what it sees into the second block; layer 2 compares its own token with
second blocks, so it attends evenly to the successors of earlier occurrences of its token, and
copies these into the third; the read-out multiplies that by a slope. With scores that differ by
`sharpness` $= \sigma$ an attention is off by at most $t e^{-\sigma}$ in total variation, and the
third block holds the empirical frequencies of bigrams, with two differences from "exactly":

* position 1 has nothing before it and looks at itself, so it counts as a transition
  $x_1 \to x_1$ that was not seen;
* a token that occurs for the first time matches nothing, and attends to everything: the
  frequencies of single tokens.

Logits that are linear in frequencies only approximate log-probabilities. With the best slope the
loss at the end of 100 tokens of two states is within 0.005 nats of the bigram posterior's, and
within 0.02 on average over positions, of which the first few matter most (tests/constructions).

*The minimal model* counts exactly: no softmax is in the way.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from elegans import checks
from elegans.models.induction import Induction, MinimalInduction
from elegans.models.transformers.attention_only import Attention, AttentionOnly, Transformer

SHARPNESS = 30.0  # e**-30 is lost in single precision
SLOPE = 2.5  # of the logits in the frequencies: least loss after 100 tokens of two states


class Construction(NamedTuple):
    """A model, and parameters that were not learned."""

    model: AttentionOnly
    params: Transformer


def bigram_transformer(
    states: int, length: int, *, sharpness: float = SHARPNESS, slope: float = SLOPE
) -> Construction:
    """Two layers with one head that predict from in-context bigram frequencies.

    Args:
        states: How many states sequences have.
        length: How long they are.
        sharpness: How far the score of what is attended to lies above that of the rest.
        slope: What multiplies frequencies to give logits.
    """
    _check("bigram_transformer", states, length)
    dim = 3 * states
    scale = sharpness * math.sqrt(dim)

    def block(row: int, column: int, value: float) -> Float[Array, "dim dim"]:
        place = jnp.zeros((3, 3)).at[row, column].set(value)
        return jnp.kron(place, jnp.eye(states))

    nothing = jnp.zeros((dim, dim))
    back = jnp.zeros((length, dim)).at[1, :states].set(1.0)
    previous = Attention(block(0, 0, scale), nothing, block(0, 1, 1.0), back)
    matching = Attention(
        block(0, 0, scale), block(1, 0, 1.0), block(0, 2, 1.0), jnp.zeros((length, dim))
    )
    params = Transformer(
        embedding=jnp.eye(states, dim),
        position=None,
        layers=(previous, matching),
        hidden=(),
        readout=slope * jnp.eye(dim, states, -2 * states),
    )
    return Construction(AttentionOnly(layers=2, heads=1, dim=dim), params)


class MinimalConstruction(NamedTuple):
    """The minimal model, and parameters that were not learned."""

    model: MinimalInduction
    params: Induction


def bigram_minimal(states: int, length: int) -> MinimalConstruction:
    r"""Fact 8.3: $v = (0, 1, 0, \dots)$ and $W = I$ count the successors of the current token."""
    _check("bigram_minimal", states, length)
    return MinimalConstruction(
        MinimalInduction(), Induction(jnp.eye(states), jnp.zeros(length).at[1].set(1.0))
    )


def unigram_minimal(states: int, length: int) -> MinimalConstruction:
    r"""Fact 8.3: $v = (1, 0, \dots)$ and $W = 11^\top$ count the tokens."""
    _check("unigram_minimal", states, length)
    return MinimalConstruction(
        MinimalInduction(), Induction(jnp.ones((states, states)), jnp.zeros(length).at[0].set(1.0))
    )


def _check(owner: str, states: int, length: int) -> None:
    checks.whole(owner, "states", states, low=2, what="counts the states of a chain")
    checks.whole(owner, "length", length, low=3, what="exceeds the order of a bigram")
