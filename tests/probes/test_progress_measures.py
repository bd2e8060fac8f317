"""Progress measures against enumeration of all inputs, on random weights."""

import itertools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from elegans.models import MLP, DisjointPolyNet, PolyNet, TransformerClassifier
from elegans.models.inits import Layer, Layers
from elegans.probes import FourierGap, RelevantLead, RelevantProduct, SupNormPath, SupportShare
from elegans.protocols import View
from elegans.tasks import DisjointParity, Parity

TASK = Parity(7, 3, support=(1, 2, 5))
X = np.array(list(itertools.product([1, -1], repeat=7)), np.float32)
Y = X[:, 1] * X[:, 2] * X[:, 5]


def view(model, task=TASK, params=None):
    params = model.init_params(jr.key(3), task) if params is None else params
    return View(params, params, model, task, jr.key(0), jnp.asarray(0))


def enumerated(model, params):
    """The gradient of E[y h] by first-layer weights, for each neuron h, over all inputs."""
    from elegans.models.activations import activation

    sigma = activation(model.activation)
    weight, bias = params.layers[0]
    bias = 0.0 if bias is None else bias

    def correlation(weight):
        return jnp.sum(jnp.mean(jnp.asarray(Y)[:, None] * sigma(X @ weight + bias), axis=0))

    return np.asarray(jax.grad(correlation)(weight)).T


@pytest.mark.parametrize(
    "model",
    [
        MLP(width=3, activation="sinusoid:3"),
        MLP(width=3, activation="z^3"),
        MLP(width=2, activation="sin"),
        MLP(width=2, activation="sinusoid:3", hidden_bias=False),
    ],
)
def test_the_gap_of_a_neuron_is_that_of_its_enumerated_gradient(model):
    shown = FourierGap()(view(model))
    g = np.abs(enumerated(model, view(model).params))
    inside = np.isin(np.arange(7), TASK.support)
    relaxed = (g[:, inside].max(1) - g[:, ~inside].max(1)).max()
    strict = (g[:, inside].min(1) - g[:, ~inside].max(1)).max()
    # float32 sums over 128 inputs, and products of seven factors
    np.testing.assert_allclose(shown["relaxed"], relaxed, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(shown["strict"], strict, rtol=1e-4, atol=1e-6)


def test_the_gap_of_a_polynet_is_that_of_its_enumerated_gradient():
    model = PolyNet(degree=3)
    seen = view(model)

    def correlation(params):
        return jnp.mean(Y * jax.vmap(model.apply, (None, 0))(params, X))

    g = np.abs(np.asarray(jax.grad(correlation)(seen.params).layers[0].weight)).T
    inside = np.isin(np.arange(7), TASK.support)
    np.testing.assert_allclose(g[:, ~inside], 0, atol=1e-7)
    np.testing.assert_allclose(FourierGap()(seen)["relaxed"], g[:, inside].max(), rtol=1e-4)
    np.testing.assert_allclose(FourierGap()(seen)["strict"], g[:, inside].min(1).max(), rtol=1e-4)


def test_the_lead_is_positive_exactly_if_the_largest_weights_are_relevant():
    rng = np.random.default_rng(0)
    for _ in range(50):
        weight = rng.standard_normal((7, 2)).astype(np.float32)
        weight[[1, 2, 5]] *= 3
        params = Layers((Layer(jnp.asarray(weight), jnp.zeros(2)),))
        size = np.abs(weight).max(axis=1)
        top = set(np.argsort(size)[-3:].tolist()) == {1, 2, 5}
        lead = float(RelevantLead()(view(MLP(width=2), params=params)))
        assert (lead > 0) == top
        share = float(SupportShare()(view(MLP(width=2), params=params)))
        np.testing.assert_allclose(
            share, (weight[[1, 2, 5]] ** 2).sum() / (weight**2).sum(), rtol=1e-5
        )


def test_the_product_of_relevant_weights():
    task = DisjointParity(6, 3, support=(1, 2, 5))
    seen = view(DisjointPolyNet(degree=3), task)
    blocks = np.asarray(seen.params.weight)
    expected = blocks[0, 1] * blocks[1, 0] * blocks[2, 1]
    np.testing.assert_allclose(RelevantProduct()(seen), expected, rtol=1e-6)
    seen = view(MLP(width=3))
    weight = np.asarray(seen.params.layers[0].weight)
    expected = np.abs(weight[1] * weight[2] * weight[5]).max()
    np.testing.assert_allclose(RelevantProduct()(seen), expected, rtol=1e-6)


@pytest.mark.parametrize("model", [MLP(width=2), MLP(width=2, activation="z^2"), PolyNet(degree=2)])
def test_a_gap_without_a_closed_form_is_refused(model):
    name = type(model).__name__
    with pytest.raises(ValueError, match=rf"'z\^3' and for PolyNets of degree 3 .* got {name}\("):
        FourierGap()(view(model))


@pytest.mark.parametrize(
    "model", [DisjointPolyNet(degree=3), TransformerClassifier.parity(heads=2, dim=16)]
)
@pytest.mark.parametrize("probe", [SupNormPath(), RelevantLead(), SupportShare(), FourierGap()])
def test_a_network_without_a_first_layer_is_refused_by_name(model, probe):
    name = type(model).__name__
    with pytest.raises(TypeError, match=rf"params.layers\[0\].weight, .* got {name}\("):
        probe(view(model, DisjointParity(6, 3)))
