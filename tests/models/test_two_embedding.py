"""Networks of two embeddings and of powers, against their definitions in NumPy."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from elegans.models.power_network import PowerNetwork, Powers, UniformPowers
from elegans.models.two_embedding import Embeddings, TwoEmbedding, UniformEmbeddings
from elegans.tasks import Parity
from elegans.tasks.groups import Cyclic, GroupOperation, Symmetric
from elegans.theory.groups import normalised_margin
from elegans.theory.groups.margins import network_norm

TASK = GroupOperation(Symmetric(3))


def by_definition(activation, params, a, b):
    """The sum over neurons of an activation times the output weights."""
    u, v, w = (np.asarray(part, dtype=np.float64) for part in params)
    z = u[a] + v[b]
    return sum(
        (z[i] ** 2 if activation == "square" else max(z[i], 0)) * w[i] for i in range(len(z))
    )


@pytest.mark.parametrize("activation", ["square", "relu"])
def test_predictions_are_sums_over_neurons(activation):
    model = TwoEmbedding(width=5, activation=activation)
    params = model.init_params(jr.key(0), TASK)
    x, _ = TASK.population()
    expected = [by_definition(activation, params, a, b) for a, b in np.asarray(x)]
    np.testing.assert_allclose(model.apply_population(params), expected, rtol=1e-4, atol=1e-6)
    each = jax.vmap(model.apply, in_axes=(None, 0))(params, x)
    np.testing.assert_allclose(each, expected, rtol=1e-4, atol=1e-6)


def test_the_whole_population_needs_no_gather_and_its_gradient_no_scatter():
    model = TwoEmbedding(width=5)
    params = model.init_params(jr.key(0), TASK)
    program = str(jax.make_jaxpr(jax.grad(lambda p: model.apply_population(p).sum()))(params))
    assert "gather" not in program
    assert "scatter" not in program


@pytest.mark.parametrize("activation, degree", [("square", 3), ("relu", 2)])
def test_two_embeddings_are_homogeneous_and_so_is_their_margin_invariant(activation, degree):
    model = TwoEmbedding(width=7, activation=activation)
    assert model.homogeneity == degree
    rng = np.random.default_rng(0)
    params = Embeddings(*rng.standard_normal((2, 6, 7)), rng.standard_normal((7, 6)))
    double = Embeddings(*(2 * part for part in params))
    values = model.apply_population(params)
    assert values.dtype == np.float64  # NumPy stays NumPy
    np.testing.assert_allclose(model.apply_population(double), 2**degree * values, rtol=1e-12)
    margin = normalised_margin(model, params, TASK)
    assert normalised_margin(model, double, TASK) == pytest.approx(margin, rel=1e-12)


def test_norms_are_over_all_weights_of_a_neuron():
    rng = np.random.default_rng(0)
    params = Embeddings(*rng.standard_normal((2, 6, 7)), rng.standard_normal((7, 6)))
    norms = [
        np.sqrt(
            np.sum(params.u[:, i] ** 2) + np.sum(params.v[:, i] ** 2) + np.sum(params.w[i] ** 2)
        )
        for i in range(7)
    ]
    model = TwoEmbedding(width=7)
    assert model.neurons(params).shape == (7, 18)
    np.testing.assert_allclose(np.linalg.norm(model.neurons(params), axis=1), norms)
    assert network_norm(model, params) == pytest.approx(np.sum(np.array(norms) ** 3) ** (1 / 3))


def test_margins_are_the_same_in_numpy_and_in_jax():
    model = TwoEmbedding(width=9, activation="relu")
    params = model.init_params(jr.key(3), TASK)
    other = Embeddings(*(np.asarray(part, np.float64) for part in params))
    one, two = (normalised_margin(model, p, TASK) for p in (params, other))
    assert one == pytest.approx(two, rel=1e-4)


def test_initial_weights_are_uniform_within_their_limits():
    model = TwoEmbedding(width=400, init=UniformEmbeddings(scale=2.0))
    u, v, w = model.init_params(jr.key(0), GroupOperation(Cyclic(50)))
    assert (u.shape, v.shape, w.shape) == ((50, 400), (50, 400), (400, 50))
    for part, limit in ((u, 2 / 10), (v, 2 / 10), (w, 2 / 20)):
        assert 0.999 * limit < np.abs(part).max() <= limit
        # Hoeffding's radius for failure 1e-9 of a mean of 20,000 squares in [0, limit^2].
        radius = limit**2 * np.sqrt(np.log(2e9) / 40_000)
        assert np.mean(np.square(part)) == pytest.approx(limit**2 / 3, abs=radius)
    assert not np.array_equal(u, v)


def test_the_log_odds_of_powers_make_the_cross_entropy_of_two_outputs():
    model = PowerNetwork(width=6, degree=3, init=UniformPowers(scale=3.0))
    task = Parity(5, 3)
    params = model.init_params(jr.key(0), task)
    assert (params.u.shape, params.w.shape) == ((5, 6), (6, 2))
    x, y = task.population()
    outputs = jax.vmap(model.outputs, in_axes=(None, 0))(params, x)
    expected = (np.asarray(x) @ np.asarray(params.u)) ** 3 @ np.asarray(params.w)
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)
    odds = jax.vmap(model.apply, in_axes=(None, 0))(params, x)
    labels = (y < 0).astype(jnp.int32)  # the first output is that of +1
    entropy = -jnp.take_along_axis(jax.nn.log_softmax(outputs), labels[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(jnp.logaddexp(0.0, -y * odds), entropy, rtol=1e-4, atol=1e-6)


def test_powers_are_homogeneous():
    model = PowerNetwork(width=4, degree=4)
    assert model.homogeneity == 5
    rng = np.random.default_rng(0)
    params = Powers(rng.standard_normal((6, 4)), rng.standard_normal((4, 2)))
    x = np.where(rng.random(6) < 0.5, -1.0, 1.0)
    double = Powers(2 * params.u, 2 * params.w)
    assert model.apply(double, x) == pytest.approx(32 * model.apply(params, x), rel=1e-12)
    assert model.neurons(params).shape == (4, 8)
    margin = normalised_margin(model, params, Parity(6, 4))
    assert margin == pytest.approx(normalised_margin(model, double, Parity(6, 4)), rel=1e-12)


def test_models_are_configurations():
    model = TwoEmbedding(width=3, init=UniformEmbeddings(scale=0.5))
    leaves, structure = jax.tree.flatten(model)
    assert leaves == [0.5]
    assert jax.tree.unflatten(structure, leaves) == model
    started = jax.jit(lambda model, key: model.init_params(key, TASK))(model, jr.key(0))
    np.testing.assert_allclose(started.u, model.init_params(jr.key(0), TASK).u, rtol=1e-6)


def test_bad_fields_are_refused_by_name():
    with pytest.raises(ValueError, match="width counts the neurons"):
        TwoEmbedding(width=0)
    with pytest.raises(ValueError, match="activation is one of 'square', 'relu'; got 'tanh'"):
        TwoEmbedding(width=3, activation="tanh")
    with pytest.raises(ValueError, match="degree is the power of a linear form"):
        PowerNetwork(width=3, degree=0)
    with pytest.raises(ValueError, match="scale multiplies the weights"):
        UniformEmbeddings(scale=-1.0)


def test_tasks_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="reads pairs of elements and predicts one of `classes`"):
        TwoEmbedding(width=3).check(Parity(5, 3))
    with pytest.raises(ValueError, match="reads vectors and predicts signs"):
        PowerNetwork(width=3, degree=2).check(TASK)
