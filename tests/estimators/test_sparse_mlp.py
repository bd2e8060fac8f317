"""The estimators for tables, as their users meet them."""

import json
import pickle
import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import elegans as el
from elegans.estimators import SparseMLPClassifier, SparseMLPRegressor, fitting, members

SMALL = {"width": 32, "ensemble": 2, "epochs": 20, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    """A table of 200 rows whose label depends on two of five columns."""
    x = np.random.default_rng(0).normal(size=(200, 5))
    return x, np.where(x[:, 0] * x[:, 1] > 0, "yes", "no")


@pytest.fixture(scope="module")
def fitted(table):
    """A small fitted classifier."""
    return SparseMLPClassifier(**SMALL).fit(*table)


@pytest.mark.parametrize("estimator", [SparseMLPClassifier, SparseMLPRegressor])
def test_every_check_of_scikit_learn_passes(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks provoke warnings on purpose
        results = check_estimator(
            estimator(width=32, ensemble=1, epochs=30), on_fail=None, on_skip=None
        )
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert len(results) > 50
    assert not any(r["expected_to_fail"] for r in results)


def test_a_sparse_parity_is_learnt_where_a_standard_network_fails():
    task = el.tasks.Parity(n=20, k=3, support=(4, 9, 17))
    x, y = (np.asarray(part) for part in task.sample(jax.random.key(0), 3000))
    train, test = slice(0, 1000), slice(1000, 3000)
    ours = SparseMLPClassifier(ensemble=2, random_state=0).fit(x[train], y[train])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does not converge
        theirs = MLPClassifier(random_state=0).fit(x[train], y[train])
    assert ours.score(x[test], y[test]) > 0.99
    assert theirs.score(x[test], y[test]) < 0.95


def test_the_same_seed_gives_the_same_model_and_another_seed_another(table, fitted):
    x, _ = table
    again = clone(fitted).fit(*table)
    other = clone(fitted).set_params(random_state=1).fit(*table)
    assert np.array_equal(fitted.predict_proba(x), again.predict_proba(x))
    assert not np.array_equal(fitted.predict_proba(x), other.predict_proba(x))


def test_a_fit_depends_neither_on_the_order_of_rows_nor_on_the_processes(table, fitted):
    x, y = table
    order = np.random.default_rng(1).permutation(len(x))
    assert np.array_equal(
        fitted.predict_proba(x), clone(fitted).fit(x[order], y[order]).predict_proba(x)
    )
    shared = clone(fitted).set_params(n_jobs=2).fit(x, y)
    assert np.array_equal(fitted.predict_proba(x), shared.predict_proba(x))


def test_members_side_by_side_are_those_trained_one_by_one(table, monkeypatch):
    x, y = table
    one_by_one = SparseMLPClassifier(**SMALL).fit(x, y)
    monkeypatch.setattr("elegans.estimators.fitting.default_lanes", lambda: 64)
    together = SparseMLPClassifier(**SMALL).fit(x, y)
    np.testing.assert_array_equal(one_by_one.n_epochs_, together.n_epochs_)
    np.testing.assert_allclose(
        one_by_one.predict_proba(x), together.predict_proba(x), rtol=0.02, atol=0.01
    )


def test_a_weight_is_as_many_copies_and_its_unit_does_not_matter(table):
    x, y = table
    weight = np.random.default_rng(2).integers(0, 4, len(x))
    network = SparseMLPClassifier(**SMALL)
    weighted = clone(network).fit(x, y, sample_weight=weight).predict_proba(x)
    repeated = clone(network).fit(x.repeat(weight, axis=0), y.repeat(weight)).predict_proba(x)
    halved = clone(network).fit(x, y, sample_weight=weight / 2).predict_proba(x)
    np.testing.assert_array_equal(weighted, repeated)
    np.testing.assert_array_equal(weighted, halved)


@pytest.mark.parametrize(
    "weight, message",
    [
        (np.ones(3), r"one number for each of the 200 rows; got an array of shape \(3,\)"),
        (np.full(200, -1.0), "not negative"),
        (np.zeros(200), "is zero, so no row counts"),
        (np.full(200, np.nan), "is finite"),
    ],
)
def test_weights_that_mean_nothing_are_refused(table, weight, message):
    for estimator in (SparseMLPClassifier(**SMALL), SparseMLPRegressor(**SMALL)):
        with pytest.raises(ValueError, match=f"{type(estimator).__name__}: .*{message}"):
            estimator.fit(table[0], table[0][:, 0] > 0, sample_weight=weight)


def test_balanced_classes_count_the_same():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (180, 2)), rng.normal(1, 1, (20, 2))])
    y = np.repeat([0, 1], [180, 20])
    share = {
        weight: SparseMLPClassifier(class_weight=weight, **SMALL).fit(x, y).predict(x).mean()
        for weight in (None, "balanced")
    }
    assert share["balanced"] > 2 * share[None] + 0.05
    with pytest.raises(ValueError, match="class_weight"):
        SparseMLPClassifier(class_weight="equal", **SMALL).fit(x, y)


def test_several_classes_have_probabilities_that_sum_to_one(table):
    x, _ = table
    y = np.digitize(x[:, 0], [-0.5, 0.5])
    model = SparseMLPClassifier(**SMALL).fit(x, y)
    probability = model.predict_proba(x)
    assert probability.shape == (200, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert model.score(x, y) > 0.8


@pytest.mark.parametrize("labels", [np.array([-1.0, 1.0, 1.0]), np.array([0, 2, 1])])
def test_smoothing_is_the_loss_of_labels_some_of_which_are_drawn_at_random(labels):
    rng = np.random.default_rng(0)
    outputs = jnp.asarray(rng.normal(size=3 if labels.dtype == float else (3, 3)), jnp.float32)
    name = "logistic" if labels.dtype == float else "cross-entropy"
    every = [np.full_like(labels, value) for value in np.unique(labels)]
    labellings = [jnp.asarray(y) for y in (labels, *every)]
    plain, *others = (np.asarray(fitting.row_losses(name, 0.0, outputs, y)) for y in labellings)
    expected = 0.7 * plain + 0.3 * np.mean(others, axis=0)
    smoothed = fitting.row_losses(name, 0.3, outputs, labellings[0])
    np.testing.assert_allclose(smoothed, expected, rtol=1e-5)


def test_smoothing_is_taken_out_of_probabilities():
    truth = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    truth = np.maximum(truth, 0.02) / np.maximum(truth, 0.02).sum(axis=1, keepdims=True)
    smoothed = 0.9 * truth + 0.1 / 3
    np.testing.assert_allclose(members.unsmoothed(smoothed, 0.1), truth, rtol=1e-10)
    said = np.linspace(0, 1, 1001)
    probability = members.unsmoothed(np.stack([said, 1 - said], axis=1), 0.1)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert probability[0, 0] == 0
    assert (np.diff(probability[:, 0]) > 0).all()  # two answers never become one: ranks are kept


def test_a_frame_keeps_its_names_and_refusals_name_columns(table):
    x, y = table
    frame = pd.DataFrame(x, columns=["a", "b", "c", "d", "e"])
    model = SparseMLPClassifier(**SMALL).fit(frame, y)
    assert list(model.feature_names_in_) == list(frame)
    assert model.n_features_in_ == 5
    holes = frame.assign(b=np.where(np.arange(200) == 7, np.nan, frame.b))
    for action in (model.predict, lambda data: clone(model).fit(data, y)):
        with pytest.raises(ValueError, match=r"SparseMLPClassifier: X holds NaN in column 'b'"):
            action(holes)
        with pytest.raises(ValueError, match=r"infinity \(inf\) in columns 'a', 'e'"):
            action(frame.assign(a=np.inf, e=-np.inf))
    with pytest.raises(ValueError, match=r"X is constant in columns 'c', 'd'.*VarianceThreshold"):
        clone(model).fit(frame.assign(c=1.0, d=0), y)
    ignoring = clone(model).set_params(constant_columns="ignore").fit(frame.assign(c=1.0), y)
    assert np.isfinite(ignoring.predict_proba(frame)).all()


def test_pipelines_and_searches(table):
    x, y = table
    model = make_pipeline(SimpleImputer(), StandardScaler(), SparseMLPClassifier(**SMALL))
    search = GridSearchCV(model, {"sparsemlpclassifier__init_sparsity": [2, None]}, cv=2)
    search.fit(x, y)
    assert set(search.best_params_) == {"sparsemlpclassifier__init_sparsity"}


def test_a_warm_start_goes_on_and_refuses_another_shape(table):
    x, y = table
    model = SparseMLPClassifier(**SMALL, warm_start=True, early_stopping=False).fit(x, y)
    before = model.loss_curves_[0][-1]
    assert model.fit(x, y).loss_curves_[0][-1] < before
    with pytest.raises(ValueError, match="warm_start goes on with the fitted networks"):
        model.set_params(width=33).fit(x, y)
    with pytest.raises(ValueError, match="warm_start goes on with the classes"):
        model.set_params(width=32).fit(x, np.where(y == "yes", 1, 0))


def test_saving_and_loading_across_processes(table, fitted, tmp_path):
    x, _ = table
    path = tmp_path / "model.npz"
    fitted.save(path)
    np.save(tmp_path / "x.npy", x)
    script = (
        "import sys, json, numpy as np, elegans as el\n"
        "model = el.SparseMLPClassifier.load(sys.argv[1])\n"
        "print(json.dumps(model.predict_proba(np.load(sys.argv[2])).tolist()))\n"
    )
    command = [sys.executable, "-c", script, str(path), str(tmp_path / "x.npy")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert np.array_equal(np.array(json.loads(printed)), fitted.predict_proba(x))
    loaded = SparseMLPClassifier.load(path)
    assert loaded.get_params() == fitted.get_params()
    assert list(loaded.classes_) == ["no", "yes"]
    pickled = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(pickled.predict(x), loaded.predict(x))
    with pytest.raises(ValueError, match=r"holds a SparseMLPClassifier; load it with"):
        SparseMLPRegressor.load(path)
    (tmp_path / "other.npz").write_bytes(b"something else")
    with pytest.raises(ValueError, match="is not a file that save"):
        SparseMLPClassifier.load(tmp_path / "other.npz")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        SparseMLPClassifier.load(tmp_path / "missing.npz")


def test_a_frame_with_text_labels_and_class_weights_is_saved_whole(table, tmp_path):
    x, y = table
    frame = pd.DataFrame(x, columns=list("abcde"))
    model = SparseMLPClassifier(class_weight={"no": 1, "yes": 2}, **SMALL)
    model.fit(frame, pd.Series(y, dtype=object))
    model.save(tmp_path / "model.npz")
    loaded = SparseMLPClassifier.load(tmp_path / "model.npz")
    assert loaded.class_weight == {"no": 1, "yes": 2}
    assert list(loaded.feature_names_in_) == list("abcde")
    assert list(loaded.predict(frame)) == list(model.predict(frame))


def test_a_regressor_learns_a_product_and_is_saved(table, tmp_path):
    x, _ = table
    y = 1e4 + 100 * np.abs(x[:, 0]) + 100 * x[:, 1]
    model = SparseMLPRegressor(**SMALL | {"epochs": 60}).fit(x, y)
    assert model.score(x, y) > 0.9
    model.save(tmp_path / "model.npz")
    loaded = SparseMLPRegressor.load(tmp_path / "model.npz")
    assert np.array_equal(loaded.predict(x), model.predict(x))
    constant = SparseMLPRegressor(**SMALL).fit(x, np.full(len(x), 7.0))
    np.testing.assert_allclose(constant.predict(x), 7, atol=1e-6)


def test_degenerate_tables():
    rng = np.random.default_rng(0)
    network = SparseMLPClassifier(**SMALL)
    with pytest.raises(ValueError, match=r"needs two classes or more; y has 1 class"):
        clone(network).fit(rng.normal(size=(10, 2)), np.zeros(10))
    one = rng.normal(size=(60, 1))
    longer = clone(network).set_params(epochs=60)
    assert longer.fit(one, one[:, 0] > 0).score(one, one[:, 0] > 0) > 0.9
    twins = np.repeat([[0.0, 1.0], [1.0, 0.0]], 30, axis=0)
    labels = np.repeat(["a", "b"], 30)
    assert clone(network).fit(twins, labels).score(twins, labels) == 1
    pair = clone(network).fit([[0.0, 5.0], [1.0, 3.0]], [0, 1])
    assert list(pair.predict([[0.0, 5.0], [1.0, 3.0]])) == [0, 1]
    for scaling in ("quantile", "standard"):
        huge = rng.normal(size=(100, 3)) * [1e300, 1e-300, 1.0]
        huge[:, 2] += 1e12
        model = clone(network).set_params(scaling=scaling).fit(huge, huge[:, 0] > 0)
        assert model.score(huge, huge[:, 0] > 0) > 0.85
        assert np.isfinite(model.predict_proba(huge * 1e7)).all()


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"width": 0}, "width counts the neurons"),
        ({"depth": 1.5}, "depth counts the hidden layers"),
        ({"init_sparsity": 0}, "init_sparsity counts the features"),
        ({"ensemble": 0}, "ensemble counts the networks"),
        ({"epochs": -1}, "epochs counts the passes"),
        ({"batch_size": 0}, "batch_size counts the rows"),
        ({"learning_rate": float("nan")}, "learning_rate multiplies"),
        ({"weight_decay": -1}, "weight_decay multiplies"),
        ({"validation_fraction": 1.0}, "validation_fraction is the share"),
        ({"dropout": 1.0}, "dropout is the share of neurons"),
        ({"label_smoothing": -0.1}, "label_smoothing is the share of a label"),
        ({"patience": 0}, "patience counts epochs"),
        ({"scaling": "robust"}, "scaling is one of 'quantile', 'standard', None"),
        ({"constant_columns": "drop"}, "constant_columns is one of 'refuse', 'ignore'"),
    ],
)
def test_bad_parameters_are_refused_by_name(table, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SparseMLPClassifier(**parameters).fit(*table)


def test_a_bar_is_shown_on_demand(table, capsys):
    SparseMLPClassifier(**SMALL, verbose=1).fit(*table)
    assert "SparseMLPClassifier" in capsys.readouterr().out


def test_importing_the_estimator_does_not_import_jax():
    script = "import sys; from elegans import SparseMLPClassifier; print('jax' in sys.modules)"
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, text=True).stdout.strip() == "False"
