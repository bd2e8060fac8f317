"""Tables of real data as tasks, on made-up files: reading, splits, and training on the engine."""

from dataclasses import replace

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from sklearn import datasets

import elegans as el
from elegans.keys import keys_of
from elegans.tasks.tables import openml, tabular
from elegans.training import program
from elegans.training import source as data
from elegans.training.loop import Job, train

ROWS, COLUMNS = 203, 5


def write(directory, name, rows=ROWS, columns=COLUMNS, **changes):
    """A table whose label is a function of two columns; column 3 is constant, column 4 the row."""
    generator = np.random.default_rng(len(name))
    x = generator.normal(3, 7, (rows, columns)).astype(np.float32)
    x[:, 3], x[:, 4] = 1.1, np.arange(rows)
    y = ((x[:, 0] - 3) * (x[:, 1] - 3) > 0).astype(np.int8)
    names = np.array([f"f{i}" for i in range(columns)])
    parts = {"X": x, "y": y, "feature_names": names} | changes
    np.savez(directory / f"{name}.npz", **{k: v for k, v in parts.items() if v is not None})


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    """No directory from the environment, and nothing kept from another test."""
    monkeypatch.delenv("ELEGANS_DATA", raising=False)
    tabular.rows_of.cache_clear()


@pytest.fixture
def directory(tmp_path):
    write(tmp_path, "pol")
    return tmp_path


def recipe(**changes):
    fields = {"learning_rate": 0.01, "batch": 16, "steps": 60, "evaluate_every": 30}
    return el.Training(loss="hinge", optimizer="adam", **(fields | changes))


def rows_of(examples, task):
    """The numbers of rows, from the column that holds them."""
    x = task.table.x[:, 4].astype(np.float64)
    return np.rint(np.asarray(examples)[:, 4].astype(np.float64) * x.std() + x.mean()).astype(int)


def test_the_suite_is_table_1_of_the_paper():
    suite = el.tasks.tabular.suite()
    assert len(suite) == 16
    assert [entry.task for entry in suite.values()] == list(range(1, 17))
    assert len({entry.data_id for entry in suite.values()}) == 16
    assert suite["bioresponse"] == openml.Entry(14, "Bioresponse", 45019, 419, 3434)


def test_a_table_is_read_from_a_directory_given_or_in_the_environment(directory, monkeypatch):
    task = el.tasks.tabular.load("POL", directory)
    assert task == el.tasks.Tabular("pol", directory=str(directory), rows=ROWS)
    assert (task.n, task.features, task.labels) == (COLUMNS, COLUMNS, "sign")
    assert task.table.feature_names == ("f0", "f1", "f2", "f3", "f4")
    monkeypatch.setenv("ELEGANS_DATA", str(directory))
    assert el.tasks.tabular.load("pol") == el.tasks.Tabular("pol", rows=ROWS)


def test_a_table_is_exact_when_its_shape_is_that_of_the_paper(directory):
    assert not el.tasks.tabular.load("pol", directory).is_exact
    write(directory, "eye_movements", rows=7608, columns=20)
    assert el.tasks.tabular.load("eye_movements", directory).is_exact


def test_a_record_of_a_part_is_not_taken_for_one_of_the_whole(directory):
    with pytest.raises(ValueError, match=r"rows=10082.*the table here has 203 rows"):
        _ = el.tasks.Tabular("pol", directory=str(directory), rows=10082).features


def test_an_unknown_name_is_refused_with_the_sixteen():
    with pytest.raises(ValueError, match=r"name is one of credit, .*heloc; got 'iris'"):
        el.tasks.tabular.load("iris")


@pytest.mark.parametrize("fraction", [0, -0.1, 1.5, float("nan")])
def test_a_fraction_that_is_none_is_refused(fraction):
    with pytest.raises(ValueError, match="fraction"):
        el.tasks.Tabular("pol", fraction)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"y": None}, "has no y"),
        ({"y": np.arange(ROWS)}, "labels are 0 and 1"),
        ({"y": np.zeros(4)}, "a row for each label"),
        ({"feature_names": np.array(["a"])}, "and 1 names"),
        ({"X": np.full((ROWS, COLUMNS), np.nan)}, "finite numbers; they are not in f0, f1"),
    ],
)
def test_a_broken_file_is_refused_by_name(tmp_path, changes, message):
    write(tmp_path, "pol", **changes)
    with pytest.raises(ValueError, match=rf"pol\.npz.*{message}"):
        el.tasks.tabular.load("pol", tmp_path)


def test_a_file_that_is_no_npz_is_refused(tmp_path):
    (tmp_path / "pol.npz").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(ValueError, match=r"pol\.npz is not an npz file"):
        el.tasks.tabular.load("pol", tmp_path)


def test_a_missing_file_says_what_to_do_and_does_not_go_to_the_network(directory, monkeypatch):
    monkeypatch.setattr(datasets, "fetch_openml", lambda **_: pytest.fail("asked OpenML"))
    with pytest.raises(openml.MissingData, match=r"no .*heloc\.npz.*directory=.*ELEGANS_DATA"):
        el.tasks.tabular.load("heloc", directory)


def test_without_network_the_error_says_what_to_do(monkeypatch):
    def no_network(**_):
        raise OSError("Name or service not known")

    monkeypatch.setattr(datasets, "fetch_openml", no_network)
    with pytest.raises(
        openml.MissingData, match=r"OpenML \(data set 45026\).*not known.*directory=.*connect"
    ):
        el.tasks.tabular.load("heloc")


def frame(rows, columns):
    """What scikit-learn returns for a data set of OpenML."""
    import pandas as pd
    from sklearn.utils import Bunch

    x = np.arange(rows * columns, dtype=float).reshape(rows, columns)
    target = pd.Series(["N", "P"] * (rows // 2), dtype="category")
    return Bunch(data=pd.DataFrame(x, columns=[f"c{i}" for i in range(columns)]), target=target)


def test_a_table_of_openml_has_signs_by_the_order_of_its_classes(monkeypatch):
    asked = {}
    monkeypatch.setattr(datasets, "fetch_openml", lambda **k: asked.update(k) or frame(7608, 20))
    task = el.tasks.tabular.load("eye_movements")
    assert asked["data_id"] == 44130
    assert task.is_exact
    np.testing.assert_array_equal(task.population().y[:4], [-1, 1, -1, 1])


def test_another_data_set_of_openml_is_refused(monkeypatch):
    monkeypatch.setattr(datasets, "fetch_openml", lambda **_: frame(10, 3))
    with pytest.raises(ValueError, match=r"44130 is not 'eye_movements'.*7608 x 20.*got 10 x 3"):
        el.tasks.tabular.load("eye_movements")


def test_columns_are_standardised_and_constant_ones_are_zero(directory):
    x, y = el.tasks.tabular.load("pol", directory).population()
    np.testing.assert_allclose(np.mean(x, axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(np.std(x, axis=0), [1, 1, 1, 0, 1], atol=1e-6)
    assert set(np.asarray(y).tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize("fraction, train_rows", [(1.0, 183), (0.1, 18), (0.01, 2), (1e-4, 1)])
def test_a_tenth_is_for_testing_and_a_fraction_of_the_rest_for_training(
    directory, fraction, train_rows
):
    task = el.tasks.tabular.load("pol", directory, fraction)
    assert task.sizes == (train_rows, 20)
    first, second = (task.split(keys_of(seed).data) for seed in (0, 1))
    assert (len(first.train.x), len(first.test.x)) == (train_rows, 20)
    rows = set(rows_of(first.train.x, task)) | set(rows_of(first.test.x, task))
    assert len(rows) == train_rows + 20
    assert set(rows_of(first.test.x, task)) != set(rows_of(second.test.x, task))


def test_the_rows_of_the_engine_are_those_of_the_split(directory):
    task = el.tasks.tabular.load("pol", directory, 0.5)
    key = keys_of(3).data
    table, split = task.stored(key), task.split(key)
    train_rows = data.taken(table, jnp.arange(task.sizes.train, dtype=jnp.uint32))
    test_rows = data.taken(table, jnp.arange(task.sizes.test, dtype=jnp.uint32), is_test=True)
    np.testing.assert_array_equal(train_rows.x, split.train.x)
    np.testing.assert_array_equal(test_rows.x, split.test.x)
    np.testing.assert_array_equal(test_rows.y, split.test.y)


def test_batches_hold_training_rows_alone(directory):
    task = el.tasks.tabular.load("pol", directory, 0.2)
    keys = keys_of(0)
    training = data.resolved(task, recipe())
    assert (training.samples, training.test_samples) == (task.sizes.train, 20)
    drawn = data.batches(task, training, keys, jnp.arange(40), task.stored(keys.data))
    used = set(rows_of(np.asarray(drawn.x).reshape(-1, COLUMNS), task))
    assert used == set(rows_of(task.split(keys.data).train.x, task))


def test_a_sample_is_of_rows_of_the_table(directory):
    task = el.tasks.tabular.load("pol", directory)
    x, _ = task.sample(jr.key(0), 50)
    assert set(rows_of(x, task)) <= set(range(ROWS))


def experiment(directory, **changes):
    task = el.tasks.tabular.load("pol", directory)
    return el.Experiment(task, el.models.MLP(width=8, init=el.inits.Sparse(2)), recipe(**changes))


def test_a_network_learns_and_its_reported_errors_are_those_of_its_rows(directory):
    base = experiment(directory, steps=600)
    run = el.run(base, seed=2)
    split = base.task.split(keys_of(2).data)
    for examples, error in ((split.train, run.train_error), (split.test, run.test_error)):
        predictions = np.asarray(base.model.apply(run.params, jnp.asarray(examples.x)))
        assert error == pytest.approx(np.mean(predictions * examples.y <= 0), abs=1e-6)
    assert run.train_error < 0.2
    assert list(run.history["test_rows"]) == [20] * len(run.history)


def test_a_full_batch_is_every_training_row(directory):
    run = el.run(experiment(directory, batch=None, samples=183, steps=20))
    assert run.status == "done"
    with pytest.raises(ValueError, match=r"has 183 rows to train on.*None.*got 184"):
        experiment(directory, samples=184)


def test_runs_with_other_seeds_and_fractions_share_a_compilation(directory):
    base = experiment(directory)
    tasks = [el.tasks.tabular.load("pol", directory, f) for f in (1.0, 0.5)]
    jobs = [
        Job(i, replace(base, task=task), seed)
        for i, (task, seed) in enumerate([(tasks[0], 0), (tasks[0], 1), (tasks[1], 1)])
    ]
    ((_, alone),) = train(jobs[:1])
    before = program.advance_and_look._cache_size()
    runs = dict(train(jobs))
    assert program.advance_and_look._cache_size() == before
    assert runs[0].test_loss == alone.test_loss
    assert len({run.test_loss for run in runs.values()}) == 3


def test_a_run_is_the_same_in_lanes_that_are_refilled(directory):
    base = experiment(directory)
    jobs = [Job(i, base, i) for i in range(5)]
    runs = dict(train(jobs, lanes=2))
    ((_, again),) = train(jobs[4:], lanes=2)
    np.testing.assert_array_equal(runs[4].history["test_loss"], again.history["test_loss"])


def test_a_sweep_gives_the_same_in_this_process_and_in_workers(directory):
    sweep = el.Sweep(experiment(directory), over={"task.fraction": [1.0, 0.3]}, seeds=range(2))
    here = sweep.run(workers=0, progress=False).drop(columns="seconds")
    there = sweep.run(workers=1, progress=False).drop(columns="seconds")
    assert (here["status"] == "done").all()
    assert here.equals(there)


def test_an_experiment_survives_json_and_names_its_fraction_and_rows(directory):
    base = experiment(directory)
    assert el.Experiment.from_json(base.to_json()) == base
    assert base.varied({"task.fraction": 0.5}).name != base.name
    assert hash(base.task) == hash(el.tasks.tabular.load("pol", directory))
