"""Chains and n-grams: laws, stationarity, refusals, and determinism through the engine."""

import itertools
import json

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans.experiments.plain import from_plain, to_plain
from elegans.tasks.markov import birkhoff
from elegans.tasks.markov.chains import lifted, stationary, stationary_law
from elegans.training import source as data

pytestmark = pytest.mark.usefixtures("cheap_compilation")
PRIORS = [
    el.tasks.Dirichlet(),
    el.tasks.Dirichlet(0.5),
    el.tasks.DoublyStochastic(),
    el.tasks.IidUnigram(),
    el.tasks.Mixture((0.25, 0.75)),
]
TASKS = [
    el.tasks.MarkovChains(states=2, length=20),
    el.tasks.MarkovChains(states=4, length=20, prior=el.tasks.Mixture((0.5, 0.5))),
    el.tasks.NGrams(order=3, states=2, length=20),
]
RADIUS = 3.3  # standard deviations of a Hoeffding radius for failure 1e-9: sqrt(ln(2e9) / 2)


def lifted_by_hand(tensor: np.ndarray) -> np.ndarray:
    """The chain of contexts, one transition at a time."""
    states, order = tensor.shape[0], tensor.ndim
    contexts = list(itertools.product(range(states), repeat=order - 1))
    matrix = np.zeros((len(contexts), len(contexts)))
    for i, context in enumerate(contexts):
        for token in range(states):
            matrix[i, contexts.index((*context[1:], token))] += tensor[(*context, token)]
    return matrix


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_rows_are_probabilities_and_the_stationary_law_is_kept(prior):
    states = 3
    matrices = np.asarray(prior.transitions(jr.key(0), 64, states), np.float64)
    assert matrices.shape == (64, states, states)
    assert matrices.min() >= 0
    np.testing.assert_allclose(matrices.sum(-1), 1, atol=1e-6)
    law = np.asarray(stationary(jnp.asarray(matrices, jnp.float32)), np.float64)
    np.testing.assert_allclose(law.sum(-1), 1, atol=1e-6)
    np.testing.assert_allclose(np.einsum("bi,bij->bj", law, matrices), law, atol=1e-6)


def test_the_stationary_law_of_two_states_is_the_closed_form():
    a, b = np.random.default_rng(0).uniform(size=(2, 100))
    matrices = np.stack([np.stack([a, 1 - a], -1), np.stack([1 - b, b], -1)], 1)
    law = stationary(jnp.asarray(matrices, jnp.float32))
    np.testing.assert_allclose(law[:, 0], (1 - b) / (2 - a - b), rtol=1e-5)


def test_chains_without_one_stationary_law_are_refused_by_name():
    chain = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [0.3, 0.3, 0.4]])  # the third is left
    np.testing.assert_allclose(stationary_law(chain), [2 / 7, 5 / 7, 0], atol=1e-6)
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])  # periodic, and one law all the same
    np.testing.assert_allclose(stationary_law(swap), [0.5, 0.5])
    two_parts = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 0.4]])
    with pytest.raises(ValueError, match=r"never leaves \(0,\) nor \(1,\)"):
        stationary_law(two_parts)
    with pytest.raises(ValueError, match=r"sum to one; rows sum to 0.9 to 1"):
        stationary_law(np.array([[0.5, 0.4], [0.5, 0.5]]))
    with pytest.raises(ValueError, match=r"least entry is -0.5"):
        stationary_law(np.array([[1.5, -0.5], [0.5, 0.5]]))
    with pytest.raises(ValueError, match=r"one row and one column per state; .* \(2, 3\)"):
        stationary_law(np.full((2, 3), 1 / 3))


@pytest.mark.parametrize("states", [2, 6])
def test_doubly_stochastic_chains_have_unit_columns_and_a_uniform_stationary_law(states):
    matrices = birkhoff.doubly_stochastic(jr.key(1), 50, states)
    np.testing.assert_allclose(np.sum(matrices, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(stationary(matrices), 1 / states, atol=1e-5)


def test_the_rejection_sampler_keeps_the_share_that_the_volume_of_the_polytope_says():
    rng, k = np.random.default_rng(0), 4
    rows = rng.dirichlet(np.ones(k), size=(100_000, k - 1))[..., :-1]
    kept = (rows.sum(1) <= 1).all(-1) & (rows.sum((1, 2)) >= k - 2)
    volume = 352 / 362880  # of B_4 in its 9 free entries; Chan & Robbins (1999)
    np.testing.assert_allclose(kept.mean(), volume * 6**3, atol=RADIUS / np.sqrt(100_000))


def test_two_samplers_of_doubly_stochastic_matrices_agree():
    """Both are uniform, so the first two moments of an entry are the same: 1/k and another."""
    exact = np.asarray(birkhoff.by_rejection(jr.key(2), 1000, 4))
    moved = np.asarray(jax.vmap(lambda k: birkhoff.by_gibbs(k, 4))(jr.split(jr.key(3), 1000)))
    for power in (1, 2):
        moments = [(m**power).mean((1, 2)) for m in (exact, moved)]
        error = np.hypot(*(m.std() / np.sqrt(1000) for m in moments))
        assert abs(moments[0].mean() - moments[1].mean()) < 5 * error + 1e-6


def test_all_rows_are_equal_without_memory():
    matrices = el.tasks.IidUnigram().transitions(jr.key(0), 10, 3)
    np.testing.assert_array_equal(matrices[:, :1].repeat(3, axis=1), matrices)


def test_a_mixture_draws_its_parts_as_often_as_its_weights_say():
    matrices = np.asarray(el.tasks.Mixture((0.25, 0.75)).transitions(jr.key(0), 10_000, 2))
    has_equal_rows = np.abs(matrices[:, 0] - matrices[:, 1]).max(-1) < 1e-6
    assert abs(has_equal_rows.mean() - 0.75) < RADIUS / 100


@pytest.mark.parametrize("alpha", [0.5, 1.0, (2.0, 1.0)])
def test_rows_have_the_mean_and_variance_of_the_dirichlet_law(alpha):
    rows = np.asarray(el.tasks.Dirichlet(alpha).rows(jr.key(0), (20_000,), 2))[:, 0]
    a, b = alpha if isinstance(alpha, tuple) else (alpha, alpha)
    mean, variance = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    assert abs(rows.mean() - mean) < RADIUS / np.sqrt(20_000)
    assert abs(((rows - mean) ** 2).mean() - variance) < RADIUS / np.sqrt(20_000)


@pytest.mark.parametrize("order, states", [(3, 3), (4, 2)])
def test_the_lifted_chain_moves_one_token_at_a_time(order, states):
    task = el.tasks.NGrams(order=order, states=states, length=10)
    tensors = task.transitions(jr.key(0), 3)
    for tensor, matrix in zip(np.asarray(tensors), np.asarray(lifted(tensors)), strict=True):
        np.testing.assert_array_equal(matrix, lifted_by_hand(tensor).astype(np.float32))
    law = np.asarray(stationary(lifted(tensors)))
    np.testing.assert_allclose(np.einsum("bi,bij->bj", law, lifted(tensors)), law, atol=1e-6)


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_rows_of_the_engine_are_samples_and_labels_the_tokens_that_follow(task):
    indices = jnp.arange(7, dtype=jnp.uint32)
    x, y = jax.jit(lambda key: data.rows(task, key, indices))(jr.key(3))
    assert x.shape == y.shape == (7, 20)
    assert x.dtype == y.dtype == jnp.int32
    np.testing.assert_array_equal(x[:, 1:], y[:, :-1])
    assert 0 <= int(jnp.min(x)) <= int(jnp.max(x)) < task.states
    known = jax.jit(lambda key: task.sample_with_truth(key, 1))(jr.fold_in(jr.key(3), 4))
    np.testing.assert_array_equal(known.x[0], x[4])
    np.testing.assert_array_equal(known.y[0], y[4])
    assert known.transitions.shape == (1, *(task.states,) * task.order)


@pytest.mark.parametrize("order", [2, 3])
def test_sequences_follow_their_law_and_start_stationary(order):
    """At every position, n-grams are as frequent as the stationary law and the tensor say."""
    tensor = np.random.default_rng(0).dirichlet(np.ones(2), size=(2,) * (order - 1))
    size = 40_000
    repeated = jnp.broadcast_to(jnp.asarray(tensor, jnp.float32), (size, *tensor.shape))
    tokens = np.asarray(el.tasks.markov.chains.paths(jr.key(5), repeated, 6))
    matrix = lifted_by_hand(tensor)
    values, vectors = np.linalg.eig(matrix.T)
    law = np.real(vectors[:, np.argmax(values.real)])
    law = (law / law.sum()).reshape((2,) * (order - 1))
    for t in range(6 - order + 1):
        counts = np.zeros((2,) * order)
        np.add.at(counts, tuple(tokens[:, t : t + order].T), 1)
        np.testing.assert_allclose(
            counts / size, law[..., None] * tensor, atol=RADIUS / np.sqrt(size)
        )


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_a_task_survives_json_and_the_tree(task):
    assert from_plain(json.loads(json.dumps(to_plain(task)))) == task
    leaves, structure = jax.tree.flatten(task)
    assert jax.tree.unflatten(structure, leaves) == task


@pytest.mark.parametrize(
    "build, part",
    [
        (lambda: el.tasks.MarkovChains(states=1, length=10), "states counts the states"),
        (lambda: el.tasks.MarkovChains(states=2, length=2), "length exceeds the order"),
        (lambda: el.tasks.NGrams(order=3, states=2, length=3), "length exceeds the order"),
        (lambda: el.tasks.NGrams(order=1, states=2, length=9), "order counts the tokens"),
        (lambda: el.tasks.Dirichlet(0.0), "alpha holds concentrations"),
        (lambda: el.tasks.Dirichlet((1.0, -1.0)), "alpha holds concentrations"),
        (lambda: el.tasks.Dirichlet(float("nan")), "alpha holds concentrations"),
        (lambda: el.tasks.Mixture((0.5, 0.6)), "sum to 1.1"),
        (lambda: el.tasks.Mixture((1.0,)), "one probability a part"),
        (lambda: el.tasks.Mixture((1.5, -0.5)), "weights holds probabilities"),
        (
            lambda: el.tasks.MarkovChains(3, 10, el.tasks.Dirichlet((1.0, 1.0))),
            "one concentration a state",
        ),
    ],
)
def test_bad_input_is_refused_by_name(build, part):
    with pytest.raises(ValueError, match=part):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: el.tasks.MarkovChains(2, 10, prior=1.0),
        lambda: el.tasks.NGrams(3, 2, 10, prior=el.tasks.IidUnigram()),
        lambda: el.tasks.MarkovChains(2, 10, el.tasks.Mixture((0.5, 0.5), (1, 2))),
        lambda: el.tasks.Mixture(0.5),
    ],
)
def test_a_prior_that_is_none_is_refused(build):
    with pytest.raises(TypeError, match=r"prior|parts|weights is a tuple"):
        build()
