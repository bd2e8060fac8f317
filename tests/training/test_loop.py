"""The engine against plain NumPy, and its promise that a record depends on (experiment, seed)."""

import jax
import numpy as np
import pytest
from tests.references import hinge_gradient, mlp

import elegans as el
from elegans.keys import keys_of
from elegans.probes import SupNormPath, SupportShare
from elegans.training import loop, program, step
from elegans.training import source as data
from elegans.training.loop import Job, train

TASK = el.tasks.Parity(n=10, k=2)
MODEL = el.models.MLP(width=12)
TRAINING = el.Training(
    samples=200, steps=60, batch=8, learning_rate=0.3, weight_decay=0.02, evaluate_every=25
)
EXPERIMENT = el.Experiment(task=TASK, model=MODEL, training=TRAINING)


def as_numpy(layers):
    return [tuple(np.asarray(a, np.float64) for a in layer) for layer in layers]


def sgd(run, batches):
    """The parameters after SGD on the given batches, by hand in double precision."""
    params = as_numpy(run.initial.layers)
    rate, decay = run.experiment.training.learning_rate, run.experiment.training.weight_decay
    for x, y in batches:
        grads = hinge_gradient(params, x, y)
        params = [
            tuple(p - rate * (g + decay * p) for p, g in zip(layer, grad, strict=True))
            for layer, grad in zip(params, grads, strict=True)
        ]
    return params


def assert_close(got, expected):
    for layer, reference in zip(got, expected, strict=True):
        for a, b in zip(layer, reference, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)  # float32, 60 steps


def test_sgd_is_that_of_plain_numpy_number_for_number():
    run = el.run(EXPERIMENT, seed=4)
    drawn = data.batches(TASK, TRAINING, keys_of(4), jax.numpy.arange(60))
    x, y = (np.asarray(part, np.float64) for part in drawn)
    assert_close(run.params.layers, sgd(run, zip(x, y, strict=True)))


def test_full_batch_descent_uses_every_row_once_in_each_step(monkeypatch):
    experiment = EXPERIMENT.varied({"training.batch": None, "training.steps": 20})
    rows = data.rows(TASK, keys_of(1).data, jax.numpy.arange(200, dtype="uint32"))
    x, y = (np.asarray(part, np.float64) for part in rows)
    run = el.run(experiment, seed=1)
    expected = sgd(run, [(x, y)] * 20)
    assert_close(run.params.layers, expected)
    monkeypatch.setattr(step, "BLOCK_ROWS", 64)  # 200 rows are three blocks and a rest
    jax.clear_caches()
    assert_close(el.run(experiment, seed=1).params.layers, expected)
    jax.clear_caches()


def test_errors_are_those_of_the_trained_network_on_the_virtual_rows():
    run = el.run(EXPERIMENT, seed=2)
    params, keys = as_numpy(run.params.layers), keys_of(2)
    for key, size, error in (
        (keys.data, 200, run.train_error),
        (keys.test, 10_000, run.test_error),
    ):
        x, y = data.rows(TASK, key, jax.numpy.arange(size, dtype="uint32"))
        np.testing.assert_allclose(error, np.mean(mlp(params, x) * np.asarray(y) <= 0), atol=1e-9)
    assert list(run.history.step) == [0, 25, 50, 60]
    assert list(run.history.test_rows) == [1000, 1000, 1000, 10_000]
    assert run.history.test_error.iloc[-1] == run.test_error
    assert run.success is None
    assert (run.status, run.steps) == ("done", 60)


JOBS = [
    Job(i, EXPERIMENT.varied({"training.learning_rate": rate}), seed)
    for i, (rate, seed) in enumerate([(0.3, 0), (0.1, 0), (0.3, 1), (0.05, 2), (0.3, 3)])
]


def records(jobs, lanes):
    return {
        i: jax.tree.leaves((run.arrays["params"], run.arrays["history"], run.test_error))
        for i, run in train(jobs, lanes=lanes)
    }


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_record_does_not_depend_on_neighbours_order_or_lane(lanes):
    reference = records(JOBS, lanes)
    assert set(reference) == {0, 1, 2, 3, 4}
    shuffled = records([JOBS[i] for i in (4, 2, 0, 3, 1)], lanes)
    alone = records(JOBS[2:3], lanes)
    for others in (shuffled, alone):
        for i, record in others.items():
            for a, b in zip(record, reference[i], strict=True):
                np.testing.assert_array_equal(a, b)


def test_lanes_compute_what_one_run_computes():
    for i, leaves in records(JOBS, 3).items():
        single = records(JOBS, 1)[i]
        np.testing.assert_allclose(leaves[0], single[0], rtol=1e-3, atol=1e-4)


def test_numbers_are_swept_without_compiling_anew():
    el.run(EXPERIMENT, seed=0)
    before = program.advance_and_look._cache_size()
    for changes in (
        {"training.learning_rate": 0.01},
        {"training.samples": 77},
        {"training.steps": 30},
        {"training.weight_decay": 0.5},
        {"model.init": el.inits.Sparse(2)},
    ):
        el.run(EXPERIMENT.varied(changes), seed=1)
    assert program.advance_and_look._cache_size() == before


def test_early_stop_succeeds_on_the_whole_test_set_alone():
    experiment = EXPERIMENT.varied(
        {"training.stop": el.Stop(0.1), "training.steps": 5000, "training.learning_rate": 0.05}
    )
    run = el.run(experiment, seed=0)
    assert run.success is True
    assert run.steps < 5000
    assert run.test_error <= 0.1
    assert run.history.test_rows.iloc[-1] == 10_000
    assert (run.history.test_error.iloc[:-1] > 0.1).all()
    hopeless = el.run(experiment.varied({"training.steps": 25}), seed=0)
    assert hopeless.success is False
    assert hopeless.steps == 25


def test_divergence_is_a_status_and_not_an_exception():
    experiment = EXPERIMENT.varied(
        {"training.learning_rate": 1e30, "training.loss": "square", "training.stop": el.Stop(0.1)}
    )
    run = el.run(experiment, seed=0)
    assert run.status == "diverged"
    assert run.success is False
    assert run.steps == 25
    assert not np.isfinite(np.asarray(run.params.layers[0].weight)).all()
    assert run.test_error == 1


def test_probes_look_inside_at_each_evaluation():
    run = el.run(EXPERIMENT, seed=0, probes=[SupportShare(), SupNormPath()])
    weight = np.asarray(run.params.layers[0].weight, float) ** 2
    np.testing.assert_allclose(
        run.probes["SupportShare"][-1], weight[:2].sum() / weight.sum(), rtol=1e-5
    )
    distance = run.probes["SupNormPath"]
    assert distance.shape == (4,)
    assert distance[0] == 0
    assert distance[-1] > distance[1] > 0


def test_online_training_has_no_training_set_to_err_on():
    run = el.run(EXPERIMENT.varied({"training.samples": None}), seed=0)
    assert np.isnan(run.train_error)
    assert run.history.test_error.notna().all()


def test_a_million_rows_cost_no_memory():
    """The bytes that JAX holds at each evaluation are those of a hundred rows."""

    def held(samples):
        sizes = []

        def watch(row):
            sizes.append(sum(array.nbytes for array in jax.live_arrays()))

        el.run(EXPERIMENT.varied({"training.samples": samples}), seed=0, watch=watch)
        return max(sizes)

    before = sum(array.nbytes for array in jax.live_arrays())
    small = held(100) - before
    assert small > 0
    assert held(1_000_000) - before <= small


def test_a_seed_that_is_no_count_is_refused():
    with pytest.raises(ValueError, match=r"seed numbers a run.*got -1"):
        el.run(EXPERIMENT, seed=-1)


def test_watching_sees_every_row_of_the_history():
    rows = []
    run = el.run(EXPERIMENT, seed=0, watch=rows.append)
    assert [row["step"] for row in rows] == list(run.history.step)
    assert set(rows[0]) == set(loop.CURVES)


def test_watching_does_not_change_when_a_run_stops_by_a_negative_loss():
    training = el.Training(
        loss="correlation",
        steps=60,
        samples=100,
        evaluate_every=10,
        test_samples=1_000,
        screen_rows=200,
        stop=el.Stop(test_error=None, test_loss=-0.2),
    )
    experiment = el.Experiment(el.tasks.Parity(6, 1), el.models.MLP(width=8), training)
    alone, watched = el.run(experiment), el.run(experiment, probes=[el.probes.parameters])
    assert alone.success
    assert alone.steps == watched.steps < 60
    np.testing.assert_array_equal(alone.history, watched.history)
