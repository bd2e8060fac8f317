"""Points of any kind: labelled axes, whole parts, lists, computations, runs from runs."""

import numpy as np
import pandas as pd
import pytest

import elegans as el
from elegans.sweeps.driver import complete


def done(sweep, **options):
    return sweep.runs(workers=0, progress=False, **options)


def test_labels_are_the_values_of_their_column_and_an_axis_may_be_a_whole_part(experiment):
    inits = {"dense": el.inits.Uniform(), "2-sparse": el.inits.Sparse(2)}
    models = {"small": el.models.MLP(4), "deep": el.models.MLP(4, depth=2)}
    sweep = el.Sweep(experiment, over={"model": models, "model.init": inits}, seeds=2)
    table = sweep.run(workers=0, progress=False)
    assert list(table["model"]) == ["small"] * 4 + ["deep"] * 4
    assert list(table["model.init"]) == (["dense"] * 2 + ["2-sparse"] * 2) * 2
    assert list(table["seed"]) == [0, 1] * 4
    assert sweep.points[3].experiment.model == el.models.MLP(4, depth=2, init=el.inits.Sparse(2))


def test_any_list_of_points_is_a_sweep(experiment):
    other = experiment.varied({"training.steps": 100})
    runs = done(el.Sweep.of([({"name": "long"}, experiment), ({"name": "short"}, other)], seeds=2))
    assert list(runs.table["name"]) == ["long", "long", "short", "short"]
    assert [run.experiment for run in runs.where(name="short")] == [other] * 2
    assert "4 runs over name" in repr(runs)


def test_a_run_is_the_same_from_the_engine_and_from_a_store(experiment, tmp_path):
    alone = el.run(experiment, seed=1, probes=[el.probes.SupNormPath()])
    sweep = el.Sweep(experiment, seeds=[1], probes=[el.probes.SupNormPath()], keep="params")
    for place in ({}, {"store": tmp_path / "runs.db"}):
        (run,) = done(sweep, **place)
        assert run.row() | {"seconds": 0} == alone.row() | {"seconds": 0}
        pd.testing.assert_frame_equal(run.history, alone.history, check_exact=True)
        assert run.probes.keys() == alone.probes.keys()
        for name, values in alone.probes.items():
            np.testing.assert_array_equal(run.probes[name], values)
        for ours, theirs in ((run.params, alone.params), (run.initial, alone.initial)):
            assert type(ours) is type(theirs)
            np.testing.assert_array_equal(ours.layers[0].weight, theirs.layers[0].weight)


def test_weights_that_were_not_kept_are_said_to_be_missing(experiment):
    (run,) = done(el.Sweep(experiment))
    with pytest.raises(ValueError, match=r"stored without its weights.*keep='params'"):
        _ = run.params


@el.configuration
class Powers:
    """The first powers of a number, and of its seed."""

    base: int
    count: int = 3

    def __call__(self, seed):
        if self.base == 13:
            raise ValueError("an unlucky number")
        powers = [self.base**i for i in range(self.count)]
        return pd.DataFrame({"i": range(self.count), "power": powers, "even": seed % 2 == 0})


def test_computations_are_swept_and_stored_like_experiments(tmp_path):
    sweep = el.Sweep.of([({"base": b}, Powers(b)) for b in (2, 3)], seeds=2)
    store = tmp_path / "runs.db"
    runs = done(sweep, store=store)
    assert list(runs.table["power"]) == [1, 2, 4, 1, 2, 4, 1, 3, 9, 1, 3, 9]
    assert list(runs.table["even"]) == ([True] * 3 + [False] * 3) * 2
    pd.testing.assert_frame_equal(done(sweep, store=store).table, runs.table)
    assert len(el.Store(store)) == 4


def test_a_computation_that_raises_is_a_failed_run(tmp_path):
    (run,) = done(el.Sweep.of([({}, Powers(13))]))
    assert run.status == "failed"
    assert "an unlucky number" in run.traceback


def test_several_sweeps_share_one_queue(experiment):
    sweeps = {
        "rates": el.Sweep(experiment, over={"training.learning_rate": [0.05, 0.2]}),
        "powers": el.Sweep.of([({}, Powers(2))]),
    }
    runs = complete(sweeps, workers=0, progress=False)
    assert {name: len(each) for name, each in runs.items()} == {"rates": 2, "powers": 1}


def test_a_run_may_start_from_another_runs_end(experiment, tmp_path):
    longer = experiment.varied({"training.stop": None, "training.steps": 200})
    init = el.inits.FromRun(longer, seed=5, at="end")
    child = longer.varied({"model.init": init, "training.steps": 100})
    parent = el.run(longer, seed=5)
    for options in ({}, {"store": tmp_path / "runs.db"}):
        runs = done(el.Sweep(child, seeds=2, keep="params"), **options)
        for run in runs:
            np.testing.assert_array_equal(
                run.initial.layers[0].weight, parent.params.layers[0].weight
            )
            assert run.history["test_loss"][0] != parent.history["test_loss"][0]
    assert len(el.Store(tmp_path / "runs.db")) == 3
    alone = el.run(child, seed=1)
    pd.testing.assert_frame_equal(alone.history, runs[1].history, check_exact=True)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda e: el.Sweep(e, seeds=0), "1 or more"),
        (lambda e: el.Sweep(e, seeds=True), "seeds is how many"),
        (lambda e: el.Sweep(e, seeds=[-1]), "number the runs of a point"),
        (lambda e: el.Sweep(e, over={"model.width": 4}), "a mapping from labels to values"),
        (lambda e: el.Sweep(e, over={"model.width": []}), "has no values"),
        (lambda e: el.Sweep(e, over={"model.wdith": [4]}), "did you mean 'width'"),
        (lambda e: el.Sweep(e, over={"modle": [4]}), "starts with task, model or training"),
        (lambda e: el.Sweep(e, over={"task.k": [7]}), "Sweep, at task.k = 7"),
        (lambda e: el.Sweep(e, keep="weights"), "keep is 'params' or None"),
        (lambda e: el.Sweep.of([({}, "e")]), "a configuration with a method __call__"),
    ],
)
def test_bad_sweeps_are_refused_when_they_are_made(experiment, make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(experiment)
