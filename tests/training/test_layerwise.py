"""The idealised algorithms: after one step the relevant coordinates stand out, as proved."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import elegans as el
from elegans.theory.boolean import majority
from elegans.training import step, updates
from elegans.training.layerwise import layerwise
from elegans.training.recipe import Group
from elegans.training.schedules import Inverse

pytestmark = pytest.mark.usefixtures("cheap_compilation")


def neurons(run):
    return np.asarray(run.initial.layers[0].weight).T, np.asarray(run.params.layers[0].weight).T


def test_theorem_16_replaces_good_neurons_by_the_relevant_coordinates():
    """Lemmas 8, 9, 11: a neuron that contains the support becomes the support, scaled by 1/2k."""
    n, k, s = 12, 2, 9
    task = el.tasks.Parity(n=n, k=k, support=(3, 7))
    relevant, irrelevant = majority.relevant_gradient(s, k), majority.irrelevant_gradient(s, k)
    training = layerwise(200_000, 1 / (2 * k * abs(relevant)))
    model = el.models.MLP(width=64, init=el.inits.SymmetricSparse(s, complete=True))
    run = el.run(el.Experiment(task, model, training), seed=0)
    before, after = neurons(run)
    signs = np.asarray(run.initial.layers[1].weight)[:, 0]
    good = before[:, list(task.support)].all(axis=1)
    assert 10 < good.sum() < 64
    tolerance = 5 * 1 / (2 * k * abs(relevant)) / 200_000**0.5  # five standard errors
    for w0, w1, u in zip(before[good], after[good], signs[good], strict=True):
        expected = u * np.sign(relevant) * w0 * irrelevant / abs(relevant) / (2 * k)
        expected[list(task.support)] = u * np.sign(relevant) / (2 * k)
        np.testing.assert_allclose(w1, expected, atol=tolerance)
        assert set(np.argsort(-np.abs(w1))[:k]) == set(task.support)
    for w0, w1 in zip(before[~good], after[~good], strict=True):
        missing = [i for i in task.support if not w0[i]]
        expected = np.zeros(n)
        if len(missing) == 1:  # Lemma 9: only the missing coordinate has a gradient
            expected[missing] = np.abs(w1[missing])
            np.testing.assert_allclose(np.abs(w1[missing]), 1 / (2 * k), atol=tolerance)
        np.testing.assert_allclose(np.abs(w1), expected, atol=tolerance)


def test_after_the_first_step_the_output_layer_moves_alone():
    task = el.tasks.Parity(n=12, k=2)
    model = el.models.MLP(width=64, init=el.inits.SymmetricSparse(9, complete=True))
    one, many = (
        el.run(el.Experiment(task, model, layerwise(2000, 1.5, second_rate=0.3, steps=t)), seed=0)
        for t in (1, 200)
    )
    for a, b in zip(one.params.layers[0], many.params.layers[0], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.params.layers[1].weight, one.initial.layers[1].weight)
    assert many.train_loss < one.train_loss


def test_theorem_21_finds_the_rest_of_the_support_from_part_of_it():
    """Lemma 20: in a neuron that holds part of the support only the rest has a large gradient."""
    n, k, s = 14, 4, 2
    task = el.tasks.Parity(n=n, k=k, support=(1, 4, 8, 11))
    large = 0.5 * majority.half(s, s) * majority.coefficient(n - s, k - s - 1, ties=0.0)
    small = 0.5 * majority.half(s, s) * majority.coefficient(n - s, k - s + 1, ties=0.0)
    assert abs(small) < abs(large) / 3
    epsilon = 0.5 / (n - s)
    training = layerwise(
        200_000,
        epsilon / (2 * k * abs(large)),
        first_decay=1 - epsilon / (2 * k),
        truncate=(abs(small) + abs(large)) / 2,
    )
    model = el.models.MLP(width=400, init=el.inits.PerturbedSparse(s))
    run = el.run(el.Experiment(task, model, training), seed=0)
    before, after = neurons(run)
    signs = np.asarray(run.initial.layers[1].weight)[:, 0]
    chosen = before == 1
    good = ~chosen[:, [i for i in range(n) if i not in task.support]].any(axis=1)
    good &= signs * np.sign(large) > 0
    assert good.sum() >= 5
    for w0, w1 in zip(chosen[good], after[good], strict=True):
        expected = np.full(n, epsilon**2 / (2 * k))
        expected[list(task.support)] = epsilon / (2 * k)
        rest = [i for i in task.support if not w0[i]]
        expected[rest] += epsilon**2 / (2 * k)
        np.testing.assert_allclose(w1, expected, rtol=0.1)


def sparse_run(training, seed=0, width=32, n=12):
    model = el.models.MLP(width=width, init=el.inits.SymmetricSparse(9, complete=True, offset=0.5))
    return el.run(el.Experiment(el.tasks.Parity(n=n, k=2), model, training), seed=seed)


def test_a_large_first_step_is_the_step_on_the_whole_training_set():
    """Drawn in blocks of 1,024 rows, of which the last is not full."""
    small = {"test_samples": 250}
    whole = sparse_run(layerwise(3000, 1.5, **small))
    blocks = sparse_run(layerwise(3000, 1.5, batch=16, **small))
    for a, b in zip(whole.params.layers[0], blocks.params.layers[0], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    assert np.abs(whole.params.layers[0].weight - whole.initial.layers[0].weight).max() > 0.1


def test_theorem_5_5_forgets_the_second_layer_and_keeps_the_output_bias():
    training = layerwise(
        2000,
        1.0,
        bias_rate=1.0,
        resets_output=True,
        second_rate=0.1,
        output="layers.1.weight",
        batch=16,
        is_fresh=True,
        test_samples=250,
    )
    one, two = (sparse_run(replace(training, steps=t)) for t in (1, 2))
    np.testing.assert_array_equal(one.params.layers[1].weight, 0.0)
    assert np.abs(one.params.layers[0].bias - one.initial.layers[0].bias).max() > 0
    assert np.abs(two.params.layers[1].weight).max() > 0
    np.testing.assert_array_equal(two.params.layers[1].bias, 0.0)
    np.testing.assert_array_equal(two.params.layers[0].bias, one.params.layers[0].bias)


def test_lemma_14_descends_at_one_over_lambda_t_with_coupled_decay():
    """Two steps of the second layer by hand, on the whole sample."""
    decay = 0.1
    training = layerwise(500, 1.0, second_decay=decay, is_strongly_convex=True, test_samples=250)
    one, two, three = (sparse_run(replace(training, steps=t)) for t in (1, 2, 3))
    x, y = el.training.source.rows(
        el.tasks.Parity(n=12, k=2),
        el.training.source.keys_for(el.tasks.Parity(n=12, k=2), 0).data,
        jnp.arange(500, dtype=jnp.uint32),
    )
    h = np.maximum(x @ one.params.layers[0].weight + one.params.layers[0].bias, 0)
    u, b = np.asarray(one.params.layers[1].weight)[:, 0], 0.0
    for t, run in ((1, two), (2, three)):
        is_wrong = y * (h @ u + b) < 1
        g, gb = -(h.T @ (y * is_wrong)) / 500, -np.mean(y * is_wrong)
        u, b = u - (g + decay * u) / (decay * t), b - (gb + decay * b) / (decay * t)
        np.testing.assert_allclose(run.params.layers[1].weight[:, 0], u, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(run.params.layers[1].bias[0], b, rtol=1e-3, atol=1e-4)


def test_truncation_of_a_group_ends_with_it():
    """Footnote 4 truncates the first step; the gradients after it are smaller than its size."""
    groups = (Group("layers.0", 1.0, stop=1, truncate=0.3), Group("layers.1", 1.0, start=1))
    training = el.Training(learning_rate=0.0, groups=groups)
    params = sparse_run(layerwise(50, 1.0, test_samples=250)).initial
    grads = jax.tree.map(lambda p: jnp.full_like(p, 0.2), params)
    for t, first, second in ((0, 0.0, 0.0), (1, 0.0, 0.2)):
        moved, _ = updates.update(
            training, grads, updates.init(training, params), params, jnp.int32(t)
        )
        change = jax.tree.map(lambda a, b: np.abs(b - a).max(), moved, params)
        np.testing.assert_allclose(change.layers[0].weight, first, atol=1e-6)
        np.testing.assert_allclose(change.layers[1].weight, second, atol=1e-6)


def flops(training, n=64, width=256):
    """Floating-point operations of one compiled step, as XLA counts them."""
    model, task = el.models.MLP(width=width), el.tasks.Parity(n=n, k=2)
    keys = el.training.source.keys_for(task, 0)
    params = model.init_params(keys.init, task)
    state = step.State(params, updates.init(training, params), jnp.int32(5))
    batch = task.sample(keys.data, 32)

    def advance(state):
        return step.updated(model, training, keys, state, batch, is_full=False)

    return jax.jit(advance).lower(state).compile().cost_analysis()["flops"]


def test_a_frozen_layer_is_not_differentiated():
    free = flops(el.Training(batch=32))
    frozen = flops(el.Training(batch=32, groups=(Group("layers.0", 0.0),)))
    assert frozen < 0.6 * free
    # An optimiser with a memory, and a norm over all gradients, need them all.
    for changes in ({"optimizer": "adam"}, {"clip": 1.0}):
        training = el.Training(batch=32, groups=(Group("layers.0", 0.0),), **changes)
        params = el.models.MLP(width=4).init_params(jax.random.key(0), el.tasks.Parity(n=5, k=2))
        assert not updates.frozen_names(training, params, 0)


def test_phases_are_told_apart_only_where_they_differ():
    params = el.models.MLP(width=4).init_params(jax.random.key(0), el.tasks.Parity(n=5, k=2))
    same = (Group("layers.0", 0.5, stop=3), Group("layers.1", 0.1, start=2))
    assert len(step.phases(el.Training(groups=same), params)) == 1
    hidden, both = (
        phase.frozen for phase in step.phases(layerwise(9, 1.0, second_rate=0.1, batch=2), params)
    )
    assert hidden == {"layers.0.bias", "layers.1.weight", "layers.1.bias"}
    assert both == {"layers.0.weight", "layers.0.bias"}


def test_a_frozen_layer_does_not_move_and_the_rest_moves_as_before():
    """Against rates so small that nothing is frozen when compiled and nothing moves."""
    common = {"steps": 50, "batch": 16, "test_samples": 250, "samples": 200}
    off, tiny = (
        sparse_run(el.Training(groups=(Group("layers.0", rate),), **common))
        for rate in (0.0, 1e-30)
    )
    for a, b in zip(jax.tree.leaves(off.params), jax.tree.leaves(tiny.params), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_the_inverse_schedule_counts_from_its_start():
    counts = [float(Inverse(start=1)(jnp.float32(t), 10)) for t in (0, 1, 2, 4)]
    np.testing.assert_allclose(counts, [1, 1, 1 / 2, 1 / 4])


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: el.Training(samples=100, first_batch=200), "at most all samples, 100; got 200"),
        (lambda: el.Training(samples=100, batch=None, first_batch=50), "needs no first_batch"),
        (lambda: el.Training(first_batch=0), "first_batch counts the examples of step 0"),
        (lambda: Group("layers.0", decay="strong"), "decay"),
        (lambda: Group("layers.0", truncate=-1.0), "truncate is the size of a small gradient"),
        (lambda: layerwise(100, 1.0, is_fresh=True), "fresh examples come in batches"),
        (lambda: layerwise(100, 1.0, is_strongly_convex=True), "second_decay sets the rate"),
        (lambda: Inverse(start=-1), "start"),
        (
            lambda: el.Training(optimizer="adamw", groups=(Group("layers.0", decay="shrink"),)),
            "has a form of its own",
        ),
    ],
)
def test_recipes_that_make_no_sense_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
