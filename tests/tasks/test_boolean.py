"""Boolean tasks against their definitions, written out over the whole cube."""

import itertools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from tests.references import walsh

from elegans import tasks

KEY = jr.key(0)
TASKS = [
    tasks.Parity(7, 3),
    tasks.Parity(7, 2, flip=0.2, support=(5, 1)),
    tasks.DisjointParity(6, 3),
    tasks.DisjointParity(6, 2, support=(4, 2)),
    tasks.Conjunction(5, 2, p=0.7),
    tasks.Disjunction(5, 2),
    tasks.SparseMajority(7, 3, support=(6, 0, 3)),
    tasks.Junta(5, (1, -1, -1, -1, 1, 1, 1, -1), support=(4, 0, 2)),
]


@pytest.mark.parametrize("n, k", [(1, 1), (5, 2), (7, 7)])
def test_the_spectrum_is_one_on_the_support_and_zero_elsewhere(n, k):
    y = np.asarray(tasks.Parity(n, k).population().y)
    np.testing.assert_array_equal(walsh(n) @ y / 2**n, np.arange(2**n) == 2**k - 1)


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_samples_are_signs_and_labels_are_those_of_the_population(task):
    x, y = task.sample(KEY, 500)
    assert x.shape == (500, task.n)
    assert x.dtype == y.dtype == jnp.float32
    assert set(np.unique(x)) == set(np.unique(y)) == {-1.0, 1.0}
    rows = ((x < 0) * 2 ** jnp.arange(task.n)).sum(1).astype(int)
    labels = task.population().y[rows]
    np.testing.assert_array_equal(labels, task.label(x))
    wrong = np.mean(labels != y)
    assert abs(wrong - task.flip) < 0.15  # Hoeffding, 500 labels, failure 1e-9
    assert task.flip or not wrong


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_an_example_is_a_function_of_its_key_however_it_is_drawn(task):
    def row(i):
        return task.sample(jr.fold_in(KEY, i), 1)

    together = jax.jit(jax.vmap(row))(jnp.arange(8))
    alone = [row(i) for i in (3, 0, 7)]
    for i, example in zip((3, 0, 7), alone, strict=True):
        np.testing.assert_array_equal(together.x[i], example.x)
        np.testing.assert_array_equal(together.y[i], example.y)


@pytest.mark.parametrize("bits", list(itertools.product([1, -1], repeat=3)))
def test_each_task_is_the_function_that_it_is_named_after(bits):
    x = jnp.asarray([bits], jnp.float32)
    true = [bit < 0 for bit in bits]
    expected = {
        tasks.Parity(3, 3): -1 if sum(true) % 2 else 1,
        tasks.Conjunction(3, 3): -1 if all(true) else 1,
        tasks.Disjunction(3, 3): -1 if any(true) else 1,
        tasks.SparseMajority(3, 3): -1 if sum(true) >= 2 else 1,
        tasks.Junta(3, (1, -1)): bits[0],
        tasks.Junta(3, (1, 1, -1, 1), support=(2, 1)): -1 if true[1] and not true[2] else 1,
    }
    for task, label in expected.items():
        assert task.label(x)[0] == label, task


def test_bits_are_fair_and_independent_or_true_with_probability_p():
    x = np.asarray(tasks.Parity(40, 1).sample(KEY, 20_000).x)
    radius = 5 / 20_000**0.5  # five standard errors of a mean of signs, for 820 means
    assert np.abs(x.mean(0)).max() < radius
    products = x.T @ x / len(x)
    assert np.abs(products - np.eye(40)).max() < radius
    biased = np.asarray(tasks.Conjunction(40, 1, p=0.9).sample(KEY, 20_000).x)
    assert np.abs((biased < 0).mean(0) - 0.9).max() < radius


def test_support_defaults_to_the_first_bits_and_is_known():
    assert tasks.Parity(50, 3).support == (0, 1, 2)
    assert tasks.Parity(50, 3) == tasks.Parity(50, 3, support=(0, 1, 2))
    assert tasks.DisjointParity(12, 3).support == (0, 4, 8)
    assert tasks.Junta(9, (1, -1, 1, 1)).support == (0, 1)


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda: tasks.Parity(3, 5), r"Parity\(n=3, k=5\): k counts relevant bits.*1\.\.3; got 5"),
        (lambda: tasks.Parity(3, 0), r"k counts relevant bits.*got 0"),
        (lambda: tasks.Parity(0, 1), r"n counts the bits.*got 0"),
        (lambda: tasks.Parity(5, 2, support=(1, 1)), r"support holds 2 distinct.*\(1, 1\)"),
        (lambda: tasks.Parity(5, 2, support=(1, 5)), r"support.*0\.\.4; got 5"),
        (lambda: tasks.Parity(5, 2, support=(1, 2, 3)), r"support holds 2 distinct"),
        (lambda: tasks.Parity(5, 2, flip=1.5), r"flip is a probability.*got 1.5"),
        (lambda: tasks.Parity(5, 2, flip=float("nan")), r"flip is a probability.*got nan"),
        (lambda: tasks.Conjunction(5, 2, p=-0.1), r"p is the probability.*got -0.1"),
        (lambda: tasks.DisjointParity(10, 3), r"k divides n; 1 left"),
        (lambda: tasks.DisjointParity(6, 2, support=(0, 1)), r"one bit of each block of 3"),
        (lambda: tasks.SparseMajority(6, 2), r"k is odd; got 2"),
        (lambda: tasks.Junta(5, (1, 1, -1)), r"table has 2\*\*k entries.*got 3"),
        (lambda: tasks.Junta(5, (1, 0)), r"table holds signs"),
        (lambda: tasks.Junta(1, (1, 1, -1, 1)), r"k counts relevant bits.*got 2"),
        (lambda: tasks.Parity(30, 5).population(), r"2\*\*30 inputs.*Use sample"),
    ],
)
def test_bad_tasks_are_refused_by_name_with_the_value(build, message):
    with pytest.raises(ValueError, match=message):
        build()
