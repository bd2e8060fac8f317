"""Losses against their closed forms, values and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elegans.training import losses

pytestmark = pytest.mark.usefixtures("cheap_compilation")

CLOSED_FORMS = {
    "hinge": (lambda f, y: max(0, 1 - y * f), lambda f, y: -y * (y * f < 1)),
    "square": (lambda f, y: (y - f) ** 2, lambda f, y: 2 * (f - y)),
    "logistic": (lambda f, y: np.log1p(np.exp(-y * f)), lambda f, y: -y / (1 + np.exp(y * f))),
    "correlation": (lambda f, y: -y * f, lambda f, y: -y),
    "cross-entropy": (lambda f, y: np.log1p(np.exp(-y * f)), lambda f, y: -y / (1 + np.exp(y * f))),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_each_loss_and_its_derivative_have_their_closed_form(name, y):
    value, derivative = CLOSED_FORMS[name]
    loss = losses.LOSSES[name]
    for f in (-3.0, -0.7, 0.0, 0.4, 2.5):
        got, slope = jax.value_and_grad(loss)(jnp.asarray(f), jnp.asarray(y))
        np.testing.assert_allclose(got, value(f, y), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(slope, derivative(f, y), rtol=1e-5, atol=1e-7)


@given(st.lists(st.floats(-20, 20, width=32), min_size=3, max_size=3), st.integers(0, 2))
def test_cross_entropy_is_the_negative_log_probability_of_the_class(logits, label):
    f = np.asarray(logits, np.float64)
    expected = np.log(np.exp(f - f.max()).sum()) + f.max() - f[label]
    got = losses.CrossEntropy()(jnp.asarray(logits, jnp.float32), jnp.asarray(label))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


@given(st.lists(st.floats(-20, 20, width=32), min_size=3, max_size=3), st.integers(0, 2))
def test_precise_cross_entropy_has_all_digits_of_small_losses_and_slopes(logits, label):
    f = np.asarray(logits, np.float64)
    odds = np.exp(np.delete(f, label) - f[label])
    slopes = np.insert(odds, label, -odds.sum()) / (1 + odds.sum())
    loss = losses.CrossEntropy(precise=True)
    got, slope = jax.value_and_grad(loss)(jnp.asarray(logits, jnp.float32), jnp.asarray(label))
    np.testing.assert_allclose(got, np.log1p(odds.sum()), rtol=2e-5)  # exp of a rounded 40
    np.testing.assert_allclose(slope, slopes, rtol=2e-5, atol=1e-30)


def test_the_usual_cross_entropy_has_lost_its_slope_where_the_precise_one_has_not():
    f, y = jnp.asarray([17.0, 0.0, -1.0]), jnp.asarray(0)
    usual, precise = (jax.grad(losses.CrossEntropy(precise=p))(f, y)[0] for p in (False, True))
    expected = -(np.exp(-17) + np.exp(-18))
    np.testing.assert_allclose(precise, expected, rtol=1e-5)
    assert abs(usual / expected - 1) > 0.05


def test_sequences_are_averaged_over_positions():
    logits = jnp.asarray([[0.0, 2.0], [1.0, -1.0], [0.0, 0.5]])
    labels = jnp.asarray([1, 1, 0])
    parts = [losses.CrossEntropy()(f, y) for f, y in zip(logits, labels, strict=True)]
    for precise in (False, True):
        loss = losses.CrossEntropy(precise=precise)(logits, labels)
        np.testing.assert_allclose(loss, np.mean(parts), rtol=1e-6)
    np.testing.assert_allclose(losses.error(logits, labels), 2 / 3, rtol=1e-6)


@given(st.lists(st.floats(-5, 5, width=32), min_size=3, max_size=3), st.integers(0, 2))
def test_the_margin_loss_sums_what_the_other_classes_lack_to_a_margin_of_one(logits, label):
    others = [f for i, f in enumerate(logits) if i != label]
    expected = sum(max(0, 1 + f - logits[label]) for f in others) / 3
    got = losses.Margin()(jnp.asarray(logits, jnp.float32), jnp.asarray(label))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_every_loss_has_a_test_of_its_closed_form():
    assert set(losses.LOSSES) == {*CLOSED_FORMS, "margin"}


def test_zero_and_nan_are_wrong_predictions():
    for f in (0.0, np.nan, -0.5):
        assert losses.error(jnp.asarray(f), jnp.asarray(1.0)) == 1
    assert losses.error(jnp.asarray(0.5), jnp.asarray(1.0)) == 0
