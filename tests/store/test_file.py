"""The file of a store: several processes at once, reading without writing, other schemas."""

import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import elegans
from elegans.store.schema import StoreError
from elegans.store.store import Store

from .conftest import PROBES, experiment, make_run, name


def test_readers_see_whole_batches_while_another_writes(make):
    store = make(widths=(4,), seeds=(0,))
    reader = Store(store.path)

    def runs():
        yield make_run(4, 1)
        yield make_run(4, 2)
        assert len(reader) == len(reader.table()) == 1

    store.add(runs(), PROBES)
    assert len(reader) == len(reader.table()) == 3


def test_several_may_make_and_fill_the_same_store_at_the_same_moment(tmp_path):
    def fill(path, start, width):
        start.wait()
        with Store(path) as store:
            store.register({name(width): experiment(width)})
            store.add([make_run(width)], PROBES)

    for i in range(10):
        path, start = tmp_path / f"{i}.db", threading.Barrier(4)
        with ThreadPoolExecutor(4) as threads:
            for job in [threads.submit(fill, path, start, width) for width in range(4)]:
                job.result()
        with Store(path) as store:
            assert len(store.table()) == 4
        assert [file.name for file in tmp_path.glob(f"{i}.db*")] == [f"{i}.db"]


def test_a_second_driver_finds_what_the_first_has_stored(make):
    one = make(widths=(4,), seeds=(0,))
    two = Store(one.path)
    assert two.lacking([(name(4), 0), (name(8), 0)]) == {(name(8), 0)}
    one.register({name(8): experiment(8)})
    one.add([make_run(8)], PROBES)
    assert two.lacking([(name(4), 0), (name(8), 0)]) == set()
    two.register({name(16): experiment(16)})
    assert two.add([make_run(16), make_run(8)], PROBES) == 1
    assert len(one.table()) == 3


def test_reading_changes_nothing_and_imports_nothing(make, tmp_path):
    store = make(seeds=range(3), keep=["params"])
    store.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    script = f"""
import sys
import elegans.store
from elegans.store.store import Store
store = Store({str(store.path)!r})
table = store.table()
(run,) = store.runs([{(name(4), 0)!r}], {PROBES!r})
run.history, run.probes, run.arrays["params"], store.history(1), store.probes(1), store.keys()
store.lacking([{(name(4), 0)!r}]), store.export({str(tmp_path / "out.csv")!r})
print(len(table), sorted(name for name in sys.modules if name.split(".")[0] == "jax"))
others = ("elegans.experiments", "elegans.tasks", "nowhere")
print([name for name in sys.modules if name.startswith(others)])
"""
    (tmp_path / "nowhere.py").write_text("raise SystemExit('imported')")
    environment = {"PYTHONPATH": f"{Path(elegans.__file__).parents[1]}:{tmp_path}"}
    out = subprocess.run(
        [sys.executable, "-c", script], env=environment, text=True, capture_output=True, check=True
    )
    assert out.stdout.splitlines() == ["6 []", "[]"]
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {file: after[file] for file in before} == before
    assert after.keys() - before.keys() == {"nowhere.py", "out.csv"}


def test_a_log_that_a_killed_writer_left_is_read_and_then_taken_in(make, tmp_path):
    store = make()  # still open, as it is when its process dies
    other = tmp_path / "other"
    other.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{store.path}{end}", other / f"grid.db{end}")
    data, log = (other / "grid.db").read_bytes(), (other / "grid.db-wal").read_bytes()
    assert log
    with Store(other / "grid.db") as reader:
        assert len(reader.table()) == 4
    assert (other / "grid.db").read_bytes() == data
    assert (other / "grid.db-wal").read_bytes() == log
    with Store(other / "grid.db") as writer:
        assert writer.add([make_run(4, 5)], PROBES) == 1
    assert [path.name for path in other.iterdir()] == ["grid.db"]
    assert len(Store(other / "grid.db").table()) == 5


def test_a_read_only_store_is_not_written(make):
    path = make().path
    store = Store(path, readonly=True)
    with pytest.raises(StoreError, match="readonly=True"):
        store.register({"other": "{}"})
    with pytest.raises(StoreError, match="readonly"), store._file.reading():
        store._file.rows("DELETE FROM runs")
    assert len(store) == 4


def test_a_store_in_a_directory_without_write_access_is_opened_as_immutable(make, monkeypatch):
    queries = []
    connect = sqlite3.connect

    def noted(query, **options):
        queries.append(query)
        return connect(query, **options)

    monkeypatch.setattr(sqlite3, "connect", noted)
    store = make()
    store.close()
    assert len(Store(store.path).table()) == 4
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert len(Store(store.path).table()) == 4
    log = store.path.with_name("grid.db-wal")
    log.write_bytes(b"")
    assert len(Store(store.path).table()) == 4
    modes = [query.partition("?")[2] for query in queries][-3:]
    assert modes == ["mode=ro", "mode=ro&immutable=1", "mode=ro"]


def test_another_schema_is_refused_with_both_versions(make):
    store = make()
    for number, advice in {1: "do the runs again", 7: "pip install --upgrade"}.items():
        with store._file.writing():
            store._file.rows(f"PRAGMA user_version = {number}")
        store.close()
        with pytest.raises(StoreError, match=rf"has schema {number}; .* schema 2.*{advice}"):
            Store(store.path)
        connection = sqlite3.connect(store.path)
        connection.execute("PRAGMA user_version = 2")
        connection.close()


def test_a_metric_that_is_new_is_missing_in_older_stores(make):
    store = make()
    with store._file.writing():
        store._file.rows("ALTER TABLE runs DROP COLUMN train_loss")
    store.close()
    assert set(Store(store.path).table()["status"]) == {"done"}
    assert Store(store.path).table()["train_loss"].isna().all()
    store.add([make_run(4, 5, train_loss=0.5)], PROBES)
    assert store.table({"seed": 5})["train_loss"].item() == 0.5
    assert set(store.table()["status"]) == {"done"}


def test_what_is_no_store_is_refused(tmp_path):
    absent = Store(tmp_path / "none.db")
    with pytest.raises(StoreError, match="There is no store at"):
        absent.table()
    assert (len(absent), absent.keys(), absent.experiments()) == (0, set(), {})
    assert absent.lacking([("a", 0)]) == {("a", 0)}
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("hello " * 1000)
    with pytest.raises(StoreError, match="does not start as an SQLite database"):
        Store(tmp_path / "text.db")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE birds (name TEXT)")
    other.close()
    with pytest.raises(StoreError, match=r"not a store of elegans.*birds"):
        Store(tmp_path / "other.db")
    with pytest.raises(StoreError, match="Is the directory there"):
        Store(tmp_path / "absent" / "grid.db").register({})
