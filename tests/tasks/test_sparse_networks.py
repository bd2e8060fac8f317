"""Tasks labelled by sparsely activated networks: labels, sparsity, and one key per row."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.brute_force import cube

from elegans.models import MLP
from elegans.tasks import LearningWithRounding, LiftedParity, SparseNetwork, sparse_networks

TASKS = [
    SparseNetwork(n=9, b=2, k=2),
    LiftedParity(m=4, k=3, support=(0, 2, 3)),
    LearningWithRounding(m=2, q=5),
    LearningWithRounding(m=3, q=4, p=3, rule="modulus", lifted=False),
]


def active(params, x):
    weight, bias = params.layers[0]
    return (np.asarray(x) @ np.asarray(weight) + np.asarray(bias) > 1e-5).sum(axis=1)


@pytest.mark.parametrize("task", TASKS)
def test_samples_are_drawn_from_the_population(task):
    whole = task.population()
    known = {tuple(x): y for x, y in zip(np.asarray(whole.x), np.asarray(whole.y), strict=True)}
    assert len(known) == len(whole.y)
    batch = task.sample(jax.random.key(0), 50)
    assert batch.x.shape == (50, task.features)
    for x, y in zip(np.asarray(batch.x), np.asarray(batch.y), strict=True):
        assert known[tuple(x)] == pytest.approx(y, abs=1e-5)


@pytest.mark.parametrize("task", TASKS)
def test_an_example_is_a_function_of_its_key_under_vmap_and_jit(task):
    sparse_networks.teacher.cache_clear()  # the first call is the one under jit
    keys = jax.random.split(jax.random.key(1), 3)
    together = jax.jit(jax.vmap(lambda key: task.sample(key, 2)))(keys)
    alone = task.sample(keys[1], 2)
    np.testing.assert_allclose(together.x[1], alone.x)
    np.testing.assert_allclose(together.y[1], alone.y, atol=1e-5)


@pytest.mark.parametrize("n, b, k", [(6, 1, 1), (8, 2, 1), (9, 2, 2), (8, 1, 3)])
def test_the_teacher_has_k_active_neurons_at_most_and_uses_them_all(n, b, k):
    task = SparseNetwork(n=n, b=b, k=k, seed=3)
    params = task.teacher()
    counts = active(params, cube(n))
    assert counts.max() == k
    assert params.layers[0].bias.shape == (task.s,) == (k * 2**b,)
    values = MLP(width=task.s).apply(params, jnp.asarray(cube(n), jnp.float32))
    np.testing.assert_allclose(values, task.population().y, atol=1e-5)
    dense = SparseNetwork(n=n, b=b, k=k, seed=3, dense=True)
    assert active(dense.teacher(), cube(n)).max() > k


def test_noise_and_flips_are_what_they_say():
    key = jax.random.key(0)
    clean, noisy = (SparseNetwork(n=8, b=2, noise=s).sample(key, 4000) for s in (0.0, 0.5))
    np.testing.assert_array_equal(clean.x, noisy.x)
    assert np.std(noisy.y - clean.y) == pytest.approx(0.5, rel=0.1)
    task = LiftedParity(m=5, k=2, flip=0.25)
    batch = task.sample(key, 4000)
    assert np.mean(batch.y != task.label(batch.x)) == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize("rule", ["rounding", "modulus"])
@pytest.mark.parametrize("m, q, p", [(2, 5, 2), (2, 6, 3), (3, 3, 3)])
def test_rounding_is_labelled_by_its_one_sparse_teacher(m, q, p, rule):
    task = LearningWithRounding(m=m, q=q, p=p, seed=2, rule=rule)
    whole = task.population()
    rows = np.arange(q**m)[:, None] // q ** np.arange(m) % q
    residue = rows @ np.array(task.secret) % q
    expected = residue * p // q if rule == "rounding" else residue % p
    np.testing.assert_array_equal(whole.y, expected)
    params = task.teacher()
    values = MLP(width=params.layers[0].bias.shape[0]).apply(params, whole.x)
    np.testing.assert_allclose(values, expected, atol=1e-2)
    assert active(params, whole.x).max() <= 1


def test_refusals_show_the_values():
    with pytest.raises(ValueError, match=r"SparseNetwork\(n=4, b=2, k=2.*n counts"):
        SparseNetwork(n=4, b=2, k=2)
    with pytest.raises(ValueError, match="rule is one of"):
        LearningWithRounding(m=2, q=5, rule="round")
    with pytest.raises(ValueError, match="support holds 2 distinct"):
        LiftedParity(m=5, k=2, support=(1, 1))
