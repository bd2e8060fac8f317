import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elegans as el
from elegans.store import schema
from elegans.store.arrays import pack
from elegans.store.record import Record
from elegans.store.schema import StoreError


@pytest.fixture
def make(experiment, tmp_path):
    """Makes a store with synthetic runs at some widths and seeds."""

    def make(name="grid.db", widths=(4, 8), seeds=(0, 1), **fields):
        store = el.Store(tmp_path / name)
        for width in widths:
            varied = experiment.varied({"model.width": width})
            store.register({varied.name: varied.to_json()})
            store.add([record(varied, seed, **fields) for seed in seeds])
        return store

    return make


def record(experiment, seed, **fields):
    history = pack({"step": np.arange(3), "test_error": np.array([0.5, 0.25, np.nan])})
    given = {"success": True, "steps": 300, "test_error": 0.25, "test_loss": float("nan")}
    return Record(experiment.name, seed, "done", **(given | fields), history=history,
                  versions="{}", host="here")  # fmt: skip


def test_the_table_has_the_fields_of_the_experiment_as_dotted_columns(make):
    table = make().table()
    assert list(table["model.width"]) == [4, 4, 8, 8]
    assert list(table["seed"]) == [0, 1, 0, 1]
    assert set(table["task.type"]) == {"Parity"}
    assert set(table["model.init.type"]) == {"Uniform"}
    assert set(table["training.stop.test_error"]) == {0.0}
    assert set(table["task.support"]) == {"[0, 1]"}
    assert table["success"].dtype == bool
    assert table["test_loss"].isna().all()


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


def test_a_history_comes_back_by_number_or_by_row(make):
    store = make()
    table = store.table()
    expected = pd.DataFrame({"step": [0, 1, 2], "test_error": [0.5, 0.25, np.nan]})
    pd.testing.assert_frame_equal(store.history(int(table["run"][1])), expected)
    pd.testing.assert_frame_equal(store.history(table.loc[1]), expected)
    assert store.probes(1) == {}
    with pytest.raises(ValueError, match="has no run 99"):
        store.history(99)


def test_a_run_is_stored_once_and_the_first_record_stays(make, experiment):
    store = make(widths=(4,), seeds=(0,))
    varied = experiment.varied({"model.width": 4})
    assert store.add([record(varied, 0, steps=7), record(varied, 1)]) == 1
    assert list(store.table()["steps"]) == [300, 300]


def test_a_batch_is_stored_whole_or_not_at_all(make, experiment):
    store = make(widths=(4,), seeds=(0,))
    varied = experiment.varied({"model.width": 4})
    with pytest.raises(ValueError, match="register experiment"):
        store.add([record(varied, 5), record(experiment.varied({"model.width": 9}), 5)])
    assert len(store) == 1


@settings(max_examples=10)  # each makes a file
@given(st.dictionaries(st.integers(0, 2**32 - 1), st.lists(st.floats(), min_size=5, max_size=5)))
def test_numbers_survive_the_round_trip(tmp_path_factory, numbers):
    names = ["test_error", "test_loss", "train_error", "train_loss", "seconds"]
    records = [
        Record("name", seed, "done", **dict(zip(names, metrics, strict=True)))
        for seed, metrics in numbers.items()
    ]
    with el.Store(tmp_path_factory.mktemp("store") / "one.db") as store:
        store.register({"name": "{}"})
        store.add(Record.from_plain(json.loads(json.dumps(r.to_plain()))) for r in records)
        table = store.table().set_index("seed")[names]
    expected = pd.DataFrame.from_dict(numbers, "index", columns=names, dtype=float)
    pd.testing.assert_frame_equal(
        table, expected.sort_index(), check_exact=True, check_names=False, check_index_type=False
    )


def test_merging_takes_over_what_is_new(make):
    one, two = make("one.db", widths=(4, 8)), make("two.db", widths=(8, 16))
    assert one.merge(two) == 2
    assert one.merge(two.path) == 0
    assert list(one.table()["model.width"]) == [4, 4, 8, 8, 16, 16]
    assert all(len(one.history(run)) == 3 for run in one.table()["run"])


def test_an_export_holds_the_table(make, tmp_path):
    store = make()
    for name, read in {"out.parquet": pd.read_parquet, "out.csv": pd.read_csv}.items():
        store.export(tmp_path / name)
        back, table = read(tmp_path / name), store.table()
        assert list(back.columns) == list(table.columns)
        for column in ("run", "model.width", "test_error", "status", "success"):
            assert list(back[column]) == list(table[column])
    assert sorted(path.name for path in tmp_path.iterdir() if "part" in path.name) == []
    with pytest.raises(ValueError, match=r"\.parquet or a \.csv"):
        store.export(tmp_path / "out.xlsx")


def test_columns_of_several_kinds_can_be_exported(make, tmp_path, experiment):
    store = make()
    other = experiment.to_json().replace('"width": 4', '"width": "wide"')
    store.register({"other": other})
    store.add([Record("other", 0, "done", versions="{}", host="here")])
    store.export(tmp_path / "out.parquet")
    assert list(pd.read_parquet(tmp_path / "out.parquet")["model.width"])[-2:] == ["8", '"wide"']


def test_readers_see_whole_batches_while_another_writes(make, experiment):
    store = make(widths=(4,), seeds=(0,))
    reader = el.Store(store.path)
    varied = experiment.varied({"model.width": 4})
    with schema.transaction(store._connection):
        store._insert(record(varied, 1))
        assert len(reader) == len(reader.table()) == 1
    assert len(reader) == len(reader.table()) == 2


def test_several_may_make_the_same_store_at_the_same_moment(tmp_path):
    def make(path, start, name):
        start.wait()
        with el.Store(path) as store:
            store.register({name: "{}"})

    for i in range(10):
        path, start = tmp_path / f"{i}.db", threading.Barrier(4)
        with ThreadPoolExecutor(4) as threads:
            for made in [threads.submit(make, path, start, name) for name in "abcd"]:
                made.result()
        with el.Store(path) as store:
            assert set(store.experiments()) == set("abcd")


def test_failed_runs_can_be_forgotten(make, experiment):
    store = make(widths=(4,), seeds=(0,))
    varied = experiment.varied({"model.width": 4})
    store.add([Record.of_failure(varied.name, 1, "Traceback ...\nValueError: no")])
    assert list(store.table({"status": "failed"})["traceback"]) == ["Traceback ...\nValueError: no"]
    assert store.history(2).empty
    assert store.forget_failed() == 1
    assert store.keys() == {(varied.name, 0)}


def test_a_newer_schema_is_refused_with_both_versions(make):
    store = make()
    store._connection.execute("PRAGMA user_version = 7")
    store.close()
    with pytest.raises(StoreError, match=r"has schema 7; .* reads schemas up to 1"):
        el.Store(store.path)


def test_an_older_schema_is_brought_up_to_date(make, monkeypatch):
    path = make().path
    step = "ALTER TABLE runs ADD COLUMN mood TEXT; UPDATE runs SET mood = 'fine'"
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, step))
    store = el.Store(path)
    assert schema.version(store._connection) == (schema.APPLICATION, 2)
    assert store._rows("SELECT DISTINCT mood FROM runs") == [("fine",)]
    assert len(store.table()) == 4


def test_a_step_that_fails_leaves_the_old_schema(make, monkeypatch):
    path = make().path
    steps = (*schema.STEPS, "ALTER TABLE runs ADD COLUMN mood TEXT; UPDATE nothing SET x = 1")
    with monkeypatch.context() as patch:
        patch.setattr(schema, "STEPS", steps)
        with pytest.raises(sqlite3.OperationalError, match="nothing"):
            el.Store(path)
    assert len(el.Store(path).table()) == 4


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(StoreError, match="There is no store at"):
        el.Store(tmp_path / "none.db").table()
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("hello " * 1000)
    with pytest.raises(StoreError, match="does not start as an SQLite database"):
        el.Store(tmp_path / "text.db")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE birds (name TEXT)")
    other.close()
    with pytest.raises(StoreError, match=r"no store of elegans.*birds"):
        el.Store(tmp_path / "other.db")
    with pytest.raises(StoreError, match="Is the directory there"):
        el.Store(tmp_path / "absent" / "grid.db").register({})
