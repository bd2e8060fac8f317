"""MLPs against plain NumPy."""

import jax
import jax.random as jr
import numpy as np
import pytest
from tests.references import mlp

from elegans import inits
from elegans.models import MLP
from elegans.tasks import Parity

TASK = Parity(9, 2)


@pytest.mark.parametrize("depth", [1, 3])
def test_predictions_are_those_of_plain_numpy(depth):
    model = MLP(width=11, depth=depth)
    params = model.init(jr.key(0), TASK)
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
    (w, b), (u, c) = params = model.init(jr.key(0), TASK).layers
    x = TASK.sample(jr.key(1), 10).x
    expected = function(np.asarray(x @ w + b, float)) @ np.asarray(u, float)[:, 0] + c[0]
    np.testing.assert_allclose(model.apply(inits.Layers(params), x), expected, rtol=1e-4, atol=1e-5)


def test_networks_that_only_start_differently_have_one_body():
    assert MLP(width=5, init=inits.Sparse(2)).body == MLP(width=5).body
    assert MLP(width=5).body != MLP(width=6).body


@pytest.mark.parametrize(
    "options, message",
    [
        ({"width": 0}, r"width counts the neurons.*got 0"),
        ({"width": 5, "depth": 0}, r"depth counts the hidden layers.*got 0"),
        ({"width": 5, "activation": "rely"}, r"activation is one of 'relu'.*got 'rely'"),
        ({"width": 5, "activation": "z^0"}, r"activation is one of 'relu'.*got 'z\^0'"),
    ],
)
def test_bad_networks_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        MLP(**options)
