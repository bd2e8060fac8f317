"""Updates against the formulas, number for number, and Adam against Optax's own alias."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from elegans.models.inits import Layer, Layers
from elegans.training import updates
from elegans.training.recipe import Group, Training

PARAMS = Layers(
    (
        Layer(jnp.asarray([[1.0, -2.0], [0.5, 3.0]]), jnp.asarray([0.1, -0.2])),
        Layer(jnp.asarray([[2.0], [1.0]]), jnp.asarray([0.3])),
    )
)
GRADS = jax.tree.map(lambda p: 0.3 * p + 0.01, PARAMS)


def updated(training, steps=1, first=0):
    params, state = PARAMS, updates.init(training, PARAMS)
    for t in range(first, first + steps):
        params, state = updates.update(training, GRADS, state, params, jnp.asarray(t))
    return params


def assert_trees_close(got, expected):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), got, expected)


def test_coupled_decay_is_that_of_pytorchs_sgd():
    got = updated(Training(learning_rate=0.2, weight_decay=0.05))
    assert_trees_close(got, jax.tree.map(lambda p, g: p - 0.2 * (g + 0.05 * p), PARAMS, GRADS))


def test_shrinking_decay_is_that_of_the_documents():
    got = updated(Training(learning_rate=0.2, weight_decay=0.05, decay="shrink"))
    assert_trees_close(got, jax.tree.map(lambda p, g: (1 - 0.05) * p - 0.2 * g, PARAMS, GRADS))


@pytest.mark.parametrize(
    "name, alias",
    [
        ("adam", lambda: optax.chain(optax.add_decayed_weights(0.05), optax.adam(0.01))),
        ("adamw", lambda: optax.adamw(0.01, weight_decay=0.05)),
    ],
)
def test_adam_and_adamw_are_optaxs(name, alias):
    got = updated(Training(optimizer=name, learning_rate=0.01, weight_decay=0.05), steps=3)
    optimizer = alias()
    params, state = PARAMS, optimizer.init(PARAMS)
    for _ in range(3):
        directions, state = optimizer.update(GRADS, state, params)
        params = optax.apply_updates(params, directions)
    assert_trees_close(got, params)


def test_truncation_drops_small_gradients():
    got = updated(Training(learning_rate=1.0, truncate=0.3))
    kept = jax.tree.map(lambda g: jnp.where(jnp.abs(g) <= 0.3, 0, g), GRADS)
    assert_trees_close(got, jax.tree.map(lambda p, g: p - g, PARAMS, kept))


def test_groups_set_the_rates_of_single_parameters_and_the_first_match_counts():
    groups = (
        Group("layers.0.bias", 0.0),
        Group("layers.0", 0.5, weight_decay=0.1),
        Group("layers.1", 0.9, start=3),
    )
    training = Training(learning_rate=0.2, groups=groups)
    (w, b), (u, c) = PARAMS.layers
    (gw, _), (gu, gc) = GRADS.layers
    for t, rate in ((2, 0.2), (3, 0.9)):
        first, second = updated(training, first=t).layers
        np.testing.assert_allclose(first.weight, w - 0.5 * (gw + 0.1 * w), rtol=1e-6)
        np.testing.assert_array_equal(first.bias, b)
        np.testing.assert_allclose(second.weight, u - rate * gu, rtol=1e-6)
        np.testing.assert_allclose(second.bias, c - rate * gc, rtol=1e-6)


@pytest.mark.parametrize(
    "schedule, factor",
    [
        ("constant", lambda t: 1),
        ("linear", lambda t: 1 - t / 10),
        ("cosine", lambda t: 0.5 * (1 + np.cos(np.pi * t / 10))),
        ("inverse", lambda t: 1 / (t + 1)),
    ],
)
@pytest.mark.parametrize("warmup", [0, 4])
def test_schedules_multiply_the_learning_rate(schedule, factor, warmup):
    training = Training(learning_rate=0.2, steps=10, schedule=schedule, warmup=warmup)
    for t in (0, 2, 7):
        rate = 0.2 * factor(t) * (min(1, (t + 1) / warmup) if warmup else 1)
        got = updated(training, first=t)
        assert_trees_close(got, jax.tree.map(lambda p, g, r=rate: p - r * g, PARAMS, GRADS))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"loss": "hing"}, r"loss is one of 'hinge'.*got 'hing'"),
        ({"optimizer": "sdg"}, r"optimizer is one of 'sgd'.*got 'sdg'"),
        ({"decay": "weight"}, r"decay is one of"),
        ({"schedule": "step"}, r"schedule is one of"),
        ({"learning_rate": float("nan")}, r"learning_rate multiplies.*got nan"),
        ({"learning_rate": float("inf")}, r"learning_rate multiplies.*got inf"),
        ({"learning_rate": -0.1}, r"learning_rate.*at least 0; got -0.1"),
        ({"weight_decay": float("nan")}, r"weight_decay.*got nan"),
        ({"samples": 0}, r"samples counts the training examples.*got 0"),
        ({"batch": 0}, r"batch counts the examples of a step.*got 0"),
        ({"steps": 0}, r"steps counts the updates.*got 0"),
        ({"evaluate_every": 0}, r"evaluate_every counts steps.*got 0"),
    ],
)
def test_bad_recipes_are_refused_by_name_with_the_value(options, message):
    with pytest.raises(ValueError, match=message):
        Training(**options)
