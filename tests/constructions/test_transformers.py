"""Transformers set by hand: exact on whole truth tables, with the errors that the proofs state."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from elegans import constructions
from elegans.constructions import coherence, selection_head, selection_heads
from elegans.constructions.memoriser import memoriser
from elegans.constructions.transformers import with_memory
from elegans.models.transformers.bit_embedding import INPUTS, position_vectors
from elegans.tasks import Junta


def cube(T):
    return 1 - 2 * (np.arange(2**T)[:, None] >> np.arange(T) & 1)


def ones(x, support):
    return (x[:, list(support)] < 0).sum(axis=1)


def row(x, support):
    return (x[:, list(support)] < 0) @ 2 ** np.arange(len(support))


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("T, support", [(12, (7,)), (12, (11, 2)), (8, (5, 1, 6))])
def test_every_boolean_table_is_computed_exactly(inputs, T, support):
    x, s = cube(T), len(support)
    worst = 0.0
    for table in itertools.product([0.0, 1.0], repeat=2**s):
        model, params = constructions.junta_transformer(table, T, support, inputs=inputs)
        values = model.evaluate(params, x)
        worst = max(worst, np.abs(values - np.array(table)[row(x, support)]).max())
    for table in itertools.product([0.0, 1.0], repeat=s + 1):
        model, params = constructions.symmetric_transformer(table, T, support, inputs=inputs)
        values = model.evaluate(params, x)
        worst = max(worst, np.abs(values - np.array(table)[ones(x, support)]).max())
    assert worst <= 1e-12


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("s", [4, 5])
def test_real_tables_of_more_bits_are_computed_exactly(inputs, s):
    T, generator = 10, np.random.default_rng(s)
    support = tuple(generator.permutation(T)[:s].tolist())
    x, table = cube(T), generator.standard_normal(2**s)
    model, params = constructions.junta_transformer(table.tolist(), T, support, inputs=inputs)
    np.testing.assert_allclose(model.evaluate(params, x), table[row(x, support)], atol=1e-12)
    model, params = constructions.symmetric_transformer(
        table[: s + 1].tolist(), T, support, inputs=inputs
    )
    np.testing.assert_allclose(model.evaluate(params, x), table[ones(x, support)], atol=1e-12)


def test_networks_are_exact_at_ten_thousand_inputs():
    T, support, generator = 10_000, (9_999, 3, 5_000), np.random.default_rng(0)
    x = np.where(generator.random((20, T)) < 0.5, -1, 1)
    x[:8, list(support)] = cube(3)
    table = [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]
    for inputs in INPUTS:
        model, params = constructions.junta_transformer(table, T, support, inputs=inputs)
        values = model.evaluate(params, x)
        np.testing.assert_allclose(values, np.array(table)[row(x, support)], atol=1e-12)
    model, params = constructions.symmetric_transformer([0.0, 1.0, 0.0, 1.0], T, support)
    np.testing.assert_allclose(model.evaluate(params, x), ones(x, support) % 2, atol=1e-12)


def test_the_order_of_a_table_is_that_of_a_junta_and_float32_is_close():
    table, support = (1, -1, -1, -1, 1, 1, -1, 1), (4, 0, 2)
    task = Junta(6, table, support=support)
    model, params = constructions.junta_transformer(table, 6, support)
    x, y = task.population()
    np.testing.assert_allclose(model.evaluate(params, np.asarray(x)), np.asarray(y), atol=1e-12)
    values = jax.vmap(model.apply, in_axes=(None, 0))(params, x)
    np.testing.assert_allclose(values, np.asarray(y), atol=1e-4)
    trace = model.trace(params, jnp.asarray(x[5]))
    assert [int(i) for i in trace.attention[0].argmax(axis=-1)] == list(support)


@pytest.mark.parametrize("M, s", [(3, 2), (4, 2), (5, 1), (3, 3)])
def test_strings_over_more_symbols_are_told_apart(M, s):
    T, support, generator = 6, (4, 1, 0)[:s], np.random.default_rng(M)
    x = generator.integers(0, M, (300, T))
    table = generator.standard_normal(M**s)
    expected = table[x[:, list(support)] @ M ** np.arange(s)]
    for inputs in ("positions", "trained"):
        model, params = constructions.junta_transformer(
            table.tolist(), T, support, inputs=inputs, symbols=M
        )
        assert model.hidden == (4 * s * M**s, 2 * M**s)
        np.testing.assert_allclose(model.evaluate(params, x), expected, atol=1e-12)


@pytest.mark.parametrize("T, s", [(8, 3), (8, 1), (11, 4)])
def test_heads_have_the_exact_worst_errors_and_the_stated_norms(T, s):
    support, x = tuple(range(1, s + 1)), cube(T)
    errors = {}
    for inputs in INPUTS:
        for build, places in ((selection_head, ones), (selection_heads, row)):
            heads = build(T, support, inputs=inputs)
            outputs = heads.model.evaluate(heads.params, x)[:, : heads.targets.shape[1]]
            error = np.abs(outputs - heads.targets[places(x, support)]).max()
            assert error <= heads.gamma / 4
            assert heads.norms().keys() == heads.bounds.keys()
            for name, size in heads.norms().items():
                assert size <= heads.bounds[name] * (1 + 1e-12), (inputs, name)
            errors[inputs, build] = (error, math.exp(heads.rate))
    for inputs in ("positions", "trained"):
        error, exponential = errors[inputs, selection_head]
        assert exponential == pytest.approx(4 * T * s)
        assert error == pytest.approx((2 * (T - s) + 1) / (s * exponential + T + 1 - s), rel=1e-10)
        error, exponential = errors[inputs, selection_heads]
        assert exponential == pytest.approx(4 * T)
        assert error == pytest.approx((2 * T - 1) / (exponential + T), rel=1e-10)
    error, exponential = errors["bag", selection_head]
    assert exponential == pytest.approx(8 * T * s**2)
    assert error == pytest.approx(s * T / (exponential + T), rel=1e-10)


def test_the_worked_errors():
    x, support = cube(8), (0, 1, 2)

    def error(heads, places):
        outputs = heads.model.evaluate(heads.params, x)[:, : heads.targets.shape[1]]
        return np.abs(outputs - heads.targets[places(x, support)]).max()

    assert error(selection_head(8, support), ones) == pytest.approx(0.0374150, abs=5e-8)
    assert error(selection_heads(8, support), row) == pytest.approx(0.375, rel=1e-10)
    assert error(selection_head(8, support, inputs="bag"), ones) == pytest.approx(0.0411, abs=5e-5)


def test_heads_of_rate_zero_average_all_tokens():
    x = cube(5)
    heads = selection_head(5, (0, 1), rate=0.0)
    mean = -x.sum(axis=1) / 6  # [CLS] counts as a token of value 0
    np.testing.assert_allclose(heads.model.evaluate(heads.params, x)[:, 0], mean, atol=1e-14)


def test_few_dimensions_are_enough_for_trained_positions():
    heads = selection_head(1000, (1, 2, 3), inputs="trained")
    assert heads.model.dim == 4
    assert selection_heads(1000, (1, 2, 3), inputs="trained").model.dim == 6
    assert selection_head(1000, (1, 2, 3)).model.dim == 1003


def most_coherent(T, dim, s):
    """The two closest vectors and the ones next to them: a hidden set that is hard to select."""
    vectors = position_vectors("positions", 2, dim, T, "signs", 0)
    products = np.abs(vectors @ vectors.T) - 2 * np.eye(T)
    i, j = np.unravel_index(products.argmax(), products.shape)
    closest = np.argsort(-np.maximum(products[i], products[j]))
    return (int(i), int(j), *(int(c) for c in closest if c not in (i, j)))[:s]


def test_the_printed_key_can_prefer_a_position_outside_of_the_hidden_set():
    """Delta = 0.25 is below 1/s at s = 3, but not below 1/(2s - 1)."""
    delta = 0.25
    gram = np.full((4, 4), -delta)
    gram[3, :] = gram[:, 3] = delta
    np.fill_diagonal(gram, 1.0)
    vectors = np.linalg.cholesky(gram)  # rows of norm 1; the last one is outside
    printed = vectors[:3].sum(axis=0)
    assert (vectors[:3] @ printed).max() == pytest.approx(1 - 2 * delta)
    assert vectors[3] @ printed == pytest.approx(3 * delta)
    dual = np.linalg.solve(gram[:3, :3], vectors[:3]).sum(axis=0)
    np.testing.assert_allclose(vectors[:3] @ dual, 1, rtol=1e-12)
    assert vectors[3] @ dual == pytest.approx(3 * delta / (1 - 2 * delta))  # the bound is attained


@pytest.mark.parametrize("T, dim", [(100, 600), (1000, 2000)])
def test_the_dual_key_mends_attention_to_coherent_positions(T, dim):
    support = most_coherent(T, dim, 3)
    generator = np.random.default_rng(0)
    x = np.where(generator.random((200, T)) < 0.5, -1, 1)
    for i, pattern in enumerate(itertools.product([-1, 1], repeat=3)):
        x[i::8, list(support)] = pattern
    counts = ones(x, support)
    mended = selection_head(T, support, vectors="signs", dim=dim)
    assert 0.1 < mended.coherence < 0.2
    outputs = mended.model.evaluate(mended.params, x)[:, 0]
    assert np.abs(outputs - mended.targets[counts, 0]).max() < 1e-2
    assert mended.norms()["key"] <= mended.bounds["key"]
    printed = selection_head(T, support, vectors="signs", dim=dim, printed=True)
    outputs = -printed.model.evaluate(printed.params, x)[:, 0]
    assert np.abs(outputs - printed.targets[counts, 0]).max() > printed.gamma / 4


def test_whole_networks_are_exact_with_coherent_positions():
    T, dim, generator = 100, 900, np.random.default_rng(1)
    x = np.where(generator.random((64, T)) < 0.5, -1, 1)
    table = [0.0, 1.0, 1.0, 0.0]
    for inputs in ("positions", "bag"):
        model, params = constructions.symmetric_transformer(
            [3.0, -1.0, 2.0], T, (50, 7), inputs=inputs, vectors="signs", dim=dim
        )
        expected = np.array([3.0, -1.0, 2.0])[ones(x, (50, 7))]
        np.testing.assert_allclose(model.evaluate(params, x), expected, atol=1e-12)
        model, params = constructions.junta_transformer(
            table, T, (50, 7), inputs=inputs, vectors="signs", dim=dim
        )
        np.testing.assert_allclose(
            model.evaluate(params, x), np.array(table)[row(x, (50, 7))], atol=1e-12
        )
        heads = selection_head(T, (50, 7), inputs=inputs, vectors="signs", dim=dim)
        assert 0 < heads.coherence < 1 / 3
        assert all(size <= heads.bounds[name] for name, size in heads.norms().items())


def test_printed_bag_values_are_off_where_the_printed_condition_holds():
    """s Delta < gamma is not enough: values may be off by s Delta, and gamma / 4 is allowed."""
    T, dim = 60, 700
    vectors = position_vectors("bag", 2, dim, T, "signs", 0)
    products = np.abs(vectors @ vectors.T) - 2 * np.eye(T)
    support = tuple(int(i) for i in np.unravel_index(products.argmax(), products.shape))
    delta = coherence(vectors, support)
    assert 2 * delta < 1 / 2 < 8 * delta
    x = np.where(np.random.default_rng(0).random((64, T)) < 0.5, -1, 1)
    x[:, list(support)] = -1
    errors = {}
    for printed in (False, True):
        heads = selection_head(
            T, support, inputs="bag", vectors="signs", dim=dim, printed=printed, rate=200.0
        )
        outputs = heads.model.evaluate(heads.params, x)[:, 0]
        errors[printed] = np.abs(outputs - heads.targets[2, 0]).max()
    assert errors[False] < 1e-10 < 0.05 < errors[True]


def test_hidden_sets_need_more_dimensions_than_inputs_until_a_thousand():
    """Delta < 1/5 at s = 3 takes about 100 ln T random signs."""
    for T, dim in ((100, 460), (650, 650)):
        assert coherence(position_vectors("positions", 2, dim + 3, T, "signs", 1)) < 0.25
        assert coherence(position_vectors("positions", 2, dim // 3, T, "signs", 1)) > 0.2


def test_the_printed_head_decreases_and_the_printed_heads_are_zero():
    x = cube(6)
    printed = selection_head(6, (0, 1), printed=True)
    outputs = printed.model.evaluate(printed.params, x)[:, 0]
    counts = ones(x, (0, 1))
    assert outputs[counts == 0].min() > outputs[counts == 2].max()
    printed = selection_heads(6, (0, 1), printed=True)
    assert printed.params.layers[0].value.shape[2] == 2
    np.testing.assert_array_equal(printed.model.evaluate(printed.params, x), 0.0)


def memory(layers, readout, y):
    for weight in layers:
        y = np.maximum(np.hstack([y, np.ones((len(y), 1))]) @ weight, 0)
    return y @ readout


def test_boxes_of_an_eighth_of_gamma_lose_the_value():
    """The heads may be gamma / 4 away from their targets, where bumps of that width are zero."""
    heads = selection_head(8, (0, 1, 2))
    shifted = np.pad(heads.targets + heads.gamma / 4, ((0, 0), (0, heads.model.dim - 1)))
    for printed, expected in ((False, 1.0), (True, 0.0)):
        _, params = with_memory(heads, np.ones(4), printed=printed)
        outputs = memory(params.feedforward, params.readout, shifted)
        np.testing.assert_allclose(outputs, expected, atol=1e-12)


@pytest.mark.parametrize("f, delta", [(1, 0.25), (2, 1.0), (3, 0.1)])
def test_the_memoriser_is_constant_on_boxes_and_zero_far_away(f, delta):
    generator = np.random.default_rng(f)
    points = 4 * delta * np.array(list(itertools.product(range(3), repeat=f)), dtype=float)
    values = generator.standard_normal(len(points))
    layers, readout = memoriser(points, values, delta)
    corners = delta * np.array(list(itertools.product([-1, 0, 1], repeat=f)), dtype=float)
    for corner in corners:
        np.testing.assert_allclose(memory(layers, readout, points + corner), values, atol=1e-12)
    np.testing.assert_allclose(memory(layers, readout, points - 20 * delta), 0, atol=1e-11)
    n, B = len(points), np.abs(points).max()
    assert layers.first.shape == (f + 1, 4 * n * f)
    assert layers.second.shape == (4 * n * f + 1, 2 * n)
    assert np.abs(layers.first[:-1]).max() == 1 / delta
    assert np.abs(layers.first[-1]).max() == pytest.approx(B / delta + 2)
    if B >= 1:  # the printed bound is exceeded
        assert np.abs(layers.first[-1]).max() > B / delta
    assert np.abs(layers.second).max() <= max(f / delta, 1 / delta)


def test_the_printed_bump_is_zero_at_its_centre():
    layers, _ = memoriser(np.zeros((1, 1)), np.ones(1), 0.5, printed=True)
    bump = np.array([1.0, -1.0, -1.0, 1.0])
    for place, expected in ((0.0, 0.0), (50.0, 1.0), (-50.0, -1.0)):
        first = np.maximum(np.array([place, 1.0]) @ layers.first, 0)
        assert first @ bump == pytest.approx(expected)


def test_sharper_attention_is_what_beats_the_limit_of_hahn():
    for T in (100, 1000, 10_000):
        x = np.ones((2, T), dtype=int)
        x[1, 5] = -1
        change = {}
        for R in (3.0, None):
            heads = selection_head(T, (3, 5, 8), rate=R)
            low, high = heads.model.evaluate(heads.params, x)[:, 0]
            exponential = math.exp(heads.rate)
            formula = 2 * exponential / (3 * exponential + T - 2)
            assert high - low == pytest.approx(formula, rel=1e-9)
            change[R] = high - low
        assert change[3.0] < 2 * math.exp(3.0) / (T - 2)
        assert change[None] == pytest.approx(2 / 3, rel=0.03)


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda c: c.symmetric_transformer([0, 1], 5, (5,)), "support holds coordinates.*0..4"),
        (lambda c: c.junta_transformer([0, 1], 5, (-1,)), "support holds coordinates"),
        (lambda c: c.junta_transformer([0, 1, 1, 0], 5, (1, 1)), "2 distinct coordinates"),
        (lambda c: c.junta_transformer([0, 1, 1], 5, (1, 2)), "has 4 values for 2"),
        (lambda c: c.symmetric_transformer([0, math.nan, 1], 5, (1, 2)), "table holds the values"),
        (lambda c: c.symmetric_transformer([1], 5, ()), "at least one"),
        (lambda c: c.junta_transformer([0], 5, (1,), symbols=1), "symbols counts different inputs"),
        (lambda c: c.junta_transformer([0, 1, 2], 5, (1,), symbols=3, inputs="bag"), "symbols"),
        (lambda c: c.selection_head(5, (1, 2), dim=6), "dim holds the positions.*8 or more"),
        (lambda c: c.selection_head(5, (1, 2), inputs="words"), "inputs is one of"),
        (lambda c: c.selection_head(5, (1, 2), rate=-1.0), "rate multiplies the scores"),
    ],
)
def test_bad_input_is_refused_by_name(build, message):
    with pytest.raises(ValueError, match=message):
        build(constructions)


def test_vectors_that_are_too_coherent_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"too coherent.*is 0\.\d+, and below 0\.2 is needed"):
        selection_head(50, (1, 2, 3), vectors="signs", dim=40)
    with pytest.raises(ValueError, match=r"is 1, and below 1 is needed"):
        selection_heads(50, (1, 2, 3), vectors="signs", dim=5)
    with pytest.raises(ValueError, match=r"too coherent.*and below 0\.25 is needed"):
        selection_head(50, (1, 2), inputs="bag", vectors="signs", dim=20, printed=True)
    with pytest.raises(ValueError, match=r"4 \* delta = 1.*at distance 0.5"):
        memoriser(np.array([[0.0], [0.5]]), np.zeros(2), 0.25)
    with pytest.raises(ValueError, match="delta is half the width of a box"):
        memoriser(np.array([[0.0], [9.0]]), np.zeros(2), 2.0)
