"""The transformer against equations 8.4 and 8.5 in plain NumPy, and its refusals."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans.models.transformers.kernels import BLOCK, feature_attention, toeplitz, token_attention

pytestmark = pytest.mark.usefixtures("cheap_compilation")
LONG = BLOCK + 7  # two blocks of queries


def softmax(scores: np.ndarray) -> np.ndarray:
    e = np.exp(scores - scores.max())
    return e / e.sum()


def by_hand(model, params, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logits and attention, position by position, in double precision."""
    p = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params)
    z = p.embedding[x] + (0 if p.position is None else p.position)
    width, patterns = model.dim // model.heads, []
    for number, layer in enumerate(p.layers):
        added, pattern = np.zeros_like(z), np.zeros((model.heads, len(x), len(x)))
        for h in range(model.heads):
            part = slice(h * width, (h + 1) * width)
            q, k, v = z @ layer.query[:, part], z @ layer.key[:, part], z @ layer.value[:, part]
            for i in range(len(x)):
                keys = k[: i + 1].copy()
                if layer.position is not None:
                    keys += layer.position[i - np.arange(i + 1)][:, part]
                pattern[h, i, : i + 1] = softmax(keys @ q[i] / np.sqrt(width))
            added[:, part] = pattern[h] @ v
        z = z + added
        patterns.append(pattern)
        if p.hidden:
            weight, bias, output = p.hidden[number]
            z = z + np.maximum(z @ weight + bias, 0) @ output
    return z @ p.readout, np.stack(patterns)


@pytest.mark.parametrize(
    "model, states",
    [
        (el.models.AttentionOnly(layers=2, heads=1, dim=16, scale=2.0), 2),
        (el.models.AttentionOnly(layers=2, heads=3, dim=6, scale=2.0), 3),
        (el.models.AttentionOnly(layers=1, heads=2, dim=8, position="absolute", mlp=True), 2),
    ],
    ids=str,
)
def test_a_forward_pass_is_equations_8_4_and_8_5(model, states):
    task = el.tasks.MarkovChains(states=states, length=LONG)
    params = jax.jit(lambda key: model.init_params(key, task))(jr.key(1))
    x = np.random.default_rng(0).integers(states, size=LONG)
    both = jax.jit(lambda params, x: (model.trace(params, x), model.apply(params, x)))
    trace, applied = both(params, jnp.asarray(x))
    logits, attention = by_hand(model, params, x)
    np.testing.assert_allclose(trace.logits, logits, atol=2e-5 * np.abs(logits).max())
    np.testing.assert_allclose(trace.attention, attention, atol=1e-5)
    np.testing.assert_array_equal(applied, trace.logits)


def test_both_kernels_of_attention_agree_on_tokens():
    rng = np.random.default_rng(0)
    tokens = jax.nn.one_hot(jnp.asarray(rng.integers(3, size=LONG)), 3, axis=0)
    content = jnp.asarray(rng.normal(size=(3, 3)), jnp.float32)
    position = jnp.asarray(10 * rng.normal(size=(3, LONG)), jnp.float32)

    def both(content, position):
        one = token_attention(tokens, content, position)
        two = feature_attention(tokens, content.T @ tokens, tokens, position)
        return one, two

    one, two = jax.jit(both)(content, position)
    np.testing.assert_allclose(one.features, two.features, atol=1e-5)
    np.testing.assert_allclose(one.attention, two.attention, atol=1e-5)
    np.testing.assert_allclose(one.features, tokens @ one.attention.T, atol=1e-5)
    target = jnp.asarray(rng.normal(size=(3, LONG)), jnp.float32)
    slopes = [
        jax.jit(jax.grad(lambda *w, n=n: jnp.sum(target * both(*w)[n].features), (0, 1)))
        for n in (0, 1)
    ]
    for ours, theirs in zip(*(slope(content, position) for slope in slopes), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_a_sharp_attention_has_finite_gradients():
    """Scores that differ by hundreds, and rows whose best distance is out of reach."""
    position = jnp.zeros((2, LONG)).at[:, 3].set(400.0).at[:, 0].set(-300.0)
    tokens = jax.nn.one_hot(jnp.arange(LONG) % 2, 2, axis=0)

    def loss(position):
        return jnp.sum(token_attention(tokens, jnp.eye(2), position).features[0] ** 2)

    value, slope = jax.jit(jax.value_and_grad(loss))(position)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


def test_a_toeplitz_matrix_depends_on_the_distance():
    row = jnp.arange(1.0, 5.0)
    expected = [[row[i - j] if j <= i else -9.0 for j in range(4)] for i in range(4)]
    np.testing.assert_array_equal(toeplitz(row, -9.0), np.asarray(expected))


def test_the_positional_encoding_is_the_attention_where_content_says_nothing():
    task = el.tasks.MarkovChains(states=2, length=10)
    model = el.models.AttentionOnly(layers=1, heads=2, dim=8, scale=3.0)
    params = jax.jit(lambda key: model.init_params(key, task))(jr.key(0))
    silent = params._replace(layers=(params.layers[0]._replace(key=jnp.zeros((8, 8))),))
    encoding = model.positional_encoding(silent)
    x = jnp.zeros(10, jnp.int32)
    attention = jax.jit(model.trace)(silent, x).attention[
        0, :, -1
    ]  # of the last query, oldest key first
    np.testing.assert_allclose(attention[:, ::-1], encoding[:, 0], atol=1e-6)


def test_dropout_needs_a_key_and_keeps_the_mean():
    task = el.tasks.MarkovChains(states=2, length=6)
    model = el.models.AttentionOnly(layers=1, dim=8, dropout=0.5, scale=2.0)
    params = jax.jit(lambda key: model.init_params(key, task))(jr.key(0))
    x = jnp.array([0, 1, 1, 0, 1, 0])
    still = jax.jit(model.apply)(params, x)
    keys = jr.split(jr.key(1), 4000)
    noisy = jax.jit(jax.vmap(lambda key: model.apply(params, x, key)))(keys)
    assert not np.allclose(noisy[0], still, atol=1e-3)
    error = np.std(np.asarray(noisy), axis=0) / np.sqrt(4000)
    assert (np.abs(np.mean(np.asarray(noisy), axis=0) - still) < 6 * error + 1e-6).all()


def test_the_minimal_model_is_equation_8_8():
    rng = np.random.default_rng(0)
    k, t = 3, 12
    x, w, v = rng.integers(k, size=t), rng.normal(size=(k, k)), rng.normal(size=t)
    params = el.models.induction.Induction(jnp.asarray(w, jnp.float32), jnp.asarray(v, jnp.float32))
    one_hot = np.eye(k)[x]
    m = np.array([[v[i - j] if j <= i else 0.0 for j in range(t)] for i in range(t)])
    attention = np.tril(one_hot @ w @ (m @ one_hot).T)
    trace = el.models.MinimalInduction().trace(params, jnp.asarray(x))
    np.testing.assert_allclose(trace.logits, attention @ one_hot, atol=1e-4)
    np.testing.assert_allclose(trace.first, m, atol=1e-6)
    np.testing.assert_allclose(trace.second, attention, atol=1e-5)


def test_bad_models_are_refused_by_name():
    with pytest.raises(ValueError, match="heads divides dim; 1 left"):
        el.models.AttentionOnly(heads=3, dim=16)
    with pytest.raises(ValueError, match="position is one of 'relative', 'absolute'"):
        el.models.AttentionOnly(position="rotary")
    with pytest.raises(ValueError, match="layers counts the attention layers"):
        el.models.AttentionOnly(layers=0)
    for model in (el.models.AttentionOnly(), el.models.MinimalInduction()):
        with pytest.raises(ValueError, match="reads sequences of tokens"):
            model.check(el.tasks.Parity(n=5, k=2))
    absolute = el.models.AttentionOnly(position="absolute")
    params = jax.jit(lambda key: absolute.init_params(key, el.tasks.MarkovChains(2, 5)))(jr.key(0))
    with pytest.raises(ValueError, match="only relative positions"):
        absolute.positional_encoding(params)
