"""MLPs against plain NumPy."""

import jax
import jax.random as jr
import numpy as np
import pytest
from tests.references import mlp

from elegans import Experiment, Training, run
from elegans.models import MLP, inits
from elegans.models.mlp import dropout
from elegans.tasks import Parity

TASK = Parity(9, 2)


@pytest.mark.parametrize("depth", [1, 3])
def test_predictions_are_those_of_plain_numpy(depth):
    model = MLP(width=11, depth=depth)
    params = model.init_params(jr.key(0), TASK)
    x = TASK.sample(jr.key(1), 30).x
    expected = mlp([tuple(map(np.asarray, layer)) for layer in params.layers], np.asarray(x))
    one_by_one = jax.vmap(model.apply, in_axes=(None, 0))(params, x)
    np.testing.assert_allclose(one_by_one, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.apply(params, x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "name, function",
    [
        ("z^2", lambda z: z**2),
        ("z^3", lambda z: z**3),
        ("tanh", np.tanh),
        ("sin", np.sin),
        ("relu", lambda z: np.maximum(z, 0)),
    ],
)
def test_activations_are_what_they_are_called(name, function):
    model = MLP(width=5, activation=name, init=inits.Gaussian())
    (w, b), (u, c) = params = model.init_params(jr.key(0), TASK).layers
    x = TASK.sample(jr.key(1), 10).x
    expected = function(np.asarray(x @ w + b, float)) @ np.asarray(u, float)[:, 0] + c[0]
    np.testing.assert_allclose(model.apply(inits.Layers(params), x), expected, rtol=1e-4, atol=1e-5)


def test_networks_that_only_start_differently_have_one_body():
    assert MLP(width=5, init=inits.Sparse(2)).body == MLP(width=5).body
    assert MLP(width=5).body != MLP(width=6).body


def test_dropout_silences_its_share_of_the_neurons_and_keeps_the_mean():
    model = MLP(width=6, depth=1, dropout=0.25)
    params = model.init_params(jr.key(0), TASK)
    x = TASK.sample(jr.key(1), 1).x[0]
    still = model.apply(params, x)
    noisy = jax.vmap(lambda key: model.apply(params, x, key))(jr.split(jr.key(2), 4000))
    error = np.std(np.asarray(noisy)) / np.sqrt(4000)
    assert error > 0
    assert abs(np.mean(np.asarray(noisy)) - still) < 6 * error
    ones = np.asarray(dropout(jr.key(3), jax.numpy.ones((1001,)), 0.25))
    assert set(np.unique(ones)) == {np.float32(0), np.float32(4 / 3)}
    assert abs(np.mean(ones == 0) - 0.25) < 0.11  # Hoeffding's radius for 1,001 draws and 1e-9
    assert np.array_equal(MLP(width=6).apply(params, x, jr.key(4)), still)


def test_a_run_with_dropout_depends_on_its_seed_alone():
    training = Training(samples=50, steps=20, batch=8, test_samples=100)
    experiment = Experiment(TASK, MLP(width=8, dropout=0.5), training)
    without = Experiment(TASK, MLP(width=8), training)
    first, again, other = (run(e, seed=0).train_loss for e in (experiment, experiment, without))
    assert first == again != other


def test_layers_of_unequal_width_and_without_biases_or_output_are_plain_numpy():
    inputs = TASK.sample(jr.key(1), 7).x
    x = np.asarray(inputs)
    model = MLP(hidden=(5, 4, 1), output_layer=False, hidden_bias=False, activation="z^2")
    layers = model.init_params(jr.key(0), TASK).layers
    assert [layer.weight.shape for layer in layers] == [(9, 5), (5, 4), (4, 1)]
    assert all(layer.bias is None for layer in layers)
    expected = x
    for layer in layers:
        expected = (expected @ np.asarray(layer.weight)) ** 2
    np.testing.assert_allclose(
        model.apply(inits.Layers(layers), inputs), expected[:, 0], rtol=1e-4, atol=1e-6
    )
    model = MLP(width=6, output_bias=False)
    hidden, out = model.init_params(jr.key(0), TASK).layers
    assert hidden.bias is not None
    assert out.bias is None
    inner = np.maximum(x @ np.asarray(hidden.weight) + np.asarray(hidden.bias), 0)
    np.testing.assert_allclose(
        model.apply(inits.Layers((hidden, out)), inputs),
        inner @ np.asarray(out.weight)[:, 0],
        rtol=1e-4,
    )
    (neurons,) = model.neurons(inits.Layers((hidden, out)))
    expected = np.column_stack([np.asarray(hidden.weight).T, hidden.bias, out.weight])
    np.testing.assert_array_equal(neurons, expected)
    same = MLP(hidden=(6, 6)).init_params(jr.key(0), TASK)
    jax.tree.map(np.testing.assert_array_equal, same, MLP(6, depth=2).init_params(jr.key(0), TASK))


def test_a_single_neuron_without_output_layer_trains():
    training = Training(samples=50, steps=5, batch=8, test_samples=100, loss="square")
    model = MLP(width=1, output_layer=False, activation="sin")
    assert run(Experiment(TASK, model, training)).params.layers[0].weight.shape == (9, 1)
    with pytest.raises(ValueError, match=r"last hidden neurons predict.*1 of them; got 3"):
        Experiment(TASK, MLP(width=3, output_layer=False), training)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"width": 0}, r"width counts the neurons.*got 0"),
        ({"width": 5, "depth": 0}, r"depth counts the hidden layers.*got 0"),
        ({"width": 5, "activation": "rely"}, r"activation is one of 'relu'.*got 'rely'"),
        ({"width": 5, "dropout": 1.0}, r"dropout is the share.*got 1.0"),
        ({"width": 5, "hidden": (5,)}, r"width and depth are not given"),
        ({"hidden": ()}, r"at least one width"),
        ({"hidden": (5, 0)}, r"hidden holds widths.*got 0"),
        ({"width": 5, "activation": "z^0"}, r"'z\^d' is a power of degree d, 1 to 99; got 'z\^0'"),
    ],
)
def test_bad_networks_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        MLP(**options)


def test_the_trace_has_the_values_of_every_hidden_layer():
    model = MLP(hidden=(5, 3))
    task = Parity(6, 2)
    params = model.init_params(jr.key(0), task)
    x, _ = task.sample(jr.key(1), 4)
    trace = jax.vmap(lambda row: model.trace(params, row))(x)
    np.testing.assert_array_equal(
        trace.prediction, jax.vmap(lambda row: model.apply(params, row))(x)
    )
    assert [layer.shape for layer in trace.hidden] == [(4, 5), (4, 3)]
    (weight, bias), *_ = params.layers
    np.testing.assert_allclose(trace.hidden[0], np.maximum(x @ weight + bias, 0), rtol=1e-6)
