"""Training sets that only one conjunction fits, and restarts that keep them."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import elegans as el
from elegans.keys import keys_of
from elegans.learners.conjunctions import consistent_conjunctions
from elegans.models.transformers.classifier_params import NormalInit
from elegans.tasks.unique_conjunction import fit_count
from elegans.training import compile_count, program

pytestmark = pytest.mark.usefixtures("cheap_compilation")

TASK = el.tasks.UniqueConjunction(8, 2, p=0.7, samples=9, rows=16, test_rows=200)


def fitting(x, y, k):
    """All conjunctions of k bits that fit, by trying each on each row."""
    sets = itertools.combinations(range(x.shape[1]), k)
    return [
        s for s in sets if all(all(row[i] for i in s) == t for row, t in zip(x, y, strict=True))
    ]


def test_counting_agrees_with_brute_force_and_with_the_search_of_the_learners():
    rng = np.random.default_rng(0)
    counts = []
    for _ in range(40):
        x = rng.random((6, 7)) < 0.75
        y = x[:, :2].all(axis=1)
        answer = fitting(x, y, 2)
        assert fit_count(x, y, 2, most=100) == len(answer)
        assert consistent_conjunctions(x, y, 2) == answer
        counts.append(len(answer))
    assert min(counts) == 1 < max(counts)  # both kinds of sets have been counted


def test_ambiguous_training_sets_are_rejected_and_redrawn():
    first_draws, stored = [], []
    for seed in range(12):
        key = keys_of(seed).data
        first = TASK.sample(jax.random.fold_in(key, 0), TASK.rows)
        table = TASK.stored(key)
        assert table.x.shape == (16 + 200, 8)
        for batch, counts in ((first, first_draws), (table, stored)):
            x, y = np.asarray(batch.x[:9]) < 0, np.asarray(batch.y[:9]) < 0
            counts.append(len(fitting(x, y, 2)))
    assert max(first_draws) > 1
    assert set(stored) == {1}


def test_restarts_keep_the_data_change_the_init_and_compile_nothing():
    model = el.models.TransformerClassifier(heads=1, dim=4)
    training = el.Training(
        loss="logistic", optimizer="adam", learning_rate=0.01, batch=8, steps=2, test_samples=50
    )
    experiments = [
        el.Experiment(
            TASK,
            el.models.TransformerClassifier(
                heads=1, dim=4, init=el.inits.Restart(NormalInit(), number)
            ),
            training,
        )
        for number in (0, 1, 2)
    ]
    initial = [e.model.init_params(keys_of(3).init, e.task) for e in experiments]
    tokens = [np.asarray(params.embedding.tokens) for params in initial]
    assert not np.allclose(tokens[0], tokens[1])
    assert not np.allclose(tokens[1], tokens[2])
    again = experiments[1].model.init_params(keys_of(4).init, TASK)
    assert not np.allclose(tokens[1], again.embedding.tokens)  # trials do not share their inits
    tables = [e.task.stored(keys_of(3).data) for e in experiments]
    assert all(jnp.array_equal(tables[0].x, table.x) for table in tables)
    runs = [el.run(experiments[0], seed=3)]
    compiled = compile_count(), program.begin._cache_size()
    runs += [el.run(e, seed=3) for e in experiments[1:]]
    assert (compile_count(), program.begin._cache_size()) == compiled  # of steps, and of the init
    assert len({run.test_loss for run in runs}) == 3
    assert model.body == experiments[1].model.body


def test_what_cannot_be_drawn_is_refused_by_name():
    with pytest.raises(ValueError, match=r"samples counts rows in use, so it is in 1..16; got 17"):
        el.tasks.UniqueConjunction(8, 2, samples=17, rows=16)
    with pytest.raises(ValueError, match=r"support holds coordinates of the input"):
        el.tasks.UniqueConjunction(8, 2, support=(1, 8))
    with pytest.raises(ValueError, match=r"each of 1,000 training sets fits several"):
        el.tasks.UniqueConjunction(8, 2, p=1.0, samples=1, rows=1).stored(keys_of(0).data)
