"""Strategies, the Bayes predictor and levels, against explicit integrals over chains."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans.protocols import View
from elegans.theory import markov
from elegans.theory.markov import frequencies

pytestmark = pytest.mark.usefixtures("cheap_compilation")


def posterior_mean(x, states: int, order: int, alpha: np.ndarray) -> np.ndarray:
    """Equation 8.3 at the last position of x, by counting."""
    context = tuple(x[len(x) - order + 1 :])
    counts = alpha.copy()
    if len(context) == order - 1:
        for t in range(order - 1, len(x)):
            counts[x[t]] += tuple(x[t - order + 1 : t]) == context
    return counts / counts.sum()


@pytest.mark.parametrize(
    "strategy, order, states", [("unigram", 1, 3), ("bigram", 2, 2), ("trigram", 3, 3)]
)
def test_an_n_gram_strategy_is_the_posterior_mean(strategy, order, states):
    alpha = np.linspace(0.5, 2, states)
    x = np.random.default_rng(0).integers(states, size=(2, 15))
    ours = markov.predict(strategy, jnp.asarray(x), states, alpha.tolist())
    for row, predictions in zip(x, ours, strict=True):
        for p in range(15):
            expected = posterior_mean(row[: p + 1], states, order, alpha)
            np.testing.assert_allclose(predictions[p], expected, rtol=1e-5)


def test_the_uniform_strategy_and_4_grams():
    x = jnp.zeros((3, 5), jnp.int32)
    np.testing.assert_array_equal(markov.predict("uniform", x, 4), np.full((3, 5, 4), 0.25))
    assert markov.predict("4-gram", x[0], 2).shape == (5, 2)
    with pytest.raises(ValueError, match="A strategy is one of"):
        markov.predict("pentagram", x, 2)


def chains_on_a_grid(n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Midpoints of a fine grid of (a, b)."""
    points = (np.arange(n) + 0.5) / n
    return tuple(grid.ravel() for grid in np.meshgrid(points, points, indexing="ij"))


def likelihood(x, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The probability of a sequence under each chain, first state stationary."""
    rows = np.array([[a, 1 - a], [1 - b, b]])
    law = np.array([1 - b, 1 - a]) / (2 - a - b)
    return law[x[0]] * np.prod([rows[i, j] for i, j in itertools.pairwise(x)], axis=0)


@pytest.mark.parametrize("prior", ["flat", "0.5", "doubly", "mixture"])
def test_the_bayes_predictor_is_the_ratio_of_two_integrals(prior):
    a, b = chains_on_a_grid()
    diagonal = (np.arange(100_000) + 0.5) / 100_000
    laws = {
        "flat": (el.tasks.Dirichlet(), [(a, b, 1.0)]),
        "0.5": (el.tasks.Dirichlet(0.5), [(a, b, (a * (1 - a) * b * (1 - b)) ** -0.5)]),
        "doubly": (el.tasks.DoublyStochastic(), [(diagonal, diagonal, 1.0)]),
        "mixture": (
            el.tasks.Mixture((0.3, 0.7)),
            [(diagonal, diagonal, 0.3), (diagonal, 1 - diagonal, 0.7)],
        ),
    }
    config, parts = laws[prior]
    task = el.tasks.MarkovChains(states=2, length=6, prior=config)
    x = [1, 1, 0, 1, 0, 0]
    ours = np.asarray(markov.bayes(task, jnp.asarray(x)))
    for p in range(6):
        weights = [
            sum(np.mean(w * likelihood([*x[: p + 1], j], a, b)) for a, b, w in parts)
            for j in (0, 1)
        ]
        # The grid resolves the endpoint singularities of alpha = 0.5 to a few parts in a thousand.
        tolerance = 5e-3 if prior == "0.5" else 2e-4
        np.testing.assert_allclose(ours[p], weights / np.sum(weights), atol=tolerance)


def test_without_memory_the_unigram_strategy_is_bayes_optimal():
    task = el.tasks.MarkovChains(states=3, length=8, prior=el.tasks.IidUnigram())
    x = task.sample(jr.key(0), 4).x
    np.testing.assert_array_equal(markov.bayes(task, x), markov.predict("unigram", x, 3))


def test_unknown_bayes_predictors_are_refused():
    task = el.tasks.MarkovChains(states=3, length=8)
    with pytest.raises(ValueError, match="known for two states"):
        markov.bayes(task, jnp.zeros(8, jnp.int32))


def test_true_laws_are_the_rows_of_the_contexts():
    task = el.tasks.NGrams(order=3, states=2, length=6)
    known = task.sample_with_truth(jr.key(0), 3)
    laws = np.asarray(markov.true_laws(known.x, known.transitions))
    for n, p in itertools.product(range(3), range(1, 6)):
        context = tuple(np.asarray(known.x[n, p - 1 : p + 1]))
        np.testing.assert_array_equal(laws[n, p], known.transitions[(n, *context)])


def test_levels_are_ordered_and_the_bayes_predictor_is_least():
    task = el.tasks.MarkovChains(states=2, length=50)
    names = ("uniform", "unigram", "bigram", "bayes")
    levels = {name: markov.expected_loss(name, task, jr.key(1), 1500) for name in names}
    means = [levels[name].loss.value for name in names]
    assert means == sorted(means, reverse=True)
    assert levels["uniform"].loss.value == pytest.approx(np.log(2), abs=1e-5)
    # E[H(P_c)] over the stationary law: the cross-entropy less the divergence, for any strategy.
    gaps = [level.loss.value - level.divergence.value for level in levels.values()]
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-5)
    for level in levels.values():
        assert level.loss.low < level.loss.value < level.loss.high


def test_the_probe_is_zero_for_a_model_that_is_the_strategy():
    task = el.tasks.MarkovChains(states=2, length=20)

    class Bigrams:
        def apply(self, params, x):
            return jnp.log(markov.predict("bigram", x, 2))

    probe = el.probes.Divergences(sequences=64)
    view = partial(View, (), (), Bigrams(), task)
    distances = jax.jit(lambda key: probe(view(key, jnp.asarray(0))))(jr.key(0))
    assert abs(float(distances["bigram"])) < 1e-6
    assert abs(float(distances["bigram_at_end"])) < 1e-6
    assert float(distances["unigram"]) > 0.01
    assert float(distances["uniform_at_end"]) > float(distances["bigram_at_end"])
    level = markov.expected_loss("bigram", task, jr.key(0), 64)
    assert float(distances["truth"]) == pytest.approx(level.divergence.value, rel=1e-4)
    assert float(distances["loss_at_end"]) == pytest.approx(level.loss_at_end.value, rel=1e-4)


def test_the_worth_of_the_current_token_is_the_sum_over_all_sequences():
    """Against every sequence of three tokens and the next, on a grid of chains."""
    a, b = chains_on_a_grid()
    joint = {}
    for x in itertools.product((0, 1), repeat=4):
        key = (sum(x[:3]), x[2])
        joint.setdefault(key, [0.0, 0.0])[x[3]] += np.mean(likelihood(x, a, b))
    known = -sum(w * np.log(w / sum(both)) for both in joint.values() for w in both)
    guesses = {m: (np.array([3 - m, m]) + 1) / 5 for m in range(4)}
    unigram = -sum(both @ np.log(guesses[m]) for (m, _), both in joint.items())
    losses = frequencies.frequency_losses(3)
    np.testing.assert_allclose(losses, (unigram, known), atol=1e-4)  # of the grid
    assert 0 < losses.gain == pytest.approx(unigram - known, abs=1e-4)


def test_the_exact_loss_of_unigrams_is_within_the_interval_of_the_sampled_one():
    task = el.tasks.MarkovChains(states=2, length=50)
    level = markov.expected_loss("unigram", task, jr.key(1), 1500).loss_at_end
    radius = 2 * (level.high - level.low)  # eight standard errors
    assert frequencies.frequency_losses(50).unigram == pytest.approx(level.value, abs=radius)
    # In the limit of long sequences frequencies are exact, and the worth is an integral over them.
    share = np.linspace(0, 1, 20_001)[1:-1]
    most = 1 / np.maximum(share, 1 - share)  # a + b has density proportional to itself up to it
    entropy = [
        -(q * np.log(q) + (1 - q) * np.log1p(-q))
        for q in (share, 2 / 3 * most * (1 - share), 2 / 3 * most * share)
    ]
    gains = entropy[0] - share * entropy[1] - (1 - share) * entropy[2]
    limit = np.average(gains, weights=most**2)
    assert frequencies.frequency_losses(100).gain == pytest.approx(limit, rel=0.05)
