"""The idealised algorithms: after one step the relevant coordinates stand out, as proved."""

import numpy as np

import elegans as el
from elegans.theory.boolean import majority
from elegans.training.layerwise import layerwise


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
