"""The transformer classifier against an independent forward pass in NumPy, and its symmetries."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy.special import erf

from elegans.models import TransformerClassifier
from elegans.models.transformers import classifier
from elegans.models.transformers.classifier_params import NormalInit
from elegans.models.transformers.dropout import Dropout, dropped, random_words
from elegans.tasks import Conjunction, GroupOperation, MarkovChains, Parity
from elegans.tasks.groups import Cyclic
from elegans.training.recipe import Training
from elegans.training.step import Objective, full_gradient, mean_gradient

T = 7
TASK = Conjunction(T, 3, p=0.8)
SMALL = {"heads": 2, "dim": 8, "init": NormalInit(0.5)}
MODELS = {
    "minGPT": TransformerClassifier(**SMALL),
    "Parity Transformer": TransformerClassifier.parity(heads=2, dim=8, key_width=3, hidden=5),
    "two layers": TransformerClassifier(layers=2, key_width=3, hidden=5, **SMALL),
    "no stream": TransformerClassifier(
        residual=False, norm="ball", activation="relu", positions="none", **SMALL
    ),
    "three layers, no norm": TransformerClassifier(
        layers=3,
        norm="none",
        positions="fixed",
        cls_position=False,
        outputs=1,
        **SMALL | {"init": NormalInit(0.2)},
    ),
}


def reference(model, params, x):
    """Logits and [CLS] attention with every token written out, in float64."""
    tree = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params)

    def norm(z, place):
        if model.norm == "layer":
            gain, bias = tree.norms[place]
            return (z - z.mean(-1, keepdims=True)) / np.sqrt(
                z.var(-1, keepdims=True) + 1e-5
            ) * gain + bias
        if model.norm == "ball":
            return z / np.maximum(1, np.linalg.norm(z, axis=-1, keepdims=True))
        return z

    def plus(z, bias):
        return z if bias is None else z + bias

    z = tree.embedding.tokens[[*(0 if bit > 0 else 1 for bit in x), 2]]
    if tree.embedding.positions is not None:
        z[: len(tree.embedding.positions)] += tree.embedding.positions
    attention = []
    for i, (w, b) in enumerate(zip(tree.weights.layers, tree.biases, strict=True)):
        n, heads, rows = norm(z, 2 * i), [], []
        q, k, v = plus(n @ w.query, b.query), plus(n @ w.key, b.key), plus(n @ w.value, b.value)
        for h in range(model.heads):
            part = slice(h * model.width, (h + 1) * model.width)
            scores = q[:, part] @ k[:, part].T / math.sqrt(model.width)
            weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
            heads.append(weights @ v[:, part])
            rows.append(weights[-1])
        added = plus(np.concatenate(heads, axis=1) @ w.output, b.output)
        z = z + added if model.residual else added
        inner = norm(z, 2 * i + 1) @ w.hidden + b.hidden
        is_relu = model.activation == "relu"
        inner = np.maximum(inner, 0) if is_relu else inner * (1 + erf(inner / math.sqrt(2))) / 2
        added = inner @ w.back + b.back
        z = z + added if model.residual else added
        attention.append(rows)
    return norm(z, -1)[-1] @ tree.weights.readout, np.array(attention)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_forward_pass_is_that_of_the_definition(model):
    params = model.init_params(jr.key(1), TASK)
    params = jax.tree.map(  # biases too: they start at zero
        lambda leaf: leaf + 0.1 * jr.normal(jr.fold_in(jr.key(2), leaf.size), leaf.shape), params
    )
    x, _ = TASK.sample(jr.key(3), 5)
    traces = jax.vmap(lambda x: model.trace(params, x))(x)
    predictions = jax.vmap(lambda x: model.apply(params, x))(x)
    for i, row in enumerate(np.asarray(x)):
        logits, attention = reference(model, params, row)
        np.testing.assert_allclose(traces.logits[i], logits, rtol=1e-4, atol=1e-5)
        assert traces.attention[i].shape == (model.layers, model.heads, T + 1)
        np.testing.assert_allclose(traces.attention[i], attention, rtol=1e-4, atol=1e-6)
        expected = logits[0] if model.outputs == 1 else logits[0] - logits[1]
        np.testing.assert_allclose(predictions[i], expected, rtol=1e-4, atol=2e-5)


def test_both_ways_to_compute_one_layer_have_the_same_gradients():
    """Zero embedding dropout that is on at compile time takes the long way."""
    short = MODELS["minGPT"]
    long = dataclasses.replace(short, dropout=Dropout(embedding=1e-30))
    params = short.init_params(jr.key(1), TASK)
    x, y = TASK.sample(jr.key(3), 6)

    def loss(model, params, key):
        predict = jax.vmap(lambda x, key: model.apply(params, x, key))
        return jnp.mean(jnp.logaddexp(0, -y * predict(x, jr.split(key, len(x)))))

    grads = [
        jax.jit(jax.grad(lambda p, model=m: loss(model, p, jr.key(0))))(params)
        for m in (short, long)
    ]
    for a, b in zip(*map(jax.tree.leaves, grads), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6)


def plain(model, params, x, key):
    """The network with dropout in jax.numpy, every token, key and value written out."""

    def norm(z, place):
        if model.norm == "layer":
            gain, bias = params.norms[place]
            spread = jnp.sqrt(z.var(-1, keepdims=True) + 1e-5)
            return (z - z.mean(-1, keepdims=True)) / spread * gain + bias
        length = jnp.linalg.norm(z, axis=-1, keepdims=True)
        return z / jnp.maximum(1, length) if model.norm == "ball" else z

    def zeroed(z, rate, salt):
        return dropped(z, rate, key, salt)

    z = params.embedding.tokens[jnp.append(jnp.where(x > 0, 0, 1), 2)] + params.embedding.positions
    z = zeroed(z, model.dropout.embedding, 0)
    for i, (w, b) in enumerate(zip(params.weights.layers, params.biases, strict=True)):
        # [CLS] alone in the last layer, so that masks have the same shapes.
        asked = z[-1:] if i == model.layers - 1 else z
        n, q = norm(z, 2 * i), norm(asked, 2 * i) @ w.query + b.query
        k, v = n @ w.key + b.key, n @ w.value + b.value
        q, k, v = (a.reshape(len(a), model.heads, model.width) for a in (q, k, v))
        weights = jax.nn.softmax(jnp.einsum("ihk,jhk->hij", q, k) / math.sqrt(model.width), axis=-1)
        shape = weights.shape if len(asked) > 1 else (model.heads, len(z))
        weights = zeroed(weights.reshape(shape), model.dropout.attention, 1 + 4 * i)
        heads = jnp.einsum("hij,jhk->ihk", weights.reshape(model.heads, -1, len(z)), v)
        added = heads.reshape(len(asked), -1) @ w.output + b.output
        z = asked + zeroed(added, model.dropout.output, 2 + 4 * i)
        hidden = jax.nn.gelu(norm(z, 2 * i + 1) @ w.hidden + b.hidden, approximate=False)
        z = z + zeroed(hidden @ w.back + b.back, model.dropout.output, 3 + 4 * i)
    logits = norm(z, -1)[-1] @ params.weights.readout
    return logits[0] - logits[1]


@pytest.mark.usefixtures("cheap_compilation")
@pytest.mark.parametrize("layers, norm", [(1, "ball"), (1, "none"), (2, "layer")])
def test_gradients_with_every_dropout_are_those_of_the_plain_form(layers, norm):
    rates = Dropout(embedding=0.3, attention=0.2, output=0.1)
    model = TransformerClassifier(layers=layers, norm=norm, dropout=rates, **SMALL)
    params = model.init_params(jr.key(1), TASK)
    params = jax.tree.map(
        lambda leaf: leaf + 0.1 * jr.normal(jr.fold_in(jr.key(2), leaf.size), leaf.shape), params
    )
    x, y = TASK.sample(jr.key(3), 6)
    keys = jr.split(jr.key(4), len(x))

    def loss(apply, params):
        predictions = jax.vmap(lambda x, key: apply(params, x, key))(x, keys)
        return jnp.mean(jnp.logaddexp(0, -y * predictions))

    ways = (model.apply, lambda params, x, key: plain(model, params, x, key))
    (value, gradient), (expected, slope) = (
        jax.jit(jax.value_and_grad(lambda p, way=way: loss(way, p)))(params) for way in ways
    )
    assert value == pytest.approx(float(expected), rel=1e-5)
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(slope), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=2e-6)


@pytest.mark.usefixtures("cheap_compilation")
def test_blocks_of_few_rows_have_the_gradient_of_the_whole_batch(monkeypatch):
    """Tokens of their own per example are differentiated in blocks that fit the cache."""
    model, task = MODELS["two layers"], Conjunction(T, 3, p=0.8)
    training = Training(loss="logistic", batch=None, samples=21, steps=1)
    params = model.init_params(jr.key(1), task)
    batch = task.sample(jr.key(2), 32)
    gradients = []
    for cached in (1 << 17, 8 * model.dim * (T + 1)):
        monkeypatch.setattr(classifier, "CACHED", cached)
        for gradient in (full_gradient, mean_gradient):
            whole = jax.jit(lambda p, of=gradient: of(Objective(model, training, p), batch))
            gradients.append(whole(params))
    assert model.rows_at_once(T) == 8
    assert MODELS["minGPT"].rows_at_once(T) is None
    for first, second in ((0, 2), (1, 3)):
        pairs = zip(*(jax.tree.leaves(gradients[i]) for i in (first, second)), strict=True)
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "T, count", [(100, 56_896), (300, 69_696), (800, 101_696), (1100, 120_896)]
)
def test_the_network_of_the_thesis_has_as_many_parameters(T, count):
    model = TransformerClassifier()
    params = jax.eval_shape(lambda key: model.init_params(key, Conjunction(T, 3)), jr.key(0))
    assert sum(leaf.size for leaf in jax.tree.leaves(params)) == count == 50_432 + 64 * (T + 1)


def test_the_parity_transformer_has_the_parameters_of_its_list():
    model, n = TransformerClassifier.parity(), 20
    params = jax.eval_shape(lambda key: model.init_params(key, Parity(n, 3)), jr.key(0))
    mlp = 2 * 1024 * 4096 + 4096 + 1024
    listed = (3 + n) * 1024 + 128 * 4 * 1024 * 8 + mlp + 1024
    assert sum(leaf.size for leaf in jax.tree.leaves(params)) == listed


def test_permuting_positions_with_their_vectors_changes_nothing():
    model = MODELS["minGPT"]
    params = model.init_params(jr.key(1), TASK)
    x, _ = TASK.sample(jr.key(3), 4)
    order = np.array([3, 0, 6, 1, 5, 2, 4])
    positions = params.embedding.positions
    moved = params._replace(
        embedding=params.embedding._replace(positions=positions[np.append(order, T)])
    )
    before = jax.vmap(lambda x: model.apply(params, x))(x)
    after = jax.vmap(lambda x: model.apply(moved, x))(x[:, order])
    np.testing.assert_allclose(before, after, rtol=1e-4, atol=1e-6)


def test_swapping_tokens_and_labels_turns_and_into_or():
    """OR is AND by symmetry: with both tokens and both logits exchanged, the sign changes."""
    model = MODELS["minGPT"]
    params = model.init_params(jr.key(1), TASK)
    mirrored = params._replace(
        embedding=params.embedding._replace(tokens=params.embedding.tokens[np.array([1, 0, 2])]),
        weights=params.weights._replace(readout=params.weights.readout[:, ::-1]),
    )
    x, _ = TASK.sample(jr.key(3), 4)
    here = jax.vmap(lambda x: model.apply(params, x))(x)
    there = jax.vmap(lambda x: model.apply(mirrored, x))(-x)
    np.testing.assert_allclose(here, -there, rtol=1e-5, atol=1e-6)


def test_scores_far_below_the_largest_of_all_tokens_still_count():
    """An example may lack the largest score by 60 nats: no 0/0, in gradients neither."""
    model = TransformerClassifier(heads=1, dim=2, norm="none", hidden=1, outputs=1, bias=False)
    params = model.init_params(jr.key(0), Parity(2, 1))
    params = jax.tree.map(jnp.zeros_like, params)
    tokens = jnp.array([[0.0, 0.0], [60 * math.sqrt(2), 3.0], [1.0, 0.0]])
    first = params.weights.layers[0]._replace(
        query=jnp.array([[1.0, 0.0], [0.0, 0.0]]),
        key=jnp.array([[1.0, 0.0], [0.0, 0.0]]),
        value=jnp.array([[0.0, 0.0], [1.0, 0.0]]),
        output=jnp.eye(2),
    )
    params = params._replace(
        embedding=params.embedding._replace(tokens=tokens),
        weights=params.weights._replace(layers=(first,), readout=jnp.array([[1.0], [0.0]])),
    )
    attention = model.trace(params, jnp.array([1.0, 1.0])).attention[0, 0]
    score = math.exp(1 / math.sqrt(2))
    np.testing.assert_allclose(attention, np.array([1, 1, score]) / (2 + score), rtol=1e-5)
    grads = jax.jit(jax.grad(lambda p: model.apply(p, jnp.array([1.0, 1.0]))))(params)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(grads))


def test_dropout_keeps_the_mean_and_drops_at_its_rate():
    keys = jr.split(jr.key(5), 400)
    ones = jax.vmap(lambda key: dropped(jnp.ones((50, 5)), 0.1, key, 2))(keys)
    radius = math.sqrt(math.log(2e9) / (2 * ones.size))  # Hoeffding, failure 1e-9
    assert abs(float((ones == 0).mean()) - 0.1) < radius
    np.testing.assert_allclose(ones[ones > 0], 1 / 0.9, rtol=1e-6)
    by_place, by_key = (ones == 0).mean(axis=0), (ones == 0).mean(axis=(1, 2))
    for shares, size in ((by_place, 400), (by_key, 250)):
        z = (shares - 0.1) / math.sqrt(0.09 / size)
        assert abs(float(z.var()) - 1) < 0.5  # as independent draws would spread


def test_words_of_other_keys_and_salts_are_uncorrelated():
    words = np.stack(
        [random_words(jr.key(seed), salt, (4096,)) for seed in (0, 1) for salt in (0, 1, 2)]
    )
    bits = 1.0 - 2.0 * (words[:, :, None] >> np.arange(32) & 1).reshape(len(words), -1)
    correlations = bits @ bits.T / bits.shape[1] - np.eye(len(words))
    assert np.abs(correlations).max() < math.sqrt(2 * math.log(2e9) / bits.shape[1])


def test_dropout_of_all_kinds_is_off_without_a_key_and_changes_predictions_with_one():
    x = jnp.ones(T)
    for rates in ((0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)):
        model = dataclasses.replace(MODELS["minGPT"], dropout=Dropout(*rates))
        params = model.init_params(jr.key(1), TASK)
        plain = MODELS["minGPT"].apply(params, x)
        assert model.is_stochastic
        np.testing.assert_allclose(model.apply(params, x), plain, rtol=1e-6)
        assert abs(model.apply(params, x, jr.key(1)) - plain) > 1e-4
    assert not MODELS["minGPT"].is_stochastic


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"heads": 5}, r"heads divides dim; 4 left"),
        ({"key_width": 0}, r"key_width is the width of a head, so it is .*got 0"),
        ({"layers": 0}, r"layers counts the layers"),
        ({"norm": "batch"}, r"norm is one of 'layer', 'ball', 'none'; got 'batch'"),
        ({"positions": "rotary"}, r"positions is one of"),
        ({"outputs": 3}, r"outputs counts logits of a sign"),
        ({"activation": "tanh"}, r"activation is one of"),
    ],
)
def test_fields_that_make_no_network_are_refused_by_name(fields, message):
    with pytest.raises(ValueError, match=message):
        TransformerClassifier(**fields)


def test_tasks_that_have_no_bits_or_no_signs_are_refused():
    with pytest.raises(ValueError, match=r"reads bits, and MarkovChains.* has none"):
        TransformerClassifier().check(MarkovChains(states=3, length=5))
    with pytest.raises(ValueError, match=r"reads bits|predicts a sign"):
        TransformerClassifier().check(GroupOperation(Cyclic(5)))
    with pytest.raises(ValueError, match=r"embedding is a probability"):
        Dropout(embedding=1.5)
