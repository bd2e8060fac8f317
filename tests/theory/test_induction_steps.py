"""The two steps of Lemma 8.4, against all sequences and against the engine's gradients."""

import itertools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans.models.induction import Induction
from elegans.theory.markov import induction

pytestmark = pytest.mark.usefixtures("cheap_compilation")


def logits(x, w: np.ndarray, v: np.ndarray, p: int) -> np.ndarray:
    """Equation E.2 at position p, counting from zero."""
    out = np.zeros(2)
    for t in range(p + 1):
        out[x[t]] += sum(v[t - s] * w[x[p], x[s]] for s in range(t + 1))
    return out


def linear_loss(w: np.ndarray, v: np.ndarray, a: float, b: float) -> float:
    """The margin loss where it is linear, less its constant, over all sequences of one chain."""
    t = len(v)
    rows, law = np.array([[a, 1 - a], [1 - b, b]]), np.array([1 - b, 1 - a]) / (2 - a - b)
    total = 0.0
    for x in itertools.product((0, 1), repeat=t + 1):
        chance = law[x[0]] * np.prod([rows[i, j] for i, j in itertools.pairwise(x)])
        values = [logits(x, w, v, p) for p in range(t)]
        total += chance * np.mean([f.mean() - f[x[p + 1]] for p, f in enumerate(values)])
    return total


def test_the_loss_is_the_bilinear_form_of_the_tensor():
    rng = np.random.default_rng(0)
    w, v = rng.normal(size=(2, 2)), rng.normal(size=5)
    a, b = 0.3, 0.8
    chain = induction.Chains(np.array([a]), np.array([b]), np.ones(1))
    tensor = induction.gradient_tensor(5, chain)
    ours = -np.einsum("j,ml,jml->", v, w, tensor) / 5
    np.testing.assert_allclose(ours, linear_loss(w, v, a, b), rtol=1e-12)


def test_the_nodes_integrate_over_the_square():
    a, b, weight = induction.uniform_chains(20)
    assert weight.sum() == pytest.approx(1, abs=1e-12)
    assert (weight * a**7 * b**4).sum() == pytest.approx(1 / 40, rel=1e-12)
    law = (1 - b) / (2 - a - b)
    assert (weight * (law**2 + (1 - law) ** 2)).sum() == pytest.approx(2 - np.log(4), rel=1e-12)
    a, b, weight = induction.symmetric_chains(20, 0.25)
    assert (weight * (a - 0.5) ** 2).sum() == pytest.approx(0.25**2 / 3, rel=1e-12)


def test_the_constants_of_the_lemma_are_the_leading_terms():
    """At finite t the corrections are of relative order log(t)/t, which is 0.03 here."""
    t = 200
    tensor = induction.gradient_tensor(t, induction.uniform_chains(t))
    moved = tensor.sum(axis=0) / (t * (t + 1) * (t + 2) / 6)
    assert moved[0, 0] == pytest.approx(induction.DIAGONAL, rel=0.04)
    assert moved[0, 1] == pytest.approx(induction.OFF_DIAGONAL, rel=0.04)
    np.testing.assert_allclose(moved, moved.T, rtol=1e-9)
    assert moved[0, 0] == pytest.approx(moved[1, 1], rel=1e-9)
    ones = tensor.sum(axis=(1, 2))
    assert ones[0] / (t * (t + 1) / 2) == pytest.approx(induction.UNIGRAM, rel=0.04)


def test_the_printed_value_of_e_43_has_a_wrong_sign():
    """The expectation is 0.125, above that of E.42 (0.102) as is needed; printed is -0.057."""
    a, b, weight = induction.uniform_chains(40)
    s = a + b - 2
    first = 4 * (weight * (a - 1) * (b - 1) ** 2 * (a - 0.5) / s**3 * (a + b - 1)).sum()
    second = 2 * (weight * (b - a) * (b - 1) ** 2 * (a - 0.5) / s**3).sum()
    log = np.log(2)
    assert first == pytest.approx((7 - 10 * log) / 2, rel=1e-10)
    assert second == pytest.approx((8 * log - 5) / 6, rel=1e-10)
    stays = (weight * ((b - 1) ** 2 * (a - 0.5) + (a - 1) ** 2 * (b - 0.5)) / s**2).sum()
    assert stays == pytest.approx((1 - log) / 3, rel=1e-10)
    assert first + second > stays


def test_after_two_steps_the_second_position_leads_and_even_ones_follow():
    """With the hyperparameters of Figures E.1 and E.2."""
    start, first, second = induction.two_steps(100, 0.02, 0.03)
    assert np.ptp(start.position) == 0
    assert np.argmax(first.position) == 0
    assert (np.diff(first.position) < 0).all()
    assert np.argmax(second.position) == 1
    even, odd = second.position[1:11:2], second.position[2:12:2]
    assert (even > odd).all()


def test_for_symmetric_chains_v_grows_more_slowly_and_only_the_diagonal_moves():
    """Corollary E.2: no quadratic term; the printed sign of the linear one is wrong (errata)."""
    tensors = {
        t: induction.gradient_tensor(t, induction.symmetric_chains(t, 0.5)) for t in (50, 100)
    }
    for tensor in tensors.values():
        moved = tensor.sum(axis=0)
        assert abs(moved[0, 1]) < 1e-9 * moved[0, 0]
    growth = [tensor.sum(axis=(1, 2))[0] for tensor in tensors.values()]
    assert growth[0] > 0
    assert growth[1] / growth[0] < 3  # a quadratic term would give 4


def test_the_curriculum_reaches_bigrams_at_the_stated_order_of_epsilon():
    """W and the lead of v_2 are both of order epsilon**2, so the prediction is epsilon**4."""
    t = 200
    start = induction.constant_start(t, 0.0, 1.0)

    def end(epsilon):
        return induction.curriculum(t, epsilon, (1 / t**2, 1 / t), start)[1]

    small, large = end(0.05), end(0.1)
    assert np.argmax(large.position) == 1
    assert abs(small.weight[0, 1]) < 1e-6 * small.weight[0, 0]
    assert large.weight[0, 0] / small.weight[0, 0] == pytest.approx(4, rel=0.15)
    leads = [w.position[1] - w.position[2] for w in (small, large)]
    assert leads[1] / leads[0] == pytest.approx(4, rel=0.15)
    assert np.argmax(small.position) == 1


def test_errata_what_proposition_8_5_drops_adds_up():
    """After the two printed steps more attention is elsewhere than on the previous token."""
    limits = []
    for t in (50, 100, 200):
        start = induction.constant_start(t, 0.0, 1.0)
        easy, hard = induction.curriculum(t, 0.02, (1 / t**2, 1 / t), start)
        ratio = float(easy.weight[0, 0] / easy.weight[0, 1])
        measured = induction.contamination(hard)
        assert measured > 1.3
        limits.append(measured / induction.contamination_limit(ratio))
    assert abs(limits[2] - 1) < abs(limits[1] - 1) < abs(limits[0] - 1) < 0.1
    assert induction.contamination_limit(
        induction.DIAGONAL / induction.OFF_DIAGONAL
    ) == pytest.approx(1.67, abs=0.01)
    # It is worse from a start that is not zero: the constant part of W is read as unigrams.
    start = induction.constant_start(100, 0.1, 1.0)
    constant = induction.curriculum(100, 0.05, (1 / 100**2, 1 / 100), start)[1]
    assert induction.contamination(constant) > 10
    with pytest.raises(ValueError, match="the diagonal is the larger"):
        induction.contamination_limit(1.0)


def test_the_hard_tensor_to_second_order_is_its_closed_form():
    t, epsilon = 30, 1e-4
    tensor = induction.gradient_tensor(t, induction.symmetric_chains(t, epsilon))
    left = t - np.arange(t)
    sign = np.array([[1, -1], [-1, 1]])
    closed = np.repeat(2.0 * (left - 1), 4).reshape(t, 2, 2)
    closed[1] += sign * left[1] * (left[1] + 1)
    np.testing.assert_allclose(tensor, epsilon**2 / 12 * closed, atol=1e-4 * tensor.max())


def test_more_steps_on_hard_chains_are_power_iteration_to_bigrams():
    t, epsilon = 100, 0.1
    start = induction.constant_start(t, 0.0, 1.0)
    path = induction.curriculum(t, epsilon, (1 / t**2, 1 / t), start, hard_steps=3)
    left = [induction.contamination(weights) for weights in path[1:]]
    np.testing.assert_allclose(left, [1.557, 1.007, 0.0653], rtol=1e-2)
    tensor = induction.gradient_tensor(t, induction.symmetric_chains(t, epsilon))
    positions, values, pairs = np.linalg.svd(tensor.reshape(t, 4), full_matrices=False)
    assert values[2] < 1e-12 * values[0]  # rank two
    assert values[1] / values[0] == pytest.approx(1.17 / np.sqrt(t), rel=0.02)
    assert np.argmax(np.abs(positions[:, 0])) == 1
    leading = pairs[0].reshape(2, 2)
    assert leading[0, 1] / leading[0, 0] == pytest.approx(-1, abs=0.1)  # I - 11'/2


def test_the_tensor_is_what_a_sampled_gradient_of_the_model_tends_to():
    task = el.tasks.MarkovChains(states=2, length=12)
    x, y = task.sample(jr.key(0), 20_000)
    rng = np.random.default_rng(1)
    w, v = rng.normal(size=(2, 2)).astype(np.float32), rng.normal(size=12).astype(np.float32)

    def loss(params, x, y):
        f = el.models.MinimalInduction().apply(params, x)
        right = jnp.take_along_axis(f, y[:, None], axis=1)[:, 0]
        return jnp.mean(jnp.mean(f, axis=1) - right)

    slope = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)))
    sampled = slope(Induction(jnp.asarray(w), jnp.asarray(v)), x, y)
    tensor = induction.gradient_tensor(12, induction.uniform_chains(12))
    exact = Induction(
        -np.einsum("j,jml->ml", v, tensor) / 12, -np.einsum("ml,jml->j", w, tensor) / 12
    )
    for ours, theirs in zip(exact, sampled, strict=True):
        values = np.asarray(theirs, np.float64)
        error = values.std(axis=0) / np.sqrt(20_000)
        assert (np.abs(values.mean(axis=0) - ours) < 6 * error).all()
