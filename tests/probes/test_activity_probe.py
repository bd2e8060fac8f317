"""How many neurons work: the probe against NumPy, in networks and transformers, and refusals."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans.models.transformers.attention_only import AttentionOnly
from elegans.probes.activity import Activity, layer_activity
from elegans.protocols import View

pytestmark = pytest.mark.usefixtures("cheap_compilation")


def look(model, task, rows=40):
    """What the probe sees of a network at its start, and the inputs that it looks at."""
    params = model.init_params(jr.key(1), task)
    view = View(params, params, model, task, jr.key(2), np.int32(0))
    return params, task.sample(jr.key(2), rows)[0], Activity(rows)(view)


def by_hand(hidden, lengths):
    """The four numbers of a layer, from its values at all inputs."""
    contributions = hidden * lengths
    shares = [c / c.sum() for c in contributions if c.sum() > 0]
    effective = sum(1 / (p**2).sum() for p in shares) / len(hidden)
    positive = hidden > 0
    return {
        "positive": positive.mean(),
        "dead": (~positive.any(axis=0)).mean(),
        "always_on": positive.all(axis=0).mean(),
        "effective": effective,
    }


def test_the_layers_of_an_mlp_are_counted_and_weighed():
    params, x, activity = look(el.models.MLP(width=9, depth=2), el.tasks.Parity(6, 2))
    for layer in range(2):
        weight, bias = (np.asarray(a) for a in params.layers[layer])
        x = np.maximum(x @ weight + bias, 0)
        lengths = np.linalg.norm(np.asarray(params.layers[layer + 1].weight), axis=1)
        for name, value in by_hand(x, lengths).items():
            np.testing.assert_allclose(activity[name][layer], value, rtol=1e-5)


def test_the_hidden_layers_of_a_transformer_are_looked_at_in_every_position():
    task = el.tasks.MarkovChains(3, 12)
    model = AttentionOnly(mlp=True, dim=4)
    params, x, activity = look(model, task)
    trace = jax.vmap(lambda row: model.trace(params, row))(x)
    assert [h.shape for h in trace.hidden] == [(40, 12, 16)] * 2
    for layer, hidden in enumerate(trace.hidden):
        lengths = np.linalg.norm(np.asarray(params.hidden[layer].output), axis=1)
        for name, value in by_hand(np.asarray(hidden).reshape(-1, 16), lengths).items():
            np.testing.assert_allclose(activity[name][layer], value, rtol=1e-5)


def test_the_traced_neurons_are_those_that_the_prediction_is_made_of():
    """Without what its last hidden layer adds, the stream gives other logits by exactly that."""
    task = el.tasks.MarkovChains(3, 12)
    model = AttentionOnly(mlp=True, dim=4, layers=1)
    params = model.init_params(jr.key(1), task)
    x = task.sample(jr.key(2), 1).x[0]
    trace = model.trace(params, x)
    silent = params._replace(hidden=(params.hidden[0]._replace(output=jnp.zeros((16, 4))),))
    added = np.asarray(trace.hidden[0] @ params.hidden[0].output @ params.readout)
    np.testing.assert_allclose(trace.logits - model.apply(silent, x), added, atol=1e-5)


@pytest.mark.parametrize("count, total", [(1, 5), (3, 5), (5, 5)])
def test_equal_contributions_of_r_neurons_are_r_effective_ones(count, total):
    hidden = jnp.zeros((2, total)).at[0, :count].set(2.0)
    activity = layer_activity(hidden, jnp.ones(total))
    assert float(activity["effective"]) == pytest.approx(count / 2)  # the second input has none
    assert float(activity["dead"]) == pytest.approx(1 - count / total)
    assert float(activity["always_on"]) == 0.0


def test_dead_neurons_are_none_where_inputs_choose_theirs():
    activity = layer_activity(jnp.eye(4), jnp.ones(4))
    assert float(activity["dead"]) == 0.0
    assert float(activity["effective"]) == 1.0


def test_outgoing_weights_of_a_last_hidden_layer_that_predicts_are_one():
    model = el.models.MLP(hidden=(5, 1), output_layer=False)
    params = model.init_params(jr.key(0), el.tasks.Parity(6, 2))
    first, last = model.outgoing(params)
    np.testing.assert_allclose(first, np.abs(np.asarray(params.layers[1].weight))[:, 0], rtol=1e-6)
    np.testing.assert_array_equal(last, [1.0])


@pytest.mark.parametrize(
    "model, task, message",
    [
        (el.models.MLP(width=3, activation="tanh"), el.tasks.Parity(6, 2), "activation 'tanh'"),
        (AttentionOnly(dim=4), el.tasks.MarkovChains(3, 12), "AttentionOnly has no hidden layer"),
        (el.models.MinimalInduction(), el.tasks.MarkovChains(3, 12), "has no outgoing"),
    ],
)
def test_networks_without_a_hidden_layer_of_rectifiers_are_refused(model, task, message):
    with pytest.raises(ValueError, match=message):
        look(model, task)


def test_a_refusal_reaches_whoever_runs_an_experiment():
    model = el.models.MLP(width=3, activation="tanh")
    experiment = el.Experiment(el.tasks.Parity(6, 2), model, el.Training(steps=1, test_samples=10))
    with pytest.raises(ValueError, match=r"Activity: hidden neurons are rectifiers.*MLP"):
        el.run(experiment, probes=[Activity(4)])


def test_a_number_of_examples_is_positive():
    with pytest.raises(ValueError, match="rows"):
        Activity(0)
