"""Proposition 8.2 and Fact 8.3, against counts made one token at a time."""

from functools import partial

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el

pytestmark = pytest.mark.usefixtures("cheap_compilation")


def successors(x: np.ndarray, p: int, states: int, *, with_first: bool) -> np.ndarray:
    """How often each state followed an earlier occurrence of x[p], up to p."""
    counts = np.zeros(states)
    for t in range(p + 1):
        before = x[t - 1] if t else (x[0] if with_first else -1)
        counts[x[t]] += before == x[p]
    return counts


@pytest.mark.parametrize("states", [2, 5])
def test_the_transformer_computes_bigram_frequencies(states):
    length = 60
    model, params = el.constructions.bigram_transformer(states, length, slope=1.0)
    x = np.random.default_rng(0).integers(states, size=length)
    frequencies = np.asarray(jax.jit(model.apply)(params, jnp.asarray(x)))
    for p in range(length):
        counts = successors(x, p, states, with_first=True)
        if not counts.sum():
            counts = np.bincount(x[: p + 1], minlength=states)
        np.testing.assert_allclose(frequencies[p], counts / counts.sum(), atol=1e-5)


@pytest.mark.parametrize("states", [2, 4])
def test_the_minimal_model_counts_bigrams_and_unigrams(states):
    length = 30
    x = np.random.default_rng(1).integers(states, size=length)
    bigrams = el.constructions.bigram_minimal(states, length)
    unigrams = el.constructions.unigram_minimal(states, length)
    counts = [successors(x, p, states, with_first=False) for p in range(length)]
    np.testing.assert_array_equal(bigrams.model.apply(bigrams.params, jnp.asarray(x)), counts)
    counts = [np.bincount(x[: p + 1], minlength=states) for p in range(length)]
    np.testing.assert_array_equal(unigrams.model.apply(unigrams.params, jnp.asarray(x)), counts)


def test_the_construction_is_near_the_bayes_loss_and_its_slope_is_the_best():
    task = el.tasks.MarkovChains(states=2, length=100)

    @partial(jax.jit, static_argnums=0)
    def predictions(model, params, x):
        return jax.nn.softmax(jax.vmap(model.apply, in_axes=(None, 0))(params, x))

    def loss(slope):
        transformer = el.constructions.bigram_transformer(2, 100, slope=slope)
        predictor = partial(predictions, transformer.model, transformer.params)
        return el.theory.markov.expected_loss(predictor, task, jr.key(0), 1000)

    bigram, unigram = (
        el.theory.markov.expected_loss(name, task, jr.key(0), 1000)
        for name in ("bigram", "unigram")
    )
    losses = {slope: loss(slope) for slope in (2.0, 2.5, 3.0)}
    assert min(losses, key=lambda slope: losses[slope].loss_at_end.value) == 2.5
    assert losses[2.5].loss_at_end.value - bigram.loss_at_end.value < 0.005
    assert losses[2.5].loss.value - bigram.loss.value < 0.02
    assert losses[2.5].loss.value < unigram.loss.value - 0.04
