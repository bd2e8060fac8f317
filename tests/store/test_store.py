"""A store as data: tables, runs, arrays, exports."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elegans.runs import METRIC_TYPES, Run
from elegans.store.arrays import Packed, blob_of, pack, unpack
from elegans.store.record import from_message, to_message
from elegans.store.schema import StoreError
from elegans.store.store import Store

from .conftest import PROBES, experiment, make_failure, make_run, name


def test_the_table_has_the_fields_of_the_experiment_as_dotted_columns(make):
    table = make().table()
    assert list(table["model.width"]) == [4, 4, 8, 8]
    assert list(table["seed"]) == [0, 1, 0, 1]
    assert set(table["task.type"]) == {"nowhere:Vote"}
    assert set(table["model.init.type"]) == {"Uniform"}
    assert set(table["task.support"]) == {"[0, 1]"}
    assert table["success"].dtype == bool
    assert table["steps"].dtype == int
    assert table["test_loss"].isna().all()
    assert list(table.columns)[:2] == ["run", "experiment"]


def test_the_table_is_in_the_order_of_experiments_and_seeds(make):
    store = make(widths=(8, 4), seeds=(3,))
    store.add([make_run(4, 1), make_run(8, 2)], PROBES)
    assert list(store.table()["model.width"]) == [8, 8, 4, 4]
    assert list(store.table()["seed"]) == [2, 3, 1, 3]


def test_the_table_can_be_filtered_by_any_column(make):
    store = make(widths=(4, 8, 16))
    assert set(store.table({"model.width": [4, 16]})["model.width"]) == {4, 16}
    assert list(store.table({"model.width": 8, "seed": 1})["run"]) == [4]
    assert len(store.table({"task.p": None})) == 6
    assert len(store.table({"status": "failed"})) == 0
    with pytest.raises(ValueError, match=r"no column 'model.wdith'; did you mean 'model.width'"):
        store.table({"model.wdith": 8})


def test_a_run_without_a_stop_rule_has_neither_succeeded_nor_failed(make):
    table = make(success=None).table()
    assert table["success"].isna().all()
    assert str(table["success"].dtype) == "boolean"


def test_a_store_of_experiments_alone_has_an_empty_table(make):
    store = make(seeds=())
    assert len(store.table()) == len(store) == 0
    assert {"run", "model.width", "test_error"} <= set(store.table())
    assert list(store.experiments().values()) == [experiment(4), experiment(8)]


def test_a_history_comes_back_by_number_or_by_row(make):
    store = make()
    table = store.table()
    expected = pd.DataFrame({"step": [0, 1, 2], "test_error": [0.5, 0.25, np.nan]})
    pd.testing.assert_frame_equal(store.history(int(table["run"][1])), expected)
    pd.testing.assert_frame_equal(store.history(table.loc[1]), expected)
    assert set(store.probes(table.loc[1])) == {"step", "weights.a", "norm"}
    with pytest.raises(ValueError, match="has no run 99"):
        store.history(99)


@pytest.mark.parametrize("file", ["grid.db", ":memory:"])
def test_a_run_comes_back_as_it_was(make, file):
    store = make(file, keep=["params"])
    store.add([make_failure(4, 7)])
    keys = [(name(8), 1), (name(4), 7), (name(4), 0)]
    runs = store.runs(keys, PROBES)
    store.close()  # a run reads its arrays when they are asked for
    assert [run.key for run in runs] == keys
    for run, old in zip(runs, [make_run(8, 1), make_failure(4, 7), make_run(4, 0)], strict=True):
        assert run.source == experiment(8 if run.hash == name(8) else 4)
        for field in ("status", "traceback", "host", "versions", "finished", *METRIC_TYPES):
            one, two = getattr(run, field), getattr(old, field)
            assert type(one) is type(two)
            assert one == two or (one != one and two != two)
        assert set(run.arrays) == set(old.arrays)
        for kind, columns in old.arrays.items():
            assert set(run.arrays[kind]) == set(columns)
            for column, values in columns.items():
                np.testing.assert_array_equal(run.arrays[kind][column], values, strict=True)
    with pytest.raises(StoreError, match="has no run of experiment"):
        store.runs([(name(8), 99)])


def test_many_runs_are_found_in_one_pass(make, monkeypatch):
    store = make(seeds=range(3))
    keys = [(name(width), seed) for seed in (2, 0) for width in (8, 4)]
    few = [run.row() | {"test_loss": None} for run in store.runs(keys)]
    assert store.lacking([*keys, ("other", 0)]) == {("other", 0)}
    monkeypatch.setattr("elegans.store.store.KEYS_WORTH_A_SCAN", 1)
    assert [run.row() | {"test_loss": None} for run in store.runs(keys)] == few
    assert store.lacking([*keys, ("other", 0)]) == {("other", 0)}


def test_observations_are_stored_by_the_settings_of_the_probe(make):
    store = make(widths=(4,), seeds=(0,), probes={"norm": "{}"}, arrays=arrays("norm", 1.0))
    key = (name(4), 0)
    assert store.lacking([key], {"norm": "{}"}) == set()
    assert store.lacking([key], {"norm": '{"order": 2}'}) == {key}
    assert store.lacking([key], {"norm": "{}", "rank": "{}"}) == {key}
    assert store.lacking([key], keep=["params"]) == {key}
    other = make_run(arrays=arrays("norm", 2.0))
    assert store.add([other], {"norm": '{"order": 2}'}) == 1
    assert store.add([other], {"norm": '{"order": 2}'}) == 0
    (one,) = store.runs([key], {"norm": "{}"})
    (two,) = store.runs([key], {"norm": '{"order": 2}'})
    assert (one.probes["norm"][0], two.probes["norm"][0]) == (1.0, 2.0)
    assert "probes" not in store.runs([key])[0].arrays
    with pytest.raises(ValueError, match="several settings"):
        store.probes(1)


def test_weights_are_added_to_a_stored_run(make):
    store = make(widths=(4,), seeds=(0,))
    assert "params" not in store.runs([(name(4), 0)])[0].arrays
    assert store.add([make_run(4, 0)], PROBES, keep=["params"]) == 1
    (run,) = store.runs([(name(4), 0)])
    assert run.arrays["params"]["scale"] == 2
    assert len(store) == 1
    with pytest.raises(ValueError, match="no weights to keep"):
        store.add([make_run(4, 1, arrays={})], keep=["params"])


def test_columns_belong_to_the_probe_whose_name_they_start_with(make):
    columns = {"step": np.arange(3), "a": np.ones(3), "a.b.c": np.ones(3), "ab": np.ones(3)}
    store = make(widths=(4,), seeds=())
    probes = {"a": "{}", "a.b": "{}", "ab": "{}"}
    store.add([make_run(arrays={"probes": columns})], probes)
    for probe, column in {"a": "a", "a.b": "a.b.c", "ab": "ab"}.items():
        assert set(store.runs([(name(4), 0)], {probe: "{}"})[0].probes) == {"step", column}
    with pytest.raises(ValueError, match="no probe is named for the column 'ab'"):
        store.add([make_run(4, 1, arrays={"probes": columns})], {"a": "{}"})


def arrays(probe, value):
    history = make_run().arrays["history"]
    return {"history": history, "probes": {"step": np.arange(3), probe: np.full(3, value)}}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"steps": 7}, "steps is 7, was 300"),
        ({"status": "diverged"}, "status is diverged, was done"),
        ({"test_loss": None}, "test_loss is None, was nan"),
        ({"success": None}, "success is None, was True"),
        ({"arrays": {"history": {"step": np.arange(3.0)}}}, "history has other numbers"),
    ],
)
def test_a_second_record_must_agree(make, change, message):
    store = make(widths=(4,), seeds=(0,))
    with pytest.raises(StoreError, match=message):
        store.add([make_run(4, 1, arrays={}), make_run(4, 0, **change)], PROBES)
    assert len(store) == 1
    assert store.add([make_run(4, 0, seconds=9.0, host="there")], PROBES) == 0
    assert list(store.table()["seconds"]) == [0.1]


def test_a_failure_gives_way_to_a_record_and_never_replaces_one(make):
    store = make(widths=(4,), seeds=(0,))
    assert store.add([make_failure(4, 0), make_failure(4, 1), make_failure(4, 1)]) == 1
    assert store.lacking([(name(4), 1)], PROBES, ["params"]) == set()
    assert store.add([make_run(4, 1)], PROBES) == 1
    assert list(store.table()["status"]) == ["done", "done"]


def test_a_computation_is_a_run_with_a_table(make):
    store = make(widths=(4,), seeds=())
    columns = {"n": np.arange(2), "gap": np.array([0.5, np.nan]), "kind": np.array(["a", None])}
    run = Run(source="", hash=name(4), seed=0, status="done", arrays={"table": columns})
    assert store.add([run], {"norm": "{}"}, ["params"]) == 1
    assert store.lacking([run.key], {"norm": "{}"}, ["params"]) == set()
    (back,) = store.runs([run.key])
    pd.testing.assert_frame_equal(back.table, pd.DataFrame(columns))
    assert "history" not in back.arrays


def test_a_batch_is_stored_whole_or_not_at_all(make):
    store = make(widths=(4,), seeds=(0,))
    with pytest.raises(ValueError, match="register experiment"):
        store.add([make_run(4, 5), make_run(9, 5)], PROBES)
    assert len(store) == 1


@settings(max_examples=10)  # each makes a file
@given(st.dictionaries(st.integers(0, 2**32 - 1), st.lists(st.floats(), min_size=5, max_size=5)))
def test_numbers_survive_messages_and_the_store(tmp_path_factory, numbers):
    names = ["test_error", "test_loss", "train_error", "train_loss", "seconds"]
    runs = [
        Run(
            source="{}",
            hash="name",
            seed=seed,
            status="done",
            **dict(zip(names, metrics, strict=True)),
        )
        for seed, metrics in numbers.items()
    ]
    with Store(tmp_path_factory.mktemp("store") / "one.db") as store:
        store.register({"name": "{}"})
        store.add(from_message(json.loads(json.dumps(to_message(r))), "{}") for r in runs)
        table = store.table().set_index("seed")[names]
        for run, back in zip(runs, store.runs([run.key for run in runs]), strict=True):
            np.testing.assert_array_equal(
                list(run.row().values())[4:], list(back.row().values())[4:]
            )
    expected = pd.DataFrame.from_dict(numbers, "index", columns=names, dtype=float)
    pd.testing.assert_frame_equal(
        table, expected.sort_index(), check_exact=True, check_names=False, check_index_type=False
    )


def test_a_message_holds_the_arrays_as_a_store_keeps_them():
    run = make_run(test_error=np.float64(0.25))
    back = from_message(json.loads(json.dumps(to_message(run))), run.source)
    assert (back.test_error, back.host, back.versions) == (0.25, run.host, run.versions)
    assert set(back.arrays) == {kind for kind, columns in run.arrays.items() if columns}
    for kind, columns in run.arrays.items():
        if columns:
            assert blob_of(back.arrays, kind) == pack(columns)
        for column, values in columns.items():
            np.testing.assert_array_equal(back.arrays[kind][column], values, strict=True)


def test_the_columns_of_a_message_are_packed_alike_once_they_are_unpacked():
    text = np.array(["one", None, "three"], object)
    table = {"text": text, "number": np.array([1.0, np.nan, -0.0]), "flag": np.array([True] * 3)}
    blob = pack(table)
    assert blob_of({"table": unpack(blob)}, "table") == blob_of(Packed({"table": blob}), "table")


def test_merging_takes_over_what_is_new(make):
    one, two = make("one.db", widths=(4, 8)), make("two.db", widths=(8, 16), keep=["params"])
    assert one.merge(two) == 4  # two runs, and the weights of two
    assert one.merge(two.path) == 0
    with pytest.raises(StoreError, match="There is no store at"):
        one.merge("none.db")
    assert list(one.table()["model.width"]) == [4, 4, 8, 8, 16, 16]
    assert all(len(one.history(run)) == 3 for run in one.table()["run"])
    assert one.lacking([(name(8), 0), (name(16), 1)], PROBES, ["params"]) == set()


def test_an_export_holds_the_table(make, tmp_path):
    store = make()
    for file, read in {"out.parquet": pd.read_parquet, "out.csv": pd.read_csv}.items():
        store.export(tmp_path / file)
        back, table = read(tmp_path / file), store.table()
        assert list(back.columns) == list(table.columns)
        for column in ("run", "model.width", "test_error", "status", "success"):
            assert list(back[column]) == list(table[column])
    assert sorted(path.name for path in tmp_path.iterdir() if "part" in path.name) == []
    with pytest.raises(ValueError, match=r"\.parquet or a \.csv"):
        store.export(tmp_path / "out.xlsx")


def test_columns_of_several_kinds_can_be_exported(make, tmp_path):
    store = make()
    store.register({"other": experiment("wide")})
    store.add([Run(source="", hash="other", seed=0, status="done")])
    store.export(tmp_path / "out.parquet")
    assert list(pd.read_parquet(tmp_path / "out.parquet")["model.width"])[-2:] == ["8", '"wide"']


def test_runs_can_be_forgotten(make):
    store = make(widths=(4,), seeds=(0,))
    store.add([make_run(4, 1, versions='{"code": "b"}'), make_run(4, 2, versions="")], PROBES)
    store.add([make_failure(4, 3)])
    assert list(store.table({"status": "failed"})["traceback"]) == ["Traceback ...\nValueError: no"]
    assert store.history(4).empty
    assert store.forget_failed() == 1
    assert store.forget_other_code("a") == 2
    assert store.keys() == {(name(4), 0)}
    assert len(store.table()) == 1
    assert store.add([make_run(4, 1)], PROBES) == 1
    assert list(store.table()["run"]) == [1, 5]  # a number is never used again
