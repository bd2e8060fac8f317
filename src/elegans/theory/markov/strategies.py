r"""Strategies for predicting the next token in context (thesis, section 8.2.2).

The n-gram strategy counts what followed earlier occurrences of the last $n - 1$ tokens and adds
the prior: with rows $\mathrm{Dir}(\alpha)$ and $c_j$ earlier continuations by $j$, the posterior
mean (equation 8.3) is

$$\Pr(x_{p+1} = j \mid x_1, \dots, x_p) = \frac{c_j + \alpha_j}{\sum_i (c_i + \alpha_i)}.$$

`"unigram"` is $n = 1$, `"bigram"` 2, `"trigram"` 3, `"4-gram"` and so on; `"uniform"` counts
nothing. Where a context is incomplete, at the first $n - 2$ positions, nothing has been counted
either. Each is Bayes-optimal for its own law with a first context that says nothing; that of a
stationary chain says something (Remark 8.1), and `bayes` in `theory.markov_bayes` counts that too.
"""

import re
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

NAMES = {"uniform": 0, "unigram": 1, "bigram": 2, "trigram": 3}


def order_of(strategy: str) -> int:
    """The number of tokens of the n-grams that a strategy counts; none is 0."""
    match = re.fullmatch(r"([1-9][0-9]?)-gram", strategy)
    if strategy not in NAMES and match is None:
        known = ", ".join(repr(name) for name in NAMES)
        raise ValueError(f"A strategy is one of {known}, '4-gram', ...; got {strategy!r}.")
    return int(match[1]) if match else NAMES[strategy]


def predict(
    strategy: str,
    tokens: Int[Array, "*batch length"],
    states: int,
    alpha: float | int | Sequence[float] = 1.0,
) -> Float[Array, "*batch length states"]:
    """The probabilities of the next token at each position, under a strategy.

    Args:
        strategy: "uniform", "unigram", "bigram", "trigram", "4-gram", ...
        tokens: Sequences of states.
        states: How many states there are.
        alpha: The prior's concentration, one for all states or one per state.
    """
    order = order_of(strategy)
    prior = jnp.broadcast_to(jnp.asarray(alpha, jnp.float32), (states,))
    if order == 0:
        return jnp.full((*tokens.shape, states), 1 / states)
    flat = tokens.reshape(-1, tokens.shape[-1])
    counts = jax.vmap(lambda row: continuations(row, states, order))(flat)
    posterior = counts + prior
    probabilities = posterior / jnp.sum(posterior, axis=-1, keepdims=True)
    return probabilities.reshape(*tokens.shape, states)


def continuations(
    tokens: Int[Array, " length"], states: int, order: int
) -> Float[Array, "length states"]:
    """How often each state followed earlier occurrences of each position's context."""
    contexts = states ** (order - 1)
    table = jnp.zeros((contexts, states))
    one_hot = jax.nn.one_hot(tokens, states)

    def step(carry: tuple[Array, Array, Array], now: tuple[Array, Array]) -> tuple[tuple, Array]:
        table, context, seen = carry
        token, row = now
        is_complete = seen >= order - 1
        table = table.at[context].add(jnp.where(is_complete, row, 0.0))
        context = (context * states + token) % contexts
        counts = jnp.where(seen + 1 >= order - 1, table[context], 0.0)
        return (table, context, seen + 1), counts

    zero = jnp.zeros((), jnp.int32)
    return jax.lax.scan(step, (table, zero, zero), (tokens.astype(jnp.int32), one_hot))[1]
